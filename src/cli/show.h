/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - traces that a command line names, and their tables on standard output.
 *
 * All of these return the status to exit with, after a message if it is not
 * OSC_EXIT_DONE.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/set.h"
#include "cli/options.h"

/*
 * Open what ARGS name, with a line on the terminal while it lasts; paths, how and view of O
 * are filled in. The caller releases *SET, which is NULL after a failure.
 */
int osc_show_open(struct osc_set **set, const struct osc_args *args, struct osc_load *o);

/* The same, to ask the N questions at ASKED, which are checked: osc_set_load_to_ask(). */
int osc_show_open_to_ask(struct osc_set **set, const struct osc_args *args, struct osc_load *o,
                         struct osc_asked *const *asked, size_t n);

/* What a question is asked with: the options of ARGS, and the terminal. */
struct osc_request osc_show_request(const struct osc_args *args);

/* Ask SET what K, checked, asks for, and print the rows. */
int osc_show_table(struct osc_set *set, struct osc_asked *k);

/* Tell of failure ST while a table of SET was made, whose sentence is in ERR. */
int osc_show_fail(const struct osc_loaded *l, osc_status st, const char *doing,
                  struct osc_err *err);

/*
 * One line on standard error: how good what the text table just shown rests on is,
 * which is what reading and the facts it asked for have found. K is the question for that,
 * behind all others.
 */
int osc_show_prepare_quality(struct osc_asked *k);
int osc_show_quality(struct osc_set *set, struct osc_asked *k);

/* Write the terminated TEXT to standard output. */
int osc_show_text(const char *text);
