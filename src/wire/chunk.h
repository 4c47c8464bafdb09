/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - the framing of an .osc file: a header, then chunks that can be found and checked
 * separately.
 *
 *     file header 64 bytes | chunk | chunk | ... | INDEX chunk | trailer 16 bytes
 *     chunk: header 64 bytes | payload, zeroes up to a multiple of 64
 *
 *   - Chunks are only appended. A file without index and trailer (it was cut, or is still
 *     being written) is read from header to header; after a damaged header, the next one is
 *     found by its magic, at multiples of 64, and its hash.
 *   - n_before is the number of records in all record chunks before this one, so that the
 *     next intact header shows how many records a damaged chunk held; its times show when.
 *   - All numbers are little-endian. Hashes are XXH64 with seed 0, except for payloads of
 *     columns (osc_wire_payload_hash).
 *
 * docs/format.md describes the whole format.
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
    OSC_CHUNK_PROCESS = 2, /* facts about the process: keys and values, see docs/format.md */
    OSC_CHUNK_CLOCK = 3,   /* struct osc_clock_anchor each */
    OSC_CHUNK_STRINGS = 4, /* entries of the string log, from the payload's log_offset on */
    OSC_CHUNK_THREADS =
        5, /* threads: ordinal, tid, and records lost since the first of the continued parts */
    OSC_CHUNK_RECORDS = 6, /* segments of packed records, see wire/pack.h */
    OSC_CHUNK_END = 7,     /* the program ended the recording; losses not counted with a
                            * thread */
    OSC_CHUNK_MODULES = 8, /* mapped code: translates the addresses in stacks */
    OSC_CHUNK_BEFORE = 9,  /* struct osc_wire_before: totals of earlier parts */
    OSC_CHUNK_DUMP = 10,   /* struct osc_wire_dump: what a flight recorder wrote */
    /* From 32 on: the sealed model as columns, see wire/column_layout.h. */
    OSC_CHUNK_MODEL = 32,   /* facts about the trace */
    OSC_CHUNK_TEXTS = 33,   /* all strings */
    OSC_CHUNK_FORMS = 34,   /* ways to write events */
    OSC_CHUNK_TRACKS = 35,  /* threads, queues, processes */
    OSC_CHUNK_DEVICES = 36, /* devices that the source lists */
    OSC_CHUNK_EVENTS = 64,  /* + enum osc_wire_column: a column of a chunk of events */
    OSC_CHUNK_OTHERS = 96,  /* the same columns for records that are not events */
};

struct osc_file_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* 64 */
    uint64_t recording[2]; /* random; the same in NAME.osc.live and in all files of a
                            * rotation */
    uint32_t part;         /* part of a rotation, or window of a schedule; from 1 */
    uint32_t flags;        /* 0 */
    uint64_t reserved[2];
    uint64_t hash; /* of the preceding 56 bytes */
};

struct osc_wire_header {
    uint32_t magic;
    uint16_t type; /* enum osc_chunk_type; unknown ones are skipped and counted */
    uint16_t flags;
    uint64_t payload_bytes; /* without the zeroes that follow */
    uint64_t payload_hash;
    uint64_t n_items;  /* records, strings, threads or rows, depending on type */
    uint64_t n_before; /* records in the record chunks of this file before this one */
    uint64_t first_ticks, last_ticks; /* earliest and latest time in it; 0, 0: none */
    uint64_t hash;                    /* of the preceding 56 bytes */
};

struct osc_wire_index_entry {
    uint64_t offset; /* of the chunk's header */
    /* A copy with magic 0, so that a search for headers does not find it. */
    struct osc_wire_header header;
};

struct osc_trailer {
    uint64_t index_offset;
    uint64_t magic;
};

/*
 * PROCESS: consecutive facts, each this struct, the key and the value, without padding. Keys:
 * pid, parent_pid, start_unix_ns (of the recording), host, exe, command (arguments separated
 * by blanks), boot_id, cpus, run_id, opscope_version, ticks_hz, clock. Unknown facts are
 * omitted; a reader stores keys that it does not know as metadata.
 */
struct osc_wire_fact {
    uint32_t key_bytes, value_bytes;
};

/*
 * STRINGS: this, then bytes of the string log (wire/live.h) from log_offset to the end of the
 * payload: entries. One of them may be unfinished, and is skipped as in the log. An entry may
 * occur twice. Names are in chunks before the records that use them.
 */
struct osc_wire_strings {
    uint64_t log_offset; /* in the file `strings`: at least OSC_STRINGS_AT */
};

/* THREADS: one for each thread that changed since the last such chunk. */
struct osc_wire_thread {
    uint64_t ordinal;
    uint32_t tid;
    uint32_t state;   /* enum osc_live_thread_state */
    uint64_t lost[4]; /* enum osc_loss */
};

/*
 * MODULES: all code that was ever mapped: this struct, the path, zeroes up to a multiple of 8.
 * If several of these chunks contain an address, the last one counts.
 */
struct osc_wire_module {
    uint64_t start, end;  /* addresses */
    uint64_t file_offset; /* offset in the file of the byte at START */
    uint64_t file_bytes;  /* size when it was mapped, as mtime_ns; 0: unknown */
    int64_t mtime_ns;     /* Unix time */
    uint32_t path_bytes;
    uint32_t reserved; /* 0 */
};

/* END: the last chunk except the index. */
struct osc_wire_end {
    uint32_t reason;      /* enum osc_wire_end_reason */
    uint32_t write_error; /* Linux errno of the last write that failed; 0: all went well */
    uint64_t ticks;       /* when */
    uint64_t lost[4];     /* enum osc_loss: losses not counted with a thread */
};

/*
 * BEFORE: what the earlier parts of a continued recording held, and the losses of threads that
 * ended before this part. Readers use only the one in the first part that they read: it
 * describes parts that they do not have.
 */
struct osc_wire_before {
    uint64_t n_records;
    uint64_t lost[4]; /* enum osc_loss */
};

/* DUMP: what was asked of a flight recorder, and what it had when it was dumped. */
struct osc_wire_dump {
    uint64_t asked_ns, asked_steps; /* before the slow step or the dump; 0: not asked */
    uint64_t n_steps;               /* that begin in the dump, also in part */
    uint64_t from_ticks, until_ticks;
    uint64_t is_cut; /* 1: memory did not hold all that was asked for */
};

enum osc_wire_end_reason {
    OSC_END_STOPPED = 1,   /* the program ended the recording, or exited */
    OSC_END_CONTINUED = 2, /* the next part continues without a gap */
    OSC_END_WINDOW = 3,    /* a window of the schedule ended */
    OSC_END_DUMPED = 4,    /* a dump of the flight recorder, which continues */
    OSC_END_CRASHED = 5,   /* a dump at a fatal signal */
    OSC_END_KILLED = 6,    /* finished by another process after a kill:
                            * cli/run/fold_killed.h */
    OSC_END_LEFT = 7,      /* the same, for another process of a run whose program ended well */
};

_Static_assert(sizeof(struct osc_wire_thread) == 48, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_module) == 48, "as format.md draws it");
_Static_assert(sizeof(struct osc_file_header) == 64, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_header) == 64, "as format.md draws it");

/* Set, and check, MAGIC and HASH. */
void osc_file_header_seal(struct osc_file_header *h);
bool osc_file_header_is_good(const struct osc_file_header *h);
void osc_wire_header_seal(struct osc_wire_header *h);
bool osc_wire_header_is_good(const struct osc_wire_header *h);

/* XXH64, seed 0. */
uint64_t osc_wire_hash(const void *p, size_t len);

/*
 * The payload_hash for a chunk of TYPE: XXH64; from OSC_CHUNK_MODEL on 64-bit XXH3, which is
 * as fast as memory. Both with seed 0.
 */
uint64_t osc_wire_payload_hash(uint16_t type, const void *p, size_t len);

/* Size of header, payload and padding; 0 on overflow. */
uint64_t osc_wire_chunk_bytes(uint64_t payload_bytes);
