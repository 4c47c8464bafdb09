/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_paths.h - where a recording goes: the path of its file, and its live directory.
 *
 *     a path is given:   run.osc; if that is in use, or for a child: run.PID.N.osc
 *     else:              DIR/HOST.PID.START.N.osc       START: seconds of the Unix epoch
 *     beside it:         run.osc.live/
 *
 * The live directory is made first; the process that makes it owns the name. What a killed
 * process left at a given path is moved aside: see left_over.h.
 *
 * Threading: one thread at a time. Async-signal-safe and without allocations, except for a
 * given path outside of children.
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

/* GIVEN: osc_start_options.out or NULL. DIR: where to record if GIVEN is NULL; NULL: here. */
OSC_MUST_USE osc_status osc_output_paths_open(struct osc_output_paths *place, const char *given,
                                              const char *dir, bool is_child);

/* Remove the live directory with what the recorder put there, and close. */
void osc_output_paths_remove(struct osc_output_paths *place);
