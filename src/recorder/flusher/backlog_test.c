/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/backlog.h"

#include <signal.h>
#include <sys/resource.h>

#include "support/open_sink.h"
#include "support/recording.h"

enum { SECOND = 1000000000 };

static struct osc_backlog backlog;

static int set_up(void **state)
{
    (void)state;
    open_sink(true);
    assert_int_equal(osc_backlog_open(&backlog, 256), OSC_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osc_backlog_close(&backlog);
    close_sink();
    return 0;
}

/* Put the thread ORDINAL into entry 0 of the table. */
static void set_thread(uint64_t ordinal, uint32_t state)
{
    osc_blocks_header()->n_threads = 1;
    osc_blocks_threads()[0].ordinal = ordinal;
    osc_blocks_threads()[0].state = state;
}

static void put(struct osc_block *b, uint32_t slot, uint32_t kind, uint64_t ticks)
{
    b->slots[slot].value = ticks;
    b->slots[slot].word = osc_record_word(1, b->tag, kind, 1);
}

/* A block of the thread ORDINAL with N ends at FIRST_TICKS and after. */
static struct osc_block *new_block(uint64_t ordinal, uint32_t n, uint64_t first_ticks)
{
    struct osc_block *b = osc_blocks_take(ordinal, 77);

    assert_non_null(b);
    for (uint32_t i = 0; i < n; i++)
        put(b, i, OSC_RECORD_END, first_ticks + i);
    return b;
}

static uint32_t write_all(struct osc_sink *to, uint64_t until, int64_t now_ns, bool with_open)
{
    const struct osc_backlog_range range = {
        .until_ticks = until, .now_ns = now_ns, .with_open = with_open};
    uint32_t n_waiting = 0;

    assert_int_equal(osc_backlog_write(&backlog, to, &range, &n_waiting), OSC_OK);
    return n_waiting;
}

/* Read the part while it is open. */
static struct recording read_out(void)
{
    struct recording r;

    assert_true(recording_read(&r, out));
    recording_free(&r);
    return r;
}

TEST_WITH(full_blocks_are_written_once_and_given_back, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 100, 1000);
    osc_blocks_fill(b, 100);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    assert_int_equal(backlog.n, 1);
    assert_int_equal(write_all(&sink, UINT64_MAX, 0, false), 0);
    assert_int_equal(backlog.n, 0);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(b->written_slots, 0);
    assert_int_equal(write_all(&sink, UINT64_MAX, 0, true), 0);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 100);
}

TEST_WITH(blocks_come_again_in_the_order_of_their_addresses, set_up, tear_down)
{
    struct osc_block *b[3];

    set_thread(1, OSC_THREAD_RUNS);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            b[i] = new_block(1, 100, 1000 + 100 * (uint64_t)i);
            assert_true(i == 0 || b[i] > b[i - 1]);
        }
        for (int i = 0; i < 3; i++)
            osc_blocks_fill(b[i], 100);
        osc_backlog_drain(&backlog, &sink, 2000, 0);
        write_all(&sink, UINT64_MAX, 0, false);
        assert_int_equal(backlog.n, 0);
    }
}

TEST_WITH(a_cut_divides_blocks, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *full = new_block(1, 100, 1000), *open = new_block(1, 50, 1050);
    osc_blocks_fill(full, 100);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    write_all(&sink, 1060, 0, true);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 61 + 11); /* an END at 1060 is in */
    assert_int_equal(full->written_slots, 61);
    assert_int_equal(open->written_slots, 11);
    write_all(NULL, 1080, 0, true); /* discard */
    write_all(&sink, UINT64_MAX, 0, true);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 61 + 11 + 19 + 19);
    assert_int_equal(backlog.n, 0);
}

TEST_WITH(a_call_that_has_not_finished_is_waited_for, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 100, 1000);
    b->slots[40].word = 0; /* reserved */
    osc_blocks_fill(b, 100);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    assert_int_equal(write_all(&sink, UINT64_MAX, SECOND, false), 1);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 40);
    put(b, 40, OSC_RECORD_END, 1040);
    assert_int_equal(write_all(&sink, UINT64_MAX, SECOND, false), 0);
    struct recording r = read_out();
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 100);
    assert_int_equal(r.n_unfinished, 0);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
}

/* A block of a running thread with a call that was never finished, all written. */
static struct osc_block *write_unfinished(void)
{
    const struct osc_backlog_range range = {.until_ticks = UINT64_MAX, .take_all = true};
    uint32_t n_waiting = 0;

    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 100, 1000);
    b->slots[40].word = 0;
    osc_blocks_fill(b, 100);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    assert_int_equal(osc_backlog_write(&backlog, &sink, &range, &n_waiting), OSC_OK);
    return b;
}

TEST_WITH(a_call_that_was_left_keeps_its_block_for_a_second, set_up, tear_down)
{
    struct osc_block *b = write_unfinished();

    assert_int_equal(read_out().n_unfinished, 1);
    assert_int_equal(backlog.n_asleep, 1);
    osc_backlog_drain(&backlog, &sink, 3000, SECOND);
    osc_backlog_wake(&backlog);
    assert_int_equal(b->state, OSC_BLOCK_FULL);
    osc_backlog_drain(&backlog, &sink, 3000, SECOND + 1);
    osc_backlog_wake(&backlog);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(backlog.n + backlog.n_asleep, 0);

    /* After that second, a block comes back as soon as it is written. */
    b = new_block(1, 100, 3000);
    b->slots[40].word = 0;
    osc_blocks_fill(b, 100);
    osc_backlog_drain(&backlog, &sink, 4000, 0);
    assert_int_equal(write_all(&sink, UINT64_MAX, SECOND + 1, false), 0);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 2 * 99);
}

TEST_WITH(blocks_that_threads_left_open_are_taken_over, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 100, 1000);
    b->slots[40].word = 0;
    assert_int_equal(osc_backlog_adopt(&backlog, &sink, 2000, 0), 0);
    set_thread(1, OSC_THREAD_EXITED);
    assert_int_equal(osc_backlog_adopt(&backlog, &sink, 2000, 0), 1);
    assert_int_equal(osc_backlog_adopt(&backlog, &sink, 2000, 0), 0);
    assert_int_equal(b->state, OSC_BLOCK_FULL);
    assert_int_equal(write_all(&sink, UINT64_MAX, SECOND + 1, false), 0);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 99);
}

TEST_WITH(a_call_that_was_left_keeps_its_block_until_its_thread_ends, set_up, tear_down)
{
    struct osc_block *b = write_unfinished();
    struct recording r = read_out();
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 99);
    assert_int_equal(r.n_unfinished, 1);
    assert_int_equal(backlog.n_asleep, 1);
    osc_backlog_wake(&backlog);
    assert_int_equal(b->state, OSC_BLOCK_FULL);
    assert_int_equal(write_all(&sink, UINT64_MAX, 1, false), 0);
    set_thread(1, OSC_THREAD_EXITED);
    osc_backlog_wake(&backlog);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(backlog.n + backlog.n_asleep, 0);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 99);
}

TEST_WITH(a_write_that_fails_is_tried_again, set_up, tear_down)
{
    const struct osc_backlog_range all = {.until_ticks = UINT64_MAX, .with_open = true};
    struct rlimit old;
    uint32_t n_waiting;

    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 100, 1000);
    osc_blocks_fill(b, 100);
    struct osc_block *open = new_block(1, 10, 1100);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit low = {sink.file.bytes, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_int_equal(osc_backlog_write(&backlog, &sink, &all, &n_waiting), OSC_EIO);
    assert_int_equal(b->written_slots + open->written_slots, 0);
    assert_int_equal(backlog.n, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(write_all(&sink, UINT64_MAX, 0, true), 0);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 110);
}

TEST_WITH(what_is_old_is_given_up_first, set_up, tear_down)
{
    struct osc_thread_set set;
    struct osc_block *blocks[6];

    set_thread(1, OSC_THREAD_RUNS);
    for (uint32_t i = 0; i < 6; i++) {
        blocks[i] = new_block(i + 1, 10, UINT64_C(1000) * (i + 1));
        osc_blocks_fill(blocks[i], 10);
        osc_backlog_drain(&backlog, &sink, 1000 * (i + 1) + 500, 0);
    }
    osc_backlog_evict(&backlog, &sink, 2500, 100);
    assert_int_equal(backlog.n, 5);
    assert_int_equal(blocks[0]->state, OSC_BLOCK_FREE);
    osc_backlog_evict(&backlog, &sink, 0, 3);
    assert_int_equal(backlog.n, 3);
    assert_int_equal(backlog.evicted_ticks, 3010);
    osc_backlog_threads(&backlog, &set);
    assert_false(osc_threads_in(&set, 3));
    assert_true(osc_threads_in(&set, 4));

    const struct osc_backlog_range range = {
        .from_ticks = 5005, .until_ticks = 6005, .keep = true};
    uint32_t n_waiting;
    for (int i = 1; i <= 2; i++) { /* any number of times */
        assert_int_equal(osc_backlog_write(&backlog, &sink, &range, &n_waiting), OSC_OK);
        assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 10 * i);
    }
    assert_int_equal(backlog.n, 3);
}

/* A drain that comes late takes many blocks at once; the younger ones are whole. */
TEST_WITH(what_was_given_up_is_told_by_its_records, set_up, tear_down)
{
    struct osc_block *b = NULL;

    set_thread(1, OSC_THREAD_RUNS);
    for (uint32_t i = 0; i < 3; i++) {
        b = new_block(1, 10, UINT64_C(1000) * (i + 1));
        osc_blocks_fill(b, 10);
    }
    osc_backlog_drain(&backlog, &sink, 9000, 0);
    osc_backlog_evict(&backlog, &sink, 0, 2);
    assert_int_equal(backlog.evicted_ticks, 1010);
    osc_backlog_evict(&backlog, &sink, 0, 1);
    assert_int_equal(backlog.evicted_ticks, 2010);
    /* Of a call that has not finished, nothing but the drain tells the time. */
    b->slots[9].word = 0;
    osc_backlog_evict(&backlog, &sink, 0, 0);
    assert_int_equal(backlog.evicted_ticks, 9000);
}

/* Between the drain and the write, a thread fills its block. */
TEST_WITH(a_block_filled_after_the_drain_is_written_by_a_dump, set_up, tear_down)
{
    const struct osc_backlog_range range = {
        .from_ticks = 1000, .until_ticks = 1205, .with_open = true, .keep = true};
    uint32_t n_waiting;

    set_thread(1, OSC_THREAD_RUNS);
    osc_blocks_fill(new_block(1, 10, 1000), 10);
    osc_backlog_drain(&backlog, &sink, 1100, 0);
    osc_blocks_fill(new_block(1, 10, 1200), 10);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(osc_backlog_write(&backlog, &sink, &range, &n_waiting), OSC_OK);
        assert_int_equal(n_waiting, 0);
        /* An END at the begin is out, one at the end is in. */
        assert_int_equal(read_out().n_kinds[OSC_RECORD_END], (9 + 6) * i);
    }
    osc_backlog_drain(&backlog, &sink, 1300, 0);
    assert_int_equal(backlog.n, 2);
}

TEST_WITH(a_block_filled_after_the_drain_is_divided_by_a_cut, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 10, 1000);
    osc_blocks_fill(b, 10);
    assert_int_equal(write_all(&sink, 1004, 0, true), 0);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 5); /* an END at 1004 is in */
    assert_int_equal(b->state, OSC_BLOCK_FULL);
    osc_backlog_drain(&backlog, &sink, 1100, 0);
    assert_int_equal(write_all(&sink, UINT64_MAX, 0, true), 0);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 10);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
}

/* While a dump is written, threads fill all blocks but six of 256: sixteen must be free. */
TEST_WITH(a_dump_gives_back_the_oldest_blocks_that_threads_need, set_up, tear_down)
{
    enum { FULL = 250, GIVEN = 10 };
    const struct osc_backlog_range range = {
        .from_ticks = 1, .until_ticks = UINT64_MAX, .keep = true};
    struct osc_block *blocks[FULL];
    uint32_t n_waiting;

    set_thread(1, OSC_THREAD_RUNS);
    for (uint64_t i = 0; i < FULL; i++) {
        blocks[i] = new_block(1, 10, 1000 * (i + 1));
        osc_blocks_fill(blocks[i], 10);
        osc_backlog_drain(&backlog, &sink, 1000 * (i + 1) + 500, 0);
    }
    assert_int_equal(osc_blocks_header()->n_blocks, 256);
    assert_int_equal(osc_backlog_write(&backlog, &sink, &range, &n_waiting), OSC_OK);
    assert_int_equal(read_out().n_kinds[OSC_RECORD_END], 10 * FULL);
    assert_int_equal(backlog.n, FULL - GIVEN);
    assert_int_equal(backlog.evicted_ticks, 1000 * GIVEN + 10);
    for (int i = 0; i < FULL; i++)
        assert_int_equal(blocks[i]->state, i < GIVEN ? OSC_BLOCK_FREE : OSC_BLOCK_FULL);
}

TEST_WITH(memory_is_taken_before_what_is_young_is_given_up, set_up, tear_down)
{
    static const uint64_t recording[2] = {3, 4};
    enum { FIRST = 512, MOST = 640, OLD = 10 };

    osc_blocks_close();
    assert_int_equal(unlinkat(dir_fd, "blocks", 0), 0);
    assert_int_equal(osc_blocks_open(dir_fd, (uint64_t)MOST * OSC_BLOCK_BYTES, recording),
                     OSC_OK);
    while (osc_blocks_grow_early())
        continue;
    osc_backlog_close(&backlog);
    assert_int_equal(osc_backlog_open(&backlog, MOST), OSC_OK);
    set_thread(1, OSC_THREAD_RUNS);
    for (uint32_t i = 0; i < FIRST; i++) {
        osc_blocks_fill(new_block(1, 10, 1000), 10);
        if (i + 1 == OLD)
            osc_backlog_drain(&backlog, &sink, 2000, 0);
    }
    osc_backlog_drain(&backlog, &sink, 3000, 0);

    assert_int_equal(osc_backlog_keep(&backlog, 2500, OLD), FIRST - OLD);
    assert_int_equal(osc_blocks_header()->n_blocks, MOST);
    for (uint32_t i = 0; i < MOST - FIRST; i++)
        osc_blocks_fill(new_block(1, 10, 1000), 10);
    osc_backlog_drain(&backlog, &sink, 3000, 0);
    assert_int_equal(osc_backlog_keep(&backlog, 0, 100), MOST - 100);
    assert_int_equal(osc_backlog_keep(&backlog, 2500, 100), MOST - 100);
    assert_int_equal(osc_backlog_keep(&backlog, 0, MOST), MOST - MOST / 8 * 3);
}

TEST_WITH(standing_records_outlive_their_blocks, set_up, tear_down)
{
    set_thread(1, OSC_THREAD_RUNS);
    struct osc_block *b = new_block(1, 10, 1000), *open = new_block(1, 10, 1100);
    put(b, 5, OSC_RECORD_THREAD_NAME, 1005);
    put(open, 5, OSC_RECORD_PROCESS_NAME, 1105);
    osc_blocks_fill(b, 10);
    osc_backlog_drain(&backlog, &sink, 2000, 0);
    write_all(NULL, UINT64_MAX, 0, true);
    assert_int_equal(b->state, OSC_BLOCK_FREE);
    assert_int_equal(osc_backlog_put_persistent(&backlog, &sink, 0), OSC_OK);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    const struct recording r = read_out();
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 0);
    assert_int_equal(r.n_kinds[OSC_RECORD_THREAD_NAME], 1);
    assert_int_equal(r.n_kinds[OSC_RECORD_PROCESS_NAME], 1);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return unit_run("backlog", NULL, NULL);
}
