/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/read_step_bounds.h"

#include "import/import.h"
#include "support/unit.h"

static struct osc_trace t;

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&t);
    return 0;
}

/* Read a trace whose member is VALUE. Returns how many steps it tells of. */
static uint32_t read_member(const char *value)
{
    const struct osc_import_options o = {.n_threads = 1};
    char text[512];
    const int len = snprintf(text, sizeof text,
                             "{\"" OSC_STEPS_MEMBER "\":%s,\"traceEvents\":[{\"ph\":\"X\","
                             "\"name\":\"ProfilerStep#3\",\"ts\":1,\"dur\":9}]}",
                             value);

    osc_trace_fini(&t);
    assert_int_equal(
        osc_import_memory(&t, "t", (struct osc_str){text, (uint32_t)len}, &o, NULL), OSC_OK);
    return t.n_step_bounds;
}

TEST_WITH(a_member_tells_when_steps_begin_and_end, NULL, end)
{
    assert_int_equal(read_member("[[1000,2000,9000,1], [5000,9000,9000,2],"
                                 "[9000,9000,9100,8]]"),
                     3);
    assert_int_equal(t.step_bounds[0].host_ns, 1000);
    assert_int_equal(t.step_bounds[0].start_ns, 2000);
    assert_int_equal(t.step_bounds[0].end_ns, 9000);
    assert_true(t.step_bounds[0].is_behind_device && !t.step_bounds[0].is_tail);
    assert_true(!t.step_bounds[1].is_behind_device && t.step_bounds[1].is_tail);
    assert_true(t.step_bounds[2].is_empty && !t.step_bounds[2].is_tail);
}

TEST_WITH(a_member_that_cannot_be_true_tells_nothing, NULL, end)
{
    static const char *const wrong[] = {
        "[]",
        "7",
        "\"text\"",
        "{\"a\":[1,2,3,0]}",
        "[[1,2,3]]",
        "[[1,2,\"3\",0]]",
        "[[2,1,3,0]]",                    /* it begins before its annotation */
        "[[1,3,2,0]]",                    /* it ends before it begins */
        "[[5,6,7,0],[4,6,7,0]]",          /* not in order */
        "[[1,2,9223372036854775807,0]]",  /* not a time */
        "[[1,2,99999999999999999999,0]]", /* not a number */
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_member(wrong[i]), 0);
}

/* Read a trace that tells of one step, and what BESIDE says ran in it. Returns how much. */
static uint32_t read_beside(const char *beside)
{
    char text[512];

    snprintf(text, sizeof text, "[[1000,2000,9000,4]],\"" OSC_BYSTANDERS_MEMBER "\":%s",
             beside);
    assert_int_equal(read_member(text), 1);
    return t.n_bystanders;
}

TEST_WITH(a_member_tells_what_else_ran, NULL, end)
{
    assert_int_equal(read_beside("[[2000,3000,4,3],[2500,9000,6,1]]"), 2);
    assert_true(t.has_comm_kernels);
    assert_int_equal(t.bystanders[0].end_ns, 3000);
    assert_int_equal(t.bystanders[0].class, 4);
    assert_int_equal(t.bystanders[0].rules, OSC_BYSTANDER_USUAL | OSC_BYSTANDER_TB);
    assert_int_equal(t.bystanders[1].start_ns, 2500);
}

TEST_WITH(a_member_tells_collectives_of_others, NULL, end)
{
    assert_int_equal(read_member("[[1,2,3,0]],\"" OSC_COLLECTIVES_MEMBER "\":[7,-1]"), 1);
    assert_int_equal(t.n_collectives, 2);
    assert_int_equal(t.collectives[0], 7);
    assert_int_equal(t.collectives[1], -1);
    assert_int_equal(read_member("[[1,2,3,0]],\"" OSC_COLLECTIVES_MEMBER "\":[7,1.5]"), 1);
    assert_int_equal(t.n_collectives, 0);
}

TEST_WITH(what_cannot_have_run_is_not_told, NULL, end)
{
    static const char *const wrong[] = {
        "[]",
        "7",
        "[[1,2,3]]",
        "[[2,1,3,1]]",
        "[[1,2,-1,1]]",
        "[[1,2,256,1]]",
        "[[1,2,3,999]]",
        "[[1,2,3,1],[1,9223372036854775807,3,1]]",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_beside(wrong[i]), 0);
}

UNIT_MAIN("read_step_bounds")
