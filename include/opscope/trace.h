/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the analyser for programs: open traces, ask for tables, take their columns.
 *
 *     struct osc_traces *t = osc_traces_new();
 *     const char *path = "run.osc";
 *     const struct osc_traces_options o = {.size = sizeof o, .paths = &path, .n_paths = 1};
 *     const char *words[] = {"--sort", "calls", "--limit", "10"};
 *     struct osc_frame *f = NULL;
 *
 *     if (osc_traces_open(t, &o) != OSC_OK ||
 *         osc_traces_table(t, "operators", words, 4, &f) != OSC_OK)
 *         puts(osc_traces_said(t));
 *     ...
 *     osc_frame_release(f);
 *     osc_traces_free(t);
 *
 * Everything is a table, and what may be asked of one is what `opscope table` takes: the
 * same words, checked by the same code. A frame is a finished table: contiguous columns,
 * which are borrowed as they are or handed on as Arrow arrays (C data interface) without
 * copying a value.
 *
 *   - Times are nanoseconds (names end in _ns), sizes bytes (_bytes), shares 0..1 (_ratio);
 *     times of events count from the smallest start of all that was opened.
 *   - Nothing is printed; messages stay with the traces until their next call. Strings are
 *     UTF-8 with a NUL at the end; what a trace has otherwise reads as U+FFFD.
 *   - Memory: "max-memory" is a limit of the process, the last one that was set holds.
 *
 * Link with libopscope-trace (static; pkg-config --static opscope-trace).
 *
 * Threading: one thread at a time for each osc_traces. Frames never change: any thread may
 * read, share and release them, and they outlive the traces.
 */
#ifndef OPSCOPE_TRACE_H
#define OPSCOPE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "opscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the Arrow C data and stream interfaces, as their specification has them ----------- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* --- what tables there are --------------------------------------------------------------- */

enum osc_type { OSC_TYPE_STRING, OSC_TYPE_INTEGER, OSC_TYPE_NUMBER, OSC_TYPE_BOOLEAN };

/* Name and meaning of table I, in the order of `opscope table --list`; NULL behind the last.
 * Static. */
OSC_API const char *osc_catalog_name(size_t i);
OSC_API const char *osc_catalog_help(size_t i);

/* --- traces ------------------------------------------------------------------------------ */

/* What was opened together: files of one run, its ranks, its spans. */
struct osc_traces;

struct osc_traces_options {
    size_t size;              /* sizeof of this struct: a newer library knows an older caller */
    const char *const *paths; /* files of any format we read, directories; borrowed */
    size_t n_paths;
    const char *const *words; /* options of `opscope table` that say what to read, such as */
    size_t n_words;           /* "--steps", "5-7", "--threads=2", "--max-memory=4G"; borrowed */
    /* Called now and then by the thread that opens, with bytes of one file; 0 as a total:
     * not known. Another value than 0 stops it. May be NULL. */
    int (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx; /* borrowed; good until the traces are freed */
};

/* None, to be opened; NULL: out of memory. The caller frees them; NULL is fine there. */
OSC_API struct osc_traces *osc_traces_new(void);
OSC_API void osc_traces_free(struct osc_traces *t);

/*
 * Read what O names into T, which is new. OSC_EINVAL: a word is wrong, or the traces have
 * nothing that it selects. OSC_ECANCELED: progress stopped it. After a failure T is as new.
 * What is broken in part is read for the rest: OSC_OK, and the table `quality` has what was
 * left out; where memory or the disk ended it, osc_traces_said() says so too.
 */
OSC_API OSC_MUST_USE osc_status osc_traces_open(struct osc_traces *t,
                                                const struct osc_traces_options *o);

/* What there was to say about the last call on T, lines apart by a line feed, or "". Good
 * until the next call. */
OSC_API const char *osc_traces_said(const struct osc_traces *t);

/* A finished table. */
struct osc_frame;

/*
 * Make table NAME of what T has read, as WORDS say ("--sort", "calls", "--where=calls > 9",
 * "--columns", "name,calls"): whatever `opscope table` takes but --list, --explain, --format
 * and what changes text alone. Words that select (--rank, --steps, --from, ...) read the
 * files again for this table; give them to osc_traces_open() for several. OSC_EINVAL: a
 * word or NAME is wrong. The caller releases *F, which is NULL after a failure.
 */
OSC_API OSC_MUST_USE osc_status osc_traces_table(struct osc_traces *t, const char *name,
                                                 const char *const *words, size_t n_words,
                                                 struct osc_frame **f);

/*
 * The same as text, byte for byte what `opscope table` prints where there is no terminal;
 * WORDS may have --format (text, csv, json, md). WRITE gets it piece by piece and ends it by
 * another value than 0: OSC_EIO.
 */
OSC_API OSC_MUST_USE osc_status
osc_traces_text(struct osc_traces *t, const char *name, const char *const *words,
                size_t n_words, int (*write)(void *ctx, const char *s, size_t len), void *ctx);

/* --- frames ------------------------------------------------------------------------------ */

/* Column I of a frame; all of it is borrowed and good as long as somebody holds that. */
struct osc_frame_column {
    const char *name;
    const char *unit; /* "ns", "bytes", "ratio", ... or NULL */
    const char *help; /* what it means, its formula, its source */
    enum osc_type type;
    /* One for each row: int64_t; double; uint8_t, 0 or 1; of strings int32_t, an index of the
     * dictionary, -1 where it is missing. Other missing cells are 0. */
    const void *values;
    const uint8_t *missing; /* one for each row: 1 where there is no value; NULL: nowhere */
    uint64_t n_missing;
    /* Strings: word I is the bytes from word_offsets[I] to word_offsets[I + 1]; distinct,
     * in order of first appearance. */
    const char *word_bytes;
    const int64_t *word_offsets;
    uint32_t n_words;
};

/* Hold F once more, or once less: the last one frees it. NULL is fine. */
OSC_API struct osc_frame *osc_frame_hold(struct osc_frame *f);
OSC_API void osc_frame_release(struct osc_frame *f);

OSC_API const char *osc_frame_name(const struct osc_frame *f);  /* of the table; static */
OSC_API const char *osc_frame_notes(const struct osc_frame *f); /* lines, or ""; borrowed */
OSC_API uint64_t osc_frame_rows(const struct osc_frame *f);
OSC_API size_t osc_frame_columns(const struct osc_frame *f);

/* Describe column I, which is less than osc_frame_columns(). */
OSC_API struct osc_frame_column osc_frame_column_at(const struct osc_frame *f, size_t i);

/*
 * F as Arrow: a struct with a child for each column. Integers are int64, numbers float64,
 * booleans bool, strings dictionaries of large_utf8; unit and help are metadata of the
 * fields. Values are shared, what holds an array holds F; only bitmaps are made anew. The
 * caller releases what was filled in. OSC_ENOMEM: nothing was.
 */
OSC_API OSC_MUST_USE osc_status osc_frame_schema(struct osc_frame *f, struct ArrowSchema *out);
OSC_API OSC_MUST_USE osc_status osc_frame_array(struct osc_frame *f, struct ArrowArray *out);

/* The same as a stream of one array. */
OSC_API OSC_MUST_USE osc_status osc_frame_stream(struct osc_frame *f,
                                                 struct ArrowArrayStream *out);

#ifdef __cplusplus
}
#endif

#endif
