/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the analyser for programs: open traces, ask for tables, read their columns.
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
 *   set       traces opened together: the files of one run, its ranks, its spans
 *   view      a selection of a set; it changes nothing in the set
 *   question  a table, and which of its rows and columns
 *   frame     the answer: a finished table, as contiguous columns to borrow, or as Arrow
 *             arrays (C data interface) that share the values
 *
 *   - Zeroed structs mean the defaults. Strings in them are borrowed during the call.
 *   - Times are nanoseconds (names end in _ns), sizes bytes (_bytes), shares 0..1 (_ratio);
 *     times of events count from the earliest start in all opened traces.
 *   - Nothing is printed. A function that fails returns a status and puts a sentence into the
 *     caller's struct osc_err, which may be NULL. Strings are UTF-8 and end in NUL; other
 *     bytes in a trace read as U+FFFD.
 *   - Memory: a set has a limit for its traces, facts derived from them, views and questions.
 *     A question may have a limit of its own: its working memory and its answer count toward
 *     both; what it leaves for later questions, such as a view, counts only toward the set's.
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

/* --- the Arrow C data and stream interfaces, as specified by Apache Arrow ----------- */

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

/* --- the catalog of tables ------------------------------------------------------------ */

enum osc_type { OSC_TYPE_STRING, OSC_TYPE_INTEGER, OSC_TYPE_NUMBER, OSC_TYPE_BOOLEAN };

/* Name and help text of table I, in the order of `opscope table --list`, without those that
 * compare two runs; NULL for I beyond the last table. Static. */
OSC_API const char *osc_catalog_name(size_t i);
OSC_API const char *osc_catalog_help(size_t i);

/* The same of the tables that compare two runs: those that osc_compare() makes. */
OSC_API const char *osc_catalog_comparison_name(size_t i);
OSC_API const char *osc_catalog_comparison_help(size_t i);

/* The column of table TABLE that COLUMN, which it lacks, may mean: by what it holds, as `time`
 * is the time by which rows are sorted, or by its letters. NULL: none. Static. */
OSC_API const char *osc_catalog_nearest(const char *table, const char *column);

/*
 * Torch's estimate of the floating-point operations of one call of the operator NAME, the sum
 * of which is the column `flops` of `averages`. ARGS is the JSON object of the arguments of the
 * call, as in the column `args` of `events`. 0: there is no estimate. Pure.
 */
OSC_API uint64_t osc_operator_flops(const char *name, const char *args);

/*
 * Write the file FROM, compressed by gzip, to TO, which is made or emptied first; after a
 * failure it is incomplete. OSC_EINVAL: this library was built without gzip. OSC_EIO: a file
 * cannot be read or written. OSC_ENOMEM.
 */
OSC_API OSC_MUST_USE osc_status osc_gzip_file(const char *from, const char *to,
                                              struct osc_err *err);

/* --- sets -------------------------------------------------------------------------------- */

/* Traces opened together: immutable, and shared by everyone who holds the set. */
struct osc_set;

/* Selects part of a set. Zeroed: all of it. */
struct osc_view {
    const char *ranks, *spans;             /* "0,4-7" */
    const char *process, *thread, *device; /* by number or name; "xpu:0" */
    const char *steps;                     /* "5-7" by label, inclusive; "@0-@2" by number */
    int has_from, has_to;
    int64_t from_ns, to_ns; /* events that start at from_ns or later and before to_ns; both
                             * from the origin */
    const char *base_ranks, *base_spans; /* of the base where two runs are compared; NULL: as
                                          * ranks and spans */
};

/* How to open a set. Zeroed: use all processors and keep everything in the files. */
struct osc_how {
    unsigned n_threads;
    int no_args;               /* drop arguments of events that no analysis needs */
    uint64_t max_memory_bytes; /* 0: 80 % of the available memory */
    /* Each member that is set applies to all questions whose view does not set that member;
     * NULL: everything. Other ranks and spans are not kept, nor, in one long file, events far
     * from the selected steps or times: a view that needs them reads the files again, in their
     * state at that time. */
    const struct osc_view *only;
    /* Called from time to time by a thread that reads PATH, which need not be the caller's,
     * with the bytes read so far; never by two at once for one call. A total of 0 is unknown.
     * PATH is NULL when everything is read. A nonzero result stops reading. May be NULL. */
    int (*progress)(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx; /* borrowed until the set is freed */
    /*
     * Do not keep files in memory if there are several: each question reads them again, one
     * after the other, so that many ranks need only the memory of the largest. A question that
     * names a time reads them twice. The table `events` still has all of them open. A refresh
     * of such a set reads all files again if one has changed.
     */
    int one_by_one;
};

/*
 * Read the N files (of any format that opscope reads) and directories at PATHS into a new set,
 * which the caller releases. HOW may be NULL. OSC_EINVAL: an option in HOW is wrong, or
 * selects a step or thread that does not exist. OSC_ENOTFOUND: no trace has a selected rank or
 * span. OSC_ECANCELED: `progress` stopped it. A damaged file gives OSC_OK with
 * everything that is still readable: the table `quality` lists what was left out, and
 * osc_set_notes() reports if memory or the disk ended the reading.
 *
 * A set has copies of what it read: files may be replaced or removed at any time. Rows of an
 * exported .osc that is overwritten or cut before a question first reads them are lost, and
 * counted in the table `quality`.
 */
OSC_API OSC_MUST_USE osc_status osc_set_open(struct osc_set **set, const char *const *paths,
                                             size_t n, const struct osc_how *how,
                                             struct osc_err *err);

/* osc_set_hold() adds a reference to SET and returns it; osc_set_release() drops one, and the
 * last one frees the set. Both accept NULL and are thread-safe. */
OSC_API struct osc_set *osc_set_hold(struct osc_set *set);
OSC_API void osc_set_release(struct osc_set *set);

/* Notes from opening or refreshing SET, one per line, or ""; borrowed while SET is held. */
OSC_API const char *osc_set_notes(const struct osc_set *set);

/* What a refresh did to the traces of a set. A trace that was read again counts in both n_read
 * and n_gone. */
struct osc_changes {
    uint32_t n_kept; /* files unchanged: not opened again */
    uint32_t n_read; /* files new or changed */
    uint32_t n_gone; /* files changed or deleted */
};

/*
 * Check the paths of SET again and read what has changed: afterwards the set is what
 * osc_set_open() would make of them now. Questions that began earlier use the traces from
 * before. CHANGES may be NULL.
 *
 *   - A file is unchanged if path, size, time of change and inode are the same. Recordings
 *     that have not ended are compared by content. Traces from standard input or a pipe are
 *     kept.
 *   - A file in a directory that has become unreadable is left out, and the notes say so.
 *     If a file among the paths has become unreadable, the call fails.
 *   - Ranks, spans and the origin of times are computed again for all files together.
 *   - A set that was opened with how->only is read completely again if anything changed.
 *   - Old and new traces count toward the limit of the set: OSC_ELIMIT if both do not fit.
 *
 * On failure SET is unchanged. Statuses are those of osc_set_open(). The progress function of
 * SET is called; it must not refresh SET itself. Thread-safe: if several threads call it, one
 * refreshes and the others wait.
 */
OSC_API OSC_MUST_USE osc_status osc_set_refresh(struct osc_set *set,
                                                struct osc_changes *changes,
                                                struct osc_err *err);

/* --- questions --------------------------------------------------------------------------- */

/* An option that a table has of its own, by its name on a command line: {"at", "5ms"}. */
struct osc_named_option {
    const char *name;  /* as `opscope table --list` has it, without dashes */
    const char *value; /* as `opscope table` takes it; "" for a switch */
};

#define OSC_QUESTION_OPTIONS 8

/* Which table, and which part of it. Zeroed: all of `averages`. */
struct osc_question {
    const char *table;
    const char *group_by;      /* one of the table's groupings, such as "shape" or "stack:5" */
    const char *columns;       /* "name,calls" */
    const char *where;         /* an SQLite expression over the columns: "total_ns > us(10)" */
    const char *sort;          /* "calls" or "-calls": descending; "calls:asc". If no row has a
                                * value of that column, a note says so. */
    int64_t limit;             /* rows per rank and span; 0: all, in text 100; -1: all */
    int merge;                 /* sum all ranks and spans into one block of rows */
    uint64_t max_memory_bytes; /* for this question; 0: only the set's limit */
    struct osc_cancel *cancel; /* lets another thread stop the question; or NULL */
    /* The table's own options; the first without a name ends them. Those of its text form
     * (averages: "header", "torch", ...) are for osc_ask_text(). */
    struct osc_named_option options[OSC_QUESTION_OPTIONS];
};

/* A switch that stops questions: once it is pulled, each question that uses it soon returns
 * OSC_ECANCELED. */
struct osc_cancel;

/* osc_cancel_new() returns NULL if memory is exhausted. The caller frees the switch when no
 * question uses it any more; osc_cancel_free() accepts NULL. */
OSC_API struct osc_cancel *osc_cancel_new(void);
OSC_API void osc_cancel_free(struct osc_cancel *c);

/* Pull the switch, from any thread. It stays pulled. */
OSC_API void osc_cancel_pull(struct osc_cancel *c);

/* A finished table. */
struct osc_frame;

/*
 * Answer QUESTION about the part of SET that VIEW selects; either may be NULL. The caller
 * releases *F, which is NULL after a failure. OSC_EINVAL: a name in the question or view does
 * not exist, or an option does not apply to this table. OSC_ENOTFOUND: no trace has a selected
 * rank or span. OSC_ELIMIT: a memory limit was
 * reached. OSC_ECANCELED: it was cancelled. A failure does not affect other questions about
 * the set.
 */
OSC_API OSC_MUST_USE osc_status osc_ask(struct osc_set *set, const struct osc_view *view,
                                        const struct osc_question *question,
                                        struct osc_frame **f, struct osc_err *err);

/* How to write a table as text, and where to. */
struct osc_layout {
    const char *format; /* "text" (NULL), "csv", "json", "jsonl", "md", "arrow" (bytes) */
    unsigned width;     /* width of the terminal, in columns; 0: not a terminal, cut nothing
                         * but the names of kernels */
    int has_colour;
    int full_names; /* do not fold the names of kernels */
    /* Receives the text piece by piece; a nonzero result ends it with OSC_EIO. */
    int (*write)(void *ctx, const char *s, size_t len);
    /* Receives, one per line, what the format has no place for. May be NULL. */
    void (*note)(void *ctx, const char *line);
    void *ctx;
};

/* Like osc_ask(), but write the answer as text: byte for byte what `opscope table` prints. */
OSC_API OSC_MUST_USE osc_status osc_ask_text(struct osc_set *set, const struct osc_view *view,
                                             const struct osc_question *question,
                                             const struct osc_layout *text,
                                             struct osc_err *err);

/* --- comparing two runs --------------------------------------------------------------------
 */

/*
 * Like osc_ask() and osc_ask_text(), but for a table that compares two runs, such as
 * diff_operators: all ranks of BASE, as VIEW selects them, with all of NEWER. Both sets may be
 * the same. OSC_EINVAL also: the table is one of a single run. If QUESTION names no table, or
 * is NULL, osc_compare_text() writes all that `opscope diff` prints: sentences, what changed
 * most first, and the tables.
 */
OSC_API OSC_MUST_USE osc_status osc_compare(struct osc_set *base, struct osc_set *newer,
                                            const struct osc_view *view,
                                            const struct osc_question *question,
                                            struct osc_frame **f, struct osc_err *err);
OSC_API OSC_MUST_USE osc_status osc_compare_text(struct osc_set *base, struct osc_set *newer,
                                                 const struct osc_view *view,
                                                 const struct osc_question *question,
                                                 const struct osc_layout *text,
                                                 struct osc_err *err);

/* A condition on what grew from one run to another, as opscope-diff(1) describes it. */
struct osc_gating {
    const char *gate;                 /* "step.total > 5% and significant" */
    int allow_different;              /* compare runs of other devices or machines, too */
    const char *report;               /* write a report: "xml" (JUnit's) or "md"; or NULL */
    const char *base_name, *new_name; /* of the runs, for the report; or NULL */
};

/* What osc_compare_gate() found. Zeroed, it is empty. */
struct osc_verdict {
    int is_broken;
    int knows_significance; /* both runs have enough steps to tell what is significant */
    char *text;             /* owned; the verdict, and a line for each row that broke it */
    char *report;           /* owned; NULL: none was asked for */
};

/*
 * Evaluate the gate of HOW; the caller frees V. OSC_EINVAL: it is no gate; the message says
 * where. OSC_ENOTFOUND: neither run has what it names. OSC_EFORMAT: the runs cannot be
 * compared. Others are those of osc_ask(). After a failure V is empty.
 */
OSC_API OSC_MUST_USE osc_status osc_compare_gate(struct osc_set *base, struct osc_set *newer,
                                                 const struct osc_view *view,
                                                 const struct osc_gating *how,
                                                 struct osc_verdict *v, struct osc_err *err);
OSC_API void osc_verdict_fini(struct osc_verdict *v);

/* --- parts: answers of several processes -------------------------------------------------- */

/*
 * Like osc_ask(), but pass the answer to WRITE as a part: bytes for osc_merge() in another
 * process. Parts stand for whole traces and their ranks, spans and clocks, so the merged table
 * is that of one set of all traces. Tables that stream their rows (`events`) have none
 * (OSC_EINVAL). OSC_EIO: WRITE did not return 0. Statuses are those of osc_ask() otherwise.
 */
OSC_API OSC_MUST_USE osc_status osc_ask_part(struct osc_set *set, const struct osc_view *view,
                                             const struct osc_question *question,
                                             int (*write)(void *ctx, const char *s, size_t len),
                                             void *ctx, struct osc_err *err);

/* One part, or several concatenated ones. */
struct osc_part {
    const char *name; /* for messages, such as a path; or NULL */
    const char *bytes;
    size_t n_bytes;
};

/*
 * Make *F, which the caller releases, of the N PARTS, all of the same question: the same table,
 * to the byte, as one set gives that is opened with the paths of all parts in this order.
 * Shares of the same paths (`opscope table --share`) may come in any order. OSC_EINVAL: a part
 * is damaged, of another version or question, or there twice. OSC_ENOTFOUND: no trace has a
 * selected rank or span. A trace that could not be read, and a share that is missing, are left
 * out.
 */
OSC_API OSC_MUST_USE osc_status osc_merge(const struct osc_part *parts, size_t n,
                                          struct osc_frame **f, struct osc_err *err);

/* --- requests from names and values --------------------------------------------------- */

/* All options in one struct, for osc_request_set(). */
struct osc_request {
    struct osc_how how; /* `only` cannot be set by name */
    struct osc_view view;
    struct osc_question question; /* `table` cannot be set by name */
    struct osc_layout text;
};

/* Which parts of a request osc_request_set() may set. */
enum { OSC_PART_HOW = 1, OSC_PART_VIEW = 2, OSC_PART_QUESTION = 4, OSC_PART_TEXT = 8 };

/*
 * Set the option NAME of R to VALUE. Names and values are those of the options of `opscope
 * table`: "steps", "5-7"; "from", "1.5ms"; "merge", NULL. VALUE is borrowed as long as R is
 * used. OSC_EINVAL: PARTS has no option NAME, or VALUE is wrong for it.
 */
OSC_API OSC_MUST_USE osc_status osc_request_set(struct osc_request *r, unsigned parts,
                                                const char *name, const char *value,
                                                struct osc_err *err);

/* --- frames ------------------------------------------------------------------------------ */

/* A column of a frame. Everything in it is borrowed and valid while the frame is held. */
struct osc_frame_column {
    const char *name;
    const char *unit; /* "ns", "bytes", "ratio", ... or NULL */
    const char *help; /* meaning, formula, source */
    enum osc_type type;
    /* One value per row: int64_t; double; uint8_t (0 or 1); for strings int32_t, an index into
     * the dictionary, or -1 for a missing cell. Other missing cells are 0. */
    const void *values;
    const uint8_t *missing; /* one byte per row: 1 where the cell is missing; NULL: none is */
    uint64_t n_missing;
    /* For strings, the dictionary: word I is the bytes from word_offsets[I] to word_offsets[I
     * + 1]. Words are distinct and in order of first appearance. */
    const char *word_bytes;
    const int64_t *word_offsets;
    uint32_t n_words;
};

/* osc_frame_hold() adds a reference to F and returns it; osc_frame_release() drops one, and
 * the last one frees the frame. Both accept NULL and are thread-safe. */
OSC_API struct osc_frame *osc_frame_hold(struct osc_frame *f);
OSC_API void osc_frame_release(struct osc_frame *f);

OSC_API const char *osc_frame_name(const struct osc_frame *f);  /* name of the table; static */
OSC_API const char *osc_frame_notes(const struct osc_frame *f); /* one note per line, or "";
                                                                 * borrowed */

/*
 * Identifies the traces that F was made from, as 32 hexadecimal digits; borrowed. The same
 * files, opened with the same options and restricted to the same ranks and spans, give the
 * same fingerprint in any process; views, questions and versions of opscope do not matter. For
 * each trace, in order, it covers
 *
 *   - each file that it was read from: path as given, size, time of change in nanoseconds,
 *     inode; for a recording that has not ended its whole content so far; for standard input
 *     and pipes nothing
 *   - the number of events and other records read, and whether reading was complete
 *   - its rank and span, the origin of its times, and whether its clock is aligned
 */
OSC_API const char *osc_frame_fingerprint(const struct osc_frame *f);

OSC_API uint64_t osc_frame_rows(const struct osc_frame *f);
OSC_API size_t osc_frame_columns(const struct osc_frame *f);

/* Describe column I, which must be less than osc_frame_columns(). */
OSC_API struct osc_frame_column osc_frame_column_at(const struct osc_frame *f, size_t i);

/*
 * Export F as Arrow: a struct with one child per column. Integers are int64, numbers float64,
 * booleans bool, strings dictionaries of large_utf8; unit and help are field metadata. Values
 * are shared, and an array holds a reference to F; only the bitmaps are new. The caller
 * releases *OUT. OSC_ENOMEM: *OUT was not filled.
 */
OSC_API OSC_MUST_USE osc_status osc_frame_schema(struct osc_frame *f, struct ArrowSchema *out);
OSC_API OSC_MUST_USE osc_status osc_frame_array(struct osc_frame *f, struct ArrowArray *out);

/* Like osc_frame_array(), but as a stream of one array. */
OSC_API OSC_MUST_USE osc_status osc_frame_stream(struct osc_frame *f,
                                                 struct ArrowArrayStream *out);

#ifdef __cplusplus
}
#endif

#endif
