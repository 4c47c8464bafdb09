/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_layout.h - a sealed trace as chunks of an .osc file, to be used where they lie.
 *
 *     MODEL TEXTS FORMS TRACKS DEVICES | columns of events | columns of others |
 *     MODEL TEXTS FORMS TRACKS DEVICES (again) | the next trace ... | INDEX, trailer
 *
 *   - Column chunks are what a trace has in memory (model/trace.h): a chunk of the file
 *     for each column of each chunk of rows, each with its own hash, so that a reader
 *     maps the file and looks at what it needs.
 *   - The chunks that are common to all rows stand there twice.
 *   - Of the header of all of them, flags is the number of the trace in the file, from
 *     0; of columns n_items is the number of rows, n_before that of the rows of the same
 *     store before it, and times are the least start and the greatest end (of others: 0).
 *   - Ids of strings, forms and tracks are places in these tables; 0 is none.
 *
 * docs/format.md says all of it for a second reader.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>

#include "wire/chunk.h"

/* Of OSC_CHUNK_EVENTS all, of OSC_CHUNK_OTHERS those without a (*). */
enum osc_wire_column {
    OSC_COLUMN_TS,       /* i64: start, ns on the clock of the original file */
    OSC_COLUMN_NAME,     /* u32: string */
    OSC_COLUMN_FORM,     /* u32 */
    OSC_COLUMN_TRACK,    /* u32 */
    OSC_COLUMN_ARG_WORD, /* u32: place of the row's first word in ARGS */
    OSC_COLUMN_ARGS,     /* u32: words of arguments, as the form says */
    OSC_COLUMN_DUR,      /* (*) i64: ns, never negative, or INT64_MIN: none */
    OSC_COLUMN_KIND,     /* (*) u8: enum osc_kind */
    OSC_COLUMN_COUNT
};

#define OSC_COLUMNS_EVENTS OSC_COLUMN_COUNT
#define OSC_COLUMNS_OTHERS OSC_COLUMN_DUR

/* Numbers that say what a device can do. */
#define OSC_WIRE_LIMITS 10

/* Rows of a column at most. */
#define OSC_WIRE_ROWS_MAX 16384u

enum osc_wire_model_flags {
    OSC_MODEL_HAS_RANK = 1,
    OSC_MODEL_IS_SELECTED = 2, /* parts of the original were left out */
};

/* MODEL: this, then its metas, findings and ordinals, each at a multiple of 8. */
struct osc_wire_model {
    uint64_t n_events, n_others; /* rows */
    int64_t base_ns;             /* add for Unix time; 0: not known */
    int64_t min_ts_ns, max_end_ns;
    int32_t rank, span;
    uint32_t flags;    /* enum osc_wire_model_flags */
    uint32_t worker;   /* string */
    uint32_t format;   /* string: of the original, as `info` tells it */
    uint32_t n_traces; /* in the file */
    uint32_t n_metas, n_findings, n_ordinals;
    uint32_t unused;
};

/* A member of the original file beside its events. */
struct osc_wire_meta {
    uint32_t key, value; /* strings */
    uint32_t is_string;  /* else the value is JSON text */
    uint32_t unused;
};

struct osc_wire_finding {
    uint32_t code; /* string, as in the table quality */
    uint32_t unused;
    uint64_t count;
    uint64_t first_offset;     /* UINT64_MAX: none */
    int64_t first_ns, last_ns; /* INT64_MIN: none */
};

/* Ordinals: u32 each, of the steps that a selection has left. */

/* TEXTS: this, u64 starts[n + 1], the bytes, each string with a NUL behind it. */
struct osc_wire_texts {
    uint64_t n; /* the empty string, id 0, included */
    uint64_t n_bytes;
};

/* FORMS: this, the forms (the empty form 0 included), the slots of all. */
struct osc_wire_forms {
    uint32_t n_forms, n_slots;
};

struct osc_wire_form {
    uint8_t letter;    /* of its shape; of a Chrome trace, the one that it had */
    uint8_t bits;      /* enum osc_wire_form_bits */
    uint8_t kind;      /* as in struct osc_form; of arrows of no Chrome trace, arrow */
    uint8_t is_device; /* as in struct osc_form */
    uint32_t category; /* string */
    uint32_t n_slots;  /* its slots follow those of the form before */
};

enum osc_wire_form_bits {
    OSC_FORM_HAS_ARGS = 1,
    OSC_FORM_IS_NEUTRAL = 2, /* of no Chrome trace: kind says what its rows are */
};

struct osc_wire_slot {
    uint32_t key; /* string */
    uint8_t type; /* enum osc_arg_type */
    uint8_t is_member;
    uint16_t unused;
};

/* TRACKS: this, the tracks (the empty track 0 included), the processes. */
struct osc_wire_tracks {
    uint32_t n_tracks, n_processes;
};

struct osc_wire_track {
    uint32_t pid, tid, name, device; /* strings */
    uint32_t process;                /* index */
    uint32_t is_queue;
};

struct osc_wire_process {
    uint32_t pid, name, labels; /* strings */
};

/* DEVICES: one after the other. -1: not known. */
struct osc_wire_device {
    uint32_t family, name, model; /* strings */
    uint32_t unused;
    int64_t index;
    int64_t limits[OSC_WIRE_LIMITS]; /* as in struct osc_device_limits */
};

_Static_assert(sizeof(struct osc_wire_model) == 80, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_meta) == 16, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_finding) == 40, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_form) == 12, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_slot) == 8, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_track) == 24, "as format.md draws it");
_Static_assert(sizeof(struct osc_wire_device) == 104, "as format.md draws it");
