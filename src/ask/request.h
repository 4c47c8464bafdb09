/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - the fields of a request by name: one list of the fields and their values.
 *
 * This list turns command lines, keyword arguments of Python and other names and texts into a
 * struct osc_request (osc_request_set(), opscope/trace.h). A field that does not apply to the
 * table is refused, not ignored: the user expects something that will not happen.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "derive/select.h"
#include "opscope/trace.h"
#include "render/render.h"
#include "table/query.h"

/* Whether the field NAME applies to all tables; to the table DEF. A NAME that is not a field
 * applies to all tables. */
bool osc_request_is_all(const char *name);
bool osc_request_is_for(const char *name, const struct osc_table_def *def);

/* Field I, in the order of --help: its name, NULL beyond the last; the bit OSC_PART_ that it
 * belongs to, and whether it is a switch, which has no value. */
const char *osc_request_field(size_t i, unsigned *part, bool *is_switch);

/* Whether the field NAME is a switch; false if it is no field. */
bool osc_request_is_switch(const char *name);

/* The number of tables to which the field NAME applies. */
size_t osc_request_count_tables(const char *name);

/* Append "a, b and c", the tables to which the field NAME applies. */
void osc_request_add_tables(struct osc_strbuf *out, const char *name);

/* Check the values of R, which a program may have set directly. OSC_EINVAL: one is invalid. */
OSC_MUST_USE osc_status osc_request_check(const struct osc_request *r, struct osc_err *err);

/*
 * Check that each field that is set in R applies to the table DEF in the form FORM. OSC_EINVAL:
 * one does not.
 */
OSC_MUST_USE osc_status osc_request_check_scope(const struct osc_request *r,
                                                const struct osc_table_def *def,
                                                const struct osc_renderer *form,
                                                struct osc_err *err);

/* Find the table NAME; NULL: averages. OSC_EINVAL: unknown; ERR suggests a similar name. */
OSC_MUST_USE osc_status osc_request_table(const char *name, const struct osc_table_def **def,
                                          struct osc_err *err);

/* Find the form NAME; NULL: text. OSC_EINVAL: unknown; ERR suggests a similar name. */
OSC_MUST_USE osc_status osc_request_form(const char *name, const struct osc_renderer **form,
                                         struct osc_err *err);

/* Make the options O of the table DEF from R. OSC_EINVAL: DEF lacks the grouping. */
OSC_MUST_USE osc_status osc_request_options(const struct osc_request *r,
                                            const struct osc_table_def *def,
                                            struct osc_options *o, struct osc_err *err);

/* Let O, options of DEF, want what Q wants of another table, as far as DEF has the options and
 * groupings. */
void osc_request_follow(const struct osc_question *q, const struct osc_table_def *def,
                        struct osc_options *o);

/* Whether R names a time: of its view, or as an option of its table. Times count from the
 * origin of all traces. */
bool osc_request_names_time(const struct osc_request *r);

/* VIEW as a selection for derive/. It borrows the texts. */
struct osc_selection osc_request_selection(const struct osc_view *view);

/* Whether LIST, such as "0,2-5", contains VALUE; false if LIST is malformed. NULL contains
 * all. */
bool osc_list_has(const char *list, int64_t value);

/* Whether ALL contains everything in LIST, which is well-formed or NULL. */
bool osc_list_within(const char *list, const char *all);

/* Append the fields of R that its answer depends on, as words of a question (table/question.h).
 * Threads and memory are no such fields. */
void osc_request_add_words(struct osc_strbuf *q, const struct osc_request *r);

/* Set R, which is zeroed, from WORDS, which it borrows. OSC_EINVAL: they are no such words. */
OSC_MUST_USE osc_status osc_request_set_words(struct osc_request *r, struct osc_str words,
                                              struct osc_err *err);
