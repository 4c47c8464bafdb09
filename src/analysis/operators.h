/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.h - calls, host and device time by operator.
 *
 * One sweep over the operator tree of derive/optree.h, children before parents, so that no
 * stack is needed; groups are dense numbers, so that an event costs a few loads. Asynchronous
 * operators are not in the tree, and are counted afterwards.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/call_logs.h"
#include "analysis/list_text.h"
#include "derive/facts.h"
#include "derive/launchers.h"
#include "derive/stacks.h"
#include "table/table.h"

/* The sums of the calls of a group of operators; times in nanoseconds. */
struct osc_operator_group {
    osc_sid name;
    osc_sid shape;      /* in osc_operators.lists; 0: no list */
    uint32_t dtypes;    /* elements in osc_operators.types; 0: none */
    osc_sid stack;      /* `Call stack`, a string of the trace; 0: none */
    uint32_t rebuilt;   /* stack of osc_operators.stacks; 0: none */
    uint32_t step;      /* by step: index in osc_trace.steps + 1; 0: none */
    uint32_t first_row; /* the first in the file */
    uint64_t n_calls;
    uint64_t n_async; /* of these; they have a duration and nothing else */
    int64_t host_self_ns, host_total_ns, max_host_self_ns;
    int64_t device_self_ns, device_total_ns, max_device_self_ns;
    int64_t tc_self_ns, tc_total_ns;           /* the part in kernels that use Tensor Cores */
    int64_t unknown_self_ns, unknown_total_ns; /* in kernels of which no rule knows it */
    uint64_t n_device_values;                  /* calls that have device self time */
    bool is_eligible, has_stack;
    double median_host_self_ns, median_device_self_ns;
    struct osc_call_logs host_self_logs, device_self_logs; /* by step only */
};

/* Device work that no row of the table owns, by its launcher. */
struct osc_operator_rest {
    uint64_t n_works, n_calls; /* launches; of works whose launch is not recorded 0 */
    int64_t device_ns;
};

/* Zeroed, it is empty. */
struct osc_operators {
    struct osc_operator_group *groups; /* owned; sorted by first_row once made */
    size_t n_groups, cap_groups;
    struct osc_operator_rest rest[OSC_LAUNCHERS]; /* that of operators is empty */
    struct osc_lists lists, types;                /* texts of shapes and dtypes */
    struct osc_stacks stacks; /* made on request, if no event has a stack of its own */
};

/* How to sum up operators. Zeroed: by their names. */
struct osc_operators_how {
    bool by_shape, by_dtype, by_stack; /* also by these */
    bool by_step;   /* also by the step, for which T has STEPS; without medians and stacks */
    bool has_rest;  /* find the work that no operator launched, too */
    bool compat_tb; /* the rules of the TensorBoard plugin */
};

/* Sum up T, which has LINKS, as HOW says. */
OSC_MUST_USE osc_status osc_operators_make(const struct osc_trace *t,
                                           const struct osc_operators_how *how,
                                           struct osc_operators *ops);
void osc_operators_fini(struct osc_operators *ops);

/* Whether row I of C is an asynchronous operator that counts: one of the host that has ended.
 */
bool osc_operators_is_async(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i);
