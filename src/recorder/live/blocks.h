/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - the blocks that threads record into: taken, filled, written, used again.
 *
 *     free list --take--> OPEN, of one thread --fill--> full list --drain--> flusher
 *         ^                                                                   |
 *         '---------------------------- give back ----------------------------'
 *
 * A thread touches what others touch only when its block of 1,022 slots is full. All
 * lists are stacks of indexes with a counter beside the head, so that an index that
 * comes back at the wrong moment is noticed; tries are bounded, so that a thread that
 * has bad luck drops and counts instead of spinning.
 *
 *   - Blocks lie in the file `blocks` of the live directory (wire/live.h), mapped in
 *     pieces as it grows; room is reserved on the disk first, and as much left for what
 *     else is recorded. No piece is unmapped before the process ends: a thread may write to
 *     it at any time; its addresses serve again many recordings later.
 *   - Used blocks come back first: they are still in the cache.
 *   - In the child of a fork nothing of this is touched again: it starts anew.
 *
 * Threading: osc_blocks_take(), osc_blocks_are_out() and osc_blocks_fill() from any thread and
 * from signal handlers; the rest by one thread at a time, the flusher.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "wire/live.h"

/*
 * Create the file `blocks` in the directory DIR_FD, with room for at most LIMIT_BYTES of
 * blocks, the first of them mapped and touched. RECORDING is the random id of the file.
 */
OSC_MUST_USE osc_status osc_blocks_open(int dir_fd, uint64_t limit_bytes,
                                        const uint64_t recording[2]);

/* The header, for what else is kept there. NULL before the first
 * osc_blocks_open(); after osc_blocks_close() memory that is never read. */
struct osc_live_header *osc_blocks_header(void);

/* The entries of threads: OSC_LIVE_THREADS of them. */
struct osc_live_thread *osc_blocks_threads(void);

/* An OPEN block for the thread ORDINAL, TID, with a new seq; NULL: there is none. Wakes the
 * flusher when no more are free than osc_blocks_fill() wakes it for. */
struct osc_block *osc_blocks_take(uint64_t ordinal, uint32_t tid);

/* Whether none is free just now. */
bool osc_blocks_are_out(void);

/* How many are free: more or less, while others take and give back. */
uint32_t osc_blocks_free(void);

/* Whether less than a quarter is free. */
bool osc_blocks_are_few(void);

/* B is full, or its thread has ended: USED_SLOTS of it were reserved. Wakes the flusher
 * once a quarter of all blocks waits, or the part that osc_blocks_wake_at() said. */
void osc_blocks_fill(struct osc_block *b, uint32_t used_slots);

/* All full blocks, in the order in which they became full, linked by osc_block.next;
 * they are the caller's until given back. NULL: none. */
struct osc_block *osc_blocks_drain(void);
struct osc_block *osc_blocks_next(const struct osc_block *b);

/* B was written, or is not wanted any more: it is FREE. */
void osc_blocks_give_back(struct osc_block *b);

/* Block I of osc_live_header.n_blocks, whatever its state. */
struct osc_block *osc_blocks_at(uint32_t i);

/* Reserve and map another piece; false: the limit or the disk does not allow it. */
bool osc_blocks_add(void);

/* The same if less than a quarter is free. */
void osc_blocks_grow(void);

/* The same if there are fewer than N_BLOCKS: ahead of need, at the rate that they fill. */
void osc_blocks_grow_to(uint64_t n_blocks);

/* Sleep until blocks wait, osc_blocks_wake() is called, or TIMEOUT_NS passed. */
void osc_blocks_wait(int64_t timeout_ns);
void osc_blocks_wake(void);

/* Blocks wait from when one in PART of all does. Of a recording that is open. */
void osc_blocks_wake_at(uint32_t part);

/* The recording is over: the room goes back to the system once the file is removed. What
 * a thread that was asleep still writes lands in memory that is never read. */
void osc_blocks_close(void);

/* Forget all of it without writing to it: in the child of a fork. */
void osc_blocks_forget(void);
