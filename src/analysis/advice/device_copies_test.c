/* SPDX-License-Identifier: Apache-2.0 */
#include "support/advice_rows.h"

/* A step of 1000 us in which an operator launches a copy of WAY that runs from 100 us for DUR
 * us, and a kernel of 50 us. */
#define COPIED(way, dur, more)      \
    STEP(1, 0, 1000)                \
    OP("aten::copy_", 1, 0, 20, "") \
    CALL(1, 5, 5, 1, "")            \
    CALL(1, 30, 5, 2, "") COPY(way, 100, dur, 1) KERNEL("k", 900, 50, 2) more

TEST_WITH(copies_count_where_no_kernel_computes, NULL, end)
{
    int64_t row = row_of("", COPIED("Device -> Device", 60, ""), "device_copies", false);

    assert_int_equal(cell_int(row, "impact_ns"), 60000);
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "subject", "aten::copy_"));
    assert_int_equal(stake("", COPIED("Device -> Device", 50, ""), "device_copies"), -1);
    /* Kernels that compute hide them, those that communicate do not. */
    assert_int_equal(
        stake("",
              COPIED("Device -> Device", 200, CALL(1, 40, 5, 3, "") KERNEL("j", 150, 50, 3)),
              "device_copies"),
        150000);
    assert_int_equal(stake("",
                           COPIED("Device -> Device", 200,
                                  CALL(1, 40, 5, 3, "") KERNEL("ncclKernel_x", 150, 50, 3)),
                           "device_copies"),
                     200000);
    assert_int_equal(stake_tb("", COPIED("Device -> Device", 60, ""), "device_copies"), -1);
}

TEST_WITH(copies_from_pageable_memory_have_their_own_rule, NULL, end)
{
    assert_int_equal(stake("", COPIED("Pageable -> Device", 200, ""), "device_copies"), -1);
    assert_int_equal(
        stake("",
              COPIED("Pinned -> Device", 200,
                     CALL(1, 40, 5, 3, "") COPY("Pageable -> Device", 250, 100, 3)),
              "device_copies"),
        150000);
    assert_int_equal(
        stake("",
              COPIED("Pinned -> Device", 200,
                     CALL(1, 40, 5, 3, "") COPY("Pageable -> Device", 250, 100, 3)),
              "pageable_copies"),
        100000);
}

TEST_WITH(the_remedy_fits_the_direction_that_has_most, NULL, end)
{
    static const struct {
        const char *events, *text;
    } cases[] = {
        {COPIED("Device -> Device", 60, ""), "above all on devices (60.0 us), by aten::copy_ "},
        {COPIED("Device -> Device", 60, ""), "Leave out clone(), contiguous()"},
        {COPIED("Pinned -> Device", 60, ""), "above all to devices"},
        {COPIED("Pinned -> Device", 60, ""), "Copy the next batch while this one is computed"},
        {COPIED("Device -> Pinned", 60, ""), "with non_blocking=True into pinned memory"},
        {COPIED("Zork -> Zork", 60, ""), "in an unknown direction (60.0 us), by aten::copy_ "},
        {COPIED("Device -> Pinned", 60,
                CALL(1, 40, 5, 3, "") COPY("Device -> Device", 300, 61, 3)),
         "in 2 copies: above all on devices (61.0 us). Leave"},
        {COPIED("Device -> Device", 60, NOTE("load", 0, 50)),
         "by aten::copy_ in load (60.0 us)."},
        {COPIED("Device -> Device", 60, RUNTIME("cudaGraphLaunch", 60, 2, 9)),
         " Inputs of graphs are copied in"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(has_text(row_of("", cases[i].events, "device_copies", false), "text",
                             cases[i].text));
}

TEST_WITH(a_slow_step_does_not_sell_its_copies_again, NULL, end)
{
    /* Seven steps of about 100 us, and one that a copy makes longer by 200 us. */
    const char *const events = STEP(1, 0, 100) STEP(2, 100, 101) STEP(3, 201, 102)
        STEP(4, 303, 103) STEP(5, 406, 100) STEP(6, 506, 104) STEP(7, 610, 102)
            STEP(8, 712, 300) CALL(1, 715, 5, 1, "") COPY("Device -> Device", 730, 200, 1)
                CALL(1, 940, 5, 2, "") KERNEL("k", 950, 60, 2);

    assert_int_equal(stake("", events, "slow_steps"), 60000); /* its kernel */
    assert_int_equal(stake("", events, "device_copies"), 200000);
}

UNIT_MAIN("device_copies")
