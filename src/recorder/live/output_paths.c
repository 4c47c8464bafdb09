/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/output_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "recorder/live/left_over.h"
#include "recording/open_failure.h"
#include "wire/live.h"

enum { NUMBERS = 10000 };

/* Builds text without stdio. */
struct text {
    char *s;
    size_t room, len;
    bool is_cut;
};

static void add_bytes(struct text *t, const char *s, size_t len)
{
    if (t->len + len >= t->room) {
        t->is_cut = true;
        errno = ENAMETOOLONG;
        return;
    }
    memcpy(t->s + t->len, s, len);
    t->len += len;
    t->s[t->len] = '\0';
}

static void add_text(struct text *t, const char *s)
{
    add_bytes(t, s, strlen(s));
}

static void add_number(struct text *t, uint64_t v)
{
    char digits[24];
    size_t n = sizeof digits;

    do {
        digits[--n] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    add_bytes(t, digits + n, sizeof digits - n);
}

/* Add the directory DIR, made absolute. */
static void add_directory(struct text *t, const char *dir)
{
    if (!dir || dir[0] != '/') {
        if (getcwd(t->s, t->room))
            t->len = strlen(t->s);
        else
            t->is_cut = true;
    }
    if (dir && dir[0] != '\0') {
        if (t->len > 0)
            add_text(t, "/");
        add_text(t, dir);
    }
}

static void add_host(struct text *t)
{
    struct utsname u;

    if (uname(&u) != 0 || u.nodename[0] == '\0')
        strcpy(u.nodename, "localhost");
    for (char *p = u.nodename; *p; p++)
        if (*p == '/' || *p == '.' || (unsigned char)*p < ' ')
            *p = '-';
    add_text(t, u.nodename);
}

/* Create the missing directories above the last component of PATH. */
static void make_parents(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
}

static void remove_files(int live_fd)
{
    (void)unlinkat(live_fd, "blocks", 0);
    (void)unlinkat(live_fd, "strings", 0);
    (void)unlinkat(live_fd, "standing", 0);
    (void)unlinkat(live_fd, "ctl", 0);
}

/*
 * Lock the live directory FD for the life of this process. False if another process considers
 * it left over and is removing it (cli/run/fold_killed.c). Not all file systems have locks.
 */
static bool lock_live(int fd)
{
    struct stat st;

    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
           (fstat(fd, &st) != 0 || st.st_nlink > 0);
}

/* Create the live directory of PLACE->out. */
static bool make_live(struct osc_output_paths *place)
{
    struct text t = {.s = place->live, .room = sizeof place->live};

    add_text(&t, place->out);
    add_text(&t, OSC_LIVE_SUFFIX);
    if (t.is_cut || mkdir(place->live, 0700) != 0)
        return false;
    if (!osc_fd_take(&place->live_fd,
                     open(place->live, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) &&
        errno != ENOENT) {
        (void)rmdir(place->live);
        return false;
    }
    if (lock_live(osc_fd_get(&place->live_fd)))
        return true;
    osc_fd_close(&place->live_fd);
    errno = EEXIST; /* makes the caller try the next name */
    return false;
}

/* Try names BEGIN.N.osc until one is free. */
static bool make_numbered(struct osc_output_paths *place, struct text begin)
{
    for (uint64_t n = 0; n < NUMBERS; n++) {
        struct text t = begin;

        add_text(&t, ".");
        add_number(&t, n);
        add_text(&t, ".osc");
        if (t.is_cut)
            return false;
        if (access(place->out, F_OK) == 0)
            continue;
        if (make_live(place))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool make_given(struct osc_output_paths *place, const char *given, bool is_child)
{
    static const char suffix[] = ".osc";
    struct text t = {.s = place->out, .room = sizeof place->out};
    const size_t n = sizeof suffix - 1;

    add_directory(&t, given);
    if (t.is_cut || t.len == 0)
        return false;
    make_parents(place->out);
    if (!is_child) {
        if (make_live(place))
            return true;
        if (errno != EEXIST)
            return false;
        if (osc_left_over_move(place->out, place->live) && make_live(place))
            return true;
    }
    if (t.len > n && strcmp(t.s + t.len - n, suffix) == 0)
        t.len -= n;
    add_text(&t, ".");
    add_number(&t, (uint64_t)getpid());
    return make_numbered(place, t);
}

static bool make_named(struct osc_output_paths *place, const char *dir)
{
    struct text t = {.s = place->out, .room = sizeof place->out};
    struct timespec now = {0};

    add_directory(&t, dir);
    add_text(&t, "/");
    make_parents(place->out);
    add_host(&t);
    add_text(&t, ".");
    add_number(&t, (uint64_t)getpid());
    add_text(&t, ".");
    (void)clock_gettime(CLOCK_REALTIME, &now);
    add_number(&t, (uint64_t)now.tv_sec);
    return !t.is_cut && make_numbered(place, t);
}

osc_status osc_output_paths_open(struct osc_output_paths *place, const char *given,
                                 const char *dir, bool is_child)
{
    const int kept = errno;
    const bool is_good =
        given && given[0] != '\0' ? make_given(place, given, is_child) : make_named(place, dir);

    if (!is_good)
        osc_open_failure_store(errno);
    errno = kept;
    return is_good ? OSC_OK : OSC_EIO;
}

void osc_output_paths_remove(struct osc_output_paths *place)
{
    const int kept = errno;
    const int fd = osc_fd_reopen(&place->live_fd, place->live, O_RDONLY | O_DIRECTORY);

    if (fd >= 0) {
        remove_files(fd);
        (void)rmdir(place->live);
    }
    osc_fd_close(&place->live_fd);
    errno = kept;
}
