/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/growing_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/open_failure.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { PAGE = 4096 };

osc_status osc_growing_map_create(struct osc_fd *file, int dir_fd, const char *name)
{
    const int kept = errno;
    const bool is_good = osc_fd_take(
        file, openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (!is_good)
        osc_open_failure_store(errno);
    errno = kept;
    return is_good ? OSC_OK : OSC_EIO;
}

void *osc_growing_map_addresses(size_t len, size_t align)
{
    const int kept = errno;
    const size_t all = 2 * len + align;
    unsigned char *p =
        mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *at = NULL;

    if (p != MAP_FAILED) {
        at = p + (align - (uintptr_t)p % align) % align;
        if (at > p)
            (void)munmap(p, (size_t)(at - p));
        if (at + len < p + all)
            (void)munmap(at + len, (size_t)(p + all - (at + len)));
    } else {
        osc_open_failure_store(errno);
    }
    errno = kept;
    return at;
}

/* Beyond the limit on file size the kernel would send SIGXFSZ. */
static bool is_allowed(size_t end)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

/* Touch the pages now, so that no recording call waits for a page fault. */
static void touch(unsigned char *p, size_t len)
{
    if (madvise(p, len, MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < len; i += PAGE)
        /* relaxed: it writes back what is there */
        (void)__atomic_fetch_or(p + i, 0, __ATOMIC_RELAXED);
}

/* Size of the file; SIZE_MAX: unknown. */
static size_t size_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
}

/*
 * Write zeroes from FROM to before END, where the file has no data yet. That brings pages into
 * the cache in large pieces, five times as fast as touching each one. touch() handles the rest
 * if it fails.
 */
static void fill_cache(int fd, size_t from, size_t end)
{
    static unsigned char zeroes[1 << 16]; /* not const: that would take space in the library
                                           * file */
    ssize_t done;

    for (; from < end; from += (size_t)done) {
        const size_t len = end - from < sizeof zeroes ? end - from : sizeof zeroes;

        done = pwrite(fd, zeroes, len, (off_t)from);
        if (done <= 0)
            return;
    }
}

static osc_status reserve(struct osc_fd *file, size_t from, size_t end, unsigned char *base,
                          bool is_warm)
{
    const int kept = errno;
    const int fd = osc_fd_get(file);
    int why = fd < 0 ? EBADF : is_allowed(end) ? 0 : EFBIG;
    const size_t size = why == 0 ? size_of(fd) : 0;
    osc_status st = OSC_EIO;

    if (why == 0)
        why = posix_fallocate(fd, (off_t)from, (off_t)(end - from));
    if (why == 0) {
        if (is_warm)
            fill_cache(fd, size > from ? size : from, end);
        void *p = mmap(base + from, end - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       fd, (off_t)from);

        st = p == MAP_FAILED ? OSC_ENOMEM : OSC_OK;
        why = p == MAP_FAILED ? errno : 0;
        if (st == OSC_OK && is_warm)
            touch(p, end - from);
        else if (st == OSC_OK)
            /* A hint: the kernel would bring in hundreds of pages with the first one. */
            (void)madvise(p, end - from, MADV_RANDOM);
    }
    if (why != 0)
        osc_open_failure_store(why);
    errno = kept;
    return st;
}

osc_status osc_growing_map_reserve(struct osc_fd *file, size_t from, size_t end,
                                   unsigned char *base)
{
    return reserve(file, from, end, base, true);
}

osc_status osc_growing_map_reserve_cold(struct osc_fd *file, size_t from, size_t end,
                                        unsigned char *base)
{
    return reserve(file, from, end, base, false);
}

void osc_growing_map_vacate(void *base, size_t len)
{
    const int kept = errno;

    (void)mmap(base, len, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    errno = kept;
}
