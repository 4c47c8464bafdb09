/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_order.h - put segments of records in the order in which they are read.
 *
 * Segments of a thread must be read in order of block and slot, but a segment may follow a
 * later one in the file, because a block waited for an unfinished call. Each segment is due at
 * its own chunk, or at the chunk of an earlier segment of its thread if that is later. So
 * segments are read nearly in order of the file, which is nearly the order of time.
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
    size_t due;       /* index of a chunk; at first its own */
    size_t block;     /* index + 1 among the live blocks; 0: it is in the file */
    bool is_standing; /* persistent records: offset is in the copies of the live directory, or
                         a copy is made of those in block before the records that count */
};

/* Zeroed, it is empty. */
struct osc_segment_order {
    struct osc_segment *segments; /* owned */
    size_t n, cap;
    struct osc_idmap written; /* seq of a block -> slots of it that are in the file */
};

OSC_MUST_USE osc_status osc_segment_order_add(struct osc_segment_order *o,
                                              const struct osc_segment *s);
void osc_segment_order_fini(struct osc_segment_order *o);

/* How many slots of block SEQ were added, from its first on. */
uint32_t osc_segment_order_written(const struct osc_segment_order *o, uint64_t seq);

/* Sort the segments and drop duplicates. */
OSC_MUST_USE osc_status osc_segment_order_sort(struct osc_segment_order *o);
