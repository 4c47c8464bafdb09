/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persistent_records.h - copies of the records that every part of a recording needs: names
 * of threads, metadata, devices. They are in the file `standing` of the live directory.
 *
 *   - The blocks they came from are reused, and the part that contains them may be deleted, or
 *     not written yet. The file keeps them, even if the process is killed.
 *
 * Threading: one thread at a time.
 */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "wire/pack.h"

/* Zeroed it is closed. */
struct osc_persistent {
    unsigned char *base; /* owned: the file, mapped */
};

/* Create the file in the live directory LIVE_FD. Call osc_persistent_close() even after
 * OSC_ENOMEM and OSC_EIO. */
OSC_MUST_USE osc_status osc_persistent_open(struct osc_persistent *s, int live_fd,
                                            const uint64_t recording[2]);
/* Does not remove the file. */
void osc_persistent_close(struct osc_persistent *s);

/* Add the persistent records in RANGE of B, if they fit; there is room for thousands of names.
 * False if they do not fit, or a record in RANGE is unfinished. */
bool osc_persistent_add(struct osc_persistent *s, const struct osc_block *b,
                        struct osc_pack_range range);

/* The segments of copies, *LEN bytes, borrowed; returns the number of records in them. */
uint64_t osc_persistent_get(const struct osc_persistent *s, const unsigned char **segments,
                            size_t *len);
