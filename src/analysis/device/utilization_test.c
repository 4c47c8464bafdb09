/* SPDX-License-Identifier: Apache-2.0 */

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

static void load(const char *text)
{
    assert_true(small_load(&trace, text));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LOADS, 1, NULL), OSC_OK);
}

TEST_WITH(the_table_is_empty_and_says_why_without_kernels, NULL, end)
{
    struct osc_result r;

    load("{'ph':'X','cat':'gpu_memcpy','name':'w','pid':0,'tid':7,'ts':0,'dur':5,"
         "'args':{'device':0,'stream':7}},");
    osc_result_init(&r, &osc_table_utilization);
    assert_int_equal(
        osc_table_utilization.mapping->map(&trace, &(struct osc_options){0}, &r, NULL), OSC_OK);
    assert_int_equal(r.n_rows, 0);
    assert_true(r.notes.len > 0);
    osc_result_fini(&r);
}

/* Rows are no more than a hundred times as many. */
TEST_WITH(no_more_devices_than_any_machine_has_are_listed, NULL, end)
{
    enum { N = 1030, BYTES = 128 };
    char *const text = osc_malloc((size_t)N * BYTES);
    struct osc_result r;
    size_t len = 0;

    assert_non_null(text);
    for (int i = 0; i < N; i++)
        len += (size_t)snprintf(text + len, (size_t)N * BYTES - len,
                                "{'ph':'X','cat':'kernel','name':'k','pid':%d,'tid':7,'ts':%d,"
                                "'dur':1,'args':{'device':%d,'stream':7}},",
                                i, i % 4, i);
    load(text);
    osc_free(text);
    const struct osc_loads *const loads = &osc_trace_facts(&trace)->loads;
    assert_int_equal(loads->n_devices, N);
    osc_result_init(&r, &osc_table_utilization);
    assert_int_equal(
        osc_table_utilization.mapping->map(&trace, &(struct osc_options){0}, &r, NULL), OSC_OK);
    assert_int_equal(r.n_rows, 1024 * loads->n_buckets);
    assert_string_equal(r.notes.s, "only the first 1024 of 1030 devices are shown\n");
    osc_result_fini(&r);
}

UNIT_MAIN("utilization")
