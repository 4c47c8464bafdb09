/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold_killed.h - move the records that an ended process left in its live directory to its
 * file.
 *
 * A process that ends by _exit(), exec() or a signal leaves NAME.osc.live behind, megabytes
 * for a few records. Every reader reads file and directory together. Here the records move to
 * NAME.osc, the file is ended, and the directory is removed.
 *
 *   - A live directory is locked (recorder/live/left_over.h) while its process, or a child
 *     that shares its files, is alive: it is not touched then.
 *   - A live directory without a recording, because the process ended before it had opened
 *     one, is removed.
 *   - Records made after the last window or dump become a separate part.
 *   - A damaged directory stays: readers can report more about it.
 *   - The file gets complete chunks at its end, with all records in one of them, and the
 *     directory is removed last: after any interruption both together are the recording.
 *   - Records of a warm-up, and of a flight recorder whose program ended well, are dropped.
 *   - The END chunk says that the process was killed, unless it is known to have ended well; of
 *     processes other than the program of the run, which ended well, that nothing is known.
 *
 * Threading: one thread; of several processes only one folds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct osc_sources;

/* The program of a run, and how it ended. */
struct osc_fold_killed_guest {
    pid_t pid;
    int64_t start_unix_ns; /* older processes with the same pid may have recorded too */
    bool has_ended_well;   /* it exited, with whatever status */
    char *const *argv;     /* borrowed */
    const struct osc_sources *sources;
};

/* Fold all live directories in DIRECTORY. Those that cannot be folded do not change. */
void osc_fold_killed_all(const char *directory, const struct osc_fold_killed_guest *guest);
