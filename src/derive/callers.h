/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.h - the chain of operators around each memory record, computed once for all ranges.
 *
 * While a user drags over a curve, a table for one range of time after another is needed.
 * Records made under the same chain of operators (names, from the outside in) differ only in
 * time and size. So a range takes one pass over its records, which adds them to a few hundred
 * chains, and the calls are counted by bisection.
 *
 *   - A chain is its innermost operator and the chain above it, which has a smaller number;
 *     0 is none. Nodes that are no rows of tables (OSC_NODE_ROW) are not part of chains,
 *     and a record whose own node is such a node has no chain.
 *   - Calls are the nodes of operators that occur in any chain.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/allocations.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "model/trace.h"

struct osc_chain {
    uint32_t above; /* chain, or 0 */
    uint32_t name;  /* index in names */
    uint32_t depth; /* number of operators in it, at least 1 */
};

struct osc_caller_name {
    osc_sid name;
    uint32_t first, n; /* indexes of its calls */
};

/* Zeroed, it is empty. */
struct osc_callers {
    struct osc_chain *chains;      /* owned; chain i is chains[i - 1] */
    uint32_t *chain_of;            /* owned; by index in osc_allocations.records */
    struct osc_caller_name *names; /* owned */
    uint32_t *calls; /* owned; places in osc_order.rows, grouped by name, ascending */
    uint32_t n_chains, n_names, n_calls;
};

/* Find the chains of the records in A. */
OSC_MUST_USE osc_status osc_callers_make(const struct osc_trace *t,
                                         const struct osc_allocations *a,
                                         const struct osc_order *order,
                                         const struct osc_optree *tree, struct osc_callers *c);
void osc_callers_fini(struct osc_callers *c);

/* Number of calls of NAME at places in [BEGIN, END). */
uint32_t osc_callers_count(const struct osc_callers *c, const struct osc_caller_name *name,
                           uint32_t begin, uint32_t end);
