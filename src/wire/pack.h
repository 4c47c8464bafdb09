/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - records as the file has them: a few bytes each.
 *
 *     payload of a RECORDS chunk: segment | segment | ...
 *     segment: u64 block seq, u32 thread ordinal, u32 first slot, u32 slots, u32 records,
 *              u64 ticks at its start, u32 bytes of packed records, u32 unfinished;
 *              then the packed records
 *     record:  kind u8 | of timed kinds the time, less that of the record before (the
 *              segment's at first), zigzag, varint | id, varint, unless the kind has
 *              none | of others than timed ones the value | the words, of ARG_TEXT and
 *              ARG_JSON the bytes, of ARG_STACK how many frames at its outer end are those
 *              of the segment's stack before, then the others, each less the one inside it
 *
 *   Words and values are varints, but for floats (8 bytes as they are) and the integers
 *   of args and counters (zigzag first); of COUNTER_I64 and _F64 that is the first word.
 *   A begin takes 3 to 7 bytes, an end 2 to 4.
 *
 *   Segments of a thread stand in any order: a block in which a call has not finished
 *   waits for it. By seq, then first slot, they are in the order of the calls.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/live.h"

/* Before the packed records of a segment. */
struct osc_pack_segment {
    uint64_t seq;
    uint32_t thread;
    uint32_t first_slot, n_slots; /* of the block: what need not be taken from there again;
                                     no slots: copies of records of earlier parts */
    uint32_t n_records;
    uint64_t start_ticks;
    uint32_t n_bytes;      /* of the packed records that follow */
    uint32_t n_unfinished; /* slots reserved by calls that never finished */
};

_Static_assert(sizeof(struct osc_pack_segment) == 40, "as format.md draws it");

/*
 * The segment of the LEN bytes at P that begins at *AT into S; its records end where *AT is
 * then. False: there is none that is whole, and *AT stays; LEN if all was read.
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

/* Bytes that the records of N_SLOTS slots can take at most, segment header included. */
size_t osc_pack_bound(uint32_t n_slots);

/* What to pack of a block. */
struct osc_pack_range {
    uint32_t first_slot, end_slot; /* END_SLOT itself is not packed */
    bool take_all;                 /* skip and count slots that nobody has finished */
};

/* The least and the greatest time in what was packed; both 0: none. */
struct osc_pack_times {
    uint64_t first, last;
};

/*
 * Pack what stands in RANGE of B to OUT, which has room for osc_pack_bound() bytes; fill
 * *S, which goes before it. Returns the bytes written behind the segment header. *TIMES
 * is widened to what they tell. It stops before a slot that nobody has finished, unless
 * all is to be taken.
 */
size_t osc_pack_block(const struct osc_block *b, struct osc_pack_range range,
                      struct osc_pack_segment *s, unsigned char *out,
                      struct osc_pack_times *times);

/*
 * Where in B, from FIRST_SLOT to before END_SLOT, the first record stands that is of TICKS
 * or later; an end at TICKS is not. If there is none, where the last whole record ends.
 * Slots that nobody has finished are passed over.
 */
uint32_t osc_pack_find(const struct osc_block *b, uint32_t first_slot, uint32_t end_slot,
                       uint64_t ticks);

/*
 * The same for the standing records of RANGE alone: names of threads and of the process,
 * metadata, devices, queues. They hold for all parts of a recording, so each part has a
 * copy; *S says that it is of no slots. Slots that nobody has finished are counted.
 */
size_t osc_pack_standing(const struct osc_block *b, struct osc_pack_range range,
                         struct osc_pack_segment *s, unsigned char *out);

/* One record unpacked. */
struct osc_packed {
    uint8_t kind;
    uint32_t id;
    uint64_t ticks; /* of timed kinds, COMPLETE's start included */
    uint64_t value; /* of others */
    uint64_t words[8];
    const unsigned char *bytes; /* borrowed: of ARG_TEXT, ARG_JSON; packed ints of I64S */
    uint32_t n_bytes;
    const uint64_t *frames; /* borrowed: VALUE of them, of ARG_STACK; good until the next one */
};

/* Reads a segment's records one after the other. */
struct osc_unpack {
    const unsigned char *at, *end;
    uint64_t ticks;
    uint32_t n_frames; /* of the last ARG_STACK */
    uint64_t frames[OSC_RECORD_FRAMES_MAX];
};

/* The next record; false at the end, or with U->at == NULL where bytes make no sense. */
bool osc_unpack_next(struct osc_unpack *u, struct osc_packed *r);

/* The next of the integers of an I64S: what follows it, NULL if there is none before END. */
const unsigned char *osc_unpack_i64(const unsigned char *at, const unsigned char *end,
                                    int64_t *value);
