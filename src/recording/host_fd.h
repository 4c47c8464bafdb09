/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_fd.h - descriptors of ours in the process of a host.
 *
 * Hosts rely on the numbers that open() returns, so ours are high numbers. A host may also
 * close all descriptors, ours included, and then get one of our numbers for a file of its
 * own, so each use first checks that the number still means our file.
 *
 *   - Zeroed, it is closed.
 *   - No function changes errno.
 *
 * Threading: one thread at a time for each struct.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct osc_fd {
    int fd_1; /* the descriptor + 1; 0: none */
    uint64_t device, inode;
};

/* Take FD over: move it to a high number that is closed on exec. False, and closed, if FD
 * is -1. */
bool osc_fd_take(struct osc_fd *f, int fd);

/* The descriptor if it is still ours, else -1. */
int osc_fd_get(const struct osc_fd *f);

/* The same. If the host has closed it, open PATH with FLAGS, if that is our file. */
int osc_fd_reopen(struct osc_fd *f, const char *path, int flags);

/* Close it, unless the number is the host's by now. */
void osc_fd_close(struct osc_fd *f);
