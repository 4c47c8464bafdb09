/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - records as an .osc file stores them: a few bytes each.
 *
 *     payload of a RECORDS chunk: segment | segment | ...
 *     segment: u64 block seq, u32 thread ordinal, u32 first slot, u32 slots, u32 records,
 *              u64 ticks at its start, u32 bytes of packed records, u32 unfinished;
 *              then the packed records
 *     record:  kind u8
 *              | timed kinds: time minus that of the previous record (for the first one
 *                the segment's), zigzag, varint
 *              | id, varint, unless the kind has none
 *              | other kinds: value
 *              | the words; for ARG_TEXT and ARG_JSON the bytes; for ARG_STACK the number
 *                of outer frames shared with the previous stack of the segment, then the
 *                others, each minus the one inside it
 *
 *   Words and values are varints, except floats (8 bytes as they are) and the integers of
 *   args and counters (zigzag first); for COUNTER_I64 and _F64 this applies to the first
 *   word. A begin takes 3 to 7 bytes, an end 2 to 4.
 *
 *   Segments of a thread may be in any order: a block with an unfinished call waits for
 *   it. Sorted by seq, then first slot, they are in the order of the calls.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/live.h"

/* Stands before the packed records of a segment. */
struct osc_pack_segment {
    uint64_t seq;
    uint32_t thread;
    uint32_t first_slot, n_slots; /* of the block; they need not be read from it again. No
                                   * slots: copies of records of earlier parts */
    uint32_t n_records;
    uint64_t start_ticks;
    uint32_t n_bytes;      /* of the packed records that follow */
    uint32_t n_unfinished; /* slots reserved by calls that never finished */
};

_Static_assert(sizeof(struct osc_pack_segment) == 40, "as format.md draws it");

/*
 * Read the segment header at *AT of the LEN bytes at P into S and set *AT to the end of its
 * records. False: there is no complete segment, and *AT is unchanged; it is LEN if all was
 * read.
 */
static inline bool osc_pack_next_segment(const unsigned char *p, size_t len, size_t *at,
                                         struct osc_pack_segment *s)
{
    if (len - *at < sizeof *s)
        return false;
    memcpy(s, p + *at, sizeof *s);
    if (s->n_bytes > len - *at - sizeof *s)
        return false;
    *at += sizeof *s + s->n_bytes;
    return true;
}

/* Most bytes that the records of N_SLOTS slots can take, including the segment header. */
size_t osc_pack_bound(uint32_t n_slots);

/* Which slots of a block to pack. */
struct osc_pack_range {
    uint32_t first_slot, end_slot; /* END_SLOT is not packed */
    bool take_all;                 /* skip and count unfinished slots */
};

/* The earliest and latest packed time; both 0: none. */
struct osc_pack_times {
    uint64_t first, last;
};

/*
 * Pack the slots RANGE of B to OUT, which has room for osc_pack_bound() bytes, and fill *S,
 * the header to put before them. Returns the number of bytes after the segment header. *TIMES
 * is widened by the packed times. Packing stops before an unfinished slot unless
 * range.take_all is set.
 */
size_t osc_pack_block(const struct osc_block *b, struct osc_pack_range range,
                      struct osc_pack_segment *s, unsigned char *out,
                      struct osc_pack_times *times);

/*
 * The slot of the first record in B, from FIRST_SLOT to before END_SLOT, at TICKS or later; an
 * end at TICKS does not count, nor what stands before the end of a step at TICKS. If there is
 * none, the slot after the last complete record. Unfinished slots are skipped.
 */
uint32_t osc_pack_find(const struct osc_block *b, uint32_t first_slot, uint32_t end_slot,
                       uint64_t ticks);

/* The greatest time of the records in B before END_SLOT; 0 if none has a time, UINT64_MAX if
 * one is not complete. */
uint64_t osc_pack_newest(const struct osc_block *b, uint32_t end_slot);

/*
 * Pack only the standing records of RANGE: names of threads and of the process, metadata,
 * devices, queues. They hold for all parts of a recording, so each part has a copy; *S has no
 * slots. Unfinished slots are counted.
 */
size_t osc_pack_standing(const struct osc_block *b, struct osc_pack_range range,
                         struct osc_pack_segment *s, unsigned char *out);

/* One record unpacked. */
struct osc_packed {
    uint8_t kind;
    uint32_t id;
    uint64_t ticks; /* of timed kinds, COMPLETE's start included */
    uint64_t value; /* of other kinds */
    uint64_t words[8];
    const unsigned char *bytes; /* borrowed: of ARG_TEXT, ARG_JSON; packed ints of I64S */
    uint32_t n_bytes;
    const uint64_t *frames; /* borrowed; VALUE frames of ARG_STACK; valid until the next
                             * record */
};

/* Reads the records of a segment in order. */
struct osc_unpack {
    const unsigned char *at, *end;
    uint64_t ticks;
    uint32_t n_frames; /* of the last ARG_STACK */
    uint64_t frames[OSC_RECORD_FRAMES_MAX];
};

/* Read the next record; false at the end, or with U->at == NULL at invalid bytes. */
bool osc_unpack_next(struct osc_unpack *u, struct osc_packed *r);

/* Read the next integer of an I64S; returns the position after it, or NULL at END. */
const unsigned char *osc_unpack_i64(const unsigned char *at, const unsigned char *end,
                                    int64_t *value);
