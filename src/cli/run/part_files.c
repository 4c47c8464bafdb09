/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/part_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "wire/chunk.h"

bool osc_part_files_is(const char *out, const uint64_t recording[2], int dir, const char *entry,
                       uint32_t *part)
{
    const char *const name = strrchr(out, '/') + 1;
    const size_t stem = strlen(name) - strlen(".osc");
    struct osc_file_header h = {0};

    if (strncmp(entry, name, stem) != 0 || entry[stem] != '.' ||
        !osc_str_ends(osc_str_c(entry), OSC_STR(".osc")))
        return false;
    const int fd = openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    const bool is_so = pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                       osc_file_header_is_good(&h) &&
                       memcmp(h.recording, recording, sizeof h.recording) == 0;

    close(fd);
    *part = h.part;
    return is_so;
}

uint32_t osc_part_files_last(const char *directory, const char *out,
                             const uint64_t recording[2])
{
    DIR *const dir = opendir(directory);
    uint32_t last = 0, part;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (osc_part_files_is(out, recording, dirfd(dir), e->d_name, &part) && part > last)
            last = part;
    }
    if (dir)
        closedir(dir);
    return last;
}
