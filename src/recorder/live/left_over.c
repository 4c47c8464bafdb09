/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/left_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/chunk.h"
#include "wire/live.h"

#define SUFFIX ".osc"

enum { NUMBERS = 10000 };

struct left_over {
    int live_fd, blocks_fd, dir_fd; /* dir_fd: the directory that contains LIVE */
    struct osc_live_header header;
    char name[NAME_MAX + 1];      /* of NAME.osc, without the suffix; in DIR_FD */
    char live_name[NAME_MAX + 1]; /* in DIR_FD */
    bool has_suffix;
    char aside[NAME_MAX + 1]; /* the new NAME */
};

/* Whether LIVE_NAME is still the directory that we opened. */
static bool is_there(const struct left_over *l)
{
    struct stat at, was;

    return fstatat(l->dir_fd, l->live_name, &at, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(l->live_fd, &was) == 0 && at.st_dev == was.st_dev && at.st_ino == was.st_ino;
}

/* Whether this is a recording without a process. If so, its lock keeps other processes from
 * moving it. */
static bool lock(struct left_over *l)
{
    return pread(l->blocks_fd, &l->header, sizeof l->header, 0) == (ssize_t)sizeof l->header &&
           l->header.magic == OSC_LIVE_MAGIC && flock(l->blocks_fd, LOCK_EX | LOCK_NB) == 0 &&
           is_there(l);
}

/* Split OUT and LIVE, which are in the same directory. */
static bool set_names(struct left_over *l, const char *out, const char *live)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(out, '/'), *live_slash = strrchr(live, '/');
    const size_t suffix = sizeof SUFFIX - 1;

    if (!slash || !live_slash || (size_t)(slash - out) + 2 > sizeof dir)
        return false;
    memcpy(dir, out, (size_t)(slash - out) + 1);
    dir[slash - out + 1] = '\0';
    l->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    size_t len = strlen(slash + 1);
    const size_t live_len = strlen(live_slash + 1);

    if (len > NAME_MAX || live_len > NAME_MAX)
        return false;
    l->has_suffix = len > suffix && strcmp(slash + 1 + len - suffix, SUFFIX) == 0;
    len -= l->has_suffix ? suffix : 0;
    memcpy(l->name, slash + 1, len);
    l->name[len] = '\0';
    memcpy(l->live_name, live_slash + 1, live_len + 1);
    return l->dir_fd >= 0;
}

static bool put_name(char to[NAME_MAX + 1], const char *name, const char *behind)
{
    const int n = snprintf(to, NAME_MAX + 1, "%s%s", name, behind);

    return n > 0 && n <= NAME_MAX;
}

static bool is_free(const struct left_over *l, const char *behind)
{
    char path[NAME_MAX + 1];

    return put_name(path, l->aside, behind) && faccessat(l->dir_fd, path, F_OK, 0) != 0 &&
           errno == ENOENT;
}

static bool choose_aside(struct left_over *l)
{
    for (int n = 0; n < NUMBERS; n++) {
        char behind[32];

        (void)snprintf(behind, sizeof behind, ".%u.%d", l->header.pid, n);
        if (!put_name(l->aside, l->name, behind))
            return false;
        if (is_free(l, SUFFIX) && is_free(l, SUFFIX ".live"))
            return true;
    }
    return false;
}

/* PART: what follows NAME in the file name ENTRY, without the suffix: "" or ".2". False if
 * ENTRY is not a name of the recording. */
static bool get_part(const struct left_over *l, const char *entry, char part[32])
{
    const size_t n = strlen(l->name), len = strlen(entry);
    const size_t suffix = l->has_suffix ? sizeof SUFFIX - 1 : 0;

    if (len < n + suffix || len - n - suffix > 31 || strncmp(entry, l->name, n) != 0 ||
        (suffix > 0 && strcmp(entry + len - suffix, SUFFIX) != 0))
        return false;
    memcpy(part, entry + n, len - n - suffix);
    part[len - n - suffix] = '\0';
    return part[0] == '\0' ||
           (part[0] == '.' && strspn(part + 1, "0123456789") == strlen(part + 1));
}

/* Whether the file ENTRY belongs to the recording. */
static bool is_its_own(const struct left_over *l, const char *entry)
{
    struct osc_file_header h = {0};
    const int fd = openat(l->dir_fd, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    const bool is_so = pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                       osc_file_header_is_good(&h) &&
                       memcmp(h.recording, l->header.recording, sizeof h.recording) == 0;

    (void)close(fd);
    return is_so;
}

static void move_file(const struct left_over *l, const char *entry)
{
    char part[32], aside[NAME_MAX + 1], to[NAME_MAX + 1];

    if (get_part(l, entry, part) && is_its_own(l, entry) && put_name(aside, l->aside, part) &&
        put_name(to, aside, SUFFIX))
        (void)renameat(l->dir_fd, entry, l->dir_fd, to);
}

static bool move_all(const struct left_over *l)
{
    char to[NAME_MAX + 1];
    const int fd = dup(l->dir_fd);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d && fd >= 0)
        (void)close(fd);
    if (!d)
        return false;
    for (const struct dirent *e; (e = readdir(d));)
        move_file(l, e->d_name);
    (void)closedir(d);
    return put_name(to, l->aside, SUFFIX ".live") &&
           renameat(l->dir_fd, l->live_name, l->dir_fd, to) == 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

bool osc_left_over_move(const char *out, const char *live)
{
    struct left_over l = {.blocks_fd = -1, .dir_fd = -1};

    l.live_fd = open(live, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (l.live_fd >= 0)
        l.blocks_fd = openat(l.live_fd, "blocks", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_moved = l.blocks_fd >= 0 && set_names(&l, out, live) && lock(&l) &&
                          choose_aside(&l) && move_all(&l);

    close_if_open(l.dir_fd);
    close_if_open(l.blocks_fd);
    close_if_open(l.live_fd);
    return is_moved;
}
