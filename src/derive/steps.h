/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps that the program announced, and which rows belong to them.
 *
 * A step is one annotation of a host thread; its copies on device queues are not steps. A
 * trace without such annotations is one step, from the first start to the last end of its
 * operators, to which no row belongs.
 *
 *   - Steps are sorted by start. If several contain a time, the first one counts.
 *   - Ordinals count the steps of the file, from the number that it says began before (member
 *     steps_before): a selection does not change them.
 *   - A host row belongs to the step that contains its start, on any thread of the process;
 *     in a process that announced no steps, to a step of any process. Device work belongs
 *     to the step of its launch.
 *   - If the host announced none, but the source draws steps on a device (XLA, Ascend), these
 *     count, and device work belongs to the one in which it starts.
 *
 *   - Iterations (import/build/iterations.h) count as steps, but not for --compat tb. Their
 *     ordinals are their labels.
 *
 * Threading: made by one writer, rows in parallel; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/*
 * A range of places of the map that holds the steps of one process, or all steps.
 */
struct osc_step_group {
    uint32_t first, end;
};

/*
 * Places [0, n) are the steps. If several processes announced steps, places [n, 2 n) repeat
 * them, grouped by process. Each place also has the latest end up to it within its group.
 * These ends never decrease, so the first step that is not over at some time is found by
 * bisection. Zeroed, there are no steps.
 */
struct osc_step_map {
    uint32_t *steps;    /* owned; by place: index of the step */
    int64_t *latest_ns; /* owned; by place */
    uint32_t *first;    /* owned; by process: its first place; NULL: one process has all
                         * steps */
    uint32_t n, n_processes;
    bool are_of_device; /* drawn on a device, whose work they contain */
    bool is_of_work;    /* the only step is the extent of device work and calls, too */
};

/* Set *WHOLE to the extent of the operators of T, the only step of a trace without annotations.
 * False: there are no operators. */
bool osc_steps_whole(const struct osc_trace *t, const struct osc_classes *c,
                     struct osc_step *whole);

/* Whether T, in which no step begins, is a selection of a trace that may have steps. */
bool osc_steps_lie_outside(const struct osc_trace *t);

/* Fill t->steps and MAP. */
OSC_MUST_USE osc_status osc_steps_make(struct osc_trace *t, const struct osc_classes *c,
                                       struct osc_step_map *map);
/* Make MAP of the steps that T has. */
OSC_MUST_USE osc_status osc_step_map_make(const struct osc_trace *t, struct osc_step_map *map);
void osc_step_map_fini(struct osc_step_map *map);

/* Fill osc_chunk.step; the links must exist. */
void osc_steps_mark(struct osc_trace *t, const struct osc_classes *c,
                    const struct osc_step_map *map, unsigned n_threads);

/* The steps to which rows of PROCESS (an index) may belong: its own if it has any, else
 * all. */
struct osc_step_group osc_step_group_of(const struct osc_step_map *map, uint32_t process);

/* The first step of GROUP (index + 1) whose closed range contains [START_NS, END_NS], or 0. */
uint32_t osc_step_around(const struct osc_trace *t, const struct osc_step_map *map,
                         struct osc_step_group group, int64_t start_ns, int64_t end_ns);
