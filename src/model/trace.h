/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - one file in memory: events as columns, and the tables they refer to.
 *
 * A trace is filled by import/, sealed, enriched by derive/, and from then on only read. One
 * trace is one process and one span (recording window) of one rank.
 *
 *   trace -> store of events -> chunks of up to 16,384 rows
 *     chunk: ts_ns[] dur_ns[] name[] form[] track[] arg_word[] + args (words)
 *            kind[] parent[] self_ns[] depth[] step[] link[]      (derive/)
 *
 *   - Rows are in the order of the file. A row id holds the chunk and the place in it, so
 *     that following a link is one shift and two loads. Row 0 is "none". The `id` that
 *     users see counts rows from 0 without gaps: osc_row_number().
 *   - Time stamps are integer nanoseconds on the clock of the file (decimal microseconds
 *     there, read exactly). Users see them relative to the origin of all operands:
 *     subtract osc_trace.origin_ns.
 *   - The order of string, form and track ids has no meaning and differs from run to run
 *     with several threads. The order of rows does not. Never sort by an id.
 *   - Records that are not events (flows, ends, metadata) lie in a second store.
 *   - A view is a trace made of some rows of another trace, its base (derive/part/view.h): it
 *     shares the constant parts and owns its rows, tracks, findings and facts.
 *   - A mirror is a trace with all rows of another trace, its original, but another place
 *     (rank, span, origin). It owns only its place, and follows the original when that gets
 *     more facts.
 *
 * Who owns what: a trace owns its forms, tracks, processes and strings, each form its slots
 * (form.h), the strings their bytes, but for adopted ones, whose bytes lie in pages of the
 * trace. A view borrows forms and strings of its base and owns tracks and processes. Nothing
 * is owned twice: osc_trace_share() asserts it.
 *
 * Threading: only import/ builds a trace (see import/build/builder.h). Once osc_trace_share()
 * has returned, with which every import and every view ends, several threads may use it:
 *
 *   - osc_derive() adds facts under the trace's exclusive lock, each fact once. It never
 *     removes one, not even when it fails.
 *   - To read facts, findings or columns, hold the lock with other readers, from
 *     osc_trace_read() to osc_trace_read_end(). Pointers found then stay valid afterwards:
 *     facts and columns are only added and never move.
 *   - Strings, forms, tracks and facts about the whole file are constant.
 *   - The lock is a leaf: its holder takes no other lock, and not this one again.
 *   - Only the single owner may free or redact a trace or discard its facts.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "model/finding.h"
#include "model/form.h"
#include "model/kind.h"
#include "model/producer.h"
#include "model/strings.h"

#define OSC_CHUNK_SHIFT 14
#define OSC_CHUNK_ROWS  (1u << OSC_CHUNK_SHIFT)
#define OSC_CHUNK_MASK  (OSC_CHUNK_ROWS - 1u)

/*
 * Starts and ends are within this distance of zero: 146 years. So the difference of two never
 * overflows. Sums may, on hostile input: the analyser is built with -fwrapv.
 */
#define OSC_TIME_MAX_NS ((INT64_C(1) << 62) - 1)

/* dur_ns of an event without a duration: an instant, a counter, or a range never closed. */
#define OSC_NO_DUR INT64_MIN

typedef struct osc_row {
    uint32_t v; /* chunk << OSC_CHUNK_SHIFT | place; chunk 0 is never used */
} osc_row;

typedef struct osc_track_id {
    uint32_t v; /* index in osc_trace.tracks; 0 is none */
} osc_track_id;

struct osc_chunk {
    uint32_t n_rows;
    uint32_t index;     /* in osc_store.chunks */
    uint32_t first_row; /* number of its first row, counted without holes */
    int64_t min_ts_ns, max_end_ns;
    /* Only in the store of others: dur_ns[i] is the number of events before record i in the
     * file, counted from this event. Ends find their begins by it. */
    uint32_t first_event;

    /* Base columns, n_rows long. */
    int64_t *ts_ns;
    int64_t *dur_ns;    /* never negative, or OSC_NO_DUR; see first_event */
    uint32_t *name;     /* osc_sid */
    uint32_t *form;     /* osc_form_id */
    uint32_t *track;    /* osc_track_id */
    uint32_t *arg_word; /* where the row's values start; see osc_row_words() */
    uint32_t *args;     /* n_arg_words words */
    uint32_t n_arg_words;
    uint32_t *more; /* owned; values that were replaced after the chunk was closed */
    size_t n_more, cap_more;

    /* Derived columns; NULL until derive/ has made them. */
    uint8_t *kind;       /* enum osc_kind; set when the trace is sealed */
    uint32_t *parent;    /* osc_row: the enclosing range on the same track */
    int64_t *self_ns;    /* duration minus that of the children; may be negative */
    uint16_t *depth;     /* 0: no parent; saturates at 65,535 */
    uint32_t *step;      /* index in osc_trace.steps + 1, or 0 */
    uint32_t *link;      /* osc_row; what it means goes by the kind of this row:
                            device work, sync -> the host call that launched it, if that
                                           is in the trace
                            host call   -> the operator it belongs to
                            alloc, free -> the operator that was running
                            operator    -> the forward operator of a backward one */
    void *derived_pages; /* owned, of derived_bytes; base columns lie in osc_trace.pages */
    size_t derived_bytes;
};

/* Rows of one sort in the order of the file. chunks[0] is NULL. */
struct osc_store {
    struct osc_chunk **chunks; /* owned, as is each chunk */
    uint32_t n_chunks;         /* includes the unused first one; 0 if empty */
    uint32_t cap_chunks;
    uint32_t n_rows;
};

/* Free C and its derived columns. */
void osc_chunk_free(struct osc_chunk *c);

/*
 * Keep only those rows of C, a chunk of events, whose WANTED (by place) is not 0. Row numbers
 * do not change. For readers: once sealed, a chunk keeps its rows.
 */
void osc_chunk_squeeze(struct osc_chunk *c, const uint8_t *wanted);

/* Append C; S owns it on success, the caller on failure. */
OSC_MUST_USE osc_status osc_store_append(struct osc_store *s, struct osc_chunk *c);

/* Number the rows of S again, after some of its chunks have lost rows. */
void osc_store_number(struct osc_store *s);

/* Pages that hold columns. */
struct osc_pages {
    void *p;
    size_t size;
};

struct osc_process {
    osc_sid pid;    /* as text */
    osc_sid name;   /* from metadata, or none */
    osc_sid labels; /* from metadata, or none */
};

/* A thread of a process, or a queue (stream) of a device. */
struct osc_track {
    osc_sid pid, tid;  /* as in the file, numbers as decimal text */
    uint32_t process;  /* index in osc_trace.processes */
    osc_sid name;      /* the program's name for it, or none */
    bool is_queue;     /* holds device work */
    bool is_of_trace;  /* no thread: the format uses it for events about the whole trace */
    bool is_summary;   /* neither: it repeats the time of other tracks */
    osc_sid device;    /* of a queue: FAMILY:N */
    uint32_t n_events; /* rows of the store of events */
    osc_row first_event;
    uint32_t order; /* rank by first appearance, from 0, among tracks that have events */
};

/* What a device can do; -1: unknown. */
struct osc_device_limits {
    int64_t memory_bytes;
    int64_t n_units;            /* compute units: multiprocessors, cores, slices */
    int64_t major, minor;       /* generation of its instruction set */
    int64_t threads_per_block;  /* of one launched group, at most */
    int64_t threads_per_unit;   /* resident on a unit, at most */
    int64_t registers_per_unit; /* of 32 bits */
    int64_t shared_bytes_per_block, shared_bytes_per_unit;
    int64_t simd_width; /* threads that execute together */
};

#define OSC_DEVICE_LIMIT_COUNT (sizeof(struct osc_device_limits) / sizeof(int64_t))

/* A device that the source lists, whether or not the program used it. */
struct osc_device {
    osc_sid family; /* as name has it */
    int64_t index;  /* N of FAMILY:N; -1: name has no number */
    osc_sid name;   /* FAMILY:N, as osc_track.device */
    osc_sid model;  /* product name, or none */
    struct osc_device_limits limits;
};

struct osc_step {
    osc_row row;   /* its annotation; none if the trace has no annotations and so one step */
    osc_sid label; /* the program's label: "5"; none without an annotation */
    osc_track_id track;
    uint32_t ordinal;         /* from 0 in the process, regardless of any selection */
    int64_t start_ns, end_ns; /* of the annotation (clock of the file) */
};

/* When a step begins and ends, device work included (derive/step_bounds.h). */
struct osc_step_bound {
    int64_t host_ns;          /* start of its annotation; all times by the clock of the file */
    int64_t start_ns, end_ns; /* as it is measured */
    bool is_behind_device;    /* its begin was moved: the device was busy with earlier work */
    bool is_tail;             /* the tail rule drops it */
    bool is_empty;            /* the last one, which holds no operator, unlike the one before */
};

/* When something of a class ran in a step of a part of a recording, which that part lacks
 * because it belongs to another step or to none (derive/part/bystanders.h). */
struct osc_bystander {
    int64_t start_ns, end_ns; /* clock of the file */
    uint8_t class;            /* enum osc_class */
    uint8_t rules;            /* by which it is of that class: a sum of these */
};
#define OSC_BYSTANDER_USUAL 1u
#define OSC_BYSTANDER_TB    2u

/* A member of exported files that says when steps begin and end: a list of lists of host_ns,
 * start_ns, end_ns and the sum of these. */
#define OSC_STEPS_MEMBER        "opscope_steps"
#define OSC_STEPS_BEHIND_DEVICE 1u
#define OSC_STEPS_TAIL          2u
#define OSC_STEPS_COMM_KERNELS  4u /* osc_trace.has_comm_kernels */
#define OSC_STEPS_EMPTY         8u

/* Another one that says what else ran in them: a list of lists of start_ns, end_ns, class and
 * rules. */
#define OSC_BYSTANDERS_MEMBER "opscope_steps_beside"

/* And one that lists the external ids of osc_trace.collectives. */
#define OSC_COLLECTIVES_MEMBER "opscope_steps_collectives"

/* And one that says what the numbers of devices in rows mean: a list of the family and how many
 * places they are above the numbers of programs; where ranks were merged, also a list of the
 * numbers of the listed devices. */
#define OSC_DEVICES_MEMBER "opscope_devices"

/* A record about a track in exported files: it is a queue, though no event there is work, or
 * of another device than that of the number there: the argument `device`. */
#define OSC_QUEUE_RECORD "opscope_queue"

/* A top-level member of the file other than traceEvents. */
struct osc_meta {
    osc_sid key;
    osc_sid value; /* bytes of a string; JSON text of any other value */
    bool is_string;
};

struct osc_trace {
    const struct osc_trace *base; /* borrowed; the trace that this is a view of; NULL: not a
                                   * view */
    struct osc_trace *original;   /* borrowed; the trace that this is a mirror of; NULL: not a
                                   * mirror */
    struct osc_strings strings;   /* all names, keys, texts; in a view those of the base */
    struct osc_form *forms;       /* owned, or in a view the base's; [0] is an empty form */
    uint32_t n_forms;
    struct osc_track *tracks; /* owned; [0] is none */
    uint32_t n_tracks;
    struct osc_process *processes; /* owned */
    uint32_t n_processes;
    struct osc_step *steps; /* owned; in order of start; made by derive/ */
    uint32_t n_steps;
    uint32_t *step_ordinals; /* owned; the steps that a selection has kept, in order */
    uint32_t n_step_ordinals;
    struct osc_step_bound *step_bounds; /* owned; of its steps at least, in order, as they were
                                         * found in more of the recording; NULL: not carried */
    uint32_t n_step_bounds;
    struct osc_bystander *bystanders; /* owned; what else ran in these steps */
    uint32_t n_bystanders;
    int64_t *collectives; /* owned; external ids of collectives of the plugin that this part may
                           * lack: some of its kernels in these steps belong to them */
    uint32_t n_collectives;
    bool is_torch;          /* of a program of PyTorch: its producer records no others, or it
                             * is a recording with marks of PyTorch (import/import.c) */
    bool has_comm_kernels;  /* the recording of which this is a part has kernels that are
                             * communication, whether or not this part has some */
    struct osc_meta *metas; /* owned */
    uint32_t n_metas;
    struct osc_device *devices; /* owned; in the order of the source */
    uint32_t n_devices;

    struct osc_pages *pages; /* owned; base columns of all chunks */
    uint32_t n_pages;

    struct osc_store events; /* ranges, instants, counter samples */
    struct osc_store others; /* ends, arrows, facts about tracks */

    struct osc_findings findings;
    osc_sid source;                /* path as given, or "standard input" */
    osc_sid format;                /* name of the reader, such as "chrome" */
    uint8_t producer;              /* enum osc_producer */
    uint64_t input_bytes;          /* of the file as stored */
    uint64_t text_bytes;           /* after inflating */
    int64_t base_ns;               /* baseTimeNanoseconds, or 0: add it for Unix time */
    int64_t min_ts_ns, max_end_ns; /* over events; 0, 0 if there are none */
    int64_t from_ns, to_ns;        /* what the recording covers; both 0: not known */
    int64_t origin_ns;             /* zero of the times that users see, on the clock of this
                                    * file */
    int64_t own_origin_ns;         /* what origin_ns would be if the file were opened alone */
    int32_t rank;                  /* 0 if the file does not say */
    bool has_rank;                 /* the file or its name gave it */
    int32_t span;                  /* which recording window of its worker, from 1 */
    bool has_steps;                /* the program announced steps */
    bool has_iterations;           /* it did not: ranges of kind STEP are iterations */
    bool is_beside_steps, shares_steps; /* see struct osc_placing */
    uint32_t piece;                     /* likewise */
    osc_sid worker;                     /* from the file name or the metadata; may be none */
    uint32_t n_parts;                   /* number of traces in its file; 0: only this one */
    bool goes_on;           /* goes on in a part of its recording that was not read with
                             * it */
    bool is_stdin;          /* read from standard input */
    bool is_partial;        /* reading stopped at a limit or a read error */
    bool is_windowed;       /* only some times were read: rows of others are missing */
    bool is_selected;       /* a view, or read from a file that holds a selection */
    size_t reserved_bytes;  /* by osc_mem_reserve(), for later derivations */
    struct osc_arena arena; /* data that lives as long as the trace */
    uint32_t facts;         /* bits of enum osc_fact that derive/ has made */
    void *derived;          /* owned by derive/, freed by derived_free */
    void (*derived_free)(void *derived);
    pthread_rwlock_t *lock;          /* owned; NULL: not sealed yet */
    struct osc_mem_account *account; /* borrowed; charged for everything in it, facts too */

    /* For columns in a file that nobody has read yet; see osc_trace_touch(). */
    osc_status (*check)(struct osc_trace *t, unsigned n_threads, struct osc_err *err);
    void *unchecked; /* owned by the reader, freed by unchecked_free */
    void (*unchecked_free)(void *unchecked);
};

/* Free all that T owns and leave it empty. Free views before their base. */
void osc_trace_fini(struct osc_trace *t);

/* Make M a mirror of T, with the same place. Free M before T. */
void osc_trace_mirror(struct osc_trace *m, struct osc_trace *t);

/* Copy to M the facts that its original has got since. The caller holds the exclusive lock of
 * M. */
void osc_trace_follow(struct osc_trace *m);

/*
 * Let several threads use T, which is whole, from now on. Derived facts charge the account that
 * is current here. Without this, no lock guards T: only one thread may have it.
 */
OSC_MUST_USE osc_status osc_trace_share(struct osc_trace *t);

/* Lock T for reading facts, together with other readers. Not recursive. */
void osc_trace_read(const struct osc_trace *t);
void osc_trace_read_end(const struct osc_trace *t);

/* Lock T exclusively; waits for all readers. For osc_derive(). */
void osc_trace_write(struct osc_trace *t);
void osc_trace_write_end(struct osc_trace *t);

/*
 * Read the columns of T that are still in a file, and check them against their hashes and
 * bounds; to be called before they are used. Damaged rows are removed and counted; until then
 * the pointers to columns are NULL. Repeated calls cost nothing. On failure T is unchanged. For
 * the single owner of T; osc_derive() calls it as well.
 */
OSC_MUST_USE osc_status osc_trace_touch(struct osc_trace *t, unsigned n_threads,
                                        struct osc_err *err);

/* Mark every limit in L as unknown. */
void osc_device_limits_init(struct osc_device_limits *l);

/* Return N of NAME, which is FAMILY:N, and set *FAMILY; return -1 and leave *FAMILY if NAME
 * has no number. */
int64_t osc_device_split(struct osc_str name, struct osc_str *family);

/*
 * The device of T called NAME; else the first one with the number INDEX, since memory records
 * of a format may use another word for the family; NULL: none.
 */
const struct osc_device *osc_trace_device(const struct osc_trace *t, struct osc_str name,
                                          int64_t index);

/* Count again which tracks have events, their order, and the first and last time. */
void osc_trace_recount(struct osc_trace *t);

static inline const struct osc_chunk *osc_chunk_of(const struct osc_store *s, osc_row row)
{
    return s->chunks[row.v >> OSC_CHUNK_SHIFT];
}

static inline uint32_t osc_row_place(osc_row row)
{
    return row.v & OSC_CHUNK_MASK;
}

static inline osc_row osc_row_at(const struct osc_chunk *c, uint32_t i)
{
    return (osc_row){c->index << OSC_CHUNK_SHIFT | i};
}

/* Rows counted from 0 without gaps: the id that users see. ROW is not none. */
static inline uint32_t osc_row_number(const struct osc_store *s, osc_row row)
{
    return osc_chunk_of(s, row)->first_row + osc_row_place(row);
}

/* End of row I of C; its start if it has no duration. */
static inline int64_t osc_row_end(const struct osc_chunk *c, uint32_t i)
{
    return c->dur_ns[i] == OSC_NO_DUR ? c->ts_ns[i] : c->ts_ns[i] + c->dur_ns[i];
}

static inline struct osc_str osc_trace_str(const struct osc_trace *t, osc_sid id)
{
    return osc_strings_get(&t->strings, id);
}

static inline struct osc_str osc_row_name(const struct osc_trace *t, const struct osc_chunk *c,
                                          uint32_t i)
{
    return osc_strings_get(&t->strings, (osc_sid){c->name[i]});
}

static inline const struct osc_form *osc_row_form(const struct osc_trace *t,
                                                  const struct osc_chunk *c, uint32_t i)
{
    return &t->forms[c->form[i]];
}

/* One argument of an event. */
struct osc_arg {
    enum osc_arg_type type;
    int64_t i;   /* INT32, INT64 */
    double d;    /* DOUBLE */
    osc_sid sid; /* STRING, TEXT, NUMTEXT */
};

/* An arg_word with this bit is an index into `more`, otherwise into `args`. */
#define OSC_ARG_WORD_MORE (UINT32_C(1) << 31)

/* The words of row I of C. */
static inline const uint32_t *osc_row_words(const struct osc_chunk *c, uint32_t i)
{
    const uint32_t at = c->arg_word[i];

    return at & OSC_ARG_WORD_MORE ? c->more + (at & ~OSC_ARG_WORD_MORE) : c->args + at;
}

/* Replace the words of row I by N WORDS, which are copied. */
OSC_MUST_USE osc_status osc_chunk_replace_words(struct osc_chunk *c, uint32_t i,
                                                const uint32_t *words, uint32_t n);

/* The value of SLOT in WORDS, the words of a row. */
struct osc_arg osc_slot_value(const struct osc_slot *slot, const uint32_t *words);

/* The value of slot SLOT of row I of C. */
struct osc_arg osc_row_slot(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                            uint32_t slot);

/* Find the argument KEY of row I; false if the event has none. */
bool osc_row_arg(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                 enum osc_arg_key key, struct osc_arg *arg);

/*
 * The argument KEY of row I as an integer: INT32, INT64, a DOUBLE without a fraction, or a
 * STRING of decimal digits (old files write numbers so). False if it is absent or of another
 * kind.
 */
bool osc_row_arg_int(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                     enum osc_arg_key key, int64_t *value);

/* ARG as a double: any number that a double holds, or a string of one; otherwise false. */
bool osc_arg_double(const struct osc_trace *t, const struct osc_arg *arg, double *value);

/* The argument KEY of row I as a double; false if it is absent or not a number. */
bool osc_row_arg_double(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                        enum osc_arg_key key, double *value);

/* The bytes of a STRING, TEXT or NUMTEXT argument; false if absent or of another type. */
bool osc_row_arg_str(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                     enum osc_arg_key key, struct osc_str *value);

/* What to call the module of row I: its attribute path if it was recorded, else its name. */
osc_sid osc_row_module(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i);

/* The value of the file's top-level member KEY; false if it is absent. */
bool osc_trace_meta(const struct osc_trace *t, const char *key, struct osc_str *value);

/* The version of PyTorch that the program used, as the writer of the file names it; empty if
 * the file does not say. */
struct osc_str osc_trace_torch_version(const struct osc_trace *t);
