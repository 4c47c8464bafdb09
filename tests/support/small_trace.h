/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_trace.h - traces of a few events, written as text in the tests.
 *
 * Times are microseconds in the text and nanoseconds in the trace. Rows are numbered
 * from 0 in the order in which they are written.
 */
#pragma once

#include <stdio.h>

#include "import/import.h"
#include "model/trace.h"

/* One range of process 1. ARGS is JSON text, '...' for strings. */
#define RANGE(cat, name, tid, ts, dur, args)                                       \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts \
    ",'dur':" #dur ",'args':{" args "}},"
#define OP(name, tid, ts, dur, args) RANGE("cpu_op", name, tid, ts, dur, args)
#define CALL(tid, ts, dur, correlation, args) \
    RANGE("cuda_runtime", "cudaLaunchKernel", tid, ts, dur, "'correlation':" #correlation args)
/* Work of device 0, on queue 7. */
#define WORK(cat, name, ts, dur, correlation, args)                                        \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':0,'tid':7,'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':0,'stream':7,'correlation':" #correlation args "}},"
#define KERNEL(name, ts, dur, correlation) WORK("kernel", name, ts, dur, correlation, "")
#define STEP(number, ts, dur)              RANGE("user_annotation", "ProfilerStep#" #number, 1, ts, dur, "")
#define MEMORY(tid, ts, bytes)                                                          \
    "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,'tid':" #tid \
    ",'ts':" #ts ",'args':{'Device Type':0,'Device Id':-1,'Addr':1,'Bytes':" #bytes "}},"

/* Like small_load(), with MEMBERS of the file, each before a comma. */
static inline bool small_load_with(struct osc_trace *t, const char *members, const char *events)
{
    const struct osc_import_options options = {.n_threads = 1};
    static char text[1 << 17];
    const int len = snprintf(text, sizeof text,
                             "{%s'traceEvents':[%s{'ph':'M','name':'process_name','pid':1,"
                             "'tid':0,'args':{'name':'python'}}]}",
                             members, events);

    if (len < 0 || (size_t)len >= sizeof text)
        return false;
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    return osc_import_memory(t, "small", (struct osc_str){text, (uint32_t)len}, &options,
                             NULL) == OSC_OK;
}

/* Read EVENTS, each followed by a comma, into T. False: failed. */
static inline bool small_load(struct osc_trace *t, const char *events)
{
    return small_load_with(t, "", events);
}

/* The chunk with all rows of a small trace. */
static inline const struct osc_chunk *small_chunk(const struct osc_trace *t)
{
    return t->events.chunks[1];
}

/* The number, from 0, of ROW in a small trace; -1: none. */
static inline int small_number(uint32_t row)
{
    return row == 0 ? -1 : (int)(row & OSC_CHUNK_MASK);
}
