/* SPDX-License-Identifier: Apache-2.0 */
#include "support/advice_rows.h"

/* A step of 1000 us in which an operator launches a kernel that runs from AT us for DUR us. */
#define FILLED(at, dur, more) \
    STEP(1, 0, 1000)          \
    OP("aten::mm", 1, 0, 20, "") CALL(1, 5, 5, 1, "") KERNEL("k", at, dur, 1) more

TEST_WITH(kernels_that_fill_the_steps_are_named_where_nothing_else_is, NULL, end)
{
    int64_t row = row_of("", FILLED(10, 990, ""), "device_kernels", false);

    assert_int_equal(cell_int(row, "impact_ns"), 990000);
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "subject", "aten::mm"));
    assert_true(has_text(row, "text",
                         "Kernels run for 99.0 % of the step time, above all aten::mm "
                         "(990 us in 1 kernel). "));
    assert_int_equal(stake("", FILLED(10, 890, ""), "device_kernels"), -1);
    assert_int_equal(stake_tb("", FILLED(10, 990, ""), "device_kernels"), -1);
    /* Another rule says more. */
    assert_int_equal(stake(DEVICE(7, 0), FILLED(10, 990, ""), "device_kernels"), -1);
    assert_int_equal(
        stake("", FILLED(10, 920, CALL(1, 40, 5, 3, "") COPY("Device -> Device", 930, 60, 3)),
              "device_kernels"),
        920000); /* of which copies have less than a tenth */
}

/* A kernel of another queue, whose call is not there. */
#define OTHER(ts, dur)                                                             \
    "{'ph':'X','cat':'kernel','name':'j','pid':0,'tid':9,'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':0,'stream':9}},"

TEST_WITH(kernels_without_an_operator_go_by_their_own_name, NULL, end)
{
    const int64_t row =
        row_of("", FILLED(10, 400, OTHER(410, 580) OTHER(500, 100)), "device_kernels", false);

    assert_true(has_text(row, "subject", "j"));
    assert_true(has_text(row, "evidence", "operator in ('(none)', '') and name = 'j'"));
    assert_int_equal(cell_int(row, "impact_ns"), 680000);
    assert_int_equal(cell_int(row, "count"), 2);
}

UNIT_MAIN("device_kernels")
