/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - what of a trace the user asked for.
 *
 * Whether a row is wanted is decided on the whole trace: a kernel belongs to the step of
 * its launch. Most tables are then made of a view that has the wanted rows alone (view.h);
 * some get the whole trace and a filter. Steps keep their ordinals.
 *
 *   process, thread  host rows of those, and the device work that they launched; the
 *                    copy of an annotation on a device goes with the annotation, which
 *                    its name and external id tell
 *   device           device work of other devices goes; host rows stay
 *   steps            host rows that start inside, on any thread, and their device work;
 *                    annotations of these steps and no others
 *   from, to         rows that start in [from, to)
 *   with_callers     and the Python frames, modules among them, that hold what is
 *                    wanted, so that stacks are whole; nothing that time counts for
 *
 * An arrow (flow) stays whole or goes: each of its records has to touch a row that is
 * wanted itself, the innermost range that is open at its time on its track. A record that
 * touches nothing is in no step, and goes by its own time and track.
 *
 * Threading: not locked; a filter is read-only once made, and so is what it reads.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/* Zeroed, it selects everything. Texts are borrowed. */
struct osc_selection {
    const char *process, *thread, *device; /* NULL: any */
    const char *steps;                     /* "5", "5-7" by label; "@0-@2" by ordinal */
    bool has_from, has_to, with_callers;
    int64_t from_ns, to_ns;  /* from the origin that users see */
    uint32_t n_steps_before; /* of the trace, left out when it was loaded */
};

bool osc_selection_is_all(const struct osc_selection *s);

/* Whether TEXT is a range of steps; whether there are any is another question. */
bool osc_select_is_steps(const char *text);

/* What a selection means for one trace: for tables that look at all of it. */
struct osc_filter {
    const struct osc_trace *t; /* borrowed, as are the next two */
    const struct osc_classes *c;
    const struct osc_selection *s;
    uint8_t *has_track;             /* owned; by track: its host rows are wanted */
    uint8_t *has_queue;             /* owned; by track: its device is wanted */
    uint8_t *has_step;              /* owned; by step: it is wanted; NULL: all rows are */
    uint32_t first_step, last_step; /* of these, index + 1 */
};

/* The facts (bits of enum osc_fact) that a filter of S needs beside LINKS and STEPS. */
uint32_t osc_select_facts(const struct osc_selection *s);

/*
 * Find out what S means for T, which has LINKS, STEPS and osc_select_facts(S). Wrong
 * values of S: OSC_EINVAL with a sentence. On failure F is empty.
 */
OSC_MUST_USE osc_status osc_filter_make(struct osc_filter *f, const struct osc_trace *t,
                                        const struct osc_selection *s, struct osc_err *err);
void osc_filter_fini(struct osc_filter *f);

/* Whether row I of C is wanted. */
bool osc_filter_wants(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i);

/* Whether no row of C, a chunk of events, is wanted, as far as its bounds tell. */
bool osc_filter_skips(const struct osc_filter *f, const struct osc_chunk *c);

/* Whether what lies on TRACK at AT_NS, in no row, is wanted; whether any in that time is. */
bool osc_filter_wants_point(const struct osc_filter *f, uint32_t track, int64_t at_ns);
bool osc_filter_wants_between(const struct osc_filter *f, int64_t first_ns, int64_t last_ns);

/* Between which times rows must start to be wanted, on the clock of the file. */
struct osc_select_window {
    int64_t from_ns, host_to_ns, device_to_ns; /* INT64_MIN and INT64_MAX: no bound */
    uint32_t n_steps_before;                   /* steps that start before from_ns */
};

/*
 * What S asks for at the most, told by T, which holds all steps and the origin but
 * perhaps nothing else: for leaving out the rest while loading. A view of what is left
 * must follow.
 */
OSC_MUST_USE osc_status osc_select_find_window(struct osc_trace *t,
                                               const struct osc_selection *s,
                                               struct osc_select_window *w,
                                               struct osc_err *err);
