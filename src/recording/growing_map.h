/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growing_map.h - files mapped shared that grow in place.
 *
 * A store to a mapped page for which the disk has no room ends the program with SIGBUS, so
 * room is reserved on the disk first. Growing must not move what threads write to, so
 * addresses for all of it are reserved at the start, and pieces are mapped into them.
 *
 *   - No function changes errno. The cause of a failure goes to open_failure.h.
 *
 * Threading: one thread at a time for each file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "recording/host_fd.h"

/* Create NAME in the directory DIR_FD, where it must not exist. */
OSC_MUST_USE osc_status osc_growing_map_create(struct osc_fd *file, int dir_fd,
                                               const char *name);

/*
 * Reserve LEN bytes of address space, aligned to ALIGN, without memory. NULL: failed, or less
 * than as many bytes would be left. With a limit on the address space, the program needs some.
 */
void *osc_growing_map_addresses(size_t len, size_t align);

/* Reserve disk space for the file's bytes FROM to before END, map them at BASE + FROM and
 * touch them. On failure nothing is mapped; the file may have grown. */
OSC_MUST_USE osc_status osc_growing_map_reserve(struct osc_fd *file, size_t from, size_t end,
                                                unsigned char *base);

/* The same for bytes most of which are never used: their pages are not touched. */
OSC_MUST_USE osc_status osc_growing_map_reserve_cold(struct osc_fd *file, size_t from,
                                                     size_t end, unsigned char *base);

/* Replace the LEN bytes at BASE by empty private memory. */
void osc_growing_map_vacate(void *base, size_t len);
