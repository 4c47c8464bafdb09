/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_fd.h - file descriptors of the recorder in a host process.
 *
 * Hosts rely on the numbers that open() returns, so the recorder uses high numbers. A host may
 * also close all descriptors, including these, and then get one of the numbers for a file of
 * its own. So each use first checks that the number still refers to the recorder's file.
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

/* Take ownership of FD and move it to a high number that is closed on exec. False if FD is -1;
 * F is then closed. */
bool osc_fd_take(struct osc_fd *f, int fd);

/* The descriptor if it is still the recorder's, else -1. */
int osc_fd_get(const struct osc_fd *f);

/* As osc_fd_get(). If the host has closed it, open PATH with FLAGS, provided that it is the
 * same file. */
int osc_fd_reopen(struct osc_fd *f, const char *path, int flags);

/* Close it, unless the number now belongs to the host. */
void osc_fd_close(struct osc_fd *f);
