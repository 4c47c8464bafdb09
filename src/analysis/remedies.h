/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedies.h - what to change so that the next trace has what this one lacks.
 *
 * That depends on what recorded it: the profiler of torch has other arguments than opscope's,
 * `opscope run` has none, and a program that calls opscope/record.h by itself needs no hint.
 *
 * Threading: pure functions over a sealed trace.
 */
#pragma once

#include "model/trace.h"

/* Whether opscope recorded T, which may be a trace that was exported afterwards. */
bool osc_trace_is_ours(const struct osc_trace *t);

/* Whether what recorded T could have recorded what CODE, one of no_... or single_step, says
 * that it lacks. */
bool osc_remedy_is_there(const struct osc_trace *t, enum osc_finding_code code);

/* Whether the file of T states that what CODE says is lacking was switched off. */
bool osc_remedy_is_off(const struct osc_trace *t, enum osc_finding_code code);

/* Whether what CODE, one of these, says is lacking may lie in a part of the file that is
 * missing; then that is the remedy. */
bool osc_remedy_is_unsure(const struct osc_trace *t, enum osc_finding_code code);
#define OSC_REMEDY_UNSURE "the part of the file that is missing may have more"

/* The remedy for CODE in T; "": none. */
const char *osc_remedy(const struct osc_trace *t, enum osc_finding_code code);
