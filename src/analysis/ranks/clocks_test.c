/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/clocks.h"

#include "support/rank_rows.h"

enum { CALLS = 40 };

static struct small_call calls[CALLS];
static struct osc_rank_clock clocks[8];
static uint32_t n_components;

/* Add a file of RANK whose clock is ahead by AHEAD_NS and gains PPM, with collectives OP that
 * end every second. */
static void add_clock(int32_t rank, const char *group, int64_t ahead_ns, int64_t ppm,
                      enum osc_collective op)
{
    for (int k = 0; k < CALLS; k++) {
        const int64_t end_ns = INT64_C(1000000000) * k + ahead_ns + INT64_C(1000) * ppm * k;

        calls[k] = (struct small_call){end_ns - INT64_C(1000) * (rank + 1), end_ns, k, 1, op};
    }
    add_file(rank, group, "h", calls, CALLS);
}

static void fit(void)
{
    open_run();
    assert_int_equal(osc_rank_clocks_fit(&run, clocks, &n_components), OSC_OK);
}

TEST_WITH(offsets_count_from_the_median_clock, NULL, end_run)
{
    begin_run();
    add_clock(0, "g", 0, 0, OSC_COLLECTIVE_ALL_REDUCE);
    add_clock(1, "g", 5000000, 0, OSC_COLLECTIVE_ALL_REDUCE);
    add_clock(2, "g", -3600000000000, 0, OSC_COLLECTIVE_ALL_REDUCE);
    fit();
    assert_int_equal(n_components, 1);
    assert_int_equal(clocks[0].offset_ns, 0);
    assert_int_equal(clocks[1].offset_ns, 5000000);
    assert_int_equal(clocks[2].offset_ns, -3600000000000);
    assert_int_equal(clocks[1].error_ns, 0);
    assert_int_equal(clocks[1].n_anchors, CALLS);
    assert_false(clocks[0].is_applied);
    assert_int_equal(osc_rank_clock_time(&clocks[2], -3600000000000 + 7), 7);
}

TEST_WITH(a_clock_that_gains_has_a_drift, NULL, end_run)
{
    begin_run();
    add_clock(0, "g", 0, 0, OSC_COLLECTIVE_BARRIER);
    add_clock(1, "g", 0, 20, OSC_COLLECTIVE_BARRIER);
    add_clock(2, "g", 0, 0, OSC_COLLECTIVE_BARRIER);
    fit();
    assert_in_range(clocks[1].drift_ppb, 19990, 20010);
    assert_int_equal(clocks[0].drift_ppb, 0);
    /* After 30 s it is ahead by 600 us. */
    assert_in_range(osc_rank_clock_time(&clocks[1], INT64_C(30000600000)), INT64_C(29999999000),
                    INT64_C(30000001000));
}

TEST_WITH(clocks_may_differ_by_hours_and_drift, NULL, end_run)
{
    const int64_t hour = INT64_C(3600000000000);

    begin_run();
    for (int32_t i = 0; i < 4; i++)
        add_clock(i, "g", i * hour, INT64_C(10) * i, OSC_COLLECTIVE_ALL_REDUCE);
    fit();
    for (int32_t i = 0; i < 4; i++) {
        const int64_t moment_ns = osc_rank_clock_time(&clocks[i], i * hour + 1000000000) -
                                  osc_rank_clock_time(&clocks[0], 1000000000);

        assert_in_range(clocks[i].offset_ns - clocks[0].offset_ns + 1000, i * hour,
                        i * hour + 2000);
        assert_in_range(clocks[i].error_ns, 0, 100);
        assert_in_range(moment_ns + 50000, 0, 100000); /* it gains 30 us in a second at most */
    }
}

TEST_WITH(ranks_that_never_meet_are_not_compared, NULL, end_run)
{
    begin_run();
    add_clock(0, "g", 0, 0, OSC_COLLECTIVE_ALL_REDUCE);
    add_clock(1, "g", 9000, 0, OSC_COLLECTIVE_ALL_REDUCE);
    add_clock(2, "other", 0, 0, OSC_COLLECTIVE_ALL_REDUCE);
    add_clock(3, "other", 7000, 0, OSC_COLLECTIVE_ALL_REDUCE);
    fit();
    assert_int_equal(n_components, 2);
    assert_int_equal(clocks[0].component, clocks[1].component);
    assert_int_equal(clocks[2].component, clocks[3].component);
    assert_int_not_equal(clocks[0].component, clocks[2].component);
    assert_int_equal(clocks[1].offset_ns - clocks[0].offset_ns, 9000);
    assert_int_equal(clocks[3].offset_ns - clocks[2].offset_ns, 7000);
}

TEST_WITH(only_collectives_that_all_leave_together_are_readings, NULL, end_run)
{
    begin_run();
    add_clock(0, "g", 0, 0, OSC_COLLECTIVE_BROADCAST);
    add_clock(1, "g", 9000, 0, OSC_COLLECTIVE_BROADCAST);
    fit();
    assert_int_equal(n_components, 2);
    assert_int_equal(clocks[1].n_anchors, 0);
    assert_false(clocks[1].is_applied);
}

UNIT_MAIN("clocks")
