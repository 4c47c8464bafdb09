/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/memory_operators.h"

#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

TEST(records_belong_to_the_deepest_operator_that_holds_them)
{
    struct osc_trace t = {0};

    assert_true(small_load(&t, OP("a", 1, 0, 10, "") OP("b", 1, 2, 3, "") MEMORY(1, 5, 64)
                                   MEMORY(1, 2, 64) MEMORY(1, 10, -64) MEMORY(2, 3, 64)
                                       STEP(1, 20, 10) MEMORY(1, 25, 64) OP("c", 1, 40, 9, "")
                                           OP("c", 1, 41, 5, "") MEMORY(1, 42, 64)));
    assert_int_equal(osc_derive(&t, OSC_FACT_MEMORY, 1, NULL), OSC_OK);
    const struct osc_chunk *const c = small_chunk(&t);
    assert_int_equal(small_number(c->link[2]), 0);  /* b has ended */
    assert_int_equal(small_number(c->link[3]), 1);  /* b has begun */
    assert_int_equal(small_number(c->link[4]), -1); /* a has ended */
    assert_int_equal(small_number(c->link[5]), -1); /* another thread */
    assert_int_equal(small_number(c->link[7]), -1); /* a step is no operator */
    assert_int_equal(small_number(c->link[10]), 8); /* merged into its parent */

    const struct osc_memory *const m = &osc_trace_facts(&t)->memory;
    assert_int_equal(m->n_records, 6);
    assert_int_equal(small_number(m->records[0].row), 3); /* in order of time */
    osc_trace_fini(&t);
}

UNIT_MAIN("memory_operators")
