/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what a table is.
 *
 * A table is one const struct osc_table_def in a file under analysis/, and one line in
 * analysis/tables.list. Sorting, limiting, choosing columns, merging ranks, text, CSV, JSON,
 * Markdown, --explain and the manual are generic over it; only `averages` brings a text form of
 * its own.
 *
 *   map     one sealed trace (a rank and span) -> a partial result
 *   place   moves what goes by the origin of time, which follows from all traces
 *   merge   results of several traces: rows with equal keys become one, each
 *           column by its rule (only with --merge; else a block of rows for each,
 *           behind the columns rank and span)
 *   together  adds rows about several blocks: what ranks show only side by side
 *   finish  fills columns that are made of others: means, ratios
 *
 * A table that compares ranks says joins_ranks: all traces together make one block of rows,
 * with or without --merge. map() makes rows that only finish() understands (analysis/ranks/),
 * place() tells them their rank and span, merging appends them, and finish() makes the rows
 * that users see.
 *
 * A result is a list of batches of at most 4,096 rows, laid out as Arrow arrays:
 * values, a validity bitmap, strings as indexes into a dictionary. A table that
 * may be as long as the trace (events) streams. Others compare two runs, or are made of other
 * tables (headlines).
 *
 * At most 64 columns a table. A result holds a pointer to itself: never copy one.
 *
 * Threading: definitions are constant; a result belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/status.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/identity.h"
#include "model/trace.h"
#include "opscope/trace.h"
#include "table/own_options.h"
#include "table/rules.h"

/* How two rows with equal keys are merged. */
enum osc_merge {
    OSC_MERGE_KEY,   /* part of the key */
    OSC_MERGE_FIRST, /* the value of the first row */
    OSC_MERGE_SUM,
    OSC_MERGE_MIN,
    OSC_MERGE_MAX,
    OSC_MERGE_OR,      /* of booleans */
    OSC_MERGE_JOIN,    /* of texts: all of them, in the order of parts, one per line */
    OSC_MERGE_BUCKETS, /* of texts of buckets.h: the counts are added */
    OSC_MERGE_FINISH   /* empty until finish() fills it */
};

enum osc_column_flag {
    OSC_COLUMN_OPTIONAL = 1, /* shown only after osc_result_show() */
    OSC_COLUMN_HIDDEN = 2,   /* only for merge and finish; never shown */
    OSC_COLUMN_DEEP = 4,     /* shown in machine formats, with --columns, and in text if it has
                              * data */
    OSC_COLUMN_SYMBOL = 8,   /* names of kernels (see is_symbol): text shortens their
                              * arguments */
    OSC_COLUMN_LONG = 16,    /* may be pages of JSON: text collapses white space and cuts it */
    OSC_COLUMN_MOMENT = 64,  /* a time from the origin: shifts with the origin */
    OSC_COLUMN_BELOW = 32,   /* text puts it below the row; with LONG, on several lines */
    OSC_COLUMN_QUESTION = 256, /* hidden, but what a frame has beside its columns: for each row
                                * a question (question.h), that its evidence prints */
    OSC_COLUMN_MINOR = 128,    /* text leaves it out first where a terminal is too narrow */
};

/* Another word by which rows can be sorted, for a column where a table has it. */
struct osc_sort_word {
    const char *word, *column;
    const char *divisor; /* of an average: the column to divide by; or NULL */
};

/* Such words, those of another program. They may name a device. */
struct osc_sort_words {
    const struct osc_sort_word
        *words;             /* ended by NULL; the first that has its columns counts */
    const char *any_device; /* stands for each device in them */
    struct osc_str (*device)(struct osc_str word); /* points into WORD; "": there is none */
    bool (*is_any_device)(struct osc_str device);  /* no certain one is meant */
};

struct osc_column {
    const char *name;
    enum osc_type type;
    const char *unit; /* "ns", "bytes", "ratio", … or NULL */
    enum osc_merge merge;
    unsigned flags;
    uint64_t rules;       /* bits of rules.h, instead of the table's rules; or 0 */
    const char *help;     /* one sentence or more: meaning and formula */
    const char *source;   /* instead of the table's source; or NULL */
    const char *grouping; /* word of --group-by that asks for this column; or NULL */
};

/* A member of an array of columns; after the help `.source = "…"` and `.grouping = "…"` may
 * follow. */
#define OSC_COLUMN(index, name, type, unit, merge, flags, rules, ...)     \
    [index] = {name,  OSC_TYPE_##type,    unit, OSC_MERGE_##merge, flags, \
               rules, .help = __VA_ARGS__}

/* How a table's own text form shall look, besides what its options of text say. */
struct osc_text_options {
    const struct osc_options *options;
    const char *sort;   /* as given, or NULL */
    int64_t limit;      /* rows; 0: the table's default; -1: all */
    const char *block;  /* which of several ranks and spans it is, for its title; or NULL */
    bool has_raw_names; /* not for a terminal: keep control characters */
};

struct osc_result;
struct osc_scan;

/* How a table makes rows of traces, each by itself. */
struct osc_mapping {
    uint32_t facts;      /* bits of enum osc_fact that map needs */
    bool selects_itself; /* map gets all rows of the trace and selects of them */
    bool joins_ranks;    /* one block of rows for all ranks and spans */

    /* Append the rows of T to OUT. */
    osc_status (*map)(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err);
    /*
     * Adjust whatever in PART, other than MOMENT columns, depends on the rank, the span and
     * the origin of its trace, from FROM, as in map, to TO. Called once for each part, even if
     * both are equal. NULL: nothing depends on them.
     */
    osc_status (*place)(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to);
    /*
     * Replace rows that map() made only for this by what the traces show together. Called once,
     * with all N BLOCKS of rows, in order of rank and span, before finish() of any; may be
     * NULL.
     */
    osc_status (*together)(struct osc_result *const *blocks, uint32_t n,
                           const struct osc_options *o, struct osc_err *err);
    /* Fill FINISH columns when all rows are there; may be NULL. */
    osc_status (*finish)(struct osc_result *r, const struct osc_options *o,
                         struct osc_err *err);
};

/*
 * How a table as long as the trace hands out its rows. rows() returns how many there will be,
 * and sets *SHOWN to the bits of the optional columns that they fill. next() appends at most
 * 4,096 rows to OUT, which is emptied before each call; no rows mean the end.
 */
struct osc_streaming {
    uint32_t facts; /* bits of enum osc_fact that open needs */
    uint64_t (*rows)(const struct osc_trace *t, const struct osc_options *o, uint64_t *shown);
    osc_status (*open)(const struct osc_trace *t, const struct osc_options *o,
                       struct osc_scan **scan, struct osc_err *err);
    osc_status (*next)(struct osc_scan *scan, struct osc_result *out, struct osc_err *err);
    void (*skip)(struct osc_scan *scan, uint64_t n); /* leave out the next N rows */
    void (*close)(struct osc_scan *scan);
};

/*
 * How a table compares two runs. SIDES are numbers of digests (analysis/diff/sides.h), the last
 * one an end. BASE and NEW have a merged digest for each. The rows that it makes are finished.
 */
struct osc_comparison {
    const uint32_t *sides;
    osc_status (*compare)(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err);
    /* Whether ROW has no difference: text leaves it out. NULL: no row is left out. */
    bool (*is_alike)(const struct osc_result *r, uint64_t row);
    bool has_patterns; /* its digests are grouped by a pattern of names, and so are its rows */
};

/*
 * How a table is made of the answers to others. TABLES ends with NULL. OF has for each the
 * finished rows of all ranks and spans, merged, in the order in which they were made. What is
 * selected of the traces is selected for them.
 */
struct osc_composition {
    const struct osc_table_def *const *tables;
    osc_status (*compose)(const struct osc_result *const *of, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err);
};

enum osc_table_kind {
    OSC_TABLE_READY, /* whoever asks has its rows */
    OSC_TABLE_MAPS,
    OSC_TABLE_STREAMS,
    OSC_TABLE_COMPARES,
    OSC_TABLE_COMPOSES
};

struct osc_table_def {
    const char *name;
    const char *help;
    const char *source; /* default for columns: continues "Source: " */
    uint64_t rules;     /* default for columns: bits of rules.h */
    const struct osc_column *columns;
    uint32_t n_columns;
    uint32_t sorted_by; /* index + 1 of the column that rows are sorted by, largest first; 0:
                         * the order of rows */
    const struct osc_sort_words *sort_words;       /* besides columns; or NULL */
    const char *const *groupings;                  /* for --group-by, ended by NULL; or NULL */
    const struct osc_table_option *const *options; /* of its own, ended by NULL; or NULL:
                                                    * others are refused */

    /* By one of the macros below: what its kind has; the others are NULL. */
    enum osc_table_kind kind;
    const struct osc_mapping *mapping;
    const struct osc_streaming *stream;
    const struct osc_comparison *comparison;
    const struct osc_composition *composition;

    /* Whether the SYMBOL columns of ROW name a kernel; NULL: always. */
    bool (*is_symbol)(const struct osc_result *r, uint64_t row);

    /* A text form of the table's own, instead of the generic one; may be NULL. R is
     * unsorted. */
    osc_status (*text)(const struct osc_result *r, const struct osc_text_options *o,
                       struct osc_strbuf *out, struct osc_err *err);
};

/* Members of a definition, of which it has at most one: a second would set `kind` again, which
 * compilers refuse. */
#define OSC_MAPS(...)                                              \
    .kind = OSC_TABLE_MAPS, .mapping = &(const struct osc_mapping) \
    {                                                              \
        __VA_ARGS__                                                \
    }
#define OSC_STREAMS(...)                                               \
    .kind = OSC_TABLE_STREAMS, .stream = &(const struct osc_streaming) \
    {                                                                  \
        __VA_ARGS__                                                    \
    }
#define OSC_COMPARES(...)                                                    \
    .kind = OSC_TABLE_COMPARES, .comparison = &(const struct osc_comparison) \
    {                                                                        \
        __VA_ARGS__                                                          \
    }
#define OSC_COMPOSES(...)                                                      \
    .kind = OSC_TABLE_COMPOSES, .composition = &(const struct osc_composition) \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

/* The bits of enum osc_fact that DEF needs of each trace. */
static inline uint32_t osc_table_facts(const struct osc_table_def *def)
{
    return def->mapping ? def->mapping->facts : def->stream ? def->stream->facts : 0;
}

/* Whether all traces make one block of rows of DEF. */
static inline bool osc_table_joins_ranks(const struct osc_table_def *def)
{
    return def->composition || (def->mapping && def->mapping->joins_ranks);
}

#define OSC_BATCH_ROWS 4096u

/* One column of one batch. */
struct osc_array {
    void *values;   /* int64_t, double, uint8_t (boolean) or uint32_t (string: dictionary) */
    uint8_t *valid; /* bit i is set if row i has a value */
};

struct osc_batch {
    uint32_t n_rows;
    uint32_t cap_rows;        /* that the arrays have room for; up to OSC_BATCH_ROWS */
    struct osc_array *arrays; /* one per column of the definition; owned, with all values */
};

/* The rows of one table. Zeroed except for def, it is empty. */
struct osc_result {
    const struct osc_table_def *def;
    struct osc_batch *batches; /* owned */
    uint32_t n_batches, cap_batches;
    uint64_t n_rows;
    uint64_t n_left_out;     /* further rows, which are behind every limit of the question */
    struct osc_arena arena;  /* bytes of strings */
    struct osc_intern dict;  /* strings of all batches; string i has osc_sid i */
    uint64_t shown;          /* bit per OPTIONAL column */
    struct osc_strbuf notes; /* one per line */
    bool says_why_empty;     /* NOTES only say why there are no rows */
    osc_status status;       /* sticky */
    uint32_t sorted_by;      /* instead of def->sorted_by; 0: that one */
    bool *marks;             /* owned; for def->text: the rows to print; NULL: all */
};

void osc_result_init(struct osc_result *r, const struct osc_table_def *def);
void osc_result_fini(struct osc_result *r);
void osc_result_clear(struct osc_result *r); /* removes rows and strings, keeps the memory */

/*
 * Building: begin a row, with all cells missing; then set its cells by column index. Check
 * .status once at the end.
 */
void osc_result_row(struct osc_result *r);
void osc_result_int(struct osc_result *r, uint32_t column, int64_t v);
void osc_result_num(struct osc_result *r, uint32_t column, double v);
void osc_result_bool(struct osc_result *r, uint32_t column, bool v);
void osc_result_str(struct osc_result *r, uint32_t column, struct osc_str v);
void osc_result_sid(struct osc_result *r, uint32_t column, osc_sid id);
void osc_result_str_again(struct osc_result *r, uint32_t column); /* the same string as in the
                                                                   * previous row */
void osc_result_show(struct osc_result *r, uint32_t column);
void osc_result_note(struct osc_result *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void osc_result_end_note(struct osc_result *r); /* one that was appended to its notes */

/* Add the note WHY R has no rows. It is left out where R becomes part of a table that has some.
 */
void osc_result_why_empty(struct osc_result *r, const char *why);

/* The id of V among the strings of R, for osc_result_sid(); valid until R is cleared. */
osc_sid osc_result_word(struct osc_result *r, struct osc_str v);

/* Reading and changing cells of row I. A missing cell reads as 0, 0.0, false or "". */
bool osc_result_has(const struct osc_result *r, uint64_t i, uint32_t column);
int64_t osc_result_get_int(const struct osc_result *r, uint64_t i, uint32_t column);
double osc_result_get_num(const struct osc_result *r, uint64_t i, uint32_t column);
bool osc_result_get_bool(const struct osc_result *r, uint64_t i, uint32_t column);
osc_sid osc_result_get_sid(const struct osc_result *r, uint64_t i, uint32_t column);
struct osc_str osc_result_get_str(const struct osc_result *r, uint64_t i, uint32_t column);
void osc_result_set_num(struct osc_result *r, uint64_t i, uint32_t column, double v);
void osc_result_set_int(struct osc_result *r, uint64_t i, uint32_t column, int64_t v);
void osc_result_set_bool(struct osc_result *r, uint64_t i, uint32_t column, bool v);
void osc_result_set_str(struct osc_result *r, uint64_t i, uint32_t column, struct osc_str v);
void osc_result_set_missing(struct osc_result *r, uint64_t i, uint32_t column);

/* Move all of FROM, which is empty afterwards, to TO, which is initialised and empty. */
void osc_result_move(struct osc_result *to, struct osc_result *from);

/* Remove rows whose KEEP is false, for finish(); KEEP has one entry per row. */
void osc_result_keep(struct osc_result *r, const bool *keep);

/* Remove all rows and notes and hide the optional columns, for place(). */
void osc_result_empty(struct osc_result *r);

/* Why no part of DEF can be made of one trace alone: "it is …"; NULL: one can. */
const char *osc_table_why_whole(const struct osc_table_def *def);

/* Index of column NAME in DEF, or -1. */
int osc_table_column(const struct osc_table_def *def, const char *name);
