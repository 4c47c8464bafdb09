/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_place.h - where a range ran, and by which name tables count it.
 *
 * A range runs on the host, on a device, or nowhere of its own.
 *
 * Programs mark a range once, and tools draw it twice: on its thread, and on the queue of a
 * device, over the work that was launched in it. The copy has the same name and kind, and is
 * not another call. Lines that repeat others, such as a sum over all streams, are summaries.
 *
 * Steps whose names differ by a number alone count as one, as in torch's own table.
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/known_names.h"
#include "model/trace.h"

enum osc_range_place { OSC_PLACE_HOST, OSC_PLACE_DEVICE, OSC_PLACE_SUMMARY };

/* The place of the range in row I of C. */
static inline enum osc_range_place osc_range_place_of(const struct osc_trace *t,
                                                      const struct osc_chunk *c, uint32_t i)
{
    if (t->tracks[c->track[i]].is_summary)
        return OSC_PLACE_SUMMARY;
    return t->forms[c->form[i]].is_device ? OSC_PLACE_DEVICE : OSC_PLACE_HOST;
}

/* Whether row I of C is a range, synchronous or not, that has ended: what tables count. */
static inline bool osc_range_has_ended(const struct osc_trace *t, const struct osc_chunk *c,
                                       uint32_t i)
{
    const enum osc_form_shape shape = (enum osc_form_shape)t->forms[c->form[i]].shape;

    return (osc_shape_is_range(shape) || shape == OSC_SHAPE_ASYNC) &&
           c->dur_ns[i] != OSC_NO_DUR;
}

#define OSC_RANGE_STEPS      UINT32_MAX /* stands for the name of all such steps */
#define OSC_RANGE_STEPS_TEXT "ProfilerStep*"

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
    return name == OSC_RANGE_STEPS ? OSC_STR(OSC_RANGE_STEPS_TEXT)
                                   : osc_trace_str(t, (osc_sid){name});
}

/* The name that users write as TEXT: an osc_sid, OSC_RANGE_STEPS, or 0 if T has no such one. */
static inline uint32_t osc_range_name_find(const struct osc_trace *t, struct osc_str text)
{
    return osc_str_eq(text, OSC_STR(OSC_RANGE_STEPS_TEXT))
               ? OSC_RANGE_STEPS
               : osc_strings_find(&t->strings, text).v;
}

/* Whether row I of C has NAME, which osc_range_name_find() gave: its own, or that by which it
 * counts. */
static inline bool osc_range_has_name(const struct osc_trace *t, const struct osc_chunk *c,
                                      uint32_t i, uint32_t name)
{
    return c->name[i] == name || osc_range_name_of(t, c, i) == name ||
           (name == OSC_RANGE_STEPS &&
            osc_str_eq(osc_row_name(t, c, i), OSC_STR(OSC_RANGE_STEPS_TEXT)));
}

/* The word for PLACE that users see; static. */
static inline struct osc_str osc_range_place_text(enum osc_range_place place)
{
    switch (place) {
    case OSC_PLACE_HOST:
        return OSC_STR("host");
    case OSC_PLACE_DEVICE:
        return OSC_STR("device");
    case OSC_PLACE_SUMMARY:
        return OSC_STR("summary");
    }
    return OSC_STR("");
}

/* The place whose word is TEXT. */
static inline enum osc_range_place osc_range_place_of_text(struct osc_str text)
{
    return osc_str_eq(text, OSC_STR("host"))     ? OSC_PLACE_HOST
           : osc_str_eq(text, OSC_STR("device")) ? OSC_PLACE_DEVICE
                                                 : OSC_PLACE_SUMMARY;
}

/* Whether the kind of a range does not tell that it is in PLACE, so that a table has to. */
static inline bool osc_range_place_matters(enum osc_range_place place, enum osc_kind kind)
{
    return place == OSC_PLACE_SUMMARY ||
           (place == OSC_PLACE_DEVICE && !osc_kind_is_device_work(kind));
}

/* The help of the column that holds the word. */
#define OSC_RANGE_PLACE_HELP                                                                  \
    "host; device: a queue of a device; or summary: a line that repeats the time of others. " \
    "Present if the file has ranges on devices, other than kernels, copies and memsets, or "  \
    "in "                                                                                     \
    "summaries."
