/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a file that is there whole or not at all.
 *
 * It is written without a name, or beside its place where that is not possible, and
 * gets its name when it is finished: whoever reads it meanwhile finds the old one,
 * and an error, a signal or a full disk leave nothing behind. A device, a pipe or
 * standard output is written as it comes.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

/* Zeroed, it is closed. */
struct osc_output {
    int fd;
    bool is_open;
    bool has_place; /* a name is still to be given */
    char *path;     /* owned; what to call it, links followed */
    char *part;     /* owned; its name meanwhile, or NULL: it has none */
};

/*
 * Open what shall become PATH; "-" is standard output. OSC_EXIT_DONE, or the status
 * to exit with, after a message.
 */
int osc_output_open(struct osc_output *o, const char *path);

/* Whether FILE ("-": standard input) is what O is about to replace or is written to. */
bool osc_output_is(const struct osc_output *o, const char *file);

/* Finish it: now it has its name. As osc_output_open(). Closed in any case. */
int osc_output_commit(struct osc_output *o);

/* Drop what was written, unless it was committed. O may be closed. */
void osc_output_abandon(struct osc_output *o);
