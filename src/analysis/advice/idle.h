/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - why devices had nothing to do: the kept steps without device work, split by cause.
 *
 * At stake is the time of the kept steps in which communication runs that nothing hides, and
 * in which no device works. Each moment of it has one cause, so that no two rules sell the
 * same. Threads that count are those that launch device work or announce steps; if no launch is
 * known, or these recorded nothing but calls (of a runtime that launches for others), all.
 *
 *   - COMMUNICATION has the time of that class of the breakdown (derive/unions.h).
 *   - A gap ends with device work. From the end of the call on that launched it, the host is
 *     not late: the first OSC_HANDOVER_NS are HANDOVER, what is longer is BLOCKED while a call
 *     waits for the device, else LATE. Calls that wait for the device themselves, as some
 *     copies do, are no such calls.
 *   - The rest of gaps goes to the first cause, in the order of enum osc_idle, of which some
 *     range runs on a thread that counts; profiler overhead counts on any thread.
 *
 * Threading: not locked; a split belongs to one thread.
 */
#pragma once

#include "analysis/advice/advice_base.h"

enum osc_idle {
    OSC_IDLE_COMMUNICATION,
    OSC_IDLE_DATALOADER,
    OSC_IDLE_BLOCKED,   /* calls that wait for the device, and such stretches of operators that
                         * read a value */
    OSC_IDLE_ALLOCATOR, /* calls that take device memory or give it back */
    OSC_IDLE_SLOW_CALL, /* other calls of at least OSC_SLOW_CALL_NS, but for graphs; calls that
                         * compile, by name, of OSC_COMPILE_NS; that allocate or free, of
                         * OSC_SET_UP_NS; stretches of OSC_SLOW_CALL_NS in which an operator
                         * runs and nothing that it calls */
    OSC_IDLE_OVERHEAD,  /* of the profiler */
    OSC_IDLE_OPTIMIZER, /* steps of optimizers */
    OSC_IDLE_LAUNCH,    /* operators and other calls of the runtime; in programs that XLA
                         * compiled, scopes in which no Python runs and that Python calls */
    OSC_IDLE_PYTHON,    /* functions outside of these */
    OSC_IDLE_UNRECORDED,
    OSC_IDLE_HANDOVER,
    OSC_IDLE_LATE,
    OSC_IDLE_COUNT
};

#define OSC_SLOW_CALL_NS INT64_C(1000000)
#define OSC_COMPILE_NS   INT64_C(100000)
#define OSC_SET_UP_NS    INT64_C(100000000)
#define OSC_COMPILE_WORD "Compile" /* in names of calls that compile */

/* A range on a thread that counts, or a stretch of it. */
struct osc_idle_range {
    int64_t start_ns, end_ns;
    uint32_t row;
    uint8_t cause; /* enum osc_idle */
};

/* Zeroed, it is empty. */
struct osc_idle_split {
    struct osc_intervals of[OSC_IDLE_COUNT]; /* merged, disjoint */
    int64_t ns[OSC_IDLE_COUNT];
    struct osc_intervals ran[OSC_IDLE_COUNT]; /* merged; when ranges of the cause ran */
    int64_t queued_ns;             /* of BLOCKED: the next work was launched already */
    bool *counts;                  /* owned; by track: its ranges count */
    struct osc_idle_range *ranges; /* owned; DATALOADER to OPTIMIZER and PYTHON; in order of
                                    * rows, stretches of a row in order of time */
    size_t n_ranges, cap_ranges;
};

/* Split the time at stake of A, which has device work. Call osc_idle_split_fini() even after a
 * failure. */
OSC_MUST_USE osc_status osc_idle_split_make(const struct osc_advice_base *a,
                                            struct osc_idle_split *s);
void osc_idle_split_fini(struct osc_idle_split *s);
