/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/control_socket.h"

#include "support/unit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[200], path[256];
static int dir_fd;
static struct osc_control control;

static int set_up(void **state)
{
    (void)state;
    /* Longer than the path to a socket may be. */
    snprintf(folder, sizeof folder, "/tmp/opscope-control-%0*d-XXXXXX", 120, 0);
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/%s", folder, OSC_CONTROL_SOCKET);
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return osc_control_open(&control, dir_fd) != OSC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    osc_control_close(&control, true);
    close(dir_fd);
    return rmdir(folder);
}

static size_t answer(void *ctx, const char *command, char *out, size_t room)
{
    return (size_t)snprintf(out, room, "ok %s=%s", (const char *)ctx, command);
}

/* A client's connection. */
static int connect_to(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dir_fd,
             OSC_CONTROL_SOCKET);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Send the LEN bytes at S, and read the answer into LINE. */
static size_t ask(const char *s, size_t len, char *line, size_t room)
{
    const int fd = connect_to();
    ssize_t n;

    assert_int_equal(send(fd, s, len, MSG_NOSIGNAL), len);
    osc_control_serve(&control, answer, path);
    n = recv(fd, line, room - 1, 0);
    close(fd);
    line[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

TEST_WITH(a_line_gets_a_line, set_up, tear_down)
{
    char line[600], expected[300];
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    osc_control_serve(&control, answer, path); /* no client is waiting */
    ask("status\n", 7, line, sizeof line);
    snprintf(expected, sizeof expected, "ok %s=status\n", path);
    assert_string_equal(line, expected);
}

TEST_WITH(who_sends_no_line_gets_no_answer, set_up, tear_down)
{
    char line[600], longest[4096];

    memset(longest, 'x', sizeof longest);
    assert_int_equal(ask(longest, sizeof longest, line, sizeof line), 0);
    assert_int_equal(ask("status", 6, line, sizeof line), 0);
    assert_int_equal(ask("", 0, line, sizeof line), 0);
    close(connect_to());
    osc_control_serve(&control, answer, path);
    assert_int_not_equal(ask("status\n", 7, line, sizeof line), 0);
}

TEST_WITH(words_are_written_so_that_blanks_divide_them, set_up, tear_down)
{
    char out[64];
    size_t len = 2;

    memcpy(out, "ok", 2);
    osc_control_add(out, sizeof out, &len, "path", "/a b%\x7f\xc3");
    osc_control_add_number(out, sizeof out, &len, "step", -1);
    out[len] = '\0';
    assert_string_equal(out, "ok path=/a%20b%25%7f%c3 step=-1");
    /* A word that does not fit is left out. */
    const size_t before = len;
    osc_control_add(out, sizeof out, &len, "long",
                    "0123456789012345678901234567890123456789012345678901234567890123");
    assert_int_equal(len, before);
}

TEST_WITH(closing_removes_the_socket_only_if_it_is_ours, set_up, tear_down)
{
    struct stat st;

    osc_control_close(&control, false);
    assert_int_equal(lstat(path, &st), 0);
    osc_control_serve(&control, answer, path);
    assert_int_equal(osc_control_open(&control, dir_fd), OSC_OK); /* replaces the old socket */
    osc_control_close(&control, true);
    assert_int_equal(lstat(path, &st), -1);
    assert_int_equal(osc_control_open(&control, -1), OSC_EIO);
}

UNIT_MAIN("control_socket")
