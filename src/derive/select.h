/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - leave out what the user did not ask for, before anything is counted.
 *
 * The rows that stay are decided on the whole trace (a kernel belongs to the step
 * of its launch), then the others are removed from the columns and the derived
 * facts are made anew, so that no table has to know about selections. Steps keep
 * their ordinals.
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
 * Threading: not locked; one writer.
 */
#ifndef OSC_DERIVE_SELECT_H
#define OSC_DERIVE_SELECT_H

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

/* An annotation of the host that devices may have copies of. */
struct osc_original {
    int64_t external;
    uint32_t name; /* osc_sid */
    osc_row row;
};

/* What a selection means for one trace: for tables that look at all of it. */
struct osc_filter {
    const struct osc_trace *t; /* borrowed, as are the next two */
    const struct osc_classes *c;
    const struct osc_selection *s;
    uint8_t *has_track;             /* owned; by track: its host rows are wanted */
    uint8_t *has_queue;             /* owned; by track: its device is wanted */
    uint8_t *has_step;              /* owned; by step: it is wanted; NULL: all rows are */
    struct osc_original *originals; /* owned; sorted */
    size_t n_originals;
};

/*
 * Find out what S means for T, which has LINKS and STEPS and keeps all its rows.
 * Wrong values of S: OSC_EINVAL with a sentence. On failure F is empty.
 */
OSC_MUST_USE osc_status osc_filter_make(struct osc_filter *f, const struct osc_trace *t,
                                        const struct osc_selection *s, struct osc_err *err);
void osc_filter_fini(struct osc_filter *f);

/* Whether row I of C is wanted. */
bool osc_filter_wants(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i);

/* Keep in T only what S selects. Wrong values of S: OSC_EINVAL with a sentence. */
OSC_MUST_USE osc_status osc_select(struct osc_trace *t, const struct osc_selection *s,
                                   unsigned n_threads, struct osc_err *err);

/* Between which times rows must start to be wanted, on the clock of the file. */
struct osc_select_window {
    int64_t from_ns, host_to_ns, device_to_ns; /* INT64_MIN and INT64_MAX: no bound */
    uint32_t n_steps_before;                   /* steps that start before from_ns */
};

/*
 * What S asks for at the most, told by T, which holds all steps and the origin but
 * perhaps nothing else: for leaving out the rest while loading. osc_select() must
 * follow.
 */
OSC_MUST_USE osc_status osc_select_find_window(struct osc_trace *t,
                                               const struct osc_selection *s,
                                               struct osc_select_window *w,
                                               struct osc_err *err);

#endif
