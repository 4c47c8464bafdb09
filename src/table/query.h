/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - from traces to the rows of a table.
 *
 *   traces --map--> partial results --merge--> one result per rank and span
 *          --finish--> --where--> --sort--> --limit--> runs of rows for a renderer
 *
 * Files of one rank and span (its processes) make one block of rows; so do all
 * files with is_merged. A table that streams is never held in memory, unless it is
 * to be sorted.
 *
 * Threading: one thread a query and answer. Traces have the facts they need, and others may
 * read them and derive more meanwhile: they are held as readers do (model/trace.h), but not
 * while rows are handed out.
 */
#pragma once

#include "table/partial.h"
#include "table/sheet.h"
#include "table/table.h"

/* Chooses rows of a finished table: what stays is sorted, limited and shown. */
struct osc_row_filter {
    /* Fill KEEP, one for each of ROWS, whose order is NULL. */
    osc_status (*keep)(void *ctx, const struct osc_rows *rows, bool *keep, struct osc_err *err);
    void *ctx;
};

struct osc_query {
    const struct osc_table_def *def;
    const struct osc_trace *const *traces;  /* borrowed; in order of rank and span */
    const struct osc_partial *const *parts; /* borrowed; instead of traces; placed, in order */
    uint32_t n_traces;                      /* or parts */
    const struct osc_options *options;      /* borrowed */
    const char *sort;                       /* as given, or NULL */
    int64_t limit;                          /* rows of a block; 0: as the form likes; -1: all */
    const char *columns;                    /* as given, or NULL */
    const struct osc_row_filter *where;     /* borrowed; NULL: every row */
    bool is_merged;                         /* --merge */
    bool is_machine;                        /* for programs: every column, every row */
    bool has_own_text;                      /* for def->text: rows are marked, none removed */
};

/* The rows of one rank and span. */
struct osc_answer_block {
    int32_t rank, span;             /* OSC_NO_RANK: of several */
    uint32_t first_trace, n_traces; /* of the query */
    struct osc_result result;       /* owned; empty for a table that streams */
    uint32_t *order;                /* owned; NULL: as they stand */
};

struct osc_answer {
    struct osc_sheet sheet;
    struct osc_answer_block *blocks; /* owned */
    uint32_t n_blocks;
    bool is_stream; /* rows come from the traces as they are asked for */
};

/* Whether the columns, the order and the grouping of Q exist; needs no traces. */
OSC_MUST_USE osc_status osc_query_check(const struct osc_query *q, struct osc_err *err);

/* Do the work of Q, but for the rows of a table that streams. */
OSC_MUST_USE osc_status osc_query_run(const struct osc_query *q, struct osc_answer *a,
                                      struct osc_err *err);

/*
 * Append what Q, of which only the table and its options count, has of T as a part of the
 * answer to OF. When all parts are opened and placed, a query of them gives the answer that
 * a query of the traces would give.
 */
OSC_MUST_USE osc_status osc_query_map(const struct osc_query *q, const struct osc_trace *t,
                                      const struct osc_partial_question *of,
                                      const struct osc_identity *id, struct osc_strbuf *out,
                                      struct osc_err *err);

/* Hand all rows to EMIT, run by run, until it fails. Fills a->sheet.n_more. */
OSC_MUST_USE osc_status osc_answer_rows(const struct osc_query *q, struct osc_answer *a,
                                        osc_status (*emit)(void *ctx,
                                                           const struct osc_rows *rows),
                                        void *ctx, struct osc_err *err);

void osc_answer_fini(struct osc_answer *a);
