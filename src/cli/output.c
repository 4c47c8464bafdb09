/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#define TRIES     100
#define LINKS_MAX 40 /* the limit of the system */
#define MODE_BITS 0777

/* What to remove if a signal ends the process. While they are set, the handler may read them at
 * any time. */
static char *volatile part_in_danger;
static const char *volatile scratch_in_danger;
static const char *volatile folder_in_danger;
static const char *volatile tree_in_danger;

/* Directories below each other that are removed; nothing of ours is deeper. */
#define DEPTH_MAX 24

/* What getdents64() of Linux writes; glibc's readdir() allocates, which a handler must not. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Open the directory NAME in PARENT; -1: it is none. */
static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Remove all but directories in FD. Writes the name of one of these to SUB; "": there is none.
 */
static void remove_files(int fd, char sub[NAME_MAX + 1])
{
    union {
        char bytes[4096];
        struct entry first;
    } all;
    long n;

    sub[0] = '\0';
    (void)lseek(fd, 0, SEEK_SET);
    while ((n = syscall(SYS_getdents64, fd, &all, sizeof all)) > 0) {
        const struct entry *e;

        for (long at = 0; at < n; at += e->bytes) {
            e = (const struct entry *)(const void *)(all.bytes + at);
            if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0 &&
                unlinkat(fd, e->name, 0) != 0 && strlen(e->name) <= NAME_MAX)
                memcpy(sub, e->name, strlen(e->name) + 1);
        }
    }
}

/* Remove TREE. Async-signal-safe. */
static void remove_tree(const char *tree)
{
    int fds[DEPTH_MAX];
    char names[DEPTH_MAX][NAME_MAX + 1];
    int n = 0;

    fds[n] = open_folder(AT_FDCWD, tree);
    while (n >= 0 && fds[n] >= 0) {
        remove_files(fds[n], names[n]);
        if (names[n][0] && n + 1 < DEPTH_MAX &&
            (fds[n + 1] = open_folder(fds[n], names[n])) >= 0) {
            n++;
            continue;
        }
        const bool is_stuck = names[n][0] != '\0'; /* it can be neither removed nor entered */

        (void)close(fds[n]);
        n--;
        if (n >= 0 && (unlinkat(fds[n], names[n], AT_REMOVEDIR) != 0 || is_stuck))
            break;
    }
    for (; n >= 0 && fds[n] >= 0; n--)
        (void)close(fds[n]);
    (void)rmdir(tree);
}

static void on_signal(int number)
{
    if (tree_in_danger)
        remove_tree(tree_in_danger);
    if (part_in_danger)
        (void)unlink(part_in_danger);
    if (scratch_in_danger)
        (void)unlink(scratch_in_danger);
    if (folder_in_danger)
        (void)rmdir(folder_in_danger);
    (void)raise(number); /* ends the process now */
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction remove = {.sa_handler = on_signal,
                                     .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction old;

    /* A limit on the size of files is an error to report. */
    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &remove, NULL);
    }
}

/* From now on a signal removes PART; NULL: nothing. */
static void guard(char *part)
{
    part_in_danger = part;
    if (part)
        catch_signals();
}

void osc_output_guard_scratch(const char *file, const char *folder)
{
    scratch_in_danger = file;
    folder_in_danger = folder;
    if (file)
        catch_signals();
}

void osc_output_guard_tree(const char *tree)
{
    tree_in_danger = tree;
    if (tree)
        catch_signals();
}

static int no_memory(void)
{
    osc_cli_error("out of memory");
    return OSC_EXIT_FAILED;
}

static int fail(const char *path)
{
    osc_cli_error("%s: %s", path, strerror(errno));
    return OSC_EXIT_FAILED;
}

/* The directory of PATH; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    struct osc_strbuf folder = {0};

    if (!slash)
        osc_strbuf_addc(&folder, '.');
    else
        osc_strbuf_add(&folder, path, slash == path ? 1 : (size_t)(slash - path));
    if (folder.status == OSC_OK)
        return folder.s;
    osc_strbuf_fini(&folder);
    return NULL;
}

/* A name beside PATH that contains PATH's name and the process id; the caller frees it. */
static char *part_name(const char *path, int n)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    struct osc_strbuf name = {0};

    osc_strbuf_add(&name, path, folder);
    /* Cut, so that the name with the numbers is not too long for a file. */
    osc_strbuf_addf(&name, ".%.200s.%ld-%d.part", path + folder, (long)getpid(), n);
    if (name.status == OSC_OK)
        return name.s;
    osc_strbuf_fini(&name);
    return NULL;
}

/* Open a file with a name beside the final path of O. */
static int open_part(struct osc_output *o)
{
    for (int n = 0; n < TRIES; n++) {
        osc_free(o->part);
        o->part = part_name(o->path, n);
        if (!o->part)
            return no_memory();
        o->fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0 || errno != EEXIST)
            break;
    }
    if (o->fd >= 0) {
        guard(o->part);
        return OSC_EXIT_DONE;
    }

    const int failed = fail(o->path);
    osc_free(o->part);
    o->part = NULL;
    return failed;
}

/* Open a file without a name, or else one with a name beside the final path. */
static int open_new(struct osc_output *o)
{
    char *const folder = folder_of(o->path);
    int failed = OSC_EXIT_DONE;

    if (!folder)
        return no_memory();
    o->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (o->fd < 0)
        failed = open_part(o); /* some file systems have no files without a name */
    osc_free(folder);
    o->is_open = o->has_place = !failed;
    return failed;
}

/* The path that PATH stands for, links followed even if the last one points nowhere; the caller
 * frees it. NULL: failed. */
static char *follow(const char *path)
{
    char real[PATH_MAX], target[PATH_MAX];
    struct osc_strbuf name = {0}, next = {0};

    osc_strbuf_adds(&name, realpath(path, real) ? real : path);
    for (int n = 0; n < LINKS_MAX && name.status == OSC_OK; n++) {
        const ssize_t len = readlink(name.s, target, sizeof target);
        const char *const slash = strrchr(name.s, '/');

        if (len <= 0)
            break;
        osc_strbuf_clear(&next);
        if (*target != '/' && slash)
            osc_strbuf_add(&next, name.s, (size_t)(slash + 1 - name.s));
        osc_strbuf_add(&next, target, (size_t)len);
        const struct osc_strbuf old = name;
        name = next;
        next = old;
    }
    osc_strbuf_fini(&next);
    if (name.status == OSC_OK)
        return name.s;
    osc_strbuf_fini(&name);
    return NULL;
}

int osc_output_open(struct osc_output *o, const char *path)
{
    struct stat info;

    catch_signals();
    *o = (struct osc_output){.fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) {
        o->is_open = true;
        return OSC_EXIT_DONE;
    }
    o->path = follow(path);
    if (!o->path)
        return no_memory();
    const bool is_there = stat(path, &info) == 0;
    if (!is_there || S_ISREG(info.st_mode)) {
        const int failed = open_new(o);

        o->is_another = is_there;
        if (is_there && !failed)
            (void)fchmod(o->fd, info.st_mode & MODE_BITS);
        return failed;
    }
    if (S_ISDIR(info.st_mode)) {
        osc_cli_error("%s: it is a directory; name a file in it", path);
        return OSC_EXIT_FAILED;
    }
    o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
    o->is_open = o->fd >= 0;
    return o->is_open ? OSC_EXIT_DONE : fail(path);
}

void osc_output_keep_private(const struct osc_output *o, const char *file)
{
    struct stat in, out;

    if (o->has_place && !o->is_another && strcmp(file, "-") != 0 && stat(file, &in) == 0 &&
        (S_ISREG(in.st_mode) || S_ISDIR(in.st_mode)) && fstat(o->fd, &out) == 0)
        (void)fchmod(o->fd, out.st_mode & MODE_BITS & (in.st_mode | S_IRUSR | S_IWUSR));
}

void osc_output_keep_all_private(const struct osc_output *o, const char *const *files, int n)
{
    for (int i = 0; i < n; i++)
        osc_output_keep_private(o, files[i]);
}

bool osc_output_is(const struct osc_output *o, const char *file)
{
    struct stat in, out;

    if (strcmp(file, "-") == 0 ? fstat(STDIN_FILENO, &in) != 0 : stat(file, &in) != 0)
        return false;
    if (o->has_place ? stat(o->path, &out) != 0 : fstat(o->fd, &out) != 0)
        return false;
    return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* Give the file without a name its final name if that is free, or else one beside it. */
static int link_part(struct osc_output *o)
{
    char from[64];

    snprintf(from, sizeof from, "/proc/self/fd/%d", o->fd);
    if (linkat(AT_FDCWD, from, AT_FDCWD, o->path, AT_SYMLINK_FOLLOW) == 0) {
        o->has_place = false;
        return OSC_EXIT_DONE;
    }
    for (int n = 0; n < TRIES && errno == EEXIST; n++) {
        char *const name = part_name(o->path, n);

        if (!name)
            return no_memory();
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            o->part = name;
            guard(name);
            return OSC_EXIT_DONE;
        }
        osc_free(name);
    }
    return fail(o->path);
}

int osc_output_commit(struct osc_output *o)
{
    int failed = OSC_EXIT_DONE;

    if (o->has_place && !o->part)
        failed = link_part(o);
    if (!failed && o->fd != STDOUT_FILENO) {
        const int fd = o->fd;

        o->fd = STDOUT_FILENO;
        if (close(fd) != 0) /* some file systems report only here that the disk is full */
            failed = fail(o->path);
    }
    if (!failed && o->has_place) {
        if (rename(o->part, o->path) != 0)
            failed = fail(o->path);
        else
            o->has_place = false;
    }
    osc_output_abandon(o);
    return failed;
}

void osc_output_abandon(struct osc_output *o)
{
    if (o->is_open && o->fd != STDOUT_FILENO)
        (void)close(o->fd);
    if (o->has_place && o->part)
        (void)unlink(o->part);
    guard(NULL);
    osc_free(o->path);
    osc_free(o->part);
    *o = (struct osc_output){0};
}
