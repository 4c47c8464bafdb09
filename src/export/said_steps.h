/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said_steps.h - a member of the file that says when its steps begin and end.
 *
 * A file of some steps of a trace lacks the steps and the device work before them, by which
 * they were measured. The member OSC_STEPS_MEMBER keeps what was found, in JSON and in columns
 * alike, so that a step is as long in the file as in the trace (derive/step_bounds.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Make the member of T, which is about to be exported, what T carries; or remove it. */
OSC_MUST_USE osc_status osc_said_steps_keep(struct osc_trace *t);
