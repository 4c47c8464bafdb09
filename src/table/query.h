/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - from traces to the rows of a table.
 *
 *   parts --map--> partial results --merge--> one result per rank and span
 *          --together--> --finish--> --where--> --sort--> --limit--> runs of rows for a
 *          renderer
 *
 * Files of one rank and span (its processes) make one block of rows; with is_merged, all files
 * do. The rows of a streaming table are never all in memory, unless it is sorted.
 *
 * Threading: one thread per query and answer. The traces must have the facts that the query
 * needs. Other threads may read them and derive more at the same time: the query holds the
 * readers' lock (model/trace.h), but not while it hands out rows.
 */
#pragma once

#include "table/partial.h"
#include "table/sheet.h"
#include "table/table.h"

/* A filter for rows of a finished table, before sorting and limiting. */
struct osc_row_filter {
    /* Set KEEP for each of ROWS, whose order is NULL. */
    osc_status (*keep)(void *ctx, const struct osc_rows *rows, bool *keep, struct osc_err *err);
    void *ctx;
};

/* Rows that come from no trace. */
struct osc_more_rows {
    /* Append them to R, the first block, before it is finished. */
    osc_status (*add)(void *ctx, struct osc_result *r);
    void *ctx;
};

struct osc_query {
    const struct osc_table_def *def;
    const struct osc_partial *const *parts; /* borrowed; of all traces, placed, and sorted by
                                             * rank and span; all are open, or none */
    uint32_t n_parts;
    struct osc_result *ready;           /* borrowed; instead of parts: the rows, which are
                                         * taken from it */
    const struct osc_options *options;  /* borrowed */
    const char *sort;                   /* as given, or NULL */
    int64_t limit;                      /* rows per block; 0: default of the format; -1:
                                         * all */
    const char *columns;                /* as given, or NULL */
    uint64_t n_skipped;                 /* rows to leave out at the start of a stream that
                                         * is not filtered */
    const struct osc_row_filter *where; /* borrowed; NULL: every row */
    const struct osc_more_rows *more;   /* borrowed; NULL: none */
    bool is_merged;                     /* --merge */
    bool is_machine;                    /* for programs: all columns, all rows */
    bool has_own_text;                  /* for def->text: rows are marked, not removed */
};

/* The rows of one rank and span. */
struct osc_answer_block {
    int32_t rank, span;             /* OSC_NO_RANK: several */
    uint32_t first_trace, n_traces; /* indexes in the query */
    struct osc_result result;       /* owned; empty for a streaming table */
    uint32_t *order;                /* owned; NULL: the order of the result */
};

struct osc_answer {
    struct osc_sheet sheet;
    struct osc_answer_block *blocks; /* owned */
    uint32_t n_blocks;
    bool is_stream;   /* rows are read from the traces while they are handed out */
    bool is_unsorted; /* the order is not the one asked for, because no row has the column */
};

/* Check that the columns, the sort key and the grouping of Q exist; needs no traces. */
OSC_MUST_USE osc_status osc_query_check(const struct osc_query *q, struct osc_err *err);

/* Do the work of Q, except for the rows of a streaming table. */
OSC_MUST_USE osc_status osc_query_run(const struct osc_query *q, struct osc_answer *a,
                                      struct osc_err *err);

/*
 * The number of rows that suffice of each trace to answer Q: the first ones in its order. 0:
 * all are needed, because there is no limit or rows are merged, filtered or changed later.
 */
uint64_t osc_query_rows_of_each(const struct osc_query *q);

/*
 * Map T and append the result as a part of the answer to OF. Only the table and options of Q
 * are used. Once all parts are opened and placed, a query over them gives the same answer as a
 * query over the traces.
 */
OSC_MUST_USE osc_status osc_query_map(const struct osc_query *q, const struct osc_trace *t,
                                      const struct osc_partial_question *of,
                                      const struct osc_identity *id, struct osc_strbuf *out,
                                      struct osc_err *err);

/* Pass all rows to EMIT in runs, until it fails. Sets a->sheet.n_more. */
OSC_MUST_USE osc_status osc_answer_rows(const struct osc_query *q, struct osc_answer *a,
                                        osc_status (*emit)(void *ctx,
                                                           const struct osc_rows *rows),
                                        void *ctx, struct osc_err *err);

/* The number of rows that osc_answer_rows() passes on, without limit and --where, if A is a
 * stream. */
uint64_t osc_answer_count_stream(const struct osc_query *q, const struct osc_answer *a);

void osc_answer_fini(struct osc_answer *a);
