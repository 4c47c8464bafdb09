/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the traces in one directory.
 *
 *   WORKER[.NUMBER].pt.trace.json[.gz|.zst]  a log directory; if there are any, only they are
 *                                            read
 *   *.json, *.json.gz, *.json.zst, *.osc     otherwise these, JSON if its text begins like a
 *                                            trace
 *   NAME.osc.live/                           a recording that was not ended, unless it is
 *                                            read with the parts NAME[.PART].osc beside it
 *
 * Links are followed. Only regular files count; a link that leads nowhere counts as one, so
 * that reading it reports why. What is not read is told with its reason (left_out.h).
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/folders/left_out.h"

/* Paths, in an order that the content of the directory alone decides. Zeroed, it is empty. */
struct osc_path_list {
    char **all; /* owned, and so is each element */
    uint32_t n;
    size_t cap;
};

void osc_path_list_fini(struct osc_path_list *l);

/* Append "FOLDER/NAME", or NAME if FOLDER is NULL. */
OSC_MUST_USE osc_status osc_path_list_add(struct osc_path_list *l, const char *folder,
                                          const char *name);

/* Zeroed, it is an empty directory. */
struct osc_folder {
    struct osc_path_list files; /* the traces, by worker and number */
    struct osc_path_list below; /* other directories in it, sorted */
    bool is_run;                /* it has files of traces, though all may be empty */
    bool is_logdir;             /* they are called as in a log directory */
};

/*
 * Read the directory PATH into F. LEFT gets what is not read, and NOTES lines about copies.
 * OSC_EIO: the directory cannot be read.
 */
OSC_MUST_USE osc_status osc_folder_read(struct osc_folder *f, const char *path,
                                        struct osc_left_out *left, struct osc_strbuf *notes,
                                        struct osc_err *err);
void osc_folder_fini(struct osc_folder *f);

/* Whether PATH is called like a live directory: NAME.osc.live. */
bool osc_folder_is_live(const char *path);
