/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/open_failure.h"

#include "support/unit.h"

#include <errno.h>
#include <unistd.h>

static char run_id[32];

/* A socket at which the run waits. */
static int listen_as_run(void)
{
    struct sockaddr_un address;
    const socklen_t len = osc_open_failure_address(&address, run_id);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(len > 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

/* The errno that came, and the path to PATH; -1: nothing came. */
static int take(int listener, char path[64])
{
    char message[64] = "";
    int why = -1;
    const int fd = accept(listener, NULL, NULL);

    if (fd < 0)
        return -1;
    assert_true(recv(fd, message, sizeof message - 1, 0) > (ssize_t)sizeof why);
    memcpy(&why, message, sizeof why);
    (void)snprintf(path, 64, "%s", message + sizeof why);
    (void)close(fd);
    return why;
}

TEST(the_run_is_told_the_file_and_why)
{
    const int fd = listen_as_run();
    char path[64];

    assert_int_equal(take(fd, path), -1);
    errno = EDOM;
    osc_open_failure_store(ENOSPC);
    osc_open_failure_report("/full/a.osc", EIO);
    osc_open_failure_store(0);
    osc_open_failure_report("/full/b.osc", EIO);
    assert_int_equal(errno, EDOM);
    assert_int_equal(take(fd, path), ENOSPC);
    assert_string_equal(path, "/full/a.osc");
    assert_int_equal(take(fd, path), EIO);
    assert_string_equal(path, "/full/b.osc");
    (void)close(fd);
}

TEST(a_run_that_listens_is_heard_of_and_told_nothing)
{
    char path[64];

    errno = EDOM;
    assert_false(osc_open_failure_is_heard());
    const int fd = listen_as_run();

    assert_true(osc_open_failure_is_heard());
    assert_int_equal(errno, EDOM);
    osc_open_failure_store(OSC_OPEN_FAILURE_ROOT);
    osc_open_failure_report("/a", EIO);
    const int nothing = accept(fd, NULL, NULL);
    char byte;

    assert_int_equal(recv(nothing, &byte, 1, 0), 0);
    (void)close(nothing);
    assert_int_equal(take(fd, path), OSC_OPEN_FAILURE_ROOT);
    assert_string_equal(path, "/a");
    osc_open_failure_store(0);
    (void)close(fd);
}

TEST(without_a_run_nobody_is_told)
{
    errno = EDOM;
    osc_open_failure_report("/a.osc", EIO);
    unsetenv("OPSCOPE_RUN_ID");
    osc_open_failure_report("/a.osc", EIO);
    setenv("OPSCOPE_RUN_ID", run_id, 1);
    assert_int_equal(errno, EDOM);
}

TEST(what_is_too_long_is_no_id)
{
    struct sockaddr_un address;
    char id[200];

    memset(id, 'x', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    assert_int_equal(osc_open_failure_address(&address, id), 0);
    assert_int_equal(osc_open_failure_address(&address, ""), 0);
    assert_int_equal(osc_open_failure_address(&address, NULL), 0);
}

int main(void)
{
    (void)snprintf(run_id, sizeof run_id, "test-%d", (int)getpid());
    setenv("OPSCOPE_RUN_ID", run_id, 1);
    return unit_run("trouble", NULL, NULL);
}
