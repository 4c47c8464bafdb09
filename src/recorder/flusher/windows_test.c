/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/windows.h"

#include "recording/schedule.h"
#include "support/unit.h"
#include "wire/live.h"

static bool is_held;
static int n_wakes;
static uint64_t begin;

static void hold(bool hold_it)
{
    is_held = hold_it;
}

static void wake(void)
{
    n_wakes++;
}

static void start(const struct osc_schedule *schedule, double slow_step)
{
    const struct osc_windows_start s = {.schedule = schedule,
                                        .slow_step = slow_step,
                                        .hold = hold,
                                        .wake = wake,
                                        .begin = &begin};

    is_held = true;
    n_wakes = 0;
    osc_windows_open(&s);
}

static void step(uint64_t number, uint64_t ticks)
{
    osc_windows_step_end(ticks);
    osc_windows_step_begin(number, ticks);
}

static void assert_cut(uint64_t ticks, unsigned deeds)
{
    struct osc_cut cut;

    assert_true(osc_windows_take(&cut));
    assert_int_equal(cut.ticks, ticks);
    assert_int_equal(cut.deeds, deeds);
}

TEST(without_a_schedule_all_is_one_window)
{
    struct osc_cut cut;

    start(NULL, 0);
    assert_false(is_held);
    assert_true(osc_windows_begins_open());
    assert_int_equal(begin, 0);
    for (uint64_t i = 0; i < 10; i++)
        step(i, 100 * i);
    assert_false(osc_windows_take(&cut));
    assert_int_equal(osc_windows_exit(), OSC_DEED_STOP | OSC_DEED_READY);
    assert_int_equal(osc_windows_step(), 9);
    osc_windows_close();
}

TEST(steps_move_the_schedule)
{
    const struct osc_schedule schedule = {.wait = 1, .warmup = 1, .active = 1, .repeat = 1};
    struct osc_cut cut;

    start(&schedule, 0);
    assert_true(is_held);
    assert_false(osc_windows_begins_open());
    assert_int_equal(osc_windows_step(), -1);
    assert_int_equal(osc_windows_deeds_of(7), 0);
    step(7, 100); /* the first step of the recording, whatever its number */
    assert_true(is_held);
    step(8, 200);
    assert_false(is_held);
    assert_cut(200, OSC_DEED_PREPARE);
    assert_int_equal(osc_windows_deeds_of(9), OSC_DEED_START);
    step(9, 300);
    assert_cut(300, OSC_DEED_START);
    assert_false(is_held);
    assert_int_equal(osc_windows_deeds_of(10), OSC_DEED_STOP | OSC_DEED_READY);
    step(10, 400);
    assert_cut(400, OSC_DEED_STOP | OSC_DEED_READY);
    assert_true(is_held);
    assert_int_equal(osc_windows_deeds_of(11), 0);
    step(11, 500);
    assert_false(osc_windows_take(&cut));
    assert_int_equal(osc_windows_exit(), 0);
    osc_windows_close();
}

TEST(tells_where_the_window_begins_that_is_not_written)
{
    const struct osc_schedule schedule = {.warmup = 1, .active = 1, .repeat = 3};
    struct osc_cut cut;

    start(&schedule, 0);
    step(0, 100);
    assert_int_equal(begin, OSC_LIVE_NO_WINDOW);
    step(1, 200); /* stored at once */
    assert_int_equal(begin, 200);
    assert_cut(200, OSC_DEED_START);
    assert_false(osc_windows_take(&cut));
    step(2, 300); /* the window is over and must be written */
    assert_int_equal(begin, 200);
    assert_true(osc_windows_take(&cut));
    assert_int_equal(begin, 200);
    step(3, 400); /* while it is being written */
    assert_int_equal(begin, 200);
    assert_cut(400, OSC_DEED_START);
    assert_int_equal(begin, 400);
    assert_false(osc_windows_take(&cut));
    assert_int_equal(begin, 400);
    step(4, 500);
    assert_true(osc_windows_take(&cut));
    assert_false(osc_windows_take(&cut));
    assert_int_equal(begin, OSC_LIVE_NO_WINDOW);
    osc_windows_close();
}

TEST(a_flight_recorder_has_nothing_of_warm_up)
{
    static const bool held[] = {true, true, false, true, true, false, true};
    const struct osc_schedule schedule = {.wait = 1, .warmup = 1, .active = 1, .repeat = 2};
    const struct osc_windows_start s = {
        .schedule = &schedule, .is_flight = true, .hold = hold, .wake = wake};

    osc_windows_open(&s);
    assert_true(is_held);
    for (uint64_t i = 0; i < sizeof held; i++) {
        step(i, i + 1);
        assert_int_equal(is_held, held[i]);
    }
    osc_windows_close();
}

TEST(a_flusher_that_is_late_holds_the_schedule_up)
{
    const struct osc_schedule schedule = {.active = 1};
    struct osc_cut cut;
    int n = 0;

    start(&schedule, 0);
    for (uint64_t i = 0; i < 200; i++)
        step(i, i + 1);
    for (; osc_windows_take(&cut); n++)
        assert_int_equal(cut.ticks, n + 2);
    assert_int_equal(n, 64);
    step(200, 1000);
    assert_true(osc_windows_take(&cut));
    assert_int_equal(cut.ticks, 1000);
    osc_windows_close();
}

TEST(a_step_is_slow_beside_the_median)
{
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    uint64_t ticks = 1000;

    start(NULL, 2.5);
    for (uint64_t i = 0; i < 100; i++) {
        step(i, ticks);
        ticks += i == 3 || i == 50 ? 300 : 100 + i % 3;
        if (i == 50)
            assert_int_equal(osc_windows_slow(slow), 0);
    }
    /* Step 3 came too early to count as slow. */
    assert_int_equal(n_wakes, 1);
    assert_int_equal(osc_windows_slow(slow), 1);
    assert_in_range(slow[0].end - slow[0].begin, 300, 300);
    osc_windows_dumped(0, ticks);
    assert_int_equal(osc_windows_slow(slow), 0);
    osc_windows_close();
}

TEST(slow_steps_stay_until_a_dump_has_all_of_them)
{
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    uint64_t ticks = 1000, first = 0, end = 0;

    start(NULL, 2.5);
    for (uint64_t i = 0; i < 20; i++) {
        step(i, ticks);
        first = i == 10 ? ticks : first;
        ticks += i == 10 || i == 15 ? 300 : 100;
        end = i == 15 ? ticks : end;
    }
    assert_int_equal(osc_windows_slow(slow), 2);
    assert_int_equal(slow[0].begin, first);
    assert_int_equal(slow[1].end, end);
    osc_windows_dumped(first + 1, end);
    assert_int_equal(osc_windows_slow(slow), 2);
    osc_windows_dumped(first, end - 1);
    assert_int_equal(osc_windows_slow(slow), 1);
    osc_windows_dumped(slow[0].begin + 1, end);
    assert_int_equal(osc_windows_slow(slow), 1);
    osc_windows_dumped(first, end);
    assert_int_equal(osc_windows_slow(slow), 0);
    osc_windows_close();
}

/* The flusher sleeps while more steps are slow than it can be told of. */
TEST(the_last_slow_step_stands_for_those_that_follow)
{
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    uint64_t ticks = 1000;

    start(NULL, 2.5);
    for (uint64_t i = 0; i < 1000; i++) {
        step(i, ticks);
        ticks += i % 10 == 9 ? 300 : 100;
    }
    osc_windows_step_end(ticks);
    assert_int_equal(osc_windows_slow(slow), OSC_WINDOWS_SLOW);
    assert_int_equal(slow[0].end, 1000 + 12 * 100);
    assert_int_equal(slow[OSC_WINDOWS_SLOW - 1].end, ticks);
    osc_windows_dumped(0, ticks);
    assert_int_equal(osc_windows_slow(slow), 0);
    osc_windows_close();
}

TEST(a_step_under_way_is_slow_before_it_ends)
{
    start(NULL, 2.5);
    for (uint64_t i = 0; i < 9; i++) {
        step(i, 1000 + 100 * i);
        assert_false(osc_windows_is_slow(1000 + 100 * i + (i < 8 ? 1000 : 250)));
    }
    assert_true(osc_windows_is_slow(1800 + 251));
    osc_windows_step_end(1800 + 260);
    assert_false(osc_windows_is_slow(1800 + 270));
    osc_windows_close();
}

TEST(whole_steps_are_found)
{
    start(NULL, 0);
    assert_int_equal(osc_windows_whole(50, 0), 50);
    assert_int_equal(osc_windows_whole(50, 3), 50);
    assert_int_equal(osc_windows_next_whole(50), 50);
    for (uint64_t i = 0; i < 10; i++)
        step(i, 100 + 100 * i); /* 100 to 1000 */
    assert_int_equal(osc_windows_whole(50, 0), 50);
    assert_int_equal(osc_windows_whole(450, 0), 400);
    assert_int_equal(osc_windows_whole(400, 0), 400);
    assert_int_equal(osc_windows_whole(5000, 3), 700);
    assert_int_equal(osc_windows_whole(650, 3), 300);
    assert_int_equal(osc_windows_whole(250, 3), 100);
    assert_int_equal(osc_windows_whole(5000, 300), 100);
    assert_int_equal(osc_windows_count(0, 5000), 10);
    assert_int_equal(osc_windows_count(200, 400), 2);
    assert_int_equal(osc_windows_count(201, 401), 2);
    assert_int_equal(osc_windows_count(1001, 5000), 0);
    assert_int_equal(osc_windows_next_whole(450), 500);
    assert_int_equal(osc_windows_next_whole(400), 400);
    assert_int_equal(osc_windows_next_whole(5000), 5000);
    for (uint64_t i = 10; i < 10 + OSC_WINDOWS_STEPS; i++)
        step(i, 100 + 100 * i);
    assert_int_equal(osc_windows_whole(50, 0), 1200); /* the oldest remembered step */
    osc_windows_close();
}

UNIT_MAIN("windows")
