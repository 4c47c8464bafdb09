/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.h - a question that somebody else may ask, as one value.
 *
 * Advice shows the rows it rests on, a headline those it sums up, the screen what to ask next.
 * Each of them makes such a value; a person gets it as a command line, the page as JSON, and
 * nobody reads it back from either.
 *
 * The value is words, each ended by NUL: the command ("table=events", "info"), then its options
 * in the order in which people read them ("sort=dur_ns", "merge"; a name of one letter has one
 * dash on a command line). So it can be kept in a cell. Times are in nanoseconds.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "opscope/trace.h"

/* Begin the question Q, an empty buffer, of COMMAND, with its TABLE or NULL. */
void osc_question_begin(struct osc_strbuf *q, const char *command, const char *table);

/* Append the option NAME; VALUE is NULL for a switch. */
void osc_question_add(struct osc_strbuf *q, const char *name, const char *value);
void osc_question_add_str(struct osc_strbuf *q, const char *name, struct osc_str value);
void osc_question_add_number(struct osc_strbuf *q, const char *name, int64_t value);

/* Append what VIEW, or NULL, selects: of the traces, then which traces. UNIT, "ns" or "",
 * stands behind times. */
void osc_question_add_view(struct osc_strbuf *q, const struct osc_view *view, const char *unit);

/* A word of a question. */
struct osc_question_word {
    struct osc_str name, value;
    bool has_value;
};

/* Take the first word off Q. False: it has none. */
bool osc_question_next(struct osc_str *q, struct osc_question_word *word);

/* The value of NAME in Q; empty: it has none. */
struct osc_str osc_question_get(struct osc_str q, const char *name);

/* Append Q as a command line for a shell, without operands. */
void osc_question_print(struct osc_strbuf *out, struct osc_str q);

/* Append OPTIONS, words without a command, the same way: each behind a blank. */
void osc_question_print_options(struct osc_strbuf *out, struct osc_str options);

/* Append OPTIONS, words without a command, as {NAME: VALUE...}; the value of a switch is true.
 */
void osc_question_json_options(struct osc_strbuf *out, struct osc_str options);

/*
 * Append Q as {"table": NAME, "options": {...}}; null: it is not about a table.
 */
void osc_question_json(struct osc_strbuf *out, struct osc_str q);
