/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.h - what was running around each memory record, told once for all ranges.
 *
 * A table of a range of time is asked for again and again while somebody drags over a
 * curve. Records made under the same chain of operators, named from the outside in, differ
 * in nothing but time and size: a range is one pass over its records into a few hundred
 * chains, and calls are counted by bisection.
 *
 *   - A chain is its innermost operator and the chain above it, which has a smaller
 *     number; 0 is none. Nodes that are no rows of tables (OSC_NODE_ROW) are not in
 *     it, and a record whose own node is none has no chain.
 *   - Calls are the nodes of the operators that are in any chain.
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
    uint32_t depth; /* operators in it: 1 and more */
};

struct osc_caller_name {
    osc_sid name;
    uint32_t first, n; /* its calls */
};

/* Zeroed, it is empty. */
struct osc_callers {
    struct osc_chain *chains;      /* owned; number i is chains[i - 1] */
    uint32_t *chain_of;            /* owned; by index in osc_allocations.records */
    struct osc_caller_name *names; /* owned */
    uint32_t *calls; /* owned; places in osc_order.rows: name after name, ascending */
    uint32_t n_chains, n_names, n_calls;
};

/* Find the chains of the records A. */
OSC_MUST_USE osc_status osc_callers_make(const struct osc_trace *t,
                                         const struct osc_allocations *a,
                                         const struct osc_order *order,
                                         const struct osc_optree *tree, struct osc_callers *c);
void osc_callers_fini(struct osc_callers *c);

/* How many calls of NAME have places in [BEGIN, END). */
uint32_t osc_callers_count(const struct osc_callers *c, const struct osc_caller_name *name,
                           uint32_t begin, uint32_t end);
