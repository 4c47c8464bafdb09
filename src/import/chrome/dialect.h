/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - map the categories of every dialect to one vocabulary of kinds.
 *
 * PyTorch and Kineto have renamed their categories several times. The table of all of them is
 * here. The kind of an event follows from its phase and category, refined by its name and
 * arguments.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/idmap.h"
#include "model/trace.h"

/* The family of devices whose host calls have CATEGORY: "cuda", "xpu", or "". */
struct osc_str osc_dialect_device(struct osc_str category);

/*
 * The family that any text of T tells if it is the name of a call; "" if none does. Of several
 * it is HIP's, since its programs have words of CUDA, too, else the first in the alphabet: the
 * order of texts has no meaning. Texts that are no names may look like them, so ask rows and
 * forms first.
 */
struct osc_str osc_dialect_called_family(const struct osc_trace *t);

/* Whether events of CATEGORY happen on a device. */
bool osc_dialect_is_device(struct osc_str category);

/* Whether events of CATEGORY are calls of a runtime or a driver. */
bool osc_dialect_is_call(struct osc_str category);

/*
 * The letter of SHAPE in Chrome's format, and the shape of LETTER, or NONE. That format has
 * three letters for instants. Files of columns store the letters, too.
 */
char osc_dialect_letter(enum osc_form_shape shape);
enum osc_form_shape osc_dialect_shape(uint8_t letter);

/* Mark the tracks of T on which Kineto writes what it says of the whole recording. */
void osc_dialect_mark_tracks(struct osc_trace *t);

/* Set in F, a form of T, what its letter and category mean. */
void osc_dialect_fit_form(const struct osc_trace *t, struct osc_form *f);

/* Do so for all forms of T, and fill the kind column of all its events. */
OSC_MUST_USE osc_status osc_dialect_classify(struct osc_trace *t, unsigned n_threads);

/* What events are, beside what their form says. */
struct osc_meaning {
    uint8_t kind; /* enum osc_kind */
    bool is_device, is_frame;
};

/* The forms that were made of others because their events mean something else. Zeroed: none. */
struct osc_variants {
    struct osc_idmap of; /* (form, meaning) -> form */
    size_t cap_forms;    /* of the trace's forms; less if nothing was made yet */
};

/* Find or make the form of T that is FORM with the meaning M. */
OSC_MUST_USE osc_status osc_variants_find(struct osc_variants *v, struct osc_trace *t,
                                          uint32_t form, struct osc_meaning m, uint32_t *found);
void osc_variants_fini(struct osc_variants *v);
