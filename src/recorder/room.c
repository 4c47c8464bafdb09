/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { PAGE = 4096, HIGH_FD = 512 };

/* A copy of FD, which is closed, among the high numbers; FD if there is none. */
static int move_high(int fd)
{
    struct rlimit limit = {0};
    int high = -1;

    /* Programs count on getting the lowest numbers, and some close the first few dozen. */
    for (int at = HIGH_FD; fd >= 0 && high < 0 && at >= 16; at /= 2)
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)at < limit.rlim_cur)
            high = fcntl(fd, F_DUPFD_CLOEXEC, at);
    if (high >= 0)
        (void)close(fd);
    return high >= 0 ? high : fd;
}

bool osc_room_adopt(struct osc_room *room, int fd)
{
    const int kept = errno;
    struct stat st;

    *room = (struct osc_room){0};
    if (fd >= 0) {
        fd = move_high(fd);
        if (fstat(fd, &st) == 0)
            *room = (struct osc_room){
                .fd_1 = fd + 1, .device = (uint64_t)st.st_dev, .inode = (uint64_t)st.st_ino};
    }
    errno = kept;
    return room->fd_1 > 0;
}

osc_status osc_room_create(struct osc_room *room, int dir_fd, const char *name)
{
    const int kept = errno;
    const bool is_good = osc_room_adopt(
        room, openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

    errno = kept;
    return is_good ? OSC_OK : OSC_EIO;
}

int osc_room_fd(const struct osc_room *room)
{
    const int kept = errno;
    struct stat st;
    const int fd = room->fd_1 - 1;
    const bool is_ours = fd >= 0 && fstat(fd, &st) == 0 &&
                         room->device == (uint64_t)st.st_dev &&
                         room->inode == (uint64_t)st.st_ino;

    errno = kept;
    return is_ours ? fd : -1;
}

void *osc_room_addresses(size_t len, size_t align)
{
    const int kept = errno;
    const size_t all = len + align;
    unsigned char *p =
        mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *at = NULL;

    if (p != MAP_FAILED) {
        at = p + (align - (uintptr_t)p % align) % align;
        if (at > p)
            (void)munmap(p, (size_t)(at - p));
        if (at + len < p + all)
            (void)munmap(at + len, (size_t)(p + all - (at + len)));
    }
    errno = kept;
    return at;
}

/* Beyond the limit on files the kernel would send SIGXFSZ. */
static bool is_allowed(size_t end)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

/* So that no recording call waits for the first touch of a page. */
static void touch(unsigned char *p, size_t len)
{
    if (madvise(p, len, MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < len; i += PAGE)
        /* relaxed: only to write what is there. */
        (void)__atomic_fetch_or(p + i, 0, __ATOMIC_RELAXED);
}

osc_status osc_room_reserve(struct osc_room *room, size_t from, size_t end, unsigned char *base)
{
    const int kept = errno;
    const int fd = osc_room_fd(room);
    osc_status st = OSC_EIO;

    if (fd >= 0 && is_allowed(end) &&
        posix_fallocate(fd, (off_t)from, (off_t)(end - from)) == 0) {
        void *p = mmap(base + from, end - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       fd, (off_t)from);

        st = p == MAP_FAILED ? OSC_ENOMEM : OSC_OK;
        if (st == OSC_OK)
            touch(p, end - from);
    }
    errno = kept;
    return st;
}

void osc_room_vacate(void *base, size_t len)
{
    const int kept = errno;

    (void)mmap(base, len, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    errno = kept;
}

void osc_room_close(struct osc_room *room)
{
    const int kept = errno;
    const int fd = osc_room_fd(room);

    if (fd >= 0)
        (void)close(fd);
    *room = (struct osc_room){0};
    errno = kept;
}
