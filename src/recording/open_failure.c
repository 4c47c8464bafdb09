/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/open_failure.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recording/log.h"

#define PREFIX "opscope/"

static int noted;

void osc_open_failure_store(int why)
{
    /* relaxed: the thread that opens the recording reads what it stored itself. */
    __atomic_store_n(&noted, why, __ATOMIC_RELAXED);
}

int osc_open_failure_get(void)
{
    /* relaxed: as above */
    return __atomic_load_n(&noted, __ATOMIC_RELAXED);
}

socklen_t osc_open_failure_address(struct sockaddr_un *to, const char *run_id)
{
    const size_t prefix = sizeof PREFIX - 1, len = run_id ? strlen(run_id) : 0;

    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (len == 0 || len >= sizeof to->sun_path - prefix)
        return 0;
    /* The first byte stays 0: an abstract name, which is not in any directory. */
    memcpy(to->sun_path + 1, PREFIX, prefix);
    memcpy(to->sun_path + 1 + prefix, run_id, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + prefix + len);
}

/* Whether the listener may receive data of this user. */
static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* A socket that is connected to the run of this process; -1: there is none. */
static int connect_to_run(void)
{
    struct sockaddr_un address;
    const socklen_t len = osc_open_failure_address(&address, secure_getenv("OPSCOPE_RUN_ID"));
    const int fd =
        len > 0 ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&address, len) == 0 && is_trusted(fd))
        return fd;
    (void)close(fd);
    return -1;
}

bool osc_open_failure_is_heard(void)
{
    const int kept = errno, fd = connect_to_run();

    if (fd >= 0)
        (void)close(fd);
    errno = kept;
    return fd >= 0;
}

/* Send WHY and PATH to the run, if there is one. */
static void send_to_run(const char *path, int why)
{
    union {
        const void *in;
        void *out; /* made by the system; not written to */
    } text = {path};
    struct iovec iov[] = {{&why, sizeof why}, {text.out, strlen(path)}};
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = 2};
    const int fd = connect_to_run();

    if (fd >= 0) {
        const ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        (void)n;
        (void)close(fd);
    }
}

void osc_open_failure_report(const char *path, int otherwise)
{
    const int kept = errno;
    const int why = osc_open_failure_get() ? osc_open_failure_get() : otherwise;

    osc_log("%s: cannot record into it: error %d", path, why);
    send_to_run(path, why);
    errno = kept;
}

void osc_open_failure_tell_elsewhere(const char *path)
{
    const int kept = errno;

    send_to_run(path, OSC_OPEN_ELSEWHERE);
    errno = kept;
}
