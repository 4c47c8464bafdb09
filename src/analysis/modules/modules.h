/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - what ran inside modules, by their place in the hierarchy.
 *
 * A *scope* is a range by which tables group: a call of an nn.Module or of a module of
 * Lightning, an annotation, or a Python frame. A *place* is the name (and module id) of a
 * scope under the place of the scope around it, however often it was called.
 *
 *   - The holder of a module is the nearest module in its chain of `Python parent id`. If
 *     no module has that id, and for other scopes, it is the nearest scope around it on its
 *     thread. Modules of Lightning nest by their dotted names. A chain that leads nowhere,
 *     or in a circle, ends there.
 *   - If no Python frame has a line, the innermost line of an operator's `Call stack` is a
 *     scope as long as that operator, unless it is the innermost open scope already. Such
 *     files do not show what else the line ran.
 *   - Only scopes and nodes of the operator tree subtract time from each other.
 *   - Backward work belongs to the place of the forward operator to which its first link
 *     leads: a whole root of the backward thread, with the AccumulateGrad roots after it.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "derive/facts.h"

enum osc_scopes {
    OSC_SCOPES_MODULE,     /* calls of nn.Module, as with_modules=True records them */
    OSC_SCOPES_LIGHTNING,  /* ranges named [pl][module]TYPE: NAME */
    OSC_SCOPES_ANNOTATION, /* ranges that the program named, except steps */
    OSC_SCOPES_LINE,       /* Python frames, by file and line; or lines of call stacks */
};

struct osc_module_place {
    struct osc_str name; /* as shown; borrowed from the trace or the arena */
    struct osc_str path; /* attributes that lead to the module; borrowed from the trace; "": not
                          * recorded, or it is the root */
    int64_t module_id;   /* if has_id */
    int64_t first_ns;    /* start of its first call */
    uint32_t first_row;  /* and its row */
    uint32_t parent;     /* index + 1 of the place that contains it, or 0 */
    uint32_t depth;      /* 0: in no other place */
    bool has_id;
    uint64_t position; /* hash of all names and ids on its path: the same in every rank */
    int64_t n_calls;
    int64_t n_operators; /* operators directly in its calls */
    int64_t host_total_ns, host_self_ns;
    int64_t device_total_ns, device_self_ns;
    int64_t backward_host_ns, backward_device_ns; /* including places below */
};

/* One call of a scope, for users that need more than sums. */
struct osc_scope_call {
    uint32_t row;
    uint32_t place;  /* index + 1 */
    uint32_t holder; /* row of the call that contains it, or 0 */
};

/* Zeroed, it is empty. */
struct osc_modules {
    struct osc_module_place *places; /* owned; a place stands after the one that contains it */
    size_t n_places, cap_places;
    struct osc_scope_call *calls; /* owned; only for OSC_SCOPES_MODULE; grouped by thread */
    size_t n_calls, cap_calls;
    struct osc_arena arena;
    bool has_python; /* for OSC_SCOPES_LINE: there are frames or call stacks, with or without
                      * lines */
};

/* Compute the places of T, which has LINKS. */
OSC_MUST_USE osc_status osc_modules_make(const struct osc_trace *t, enum osc_scopes scopes,
                                         struct osc_modules *m);
void osc_modules_fini(struct osc_modules *m);
