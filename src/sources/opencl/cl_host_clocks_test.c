/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_host_clocks.h"

#include "support/unit.h"

#define SECOND UINT64_C(1000000000)

/* All clocks around a call of LONG_NS, each a second after the one before it. */
static struct osc_cl_readings around(uint64_t long_ns)
{
    struct osc_cl_readings r;

    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++) {
        r.before_ns[k] = (k + 10) * SECOND;
        r.after_ns[k] = r.before_ns[k] + long_ns;
    }
    return r;
}

TEST(the_clock_that_shows_the_time_in_the_call_is_found)
{
    const struct osc_cl_readings r = around(5000);

    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++) {
        assert_int_equal(osc_cl_find_clock(&r, r.before_ns[k]), k);
        assert_int_equal(osc_cl_find_clock(&r, r.before_ns[k] + 2500), k);
        assert_int_equal(osc_cl_find_clock(&r, r.after_ns[k]), k);
    }
}

TEST(a_time_that_no_clock_shows_is_that_of_the_device)
{
    const struct osc_cl_readings r = around(5000);

    assert_int_equal(osc_cl_find_clock(&r, 1), OSC_CL_CLOCK_OWN);
    assert_int_equal(osc_cl_find_clock(&r, r.after_ns[OSC_CL_CLOCK_RAW] + 1), OSC_CL_CLOCK_OWN);
    assert_int_equal(osc_cl_find_clock(&r, r.before_ns[OSC_CL_CLOCK_RAW] - 1),
                     OSC_CL_CLOCK_OWN);
}

TEST(a_long_call_tells_nothing)
{
    const struct osc_cl_readings r = around(1000001);

    assert_int_equal(osc_cl_find_clock(&r, r.before_ns[0]), OSC_CL_CLOCK_UNKNOWN);
}

TEST(of_two_clocks_that_agree_the_first_is_found)
{
    struct osc_cl_readings r = around(5000);

    r.before_ns[OSC_CL_CLOCK_BOOT] = r.before_ns[OSC_CL_CLOCK_MONOTONIC] + 1000;
    r.after_ns[OSC_CL_CLOCK_BOOT] = r.after_ns[OSC_CL_CLOCK_MONOTONIC] + 1000;
    assert_int_equal(osc_cl_find_clock(&r, r.before_ns[OSC_CL_CLOCK_BOOT]),
                     OSC_CL_CLOCK_MONOTONIC);
}

TEST(of_two_clocks_that_differ_none_is_found)
{
    struct osc_cl_readings r = around(5000);

    r.before_ns[OSC_CL_CLOCK_BOOT] = r.before_ns[OSC_CL_CLOCK_MONOTONIC] + 1001;
    r.after_ns[OSC_CL_CLOCK_BOOT] = r.after_ns[OSC_CL_CLOCK_MONOTONIC] + 1001;
    assert_int_equal(osc_cl_find_clock(&r, r.before_ns[OSC_CL_CLOCK_BOOT]),
                     OSC_CL_CLOCK_UNKNOWN);
}

TEST(clocks_of_this_host_go_forward)
{
    struct osc_cl_readings r;

    osc_cl_read_clocks(r.before_ns);
    osc_cl_read_clocks(r.after_ns);
    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++) {
        assert_true(r.before_ns[k] > 0 && r.before_ns[k] <= r.after_ns[k]);
        assert_true(osc_cl_read_clock((enum osc_cl_clock)k) >= r.after_ns[k]);
    }
}

UNIT_MAIN("cl_host_clocks")
