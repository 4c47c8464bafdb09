/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/host_fd.h"

#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(the_number_is_out_of_the_way)
{
    struct osc_fd f;

    const int low = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(osc_fd_take(&f, low));
    assert_in_range(osc_fd_get(&f), 100, 1 << 20);
    assert_int_equal(fcntl(osc_fd_get(&f), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    const int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(again, low);
    close(again);
    osc_fd_close(&f);
    assert_int_equal(osc_fd_get(&f), -1);
    osc_fd_close(&f);
}

TEST(a_number_that_is_the_hosts_now_is_left_alone)
{
    struct osc_fd f;

    assert_true(osc_fd_take(&f, open("/dev/null", O_RDONLY | O_CLOEXEC)));
    const int fd = osc_fd_get(&f);
    const int other = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(other, fd), fd);
    errno = 5;
    assert_int_equal(osc_fd_get(&f), -1);
    osc_fd_close(&f);
    assert_int_equal(errno, 5);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    close(other);
}

TEST(what_the_host_closed_is_opened_again_if_it_is_there)
{
    char path[] = "/tmp/opscope-fd-XXXXXX";
    struct osc_fd f;

    assert_true(osc_fd_take(&f, mkstemp(path)));
    const int fd = osc_fd_get(&f);
    assert_int_equal(osc_fd_reopen(&f, "/dev/null", O_RDONLY), fd);
    close(fd);
    errno = 5;
    assert_int_equal(osc_fd_reopen(&f, "/dev/null", O_RDONLY), -1);
    assert_true(osc_fd_reopen(&f, path, O_RDONLY) >= 0);
    close(osc_fd_get(&f));
    unlink(path);
    assert_int_equal(osc_fd_reopen(&f, path, O_RDONLY), -1);
    assert_int_equal(errno, 5);
    osc_fd_close(&f);
    assert_int_equal(osc_fd_reopen(&f, "/dev/null", O_RDONLY), -1);
}

TEST(a_low_limit_leaves_some_number)
{
    struct rlimit old, low;
    struct osc_fd f;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){16, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_true(osc_fd_take(&f, open("/dev/null", O_RDONLY | O_CLOEXEC)));
    assert_in_range(osc_fd_get(&f), 0, 15);
    osc_fd_close(&f);
    assert_false(osc_fd_take(&f, -1));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

UNIT_MAIN("host_fd")
