/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - run a program transparently.
 *
 *   - The program inherits opscope's descriptors, signal mask, dispositions, umask, priority,
 *     process group and terminal; of the environment only the given variables differ.
 *   - A signal sent to opscope is forwarded with its value; signals of the terminal reach the
 *     program directly. When job control stops it, as the suspend key of the terminal does,
 *     opscope stops; when opscope is continued, so is it. When only the program is stopped,
 *     opscope waits until it goes on.
 *   - opscope ends as the program did: with its status, or by the same signal. All signals
 *     stay blocked after it has ended: timeout(1) and Ctrl-C send a second one, which must
 *     not end opscope before it has tidied up.
 *
 * Threading: one thread; one program at a time.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* A variable of the environment; it is removed if it has no value. */
struct osc_child_variable {
    const char *name, *value;
};

struct osc_child_end {
    pid_t pid;
    int exit_status;       /* if signal is 0 */
    int signal;            /* that ended it, or 0 */
    int64_t start_unix_ns; /* in whole seconds, not later than the real start */
    int exec_errno;        /* why it could not be started, or 0 */
};

/*
 * Run ARGV, found along PATH, with N more VARIABLES. Returns when it has ended, with all
 * signals blocked until osc_child_exit_as(). OSC_EIO: no process could be created; no signal
 * is blocked then. END describes everything else.
 */
OSC_MUST_USE osc_status osc_child_run(char *const *argv,
                                      const struct osc_child_variable *variables, uint32_t n,
                                      struct osc_child_end *end);

/* Exit as END describes; 127 or 126 if the program was not started. Does not return. */
_Noreturn void osc_child_exit_as(const struct osc_child_end *end);
