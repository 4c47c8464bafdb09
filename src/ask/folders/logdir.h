/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logdir.h - the runs in a directory and below it.
 *
 *   a run   a directory that has traces itself (folder.h). Directories below it that are called
 *           after a rank are part of it: rank_3, rank-3, rank3, and 3 below attempt_0, as
 *           torchrun makes them. So is their parent a run that has only those
 *   name    its path from the root on; of the root its own name
 *   order   by name, byte by byte; the files of a run by rank of the directory, worker and
 *           number
 *
 * Directories are searched at any depth. Links are followed, but no directory is searched
 * twice, and no more than 10,000 are.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/folders/folder.h"

struct osc_log_run {
    char *name; /* owned */
    char *path; /* owned; naming it reads the run */
    uint32_t first_file, n_files;
};

/* Zeroed, there are none. */
struct osc_logdir {
    struct osc_log_run *runs; /* owned */
    size_t cap;
    uint32_t n_runs;
    struct osc_path_list files; /* of all runs, in their order */
    struct osc_left_out left;
};

/* Where to look. */
struct osc_log_root {
    const char *path;
    const char *label; /* it and "/" are put before the names of runs; NULL: nothing is */
    bool is_alone;     /* only the run in PATH itself, not those below it */
};

/*
 * Add the runs of ROOT to D, and lines about what is skipped to NOTES. OSC_EIO: ROOT cannot be
 * read. A directory below it that cannot be read is left out. The caller frees D in any case.
 */
OSC_MUST_USE osc_status osc_logdir_find(struct osc_logdir *d, const struct osc_log_root *root,
                                        struct osc_strbuf *notes, struct osc_err *err);
void osc_logdir_fini(struct osc_logdir *d);

/* Append the names of the first few runs of D, separated by commas, and how many more there
 * are. AS_PATHS: their paths instead. */
void osc_logdir_add_names(const struct osc_logdir *d, bool as_paths, struct osc_strbuf *out);
