/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_paths.h - where a recording is written: the path of its file, and its live directory.
 *
 *     a path is given:   run.osc; if that is in use, or for a child: run.PID.N.osc
 *     else:              DIR/HOST.PID.START.N.osc       START: seconds of the Unix epoch
 *     beside it:         run.osc.live/
 *
 * The live directory is created first; the process that creates it owns the name. Files of a
 * killed process at a given path are moved aside: see left_over.h.
 *
 * Threading: one thread at a time. Async-signal-safe and without allocations, except with a
 * given path in a process that is not a forked child.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/status.h"
#include "recording/host_fd.h"

struct osc_output_paths {
    char out[PATH_MAX];    /* absolute */
    char live[PATH_MAX];   /* absolute */
    struct osc_fd live_fd; /* the live directory's descriptor */
};

/* GIVEN: osc_start_options.out or NULL. DIR: where to record if GIVEN is NULL; NULL: the
 * current directory. */
OSC_MUST_USE osc_status osc_output_paths_open(struct osc_output_paths *place, const char *given,
                                              const char *dir, bool is_child);

/* Remove the live directory with the recorder's files, and close it. */
void osc_output_paths_remove(struct osc_output_paths *place);
