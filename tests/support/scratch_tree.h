/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch_tree.h - files and directories of a test, in a directory of their own.
 *
 *   TEST_WITH(name, scratch_enter, scratch_leave)    runs in that directory
 */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unit.h"

static char scratch_path[] = "/tmp/opscope-tree-XXXXXX";

static int scratch_enter(void **state)
{
    (void)state;
    memset(scratch_path + sizeof scratch_path - 7, 'X', 6);
    return mkdtemp(scratch_path) ? chdir(scratch_path) : -1;
}

static int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int scratch_leave(void **state)
{
    (void)state;
    return chdir("/") == 0 ? nftw(scratch_path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS) : -1;
}

/* Write TEXT to the file NAME. */
static inline void scratch_write(const char *name, const char *text)
{
    const int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* Make the files NAMES, separated by spaces, which begin like traces; a name that ends in "/"
 * is a directory. */
static inline void scratch_make(const char *names)
{
    char name[128];

    for (const char *p = names; *p; p += strspn(p, " ")) {
        const size_t len = strcspn(p, " ");

        snprintf(name, sizeof name, "%.*s", (int)len, p);
        if (name[len - 1] == '/')
            assert_int_equal(mkdir(name, 0700), 0);
        else
            scratch_write(name, "{\"traceEvents\": [");
        p += len;
    }
}
