/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.h - full blocks that are still to be written, and when they may be used again.
 *
 *     osc_blocks_drain() --> waiting --written--> given back
 *                               |      or old     '--> asleep, for a second at most
 *                               '--kept by a flight recorder
 *
 *   - A call may have reserved a slot without having written it: a signal handler that
 *     interrupted it filled the block, or jumped out of it. A block with such a slot waits
 *     until a second has passed or its thread has ended; then it is written without that
 *     record and given back. A handler that records for more than a second and returns into
 *     such a call overwrites a slot of whoever has the block by then.
 *   - A thread that jumped out of the slow path and then ended leaves its block open; it is
 *     adopted when blocks are few.
 *   - Open blocks are read when a window or dump ends; they stay with their threads. Blocks
 *     that became full after the last osc_backlog_drain() are read then, too; they are taken
 *     over later.
 *
 * Threading: the flusher.
 */
#pragma once

#include "recorder/flusher/sink.h"
#include "wire/live.h"

struct osc_backlog_entry {
    struct osc_block *block;
    uint64_t drained_ticks; /* all its records are older */
    int64_t drained_ns;
    bool may_have_holes; /* not every record is known to be finished */
    bool is_waiting;     /* at the last look, a record was not finished */
    bool is_asleep;      /* written, except slots that a call may still write */
};

struct osc_backlog {
    struct osc_backlog_entry *entries; /* owned; in the order in which they became full */
    unsigned char *is_entry;           /* owned; a bit for each block, see write_rest() */
    uint32_t n, room;
    uint32_t n_asleep;
    int64_t now_ns;                /* of the last call that had one */
    uint64_t evicted_ticks;        /* some records before this time were discarded */
    struct osc_part_state evicted; /* what was open where kept records begin; may be closed */
};

/* Open a backlog for at most N_BLOCKS blocks. */
OSC_MUST_USE osc_status osc_backlog_open(struct osc_backlog *backlog, uint64_t n_blocks);
void osc_backlog_close(struct osc_backlog *backlog);

/* Take over the blocks that became full, at NOW. SINK, if not NULL, stores their persistent
 * records. */
void osc_backlog_drain(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t now_ticks,
                       int64_t now_ns);

/* Recording is over: take over full blocks that never reached the list, because their thread
 * jumped out of the slow path. */
void osc_backlog_gather(struct osc_backlog *backlog, uint64_t now_ticks, int64_t now_ns);

/* Take over open blocks whose threads have ended, at NOW; returns how many. SINK: as above. */
uint32_t osc_backlog_adopt(struct osc_backlog *backlog, struct osc_sink *sink,
                           uint64_t now_ticks, int64_t now_ns);

/* Which records to write. */
struct osc_backlog_range {
    uint64_t from_ticks, until_ticks; /* includes records at FROM, excludes those at UNTIL */
    int64_t now_ns;
    bool with_open; /* blocks that are not full, too */
    bool take_all;  /* do not wait for slots that are not finished */
    bool keep;      /* write each block from its start, and keep it; if threads run out of
                     * blocks meanwhile, the oldest that were written are given back */
};

/*
 * Write the records in RANGE to SINK, or nowhere if that is NULL, and give back blocks that are
 * written. *N_WAITING is the number of blocks with unfinished records.
 */
OSC_MUST_USE osc_status osc_backlog_write(struct osc_backlog *backlog, struct osc_sink *sink,
                                          const struct osc_backlog_range *range,
                                          uint32_t *n_waiting);

/*
 * Call when a window begins: lets SINK write the persistent records that it has stored, and
 * puts those that it has not: from open blocks, the part that was already written or skipped.
 * With FROM_TICKS also those from all kept blocks that are older than that.
 */
OSC_MUST_USE osc_status osc_backlog_put_persistent(const struct osc_backlog *backlog,
                                                   struct osc_sink *sink, uint64_t from_ticks);

/*
 * How many blocks a flight recorder can keep if it needs none older than TICKS: all except
 * those that threads need until it looks again. These are an eighth, or N_IN_STALL (the blocks
 * that fill during a stall) if that is more, but at most three eighths. First adds blocks as
 * far as memory allows.
 */
uint32_t osc_backlog_keep(const struct osc_backlog *backlog, uint64_t ticks,
                          uint32_t n_in_stall);

/* The time before which osc_backlog_evict() would discard records; at least TICKS. */
uint64_t osc_backlog_evicts(const struct osc_backlog *backlog, uint64_t ticks, uint32_t n_max);

/* Whether the full blocks with records from TICKS on are less than half of all blocks. */
bool osc_backlog_is_small_part(const struct osc_backlog *backlog, uint64_t ticks);

/* Give back blocks older than TICKS, and the oldest ones until at most N_MAX are left; SINK
 * stores their persistent records. */
void osc_backlog_evict(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t ticks,
                       uint32_t n_max);

/* Give back blocks that have slept for long enough, or whose thread has ended. */
void osc_backlog_wake(struct osc_backlog *backlog);

/* Threads by the low bits of their ordinals: it may contain threads that were not added. */
struct osc_thread_set {
    unsigned char bits[1 << 13];
};

/* The threads of the blocks in BACKLOG. */
void osc_backlog_threads(const struct osc_backlog *backlog, struct osc_thread_set *set);
bool osc_threads_in(const struct osc_thread_set *set, uint64_t ordinal);
