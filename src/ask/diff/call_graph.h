/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - which operators call which, in two runs.
 *
 * Nodes are the rows of diff_operators, and behind them kernels. Edges are those of the digests
 * of both runs.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/intern.h"
#include "table/table.h"

#define OSC_NO_NODE UINT32_MAX

struct osc_call_edge {
    uint32_t caller, callee; /* nodes; caller is OSC_NO_NODE: nothing calls it */
    bool is_on[2];           /* sides that have it */
    int64_t ns[2];
};

/* Zeroed, it is empty. */
struct osc_call_graph {
    struct osc_str *names; /* owned; by node */
    bool (*is_on)[2];      /* owned; by node: sides that have it */
    bool *is_kernel;       /* owned; by node */
    uint32_t n, n_operators;
    struct osc_call_edge *edges; /* owned */
    size_t n_edges, cap_edges;
    /* By node: places in order of its edges, [first[node], first[node + 1]). */
    uint32_t *callers, *first_caller; /* owned */
    uint32_t *callees, *first_callee; /* owned */
    struct osc_arena arena;
    struct osc_intern keys;
    size_t cap_nodes[3];
};

/* Make G from OPERATORS (diff_operators) and the digests CALLS of both sides. */
OSC_MUST_USE osc_status osc_call_graph_make(struct osc_call_graph *g,
                                            const struct osc_result *operators,
                                            const struct osc_result *const *calls);
void osc_call_graph_fini(struct osc_call_graph *g);

/* The caller of NODE that both sides have, if it has no other on either side; else
 * OSC_NO_NODE. */
uint32_t osc_call_graph_only_caller(const struct osc_call_graph *g, uint32_t node);
