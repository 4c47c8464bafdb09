/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawing.h - the timeline of a set as lanes, of the traces
 * and rows that it was opened for (timeline/model.h).
 *
 *     struct osc_drawing d;
 *     if (osc_drawing_begin(&d, set, &err) == OSC_OK) {
 *         ... d.timeline ...
 *         osc_drawing_end(&d);
 *     }
 *
 * It is made when it is first wanted, and kept with the state of the set: after a refresh
 * another one is made, and those who use the old one go on with it.
 *
 * Threading: thread-safe; the timeline is read-only.
 */
#pragma once

#include "names/labels.h"
#include "opscope/trace.h"
#include "timeline/model.h"

struct osc_set_state;

struct osc_drawing {
    const struct osc_timeline *timeline; /* borrowed until osc_drawing_end() */
    const char *fingerprint;             /* borrowed likewise: of the files that it is of, as
                                          * osc_frame_fingerprint(). A set that is followed may have been
                                          * read again since its last table */
    struct osc_set *set;                 /* borrowed */
    struct osc_set_state *state;         /* used */
};

/* OSC_EINVAL: the set keeps no traces. OSC_ELIMIT: too many events, or too little memory. After
 * a failure D is empty. */
OSC_MUST_USE osc_status osc_drawing_begin(struct osc_drawing *d, struct osc_set *set,
                                          struct osc_err *err);
void osc_drawing_end(struct osc_drawing *d);

/* So many names of a timeline are told apart: the labels of more would be waited for, and few
 * timelines have more. */
#define OSC_DRAWING_TOLD 4096u

/* Set *LABELS, which are borrowed until osc_drawing_end(), to labels of the names of D that are
 * of functions, in the block of OSC_DRAWING_TOLD that has number NAME, which is valid: short,
 * and no two of them alike. They are made when they are first wanted. OSC_ELIMIT: too little
 * memory. */
OSC_MUST_USE osc_status osc_drawing_labels(const struct osc_drawing *d, uint32_t name,
                                           const struct osc_labels **labels,
                                           struct osc_err *err);
