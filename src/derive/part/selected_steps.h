/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selected_steps.h - the bounds of steps in the part of a trace that the user asked for.
 *
 * Choosing among steps changes none of them: they are measured in the selection without its
 * steps (derive/step_bounds.h).
 *
 * Threading: not locked; the trace is only read.
 */
#pragma once

#include "base/status.h"
#include "derive/select.h"
#include "model/trace.h"

/*
 * Set *BOUNDS, which the caller frees, to the bounds that the steps of T, which has
 * OSC_FACT_SELECTION, have in S without its steps: one element for each step of T. Those of
 * steps whose annotation S leaves out mean nothing.
 */
OSC_MUST_USE osc_status osc_selected_steps_bounds(const struct osc_trace *t,
                                                  const struct osc_selection *s,
                                                  struct osc_step_bound **bounds,
                                                  struct osc_err *err);
