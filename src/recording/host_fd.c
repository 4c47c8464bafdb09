/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/host_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HIGH = 1000
}; /* shells use some lower ones; the descriptor table grows with the
    * highest */

/* Duplicate FD to a high number; FD itself if none is free. */
static int lift(int fd)
{
    struct rlimit limit;
    int lowest = HIGH, high;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < HIGH)
        lowest = (int)(limit.rlim_cur / 2);
    high = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

bool osc_fd_take(struct osc_fd *f, int fd)
{
    const int saved = errno;
    struct stat st;

    *f = (struct osc_fd){0};
    if (fd < 0)
        return false;
    fd = lift(fd);
    const bool is_known = fstat(fd, &st) == 0;
    if (is_known)
        *f = (struct osc_fd){fd + 1, st.st_dev, st.st_ino};
    else
        close(fd);
    errno = saved;
    return is_known;
}

int osc_fd_get(const struct osc_fd *f)
{
    const int saved = errno;
    struct stat st;
    const bool is_ours = f->fd_1 && fstat(f->fd_1 - 1, &st) == 0 && st.st_dev == f->device &&
                         st.st_ino == f->inode;

    errno = saved;
    return is_ours ? f->fd_1 - 1 : -1;
}

int osc_fd_reopen(struct osc_fd *f, const char *path, int flags)
{
    const int saved = errno;
    struct osc_fd again;
    int fd = osc_fd_get(f);

    if (fd < 0 && f->fd_1 && osc_fd_take(&again, open(path, flags | O_CLOEXEC | O_NOFOLLOW))) {
        if (again.device == f->device && again.inode == f->inode)
            fd = (*f = again).fd_1 - 1;
        else
            osc_fd_close(&again);
    }
    errno = saved;
    return fd;
}

void osc_fd_close(struct osc_fd *f)
{
    const int saved = errno, fd = osc_fd_get(f);

    if (fd >= 0)
        close(fd);
    *f = (struct osc_fd){0};
    errno = saved;
}
