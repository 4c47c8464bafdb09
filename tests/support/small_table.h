/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_table.h - a table of a small trace, and its cells by name.
 *
 * A test has one trace and one result at a time; small_end() is its teardown.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "derive/select.h"
#include "support/small_trace.h"
#include "table/partial.h"

static struct osc_trace trace;
static struct osc_result result;

static inline int small_end(void **state)
{
    (void)state;
    osc_result_fini(&result);
    osc_trace_fini(&trace);
    return 0;
}

/* Give the trace its rank, span and origin. */
static inline osc_status small_place(void)
{
    const struct osc_placing at = {.rank = trace.rank,
                                   .span = trace.span,
                                   .origin_ns = trace.origin_ns,
                                   .base_ns = trace.base_ns,
                                   .is_beside_steps = trace.is_beside_steps,
                                   .shares_steps = trace.shares_steps};

    return osc_result_place(&result, &at, &at);
}

/* Make the table DEF of the loaded trace. */
static inline void small_make(const struct osc_table_def *def, const struct osc_options *o)
{
    const uint32_t more = o->selection ? osc_select_facts(o->selection) : 0;

    assert_int_equal(osc_derive(&trace, osc_table_facts(def) | more, 1, NULL), OSC_OK);
    osc_result_init(&result, def);
    assert_int_equal(def->mapping->map(&trace, o, &result, NULL), OSC_OK);
    assert_int_equal(small_place(), OSC_OK);
    if (def->mapping->finish)
        assert_int_equal(def->mapping->finish(&result, o, NULL), OSC_OK);
}

/* Load EVENTS and make the table DEF of them. */
static inline void small_table(const struct osc_table_def *def, const struct osc_options *o,
                               const char *events)
{
    assert_true(small_load(&trace, events));
    small_make(def, o);
}

/*
 * Make the table DEF again, with facts already derived: fail the first allocation, then the
 * second, ... until it succeeds.
 */
static inline void small_table_survives(const struct osc_table_def *def,
                                        const struct osc_options *o)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&result);
        osc_result_init(&result, def);
        osc_mem_fail_after(n);
        st = def->mapping->map(&trace, o, &result, NULL);
        if (st == OSC_OK)
            st = small_place();
        if (st == OSC_OK && def->mapping->finish)
            st = def->mapping->finish(&result, o, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_true(n < 100000);
    }
}

static inline uint32_t column(const char *name)
{
    const int i = osc_table_column(result.def, name);

    assert_true(i >= 0);
    return (uint32_t)i;
}

static inline int64_t integer(uint64_t row, const char *name)
{
    return osc_result_get_int(&result, row, column(name));
}

static inline double number(uint64_t row, const char *name)
{
    return osc_result_get_num(&result, row, column(name));
}

static inline bool is_text(uint64_t row, const char *name, const char *text)
{
    return osc_str_eq(osc_result_get_str(&result, row, column(name)), osc_str_c(text));
}
