/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_place.h - where a range ran: on the host, on a device, or nowhere of its own.
 *
 * Programs mark a range once, and tools draw it twice: on its thread, and on the queue of a
 * device, over the work that was launched in it. The copy has the same name and kind, and is
 * not another call. Lines that repeat others, such as a sum over all streams, are summaries.
 *
 * Threading: pure functions.
 */
#pragma once

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
