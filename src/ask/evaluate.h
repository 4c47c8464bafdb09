/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - the one way from a question about a set to where its answer goes.
 *
 *   plan     which traces answer it: those that the set keeps, a view of them, or the files,
 *            read again
 *   parts    the part of each trace: a kept trace is one that needs no reading; of many files
 *            each is read, asked and freed (trace_parts.h); a file of parts is decoded (join.h)
 *   gather   the parts in the order of rank and span (gather.h)
 *   finish   rows are merged, completed, filtered, sorted and limited (table/query.h), and the
 *            traces are named
 *   sink     takes the rows, or before: the parts as bytes, or the traces themselves
 *
 * Threading: thread-safe, like the sets.
 */
#pragma once

#include "ask/frame.h"
#include "ask/set.h"

struct osc_trace_parts; /* trace_parts.h */

/* What a sink gets; borrowed during the call. */
struct osc_evaluated {
    struct osc_asked *asked;         /* with its answer, if the sink takes rows */
    struct osc_digest files;         /* with rows: of what they were made of */
    const struct osc_chosen *chosen; /* what the view selects; empty where files were freed */
    const struct osc_loaded *loaded;
    const struct osc_load *load; /* how that was loaded */
    const struct osc_trace_parts *parts;
};

/* Where an answer goes. */
struct osc_sink {
    enum osc_sink_takes {
        OSC_SINK_ROWS,
        OSC_SINK_PARTS, /* of a table that has some */
        OSC_SINK_TRACES /* locked for reading, with the facts below; the set must keep them */
    } takes;
    uint32_t facts; /* of traces */
    osc_status (*take)(void *ctx, const struct osc_evaluated *e, struct osc_err *err);
    void *ctx;
};

/* A question about a set. Members may be NULL. */
struct osc_asking {
    const struct osc_view *view; /* the rest of it is that of the set */
    const struct osc_question *question;
    const struct osc_layout *layout;    /* NULL: rows for programs */
    const struct osc_table_def *digest; /* instead of the table of the question, with its
                                         * options: all rows, merged */
};

/* Evaluate A about SET; TO takes the answer. Statuses are those of osc_ask() and of the sink.
 */
OSC_MUST_USE osc_status osc_evaluate(struct osc_set *set, const struct osc_asking *a,
                                     const struct osc_sink *to, struct osc_err *err);

/*
 * Evaluate K, whose view is the one that SET was opened with, for TO; without TO, the rows stay
 * in K. If SET has no traces, K must be one of the questions that it was loaded for, and can be
 * evaluated once.
 */
OSC_MUST_USE osc_status osc_evaluate_opened(struct osc_set *set, struct osc_asked *k,
                                            const struct osc_sink *to, struct osc_err *err);

/* A sink for rows that makes columns of them. */
struct osc_frame_sink {
    struct osc_frame **frame;  /* set to columns that the caller releases */
    struct osc_window *window; /* only these rows, if the answer is a stream: then it has no
                                * filter; or NULL */
};
struct osc_sink osc_sink_frame(struct osc_frame_sink *to);

/* A sink for parts: a file of parts (join.h) is appended to TO, for all questions that the set
 * was loaded for. */
struct osc_sink osc_sink_parts(struct osc_strbuf *to);
