/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_failure.h - why a recording could not be opened, reported to `opscope run`.
 *
 * The program's own output stays clean. `opscope run` receives the report through an
 * abstract socket that is named by the id of the run (OPSCOPE_RUN_ID), since it may be the
 * directory that cannot be written to. Without such a run only OPSCOPE_LOG=debug shows it.
 *
 * In the same way a recording reports that it is not where the run looks for it.
 *
 *   a message: i32 errno or cause, then the path of the file or directory that was to be (no
 *   zero behind it)
 *
 * Threading: thread-safe, and async-signal-safe. No function changes errno.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* A cause that is no errno: the process has another root directory than the one to which the
 * path belongs, as after chroot(). */
#define OSC_OPEN_FAILURE_ROOT 0x10000

/* No failure: the program named another file itself. */
#define OSC_OPEN_ELSEWHERE 0x10001

/* Store the errno or cause WHY of the last failure; 0: no failure. */
void osc_open_failure_store(int why);

/* What was stored last. */
int osc_open_failure_get(void);

/* Whether an `opscope run` receives reports of this process. */
bool osc_open_failure_is_heard(void);

/* Report that PATH could not be opened, with what is stored or, if that is 0, OTHERWISE. */
void osc_open_failure_report(const char *path, int otherwise);

/* Report that the program records into PATH, which it named itself. */
void osc_open_failure_tell_elsewhere(const char *path);

/* Write the address for the run RUN_ID to TO; returns its length, or 0 if the id is
 * invalid. */
socklen_t osc_open_failure_address(struct sockaddr_un *to, const char *run_id);
