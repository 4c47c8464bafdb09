/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - open the traces that a command line names, and print their tables.
 *
 * All of these functions return the exit status; if it is not OSC_EXIT_DONE, a message has been
 * printed.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/evaluate.h"
#include "cli/command_options.h"
#include "cli/progress.h"

/* The file that is being read, if any, and the function for struct osc_how that shows it. */
struct osc_show_reading {
    struct osc_progress progress;
    bool is_on;
};
int osc_show_progress(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes);

/*
 * Open the traces of ARGS, with a progress line on the terminal; sets paths, how and view of O.
 * The caller releases *SET, which is NULL after a failure.
 */
int osc_show_open(struct osc_set **set, const struct osc_args *args, struct osc_load *o);

/* The same, to ask the N questions at ASKED, which were checked: see osc_set_load_to_ask(). If
 * O has joined parts, they are opened instead, for the view of O. */
int osc_show_open_to_ask(struct osc_set **set, const struct osc_args *args, struct osc_load *o,
                         struct osc_asked *const *asked, size_t n);

/* The request for a question, made from the options of ARGS and the properties of the
 * terminal. */
struct osc_request osc_show_request(const struct osc_args *args);

/* Ask SET the question K, which was checked, and print the rows. */
int osc_show_table(struct osc_set *set, struct osc_asked *k);

/* Report the failure ST of making a table of the traces L; ERR has the message. */
int osc_show_fail(const struct osc_loaded *l, osc_status st, const char *doing,
                  struct osc_err *err);

/*
 * Print one line on standard error about the quality of the data behind the text table just
 * shown: the findings of table `quality` with IS_WHOLE, as on the screen, else those of reading
 * and of the facts that are there. K is the question for them, to be asked after all others.
 */
int osc_show_prepare_quality(struct osc_asked *k, bool is_whole);
int osc_show_quality(struct osc_set *set, struct osc_asked *k);

/* Whether a line about the quality of the traces follows the answer to K. */
bool osc_show_says_quality(const struct osc_asked *k);

/*
 * Ask K, which was checked and is freed, of what O and ARGS say (osc_show_open_to_ask()). TO
 * takes the answer; if it is NULL, the table is printed, and behind text the line about its
 * quality. *HAS_FAILED: a file of a directory could not be read.
 */
int osc_show_answer(const struct osc_args *args, struct osc_load *o, struct osc_asked *k,
                    const struct osc_sink *to, bool *has_failed);

/* Write the terminated TEXT to standard output. */
int osc_show_text(const char *text);
