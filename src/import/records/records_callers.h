/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_callers.h - what called each function of Python, as `Call stack`.
 *
 * Recorded operators of PyTorch bring their stacks along. Those of functions are what
 * the scopes around them tell already: their names from the innermost on, each with
 * ";" behind it, as torch has it.
 *
 *   - Functions inside of functions are nodes of a tree. The text of a node is made when
 *     something is called from there, and is one string for all calls from there.
 *   - Files can be hostile: a text has as many of the innermost functions as fit into
 *     OSC_RECORDS_CALLERS_BYTES, and once all together are OSC_RECORDS_CALLERS_ALL_BYTES,
 *     further nodes have none.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "base/strbuf.h"
#include "import/build/builder.h"

#define OSC_RECORDS_CALLERS_BYTES     (1u << 18)
#define OSC_RECORDS_CALLERS_ALL_BYTES ((size_t)1 << 28)

/* A function, called from another. Nodes count from 1. */
struct osc_records_caller {
    uint32_t parent; /* node, or 0 */
    osc_sid name;
    osc_sid text; /* its own and its callers'; 0: not made */
};

/* Zeroed, there are none. */
struct osc_records_callers {
    struct osc_records_caller *nodes; /* owned; node N stands at N - 1 */
    size_t n_nodes, cap_nodes;
    struct osc_idmap known; /* parent and name -> node */
    struct osc_strbuf text;
    size_t n_text_bytes; /* of all texts */
};

void osc_records_callers_fini(struct osc_records_callers *c);

/* The node of function NAME called from PARENT; 0, with a sticky status in B: no memory. */
uint32_t osc_records_callers_enter(struct osc_records_callers *c, struct osc_builder *b,
                                   uint32_t parent, osc_sid name);

static inline uint32_t osc_records_callers_parent(const struct osc_records_callers *c,
                                                  uint32_t node)
{
    return c->nodes[node - 1].parent;
}

/* The `Call stack` of what is called from NODE, with a sticky status in B; 0: none. */
osc_sid osc_records_callers_text(struct osc_records_callers *c, struct osc_builder *b,
                                 uint32_t node);
