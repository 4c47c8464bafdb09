/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persistent_records.h - copies of the records that each part of a recording has, as names of
 * threads, metadata and devices, in a file of the live directory (wire/live.h).
 *
 *   - The blocks they came from are used again, and a part that has them may be deleted, or
 *     never come to be: who is killed leaves them here.
 *
 * Threading: one thread at a time.
 */
#ifndef OSC_RECORDER_LIVE_PERSISTENT_RECORDS_H
#define OSC_RECORDER_LIVE_PERSISTENT_RECORDS_H

#include <stddef.h>

#include "base/status.h"
#include "wire/pack.h"

/* Zeroed, there is none. */
struct osc_persistent {
    unsigned char *base; /* owned: the file, mapped */
};

/* Make the file in the live directory LIVE_FD. OSC_ENOMEM, OSC_EIO: osc_persistent_close() is
 * still to be called. */
OSC_MUST_USE osc_status osc_persistent_open(struct osc_persistent *s, int live_fd,
                                            const uint64_t recording[2]);
/* The file stays. */
void osc_persistent_close(struct osc_persistent *s);

/* Add what stands in RANGE of B; what there is no room for, after thousands of names, is left
 * out. False if somebody has not finished a record there. */
bool osc_persistent_learn(struct osc_persistent *s, const struct osc_block *b,
                          struct osc_pack_range range);

/* Segments of copies, *LEN bytes of them, borrowed; returns how many records they hold. */
uint64_t osc_persistent_get(const struct osc_persistent *s, const unsigned char **segments,
                            size_t *len);

#endif
