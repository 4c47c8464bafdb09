/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - the frame of an .osc file: a header, then chunks, each found and checked
 * for itself.
 *
 *     file header 64 bytes | chunk | chunk | ... | INDEX chunk | trailer 16 bytes
 *     chunk: header 64 bytes | payload, zeroes up to a multiple of 64
 *
 *   - Chunks are only appended. A file without index and trailer (it was cut, or is
 *     still written) is walked from header to header; where a header is damaged, the
 *     next one is found by its magic, at multiples of 64, and its hash.
 *   - n_before counts the records of all record chunks before this one, so that the next
 *     good header says how many a damaged one held; times say when.
 *   - All numbers are little-endian. Hashes are XXH64 with seed 0, but for payloads of
 *     columns (osc_wire_payload_hash).
 *
 * docs/format.md draws all of it.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSC_FILE_MAGIC                                                    \
    "\x89OSC\r\n\x1a\n" /* as PNG's: text modes and old mailers damage it \
                         */
#define OSC_FILE_VERSION  1u
#define OSC_CHUNK_MAGIC   UINT32_C(0x6b43534f) /* "OSCk" */
#define OSC_TRAILER_MAGIC UINT64_C(0x646e456b43534f89)
#define OSC_WIRE_ALIGN    64u

enum osc_chunk_type {
    OSC_CHUNK_INDEX = 1,   /* struct osc_wire_index_entry each */
    OSC_CHUNK_PROCESS = 2, /* facts about the process: keys and values, see format.md */
    OSC_CHUNK_CLOCK = 3,   /* struct osc_clock_anchor each */
    OSC_CHUNK_STRINGS = 4, /* entries of the string log, from the offset that it begins with */
    OSC_CHUNK_THREADS =
        5, /* threads: ordinal, tid, what each lost since the first of the parts that go on */
    OSC_CHUNK_RECORDS = 6, /* segments of packed records, see wire/pack.h */
    OSC_CHUNK_END = 7,     /* the recording was ended by the program; losses without thread */
    OSC_CHUNK_MODULES = 8, /* code that was mapped: what addresses in stacks mean */
    OSC_CHUNK_BEFORE = 9,  /* struct osc_wire_before: what the parts before it had */
    /* From 32 on: the sealed model as columns, see wire/column_layout.h. */
    OSC_CHUNK_MODEL = 32,   /* what the trace says about itself */
    OSC_CHUNK_TEXTS = 33,   /* all strings */
    OSC_CHUNK_FORMS = 34,   /* ways to write events */
    OSC_CHUNK_TRACKS = 35,  /* threads, queues, processes */
    OSC_CHUNK_DEVICES = 36, /* devices that the source tells of */
    OSC_CHUNK_EVENTS = 64,  /* + enum osc_wire_column: a column of a chunk of events */
    OSC_CHUNK_OTHERS = 96,  /* the same of records that are no events */
};

struct osc_file_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* 64 */
    uint64_t recording[2]; /* random; that of NAME.osc.live; all files of a rotation have it */
    uint32_t part;         /* of a rotation, or window of a schedule, from 1 */
    uint32_t flags;        /* 0 */
    uint64_t reserved[2];
    uint64_t hash; /* of the 56 bytes before */
};

struct osc_wire_header {
    uint32_t magic;
    uint16_t type; /* enum osc_chunk_type; unknown ones are skipped and counted */
    uint16_t flags;
    uint64_t payload_bytes; /* without the zeroes behind it */
    uint64_t payload_hash;
    uint64_t n_items;  /* records, strings, threads, rows: by type */
    uint64_t n_before; /* records in the record chunks of this file before this one */
    uint64_t first_ticks, last_ticks; /* least and greatest time in it; 0, 0: none */
    uint64_t hash;                    /* of the 56 bytes before */
};

struct osc_wire_index_entry {
    uint64_t offset; /* of the chunk's header */
    /* A copy whose magic is 0, so that a search for headers does not find it. */
    struct osc_wire_header header;
};

struct osc_trailer {
    uint64_t index_offset;
    uint64_t magic;
};

/*
 * PROCESS: facts, one after the other: this, the key, the value, without zeroes. Keys:
 * pid, parent_pid, start_unix_ns (of the recording), host, exe, command (arguments with
 * a blank between), boot_id, cpus, run_id, opscope_version, ticks_hz, clock; one that is
 * not known is left out, one that a reader does not know is metadata.
 */
struct osc_wire_fact {
    uint32_t key_bytes, value_bytes;
};

/*
 * STRINGS: this, then bytes of the string log (wire/live.h) from LOG_OFFSET to the end
 * of the payload: entries, of which one may be unfinished, to be skipped as in the log.
 * An entry may come twice. Names that records use stand in chunks before them.
 */
struct osc_wire_strings {
    uint64_t log_offset; /* in the file `strings`: at least OSC_STRINGS_AT */
};

/* THREADS: one each that has changed since the last such chunk. */
struct osc_wire_thread {
    uint64_t ordinal;
    uint32_t tid;
    uint32_t state;   /* enum osc_live_thread_state */
    uint64_t lost[4]; /* enum osc_loss */
};

/*
 * MODULES: all code that was mapped at some time: this, the path, zeroes up to a multiple
 * of 8. In the chunk that comes last of those that have an address it is looked up.
 */
struct osc_wire_module {
    uint64_t start, end;  /* addresses */
    uint64_t file_offset; /* of START */
    uint64_t file_bytes;  /* as the file was then, as is the next; 0: nobody knows */
    int64_t mtime_ns;     /* Unix time */
    uint32_t path_bytes;
    uint32_t reserved; /* 0 */
};

/* END: the last chunk but for the index. */
struct osc_wire_end {
    uint32_t reason; /* enum osc_wire_end_reason */
    uint32_t reserved;
    uint64_t ticks;   /* when */
    uint64_t lost[4]; /* enum osc_loss: what is not counted with a thread */
};

/*
 * BEFORE: what the parts had that this one goes on from, and what was lost by threads that
 * had ended before it. Only the first of the parts that are read counts: what it tells
 * is in none of them.
 */
struct osc_wire_before {
    uint64_t n_records;
    uint64_t lost[4]; /* enum osc_loss */
};

enum osc_wire_end_reason {
    OSC_END_STOPPED = 1,   /* the program ended the recording, or ended itself */
    OSC_END_CONTINUED = 2, /* the next part goes on without a gap */
    OSC_END_WINDOW = 3,    /* a window of the schedule ended */
    OSC_END_DUMPED = 4,    /* what the flight recorder held; it goes on */
    OSC_END_CRASHED = 5,   /* the same, at a fatal signal */
    OSC_END_KILLED = 6,    /* by whoever found it without its process: cli/run/fold_killed.h */
};

_Static_assert(sizeof(struct osc_wire_thread) == 48, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_module) == 48, "as format.md draws it");
_Static_assert(sizeof(struct osc_file_header) == 64, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_header) == 64, "as format.md draws it");

/* Fill MAGIC and HASH; whether they are right. */
void osc_file_header_seal(struct osc_file_header *h);
bool osc_file_header_is_good(const struct osc_file_header *h);
void osc_wire_header_seal(struct osc_wire_header *h);
bool osc_wire_header_is_good(const struct osc_wire_header *h);

/* XXH64, seed 0. */
uint64_t osc_wire_hash(const void *p, size_t len);

/*
 * What payload_hash of a chunk of TYPE is: XXH64; from OSC_CHUNK_MODEL on the 64 bits of
 * XXH3, which is as fast as memory. Both with seed 0.
 */
uint64_t osc_wire_payload_hash(uint16_t type, const void *p, size_t len);

/* Bytes of header, payload and the zeroes behind it; 0 if that overflows. */
uint64_t osc_wire_chunk_bytes(uint64_t payload_bytes);
