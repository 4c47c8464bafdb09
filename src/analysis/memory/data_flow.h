/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_flow.h - which calls made, used and changed which memory.
 *
 * An *object* is memory from its allocation to its release; what a call uses without an
 * allocation in the trace is one from before. Calls that change an object make another
 * *version* of it; the first one is 0. A *node* is a unit of calls (touches.h), or a record of
 * memory outside of units. An *edge* is what a node does to an object that calls use as a
 * tensor; other objects have no edges.
 *
 *   - Nodes are in the order in which they begin, and so are the versions.
 *   - The versions of all objects are numbered: those of object i are first_version[i] on.
 *   - Objects are in the order in which they are first touched.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "analysis/memory/touches.h"

/* No version: it is allocated here, or not there afterwards, or not changed. */
#define OSC_NO_VERSION UINT32_MAX

struct osc_flow_edge {
    uint32_t object;
    uint32_t input;  /* version that the node found, or OSC_NO_VERSION */
    uint32_t output; /* version that it made, or OSC_NO_VERSION; neither: it lived only here */
};

struct osc_flow_node {
    int64_t start_ns;
    uint32_t row;
    uint32_t unit;       /* as in osc_touch; 0: a record of memory */
    uint32_t first, n;   /* edges */
    bool is_in_backward; /* it is a backward function, or in one */
};

struct osc_flow_object {
    uint32_t alloc, release; /* its records: index in osc_allocations.records + 1, or 0 */
    uint32_t process;
};

/* Zeroed, it is empty. */
struct osc_data_flow {
    struct osc_flow_node *nodes;     /* owned */
    struct osc_flow_edge *edges;     /* owned */
    struct osc_flow_object *objects; /* owned */
    uint32_t n_nodes, n_edges, n_objects, n_versions;
    uint32_t *first_version;    /* owned; one more than objects */
    int64_t *since_ns;          /* owned; by version: when a node made it; INT64_MIN: none */
    uint32_t *row_of_version;   /* owned; the row of this node; of others 0 */
    uint32_t *object_of_record; /* owned; by index in osc_allocations.records: the object of an
                                 * allocation + 1, or 0 */
    uint32_t *object_of_touch;  /* owned; by index in the touches */
};

/* Make the graph of TOUCHES, which were found in T; F are its facts. */
OSC_MUST_USE osc_status osc_data_flow_make(const struct osc_trace *t, const struct osc_facts *f,
                                           const struct osc_touches *touches,
                                           struct osc_data_flow *flow);
void osc_data_flow_fini(struct osc_data_flow *flow);
