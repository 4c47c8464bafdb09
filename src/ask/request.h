/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what can be asked for, by names: one list of fields, and what they take.
 *
 * Command lines, keyword arguments of Python and whatever else speaks in words become a
 * struct osc_request by this list (osc_request_set(), opscope/trace.h), and what has no
 * meaning for a table is refused by it, rather than ignored: it shows that the user expects
 * something else.
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

/* Whether a field is called NAME; for all tables; for the text of its own that a table has;
 * for DEF. What is no field is for all tables. */
bool osc_request_has(const char *name);
bool osc_request_is_all(const char *name);
bool osc_request_is_own_text(const char *name);
bool osc_request_is_for(const char *name, const struct osc_table_def *def);

/* Append "a, b and c", the tables that field NAME is for. */
void osc_request_add_tables(struct osc_strbuf *out, const char *name);

/* Whether the values of R are some, whoever put them there. OSC_EINVAL: not so. */
OSC_MUST_USE osc_status osc_request_check(const struct osc_request *r, struct osc_err *err);

/*
 * Whether each of the fields that R has set means something for DEF, in the form FORM as
 * people call it, which is text for people or not. OSC_EINVAL: not so.
 */
OSC_MUST_USE osc_status osc_request_check_scope(const struct osc_request *r,
                                                const struct osc_table_def *def,
                                                const struct osc_renderer *form,
                                                struct osc_err *err);

/* The table NAME; NULL: averages. OSC_EINVAL: there is none, and which one was meant. */
OSC_MUST_USE osc_status osc_request_table(const char *name, const struct osc_table_def **def,
                                          struct osc_err *err);

/* The form NAME; NULL: text. OSC_EINVAL: there is none, and which one was meant. */
OSC_MUST_USE osc_status osc_request_form(const char *name, const struct osc_renderer **form,
                                         struct osc_err *err);

/* Put what R says into O, for DEF, which has the grouping. OSC_EINVAL: it has not. */
OSC_MUST_USE osc_status osc_request_options(const struct osc_request *r,
                                            const struct osc_table_def *def,
                                            struct osc_options *o, struct osc_err *err);

/* VIEW as derive/ wants it. It borrows the texts. */
struct osc_selection osc_request_selection(const struct osc_view *view);

/* "0,2-5" has VALUE; false also if LIST is none. NULL has all. */
bool osc_list_has(const char *list, int64_t value);

/* LIST, which is one or NULL, has nothing that ALL does not have. */
bool osc_list_within(const char *list, const char *all);

/* "10us", "1.5ms", "2s", "250": nanoseconds. False if it is none of that. */
bool osc_parse_time(const char *text, int64_t *ns);

/* "512M", "1.5GiB", "1000000": bytes. */
bool osc_parse_size(const char *text, uint64_t *bytes);

/* A whole number in decimal, within [LEAST, MOST]. */
bool osc_parse_whole(const char *text, int64_t least, int64_t most, int64_t *value);
