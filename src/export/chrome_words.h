/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_words.h - what Chrome's format, in Kineto's dialect, calls a form.
 *
 * A form of a Chrome trace has kept the letter and the category that it had. All others
 * have a shape and a kind alone; they get the words by which other tools know such
 * events.
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/trace.h"

/* The phase of records of F. */
char osc_chrome_letter(const struct osc_form *f);

/* Their category, or an empty text. */
struct osc_str osc_chrome_category(const struct osc_trace *t, const struct osc_form *f);

/* Members that records of F have beside those of F itself: ",\"s\":\"t\"", or nothing. */
const char *osc_chrome_members(const struct osc_form *f);

/* The name that records of F have if they have none of their own. */
struct osc_str osc_chrome_name(const struct osc_trace *t, const struct osc_form *f);
