/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_state.h - what holds where a part ends and the next one goes on.
 *
 * A part of a rotation must be readable when those before it are deleted. So it begins
 * with copies of the records that still hold: of each thread the begins of its open scopes
 * and of its step, of each device the first and the last reading of its clock. They are
 * found by following what is written, so they are of what earlier parts have, no more.
 *
 *   - Blocks of a thread must be followed in order. Where one comes before its time,
 *     because a call in an older one has not finished, the scopes of that thread are
 *     forgotten: to say nothing is better than to say what is wrong.
 *   - Scopes deeper than OSC_PART_STATE_DEPTH are counted, and while there are any, those of
 * the thread are not told. A thread that finds no room is not followed.
 *
 * Threading: one thread at a time.
 */
#ifndef OSC_RECORDER_FLUSHER_PART_STATE_H
#define OSC_RECORDER_FLUSHER_PART_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/pack.h"

#define OSC_PART_STATE_DEPTH   250u
#define OSC_PART_STATE_DEVICES 64u
/* A thread stands at most so many places behind the one that its number says. */
#define OSC_PART_STATE_PLACES  8u
#define OSC_PART_STATE_THREADS (OSC_LIVE_THREADS + OSC_PART_STATE_PLACES)

struct osc_part_state_thread {
    uint64_t seq;   /* of the block that was followed last */
    uint32_t depth; /* scopes open */
    uint32_t end_slot;
    bool is_through; /* there is no more in it */
    bool has_step;
    bool is_seen; /* it is among the threads that are there */
    struct osc_record_slot step[2];
    struct osc_record_slot open[OSC_PART_STATE_DEPTH];
};

struct osc_part_state_device {
    uint32_t device, thread; /* whose readings these are, and who took the last one */
    uint32_t n_readings;     /* 0, 1, or 2 for more */
    struct osc_record_slot readings[2][2];
};

/* Zeroed, it is closed, and nothing is followed. */
struct osc_part_state {
    uint32_t ids[OSC_PART_STATE_THREADS];  /* of threads, as in a block; 0: the entry is free */
    struct osc_part_state_thread *threads; /* owned; OSC_PART_STATE_THREADS of them */
    struct osc_part_state_device devices[OSC_PART_STATE_DEVICES];
    uint32_t n_devices;
    struct osc_block block; /* the copies that are being packed */
};

/* If there is no room for it, nothing is followed. */
void osc_part_state_open(struct osc_part_state *carry);
void osc_part_state_close(struct osc_part_state *carry);

/* The slots of B from FIRST to before END were written. */
void osc_part_state_follow(struct osc_part_state *carry, const struct osc_block *b,
                           uint32_t first, uint32_t end);

/* What comes does not go on from what was followed: no scope or step is open. */
void osc_part_state_forget(struct osc_part_state *carry);

/*
 * Segments of copies for a new part to OUT of ROOM bytes; what does not fit is left out.
 * Returns their bytes; *N_RECORDS is how many there are.
 */
size_t osc_part_state_tell(struct osc_part_state *carry, unsigned char *out, size_t room,
                           uint64_t *n_records);

#endif
