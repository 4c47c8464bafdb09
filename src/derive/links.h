/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - which host call launched which work.
 *
 *   device work  ->  the runtime or driver call with its correlation id; of several, the
 *                    latest that starts no later than the work, else the first; without
 *                    one, the call from which an arrow of the source leads to it;
 *                    of Chrome traces other than Kineto's the call around that start
 *   host call    ->  the operator with its external id, if the closed range of that
 *                    operator contains the call, on any thread of the process; else the
 *                    innermost operator of the call's own thread; else the operator
 *                    from which an arrow leads to work that the call launched; else none
 *   operator     ->  the forward operator whose backward it is: by the arrows
 *                    "fwdbwd" of the file, else by sequence number
 *
 * No link is guessed: rows that match nothing have none.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "model/trace.h"

/* A finished call of the runtime or the driver; or an operator from which an arrow leads to
 * work whose call was not recorded. */
struct osc_call {
    uint32_t row;
    uint32_t node;     /* the operator that made it, possibly a merged one; or 0 */
    bool is_elsewhere; /* its time is no part of that operator's: an arrow leads there */
};

/* A finished kernel, copy or memset. */
struct osc_work {
    uint32_t row;
    uint32_t call; /* index in osc_links.calls + 1, or 0 */
};

/* In the order of the file. Zeroed, it is empty. */
struct osc_links {
    struct osc_call *calls; /* owned */
    struct osc_work *works; /* owned */
    size_t n_calls, cap_calls, n_works, cap_works;
};

/* Fill osc_chunk.link; osc_nest_make() has stored its nodes there. */
OSC_MUST_USE osc_status osc_links_make(struct osc_trace *t, const struct osc_classes *c,
                                       const struct osc_order *order,
                                       const struct osc_optree *tree, struct osc_links *links);
void osc_links_fini(struct osc_links *links);

/* Link backward operators to their forward ones (derive/forward.c). */
OSC_MUST_USE osc_status osc_links_forward(struct osc_trace *t, const struct osc_classes *c,
                                          const struct osc_order *order);
