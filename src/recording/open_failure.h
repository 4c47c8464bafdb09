/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_failure.h - why a recording could not be opened, and telling `opscope run`.
 *
 * The program is not told: it comes first, and its output is its own. `opscope run` is,
 * through an abstract socket that bears the id of the run (OPSCOPE_RUN_ID): the directory
 * may be the very thing that cannot be written to. Without such a run nobody is there, and
 * only OPSCOPE_LOG=debug shows it.
 *
 *   a message: i32 errno, then the path of the file that was to be (no zero behind it)
 *
 * Threading: thread-safe, and async-signal-safe. No function changes errno.
 */
#ifndef OSC_RECORDING_OPEN_FAILURE_H
#define OSC_RECORDING_OPEN_FAILURE_H

#include <sys/socket.h>
#include <sys/un.h>

/* Remember the errno WHY of what failed just now; 0: nothing has. */
void osc_open_failure_note(int why);

/* What was noted last. */
int osc_open_failure_noted(void);

/* Tell that PATH could not be opened, as noted, or for OTHERWISE if nothing was. */
void osc_open_failure_tell(const char *path, int otherwise);

/* The address of the run RUN_ID to TO; its length, 0 if that is no id. */
socklen_t osc_open_failure_address(struct sockaddr_un *to, const char *run_id);

#endif
