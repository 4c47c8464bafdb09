/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_base.h - the times on which the rules of `advice` are based.
 *
 * All of them are sets of time within the kept steps (derive/breakdown.h), so that the time at
 * stake of any two rules can be compared:
 *
 *   kept   from the start of each kept step to its end, device work included, but for what
 *          earlier_work.h says while nothing in the trace ran
 *   busy   some device worked: kernels, communication, copies, memsets
 *   gaps   kept minus busy: no device had anything to do
 *
 * A row belongs to a kept step if its step is kept: host rows by their start, device work by
 * its launch. In a trace without steps, rows that start within the whole count.
 *
 * In a trace of the host alone the time of the kept steps is split by cause instead (split.h),
 * and all rules share it.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/earlier_work.h"
#include "analysis/advice/split.h"
#include "base/name_sums.h"
#include "derive/facts.h"

/* A gap, and the work that ended it. */
struct osc_gap {
    int64_t start_ns, end_ns;
    uint32_t work; /* index in osc_links.works + 1 of the first work that starts at its end, or
                    * waits for earlier work from there on; or 0 */
};

/* Zeroed, it is empty. */
struct osc_advice_base {
    const struct osc_trace *t;
    const struct osc_facts *f;
    bool is_compat;
    struct osc_breakdown own;
    const struct osc_breakdown *b;
    struct osc_intervals kept, busy; /* merged */
    int64_t kept_ns;                 /* total length of kept */
    struct osc_earlier_work earlier;
    struct osc_intervals left_out; /* merged; the time that the steps, but not kept have */
    int64_t total_ns, cost_ns[OSC_COST_COUNT]; /* sums over the kept steps */
    bool has_works;                            /* the trace has device work */
    bool has_foreign;     /* it has none, but events of a process that is a device */
    struct osc_gap *gaps; /* owned; in order of time */
    size_t n_gaps;
    int64_t gaps_ns;
    bool has_host;                     /* ranges of threads */
    bool has_operators, has_functions; /* functions of Python, or frames of the program */
    bool has_native;                /* scopes stand for operators: XLA compiled the program */
    bool is_thinned;                /* the file lacks many of the events of the recording */
    uint32_t first_step, last_step; /* ordinals of kept steps; 1, 0: no step was announced */
    bool *is_sync;                  /* owned; by call of osc_links: the call waits for the
                                     * device */
    struct osc_split split;         /* without steps if the trace is not of the host alone,
                                     * or is_compat */
};

/* T has LOADS, STEPS and UNIONS. Call osc_advice_base_fini() even after a failure. */
OSC_MUST_USE osc_status osc_advice_base_make(const struct osc_trace *t, bool compat_tb,
                                             unsigned n_threads, struct osc_advice_base *a);
void osc_advice_base_fini(struct osc_advice_base *a);

/* Whether row I of C belongs to a kept step. */
bool osc_advice_is_kept(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i);

/* Whether row I of C, a copy, comes from memory that the device cannot read directly. */
bool osc_advice_is_pageable(const struct osc_advice_base *a, const struct osc_chunk *c,
                            uint32_t i);

/* Merge S and return its length within the kept steps, minus the time that WITHOUT (or NULL)
 * covers. */
OSC_MUST_USE osc_status osc_advice_stake(const struct osc_advice_base *a,
                                         struct osc_intervals *s,
                                         const struct osc_intervals *without,
                                         int64_t *stake_ns);

/* Time of earlier work, and the call that was there for the most of it. */
struct osc_earlier_sum {
    int64_t ns;
    osc_sid call; /* its name; 0: none */
    int64_t call_ns;
};

/* How long earlier work held device D of the loads in the kept steps while nothing in the trace
 * ran on any. */
OSC_MUST_USE osc_status osc_advice_earlier(const struct osc_advice_base *a, uint32_t d,
                                           struct osc_earlier_sum *sum);

/* The operator of CALL (index + 1, or 0), and its name; 0: none. */
osc_row osc_advice_operator_row(const struct osc_advice_base *a, uint32_t call);
osc_sid osc_advice_operator_of(const struct osc_advice_base *a, uint32_t call);
