/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold_killed.h - what a process that is gone left in its live directory, into its file.
 *
 * Who ends by _exit(), exec() or a signal leaves NAME.osc.live behind, megabytes of it for
 * a few records. Every reader takes both together; here the records move to NAME.osc, the
 * file is ended, and the directory goes.
 *
 *   - A live directory whose process, or a child that shares its files, still is there
 *     holds a lock (recorder/live/left_over.h): it is not touched.
 *   - What a process left that was gone before it had opened its recording is removed.
 *   - What a process recorded after the last window or dump becomes a part of its own.
 *   - What is damaged stays as well: readers have more to say about it.
 *   - The file gets whole chunks at its end, all records in one of them, and the directory
 *     goes last: whenever this is interrupted, both together are the recording.
 *   - Of warm-up, and of a flight recorder whose program ended well, nothing is written.
 *   - The end says that the process was killed, unless it is known to have ended well.
 *
 * Threading: one thread; of several processes one folds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct osc_sources;

/* The program of a run, and how it ended. */
struct osc_fold_killed_guest {
    pid_t pid;
    int64_t start_unix_ns; /* other processes of this number recorded before */
    bool has_ended_well;   /* by itself, whatever its status */
    char *const *argv;     /* borrowed */
    const struct osc_sources *sources;
};

/* Fold what lies in DIRECTORY. What cannot be folded stays as it is. */
void osc_fold_killed_all(const char *directory, const struct osc_fold_killed_guest *guest);
