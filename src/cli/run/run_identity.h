/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_identity.h - where an `opscope run` records, and its id, for those who know only its
 * process.
 *
 * It is a file in memory that the process holds open and does not pass on to its program. It
 * ends with the process, and only root and the user that runs it can open it, through
 * /proc/PID/fd.
 *
 *   content: id of the run, a zero, absolute path of the directory, a zero
 *
 * Threading: one thread.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "wire/live.h"

struct osc_run_identity {
    char run_id[OSC_LIVE_RUN_ID_BYTES];
    char directory[PATH_MAX];
};

/* Show that this process records the run RUN_ID into DIRECTORY, until it ends. If that fails,
 * nobody can see it. */
void osc_run_identity_show(const char *run_id, const char *directory);

/* Read the identity of process PID, a number as text; false: it has none, or is of another
 * user. */
bool osc_run_identity_read(struct osc_run_identity *identity, const char *pid);
