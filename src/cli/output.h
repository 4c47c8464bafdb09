/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - an output file that appears complete or not at all.
 *
 * It is written without a name, or under a temporary name if that is not possible, and gets
 * its name when it is finished: until then readers find the old file, and an error, a signal
 * or a full disk leave nothing behind. A device, a pipe or standard output is written
 * directly.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

/* Zeroed, it is closed. */
struct osc_output {
    int fd;
    bool is_open;
    bool has_place;  /* it still has to get its name */
    bool is_another; /* it takes the place of a file, whose mode it has */
    char *path;      /* owned; its final name, with links resolved */
    char *part;      /* owned; its temporary name, or NULL: it has no name */
};

/*
 * Open a file that will become PATH; "-" is standard output. OSC_EXIT_DONE, or another exit
 * code after a message.
 */
int osc_output_open(struct osc_output *o, const char *path);

/* Whether O writes to FILE ("-": standard input) or will replace it. */
bool osc_output_is(const struct osc_output *o, const char *file);

/* Let nobody read or write O who cannot read or write FILE, a file or directory from which it
 * is made ("-": anything; a pipe says nothing). What takes the place of a file keeps its mode.
 */
void osc_output_keep_private(const struct osc_output *o, const char *file);

/* The same for all N FILES. */
void osc_output_keep_all_private(const struct osc_output *o, const char *const *files, int n);

/* Give the file its name. Returns as osc_output_open(). O is closed in any case. */
int osc_output_commit(struct osc_output *o);

/* Discard what was written, unless it was committed. O may be closed. */
void osc_output_abandon(struct osc_output *o);

/*
 * From now on a signal that ends the process removes FILE, then its directory FOLDER; NULL:
 * neither. The names are absolute, borrowed, and not changed until the next call.
 */
void osc_output_guard_scratch(const char *file, const char *folder);

/* The same for the directory TREE with all that is in it. */
void osc_output_guard_tree(const char *tree);
