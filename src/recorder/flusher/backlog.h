/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.h - which blocks are still to be written, and when they may be used again.
 *
 *     osc_blocks_drain() --> waiting --written--> given back
 *                               |      or old     '--> asleep, until their thread ends
 *                               '--kept by a flight recorder
 *
 *   - A call that reserved a slot and has not written it (its thread sleeps, or runs a
 *     signal handler) will write it one day. A block with such a slot waits for it a
 *     while; after that it is written without, and not given to others before its
 *     thread has ended.
 *   - Open blocks are looked at where a window or dump ends; they stay their thread's.
 *
 * Threading: the flusher.
 */
#ifndef OSC_RECORDER_FLUSHER_BACKLOG_H
#define OSC_RECORDER_FLUSHER_BACKLOG_H

#include "recorder/flusher/sink.h"
#include "wire/live.h"

struct osc_backlog_entry {
    struct osc_block *block;
    uint64_t drained_ticks; /* its records are older */
    int64_t drained_ns;
    bool may_have_holes; /* nobody has seen that all in it is finished */
    bool is_waiting;     /* at the last look, something in it was not finished */
    bool is_asleep;      /* written, but for slots that its thread may still write to */
};

struct osc_backlog {
    struct osc_backlog_entry *entries; /* owned; in the order in which they became full */
    uint32_t n, room;
    uint32_t n_asleep;
    uint64_t evicted_ticks; /* some records before this were given up */
};

/* For at most N_BLOCKS blocks. */
OSC_MUST_USE osc_status osc_backlog_open(struct osc_backlog *backlog, uint64_t n_blocks);
void osc_backlog_close(struct osc_backlog *backlog);

/* Take over the blocks that became full, at NOW. SINK, if not NULL, learns what stands in
 * them. */
void osc_backlog_drain(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t now_ticks,
                       int64_t now_ns);

/* Nobody records any more: take over what is full and was never handed over, since its thread
 * was torn off on the way. */
void osc_backlog_gather(struct osc_backlog *backlog, uint64_t now_ticks, int64_t now_ns);

/* What to write. */
struct osc_backlog_range {
    uint64_t from_ticks, until_ticks; /* records at FROM are in it, those at UNTIL not */
    int64_t now_ns;
    bool with_open; /* blocks that are not full, too */
    bool take_all;  /* do not wait for slots that nobody has finished */
    bool keep;      /* write from the start of each block, and keep it all the same */
};

/*
 * Write what is in RANGE to SINK, or nowhere if that is NULL, and give back what is done.
 * *N_WAITING is the number of blocks in which something is not finished.
 */
OSC_MUST_USE osc_status osc_backlog_write(struct osc_backlog *backlog, struct osc_sink *sink,
                                          const struct osc_backlog_range *range,
                                          uint32_t *n_waiting);

/*
 * A window begins: SINK is to write what it has learned, and here is put what it has not,
 * the standing records of open blocks as far as these were written or forgotten; with
 * FROM_TICKS those of all blocks that are kept, as far as they are older.
 */
OSC_MUST_USE osc_status osc_backlog_put_standing(const struct osc_backlog *backlog,
                                                 struct osc_sink *sink, uint64_t from_ticks);

/*
 * How many blocks a flight recorder can keep that has no use for those older than TICKS: all
 * but those that threads need until it looks again. That is an eighth of them, or N_IN_STALL,
 * what fills in a stall, but half at most. More memory is taken first, as far as there is.
 */
uint32_t osc_backlog_keep(const struct osc_backlog *backlog, uint64_t ticks,
                          uint32_t n_in_stall);

/* Until when osc_backlog_evict() would give up what is in the blocks; at least TICKS. */
uint64_t osc_backlog_evicts(const struct osc_backlog *backlog, uint64_t ticks, uint32_t n_max);

/* Give back what is older than TICKS, and the oldest so that at most N_MAX are left; SINK
 * learns what stood in them. */
void osc_backlog_evict(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t ticks,
                       uint32_t n_max);

/* Give back those that are asleep and whose thread has ended. */
void osc_backlog_wake(struct osc_backlog *backlog);

/* Threads by the low bits of their ordinals: some that are not in it look as if they were. */
struct osc_thread_set {
    unsigned char bits[1 << 13];
};

/* The threads of blocks that are still here. */
void osc_backlog_threads(const struct osc_backlog *backlog, struct osc_thread_set *set);
bool osc_threads_in(const struct osc_thread_set *set, uint64_t ordinal);

#endif
