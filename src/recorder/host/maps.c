/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool osc_maps_open(struct osc_maps *maps)
{
    const int kept = errno;
    /* The thread's file, because that of the process is empty once its first thread has
     * ended. */
    const int fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    const bool is_open = osc_fd_take(&maps->file, fd);

    maps->at = maps->n = 0;
    errno = kept;
    return is_open;
}

void osc_maps_close(struct osc_maps *maps)
{
    osc_fd_close(&maps->file);
}

/* The next character; -1 at the end. */
static int next_char(struct osc_maps *maps)
{
    if (maps->at == maps->n) {
        const int kept = errno, fd = osc_fd_get(&maps->file);
        const ssize_t n = fd < 0 ? -1 : read(fd, maps->text, sizeof maps->text);

        errno = kept;
        if (n <= 0)
            return -1;
        maps->at = 0;
        maps->n = (uint32_t)n;
    }
    return (unsigned char)maps->text[maps->at++];
}

/* Read a hexadecimal number; *BEHIND is the character after it. */
static uint64_t next_hex(struct osc_maps *maps, int *behind)
{
    uint64_t v = 0;

    for (;;) {
        const int c = *behind = next_char(maps);

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint64_t)(c - 'a' + 10);
        else
            return v;
    }
}

/* Skip to a blank or the end of the line; returns which, or -1. */
static int skip_word(struct osc_maps *maps)
{
    int c;

    do
        c = next_char(maps);
    while (c != ' ' && c != '\n' && c >= 0);
    return c;
}

bool osc_maps_next(struct osc_maps *maps, struct osc_map *map, char *path, size_t room)
{
    int c;

    /* 7f12a000-7f12c000 r-xp 00002000 fd:01 1234      /usr/lib/libm.so.6 */
    *map = (struct osc_map){.start = next_hex(maps, &c)};
    if (c != '-')
        return false;
    map->end = next_hex(maps, &c);
    for (int i = 0; i < 4; i++)
        map->is_executable |= next_char(maps) == 'x';
    (void)next_char(maps);
    map->file_offset = next_hex(maps, &c);
    if (skip_word(maps) < 0) /* the device */
        return false;
    c = skip_word(maps); /* the inode */
    while (c == ' ')
        c = next_char(maps);
    for (; c != '\n' && c >= 0; c = next_char(maps))
        if (map->path_bytes < room)
            path[map->path_bytes++] = (char)c;
    return c == '\n';
}
