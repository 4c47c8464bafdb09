/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - run in a child process what cannot be undone, such as limits and identities.
 *
 * A child exits with 0 on success, with a number that names the failed line, or with
 * CHILD_CANNOT if the machine does not allow the test.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

enum { CHILD_CANNOT = 77 };

/* Wait for PID and return its status. */
static inline int children_status(pid_t pid)
{
    int status = -1;

    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static inline void wait_for(pid_t pid)
{
    assert_int_equal(children_status(pid), 0);
}

static inline void expect(bool is_so, int code)
{
    if (!is_so)
        _exit(code);
}

/* Let a fault end this child. The handlers of cmocka would fail the test in the child, which
 * then ran the other tests, too, beside its parent. */
static inline void children_die_of_faults(void)
{
    static const int faults[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)signal(faults[i], SIG_DFL);
}

/* Call ACT in a child. */
static inline int in_child_status(void (*act)(void))
{
    const pid_t pid = fork();

    if (pid == 0) {
        children_die_of_faults();
        act();
        _exit(0);
    }
    return children_status(pid);
}

static inline void in_child(void (*act)(void))
{
    assert_int_equal(in_child_status(act), 0);
}

/* Call ACT in a child if the machine allows it; otherwise print that WHAT is not tested. */
static inline void in_child_if_allowed(void (*act)(void), const char *what)
{
    const int status = in_child_status(act);

    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_CANNOT)
        print_message("# not tested, this machine does not allow it: %s\n", what);
    else
        assert_int_equal(status, 0);
}
