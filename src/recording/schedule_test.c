/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/schedule.h"

#include "support/unit.h"

#include <signal.h>

enum { NONE = OSC_ACTION_NONE, WARMUP, RECORD, SAVE, EXIT };

/* All rows but those of DEVICE_STOPPED. P prepares, S
 * starts, X stops, C calls back, W warns; an S before an X is of the same breath. */
static const struct {
    unsigned from, to;
    const char *deeds;
} rows[] = {
    {NONE, NONE, ""},      {NONE, WARMUP, "P"},    {NONE, RECORD, "PS"},   {NONE, SAVE, "PS"},
    {WARMUP, NONE, "WSX"}, {WARMUP, WARMUP, ""},   {WARMUP, RECORD, "S"},  {WARMUP, SAVE, "S"},
    {RECORD, NONE, "WX"},  {RECORD, WARMUP, "WX"}, {RECORD, RECORD, ""},   {RECORD, SAVE, ""},
    {SAVE, NONE, "XC"},    {SAVE, WARMUP, "XCP"},  {SAVE, RECORD, "XCPS"}, {SAVE, SAVE, "XCPS"},
    {WARMUP, EXIT, "SX"},  {RECORD, EXIT, "XC"},   {SAVE, EXIT, "XC"},     {NONE, EXIT, ""},
};

static void write_deeds(unsigned deeds, char out[8])
{
    static const struct {
        unsigned deed;
        char letter;
    } order[] = {
        {OSC_DEED_WARN, 'W'},  {OSC_DEED_START_FIRST, 'S'}, {OSC_DEED_STOP, 'X'},
        {OSC_DEED_READY, 'C'}, {OSC_DEED_PREPARE, 'P'},     {OSC_DEED_START, 'S'},
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (deeds & order[i].deed)
            out[n++] = order[i].letter;
    out[n] = '\0';
}

TEST(every_row_of_torch_holds)
{
    char deeds[8];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_deeds(osc_schedule_deeds(rows[i].from, rows[i].to), deeds);
        assert_string_equal(deeds, rows[i].deeds);
    }
    assert_int_equal(osc_schedule_deeds(EXIT, NONE), 0);
    assert_int_equal(osc_schedule_deeds(7, 9), 0);
}

/* What SCHEDULE says of the first steps, a letter each. */
static void write_actions(const struct osc_schedule *schedule, size_t n, char *out)
{
    for (uint64_t step = 0; step < n; step++)
        out[step] = ".wrS"[osc_schedule_action(schedule, step)];
    out[n] = '\0';
}

TEST(schedules_are_those_of_torch)
{
    const struct {
        struct osc_schedule schedule;
        const char *actions;
    } cases[] = {
        {{.skip_first = 10, .wait = 5, .warmup = 1, .active = 3, .repeat = 2},
         "...............wrrS.....wrrS......"},
        {{.wait = 1, .warmup = 1, .active = 2}, ".wrS.wrS.wrS"},
        {{.active = 1}, "SSSS"},
        {{.active = 1, .repeat = 2}, "SS.."},
        {{.wait = 2, .warmup = 1, .active = 1, .repeat = 2, .skip_first_wait = 1}, "wS..wS..."},
        {{.wait = 3}, "......"},
    };
    char actions[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_actions(&cases[i].schedule, strlen(cases[i].actions), actions);
        assert_string_equal(actions, cases[i].actions);
    }
}

TEST(the_largest_numbers_do_not_wrap)
{
    const struct osc_schedule huge = {.wait = UINT64_MAX,
                                      .warmup = UINT64_MAX,
                                      .active = UINT64_MAX,
                                      .repeat = UINT64_MAX,
                                      .skip_first_wait = 1};

    assert_int_equal(osc_schedule_action(&huge, 0), NONE);
    assert_int_equal(osc_schedule_action(&huge, UINT64_MAX), NONE);
}

TEST(words_are_read_in_any_order)
{
    struct osc_schedule_text t;
    struct osc_err err;

    assert_int_equal(osc_schedule_parse("wait=1,warmup=1,active=3,repeat=2,skip_first=10,"
                                        "skip_first_wait=1",
                                        &t, &err),
                     OSC_OK);
    assert_true(t.has_schedule);
    assert_int_equal(t.schedule.wait, 1);
    assert_int_equal(t.schedule.warmup, 1);
    assert_int_equal(t.schedule.active, 3);
    assert_int_equal(t.schedule.repeat, 2);
    assert_int_equal(t.schedule.skip_first, 10);
    assert_int_equal(t.schedule.skip_first_wait, 1);
    assert_int_equal(osc_schedule_parse("crash,slow=2.5,flight=10s,signal=SIGUSR2,toggle=USR1,"
                                        "limit_size=2G,",
                                        &t, &err),
                     OSC_OK);
    assert_false(t.has_schedule);
    assert_int_equal(t.flight_ns, 10000000000);
    assert_true(t.slow_step > 2.49 && t.slow_step < 2.51);
    assert_int_equal(t.dump_signal, SIGUSR2);
    assert_int_equal(t.toggle_signal, SIGUSR1);
    assert_int_equal(t.limit_bytes, UINT64_C(2) << 30);
    assert_true(t.dump_on_crash);
    assert_int_equal(osc_schedule_parse("flight=20steps", &t, NULL), OSC_OK);
    assert_int_equal(t.flight_steps, 20);
    assert_int_equal(osc_schedule_parse("flight=250ms,limit_size=1048576", &t, NULL), OSC_OK);
    assert_int_equal(t.flight_ns, 250000000);
    assert_int_equal(t.limit_bytes, 1048576);
    assert_int_equal(osc_schedule_parse("", &t, NULL), OSC_OK);
    assert_false(t.has_schedule);
}

TEST(wrong_words_are_told)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"wiat=1", "schedule: \"wiat=1\" is not known"},
        {"wait=1", "schedule: active=N is missing"},
        {"active=3,wait=", "schedule: \"wait=\" is not a number of steps"},
        {"active=-1", "schedule: \"active=-1\" is not a number of steps"},
        {"active=99999999999999999999", "schedule: \"active=99999999999999999999\" is not a "
                                        "number of steps"},
        {"flight=10",
         "schedule: \"flight=10\" is neither a time such as 10s nor a count such as 20steps"},
        {"flight=0s",
         "schedule: \"flight=0s\" is neither a time such as 10s nor a count such as 20steps"},
        {"flight=9999999999999999min", "schedule: \"flight=9999999999999999min\" is neither a "
                                       "time such as 10s nor a count such as 20steps"},
        {"slow=1", "schedule: \"slow=1\" is not a ratio above 1"},
        {"slow=2.5x", "schedule: \"slow=2.5x\" is not a ratio above 1"},
        {"signal=KILL", "schedule: \"signal=KILL\" is not a signal that can be used"},
        {"limit_size=2X",
         "schedule: \"limit_size=2X\" is not a size such as 2G; the minimum is 1M"},
        {"limit_size=1023K",
         "schedule: \"limit_size=1023K\" is not a size such as 2G; the minimum is 1M"},
        {"active=1,wait=1,active=2", "schedule: \"active=2\" is given again"},
        {"flight=10s,crash,slow=2,crash", "schedule: \"crash\" is given again"},
        {"crash,,", "schedule: \"\" is not known"},
        {"crash=1", "schedule: \"crash=1\" is not known"},
    };
    struct osc_schedule_text t;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_err err = {0};

        assert_int_equal(osc_schedule_parse(cases[i].text, &t, &err), OSC_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_false(t.has_schedule);
    }
}

UNIT_MAIN("schedule")
