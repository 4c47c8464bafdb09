/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/part_state.h"

#include <fcntl.h>
#include <unistd.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"
#include "support/unit.h"

static char folder[] = "/tmp/opscope-part-state-XXXXXX";
static int dir_fd;
static struct osc_part_state state_of_part;
static struct osc_block block;
static unsigned char out[65536];

static int set_up(void **state)
{
    static const uint64_t recording[2] = {3, 4};

    (void)state;
    memset(folder + sizeof folder - 7, 'X', 6);
    if (!mkdtemp(folder))
        return 1;
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(osc_blocks_open(dir_fd, 4 << 20, recording), OSC_OK);
    osc_blocks_header()->n_threads = 2;
    for (uint32_t i = 0; i < 2; i++)
        osc_blocks_threads()[i] =
            (struct osc_live_thread){.state = OSC_THREAD_RUNS, .ordinal = i + 1};
    memset(&state_of_part, 0, sizeof state_of_part);
    osc_part_state_open(&state_of_part);
    return state_of_part.threads ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    osc_part_state_close(&state_of_part);
    osc_blocks_close();
    unlinkat(dir_fd, "blocks", 0);
    close(dir_fd);
    return rmdir(folder);
}

/* Begin the block SEQ of THREAD, which is empty. */
static void begin_block(uint64_t seq, uint32_t thread)
{
    block = (struct osc_block){
        .seq = seq, .thread = thread, .tag = (uint16_t)seq, .state = OSC_BLOCK_OPEN};
}

static uint32_t add(uint32_t at, uint32_t kind, uint32_t id, uint64_t ticks, uint32_t n_slots)
{
    block.slots[at] =
        (struct osc_record_slot){ticks, osc_record_word(id, block.tag, kind, n_slots)};
    for (uint32_t i = 1; i < n_slots; i++)
        block.slots[at + i] = (struct osc_record_slot){ticks + i, 7};
    return at + n_slots;
}

static uint32_t add_begin(uint32_t at, uint32_t name)
{
    return add(at, OSC_RECORD_BEGIN, name, 100 + at, 1);
}

static void fill(uint32_t used)
{
    block.state = OSC_BLOCK_FULL;
    block.used_slots = used;
}

/* The copies for THREAD, as text: kinds in hex, with the ids. */
static const char *told_of(uint32_t thread)
{
    static char text[16 * OSC_PART_STATE_DEPTH];
    uint64_t n_records, n = 0;
    const size_t len = osc_part_state_write(&state_of_part, out, sizeof out, &n_records);
    struct osc_pack_segment s;
    size_t used = 0;

    text[0] = '\0';
    for (size_t at = 0; at < len; at += sizeof s + s.n_bytes) {
        memcpy(&s, out + at, sizeof s);
        assert_int_equal(s.n_slots + s.first_slot, 0);
        struct osc_unpack u = {.at = out + at + sizeof s,
                               .end = out + at + sizeof s + s.n_bytes,
                               .ticks = s.start_ticks};
        struct osc_packed p;

        while (osc_unpack_next(&u, &p)) {
            n++;
            if (s.thread == thread)
                used += (size_t)snprintf(text + used, sizeof text - used, "%x:%u@%llu ", p.kind,
                                         p.id, (unsigned long long)p.ticks);
            assert_true(used < sizeof text);
        }
    }
    assert_int_equal(n, n_records);
    return text;
}

TEST_WITH(open_scopes_and_the_step_are_told_of_each_thread, set_up, tear_down)
{
    uint32_t at = 0;

    begin_block(1, 1);
    at = add_begin(at, 8);
    at = add(at, OSC_RECORD_STEP_BEGIN, 0, 200, 2);
    at = add_begin(at, 9);
    at = add(at, OSC_RECORD_END, 0, 300, 1);
    at = add_begin(at, 10);
    osc_part_state_follow(&state_of_part, &block, 0, at);
    begin_block(2, 2);
    at = add_begin(0, 11);
    at = add(at, OSC_RECORD_STEP_BEGIN, 0, 400, 2);
    at = add(at, OSC_RECORD_STEP_END, 0, 500, 1);
    osc_part_state_follow(&state_of_part, &block, 0, at);
    assert_string_equal(told_of(1), "9:0@200 40:8@100 40:10@105 ");
    assert_string_equal(told_of(2), "40:11@100 ");
    osc_part_state_forget(&state_of_part);
    assert_string_equal(told_of(1), "");
}

TEST_WITH(scopes_end_that_are_not_the_innermost_or_are_of_another_thread, set_up, tear_down)
{
    uint32_t at = 0;

    begin_block(1, 1);
    at = add_begin(at, 8);
    at = add_begin(at, 9);
    at = add_begin(at, 10);
    at = add(at, OSC_RECORD_END_OF, 101, 200, 1); /* 9 */
    osc_part_state_follow(&state_of_part, &block, 0, at);
    assert_string_equal(told_of(1), "40:8@100 40:10@102 ");
    begin_block(2, 2);
    at = add_begin(0, 11);
    at = add(at, OSC_RECORD_END_OF, 102, 300, 1); /* 10 */
    at = add(at, OSC_RECORD_END_OF, 99, 300, 1);  /* none */
    osc_part_state_follow(&state_of_part, &block, 0, at);
    assert_string_equal(told_of(1), "40:8@100 ");
    assert_string_equal(told_of(2), "40:11@100 ");
}

TEST_WITH(scopes_end_whose_end_comes_before_their_begin, set_up, tear_down)
{
    for (uint64_t flush = 1; flush < 4; flush++) { /* the begin comes 0 to 2 flushes later */
        begin_block(2 * flush, 2);
        osc_part_state_follow(&state_of_part, &block, 0,
                              add(0, OSC_RECORD_END_OF, 100, 200, 1));
        for (uint64_t i = 1; i < flush; i++)
            osc_part_state_settle(&state_of_part);
        begin_block(2 * flush + 1, 1);
        osc_part_state_follow(&state_of_part, &block, 0, add_begin(add_begin(0, 8), 9));
        osc_part_state_settle(&state_of_part);
        assert_string_equal(told_of(1), flush < 3 ? "40:9@101 " : "40:8@100 40:9@101 ");
        osc_part_state_forget(&state_of_part);
    }
}

TEST_WITH(scopes_end_that_are_too_deep_or_around_such, set_up, tear_down)
{
    uint32_t at = 0;

    begin_block(1, 1);
    while (at < OSC_PART_STATE_DEPTH + 2)
        at = add_begin(at, 8);
    for (uint32_t i = 1; i < OSC_PART_STATE_DEPTH; i++) /* all but the first and the last two */
        at = add(at, OSC_RECORD_END_OF, 100 + i, 900, 1);
    at = add(at, OSC_RECORD_END_OF, 100 + OSC_PART_STATE_DEPTH, 900, 1);
    osc_part_state_follow(&state_of_part, &block, 0, at);
    osc_part_state_settle(&state_of_part);
    assert_string_equal(told_of(1), "40:8@100 ");
    osc_part_state_follow(&state_of_part, &block, at, add(at, OSC_RECORD_END, 0, 950, 1));
    osc_part_state_settle(&state_of_part);
    assert_string_equal(told_of(1), "40:8@100 ");
}

TEST_WITH(a_scope_that_is_only_counted_ends, set_up, tear_down)
{
    uint32_t at = 0;

    begin_block(1, 1);
    while (at < OSC_PART_STATE_DEPTH + 2)
        at = add_begin(at, 8);
    for (uint32_t i = 0; i < 2; i++)
        at = add(at, OSC_RECORD_END_OF, 100 + OSC_PART_STATE_DEPTH + i, 900, 1);
    osc_part_state_follow(&state_of_part, &block, 0, at);
    osc_part_state_settle(&state_of_part);
    assert_string_equal(told_of(1), "");
    osc_part_state_settle(&state_of_part);
    assert_int_equal(strncmp(told_of(1), "40:8@100 40:8@101 ", 18), 0);
}

TEST_WITH(a_block_is_followed_piece_by_piece_and_then_the_next_one, set_up, tear_down)
{
    uint32_t first, at;

    begin_block(1, 1);
    first = add_begin(0, 8);
    osc_part_state_follow(&state_of_part, &block, 0, first);
    at = add(first, OSC_RECORD_END, 0, 200, 1);
    at = add_begin(at, 9);
    fill(at);
    osc_part_state_follow(&state_of_part, &block, first, at);
    begin_block(5, 1);
    osc_part_state_follow(&state_of_part, &block, 0, add_begin(0, 10));
    assert_string_equal(told_of(1), "40:9@102 40:10@100 ");
}

TEST_WITH(what_comes_before_its_time_ends_what_was_followed, set_up, tear_down)
{
    const uint32_t end = 2;

    begin_block(1, 1);
    (void)add_begin(0, 8);
    (void)add(1, OSC_RECORD_END, 0, 200, 1);
    fill(end);
    const struct osc_block waiting = block;
    osc_part_state_follow(&state_of_part, &block, 0, 1);
    begin_block(2, 1);
    osc_part_state_follow(&state_of_part, &block, 0, add_begin(0, 9));
    assert_string_equal(told_of(1), "40:9@100 ");
    osc_part_state_follow(&state_of_part, &waiting, 1, end);
    assert_string_equal(told_of(1), "40:9@100 ");
}

TEST_WITH(scopes_that_are_too_deep_are_counted_and_not_told, set_up, tear_down)
{
    begin_block(1, 1);
    for (uint32_t i = 0; i <= OSC_PART_STATE_DEPTH; i++)
        (void)add_begin(i, 8);
    osc_part_state_follow(&state_of_part, &block, 0, OSC_PART_STATE_DEPTH + 1);
    assert_string_equal(told_of(1), "");
    (void)add(OSC_PART_STATE_DEPTH + 1, OSC_RECORD_END, 0, 900, 1);
    osc_part_state_follow(&state_of_part, &block, OSC_PART_STATE_DEPTH + 1,
                          OSC_PART_STATE_DEPTH + 2);
    for (uint32_t i = 0; i < OSC_PART_STATE_DEPTH - 1; i++)
        (void)add(i, OSC_RECORD_END, 0, 1000, 1);
    block.seq = 2;
    state_of_part.threads[1].is_through = true;
    osc_part_state_follow(&state_of_part, &block, 0, OSC_PART_STATE_DEPTH - 1);
    assert_string_equal(told_of(1), "40:8@100 ");
}

TEST_WITH(of_a_device_the_first_and_the_last_reading_are_told, set_up, tear_down)
{
    begin_block(1, 1);
    (void)add(0, OSC_RECORD_DEVICE_CLOCK, 3, 100, 2);
    (void)add(2, OSC_RECORD_DEVICE_CLOCK, 4, 150, 2);
    (void)add(4, OSC_RECORD_DEVICE_CLOCK, 3, 200, 2);
    (void)add(6, OSC_RECORD_DEVICE_CLOCK, 3, 300, 2);
    osc_part_state_follow(&state_of_part, &block, 0, 8);
    osc_part_state_forget(&state_of_part);
    assert_string_equal(told_of(1), "10:3@100 10:3@300 10:4@150 ");
}

TEST_WITH(threads_that_are_gone_are_forgotten, set_up, tear_down)
{
    for (uint32_t thread = 2; thread < 20000; thread++) {
        begin_block(thread, thread);
        osc_part_state_follow(&state_of_part, &block, 0, add_begin(0, 8));
    }
    assert_string_equal(told_of(2), "40:8@100 ");
    begin_block(20000, 1);
    osc_part_state_follow(&state_of_part, &block, 0, add_begin(0, 9));
    assert_string_equal(told_of(1), "40:9@100 ");
}

UNIT_MAIN("part_state")
