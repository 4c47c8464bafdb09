/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/earlier_work.h"

#include "analysis/advice/advice_list.h"
#include "support/advice_rows.h"

#define KERNEL_ON(queue, ts, dur, correlation)                                              \
    "{'ph':'X','cat':'kernel','name':'q','pid':0,'tid':" #queue ",'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':0,'stream':" #queue ",'correlation':" #correlation "}},"
/* A kernel that is launched by 5 us and runs from AT to the end of the step. */
#define LATE(more, at, dur) STEP(1, 0, 1000) CALL(1, 0, 5, 1, "") more KERNEL("k", at, dur, 1)

static struct osc_earlier_work found;

static int end_all(void **state)
{
    osc_earlier_work_fini(&found);
    return end(state);
}

/* Find what EVENTS have; return the number. */
static size_t find(const char *events)
{
    end_all(NULL);
    load("small", "", events);
    assert_int_equal(osc_earlier_work_find(&trace, &found), OSC_OK);
    return found.n;
}

TEST_WITH(the_first_work_of_a_queue_waits_for_work_of_before_the_recording, NULL, end_all)
{
    assert_int_equal(find(LATE("", 700, 300)), 1);
    assert_int_equal(found.v[0].from_ns, -690000); /* as long before the call as after it */
    assert_int_equal(found.v[0].to_ns, 700000);
    assert_int_equal(find(CALL(1, 50, 5, 2, "") KERNEL_ON(9, 60, 10, 2) CALL(1, 200, 5, 1, "")
                              KERNEL("k", 700, 300, 1)),
                     1);
    assert_int_equal(found.v[0].from_ns, 70000); /* but not before its last work */
    /* Devices take up to 100 us for a launch. */
    assert_int_equal(find(LATE("", 106, 894)), 1);
    assert_int_equal(find(LATE("", 105, 895)), 0);
    /* What began before the call returned waited for nothing. */
    assert_int_equal(find(LATE("", 3, 997)), 0);
    assert_int_equal(find(STEP(1, 0, 1000) KERNEL("k", 700, 300, 1)), 0);
}

TEST_WITH(what_ran_on_the_device_meanwhile_may_have_held_it, NULL, end_all)
{
    assert_int_equal(find(LATE(KERNEL_ON(9, 300, 10, 8), 700, 300)), 0);
    assert_int_equal(find(LATE(KERNEL_ON(9, 4, 2, 8), 700, 300)), 0);
    assert_int_equal(find(LATE(KERNEL_ON(9, 1, 4, 8), 700, 300)), 1);
    assert_int_equal(find(LATE(KERNEL_1(300, 10), 700, 300)), 1); /* another device */
    assert_int_equal(find(LATE(CALL(1, 6, 1, 2, "") KERNEL("j", 10, 10, 2), 700, 300)), 0);
}

TEST_WITH(that_time_has_no_cause_and_a_note, NULL, end_all)
{
    assert_int_equal(stake("", LATE("", 700, 300), "late_start"), -1);
    assert_int_equal(stake("", LATE("", 700, 300), "device_kernels"), 300000);
    assert_int_equal(stake("", LATE("", 700, 300), "handover"), -1);
    assert_string_equal(
        result.notes.s,
        "the file does not say what its devices are: rules about NCCL, Tensor "
        "Cores and memory do not apply\n"
        "cuda:0 was probably busy with work from before the recording for 700 us "
        "(70.0 % of the step time): not counted\n");
    assert_true(
        osc_str_starts(osc_advice_earlier_note(&result), OSC_STR("cuda:0 was probably busy")));
    /* A call that waits for it, too, is not what the device waits for. */
    assert_int_equal(stake("", LATE(RUNTIME("cudaStreamSynchronize", 20, 600, 9), 700, 300),
                           "synchronization"),
                     -1);
    assert_true(osc_str_has(osc_advice_earlier_note(&result),
                            OSC_STR("not counted; cudaStreamSynchronize waited for 600 us")));
    /* The plugin has no such time. */
    assert_int_equal(stake_tb("", LATE("", 700, 300), "low_utilization"), 700000);
    assert_int_equal(osc_advice_earlier_note(&result).len, 0);
}

TEST_WITH(shares_are_of_the_time_that_is_left, NULL, end_all)
{
    /* 600 us of earlier work, 45 of launching, and kernels. */
    const int64_t row = row_of("",
                               STEP(1, 0, 1000) CALL(1, 0, 5, 1, "") KERNEL("k", 600, 200, 1)
                                   OP("aten::mm", 1, 800, 45, "") CALL(1, 840, 5, 2, "")
                                       KERNEL("j", 846, 154, 2),
                               "launch_bound", false);

    assert_int_equal(cell_int(row, "impact_ns"), 45000);
    assert_true(has_text(row, "text", "of the 46.0 us in which cuda:0 has no work (11.2 %"));
    assert_true(has_text(row, "text", "above all before aten::mm (45.0 us)"));
    /* What another device does in that time stays. */
    assert_int_equal(
        stake(
            "",
            LATE(CALL(1, 295, 4, 2, "") "{'ph':'X','cat':'kernel','name':'k','pid':1,'tid':9,"
                                        "'ts':300,'dur':10,'args':{'device':1,'stream':9,"
                                        "'correlation':2}}," NOTE("DataParallel.forward", 0, 9),
                 700, 300),
            "data_parallel"),
        310000);
}

UNIT_MAIN("earlier_work")
