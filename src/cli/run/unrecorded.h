/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unrecorded.h - processes whose recording could not be opened: recording/open_failure.h.
 *
 * They are many or none, for much the same reason; the first one is told, the others are
 * counted. What they sent waits in the socket until their program has ended.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_RUN_UNRECORDED_H
#define OSC_CLI_RUN_UNRECORDED_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

struct osc_unrecorded {
    int fd;     /* owned; -1: nobody can be heard */
    uint32_t n; /* as far as they were heard */
    int why;    /* errno of the first, its process and the file it wanted */
    pid_t pid;
    char path[PATH_MAX];
};

/* Listen for processes of the run RUN_ID. If that fails, nothing will be told. */
void osc_unrecorded_open(struct osc_unrecorded *u, const char *run_id);

/* Take what was sent, and stop listening. */
void osc_unrecorded_close(struct osc_unrecorded *u);

/* One line, if there are any. */
void osc_unrecorded_tell(const struct osc_unrecorded *u);

/* What to do about the errno WHY of a file that could not be made. Static. */
const char *osc_unrecorded_way_out(int why);

#endif
