/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/control_socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS_MAX = 8, PATIENCE_US = 100000 }; /* clients per call, and time limit for each */

osc_status osc_control_open(struct osc_control *control, int dir_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *control = (struct osc_control){{0}, {0}};
    if (!osc_fd_take(&control->directory, fcntl(dir_fd, F_DUPFD_CLOEXEC, 0)) ||
        !osc_fd_take(&control->listener,
                     socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))) {
        osc_control_close(control, false);
        return OSC_EIO;
    }
    const int dir = osc_fd_get(&control->directory), fd = osc_fd_get(&control->listener);

    /* The directory's path may be longer than an address allows; this one never is. */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dir,
             OSC_CONTROL_SOCKET);
    unlinkat(dir, OSC_CONTROL_SOCKET, 0);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        fchmodat(dir, OSC_CONTROL_SOCKET, S_IRUSR | S_IWUSR, 0) != 0 ||
        listen(fd, CLIENTS_MAX) != 0) {
        osc_control_close(control, true);
        return OSC_EIO;
    }
    return OSC_OK;
}

static bool may_ask(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* A line without its newline; false if none came. */
static bool read_line(int fd, char line[OSC_CONTROL_ASK_MAX])
{
    size_t len = 0;

    while (len < OSC_CONTROL_ASK_MAX) {
        const ssize_t n = recv(fd, line + len, OSC_CONTROL_ASK_MAX - len, 0);
        if (n <= 0)
            return false;
        char *end = memchr(line + len, '\n', (size_t)n);
        if (end) {
            *end = '\0';
            return true;
        }
        len += (size_t)n;
    }
    return false;
}

static void serve_one(int fd, osc_control_answer *answer, void *ctx)
{
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    char line[OSC_CONTROL_ASK_MAX], out[OSC_CONTROL_LINE_MAX];
    size_t len, sent = 0;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        !may_ask(fd) || !read_line(fd, line))
        return;
    len = answer(ctx, line, out, sizeof out - 1);
    out[len++] = '\n';
    while (sent < len) {
        const ssize_t n = send(fd, out + sent, len - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

void osc_control_serve(struct osc_control *control, osc_control_answer *answer, void *ctx)
{
    const int listener = osc_fd_get(&control->listener);

    for (int i = 0; listener >= 0 && i < CLIENTS_MAX; i++) {
        struct osc_fd client;

        if (!osc_fd_take(&client, accept4(listener, NULL, NULL, SOCK_CLOEXEC)))
            return;
        serve_one(osc_fd_get(&client), answer, ctx);
        osc_fd_close(&client);
    }
}

void osc_control_close(struct osc_control *control, bool is_ours)
{
    const int dir = osc_fd_get(&control->directory);

    if (is_ours && dir >= 0)
        unlinkat(dir, OSC_CONTROL_SOCKET, 0);
    osc_fd_close(&control->listener);
    osc_fd_close(&control->directory);
}

void osc_control_add(char *out, size_t room, size_t *len, const char *key, const char *value)
{
    const size_t key_len = strlen(key);
    size_t at = *len;

    if (room - at < key_len + 2)
        return;
    out[at++] = ' ';
    for (size_t i = 0; i < key_len; i++)
        out[at++] = key[i];
    out[at++] = '=';
    for (const unsigned char *s = (const unsigned char *)value; *s; s++) {
        static const char hex[] = "0123456789abcdef";

        if (room - at < 3)
            return; /* a word that does not fit is left out */
        if (*s > ' ' && *s < 0x7f && *s != '%') {
            out[at++] = (char)*s;
            continue;
        }
        out[at++] = '%';
        out[at++] = hex[*s >> 4];
        out[at++] = hex[*s & 15];
    }
    *len = at;
}

void osc_control_add_number(char *out, size_t room, size_t *len, const char *key, int64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%lld", (long long)value);
    osc_control_add(out, room, len, key, digits);
}
