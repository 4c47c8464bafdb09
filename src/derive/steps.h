/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps that the program announced, and what belongs to which.
 *
 * A step is one annotation of a host thread; copies of it on device queues are none.
 * Without any, the trace is one step, from the first start to the last end of its
 * operators, which no row belongs to.
 *
 *   - Steps stand in order of start. Where several hold a time, the first does.
 *   - Ordinals count the steps of the file: a selection does not change them.
 *   - A host row belongs to the step that holds its start, on whatever thread of the
 *     process; in a process that announced none, to that of any process. Device work
 *     belongs to the step of its launch.
 *
 * Threading: made by one writer, rows in parallel; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/*
 * The steps of which one may hold a time: places of the map, those of one process or of
 * all.
 */
struct osc_step_group {
    uint32_t first, end;
};

/*
 * Places [0, n) are the steps, and where several processes announced some, places [n, 2 n)
 * are they again, process by process. Beside each is the latest end of it and all before it
 * in its group: these only grow, so that the first step that is not over at some time is
 * found by bisection. Zeroed, there are no steps.
 */
struct osc_step_map {
    uint32_t *steps;    /* owned; by place: index of the step */
    int64_t *latest_ns; /* owned; by place */
    uint32_t *first;    /* owned; by process its first place; NULL: one has all of them */
    uint32_t n, n_processes;
};

/* Fill t->steps and MAP. */
OSC_MUST_USE osc_status osc_steps_make(struct osc_trace *t, const struct osc_classes *c,
                                       struct osc_step_map *map);
void osc_step_map_fini(struct osc_step_map *map);

/* Fill osc_chunk.step. Links are there. */
void osc_steps_mark(struct osc_trace *t, const struct osc_classes *c,
                    const struct osc_step_map *map, unsigned n_threads);

/* The steps that rows of PROCESS (an index) may belong to: its own, or else all. */
struct osc_step_group osc_step_group_of(const struct osc_step_map *map, uint32_t process);

/* The first step of GROUP (index + 1) whose closed range holds [START_NS, END_NS], or 0. */
uint32_t osc_step_around(const struct osc_trace *t, const struct osc_step_map *map,
                         struct osc_step_group group, int64_t start_ns, int64_t end_ns);
