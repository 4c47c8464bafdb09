/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the analyser for programs: open traces, ask for tables, take their columns.
 *
 *     const char *path = "run.osc";
 *     const struct osc_question q = {.table = "operators", .sort = "calls", .limit = 10};
 *     struct osc_set *set = NULL;
 *     struct osc_frame *f = NULL;
 *     struct osc_err err = {0};
 *
 *     if (osc_set_open(&set, &path, 1, NULL, &err) != OSC_OK ||
 *         osc_ask(set, NULL, &q, &f, &err) != OSC_OK)
 *         puts(err.message);
 *     ...
 *     osc_frame_release(f);
 *     osc_set_release(set);
 *
 *   set       traces that were opened together: the files of one run, its ranks, its spans
 *   view      what of them to look at; it changes nothing
 *   question  a table, and which of its rows and columns
 *   frame     the answer: a finished table, as contiguous columns that are borrowed as they
 *             are or handed on as Arrow arrays (C data interface) without copying a value
 *
 *   - Structs that are zeroed ask for the defaults. Texts in them are borrowed for the call.
 *   - Times are nanoseconds (names end in _ns), sizes bytes (_bytes), shares 0..1 (_ratio);
 *     times of events count from the smallest start of all that was opened.
 *   - Nothing is printed. What fails returns a status and puts a sentence into the caller's
 *     struct osc_err, which may be NULL. Strings are UTF-8 with a NUL at the end; what a
 *     trace has otherwise reads as U+FFFD.
 *   - Memory: a set has a limit, which traces, what is derived of them, views and questions
 *     count toward. A question may have a limit of its own: its answer and what it works with
 *     count toward both, and what it leaves behind for others, such as a view, toward that of
 *     the set alone.
 *
 * Link with libopscope-trace (static; pkg-config --static opscope-trace).
 *
 * Threading: any number of threads may ask a set at the same time. Frames never change: any
 * thread may read, share and release them, and they outlive the set.
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

/* --- sets -------------------------------------------------------------------------------- */

/* Traces that were opened together: sealed, and shared by all who hold the set. */
struct osc_set;

/* What of a set to look at. Zeroed, it is all. */
struct osc_view {
    const char *ranks, *spans;             /* "0,4-7" */
    const char *process, *thread, *device; /* by number or name; "xpu:0" */
    const char *steps;                     /* "5-7" by label, inclusive; "@0-@2" by number */
    int has_from, has_to;
    int64_t from_ns, to_ns; /* events that start then or later, and before; from the origin */
};

/* How to open a set. Zeroed: with all processors and everything that the files have. */
struct osc_how {
    unsigned n_threads;
    int no_args;               /* forget arguments of events that no analysis asks for */
    uint64_t max_memory_bytes; /* 0: 80 % of what there is */
    /* What is asked for unless a view says otherwise; NULL: all. Other ranks and spans are not
     * kept, nor, of one long file, what lies far from the steps or times that are selected: a
     * view that needs them reads the files again, as they are by then. */
    const struct osc_view *only;
    /* Called now and then by a thread that reads PATH, with bytes of it; 0 as a total: not
     * known. PATH is NULL once it is read. Another value than 0 stops it. May be NULL. */
    int (*progress)(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx; /* borrowed; good until the set is freed */
    /*
     * Of several files keep none: each question reads them again, one after the other, so many
     * ranks need the memory of the largest. The table `events` and questions about times are
     * answered with all of them open, as ever. To refresh such a set is to read all of them
     * again if one has changed; fingerprints cover all files, whatever is looked at.
     */
    int one_by_one;
};

/*
 * Read the N files (of any format that opscope reads) and directories at PATHS into a new
 * set, which the caller releases. HOW may be NULL. OSC_EINVAL: something in HOW is wrong, or
 * the traces have nothing that it selects. OSC_ECANCELED: progress stopped it. What is
 * broken in part is read for the rest: OSC_OK, and the table `quality` has what was left
 * out; where memory or the disk ended it, osc_set_notes() says so too.
 */
OSC_API OSC_MUST_USE osc_status osc_set_open(struct osc_set **set, const char *const *paths,
                                             size_t n, const struct osc_how *how,
                                             struct osc_err *err);

/* Hold SET once more, or once less: the last one frees it. NULL is fine. */
OSC_API struct osc_set *osc_set_hold(struct osc_set *set);
OSC_API void osc_set_release(struct osc_set *set);

/* What there was to say when SET was opened or refreshed, a line each, or ""; borrowed for as
 * long as it is held. */
OSC_API const char *osc_set_notes(const struct osc_set *set);

/* What became of the traces of a set. One that was read again counts in both of the last. */
struct osc_changes {
    uint32_t n_kept; /* their files are as they were: they were not opened */
    uint32_t n_read; /* their files are new or have changed */
    uint32_t n_gone; /* their files have changed, or are no longer there */
};

/*
 * Look at the paths of SET again and read what has changed: the set is then what
 * osc_set_open() would make of them now. Questions that began before are answered by what
 * was there when they began. CHANGES may be NULL.
 *
 *   - A file is the same if its path, size, time of change and inode are. Recordings that
 *     have not ended are compared by what they hold. What was read from standard input or a
 *     pipe stays.
 *   - A file in a directory that cannot be read any more is left out, and the notes say so.
 *     For one that is among the paths the call fails.
 *   - Ranks, spans and the origin of times are found anew for all files together.
 *   - A set that was opened with how->only is read again as a whole if anything has changed.
 *   - Before and after count toward the limit of the set: OSC_ELIMIT, if both do not fit.
 *
 * On failure SET is as it was. Statuses are those of osc_set_open(). The progress function of
 * SET is called, which must not refresh SET itself. Of several threads one refreshes, the
 * others wait.
 */
OSC_API OSC_MUST_USE osc_status osc_set_refresh(struct osc_set *set,
                                                struct osc_changes *changes,
                                                struct osc_err *err);

/* --- questions --------------------------------------------------------------------------- */

/* Which table, and what of it. Zeroed: all of `averages`. */
struct osc_question {
    const char *table;
    const char *group_by; /* one of the table's groupings, such as "shape" or "stack:5" */
    const char *columns;  /* "name,calls" */
    const char *where;    /* an SQLite expression over the columns: "total_ns > us(10)" */
    const char *sort;     /* "calls" or "-calls": descending; "calls:asc" */
    int64_t limit;        /* rows of each rank and span; 0: all, in text 100; -1: all */
    const char *compat;   /* "tb": the rules of the TensorBoard plugin */
    int merge;            /* sum all ranks and spans into one block of rows */
    int no_python;        /* leave out Python functions */
    int has_at;           /* only what is allocated at at_ns, from the origin */
    int64_t at_ns;
    uint64_t max_memory_bytes; /* of this question; 0: no limit but that of the set */
    struct osc_cancel *cancel; /* stops it from another thread; or NULL */
};

/* What stops questions: each that has it returns OSC_ECANCELED soon, once it is pulled. */
struct osc_cancel;

/* NULL: out of memory. The caller frees it once no question has it; NULL is fine there. */
OSC_API struct osc_cancel *osc_cancel_new(void);
OSC_API void osc_cancel_free(struct osc_cancel *c);

/* Pull it, from any thread. It stays so. */
OSC_API void osc_cancel_pull(struct osc_cancel *c);

/* A finished table. */
struct osc_frame;

/*
 * Answer QUESTION about what VIEW leaves of SET; either may be NULL. The caller releases
 * *F, which is NULL after a failure. OSC_EINVAL: something that was asked for is not there,
 * or has no meaning for this table. OSC_ELIMIT: a limit of memory does not allow it;
 * OSC_ECANCELED: it was stopped. Other questions about the set are not affected.
 */
OSC_API OSC_MUST_USE osc_status osc_ask(struct osc_set *set, const struct osc_view *view,
                                        const struct osc_question *question,
                                        struct osc_frame **f, struct osc_err *err);

/* How a table reads as text, and where it goes. */
struct osc_layout {
    const char *format; /* "text" (NULL), "csv", "json" or "md" */
    unsigned width;     /* columns of a terminal; 0: it is none, nothing is cut */
    int has_colour;
    int full_names; /* do not shorten the names of kernels */
    /* Of torch's table, which is the text of averages: */
    const char *header;                                      /* above it */
    int top_level;                                           /* only what no operator called */
    int32_t max_name_width, max_src_width, max_shapes_width; /* 0: torch's own; -1: none */
    const char *torch; /* "2.13" (NULL), or "1.13" with its units */
    /* Gets the text piece by piece; another value than 0 ends it: OSC_EIO. */
    int (*write)(void *ctx, const char *s, size_t len);
    /* What the form has no place for, a line each. May be NULL. */
    void (*note)(void *ctx, const char *line);
    void *ctx;
};

/* The same answer as text: byte for byte what `opscope table` prints. */
OSC_API OSC_MUST_USE osc_status osc_ask_text(struct osc_set *set, const struct osc_view *view,
                                             const struct osc_question *question,
                                             const struct osc_layout *text,
                                             struct osc_err *err);

/* --- the same from words ------------------------------------------------------------------ */

/* All that can be asked for. */
struct osc_request {
    struct osc_how how; /* `only` has no name */
    struct osc_view view;
    struct osc_question question; /* `table` has no name */
    struct osc_layout text;
};

/* Its parts. */
enum { OSC_PART_HOW = 1, OSC_PART_VIEW = 2, OSC_PART_QUESTION = 4, OSC_PART_TEXT = 8 };

/*
 * Put VALUE where NAME belongs in R. Names and values are those of the options of `opscope
 * table`: "steps", "5-7"; "from", "1.5ms"; "merge", NULL. VALUE is borrowed as long as R is
 * used. OSC_EINVAL: there is no such name in PARTS, or it takes no such value.
 */
OSC_API OSC_MUST_USE osc_status osc_request_set(struct osc_request *r, unsigned parts,
                                                const char *name, const char *value,
                                                struct osc_err *err);

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

/*
 * What F rests on, as 32 hexadecimal digits; borrowed. The same files, opened alike and
 * looked at with the same ranks and spans, have the same one in any process; views, questions
 * and versions of opscope do not count. It covers of each trace, in order:
 *
 *   - of each file that it was read from: path as given, size, time of change in nanoseconds,
 *     inode; of a recording that has not ended all that it holds so far; of standard input
 *     and pipes none of this
 *   - how many events and other records were read, and whether that was all
 *   - its rank and span, the origin of its times, and whether its clock is that of the others
 */
OSC_API const char *osc_frame_fingerprint(const struct osc_frame *f);

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
