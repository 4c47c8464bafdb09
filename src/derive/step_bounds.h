/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_bounds.h - when each step begins and ends, and whether a rule drops it.
 *
 * These depend on the steps and the device work before a step, and on the work of the steps
 * around it. A part of a trace may lack them, so a view of selected steps, and a trace of which
 * only a part was read, carry the bounds that were found in the rest of the selection
 * (osc_trace.step_bounds): selecting a step changes neither its length nor whether it counts.
 *
 * Threading: made by one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/links.h"
#include "derive/steps.h"
#include "model/trace.h"

/*
 * Measure the steps of T, which MAP holds, by the works of LINKS. BOUNDS and N_WORKS have one
 * element for each step; N_WORKS becomes the number of works that the calls of a step launched.
 */
OSC_MUST_USE osc_status osc_step_bounds_measure(const struct osc_trace *t,
                                                const struct osc_links *links,
                                                const struct osc_step_map *map,
                                                struct osc_step_bound *bounds,
                                                uint32_t *n_works);

/* The operators that count: those that WANTS says with CTX, all if it is NULL. */
struct osc_step_operators {
    const struct osc_classes *classes;
    bool (*wants)(const void *ctx, const struct osc_chunk *c, uint32_t i);
    const void *ctx;
};

/*
 * Mark the steps of T that are empty: where no step of a process has device work, by N_WORKS,
 * its last one, if it begins when the last of the OPERATORS of the process is over, and the
 * step before it does not.
 */
OSC_MUST_USE osc_status osc_step_bounds_mark_empty(const struct osc_trace *t,
                                                   const struct osc_step_operators *operators,
                                                   const struct osc_step_map *map,
                                                   const uint32_t *n_works,
                                                   struct osc_step_bound *bounds);

/* Whether that depends on operators, of steps that IS_ASKED says, by step; NULL:
 * of any. */
bool osc_step_bounds_need_operators(const struct osc_step_map *map, const uint32_t *n_works,
                                    const uint8_t *is_asked);

/* The bounds of the steps of T. Zeroed, it is empty. */
struct osc_step_bounds {
    struct osc_step_bound *of; /* owned; by step */
    uint32_t *n_works;         /* owned; by step: device events of T that its calls launched */
};

/* Make B, from what T carries or from its rows. CLASSES, LINKS and MAP are those of T. */
OSC_MUST_USE osc_status osc_step_bounds_make(const struct osc_trace *t,
                                             const struct osc_classes *classes,
                                             const struct osc_links *links,
                                             const struct osc_step_map *map,
                                             struct osc_step_bounds *b);
void osc_step_bounds_fini(struct osc_step_bounds *b);
