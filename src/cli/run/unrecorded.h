/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unrecorded.h - processes whose recording could not be opened, or is in a file that the
 * program named itself: recording/open_failure.h.
 *
 * All processes usually fail for the same reason: the first one is reported, the others are
 * counted. Their messages wait in the socket until the program has ended.
 *
 * Threading: one thread.
 */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

struct osc_unrecorded {
    int fd;     /* owned; -1: not listening */
    uint32_t n; /* number of processes that could not be recorded */
    int why;    /* the errno or cause of the first one; pid and path are its process and file */
    pid_t pid;
    char path[PATH_MAX];
    uint32_t n_elsewhere;     /* number of processes that recorded into other files */
    char elsewhere[PATH_MAX]; /* the first one */
};

/* Listen for processes of the run RUN_ID. If that fails, nothing will be reported. */
void osc_unrecorded_open(struct osc_unrecorded *u, const char *run_id);

/* Receive the messages, and stop listening. */
void osc_unrecorded_close(struct osc_unrecorded *u);

/* Report on standard error, in one line each; nothing if there are none. */
void osc_unrecorded_report(const struct osc_unrecorded *u);

/* A static text: what to do if a file could not be created because of the errno or cause WHY.
 */
const char *osc_unrecorded_way_out(int why);
