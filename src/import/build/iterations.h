/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.h - steps of programs that announce none.
 *
 * Servers of models mark each pass over a batch ("execute_context_1(888)_generation_0(0)",
 * "step[DECODE bs=32]") without calling it a step. Such ranges are iterations if
 *
 *   - they are annotations of one thread of the host, none inside another annotation,
 *   - their names are equal but for numbers and what stands in brackets,
 *   - there are at least three, and
 *   - together they last at least four fifths of the time from the first start to the last end,
 *     without the time between them in which recording was paused.
 *
 * Of several such groups the one that lasts longest is chosen, of equal ones the first. In a
 * trace with steps nothing is looked for.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* Give the iterations of T, which has kinds and no steps, the kind STEP, and set
 * t->has_iterations if there are any. */
OSC_MUST_USE osc_status osc_iterations_mark(struct osc_trace *t);
