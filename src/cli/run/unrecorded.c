/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/unrecorded.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "recording/open_failure.h"

enum { WAITING_MAX = 1024 }; /* the system may allow fewer */

void osc_unrecorded_open(struct osc_unrecorded *u, const char *run_id)
{
    struct sockaddr_un address;
    const socklen_t len = osc_open_failure_address(&address, run_id);

    *u = (struct osc_unrecorded){.fd = -1};
    if (len > 0)
        u->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (u->fd >= 0 && (bind(u->fd, (const struct sockaddr *)&address, len) != 0 ||
                       listen(u->fd, WAITING_MAX) != 0)) {
        close(u->fd);
        u->fd = -1;
    }
}

/* Receive a message through FD; ignore it if it is not from a process of this user. */
static void receive(struct osc_unrecorded *u, int fd)
{
    char path[PATH_MAX] = "";
    int why = 0;
    struct iovec iov[] = {{&why, sizeof why}, {path, sizeof path - 1}};
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = 2};
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
        (peer.uid != geteuid() && geteuid() != 0) ||
        recvmsg(fd, &message, MSG_DONTWAIT) < (ssize_t)sizeof why)
        return;
    if (why == OSC_OPEN_ELSEWHERE) {
        if (u->n_elsewhere++ == 0)
            memcpy(u->elsewhere, path, sizeof u->elsewhere);
        return;
    }
    if (u->n++ > 0)
        return;
    u->why = why;
    u->pid = peer.pid;
    memcpy(u->path, path, sizeof u->path);
}

void osc_unrecorded_close(struct osc_unrecorded *u)
{
    if (u->fd < 0)
        return;
    for (int fd; (fd = accept4(u->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        receive(u, fd);
        close(fd);
    }
    close(u->fd);
    u->fd = -1;
}

const char *osc_unrecorded_way_out(int why)
{
    switch (why) {
    case ENOSPC:
    case EDQUOT:
        return "make room there, or name another directory with -o";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f)";
    case ENOMEM:
        return "raise the limit on memory (ulimit -v)";
    case EAGAIN:
        return "raise the limit on processes and threads (ulimit -u)";
    case EMFILE:
        return "raise the limit on open files (ulimit -n)";
    case EPERM:
        return "a filter of system calls must allow those of opscope_record(3); otherwise name "
               "another directory with -o";
    case ENOENT:
        return "it was removed, or the process has another root directory (chroot, container)";
    case OSC_OPEN_FAILURE_ROOT:
        return "to record it, start opscope run below that directory";
    default:
        return "name another directory with -o";
    }
}

static const char *text_of(int why)
{
    return why == OSC_OPEN_FAILURE_ROOT ? "it has another root directory (chroot)"
                                        : strerror(why);
}

void osc_unrecorded_report(const struct osc_unrecorded *u)
{
    char others[64] = "";

    if (u->n_elsewhere > 1)
        snprintf(others, sizeof others, " and %u more", u->n_elsewhere - 1);
    if (u->n_elsewhere > 0)
        osc_cli_error(
            "the program named a file of its own, and its recording is %s%s; if it calls "
            "osc_start() or opscope.record.start() without one, the run has it",
            u->elsewhere, others);
    if (u->n == 0)
        return;
    others[0] = '\0';
    if (u->n > 1)
        snprintf(others, sizeof others, ", nor %u more", u->n - 1);
    osc_cli_error("%s: process %d could not be recorded%s: %s; %s", u->path, (int)u->pid,
                  others, text_of(u->why), osc_unrecorded_way_out(u->why));
}
