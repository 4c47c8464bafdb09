/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - one question about loaded traces: from options to the rows of a table.
 *
 * What `opscope table` prints (show.h) and what programs get in columns (library.c) is
 * asked here, once.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_ASK_H
#define OSC_CLI_ASK_H

#include "cli/load.h"
#include "sql/where.h"

/*
 * What can be wrong with ARGS for DEF without looking at a trace; takes --group-by and
 * --where apart. The caller closes *WHERE (NULL at first), which ARGS borrow, in any case.
 * OSC_EXIT_DONE, or else what to exit with, after a message.
 */
int osc_ask_check(struct osc_args *args, const struct osc_table_def *def,
                  struct osc_where **where);

/* Load for DEF what ARGS, checked, name. As osc_load(). */
int osc_ask_load(struct osc_loaded *l, struct osc_args *args, const struct osc_table_def *def);

/* A question and its answer. Zeroed, it is none; it points into itself: never copy it. */
struct osc_asked {
    struct osc_options options;
    struct osc_strbuf operands; /* owned; what names all traces when it is typed */
    struct osc_query query;
    struct osc_answer answer;
};

/*
 * Ask L for DEF as ARGS say. The rows are there, or stream: osc_answer_rows() hands them
 * out. osc_asked_fini() in any case; L and ARGS are borrowed until then. OSC_EXIT_DONE, or
 * what to exit with, after a message.
 */
int osc_ask(struct osc_asked *k, struct osc_loaded *l, const struct osc_args *args,
            const struct osc_table_def *def);
void osc_asked_fini(struct osc_asked *k);

#endif
