/* SPDX-License-Identifier: Apache-2.0 */
#include "table/table.h"

#include "base/mem.h"
#include "support/peak.h"
#include "support/unit.h"

enum { NAME, CALLS, MEAN, IS_ASYNC, STACK };

static const struct osc_column columns[] = {
    {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a name"},
    {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = "calls"},
    {"mean_ns", OSC_TYPE_NUMBER, "ns", OSC_MERGE_FINISH, 0, .help = "mean"},
    {"is_async", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0, .help = "async"},
    {"stack", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL, .help = "stack"},
};
static const struct osc_table_def def = {.name = "t", .columns = columns, .n_columns = 5};

static osc_status fill(struct osc_result *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        const int len = snprintf(name, sizeof name, "op%u", i % 7);

        osc_result_row(r);
        osc_result_str(r, NAME, (struct osc_str){name, (uint32_t)len});
        osc_result_int(r, CALLS, i);
        if (i % 2)
            osc_result_num(r, MEAN, i / 2.0);
        osc_result_bool(r, IS_ASYNC, i % 3 == 0);
    }
    return r->status;
}

static void check(const struct osc_result *r, uint32_t n)
{
    assert_int_equal(r->n_rows, n);
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        const int len = snprintf(name, sizeof name, "op%u", i % 7);
        const struct osc_str got = osc_result_get_str(r, i, NAME);

        assert_int_equal(got.len, len);
        assert_memory_equal(got.s, name, (size_t)len);
        assert_int_equal(osc_result_get_int(r, i, CALLS), i);
        assert_int_equal(osc_result_has(r, i, MEAN), i % 2);
        assert_true(osc_result_get_num(r, i, MEAN) == (i % 2 ? i / 2.0 : 0.0));
        assert_int_equal(osc_result_get_bool(r, i, IS_ASYNC), i % 3 == 0);
        assert_false(osc_result_has(r, i, STACK));
        assert_int_equal(osc_result_get_str(r, i, STACK).len, 0);
    }
}

TEST(a_word_is_the_cell_that_its_text_makes)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    const osc_sid word = osc_result_word(&r, OSC_STR("aten::mm"));
    osc_result_row(&r);
    osc_result_sid(&r, NAME, word);
    osc_result_str(&r, STACK, OSC_STR("aten::mm"));
    osc_result_row(&r);
    osc_result_sid(&r, NAME, osc_result_word(&r, OSC_STR("aten::mm")));
    assert_int_equal(r.status, OSC_OK);
    assert_int_equal(r.dict.n_entries, 1);
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(osc_result_has(&r, i, NAME));
        assert_true(osc_str_eq(osc_result_get_str(&r, i, NAME), OSC_STR("aten::mm")));
    }
    assert_true(osc_str_eq(osc_result_get_str(&r, 0, STACK), OSC_STR("aten::mm")));
    assert_false(osc_result_has(&r, 1, STACK));
    osc_result_fini(&r);
}

TEST(gives_back_every_cell_of_many_batches)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    assert_int_equal(fill(&r, 10000), OSC_OK);
    assert_int_equal(r.n_batches, 3);
    assert_int_equal(r.batches[0].n_rows, OSC_BATCH_ROWS);
    check(&r, 10000);
    osc_result_fini(&r);
}

/* There may be a result for each of many files. */
TEST(a_result_of_one_row_is_small)
{
    struct osc_result r;
    struct peak peak;

    peak_begin(&peak);
    osc_result_init(&r, &def);
    assert_int_equal(fill(&r, 1), OSC_OK);
    check(&r, 1);
    osc_result_fini(&r);
    assert_true(peak_end(&peak) < 2048);
}

TEST(keeps_its_cells_while_it_grows)
{
    for (uint32_t n = 1; n < OSC_BATCH_ROWS + 300; n = n * 2 + n % 3) {
        struct osc_result r;

        osc_result_init(&r, &def);
        assert_int_equal(fill(&r, n), OSC_OK);
        check(&r, n);
        osc_result_clear(&r);
        assert_int_equal(fill(&r, n + 1), OSC_OK);
        check(&r, n + 1);
        osc_result_fini(&r);
    }
}

TEST(is_filled_again_after_it_was_emptied)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    assert_int_equal(fill(&r, 9000), OSC_OK);
    osc_result_clear(&r);
    assert_int_equal(r.n_rows, 0);
    assert_int_equal(fill(&r, 5000), OSC_OK);
    check(&r, 5000);
    osc_result_fini(&r);
}

TEST(shows_an_optional_column_only_when_told)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    assert_true((r.shown >> STACK & 1) == 0);
    osc_result_show(&r, STACK);
    assert_true((r.shown >> STACK & 1) == 1);
    osc_result_fini(&r);
}

TEST(tells_an_empty_string_from_a_missing_one)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    osc_result_row(&r);
    osc_result_str(&r, NAME, OSC_STR(""));
    assert_true(osc_result_has(&r, 0, NAME));
    osc_result_set_missing(&r, 0, NAME);
    assert_false(osc_result_has(&r, 0, NAME));
    osc_result_fini(&r);
}

/* Callers that build names reuse one buffer. */
TEST(tells_neighbours_apart_by_their_bytes)
{
    const char *const names[] = {"aten::mm", "aten::mm", "aten::md", "", "", "aten::md"};
    struct osc_result r;
    char name[16];

    osc_result_init(&r, &def);
    for (uint32_t i = 0; i < 6; i++) {
        const int len = snprintf(name, sizeof name, "%s", names[i]);

        osc_result_row(&r);
        osc_result_str(&r, NAME, (struct osc_str){name, (uint32_t)len});
    }
    for (uint32_t i = 0; i < 6; i++) {
        const struct osc_str got = osc_result_get_str(&r, i, NAME);

        assert_true(osc_result_has(&r, i, NAME));
        assert_int_equal(got.len, strlen(names[i]));
        assert_memory_equal(got.s, names[i], got.len);
    }
    osc_result_fini(&r);
}

TEST(repeats_the_cell_of_the_row_before)
{
    struct osc_result r;

    osc_result_init(&r, &def);
    osc_result_row(&r);
    osc_result_str(&r, NAME, OSC_STR("op"));
    for (uint32_t i = 1; i < 3 * OSC_BATCH_ROWS; i++) {
        osc_result_row(&r);
        osc_result_str_again(&r, NAME);
        osc_result_str_again(&r, STACK);
    }
    assert_int_equal(r.status, OSC_OK);
    for (uint32_t i = 0; i < 3 * OSC_BATCH_ROWS; i++) {
        assert_true(osc_str_eq(osc_result_get_str(&r, i, NAME), OSC_STR("op")));
        assert_true(osc_result_has(&r, i, NAME));
        assert_false(osc_result_has(&r, i, STACK));
    }
    osc_result_fini(&r);
}

TEST(closes_the_gaps_of_removed_rows)
{
    static bool keep[9000];
    struct osc_result r;

    osc_result_init(&r, &def);
    assert_int_equal(fill(&r, 9000), OSC_OK);
    for (uint32_t i = 0; i < 9000; i++)
        keep[i] = i % 3 == 1;
    osc_result_keep(&r, keep);
    assert_int_equal(r.n_rows, 3000);
    assert_int_equal(r.n_batches, 1);
    for (uint32_t i = 0; i < 3000; i++) {
        assert_int_equal(osc_result_get_int(&r, i, CALLS), i * 3 + 1);
        assert_int_equal(osc_result_has(&r, i, MEAN), (i * 3 + 1) % 2);
    }
    osc_result_row(&r); /* and it can grow again */
    osc_result_int(&r, CALLS, 7);
    assert_int_equal(osc_result_get_int(&r, 3000, CALLS), 7);
    assert_false(osc_result_has(&r, 3000, MEAN));
    assert_true(osc_result_get_num(&r, 3000, MEAN) == 0);
    assert_false(osc_result_has(&r, 3000, NAME));
    osc_result_fini(&r);
}

TEST(keeps_its_status_through_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_result r;

        osc_result_init(&r, &def);
        osc_mem_fail_after(n);
        st = fill(&r, 5000);
        osc_result_note(&r, "a note of %d words", 5);
        if (st == OSC_OK)
            st = r.status;
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_result_fini(&r);
    }
}

UNIT_MAIN("result")
