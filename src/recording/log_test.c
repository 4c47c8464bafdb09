/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/log.h"

#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Log a message of N bytes and read what stderr received. */
static size_t say(int n, char *out, size_t room)
{
    int ends[2];
    const int old = dup(STDERR_FILENO);

    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    errno = 7;
    osc_log("%0*d", n, 5);
    assert_int_equal(errno, 7);
    dup2(old, STDERR_FILENO);
    close(old);
    close(ends[1]);
    const ssize_t len = read(ends[0], out, room);
    close(ends[0]);
    return len > 0 ? (size_t)len : 0;
}

TEST(nothing_is_said_unless_asked)
{
    char out[1000];

    unsetenv("OPSCOPE_LOG");
    assert_int_equal(say(1, out, sizeof out), 0);
    setenv("OPSCOPE_LOG", "silent", 1);
    assert_int_equal(say(1, out, sizeof out), 0);
}

TEST(a_message_is_a_line)
{
    char out[1000], expected[100];

    setenv("OPSCOPE_LOG", "debug", 1);
    const int n = snprintf(expected, sizeof expected, "opscope[%d]: 0005\n", (int)getpid());
    assert_int_equal(say(4, out, sizeof out), n);
    assert_memory_equal(out, expected, (size_t)n);
    assert_int_equal(say(900, out, sizeof out), 500);
    assert_int_equal(out[499], '\n');
}

UNIT_MAIN("log")
