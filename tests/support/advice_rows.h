/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_rows.h - rows of the table `advice` for small traces.
 *
 * Threading: for one test program, which runs one test at a time.
 */
#pragma once

#include "analysis/shared_options.h"
#include "analysis/table_registry.h"
#include "base/strbuf.h"
#include "derive/derive.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "table/partial.h"

#define NOTE(name, ts, dur) RANGE("user_annotation", name, 1, ts, dur, "")
#define LOADER(ts, dur) \
    NOTE("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ts, dur)
#define RUNTIME(name, ts, dur, correlation) \
    RANGE("cuda_runtime", name, 1, ts, dur, "'correlation':" #correlation)
/* What makes devices those of a FAMILY that Kineto has a category for. */
#define OF_FAMILY(family) \
    "{'ph':'X','cat':'" family "_runtime','name':'r','pid':3,'tid':1,'ts':1,'dur':1},"
#define COPY(way, ts, dur, correlation) \
    WORK("gpu_memcpy", "Memcpy (" way ")", ts, dur, correlation, "")
#define KERNEL_1(ts, dur)                                                          \
    "{'ph':'X','cat':'kernel','name':'k','pid':1,'tid':9,'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':1,'stream':9}},"
#define TENSOR_KERNEL_1(ts, dur)                                                 \
    "{'ph':'X','cat':'kernel','name':'volta_s884gemm','pid':1,'tid':9,'ts':" #ts \
    ",'dur':" #dur ",'args':{'device':1,'stream':9}},"
#define HELD(type, total)                                                                   \
    "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,'tid':1,'ts':5," \
    "'args':{'Device Type':" #type                                                          \
    ",'Device Id':0,'Addr':1,'Bytes':9,'Total Allocated':" #total "}},"
#define DEVICE(major, minor)                                                                \
    "'deviceProperties':[{'id':0,'name':'GPU','totalGlobalMem':1000,'computeMajor':" #major \
    ",'computeMinor':" #minor ",'numSms':8}],"

static struct osc_trace trace;
static struct osc_result result;

static inline int end(void **state)
{
    (void)state;
    osc_result_fini(&result);
    osc_trace_fini(&trace);
    return 0;
}

/* Read EVENTS with MEMBERS of the file, under the name SOURCE. */
static inline void load(const char *source, const char *members, const char *events)
{
    const struct osc_import_options options = {.n_threads = 1};
    static char text[1 << 16];
    const int len =
        snprintf(text, sizeof text, "{%s'traceEvents':[%s{'ph':'M'}]}", members, events);

    assert_true(len > 0 && (size_t)len < sizeof text);
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            *c = '"';
    }
    assert_int_equal(osc_import_memory(&trace, source, (struct osc_str){text, (uint32_t)len},
                                       &options, NULL),
                     OSC_OK);
    assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_advice), 1, NULL), OSC_OK);
}

static inline void run(const struct osc_options *o, const char *members, const char *events)
{
    end(NULL);
    load("small", members, events);
    struct osc_options alone = *o;

    alone.n_traces = 1; /* without what ranks say of each other */
    osc_result_init(&result, &osc_table_advice);
    assert_int_equal(osc_table_advice.mapping->map(&trace, &alone, &result, NULL), OSC_OK);
    const struct osc_placing at = {.rank = trace.rank,
                                   .span = trace.span,
                                   .origin_ns = trace.origin_ns,
                                   .base_ns = trace.base_ns};
    assert_int_equal(osc_result_place(&result, &at, &at), OSC_OK);
    assert_int_equal(osc_table_advice.mapping->finish(&result, o, NULL), OSC_OK);
}

static inline uint32_t column(const char *name)
{
    const int i = osc_table_column(&osc_table_advice, name);

    assert_true(i >= 0);
    return (uint32_t)i;
}

/* The row of CODE in what EVENTS with MEMBERS say, or -1. */
static inline int64_t row_of(const char *members, const char *events, const char *code,
                             bool compat)
{
    const struct osc_options o = {.own = {{&osc_option_compat, "tb", 0}}, .n_own = compat};

    run(&o, members, events);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(&result, i, column("code")), osc_str_c(code)))
            return (int64_t)i;
    }
    return -1;
}

/* Time at stake in nanoseconds, or -1 if the rule does not apply. */
static inline int64_t stake(const char *members, const char *events, const char *code)
{
    const int64_t i = row_of(members, events, code, false);

    return i < 0 ? -1 : osc_result_get_int(&result, (uint64_t)i, column("impact_ns"));
}

static inline int64_t stake_tb(const char *members, const char *events, const char *code)
{
    const int64_t i = row_of(members, events, code, true);

    return i < 0 ? -1 : osc_result_get_int(&result, (uint64_t)i, column("impact_ns"));
}

/* A cell of the row that row_of() or stake() found last. */
static inline int64_t cell_int(int64_t row, const char *name)
{
    assert_true(row >= 0);
    return osc_result_get_int(&result, (uint64_t)row, column(name));
}

static inline struct osc_str cell_str(int64_t row, const char *name)
{
    assert_true(row >= 0);
    return osc_result_get_str(&result, (uint64_t)row, column(name));
}

static inline bool has_text(int64_t row, const char *name, const char *part)
{
    return osc_str_has(cell_str(row, name), osc_str_c(part));
}
