/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/sink.h"

#include "support/open_sink.h"
#include "support/recording.h"

static int set_up(void **state)
{
    (void)state;
    open_sink(false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_sink();
    return 0;
}

/* Put N instants named NAME, in a block of their own, and flush. */
static void put_instants(const char *name, uint32_t n)
{
    uint64_t lost = 0;
    const uint32_t id = osc_names_add(name, strlen(name), &lost, &lost);
    struct osc_block *b = osc_blocks_take(1, 77);
    uint32_t end;

    assert_non_null(b);
    for (uint32_t i = 0; i < n; i++)
        b->slots[i] = (struct osc_record_slot){
            1000 + i, osc_record_word(id, b->tag, OSC_RECORD_INSTANT, 1)};
    assert_int_equal(osc_sink_put(&sink, b, (struct osc_pack_range){0, n, false}, &end),
                     OSC_OK);
    assert_int_equal(end, n);
    assert_int_equal(b->written_slots, 0);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    assert_int_equal(b->written_slots, n);
}

static struct recording read_part(unsigned n)
{
    struct recording r;
    char path[128];

    snprintf(path, sizeof path, "%s/run.%u.osc", folder, n);
    assert_true(recording_read(&r, n == 1 ? out : path));
    return r;
}

static void add_anchor(uint64_t ticks)
{
    const struct osc_clock_anchor anchor = {.ticks = ticks, .monotonic_ns = (int64_t)ticks};

    osc_sink_add_anchor(&anchor);
}

TEST_WITH(each_part_says_all_that_it_needs, set_up, tear_down)
{
    add_anchor(500);
    put_instants("one", 3);
    add_anchor(600);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 700), OSC_OK);
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 700), OSC_OK); /* nothing is open */
    put_instants("two", 4);
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 800), OSC_OK);

    struct recording r = read_part(1);
    assert_int_equal(r.n_kinds[OSC_RECORD_INSTANT], 3);
    assert_int_equal(r.n_chunks[OSC_CHUNK_CLOCK], 2);
    assert_true(recording_has_name(&r, r.names[0], "one"));
    assert_int_equal(r.file.recording[1], 4);
    recording_free(&r);
    r = read_part(2);
    assert_int_equal(r.file.part, 2);
    assert_int_equal(r.n_kinds[OSC_RECORD_INSTANT], 4);
    assert_int_equal(r.n_chunks[OSC_CHUNK_PROCESS], 1);
    assert_int_equal(r.n_chunks[OSC_CHUNK_CLOCK], 1); /* both anchors at once */
    assert_true(recording_has_name(&r, r.names[0], "two"));
    assert_int_equal(r.end.reason, OSC_END_STOPPED);
    assert_int_equal(r.end.ticks, 800);
    recording_free(&r);
}

TEST_WITH(threads_are_told_when_something_changed, set_up, tear_down)
{
    struct osc_live_thread *t = osc_blocks_threads();

    osc_blocks_header()->n_threads = 3;
    t[0] = (struct osc_live_thread){.state = OSC_THREAD_RUNS, .tid = 70, .ordinal = 1};
    t[2] = (struct osc_live_thread){.state = OSC_THREAD_EXITED, .tid = 72, .ordinal = 2};
    assert_int_equal(osc_sink_write_threads(&sink), OSC_OK);
    assert_int_equal(osc_sink_write_threads(&sink), OSC_OK);
    t[0].lost[OSC_LOSS_FULL] = 9;
    osc_blocks_header()->lost[OSC_LOSS_TOO_BIG] = 5;
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 1), OSC_OK);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    t[0].lost[OSC_LOSS_FULL] = 11;
    t[2] = (struct osc_live_thread){.state = OSC_THREAD_RUNS, .tid = 73, .ordinal = 4};
    t[2].lost[OSC_LOSS_LATE] = 1;
    assert_int_equal(osc_blocks_header()->lost_before[OSC_LOSS_FULL], 9);
    assert_int_equal(osc_blocks_header()->lost_before[OSC_LOSS_TOO_BIG], 5);
    assert_int_equal(osc_blocks_header()->lost_before[OSC_LOSS_LATE], 0);
    osc_blocks_header()->lost[OSC_LOSS_TOO_BIG] = 8;
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 2), OSC_OK);

    struct recording r = read_part(1);
    assert_int_equal(r.n_chunks[OSC_CHUNK_THREADS], 2);
    assert_int_equal(r.n_threads, 3);
    assert_int_equal(r.threads[1].tid, 72);
    assert_int_equal(r.threads[2].tid, 70);
    assert_int_equal(r.threads[2].lost[OSC_LOSS_FULL], 9);
    assert_int_equal(r.end.lost[OSC_LOSS_TOO_BIG], 5);
    recording_free(&r);
    r = read_part(2); /* lost since the first part */
    assert_int_equal(r.n_threads, 2);
    assert_int_equal(r.threads[0].lost[OSC_LOSS_FULL], 2);
    assert_int_equal(r.threads[1].lost[OSC_LOSS_LATE], 1);
    assert_int_equal(r.end.lost[OSC_LOSS_TOO_BIG], 3);
    recording_free(&r);
}

TEST_WITH(a_part_that_goes_on_tells_losses_of_those_before_it, set_up, tear_down)
{
    struct osc_live_thread *t = osc_blocks_threads();

    osc_blocks_header()->n_threads = 2;
    t[0] = (struct osc_live_thread){.state = OSC_THREAD_RUNS, .tid = 70, .ordinal = 1};
    t[0].lost[OSC_LOSS_FULL] = 4;
    t[1] = (struct osc_live_thread){.state = OSC_THREAD_EXITED, .tid = 71, .ordinal = 2};
    t[1].lost[OSC_LOSS_FULL] = 100;
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 1), OSC_OK);
    t[0].lost[OSC_LOSS_FULL] += 9;
    t[1].lost[OSC_LOSS_FULL] += 30;
    osc_blocks_header()->lost[OSC_LOSS_TOO_BIG] = 5;
    put_instants("one", 3);
    assert_int_equal(osc_sink_write_threads(&sink), OSC_OK);
    assert_int_equal(osc_blocks_header()->lost_before[OSC_LOSS_FULL], 4 + 100);
    osc_sink_thread_done(&sink, 1);
    memset(&t[1], 0, sizeof t[1]);
    assert_int_equal(osc_blocks_header()->lost_before[OSC_LOSS_FULL], 4);
    assert_int_equal(osc_sink_end(&sink, OSC_END_CONTINUED, 2), OSC_OK);
    put_instants("two", 4);
    t[0].lost[OSC_LOSS_FULL] += 2;
    osc_blocks_header()->lost[OSC_LOSS_TOO_BIG] = 6;
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 3), OSC_OK);
    put_instants("three", 1);
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 4), OSC_OK);

    struct recording r = read_part(2);
    assert_int_equal(r.n_chunks[OSC_CHUNK_BEFORE], 0);
    recording_free(&r);
    r = read_part(3); /* lost since part 2 began, although it is deleted */
    assert_int_equal(r.n_threads, 1);
    assert_int_equal(r.threads[0].lost[OSC_LOSS_FULL], 11);
    assert_int_equal(r.end.lost[OSC_LOSS_TOO_BIG], 6);
    assert_int_equal(r.before.n_records, 3);
    assert_int_equal(r.before.lost[OSC_LOSS_FULL], 30);
    recording_free(&r);
    r = read_part(4);
    assert_int_equal(r.n_chunks[OSC_CHUNK_BEFORE], 0);
    assert_int_equal(r.threads[0].lost[OSC_LOSS_FULL], 0);
    assert_int_equal(r.end.lost[OSC_LOSS_TOO_BIG], 0);
    recording_free(&r);
}

/* As with threads that end while a flight recorder only keeps records in memory. */
TEST_WITH(a_part_tells_losses_of_threads_that_ended_before_its_records, set_up, tear_down)
{
    struct osc_live_thread *t = osc_blocks_threads();

    osc_blocks_header()->n_threads = 1;
    for (uint32_t i = 1; i <= 2; i++) {
        t[0] = (struct osc_live_thread){.state = OSC_THREAD_EXITED, .tid = 70, .ordinal = i};
        t[0].lost[OSC_LOSS_FULL] = 20 + i;
        osc_sink_thread_done(&sink, 0);
        memset(&t[0], 0, sizeof t[0]);
        assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    }
    put_instants("one", 3);
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 1), OSC_OK);
    put_instants("two", 4);
    assert_int_equal(osc_sink_end(&sink, OSC_END_WINDOW, 2), OSC_OK);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    t[0] = (struct osc_live_thread){.state = OSC_THREAD_EXITED, .tid = 71, .ordinal = 3};
    t[0].lost[OSC_LOSS_LATE] = 5;
    osc_sink_thread_done(&sink, 0);
    memset(&t[0], 0, sizeof t[0]);
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 3), OSC_OK);

    struct recording r = read_part(1);
    assert_int_equal(r.n_chunks[OSC_CHUNK_BEFORE], 1);
    assert_int_equal(r.before.n_records, 0);
    assert_int_equal(r.before.lost[OSC_LOSS_FULL], 43);
    recording_free(&r);
    r = read_part(2);
    assert_int_equal(r.n_chunks[OSC_CHUNK_BEFORE], 0);
    recording_free(&r);
    r = read_part(3); /* without records */
    assert_int_equal(r.before.lost[OSC_LOSS_LATE], 5);
    recording_free(&r);
}

TEST_WITH(threads_are_told_beside_what_was_put, set_up, tear_down)
{
    struct osc_block *b = osc_blocks_take(1, 77);

    b->slots[0].word = osc_record_word(0, b->tag, OSC_RECORD_THREAD_NAME, 1);
    assert_int_equal(osc_sink_put_persistent(&sink, b, (struct osc_pack_range){0, 1, false}),
                     OSC_OK);
    osc_blocks_header()->n_threads = 1;
    osc_blocks_threads()[0].state = OSC_THREAD_RUNS;
    assert_int_equal(osc_sink_write_threads(&sink), OSC_OK);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    struct recording r = read_part(1);
    assert_int_equal(r.n_threads, 1);
    assert_int_equal(r.n_kinds[OSC_RECORD_THREAD_NAME], 1);
    recording_free(&r);
}

TEST_WITH(the_first_anchor_and_the_last_ones_are_kept, set_up, tear_down)
{
    struct osc_clock_anchor first;

    for (uint64_t i = 1; i <= 100; i++)
        add_anchor(i * 10);
    assert_int_equal(osc_sink_flush(&sink), OSC_OK);
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 1), OSC_OK);
    struct recording r = read_part(1);
    assert_int_equal(r.n_chunks[OSC_CHUNK_CLOCK], 1);
    recording_free(&r);
    first = osc_blocks_header()->anchors[0];
    assert_int_equal(first.ticks, 10);
    assert_int_equal(osc_blocks_header()->n_anchors, 100);
}

TEST_WITH(a_part_that_is_full_is_followed_by_another, set_up, tear_down)
{
    unsigned last = 1;

    sink.part_bytes = 20000;
    for (int i = 0; i < 30; i++)
        put_instants("again", 1000);
    assert_int_equal(osc_sink_end(&sink, OSC_END_STOPPED, 1), OSC_OK);
    uint64_t n = 0;
    for (; last <= sink.file.part; last++) {
        struct recording r = read_part(last);
        n += r.n_kinds[OSC_RECORD_INSTANT];
        assert_in_range(r.len, 1000, 30000);
        assert_true(recording_has_name(&r, r.names[0], "again"));
        recording_free(&r);
    }
    assert_int_equal(n, 30000);
    assert_in_range(last, 4, 10);
}

UNIT_MAIN("sink")
