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

#include "model/trace.h"

/* The family of devices whose host calls have CATEGORY: "cuda", "xpu", or "". */
struct osc_str osc_dialect_device(struct osc_str category);

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
