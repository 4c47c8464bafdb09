/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/nest.h"

#include "base/mem.h"
#include "derive/derive.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;

static const struct osc_chunk *load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_FOREST, 1, NULL), OSC_OK);
    return small_chunk(&trace);
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

static uint64_t count_of(enum osc_finding_code code)
{
    return trace.findings.by_code[code].count;
}

TEST_WITH(ranges_nest_by_time_whatever_their_order_in_the_file, NULL, end)
{
    const struct osc_chunk *const c = load(OP("c", 1, 3, 2, "") OP("b", 1, 2, 5, "")
                                               OP("a", 1, 0, 10, "") OP("d", 1, 8, 1, ""));
    assert_int_equal(small_number(c->parent[0]), 1);
    assert_int_equal(small_number(c->parent[1]), 2);
    assert_int_equal(small_number(c->parent[2]), -1);
    assert_int_equal(small_number(c->parent[3]), 2);
    assert_int_equal(c->depth[0], 2);
    assert_int_equal(c->depth[2], 0);
    assert_int_equal(c->self_ns[2], 4000);
    assert_int_equal(c->self_ns[1], 3000);
    assert_int_equal(c->self_ns[0], 2000);
}

TEST_WITH(of_equal_starts_the_longer_is_the_parent_and_then_the_earlier, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("short", 1, 0, 4, "") OP("long", 1, 0, 9, "") OP("same", 1, 0, 4, ""));
    assert_int_equal(small_number(c->parent[1]), -1);
    assert_int_equal(small_number(c->parent[0]), 1);
    assert_int_equal(small_number(c->parent[2]), 0);
}

TEST_WITH(a_range_that_starts_where_another_ends_is_not_in_it, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("a", 1, 0, 5, "") OP("b", 1, 5, 5, "") OP("nothing", 1, 2, 0, ""));
    assert_int_equal(small_number(c->parent[1]), -1);
    assert_int_equal(small_number(c->parent[2]), 0);
}

TEST_WITH(a_partial_overlap_makes_siblings_and_is_counted, NULL, end)
{
    const struct osc_chunk *const c = load(OP("outer", 1, 0, 20, "") OP("a", 1, 1, 12, "")
                                               OP("b", 1, 9, 10, "") OP("in b", 1, 10, 1, ""));
    assert_int_equal(small_number(c->parent[1]), 0);
    assert_int_equal(small_number(c->parent[2]), 0);
    assert_int_equal(small_number(c->parent[3]), 2);
    assert_int_equal(c->self_ns[0], -2000);
    assert_int_equal(count_of(OSC_FINDING_partial_overlap), 1);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_partial_overlap].first_ns, 9000);
    assert_int_equal(count_of(OSC_FINDING_negative_self), 1);
}

/* A call that Python's tracer records, and a range of record_function(). */
#define PYTHON(name, ts, dur) RANGE("python_function", name, 1, ts, dur, "")
#define NOTE(name, ts, dur)   RANGE("user_annotation", name, 1, ts, dur, "")

TEST_WITH(calls_that_begin_and_end_ranges_overlap_them_by_nature, NULL, end)
{
    const struct osc_chunk *const c = load(
        PYTHON("f", 0, 100) PYTHON("enter", 10, 10) NOTE("fwd", 15, 40) PYTHON("exit", 50, 10)
            PYTHON("nn.Module: Net_0", 70, 10) OP("Pregraph bytecode", 1, 75, 10, ""));
    for (int i = 1; i < 6; i++)
        assert_int_equal(small_number(c->parent[i]), 0);
    assert_int_equal(count_of(OSC_FINDING_partial_overlap), 0);
    assert_int_equal(count_of(OSC_FINDING_crossed_call), 3);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_crossed_call].first_ns, 15000);
    end(NULL);
    /* Calls of torch's own, two calls, two notes; and one that overlaps with both. */
    (void)load(PYTHON("f", 0, 10) OP("aten::mm", 1, 5, 10, ""));
    assert_int_equal(count_of(OSC_FINDING_partial_overlap), 1);
    end(NULL);
    (void)load(PYTHON("f", 0, 10) PYTHON("g", 5, 10) NOTE("a", 20, 10) NOTE("b", 25, 10));
    assert_int_equal(count_of(OSC_FINDING_partial_overlap), 2);
    end(NULL);
    (void)load(NOTE("a", 0, 12) PYTHON("f", 1, 10) NOTE("b", 5, 10));
    assert_int_equal(count_of(OSC_FINDING_partial_overlap), 1);
    assert_int_equal(count_of(OSC_FINDING_crossed_call), 0);
}

TEST_WITH(threads_queues_and_what_is_asynchronous_stay_apart, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("a", 1, 0, 9, "") OP("b", 2, 1, 2, "") KERNEL("k", 2, 3, 1) MEMORY(
            1, 4, 8) "{'ph':'b','cat':'x','name':'async','id':1,'pid':1,'tid':1,'ts':2},"
                     "{'ph':'e','cat':'x','name':'async','id':1,'pid':1,'tid':1,'ts':5},");
    for (uint32_t i = 0; i < c->n_rows; i++)
        assert_int_equal(c->parent[i], 0);
    assert_int_equal(c->self_ns[0], 9000);
}

/* Whether row A of C stands before row B in the order of the forest. */
static bool is_before(const struct osc_chunk *c, uint32_t a, uint32_t b)
{
    if (c->ts_ns[a] != c->ts_ns[b])
        return c->ts_ns[a] < c->ts_ns[b];
    if (c->dur_ns[a] != c->dur_ns[b])
        return c->dur_ns[a] > c->dur_ns[b];
    return a < b;
}

/* The parent of row I by the rule in words: the last that stands before and holds it. */
static int slow_parent(const struct osc_chunk *c, uint32_t i)
{
    int best = -1;

    for (uint32_t k = 0; k < c->n_rows; k++) {
        if (!is_before(c, k, i) || osc_row_end(c, k) <= c->ts_ns[i] ||
            osc_row_end(c, k) < osc_row_end(c, i))
            continue;
        if (best < 0 || is_before(c, (uint32_t)best, k))
            best = (int)k;
    }
    return best;
}

TEST_WITH(random_forests_equal_those_of_a_slow_search, NULL, end)
{
    unsigned seed = 7;

    for (int round = 0; round < 200; round++) {
        static char text[1 << 14];
        size_t len = 0;

        for (int i = 0; i < 40; i++)
            len += (size_t)snprintf(text + len, sizeof text - len,
                                    "{'ph':'X','cat':'cpu_op','name':'o','pid':1,'tid':1,"
                                    "'ts':%d,'dur':%d},",
                                    rand_r(&seed) % 64, rand_r(&seed) % 16);
        const struct osc_chunk *const c = load(text);
        for (uint32_t i = 0; i < c->n_rows; i++)
            assert_int_equal(small_number(c->parent[i]), slow_parent(c, i));
        osc_trace_fini(&trace);
    }
}

TEST_WITH(a_failed_allocation_leaves_the_trace_as_it_was, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    assert_true(small_load(&trace, OP("b", 1, 2, 5, "") OP("a", 1, 0, 10, "'External id':3")
                                       CALL(1, 3, 1, 9, ",'External id':3") KERNEL("k", 4, 5, 9)
                                           STEP(1, 0, 12) MEMORY(1, 3, 8)));
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_derive(&trace,
                        OSC_FACT_FOREST | OSC_FACT_LINKS | OSC_FACT_STEPS | OSC_FACT_UNIONS |
                            OSC_FACT_MEMORY,
                        1, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_true(st == OSC_OK || trace.facts == 0);
    }
    assert_int_equal(small_number(small_chunk(&trace)->parent[0]), 1);
}

UNIT_MAIN("nest")
