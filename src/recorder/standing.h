/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standing.h - copies of the records that each part of a recording has, as names of threads,
 * metadata and devices, in a file of the live directory (wire/live.h).
 *
 *   - The blocks they came from are used again, and a part that has them may be deleted, or
 *     never come to be: who is killed leaves them here.
 *
 * Threading: one thread at a time.
 */
#ifndef OSC_RECORDER_STANDING_H
#define OSC_RECORDER_STANDING_H

#include <stddef.h>

#include "base/status.h"
#include "wire/pack.h"

/* Zeroed, there is none. */
struct osc_standing {
    unsigned char *base; /* owned: the file, mapped */
};

/* Make the file in the live directory LIVE_FD. OSC_ENOMEM, OSC_EIO: osc_standing_close() is
 * still to be called. */
OSC_MUST_USE osc_status osc_standing_open(struct osc_standing *s, int live_fd,
                                          const uint64_t recording[2]);
/* The file stays. */
void osc_standing_close(struct osc_standing *s);

/* Add what stands in RANGE of B; what there is no room for, after thousands of names, is left
 * out. False if somebody has not finished a record there. */
bool osc_standing_learn(struct osc_standing *s, const struct osc_block *b,
                        struct osc_pack_range range);

/* Segments of copies, *LEN bytes of them, borrowed; returns how many records they hold. */
uint64_t osc_standing_get(const struct osc_standing *s, const unsigned char **segments,
                          size_t *len);

#endif
