/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/torch_hook.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"

#define NOTE ".torch-failed."

static void report(int dir, const char *name)
{
    char text[512];
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    osc_cli_error("[torch] PID %s: %s", name + sizeof NOTE - 1, text);
}

bool osc_torch_report(const char *directory)
{
    DIR *const dir = opendir(directory);
    bool is_told = false;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (!osc_str_starts(osc_str_c(e->d_name), OSC_STR(NOTE)))
            continue;
        if (!is_told)
            report(dirfd(dir), e->d_name);
        is_told = true;
        unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
    return is_told;
}
