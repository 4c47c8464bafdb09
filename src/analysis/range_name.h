/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_name.h - the name by which tables count a range.
 *
 * It is that of the file, but steps whose names differ by a number alone count as one: under
 * the name in torch's own table, and in recordings of programs without torch as "step".
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/known_names.h"
#include "model/trace.h"

#define OSC_RANGE_STEPS       UINT32_MAX /* stands for the name of all such steps */
#define OSC_RANGE_STEPS_TEXT  "ProfilerStep*"
#define OSC_RANGE_STEPS_PLAIN "step"

/* The text of OSC_RANGE_STEPS in T. */
static inline struct osc_str osc_range_steps(const struct osc_trace *t)
{
    return t->producer == OSC_PRODUCER_OPSCOPE && !t->is_torch ? OSC_STR(OSC_RANGE_STEPS_PLAIN)
                                                               : OSC_STR(OSC_RANGE_STEPS_TEXT);
}

/* The name by which the range in row I of C counts: an osc_sid, or OSC_RANGE_STEPS. */
static inline uint32_t osc_range_name_of(const struct osc_trace *t, const struct osc_chunk *c,
                                         uint32_t i)
{
    if (c->kind[i] != OSC_KIND_STEP)
        return c->name[i];
    const struct osc_str name = osc_row_name(t, c, i);
    return osc_str_starts(name, OSC_STR(OSC_KNOWN_STEP)) ||
                   osc_str_eq(name, OSC_STR(OSC_RANGE_STEPS_TEXT))
               ? OSC_RANGE_STEPS
               : c->name[i];
}

/* The text of NAME, which osc_range_name_of() gave. */
static inline struct osc_str osc_range_name_text(const struct osc_trace *t, uint32_t name)
{
    return name == OSC_RANGE_STEPS ? osc_range_steps(t) : osc_trace_str(t, (osc_sid){name});
}

/* The name that users write as TEXT: an osc_sid, OSC_RANGE_STEPS, or 0 if T has no such one. */
static inline uint32_t osc_range_name_find(const struct osc_trace *t, struct osc_str text)
{
    return osc_str_eq(text, osc_range_steps(t)) ? OSC_RANGE_STEPS
                                                : osc_strings_find(&t->strings, text).v;
}

/* Whether row I of C has NAME, which osc_range_name_find() gave: its own, or that by which it
 * counts. */
static inline bool osc_range_has_name(const struct osc_trace *t, const struct osc_chunk *c,
                                      uint32_t i, uint32_t name)
{
    return c->name[i] == name || osc_range_name_of(t, c, i) == name ||
           (name == OSC_RANGE_STEPS && osc_str_eq(osc_row_name(t, c, i), osc_range_steps(t)));
}
