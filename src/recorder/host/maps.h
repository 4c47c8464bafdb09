/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - reads the memory mappings of this process, one after the other.
 *
 *   - All functions are async-signal-safe, allocate nothing, and leave errno unchanged.
 *   - The kernel's list may change while it is read: a mapping is correct when it is returned.
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
    char text[512]; /* small, because the stack of a signal handler may be */
};

struct osc_map {
    uint64_t start, end;  /* addresses */
    uint64_t file_offset; /* of START */
    bool is_executable;
    size_t path_bytes; /* of its name in the list; 0: it has none */
};

/* False: the list cannot be read. */
bool osc_maps_open(struct osc_maps *maps);
void osc_maps_close(struct osc_maps *maps);

/* Read the next mapping by address. PATH gets as much of its path as fits in ROOM bytes,
 * without NUL. False: there is none. */
bool osc_maps_next(struct osc_maps *maps, struct osc_map *map, char *path, size_t room);
