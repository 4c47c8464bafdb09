/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - one question: check it, answer it, write the answer.
 *
 *   init   find the errors of a request that show without a trace
 *   run    make the rows; a table that streams makes them only while they are written
 *   write  write the rows as text; osc_frame_make() (frame.h) makes columns of them
 *
 * Threading: a question belongs to one thread; the traces are only read.
 */
#pragma once

#include "ask/chosen.h"
#include "ask/request.h"
#include "sql/where.h"

/* Zeroed, it is no question. It points into itself: never copy it. */
struct osc_asked {
    const struct osc_table_def *def;
    const struct osc_renderer *form;
    bool takes_facts_as_they_are; /* no fact is derived for it */
    struct osc_request request;   /* borrows its texts */
    struct osc_options options;
    struct osc_selection selection;
    struct osc_strbuf operands; /* owned; the words that name all files on a command line */
    const char
        *stands_for; /* borrowed; names them instead, where no path may be told; or NULL */
    struct osc_where *where; /* owned; or NULL */
    struct osc_row_filter filter;
    uint32_t more_facts; /* facts that it needs of its traces besides those of its table */
    struct osc_query query;
    struct osc_str *sources; /* owned array of borrowed texts: one path for each part */
    struct osc_answer answer;
};

/*
 * Check the request R for the form FORM (NULL: the form that R names). OSC_EINVAL: a value of R
 * is wrong or does not apply to its table. Call osc_asked_fini() in any case.
 */
OSC_MUST_USE osc_status osc_asked_init(struct osc_asked *k, const struct osc_request *r,
                                       const struct osc_renderer *form, struct osc_err *err);

/* The same about the table DEF, whatever R names: it may be a digest, or compare two runs. */
OSC_MUST_USE osc_status osc_asked_init_table(struct osc_asked *k,
                                             const struct osc_table_def *def,
                                             const struct osc_request *r,
                                             const struct osc_renderer *form,
                                             struct osc_err *err);
void osc_asked_fini(struct osc_asked *k);

/* Whether the table selects rows itself and so needs each whole trace. */
bool osc_asked_selects_late(const struct osc_asked *k);

/* The facts that each trace must have before its rows are made. */
uint32_t osc_asked_facts(const struct osc_asked *k);

/* The traces that a question is about; borrowed until the question is freed. */
struct osc_asked_of {
    const struct osc_loaded *loaded;
    const char *const *paths; /* from which loaded was read */
    size_t n_paths;
    const struct osc_partial *const *parts; /* of the traces that its view selects */
    uint32_t n_parts;
};

/* Set the options of K that name the files of its traces OF. OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_asked_name(struct osc_asked *k, const struct osc_asked_of *of);

/* Make the rows of K from the parts of OF, or finish those that its query has. */
OSC_MUST_USE osc_status osc_asked_answer(struct osc_asked *k, const struct osc_asked_of *of,
                                         struct osc_err *err);

/* Write the rows through the layout of K's request. Its callback may return OSC_ECANCELED or
 * OSC_EIO, which this function then returns. */
OSC_MUST_USE osc_status osc_asked_write(struct osc_asked *k, struct osc_err *err);
