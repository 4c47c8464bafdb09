/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - writes what is recorded into parts, each of which can be read alone.
 *
 *     put block, put block, ... | flush | put ... | flush | end of the part
 *                                 '-> facts, clock, names and modules that the part
 *                                     lacks, then the records
 *
 *   - A block is written once flush has returned OSC_OK: only then does its
 *     written_slots move on, and only then may it be given back. After a failure the
 *     caller puts everything again that it has put since the last flush.
 *   - A part begins with the first flush after the last part ended. If it continues that
 *     part, it begins with copies of what was open there (part_state.h).
 *   - A part has each thread and clock reading once, and again after a change.
 *   - Losses are counted from the first part of a chain. A part that continues another one
 *     repeats what was recorded before it, and what was lost by threads that have ended. So
 *     the parts that are left have all losses, whichever were deleted.
 *
 * Threading: one thread at a time.
 */
#pragma once

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
    bool has_parts;      /* there can be more than one: each gets the persistent records */

    unsigned char *chunk; /* owned: records that were put */
    size_t chunk_room, chunk_len;
    uint64_t n_records;
    struct osc_pack_times times;
    uint32_t n_blocks;
    struct {
        struct osc_block *block;
        uint32_t first_slot, written_slots;
    } blocks[OSC_SINK_BLOCKS];

    struct osc_persistent persistent; /* if has_parts */
    unsigned char *copies;            /* owned: room for what STATE writes */
    struct osc_part_state state;      /* open if parts may go on from each other */

    unsigned char *modules; /* owned: what code is mapped, as it was last told */
    size_t modules_len;     /* 0: no stack was recorded yet */
    uint64_t n_modules;

    bool has_facts, has_before, has_persistent, has_modules; /* the part */
    uint64_t n_anchors;                                      /* told in the part */
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

/* Store the persistent records in RANGE of B for later parts. True if all records in RANGE
 * are finished. */
bool osc_sink_store_persistent(struct osc_sink *sink, const struct osc_block *b,
                               struct osc_pack_range range);

/* The open part lacks what osc_sink_store_persistent() stored: the next flush writes it. */
void osc_sink_repeat_persistent(struct osc_sink *sink);

/* Put the persistent records in RANGE of B, which are from before the part. OSC_EIO: as
 * osc_sink_put(). */
OSC_MUST_USE osc_status osc_sink_put_persistent(struct osc_sink *sink,
                                                const struct osc_block *b,
                                                struct osc_pack_range range);

/* Write what was put. */
OSC_MUST_USE osc_status osc_sink_flush(struct osc_sink *sink);

/* Forget what was put since the last flush. */
void osc_sink_drop(struct osc_sink *sink);

/* Write the threads that changed. OSC_EINVAL: no part is open; nothing is written. */
OSC_MUST_USE osc_status osc_sink_write_threads(struct osc_sink *sink);

/* The thread of entry I has ended and is written; its entry will be given back. */
void osc_sink_thread_done(struct osc_sink *sink, uint32_t i);

/* Store ANCHOR in the live directory; the next flush of any sink writes it. */
void osc_sink_add_anchor(const struct osc_clock_anchor *anchor);

/* Write threads and end the part, for REASON at TICKS. Does nothing if no part is open.
 * Nothing may be put. */
OSC_MUST_USE osc_status osc_sink_end(struct osc_sink *sink, uint32_t reason, uint64_t ticks);
