/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/derive.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

/* Two steps, operators, launches, work, an orphan, overlaps and memory. */
static const char events[] = STEP(5, 0, 100) STEP(6, 100, 100) OP("a", 1, 10, 20, "")
    OP("b", 1, 15, 25, "") CALL(1, 16, 2, 1, "") OP("b", 2, 110, 20, "") CALL(2, 112, 2, 2, "")
        KERNEL("ka", 150, 9, 1) KERNEL("kb", 160, 9, 2) KERNEL("orphan", 20, 9, 77)
            MEMORY(1, 20, 100) MEMORY(2, 115, -100) MEMORY(2, 116, -100);

#define FIRST (OSC_FACT_FOREST)
#define REST                                                                                 \
    (OSC_FACT_LINKS | OSC_FACT_STEPS | OSC_FACT_UNIONS | OSC_FACT_CALLERS | OSC_FACT_LOADS | \
     OSC_FACT_VIEWS)

static struct osc_trace trace, expected;

static int end(void **state)
{
    (void)state;
    osc_mem_fail_after(-1);
    osc_trace_fini(&trace);
    osc_trace_fini(&expected);
    return 0;
}

static void assert_same_facts(void)
{
    const struct osc_chunk *const c = small_chunk(&trace), *const e = small_chunk(&expected);
    const struct osc_facts *const f = osc_trace_facts(&trace);
    const struct osc_facts *const g = osc_trace_facts(&expected);
    const size_t n = c->n_rows;

    assert_memory_equal(c->parent, e->parent, n * sizeof *c->parent);
    assert_memory_equal(c->self_ns, e->self_ns, n * sizeof *c->self_ns);
    assert_memory_equal(c->depth, e->depth, n * sizeof *c->depth);
    assert_memory_equal(c->step, e->step, n * sizeof *c->step);
    assert_memory_equal(c->link, e->link, n * sizeof *c->link);
    assert_memory_equal(&trace.findings, &expected.findings, sizeof trace.findings);
    assert_int_equal(trace.n_steps, expected.n_steps);
    assert_int_equal(f->links.n_works, g->links.n_works);
    assert_int_equal(f->links.n_calls, g->links.n_calls);
    assert_int_equal(trace.facts, expected.facts);
}

TEST_WITH(facts_outlast_a_failure_to_make_others, NULL, end)
{
    bool has_failed = true;

    assert_true(small_load(&expected, events));
    assert_int_equal(osc_derive(&expected, FIRST | REST, 1, NULL), OSC_OK);
    for (long n = 0; has_failed; n++) {
        assert_true(small_load(&trace, events));
        assert_int_equal(osc_derive(&trace, FIRST, 1, NULL), OSC_OK);
        const uint32_t *const parents = small_chunk(&trace)->parent;

        osc_mem_fail_after(n);
        has_failed = osc_derive(&trace, REST, 1, NULL) == OSC_ENOMEM;
        osc_mem_fail_after(-1);
        /* Somebody may hold what was there. */
        assert_ptr_equal(small_chunk(&trace)->parent, parents);
        assert_int_equal(trace.facts & FIRST, FIRST);
        assert_int_equal(osc_derive(&trace, REST, 1, NULL), OSC_OK);
        assert_same_facts();
        osc_trace_fini(&trace);
        assert_true(n < 1000);
    }
}

TEST_WITH(facts_are_paid_for_by_the_trace, NULL, end)
{
    struct osc_mem_account set = {.limit = 0}, question = {.limit = 1, .parent = &set};

    (void)osc_mem_enter(&set);
    assert_true(small_load(&trace, events));
    (void)osc_mem_enter(&question);
    assert_int_equal(osc_derive(&trace, FIRST, 1, NULL), OSC_OK);
    osc_mem_cancel(&question);
    assert_int_equal(osc_derive(&trace, FIRST, 1, NULL), OSC_OK);
    assert_int_equal(osc_derive(&trace, REST, 1, NULL), OSC_ECANCELED);
    (void)osc_mem_enter(NULL);
    assert_int_equal(osc_derive(&trace, REST, 1, NULL), OSC_OK);
    assert_int_equal(atomic_load_explicit(&question.peak, memory_order_relaxed), 0);
    assert_true(atomic_load_explicit(&set.held, memory_order_relaxed) > 0);
    osc_trace_fini(&trace);
    assert_int_equal(atomic_load_explicit(&set.held, memory_order_relaxed), 0);
}

UNIT_MAIN("derive")
