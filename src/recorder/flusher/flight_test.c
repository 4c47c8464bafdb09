/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/flight.h"

#include "support/flushed.h"

TEST_WITH(a_flight_recorder_writes_whole_steps_when_asked, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    struct recording r;
    uint64_t last = 0;

    o.flight_steps = 3;
    assert_int_equal(osc_start(&o), OSC_OK);
    osc_metadata("model", "resnet18");
    for (int i = 0; i < 20; i++) {
        last = step();
        run_threads(1, 5000);
        nap_ms(2);
    }
    assert_int_equal(osc_dump(), OSC_OK);
    assert_int_equal(n_ready, 1);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.end.reason, OSC_END_DUMPED);
    assert_int_equal(r.n_steps, 4); /* three, and the current one */
    assert_int_equal(r.steps[0], last - 3);
    assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], 3);
    assert_int_equal(r.n_kinds[OSC_RECORD_INSTANT], 4);
    assert_int_equal(r.n_kinds[OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR], 20000);
    assert_int_equal(r.n_kinds[OSC_RECORD_METADATA], 1);
    recording_free(&r);

    step();
    assert_int_equal(osc_dump(), OSC_OK);
    assert_true(read_part(&r, 2));
    assert_int_equal(r.steps[0], last - 2);
    recording_free(&r);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_false(read_part(&r, 3));
}

TEST_WITH(a_flight_window_is_as_long_as_asked_from_the_first_second_on, make_folder,
          remove_folder)
{
    struct osc_start_options o = options();
    struct recording r;

    o.flight_ns = 1000000000; /* 650 ms for a busy machine */
    assert_int_equal(osc_start(&o), OSC_OK);
    const uint64_t first = step();
    step();
    nap_ms(350);
    step();
    assert_int_equal(osc_dump(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_steps, 3);
    assert_int_equal(r.steps[0], first);
    recording_free(&r);
    assert_int_equal(osc_stop(), OSC_OK);
}

/* An eighth of 128 blocks is left free for new records. */
TEST_WITH(a_flight_recorder_uses_the_memory_that_it_may, make_folder, remove_folder)
{
    enum { STEPS = 40, INSTANTS = 5000, KEPT = 14 }; /* with the current one: 73 blocks */
    struct osc_start_options o = options();
    struct osc_losses lost;
    struct recording r;

    o.buffer_bytes = (uint64_t)128 * OSC_BLOCK_BYTES;
    o.flight_steps = KEPT;
    assert_int_equal(osc_start(&o), OSC_OK);
    for (int i = 0; i < STEPS; i++) {
        step();
        for (int k = 0; k < INSTANTS; k++)
            osc_instant(osc_name_c("kept"));
        nap_ms(50);
    }
    assert_int_equal(osc_dump(), OSC_OK);
    osc_losses_get(&lost);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_steps, KEPT + 1); /* with the current one */
    assert_true(r.n_kinds[OSC_RECORD_INSTANT] + lost.full >= (KEPT + 1ull) * INSTANTS);
    recording_free(&r);
    assert_int_equal(osc_stop(), OSC_OK);
}

TEST_WITH(a_slow_step_is_written, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    struct recording r;

    setenv("OPSCOPE_SCHEDULE", "flight=600ms,slow=100", 1);
    assert_int_equal(osc_start(&o), OSC_OK);
    for (int i = 0; i < 30; i++) {
        step();
        nap_ms(i == 20 ? 800 : 4);
    }
    osc_step_end();
    nap_ms(640);
    step(); /* too late for another slow step to share the dump */
    wait_until_ready();
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(n_ready, 1);
    assert_true(read_part(&r, 1));
    assert_in_range(r.n_steps, 21, 22);
    assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], 21);
    recording_free(&r);
}

/* A slow step: more than 100 times the others even where naps take three times what was asked.
 */
#define LONG_MS 800

/* The number of the first step of a test: the process counts on. */
static uint64_t step_0;

/* Run steps from *STEP_NO to before END, each with RECORDS instants and PAUSE_US long; the last
 * one takes SLOW_MS more. */
static void run_steps(uint64_t *step_no, uint64_t end, int records, long pause_us, long slow_ms)
{
    for (; *step_no < end; ++*step_no) {
        const uint64_t n = osc_step();
        if (*step_no == 0)
            step_0 = n;
        for (int i = 0; i < records; i++)
            osc_instant(osc_name_c("of a step"));
        const struct timespec pause = {0, pause_us * 1000};
        nanosleep(&pause, NULL);
        if (*step_no + 1 == end)
            nap_ms(slow_ms);
    }
}

/* Part PART begins N_BEFORE steps before the step SLOW and ends with LAST_SLOW. */
static void assert_dump(unsigned part, uint64_t slow, uint64_t n_before, uint64_t last_slow)
{
    struct recording r;

    assert_true(read_part(&r, part));
    assert_int_equal(r.steps[0], step_0 + slow - n_before);
    assert_in_range(r.n_steps, last_slow - slow + n_before + 1,
                    last_slow - slow + n_before + 2);
    assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], last_slow - slow + n_before + 1);
    assert_int_equal(r.dump.asked_steps, 10);
    assert_int_equal(r.dump.n_steps, last_slow - slow + n_before + 1);
    assert_int_equal(r.dump.is_cut, 0);
    recording_free(&r);
}

/* Slow steps that are closer to the first one than the ten steps before each share its dump:
 * those that go on one by one make further dumps, not one without end. */
TEST_WITH(slow_steps_share_a_dump_if_they_are_close, make_folder, remove_folder)
{
    uint64_t i = 0;

    setenv("OPSCOPE_SCHEDULE", "flight=10steps,slow=100", 1);
    assert_int_equal(osc_start(&(struct osc_start_options){
                         .size = sizeof(struct osc_start_options), .out = out}),
                     OSC_OK);
    run_steps(&i, 31, 10, 2000, LONG_MS); /* step 30 is slow */
    run_steps(&i, 33, 10, 2000, LONG_MS); /* 32 */
    run_steps(&i, 39, 10, 2000, LONG_MS); /* 38 */
    run_steps(&i, 46, 10, 2000, LONG_MS); /* 45 */
    run_steps(&i, 53, 10, 2000, LONG_MS); /* 52 */
    run_steps(&i, 71, 10, 2000, LONG_MS); /* 70 */
    run_steps(&i, 90, 10, 2000, 0);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_dump(1, 30, 10, 38);
    assert_dump(2, 45, 10, 52);
    assert_dump(3, 70, 10, 70);
    assert_false(read_part(&(struct recording){0}, 4));
}

TEST_WITH(a_slow_step_of_an_idle_program_is_written_at_the_end, make_folder, remove_folder)
{
    uint64_t i = 0;

    setenv("OPSCOPE_SCHEDULE", "flight=10steps,slow=100", 1);
    assert_int_equal(osc_start(&(struct osc_start_options){
                         .size = sizeof(struct osc_start_options), .out = out}),
                     OSC_OK);
    run_steps(&i, 31, 10, 2000, LONG_MS);
    osc_step_end();
    assert_int_equal(osc_stop(), OSC_OK);
    assert_dump(1, 30, 10, 30);
}

/* Records of a step that are in R, if each of its steps but the first and last has RECORDS. */
static void assert_full_steps(const struct recording *r, uint64_t n_steps, uint64_t records)
{
    assert_in_range(r->n_kinds[OSC_RECORD_INSTANT], (n_steps - 1) * records,
                    (n_steps + 1) * records);
}

/*
 * More records than memory holds, in slow steps apart by far more than what is kept. Every dump
 * has its slow step and at least half of the memory, and says how many steps.
 */
TEST_WITH(a_dump_has_half_of_the_memory_if_not_all_fits, make_folder, remove_folder)
{
    enum { RECORDS = 4000, SLOW = 3 };
    const uint64_t n_half = UINT64_C(128) * 1022; /* records in half of the blocks */
    struct osc_losses lost;
    unsigned n_found = 0;
    uint64_t i = 0;

    setenv("OPSCOPE_SCHEDULE", "flight=1000steps,slow=100,buffer=4M", 1);
    assert_int_equal(osc_start(&(struct osc_start_options){
                         .size = sizeof(struct osc_start_options), .out = out}),
                     OSC_OK);
    for (int k = 1; k <= SLOW; k++)
        run_steps(&i, (uint64_t)k * 150, RECORDS, 2000, 1000l * UNIT_SLOWNESS);
    osc_losses_get(&lost);
    assert_int_equal(osc_stop(), OSC_OK);
    for (unsigned part = 1; part <= SLOW; part++) {
        struct recording r;

        if (!read_part(&r, part))
            break;
        const uint64_t slow = step_0 + part * UINT64_C(150) - 1;
        assert_int_equal(r.dump.is_cut, 1);
        assert_true(r.n_records + lost.full >= n_half);
        assert_in_range(r.dump.n_steps, r.n_steps - 1, r.n_steps);
        if (lost.full == 0) { /* the begin of a step may be among the lost records */
            assert_in_range(slow, r.steps[0] + 20, r.steps[0] + r.n_steps - 1);
            assert_full_steps(&r, r.n_steps, RECORDS);
        }
        recording_free(&r);
        n_found++;
    }
    assert_int_equal(n_found, SLOW);
}

/* A step that alone has more records than memory holds: its begin is there in any case. */
TEST_WITH(a_slow_step_larger_than_the_memory_keeps_its_begin, make_folder, remove_folder)
{
    uint64_t i = 0;
    struct recording r;

    setenv("OPSCOPE_SCHEDULE", "flight=5steps,slow=50,buffer=4M", 1);
    assert_int_equal(osc_start(&(struct osc_start_options){
                         .size = sizeof(struct osc_start_options), .out = out}),
                     OSC_OK);
    run_steps(&i, 20, 100, 1000, 0);
    osc_step();
    for (int k = 0; k < 200; k++) {
        for (int n = 0; n < 2000; n++)
            osc_instant(osc_name_c("of a step"));
        nap_ms(2);
    }
    osc_step_end();
    assert_int_equal(osc_stop(), OSC_OK);
    /* First what led to it, then the end of it. */
    assert_true(read_part(&r, 1));
    assert_int_equal(r.steps[0], step_0 + 15);
    recording_free(&r);
    assert_false(read_part(&r, 3));
    assert_true(read_part(&r, 2));
    assert_int_equal(r.n_steps, 1);
    assert_int_equal(r.steps[0], step_0 + 20);
    assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], 1);
    assert_int_equal(r.dump.is_cut, 1);
    assert_int_equal(r.dump.n_steps, 1);
    recording_free(&r);
}

/* A dump on request has the slow step that waits for its own. */
TEST_WITH(a_slow_step_that_a_dump_has_is_not_written_again, make_folder, remove_folder)
{
    uint64_t i = 0;
    struct recording r;

    setenv("OPSCOPE_SCHEDULE", "flight=10steps,slow=100", 1);
    assert_int_equal(osc_start(&(struct osc_start_options){
                         .size = sizeof(struct osc_start_options), .out = out}),
                     OSC_OK);
    run_steps(&i, 31, 10, 2000, LONG_MS);
    run_steps(&i, 36, 10, 2000, 0);
    assert_int_equal(osc_dump(), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.steps[0], step_0 + 20);
    assert_int_equal(r.n_steps, 16);
    recording_free(&r);
    assert_false(read_part(&r, 2));
}

UNIT_MAIN("flight")
