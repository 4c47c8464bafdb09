/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - run a program as if we were not there.
 *
 *   - It finds descriptors, signal mask, dispositions, umask, priority, process group
 *     and terminal as we found them; of the environment only what was asked for differs.
 *   - A signal sent to us is sent on to it, with its value; those of the terminal reach
 *     it by themselves. When it stops, we stop; when we are continued, it is.
 *   - We end as it did: with its status, or by the same signal. So all signals stay blocked
 *     once it has ended: timeout(1) and Ctrl-C send a second one, which is not to end us
 *     before what it left is put in order.
 *
 * Threading: one thread; one guest at a time.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* A variable of the environment; without a value, it is taken away. */
struct osc_child_variable {
    const char *name, *value;
};

struct osc_child_end {
    pid_t pid;
    int exit_status;       /* if signal is 0 */
    int signal;            /* that ended it, or 0 */
    int64_t start_unix_ns; /* to the second, not later than it began */
    int exec_errno;        /* why it could not be started at all, or 0 */
};

/*
 * Run ARGV, found along PATH, with N more VARIABLES; back once it has ended, with all signals
 * blocked until osc_child_exit_as(). OSC_EIO if no process could be made, and no signal is
 * blocked; END says all else.
 */
OSC_MUST_USE osc_status osc_child_run(char *const *argv,
                                      const struct osc_child_variable *variables, uint32_t n,
                                      struct osc_child_end *end);

/* Does not come back: exit as END says, 127 or 126 if it was not started. */
_Noreturn void osc_child_exit_as(const struct osc_child_end *end);
