/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_paths.h - where a recording goes: the path of its file, and its live directory.
 *
 *     as told:        run.osc            taken, or of a child: run.PID.N.osc
 *     else:           DIR/HOST.PID.START.N.osc       START: seconds of the Unix epoch
 *     beside it:      run.osc.live/
 *
 * The live directory is made first, and whoever makes it owns the name. What a process
 * that is gone left behind at a name as told is moved aside: see left_over.h.
 *
 * Threading: one thread at a time. Async-signal-safe, and without allocations, but for a
 * name as told that is not a child's.
 */
#ifndef OSC_RECORDER_LIVE_OUTPUT_PATHS_H
#define OSC_RECORDER_LIVE_OUTPUT_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "base/status.h"
#include "recording/host_fd.h"

struct osc_output_paths {
    char out[PATH_MAX];    /* absolute */
    char live[PATH_MAX];   /* absolute */
    struct osc_fd live_fd; /* the live directory's descriptor */
};

/* TOLD: osc_start_options.out or NULL; DIR: where to put it if not told, NULL: here. */
OSC_MUST_USE osc_status osc_output_paths_open(struct osc_output_paths *place, const char *told,
                                              const char *dir, bool is_child);

/* Remove the live directory with what the recorder put there, and close. */
void osc_output_paths_remove(struct osc_output_paths *place);

#endif
