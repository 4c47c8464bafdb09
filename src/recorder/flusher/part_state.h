/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_state.h - what is open when one part ends and the next one begins.
 *
 * A part of a rotation must be readable after the parts before it are deleted. So it
 * begins with copies of the records that still apply: of each thread the begins of its
 * open scopes and of its step, of each device the first and the last reading of its clock.
 * This module follows everything that is written, so it copies only records that earlier parts
 * contain.
 *
 *   - The blocks of a thread have to be followed in order. A block that comes too early,
 *     because a call in an older block has not finished, clears the scopes of its thread:
 *     no copy is better than a wrong one.
 *   - Scopes deeper than OSC_PART_STATE_DEPTH are only counted; while there are any, the
 *     scopes of the thread are not copied. A thread without room is not followed.
 *   - The end of a scope of another thread (END_OF) may be followed before its begin, which
 *     comes with the same flush or the next one. It waits until then.
 *
 * Threading: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/pack.h"

#define OSC_PART_STATE_DEPTH   250u
#define OSC_PART_STATE_DEVICES 64u
#define OSC_PART_STATE_LATE    1024u
/* A thread is at most this many entries after the one that its number selects. */
#define OSC_PART_STATE_PLACES  8u
#define OSC_PART_STATE_THREADS (OSC_LIVE_THREADS + OSC_PART_STATE_PLACES)

struct osc_part_state_thread {
    uint64_t seq;   /* of the last block followed */
    uint32_t depth; /* scopes open */
    uint32_t end_slot;
    bool is_through; /* the block has been followed to its end */
    bool has_step;
    bool is_seen; /* the thread was found in the search under way */
    struct osc_record_slot step[2];
    struct osc_record_slot open[OSC_PART_STATE_DEPTH];
};

/* An END_OF whose scope was not found. */
struct osc_part_state_late {
    uint32_t token, place; /* place: of the thread that has it */
    bool is_old;           /* it has waited for a flush */
};

struct osc_part_state_device {
    uint32_t device, thread; /* the device read; the thread of the last reading */
    uint32_t n_readings;     /* 0, 1, or 2 for more */
    struct osc_record_slot readings[2][2];
};

/* Zeroed it is closed: nothing is followed. */
struct osc_part_state {
    uint32_t ids[OSC_PART_STATE_THREADS];  /* of threads, as in a block; 0: the entry is free */
    struct osc_part_state_thread *threads; /* owned; OSC_PART_STATE_THREADS of them */
    struct osc_part_state_device devices[OSC_PART_STATE_DEVICES];
    uint32_t n_devices;
    struct osc_part_state_late late[OSC_PART_STATE_LATE];
    uint32_t n_late;
    struct osc_block block; /* the copies that are being packed */
};

/* Without memory nothing is followed. */
void osc_part_state_open(struct osc_part_state *state);
void osc_part_state_close(struct osc_part_state *state);

/* The slots of B from FIRST to before END have been written to a part. */
void osc_part_state_follow(struct osc_part_state *state, const struct osc_block *b,
                           uint32_t first, uint32_t end);

/* All blocks of a flush have been followed: end the scopes whose end came before their begin.
 */
void osc_part_state_settle(struct osc_part_state *state);

/* The next block does not continue what was followed: no scope or step is open. */
void osc_part_state_forget(struct osc_part_state *state);

/*
 * Write segments of copies for a new part to OUT, which has ROOM bytes; what does not fit
 * is left out. Returns the bytes written; *N_RECORDS is how many records they hold.
 */
size_t osc_part_state_write(struct osc_part_state *state, unsigned char *out, size_t room,
                            uint64_t *n_records);
