/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the part of a trace that the user asked for.
 *
 * Selection is decided on the whole trace: a kernel belongs to the step of its launch. Most
 * tables are then made from a view that has only the selected rows (view.h); some get the
 * whole trace and a filter. Steps keep their ordinals.
 *
 *   process, thread  host rows of these, and the device work that they launched; a copy
 *                    of an annotation on a device is selected with its original, which
 *                    is found by name and external id; if no thread is that, the
 *                    queues of a device that are
 *   device           drops work of other devices; host rows stay
 *   steps            host rows that start inside, on any thread, and their device work, or
 *                    if a device draws the steps, its work that starts inside; annotations
 *                    of these steps and no others
 *   from, to         rows that start in [from, to)
 *   with_callers     adds the Python frames, including modules, that contain selected
 *                    rows, so that stacks are complete; they add to no time
 *
 * An arrow (flow) is kept or dropped as a whole: each of its records must touch a selected
 * row, the innermost range that is open at its time on its track. A record that touches no
 * range belongs to no step and is selected by its own time and track.
 *
 * Threading: not locked; a filter and what it reads are read-only once made.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/* Zeroed, it selects everything. Strings are borrowed. */
struct osc_selection {
    const char *process, *thread, *device; /* NULL: any */
    const char *steps;                     /* "5", "5-7" by label; "@0-@2" by ordinal */
    bool has_from, has_to, with_callers;
    int64_t from_ns, to_ns;  /* from the origin of the times that users see */
    uint32_t n_steps_before; /* steps of the trace that were left out when it was loaded */
};

bool osc_selection_is_all(const struct osc_selection *s);

/* When what S, which may be NULL, selects of T ends, on the clock of T: with its events, or
 * with
 * --to if some go on then. */
int64_t osc_selection_end(const struct osc_selection *s, const struct osc_trace *t);

/* Whether TEXT has the form of a range of steps, whether or not they exist. */
bool osc_select_is_steps(const char *text);

/* A selection resolved for one trace; for tables that read the whole trace. */
struct osc_filter {
    const struct osc_trace *t; /* borrowed, as are the next two */
    const struct osc_classes *c;
    const struct osc_selection *s;
    uint8_t *has_track;             /* owned; by track: host rows on it are selected */
    uint8_t *has_queue;             /* owned; by track: its device is selected */
    uint8_t *has_step;              /* owned; by step: it is selected; NULL: all rows are */
    uint32_t first_step, last_step; /* range of the selected steps, index + 1 */
};

/* The facts (bits of enum osc_fact) that a filter of S needs in addition to LINKS and
 * STEPS. */
uint32_t osc_select_facts(const struct osc_selection *s);

/*
 * Whether NAME is that of a device which PyTorch calls WORD: hip:0 is its cuda:0. For words
 * that are the name of no device.
 */
bool osc_device_has_word(struct osc_str name, struct osc_str word);

/*
 * Resolve S for T, which has LINKS, STEPS and osc_select_facts(S). OSC_EINVAL: a wrong value
 * in S, with a sentence. On failure F is empty.
 */
OSC_MUST_USE osc_status osc_filter_make(struct osc_filter *f, const struct osc_trace *t,
                                        const struct osc_selection *s, struct osc_err *err);
void osc_filter_fini(struct osc_filter *f);

/* The part of it that resolves the steps, which alone are needed: has_step and the range. */
OSC_MUST_USE osc_status osc_filter_choose_steps(struct osc_filter *f, struct osc_err *err);

/* Whether row I of C is selected. */
bool osc_filter_wants(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i);

/* Whether the bounds of C, a chunk of events, show that none of its rows is selected. */
bool osc_filter_skips(const struct osc_filter *f, const struct osc_chunk *c);

/* Whether a point on TRACK at AT_NS, in no row, is selected; whether any point in a range of
 * time is. */
bool osc_filter_wants_point(const struct osc_filter *f, uint32_t track, int64_t at_ns);
bool osc_filter_wants_between(const struct osc_filter *f, int64_t first_ns, int64_t last_ns);
