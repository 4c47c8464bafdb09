/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_order.h - segments of records in the order in which they are to be read.
 *
 * Those of a thread must be read in order of block and slot, but one may stand in the
 * file behind a later one: a block with a call that had not finished waited. Each is due
 * at its own chunk, or at the last chunk that one before it of the same thread is in; so
 * what is read is nearly in order of the file, which is nearly that of time.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>

#include "base/idmap.h"
#include "wire/pack.h"

struct osc_segment {
    struct osc_pack_segment head;
    uint64_t offset;  /* in the file, of its records */
    size_t due;       /* chunk; at first its own */
    size_t block;     /* index + 1 among the live blocks; 0: it is in the file */
    bool is_standing; /* OFFSET is in the copies of the live directory; or a copy is to be made
                         of what block has in front of what counts */
};

/* Zeroed, there are none. */
struct osc_segment_order {
    struct osc_segment *segments; /* owned */
    size_t n, cap;
    struct osc_idmap written; /* seq of a block -> slots of it that are in the file */
};

OSC_MUST_USE osc_status osc_segment_order_add(struct osc_segment_order *o,
                                              const struct osc_segment *s);
void osc_segment_order_fini(struct osc_segment_order *o);

/* How many slots of block SEQ have been added, from its first on. */
uint32_t osc_segment_order_written(const struct osc_segment_order *o, uint64_t seq);

/* Put them in order, and leave out what is there twice. */
OSC_MUST_USE osc_status osc_segment_order_sort(struct osc_segment_order *o);
