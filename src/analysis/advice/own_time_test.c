/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/own_time.h"

#include "support/advice_rows.h"

static struct osc_stretches found;

static int end_all(void **state)
{
    osc_stretches_fini(&found);
    return end(state);
}

/* Find what EVENTS have of 100 us or longer on all tracks; return the number. */
static size_t find(const char *events)
{
    const bool counts[] = {true, true, true, true, true, true};

    end_all(NULL);
    load("small", "", events);
    assert_true(trace.n_tracks <= sizeof counts / sizeof *counts);
    assert_int_equal(osc_stretches_find(&trace, counts, 100000, &found), OSC_OK);
    return found.n;
}

TEST_WITH(a_stretch_lasts_until_the_next_call_begins, NULL, end_all)
{
    assert_int_equal(find(OP("aten::mm", 1, 0, 100, "")), 1);
    assert_int_equal(find(OP("aten::mm", 1, 0, 99, "")), 0);
    assert_int_equal(find(OP("aten::mm", 1, 0, 900, "") CALL(1, 99, 5, 1, "")
                              NOTE("n", 204, 400) CALL(1, 703, 100, 2, "")),
                     1);
    assert_int_equal(found.v[0].start_ns, 104000);
    assert_int_equal(found.v[0].end_ns, 204000);
    assert_int_equal(found.v[0].row, osc_row_at(trace.events.chunks[1], 0).v);
    /* At the end, too. */
    assert_int_equal(find(OP("aten::mm", 1, 0, 900, "") OP("aten::add", 1, 1, 799, "")
                              OP("aten::abs", 1, 2, 797, "")),
                     2);
    assert_int_equal(found.v[0].end_ns - found.v[0].start_ns, 797000);
    assert_int_equal(found.v[1].start_ns, 800000);
}

TEST_WITH(calls_that_overlap_leave_what_is_behind_both, NULL, end_all)
{
    assert_int_equal(find(OP("aten::mm", 1, 0, 500, "") NOTE("m", 10, 300) NOTE("n", 50, 300)),
                     1);
    assert_int_equal(found.v[0].start_ns, 350000);
}

TEST_WITH(only_operators_and_collectives_have_stretches, NULL, end_all)
{
    assert_int_equal(find(NOTE("n", 0, 500) CALL(1, 0, 200, 1, "")
                              RANGE("python_function", "f", 1, 600, 200, "")
                                  KERNEL("aten::mm", 0, 200, 1)),
                     0);
    assert_int_equal(find(OP("nccl:all_reduce", 1, 0, 200, "")), 1);
}

UNIT_MAIN("own_time")
