/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growing_map.h - files mapped shared that grow in place, and whose room is on the disk before
 * a byte of it can be touched.
 *
 * A store to a mapped page that the disk has no room for ends the program with SIGBUS;
 * so room is reserved first. Growing must not move what threads write to; so addresses
 * are reserved for all of it at the start, and pieces are mapped into them.
 *
 *   - No function changes errno. What failed, and why, is noted: see trouble.h.
 *
 * Threading: one thread at a time for each file.
 */
#ifndef OSC_RECORDING_GROWING_MAP_H
#define OSC_RECORDING_GROWING_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "recording/host_fd.h"

/* Create NAME in the directory DIR_FD, which has none of it yet. */
OSC_MUST_USE osc_status osc_growing_map_create(struct osc_fd *file, int dir_fd,
                                               const char *name);

/* LEN bytes of addresses, at a multiple of ALIGN, without memory behind; NULL: none. */
void *osc_growing_map_addresses(size_t len, size_t align);

/* Reserve the file's bytes FROM to before END on the disk, map and touch them at
 * BASE + FROM. On failure nothing is mapped; the file may have grown. */
OSC_MUST_USE osc_status osc_growing_map_reserve(struct osc_fd *file, size_t from, size_t end,
                                                unsigned char *base);

/* Put empty private memory in the place of the LEN bytes at BASE. */
void osc_growing_map_vacate(void *base, size_t len);

#endif
