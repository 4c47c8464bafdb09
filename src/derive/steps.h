/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps that the program announced, and what belongs to which.
 *
 * A step is one annotation of a host thread (ProfilerStep#n, or the like); copies
 * of it on device queues are none. Without any, the trace is one step, from
 * the first start to the last end of its operators, which no row belongs to.
 *
 *   - Steps stand in order of start. Where several hold a time, the first does.
 *   - Ordinals count the steps of the file: a selection does not change them.
 *   - A host row belongs to the step that holds its start, on whatever thread;
 *     device work to that of its launch.
 *
 * Threading: made by one writer, rows in parallel; read-only afterwards.
 */
#ifndef OSC_DERIVE_STEPS_H
#define OSC_DERIVE_STEPS_H

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/*
 * For each step the latest end of it and all before it: these only grow, so that
 * the first step that is not over at some time is found by bisection. Zeroed, there
 * are no steps.
 */
struct osc_step_map {
    int64_t *latest_ns; /* owned */
    uint32_t n;
};

/* Fill t->steps and MAP. */
OSC_MUST_USE osc_status osc_steps_make(struct osc_trace *t, const struct osc_classes *c,
                                       struct osc_step_map *map);
void osc_step_map_fini(struct osc_step_map *map);

/* Fill osc_chunk.step. Links are there. */
void osc_steps_mark(struct osc_trace *t, const struct osc_classes *c,
                    const struct osc_step_map *map, unsigned n_threads);

/* The first step (index + 1) whose closed range holds [START_NS, END_NS], or 0. */
uint32_t osc_step_around(const struct osc_trace *t, const struct osc_step_map *map,
                         int64_t start_ns, int64_t end_ns);

#endif
