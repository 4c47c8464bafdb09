/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - writes records into parts, each of which can be read on its own.
 *
 *     put block, put block, ... | flush | put ... | flush | end of the part
 *                                 '-> facts, clock, names and modules that the part
 *                                     lacks, then the records
 *
 *   - A block is written once flush has returned OSC_OK: only then does its written_slots
 *     advance, and only then may it be given back. After a failure the caller puts everything
 *     again that it had put since the last flush.
 *   - A part begins with the first flush after the last part ended. If it continues that
 *     part, it begins with copies of what was open there (part_state.h).
 *   - A part contains each thread and clock reading once, and a thread again after a change.
 *   - Losses are counted from the first part of a chain. A part that continues another one
 *     repeats how much was recorded and lost before it by threads that have ended. So the
 *     remaining parts contain all losses, whichever parts were deleted.
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

#define OSC_SINK_BLOCKS 1024u /* per chunk of records */

struct osc_sink {
    struct osc_parts file;
    struct osc_name_log names;
    uint64_t part_bytes; /* a part is ended when it is larger; 0: no limit */
    bool has_parts;      /* there can be several, and each gets the persistent records */

    unsigned char *chunk; /* owned: records that were put */
    size_t chunk_room, chunk_len;
    uint64_t n_records;
    struct osc_pack_times times;
    uint32_t n_blocks;
    struct {
        struct osc_block *block;
        uint32_t first_slot, written_slots;
    } blocks[OSC_SINK_BLOCKS];

    struct osc_persistent persistent;   /* if has_parts */
    unsigned char *copies;              /* owned: buffer for copies from `state` */
    struct osc_part_state state;        /* open if parts may continue each other */
    struct osc_part_state *before_kept; /* see osc_sink_begin_dump() */
    struct osc_wire_dump dump;

    unsigned char *modules; /* owned: the code mappings, as last written */
    size_t modules_len;     /* 0: no stack was recorded yet */
    uint64_t n_modules;

    bool has_facts, has_before, has_persistent, has_modules, has_dump; /* the part */
    uint64_t n_anchors;                                                /* written to the part */
    struct osc_wire_thread *threads; /* owned: per entry, as last written to the part */
    uint32_t n_threads;              /* of them in use */
    struct osc_wire_before gone;     /* for a part that began now: what came before it */
    /* Losses before the first part of the open part's chain: per entry (owned), and without a
     * thread. */
    struct osc_wire_thread *before;
    uint64_t lost_before[OSC_LOSS_COUNT];
    size_t facts_len;
    uint64_t n_facts;
    unsigned char facts[OSC_PROCESS_FACTS_BYTES];
};

/*
 * SINK->file has its path and part_bytes is set; the rest is zero. LIVE_FD is the live
 * directory. After OSC_ENOMEM or OSC_EIO the caller still calls osc_sink_close().
 */
OSC_MUST_USE osc_status osc_sink_open(struct osc_sink *sink, int live_fd,
                                      const struct osc_process_facts *facts);
void osc_sink_close(struct osc_sink *sink);

/*
 * Pack RANGE of B. *END_SLOT is where packing ended: before RANGE.end_slot if a record there is
 * unfinished. OSC_EIO: the chunk was full, and could not be written.
 */
OSC_MUST_USE osc_status osc_sink_put(struct osc_sink *sink, struct osc_block *b,
                                     struct osc_pack_range range, uint32_t *end_slot);

/* Store the persistent records in RANGE of B for later parts. True if all records in RANGE
 * are finished. */
bool osc_sink_store_persistent(struct osc_sink *sink, const struct osc_block *b,
                               struct osc_pack_range range);

/* Let the next flush write what osc_sink_store_persistent() stored, because the open part lacks
 * it. */
void osc_sink_repeat_persistent(struct osc_sink *sink);

/* The part that begins with the next flush is DUMP. BEFORE, if not NULL, is what was open where
 * its records begin; borrowed until that flush. */
void osc_sink_begin_dump(struct osc_sink *sink, const struct osc_wire_dump *dump,
                         struct osc_part_state *before);

/* Put the persistent records in RANGE of B, which were recorded before the part. OSC_EIO: as
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

/* The thread of entry I has ended and is written; its entry is about to be given back. */
void osc_sink_thread_done(struct osc_sink *sink, uint32_t i);

/* Store ANCHOR in the live directory; the next flush of any sink writes it. */
void osc_sink_add_anchor(const struct osc_clock_anchor *anchor);

/* Write threads and end the part, for REASON at TICKS. Does nothing if no part is open.
 * Nothing may be put. */
OSC_MUST_USE osc_status osc_sink_end(struct osc_sink *sink, uint32_t reason, uint64_t ticks);
