/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - what is recorded, into parts that can each be read alone.
 *
 *     put block, put block, ... | flush | put ... | flush | end of the part
 *                                 '-> facts, clock, names and modules that the part
 *                                     lacks, then the records
 *
 *   - A block is written once flush has returned OSC_OK: only then does its
 *     written_slots move on, and only then may it be given back. After a failure all
 *     that was put since the last flush is to be put again.
 *   - A part begins with the first flush after the last one ended. If it goes on from that
 *     one, it has copies of what was open there (carry.h).
 *   - What a part says of threads and the clock is what has changed since it said so.
 *   - Losses are counted from the first of parts that go on from each other, and parts that
 *     follow tell what they no longer can: what was recorded before them, and lost by threads
 *     that are gone. So whatever parts are deleted, the others tell all losses.
 *
 * Threading: one thread at a time.
 */
#ifndef OSC_RECORDER_FLUSHER_SINK_H
#define OSC_RECORDER_FLUSHER_SINK_H

#include "recorder/flusher/part_state.h"
#include "recorder/live/persistent_records.h"
#include "recording/name_log.h"
#include "recording/part_writer.h"
#include "recording/process_facts.h"
#include "wire/pack.h"

#define OSC_SINK_BLOCKS 1024u /* in a chunk of records */

struct osc_sink {
    struct osc_parts file;
    struct osc_name_log names;
    uint64_t part_bytes; /* a part that is larger is ended; 0: none is */
    bool has_parts;      /* there can be more than one: each gets the standing records */

    unsigned char *chunk; /* owned: records that were put */
    size_t chunk_room, chunk_len;
    uint64_t n_records;
    struct osc_pack_times times;
    uint32_t n_blocks;
    struct {
        struct osc_block *block;
        uint32_t first_slot, written_slots;
    } blocks[OSC_SINK_BLOCKS];

    struct osc_persistent standing; /* if has_parts */
    unsigned char *carried;         /* owned: room for what CARRY tells */
    struct osc_part_state carry;    /* open if parts may go on from each other */

    unsigned char *modules; /* owned: what code is mapped, as it was last told */
    size_t modules_len;     /* 0: no stack was recorded yet */
    uint64_t n_modules;

    bool has_facts, has_before, has_standing, has_modules; /* the part */
    uint64_t n_anchors;                                    /* told in the part */
    struct osc_wire_thread *threads; /* owned: of each entry, as the part was told */
    uint32_t n_threads;              /* of them that it says something of */
    struct osc_wire_before gone;     /* what a part that began now would tell of before */
    /* Lost before the first part that the open one goes on from: of each entry (owned),
     * and without a thread. */
    struct osc_wire_thread *before;
    uint64_t lost_before[OSC_LOSS_COUNT];
    size_t facts_len;
    uint64_t n_facts;
    unsigned char facts[OSC_PROCESS_FACTS_BYTES];
};

/*
 * SINK->file has its place, part_bytes is set, all else is zero. LIVE_FD is the live
 * directory. OSC_ENOMEM, OSC_EIO: osc_sink_close() is still to be called.
 */
OSC_MUST_USE osc_status osc_sink_open(struct osc_sink *sink, int live_fd,
                                      const struct osc_process_facts *facts);
void osc_sink_close(struct osc_sink *sink);

/*
 * Pack RANGE of B. *END_SLOT is where it ended: before RANGE.end_slot if a call has not
 * finished there. OSC_EIO: there was no room, and what was put before cannot be written.
 */
OSC_MUST_USE osc_status osc_sink_put(struct osc_sink *sink, struct osc_block *b,
                                     struct osc_pack_range range, uint32_t *end_slot);

/* Remember the standing records in RANGE of B for the parts to come. True if that showed
 * that nothing in it is unfinished. */
bool osc_sink_learn(struct osc_sink *sink, const struct osc_block *b,
                    struct osc_pack_range range);

/* What was learned was not written to the part that is open: the next flush does. */
void osc_sink_recall(struct osc_sink *sink);

/* Put the standing records in RANGE of B, which are from before the part. OSC_EIO: as
 * osc_sink_put(). */
OSC_MUST_USE osc_status osc_sink_put_standing(struct osc_sink *sink, const struct osc_block *b,
                                              struct osc_pack_range range);

/* Write what was put. */
OSC_MUST_USE osc_status osc_sink_flush(struct osc_sink *sink);

/* Forget what was put since the last flush. */
void osc_sink_drop(struct osc_sink *sink);

/* Write what changed of threads. OSC_EINVAL: no part is open, so they are not told. */
OSC_MUST_USE osc_status osc_sink_tell_threads(struct osc_sink *sink);

/* The thread of entry I, which has ended, is told; its entry will be given back. */
void osc_sink_thread_done(struct osc_sink *sink, uint32_t i);

/* Note ANCHOR in the live directory; the next flush of any sink writes it. */
void osc_sink_add_anchor(const struct osc_clock_anchor *anchor);

/* Tell threads and end the part, for REASON at TICKS. Nothing if none is open; nothing is
 * put. */
OSC_MUST_USE osc_status osc_sink_end(struct osc_sink *sink, uint32_t reason, uint64_t ticks);

#endif
