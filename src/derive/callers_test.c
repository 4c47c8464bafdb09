/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/callers.h"

#include "base/mem.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;

static const struct osc_callers *load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_CALLERS, 1, NULL), OSC_OK);
    return &osc_trace_facts(&trace)->callers;
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

/* CHAIN is the operators of EXPECTED, "outer>inner". */
static void assert_chain(const struct osc_callers *c, uint32_t chain, const char *expected)
{
    size_t left = strlen(expected);

    for (uint32_t depth = c->chains[chain - 1].depth; chain != 0; depth--) {
        const struct osc_chain *const one = &c->chains[chain - 1];
        const struct osc_str name = osc_trace_str(&trace, c->names[one->name].name);

        assert_int_equal(one->depth, depth);
        assert_true(one->above < chain && left >= name.len);
        left -= name.len;
        assert_memory_equal(expected + left, name.s, name.len);
        left -= one->above != 0;
        chain = one->above;
    }
    assert_int_equal(left, 0);
}

TEST_WITH(tells_the_operators_around_a_record, NULL, end)
{
    const struct osc_callers *const c =
        load(OP("a", 1, 0, 100, "")
                 RANGE("python_function", "nn.Module: M", 1, 10, 80, "'Python module id':0")
                     OP("b", 1, 20, 20, "") MEMORY(1, 30, 8) MEMORY(1, 50, 8)
                         OP("b", 1, 60, 10, "") MEMORY(1, 65, -8) MEMORY(1, 95, 8)
                             MEMORY(1, 200, 8) OP("b", 1, 300, 9, "") MEMORY(1, 301, 8));

    assert_int_equal(c->n_chains, 3);
    assert_chain(c, c->chain_of[0], "a>b");
    assert_int_equal(c->chain_of[1], 0); /* in the module, which is no operator */
    assert_int_equal(c->chain_of[2], c->chain_of[0]);
    assert_chain(c, c->chain_of[3], "a");
    assert_int_equal(c->chain_of[4], 0);
    assert_chain(c, c->chain_of[5], "b");
}

TEST_WITH(counts_calls_with_and_without_records, NULL, end)
{
    const struct osc_callers *const c = load(OP("a", 1, 0, 9, "") MEMORY(1, 1, 8) OP(
        "a", 1, 10, 9, "") OP("b", 1, 20, 9, "") OP("a", 2, 5, 9, ""));
    const struct osc_order *const order = &osc_trace_facts(&trace)->order;

    assert_int_equal(c->n_names, 1); /* no record knows of b */
    assert_int_equal(c->names[0].n, 3);
    assert_int_equal(osc_callers_count(c, &c->names[0], 0, order->n_rows), 3);
    assert_int_equal(osc_callers_count(c, &c->names[0], 1, order->n_rows), 2);
    assert_int_equal(osc_callers_count(c, &c->names[0], 1, 2), 1);
    assert_int_equal(osc_callers_count(c, &c->names[0], 2, 3), 0);
    assert_int_equal(osc_callers_count(c, &c->names[0], 3, 2), 0);
}

TEST_WITH(is_empty_without_records, NULL, end)
{
    const struct osc_callers *const c = load(OP("a", 1, 0, 9, ""));

    assert_int_equal(c->n_chains, 0);
    assert_int_equal(c->n_names, 0);
    assert_int_equal(c->n_calls, 0);
}

TEST_WITH(survives_any_failed_allocation, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    assert_true(small_load(&trace, OP("a", 1, 0, 9, "") OP("b", 1, 1, 5, "") MEMORY(1, 2, 8)));
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_derive(&trace, OSC_FACT_CALLERS, 1, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_true(n < 1000);
    }
    assert_chain(&osc_trace_facts(&trace)->callers, 2, "a>b");
}

UNIT_MAIN("callers")
