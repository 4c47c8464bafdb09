/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - what is mapped where in this process, one mapping after the other.
 *
 *   - No function changes errno, allocates, or calls what a signal handler may not.
 *   - The kernel's list may change while it is read: a mapping is right when it is told.
 *
 * Threading: any thread and handler, each with its own struct.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/host_fd.h"

struct osc_maps {
    struct osc_fd file;
    uint32_t at, n;
    char text[512]; /* small: the stack of a signal handler may be */
};

struct osc_map {
    uint64_t start, end;  /* addresses */
    uint64_t file_offset; /* of START */
    bool is_executable;
    size_t path_bytes; /* of what the system calls it; 0: it has no name */
};

/* False: the list cannot be read. */
bool osc_maps_open(struct osc_maps *maps);
void osc_maps_close(struct osc_maps *maps);

/* The next one by address, and of its path what fits into ROOM bytes at PATH, without NUL.
 * False: there is none. */
bool osc_maps_next(struct osc_maps *maps, struct osc_map *map, char *path, size_t room);
