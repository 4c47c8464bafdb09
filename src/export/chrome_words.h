/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_words.h - Kineto's words in Chrome's format for a form.
 *
 * A form of a Chrome trace keeps its original letter and category. Other forms have only a
 * shape and a kind; they get the words by which other tools recognise such events.
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/trace.h"

/* The phase of records of F. */
char osc_chrome_letter(const struct osc_form *f);

/* Their category, or an empty text. */
struct osc_str osc_chrome_category(const struct osc_trace *t, const struct osc_form *f);

/* Additional members of records of F: ",\"s\":\"t\"", or "". */
const char *osc_chrome_members(const struct osc_form *f);

/* The name for records of F that have no name. */
struct osc_str osc_chrome_name(const struct osc_trace *t, const struct osc_form *f);
