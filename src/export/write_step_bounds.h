/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_step_bounds.h - members of the file that say when its steps begin and end, and what
 * else ran in them.
 *
 * A file of some steps of a trace lacks the steps and the device work before them, by which
 * they were measured, and what ran in them but belongs to others. The member OSC_STEPS_MEMBER
 * keeps what was found of the first, OSC_BYSTANDERS_MEMBER of the second and
 * OSC_COLLECTIVES_MEMBER the collectives of kernels in them, in JSON and in columns alike, so
 * that a step is as long in the file as in the trace, and its time divides as there
 * (derive/step_bounds.h, derive/part/bystanders.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Make the members of T, which is about to be exported, what T carries; or remove them. */
OSC_MUST_USE osc_status osc_write_step_bounds(struct osc_trace *t);
