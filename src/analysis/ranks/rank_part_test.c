/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_part.h"

#include "base/mem.h"
#include "support/unit.h"

static struct osc_rank_words words, others;
static struct osc_rank_part part, copy;
static struct osc_strbuf bytes;

static int end(void **state)
{
    (void)state;
    osc_rank_part_fini(&part);
    osc_rank_part_fini(&copy);
    osc_rank_words_fini(&words);
    osc_rank_words_fini(&others);
    osc_strbuf_fini(&bytes);
    return 0;
}

static uint32_t word(const char *text)
{
    uint32_t id;

    assert_int_equal(osc_rank_word(&words, osc_str_c(text), &id), OSC_OK);
    return id;
}

/* A step with two collectives of which the second has two ranges. */
static void fill(void)
{
    assert_int_equal(osc_grow(&part.steps, &part.cap_steps, 1, sizeof *part.steps), OSC_OK);
    assert_int_equal(osc_grow(&part.calls, &part.cap_calls, 2, sizeof *part.calls), OSC_OK);
    assert_int_equal(osc_grow(&part.ranges, &part.cap_ranges, 3, sizeof *part.ranges), OSC_OK);
    assert_int_equal(osc_grow(&part.work, &part.cap_work, 1, sizeof *part.work), OSC_OK);
    part.worker = word("host_0");
    part.end_ns = INT64_C(9000000000);
    part.steps[part.n_steps++] = (struct osc_rank_step){
        .start_ns = -5, .end_ns = 70, .cost_ns = {1, 2, 3}, .label = word("7")};
    part.calls[part.n_calls++] = (struct osc_rank_call){.start_ns = 10,
                                                        .end_ns = 30,
                                                        .seq = -1,
                                                        .in_bytes = -1,
                                                        .bytes = -1,
                                                        .elements = -1,
                                                        .name = word("nccl:all_reduce"),
                                                        .step = 1,
                                                        .n_ranges = 1,
                                                        .op = OSC_COLLECTIVE_ALL_REDUCE};
    part.calls[part.n_calls++] = (struct osc_rank_call){.start_ns = 40,
                                                        .end_ns = 60,
                                                        .seq = INT64_MAX,
                                                        .in_bytes = 4,
                                                        .bytes = 8,
                                                        .elements = 2,
                                                        .name = word("nccl:all_gather"),
                                                        .size = 2,
                                                        .first = 1,
                                                        .n_ranges = 2,
                                                        .n_work = 1,
                                                        .work_ns = 33,
                                                        .op = OSC_COLLECTIVE_ALL_GATHER};
    part.ranges[part.n_ranges++] = (struct osc_interval){10, 30};
    part.ranges[part.n_ranges++] = (struct osc_interval){40, 50};
    part.ranges[part.n_ranges++] = (struct osc_interval){45, 60};
    part.work[part.n_work++] = (struct osc_rank_work){word("aten::mm"), 33};
    osc_rank_part_pack(&part, &words, &bytes);
    assert_int_equal(bytes.status, OSC_OK);
}

static osc_status unpack(size_t len)
{
    osc_rank_part_fini(&copy);
    return osc_rank_part_unpack((struct osc_str){bytes.s, (uint32_t)len}, &others, &copy);
}

TEST_WITH(what_is_packed_comes_back_with_words_of_all_parts, NULL, end)
{
    uint32_t other;

    fill();
    assert_int_equal(osc_rank_word(&others, OSC_STR("another part's"), &other), OSC_OK);
    assert_int_equal(unpack(bytes.len), OSC_OK);
    assert_int_equal(copy.n_steps, 1);
    assert_int_equal(copy.n_calls, 2);
    assert_int_equal(copy.end_ns, part.end_ns);
    assert_int_equal(copy.steps[0].start_ns, -5);
    assert_int_equal(copy.steps[0].cost_ns[2], 3);
    assert_true(osc_str_eq(osc_rank_text(&others, copy.steps[0].label), OSC_STR("7")));
    assert_true(
        osc_str_eq(osc_rank_text(&others, copy.calls[1].name), OSC_STR("nccl:all_gather")));
    assert_int_equal(copy.calls[0].seq, -1);
    assert_int_equal(copy.calls[1].seq, INT64_MAX);
    assert_int_equal(copy.calls[1].end_ns, 60);
    assert_int_equal(copy.ranges[copy.calls[1].first + 1].start_ns, 45);
    assert_int_equal(copy.calls[1].work_ns, 33);
    assert_int_equal(copy.work[copy.calls[1].first_work].ns, 33);
}

TEST_WITH(a_part_that_is_cut_or_damaged_is_refused_or_read, NULL, end)
{
    fill();
    for (size_t len = 0; len < bytes.len; len++)
        assert_int_equal(unpack(len), OSC_EINVAL);
    for (size_t at = 0; at < bytes.len; at++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes.s[at] = (char)(bytes.s[at] ^ 1 << bit);
            const osc_status st = unpack(bytes.len);
            assert_true(st == OSC_OK || st == OSC_EINVAL || st == OSC_ENOMEM);
            bytes.s[at] = (char)(bytes.s[at] ^ 1 << bit);
        }
    }
}

UNIT_MAIN("rank_part")
