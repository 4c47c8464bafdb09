/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - who launched what.
 *
 *   device work  ->  the runtime or driver call of its correlation; of several the
 *                    latest that starts no later than the work, else the first; where
 *                    it has none, the call that an arrow of the source leads from
 *   host call    ->  the operator that its external id names, if that one's closed
 *                    range holds the call, on any thread of the process; else the innermost
 *                    operator of the call's own thread; else none
 *   operator     ->  the forward operator whose backward it is: by the arrows
 *                    "fwdbwd" of the file, else by sequence number
 *
 * What belongs to nothing stays so: no link is guessed.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "model/trace.h"

/* A finished call of the runtime or the driver. */
struct osc_call {
    uint32_t row;
    uint32_t node; /* the operator that made it, merged ones as they are; or 0 */
};

/* A finished kernel, copy or memset. */
struct osc_work {
    uint32_t row;
    uint32_t call; /* index in osc_links.calls + 1, or 0 */
};

/* In order of the file. Zeroed, it is empty. */
struct osc_links {
    struct osc_call *calls; /* owned */
    struct osc_work *works; /* owned */
    size_t n_calls, cap_calls, n_works, cap_works;
};

/* Fill osc_chunk.link, on which osc_nest_make() has left its nodes. */
OSC_MUST_USE osc_status osc_links_make(struct osc_trace *t, const struct osc_classes *c,
                                       const struct osc_order *order,
                                       const struct osc_optree *tree, struct osc_links *links);
void osc_links_fini(struct osc_links *links);

/* Link backward operators to their forward ones (derive/forward.c). */
OSC_MUST_USE osc_status osc_links_forward(struct osc_trace *t, const struct osc_classes *c,
                                          const struct osc_order *order);
