/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - one question: checked, answered, and handed out.
 *
 *   init   what is wrong with a request without looking at a trace
 *   run    its rows; of a table that streams they come as they are handed out
 *   write  the rows as text; osc_frame_make() (frame.h) takes them as columns
 *
 * Threading: a question belongs to one thread; the traces are only read.
 */
#pragma once

#include "ask/chosen.h"
#include "ask/request.h"
#include "sql/where.h"

/* Zeroed, it is none; it points into itself: never copy it. */
struct osc_asked {
    const struct osc_table_def *def;
    const struct osc_renderer *form;
    bool takes_facts_as_they_are; /* nothing is derived for it */
    struct osc_request request;   /* borrows its texts */
    struct osc_options options;
    struct osc_selection selection;
    struct osc_strbuf operands; /* owned; what names all traces when it is typed */
    struct osc_where *where;    /* owned; or NULL */
    struct osc_row_filter filter;
    uint32_t more_facts; /* to be there for its traces, beside those of its table */
    struct osc_query query;
    const struct osc_str *sources; /* borrowed; the path of each trace or part of query */
    struct osc_answer answer;
};

/*
 * Check what R asks for in form FORM (NULL: as R says). OSC_EINVAL: something of it is wrong,
 * or means nothing. osc_asked_fini() in any case.
 */
OSC_MUST_USE osc_status osc_asked_init(struct osc_asked *k, const struct osc_request *r,
                                       const struct osc_renderer *form, struct osc_err *err);
void osc_asked_fini(struct osc_asked *k);

/* Whether the table chooses rows itself: it gets all of each trace. */
bool osc_asked_selects_late(const struct osc_asked *k);

/* What each trace is to have before its rows are made. */
uint32_t osc_asked_facts(const struct osc_asked *k);

/* Whom a question is put to, borrowed until it is freed. */
struct osc_asked_of {
    const struct osc_loaded *loaded;
    const struct osc_chosen *chosen; /* what the view of the question leaves; empty for parts */
    const char *const *paths;        /* that it was loaded from */
    size_t n_paths;
};

/* Ask OF. */
OSC_MUST_USE osc_status osc_asked_run(struct osc_asked *k, const struct osc_asked_of *of,
                                      struct osc_err *err);

/* The same, when the query of K has its traces or parts, and K their sources. */
OSC_MUST_USE osc_status osc_asked_answer(struct osc_asked *k, const struct osc_asked_of *of,
                                         struct osc_err *err);

/* Write the rows to where the text of K's request goes. OSC_ECANCELED, OSC_EIO: as it says. */
OSC_MUST_USE osc_status osc_asked_write(struct osc_asked *k, struct osc_err *err);
