/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_callers.h - the callers of each Python function, as `Call stack`.
 *
 * Recorded operators of PyTorch carry their stacks. The stack of a function follows from the
 * scopes around it: their names, the innermost first, with ";" after each, as in torch.
 *
 *   - Nested functions are nodes of a tree. The text of a node is made when something is first
 *     called from it, and is one string for all calls from it.
 *   - Files can be hostile: a text has as many of the innermost functions as fit into
 *     OSC_RECORDS_CALLERS_BYTES. Once all texts together have OSC_RECORDS_CALLERS_ALL_BYTES,
 *     further nodes get none.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "base/strbuf.h"
#include "import/build/builder.h"

#define OSC_RECORDS_CALLERS_BYTES     (1u << 18)
#define OSC_RECORDS_CALLERS_ALL_BYTES ((size_t)1 << 28)

/* A function that is called from another. Nodes are numbered from 1. */
struct osc_records_caller {
    uint32_t parent; /* node, or 0 */
    osc_sid name;
    osc_sid text; /* its own name and its callers'; 0: not made */
};

/* Zeroed, it is empty. */
struct osc_records_callers {
    struct osc_records_caller *nodes; /* owned; node N is at N - 1 */
    size_t n_nodes, cap_nodes;
    struct osc_idmap known; /* parent and name -> node */
    struct osc_strbuf text;
    size_t n_text_bytes; /* of all texts */
};

void osc_records_callers_fini(struct osc_records_callers *c);

/* The node of function NAME called from PARENT. 0: no memory; the status in B is sticky. */
uint32_t osc_records_callers_enter(struct osc_records_callers *c, struct osc_builder *b,
                                   uint32_t parent, osc_sid name);

static inline uint32_t osc_records_callers_parent(const struct osc_records_callers *c,
                                                  uint32_t node)
{
    return c->nodes[node - 1].parent;
}

/* The `Call stack` of functions called from NODE; 0: none. The status in B is sticky. */
osc_sid osc_records_callers_text(struct osc_records_callers *c, struct osc_builder *b,
                                 uint32_t node);
