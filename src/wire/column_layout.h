/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_layout.h - a sealed trace as chunks of an .osc file, in a form to be used as it is.
 *
 *     MODEL TEXTS FORMS TRACKS DEVICES | columns of events | columns of others |
 *     MODEL TEXTS FORMS TRACKS DEVICES (again) | the next trace ... | INDEX, trailer
 *
 *   - Column chunks have the layout of a trace in memory (model/trace.h): one chunk of the
 *     file for each column of each chunk of rows, each with its own hash, so that a reader
 *     reads only what it needs.
 *   - The chunks that all rows share are stored twice.
 *   - In all their headers, flags is the number of the trace in the file, from 0. In
 *     headers of columns, n_items is the number of rows, n_before the number of rows of the
 *     same store before it, and times are the earliest start and latest end (others: 0).
 *   - Ids of strings, forms and tracks are indexes into these tables; 0 is none.
 *
 * docs/format.md specifies this for other readers.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>

#include "wire/chunk.h"

/* OSC_CHUNK_EVENTS has all columns, OSC_CHUNK_OTHERS those not marked (*). */
enum osc_wire_column {
    OSC_COLUMN_TS,       /* i64: start, ns on the clock of the original file */
    OSC_COLUMN_NAME,     /* u32: string */
    OSC_COLUMN_FORM,     /* u32 */
    OSC_COLUMN_TRACK,    /* u32 */
    OSC_COLUMN_ARG_WORD, /* u32: index in ARGS of the row's first word */
    OSC_COLUMN_ARGS,     /* u32: words of arguments, laid out by the form */
    OSC_COLUMN_DUR,      /* (*) i64: ns, never negative; INT64_MIN: no duration */
    OSC_COLUMN_KIND,     /* (*) u8: enum osc_kind */
    OSC_COLUMN_COUNT
};

#define OSC_COLUMNS_EVENTS OSC_COLUMN_COUNT
#define OSC_COLUMNS_OTHERS OSC_COLUMN_DUR

/* Number of limits of a device. */
#define OSC_WIRE_LIMITS 10

/* Most rows in a column. */
#define OSC_WIRE_ROWS_MAX 16384u

enum osc_wire_model_flags {
    OSC_MODEL_HAS_RANK = 1,
    OSC_MODEL_IS_SELECTED = 2,    /* parts of the original were left out */
    OSC_MODEL_HAS_STEPS = 4,      /* the program announced steps */
    OSC_MODEL_HAS_ITERATIONS = 8, /* it did not: ranges of kind step are iterations */
};

/* MODEL: this, then its metas, findings and ordinals, each aligned to 8. */
struct osc_wire_model {
    uint64_t n_events, n_others; /* rows */
    int64_t base_ns;             /* add it for Unix time; 0: unknown */
    int64_t min_ts_ns, max_end_ns;
    int32_t rank, span;
    uint32_t flags;    /* enum osc_wire_model_flags */
    uint32_t worker;   /* string */
    uint32_t format;   /* string: format of the original, as `info` shows it */
    uint32_t n_traces; /* in the file */
    uint32_t n_metas, n_findings, n_ordinals;
    uint32_t unused;
};

/* A member of the original file other than its events. */
struct osc_wire_meta {
    uint32_t key, value; /* strings */
    uint32_t is_string;  /* 0: the value is JSON text */
    uint32_t unused;
};

struct osc_wire_finding {
    uint32_t code;  /* string, as in the table quality */
    uint32_t phase; /* of unknown_phase: a part of it; 0: all of it, behind its parts */
    uint64_t count;
    uint64_t first_offset;     /* UINT64_MAX: none */
    int64_t first_ns, last_ns; /* INT64_MIN: none */
};

/* Ordinals: one u32 for each step that a selection has kept. */

/* TEXTS: this, u64 starts[n + 1], the bytes, with a NUL after each string. */
struct osc_wire_texts {
    uint64_t n; /* includes the empty string, id 0 */
    uint64_t n_bytes;
};

/* FORMS: this, the forms (including the empty form 0), the slots of all forms. */
struct osc_wire_forms {
    uint32_t n_forms, n_slots;
};

struct osc_wire_form {
    uint8_t letter;    /* of its shape; from a Chrome trace, the original one */
    uint8_t bits;      /* enum osc_wire_form_bits */
    uint8_t kind;      /* as in struct osc_form; for arrows, the arrow kind */
    uint8_t is_device; /* as in struct osc_form */
    uint32_t category; /* string */
    uint32_t n_slots;  /* its slots follow those of the previous form */
};

enum osc_wire_form_bits {
    OSC_FORM_HAS_ARGS = 1,
    OSC_FORM_IS_NEUTRAL = 2, /* not from Chrome: kind defines what its rows are */
};

struct osc_wire_slot {
    uint32_t key; /* string */
    uint8_t type; /* enum osc_arg_type */
    uint8_t is_member;
    uint16_t unused;
};

/* TRACKS: this, the tracks (including the empty track 0), the processes. */
struct osc_wire_tracks {
    uint32_t n_tracks, n_processes;
};

struct osc_wire_track {
    uint32_t pid, tid, name, device; /* strings */
    uint32_t process;                /* index */
    uint32_t is_queue;               /* bits of enum osc_wire_track_bits */
};

enum osc_wire_track_bits {
    OSC_TRACK_IS_QUEUE = 1,
    OSC_TRACK_IS_SUMMARY = 2, /* repeats the time of other tracks */
};

struct osc_wire_process {
    uint32_t pid, name, labels; /* strings */
};

/* DEVICES: consecutive. -1: unknown. */
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
