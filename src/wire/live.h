/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - the memory that a recording lives in until it is written: files mapped
 * shared, which outlast the process however it ends.
 *
 *     NAME.osc.live/
 *       blocks    header | threads | block | block | ...      OSC_LIVE_* below
 *       strings   header | entry | entry | ...
 *       standing  header | segment | segment | ...
 *
 *   blocks: struct osc_live_header at 0; struct osc_live_thread from
 *   OSC_LIVE_THREADS_AT on, OSC_LIVE_THREADS of them; from OSC_LIVE_BLOCKS_AT on
 *   n_blocks blocks of OSC_BLOCK_BYTES. Room is reserved on the disk before a byte of
 *   it is mapped, so that a full disk is an error and not a SIGBUS.
 *
 *   strings: struct osc_live_strings at 0; entries from OSC_STRINGS_AT on, each at a
 *   multiple of 8: u32 length + 1, u32 hash of the bytes (the low half of XXH64), the
 *   bytes, zeroes up to 8.
 *   A name is the offset of its entry / 8. The length is written last: 0 there means
 *   that nobody has finished it, and its room (osc_live_strings.used_bytes counts it)
 *   is skipped by 8 bytes a time up to the next entry whose hash fits.
 *
 *   standing, where a recording can have more than one part: struct osc_live_standing at 0;
 *   from OSC_STANDING_AT on segments (wire/pack.h) of no slots, copies of what holds for all
 *   parts, such as names of threads, and may stand in no block and no file any more.
 *
 * A block belongs to one thread at a time:
 *
 *     FREE -> (a thread takes it) OPEN -> (it is full) FULL -> (written) FREE
 *
 *   - seq is unique in the recording; tag is its low 16 bits, 0 left out. What a block
 *     holds are the records from its first slot on whose tag is that of the block, up to
 *     used_slots if it is FULL, to its end if it is OPEN. A slot that does not fit was
 *     reserved, and its call never finished: skipped slot by slot, counted once.
 *   - What the file holds already (chunks of records name seq and slots) is not taken
 *     again from here.
 *
 * Written by the recorder only; read by the recorder's flusher and by import/.
 * Threading: see recorder/live/blocks.h.
 */
#pragma once

#include <stdint.h>

#include "wire/record.h"

/* The live directory of run.osc is run.osc.live. */
#define OSC_LIVE_SUFFIX ".live"

#define OSC_LIVE_MAGIC   UINT64_C(0x31306576696c736f) /* "oslive01" */
#define OSC_LIVE_VERSION 1u

#define OSC_BLOCK_BYTES     16384u
#define OSC_BLOCK_SLOTS     1022u /* behind the header, which takes the room of two */
#define OSC_LIVE_THREADS_AT 4096u
#define OSC_LIVE_THREADS    16320u /* one page less than a megabyte of them */
#define OSC_LIVE_BLOCKS_AT  (1u << 20)
#define OSC_STRINGS_AT      64u
#define OSC_STANDING_AT     64u

enum osc_live_state {
    OSC_LIVE_RECORDING = 1,
    OSC_LIVE_ENDED = 2, /* all is in the file; the directory is about to go */
};

/* One reading of all clocks at once: ticks halfway between two reads of the counter. */
struct osc_clock_anchor {
    uint64_t ticks;
    uint64_t width_ticks; /* between the two reads: how sure it is */
    int64_t monotonic_ns, raw_ns, realtime_ns, boottime_ns;
};

/* No window is open: what is recorded is for a warm-up. */
#define OSC_LIVE_NO_WINDOW UINT64_MAX

#define OSC_LIVE_ANCHORS 32u /* the first stays; of the others the last ones */

struct osc_live_header {
    uint64_t magic; /* written last */
    uint32_t version;
    uint32_t block_bytes;
    uint32_t n_blocks; /* that room is reserved for; grows */
    uint32_t state;    /* enum osc_live_state */
    uint32_t pid;
    uint32_t n_threads;            /* of the table that were ever used */
    uint64_t recording[2];         /* random; the same in the file that belongs to it */
    uint64_t lost[OSC_LOSS_COUNT]; /* by cause: what is not counted with a thread */
    uint64_t n_anchors;            /* ever made; entry i of the table is (i - 1) % 31 + 1 */
    struct osc_clock_anchor anchors[OSC_LIVE_ANCHORS];
    /* Records in blocks count from these ticks on: a window of the schedule begins there, or
     * the step that a flight recorder would begin at. 0: all do. */
    uint64_t window_begin;
    uint32_t is_flight; /* a flight recorder: none of it is written unless somebody asks */
    uint32_t reserved;
    uint64_t lost_gone[OSC_LOSS_COUNT]; /* by threads that are gone, and that no part tells */
};

enum osc_live_thread_state { OSC_THREAD_UNUSED, OSC_THREAD_RUNS, OSC_THREAD_EXITED };

struct osc_live_thread {
    uint32_t state; /* enum osc_live_thread_state */
    uint32_t tid;
    uint64_t ordinal;              /* from 1 in the recording; an entry is used again */
    uint64_t lost[OSC_LOSS_COUNT]; /* by cause; only its thread adds */
    uint64_t reserved[2];
};

enum osc_block_state { OSC_BLOCK_FREE, OSC_BLOCK_OPEN, OSC_BLOCK_FULL };

struct osc_block {
    /* Header: two slots' room. */
    uint64_t seq;    /* from 1 in the recording; 0: never used */
    uint32_t thread; /* low 32 bits of osc_live_thread.ordinal */
    uint16_t tag;    /* never 0 */
    uint8_t state;   /* enum osc_block_state */
    uint8_t unused;
    uint32_t used_slots; /* reserved in it, once FULL */
    uint32_t next;       /* index + 1 in the list it is on */
    uint32_t tid;
    uint32_t written_slots; /* the flusher's note: in the file already; it zeroes it */
    struct osc_record_slot slots[OSC_BLOCK_SLOTS];
};

_Static_assert(sizeof(struct osc_live_thread) == 64, "an entry is a line of cache");
_Static_assert(sizeof(struct osc_block) == OSC_BLOCK_BYTES, "a block is whole pages");
_Static_assert(sizeof(struct osc_live_header) <= OSC_LIVE_THREADS_AT, "the header is a page");

struct osc_live_strings {
    uint64_t magic;
    uint64_t used_bytes;     /* of the file, this header included; grows before it is written */
    uint64_t reserved_bytes; /* room on the disk */
    uint64_t recording[2];
};

struct osc_live_standing {
    uint64_t magic;
    uint64_t used_bytes; /* of the file, this header included; grows after they are written */
    uint64_t n_records;  /* in them */
    uint64_t recording[2];
    uint64_t reserved[3];
};

_Static_assert(sizeof(struct osc_live_standing) == OSC_STANDING_AT, "segments follow");
