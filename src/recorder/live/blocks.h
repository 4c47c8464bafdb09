/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - the blocks that threads record into: taken, filled, written, reused.
 *
 *     free list --take--> OPEN, of one thread --fill--> full list --drain--> flusher
 *         ^                                                                   |
 *         '---------------------------- give back ----------------------------'
 *
 * A thread touches shared memory only when its block of 1,022 slots is full. All lists are
 * stacks of indexes with a change counter beside the head, which detects an index that comes
 * back at the wrong moment. Tries are bounded, so that an unlucky thread drops and counts a
 * record instead of spinning.
 *
 *   - Blocks lie in the file `blocks` of the live directory (wire/live.h), mapped in pieces as
 *     it grows. Disk space is reserved first, and as much is left free for the other files. No
 *     piece is unmapped before the process ends, because a thread may write to it at any time;
 *     its addresses are reused several recordings later.
 *   - Recently used blocks are taken first: they are still in the cache.
 *   - The flusher adds blocks ahead of need. If many threads begin at once, they wait for it
 *     (osc_blocks_await()), but never when the limit or the disk is what is missing.
 *   - The child of a fork never touches these blocks: it starts afresh.
 *
 * Threading: osc_blocks_take(), osc_blocks_are_out(), osc_blocks_await() and osc_blocks_fill()
 * from any thread and from signal handlers; the rest by one thread at a time, the flusher.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "wire/live.h"

/*
 * Create the file `blocks` in the directory DIR_FD, with room for at most LIMIT_BYTES of
 * blocks, a megabyte of them mapped and touched. RECORDING is the random id of the file.
 */
OSC_MUST_USE osc_status osc_blocks_open(int dir_fd, uint64_t limit_bytes,
                                        const uint64_t recording[2]);

/* The header, for its other fields. NULL before the first osc_blocks_open(); after
 * osc_blocks_close() memory that nobody reads. */
struct osc_live_header *osc_blocks_header(void);

/* The OSC_LIVE_THREADS entries of threads. */
struct osc_live_thread *osc_blocks_threads(void);

/* An OPEN block for the thread ORDINAL, TID, with a new seq; NULL: there is none. Wakes the
 * flusher when few blocks are free. */
struct osc_block *osc_blocks_take(uint64_t ordinal, uint32_t tid);

/* Whether no block is free at the moment. */
bool osc_blocks_are_out(void);

/* osc_blocks_take() when no block is free, for a thread that may wait until the flusher adds
 * some: a second at most. After that no call waits again before the flusher has slept. */
struct osc_block *osc_blocks_await(uint64_t ordinal, uint32_t tid);

/* How many are free; approximate while others take and give back. */
uint32_t osc_blocks_free(void);

/* Whether less than a quarter is free. */
bool osc_blocks_are_few(void);

/* B is full, or its thread has ended: USED_SLOTS of it were reserved. Wakes the flusher once a
 * quarter of all blocks are full, or the fraction set by osc_blocks_wake_at(). */
void osc_blocks_fill(struct osc_block *b, uint32_t used_slots);

/* All full blocks, in the order in which they became full, linked by osc_block.next;
 * the caller owns them until it gives them back. NULL: none. */
struct osc_block *osc_blocks_drain(void);
struct osc_block *osc_blocks_next(const struct osc_block *b);

/* Free B, which was written or is no longer wanted. */
void osc_blocks_give_back(struct osc_block *b);

/* Block I of osc_live_header.n_blocks, whatever its state, and the index of block B. */
struct osc_block *osc_blocks_at(uint32_t i);
uint32_t osc_blocks_index(const struct osc_block *b);

/* Reserve and map another piece; false: the limit or the disk does not allow it. */
bool osc_blocks_add(void);

/* osc_blocks_add() while less than a quarter is free. */
void osc_blocks_grow(void);

/* Add a few blocks until there are as many as osc_blocks_add() adds, so that a start takes
 * little time; false: there are, or no more are to be had. */
bool osc_blocks_grow_early(void);

/* A flusher sleeps, or is about to run: threads may wait for blocks that it adds. */
void osc_blocks_invite(void);

/* osc_blocks_add() if there are fewer than N_BLOCKS: ahead of need, at the rate at which they
 * fill. */
void osc_blocks_grow_to(uint64_t n_blocks);

/* Sleep until blocks are full, osc_blocks_wake() is called, or TIMEOUT_NS have passed. */
void osc_blocks_wait(int64_t timeout_ns);
void osc_blocks_wake(void);

/* Wake the flusher when one in PART blocks is full; for the open recording. */
void osc_blocks_wake_at(uint32_t part);

/* The recording is over: its space is freed once the file is removed. A thread that slept may
 * still write, to memory that nobody reads. */
void osc_blocks_close(void);

/* Call in the child of a fork: forgets the pool without writing to it. */
void osc_blocks_forget(void);
