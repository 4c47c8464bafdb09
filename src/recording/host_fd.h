/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_fd.h - descriptors in somebody else's process.
 *
 * The host counts on the numbers that open() gives it, so ours are high ones. It may
 * also close all descriptors, ours too, and get one of our numbers for a file of its
 * own: before each use we look whether the number still means our file.
 *
 *   - Zeroed, it is closed.
 *   - No function changes errno.
 *
 * Threading: one thread at a time for each struct.
 */
#ifndef OSC_RECORDING_HOST_FD_H
#define OSC_RECORDING_HOST_FD_H

#include <stdbool.h>
#include <stdint.h>

struct osc_fd {
    int fd_1; /* the descriptor + 1; 0: none */
    uint64_t device, inode;
};

/* Keep FD, moved to a high number and closed on exec. False, and none, if FD is -1. */
bool osc_fd_take(struct osc_fd *f, int fd);

/* The descriptor, if it still is ours; else -1. */
int osc_fd_get(const struct osc_fd *f);

/* The same, opened again as PATH with FLAGS if the host has closed it and that is our file. */
int osc_fd_reopen(struct osc_fd *f, const char *path, int flags);

/* Close it, unless it is the host's by now. */
void osc_fd_close(struct osc_fd *f);

#endif
