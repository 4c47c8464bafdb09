/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - the memory that holds a recording until it is written: files mapped shared, which
 * outlast the process however it ends.
 *
 *     NAME.osc.live/
 *       blocks    header | threads | block | block | ...      OSC_LIVE_* below
 *       strings   header | entry | entry | ...
 *       standing  header | segment | segment | ...
 *
 *   blocks: struct osc_live_header at 0; OSC_LIVE_THREADS structs osc_live_thread from
 *   OSC_LIVE_THREADS_AT on; n_blocks blocks of OSC_BLOCK_BYTES from OSC_LIVE_BLOCKS_AT on.
 *   Disk space is reserved before a byte of it is mapped, so that a full disk causes an
 *   error and not a SIGBUS.
 *
 *   strings: struct osc_live_strings at 0; entries from OSC_STRINGS_AT on, each aligned to
 *   8: u32 length + 1, u32 hash of the bytes (the low half of XXH64), the bytes, zeroes up
 *   to 8. If the length has OSC_STRING_IN_CATEGORY, the bytes begin with a u32: the name of
 *   the category that this name is in.
 *   A name is the offset of its entry / 8. The length is written last. If it is 0, the
 *   entry was never finished; osc_live_strings.used_bytes counts its space, and readers
 *   skip it in steps of 8 bytes until they find an entry with a matching hash.
 *
 *   standing, if a recording can have several parts: struct osc_live_standing at 0; from
 *   OSC_STANDING_AT on segments (wire/pack.h) without slots: copies of records that hold
 *   for all parts, such as thread names, and may not be in any block or file any more.
 *
 * A block belongs to one thread at a time:
 *
 *     FREE -> (a thread takes it) OPEN -> (it is full) FULL -> (written) FREE
 *
 *   - seq is unique in the recording; tag is its low 16 bits, skipping 0. A block holds the
 *     records from its first slot on that have the block's tag: up to used_slots if it is
 *     FULL, to its end if it is OPEN. A slot with another tag was reserved by a call that
 *     never finished: readers skip such slots one by one and count them once.
 *   - Records that are in the file already (its record chunks name seq and slots) are not
 *     read from here again.
 *
 * While the process, or a child that shares its memory, is there, it holds a lock (flock(2)) on
 * `blocks`, taken before the magic is written.
 *
 * Only the recorder writes these files; its flusher and import/ read them. Threading: see
 * recorder/live/blocks.h.
 */
#pragma once

#include <stdint.h>

#include "wire/record.h"

/* The live directory of run.osc is run.osc.live. */
#define OSC_LIVE_SUFFIX ".live"

#define OSC_LIVE_MAGIC   UINT64_C(0x31306576696c736f) /* "oslive01" */
#define OSC_LIVE_VERSION 1u

#define OSC_BLOCK_BYTES       16384u
#define OSC_BLOCK_SLOTS       1022u /* after the header, which takes the space of two */
#define OSC_LIVE_RUN_ID_BYTES 48u

#define OSC_LIVE_THREADS_AT 4096u
#define OSC_LIVE_THREADS    16320u /* one page less than a megabyte */
#define OSC_LIVE_BLOCKS_AT  (1u << 20)
#define OSC_STRINGS_AT      64u
#define OSC_STANDING_AT     64u

enum osc_live_state {
    OSC_LIVE_RECORDING = 1,
    OSC_LIVE_ENDED = 2,   /* everything is in the file; the directory will be removed */
    OSC_LIVE_STOPPED = 3, /* the program ended it; the file could not be written to its end */
};

/* All clocks read at once: ticks are the middle of two reads of the counter. */
struct osc_clock_anchor {
    uint64_t ticks;
    uint64_t width_ticks; /* between the two reads: the uncertainty */
    int64_t monotonic_ns, raw_ns, realtime_ns, boottime_ns;
};

/* No window is open: records are only a warm-up. */
#define OSC_LIVE_NO_WINDOW UINT64_MAX

#define OSC_LIVE_ANCHORS 32u /* the first stays; the others are the most recent */

struct osc_live_header {
    uint64_t magic; /* written last */
    uint32_t version;
    uint32_t block_bytes;
    uint32_t n_blocks; /* with reserved space; grows */
    uint32_t state;    /* enum osc_live_state */
    uint32_t pid;
    uint32_t n_threads;            /* entries of the table that were ever used */
    uint64_t recording[2];         /* random; the same in the file of this recording */
    uint64_t lost[OSC_LOSS_COUNT]; /* by cause: losses not counted with a thread */
    uint64_t n_anchors;            /* made so far; anchor i > 0 is in entry (i - 1) % 31 + 1 */
    struct osc_clock_anchor anchors[OSC_LIVE_ANCHORS];
    /* Records in blocks count from these ticks on: the start of a window of the schedule, or
     * of the step at which a flight recorder would begin. 0: all count. */
    uint64_t window_begin;
    uint32_t is_flight;   /* a flight recorder: nothing is written until it is asked for */
    uint32_t write_error; /* Linux errno of the last write of the file that failed; 0: none */
    uint64_t lost_gone[OSC_LOSS_COUNT]; /* of threads that have ended, not yet in any part */
    /* The process, as in base/pid.h. Zero: unknown. */
    uint64_t pid_space, start_ticks;
    unsigned char boot_id[16];
    uint32_t is_locked; /* the process locked the file; 0: it may run without a lock */
    uint32_t reserved;
    char run_id[OSC_LIVE_RUN_ID_BYTES]; /* of its `opscope run`, with a zero; empty: none */
    /* Of LOST and of the entries of threads: what was lost before the last window or dump
     * ended, and stands in its part. */
    uint64_t lost_before[OSC_LOSS_COUNT];
};

enum osc_live_thread_state { OSC_THREAD_UNUSED, OSC_THREAD_RUNS, OSC_THREAD_EXITED };

struct osc_live_thread {
    uint32_t state; /* enum osc_live_thread_state */
    uint32_t tid;
    uint64_t ordinal;              /* from 1 in the recording; entries are reused */
    uint64_t lost[OSC_LOSS_COUNT]; /* by cause; only the thread itself adds to it */
    uint64_t reserved[2];
};

enum osc_block_state { OSC_BLOCK_FREE, OSC_BLOCK_OPEN, OSC_BLOCK_FULL };

struct osc_block {
    /* Header, as large as two slots. */
    uint64_t seq;    /* from 1 in the recording; 0: never used */
    uint32_t thread; /* low 32 bits of osc_live_thread.ordinal */
    uint16_t tag;    /* never 0 */
    uint8_t state;   /* enum osc_block_state */
    uint8_t unused;
    uint32_t used_slots; /* slots reserved by threads, set when FULL */
    uint32_t next;       /* index + 1 of the next block in its list */
    uint32_t tid;
    uint32_t written_slots; /* slots already in the file; only the flusher writes it */
    struct osc_record_slot slots[OSC_BLOCK_SLOTS];
};

_Static_assert(sizeof(struct osc_live_thread) == 64, "an entry is a line of cache");
_Static_assert(sizeof(struct osc_block) == OSC_BLOCK_BYTES, "a block is whole pages");
_Static_assert(sizeof(struct osc_live_header) <= OSC_LIVE_THREADS_AT, "the header is a page");

struct osc_live_strings {
    uint64_t magic;
    uint64_t used_bytes;     /* of the file, including this header; increased before the bytes
                              * are written */
    uint64_t reserved_bytes; /* room on the disk */
    uint64_t recording[2];
};

/* A bit of the length + 1 of an entry. */
#define OSC_STRING_IN_CATEGORY (UINT32_C(1) << 31)

/* The length + 1 of the bytes of an entry that begins with HEAD; 0: it is unfinished. */
static inline uint32_t osc_string_end(uint32_t head)
{
    return head & ~OSC_STRING_IN_CATEGORY;
}

struct osc_live_standing {
    uint64_t magic;
    uint64_t used_bytes; /* of the file, including this header; increased after the bytes were
                          * written */
    uint64_t n_records;  /* records in the segments */
    uint64_t recording[2];
    uint64_t reserved[3];
};

_Static_assert(sizeof(struct osc_live_standing) == OSC_STANDING_AT, "segments follow");
