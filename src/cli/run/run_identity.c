/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run_identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "opscope-run"

void osc_run_identity_show(const char *run_id, const char *directory)
{
    char text[sizeof(struct osc_run_identity)];
    const int n = snprintf(text, sizeof text, "%s%c%s", run_id, '\0', directory);
    const int fd = n < (int)sizeof text ? memfd_create(NAME, MFD_CLOEXEC) : -1;

    if (fd >= 0 && write(fd, text, (size_t)n + 1) != n + 1)
        close(fd);
}

/* Read the identity from descriptor ENTRY of the process with the directory DIR; false: it is
 * of another file. */
static bool read_from(struct osc_run_identity *identity, int dir, const char *entry)
{
    static const char target[] = "/memfd:" NAME " ";
    char link[64] = "", text[sizeof *identity + 1];

    if (readlinkat(dir, entry, link, sizeof link - 1) <= 0 ||
        strncmp(link, target, sizeof target - 1) != 0)
        return false;
    const int fd = openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const size_t len = strlen(text);

    if (n <= 0 || len + 1 >= (size_t)n || len >= sizeof identity->run_id ||
        strlen(text + len + 1) >= sizeof identity->directory)
        return false;
    memcpy(identity->run_id, text, len + 1);
    memcpy(identity->directory, text + len + 1, strlen(text + len + 1) + 1);
    return true;
}

bool osc_run_identity_read(struct osc_run_identity *identity, const char *pid)
{
    char path[64];
    bool is_there = false;

    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *const dir = opendir(path);

    for (const struct dirent *e; dir && !is_there && (e = readdir(dir));)
        is_there = read_from(identity, dirfd(dir), e->d_name);
    if (dir)
        closedir(dir);
    return is_there;
}
