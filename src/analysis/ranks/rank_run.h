/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_run.h - the collectives of all ranks, matched.
 *
 * A match is one collective of a group of ranks; its members are the calls of the ranks in it.
 *
 *   - Within a span, calls are matched by process group (name and list of ranks), operation
 *     and sequence number, where every call of that group has one.
 *   - Otherwise by process group and operation in order of start, of operations in which all
 *     ranks send as much, by type and number of elements as well, if each rank has as many
 *     calls of each; else counted from where the recording begins among those of the rank with
 *     most calls of the group (shift.h).
 *   - Matches are in order of first start; members in order of rank.
 *
 * Members of several files of one rank are members like those of several ranks.
 *
 * The times of calls are on the clock of their file, from the origin of the run. clocks.h
 * brings them onto one clock.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/ranks/rank_part.h"
#include "table/table.h"

/* Columns of each table of ranks, the last ones: hidden, of the packed part of one trace. */
enum osc_rank_hidden {
    OSC_RANK_OF,     /* rank and */
    OSC_RANK_SPAN,   /* span of the trace */
    OSC_RANK_BASE,   /* moment: what times in the part count from */
    OSC_RANK_BESIDE, /* another trace of its rank and span has the steps */
    OSC_RANK_PACKED,
    OSC_RANK_HIDDEN
};

/* N: index of the first of them. MERGE: FIRST in a table that has only such rows, KEY in one
 * that has others, so that each of these rows stays. */
#define OSC_RANK_COLUMNS(n, merge)                                                             \
    OSC_COLUMN((n) + OSC_RANK_OF, "of_rank", INTEGER, NULL, merge, OSC_COLUMN_HIDDEN, 0,       \
               "Rank of a part."),                                                             \
        OSC_COLUMN((n) + OSC_RANK_SPAN, "of_span", INTEGER, NULL, merge, OSC_COLUMN_HIDDEN, 0, \
                   "Span of a part."),                                                         \
        OSC_COLUMN((n) + OSC_RANK_BASE, "base_ns", INTEGER, "ns", merge,                       \
                   OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT, 0, "What its times count from."),    \
        OSC_COLUMN((n) + OSC_RANK_BESIDE, "is_beside", BOOLEAN, NULL, merge,                   \
                   OSC_COLUMN_HIDDEN, 0, "Another part has the steps of its rank."),           \
        OSC_COLUMN((n) + OSC_RANK_PACKED, "packed", STRING, NULL, merge, OSC_COLUMN_HIDDEN, 0, \
                   "What tables of ranks need of a trace, as bytes.")

/* map() and place() of the tables of ranks. With work, the part has also what took longest
 * before each collective; calls alone lack the steps. */
OSC_MUST_USE osc_status osc_rank_map_calls(const struct osc_trace *t,
                                           const struct osc_options *o, struct osc_result *out,
                                           struct osc_err *err);
OSC_MUST_USE osc_status osc_rank_map_work(const struct osc_trace *t,
                                          const struct osc_options *o, struct osc_result *out,
                                          struct osc_err *err);
OSC_MUST_USE osc_status osc_rank_map(const struct osc_trace *t, const struct osc_options *o,
                                     struct osc_result *out, struct osc_err *err);
OSC_MUST_USE osc_status osc_rank_place(struct osc_result *part, const struct osc_placing *from,
                                       const struct osc_placing *to);

/* Whether row I of R, a result of a table with OSC_RANK_COLUMNS, is a part. */
bool osc_rank_is_part(const struct osc_result *r, uint64_t i);

/* The rank and span of part I of R, once it is placed. */
struct osc_rank_place {
    int32_t rank, span;
};
struct osc_rank_place osc_rank_place_of(const struct osc_result *r, uint64_t i);

/* For together(): move the parts in the N results of BLOCKS to OUT, an empty result of another
 * table with OSC_RANK_COLUMNS. */
OSC_MUST_USE osc_status osc_rank_take(struct osc_result *const *blocks, uint32_t n,
                                      struct osc_result *out);

/* One trace. */
struct osc_rank_file {
    struct osc_rank_part part; /* owned */
    int32_t rank, span;
    int64_t base_ns;   /* add it to times of the part: from the origin of the run */
    bool is_beside;    /* its steps are none: another file of the rank has them */
    uint32_t *matches; /* owned; by call: index of its match */
    int64_t *real_ns;  /* owned; by range: the length of its shortest counterpart in the match,
                        * which did not wait; this much of it, at its end, moved data */
};

struct osc_rank_member {
    uint32_t file, call;
};

struct osc_rank_match {
    uint32_t first, n; /* its members */
    bool is_ordered;   /* matched by order, not by numbers */
};

/* Zeroed, it is empty. */
struct osc_rank_run {
    struct osc_rank_words words;
    struct osc_rank_file *files;     /* owned; by rank, span and order of the operands */
    struct osc_rank_match *matches;  /* owned */
    struct osc_rank_member *members; /* owned */
    size_t n_files, n_matches, n_members;
    bool has_spans; /* more than one */
};

/* Unpack the parts in R into RUN, which is empty, and match their calls. */
OSC_MUST_USE osc_status osc_rank_run_open(struct osc_rank_run *run, const struct osc_result *r);
void osc_rank_run_fini(struct osc_rank_run *run);

static inline const struct osc_rank_call *osc_rank_call_of(const struct osc_rank_run *run,
                                                           struct osc_rank_member m)
{
    return &run->files[m.file].part.calls[m.call];
}

/* The files [FIRST, result) have the same rank and span. */
size_t osc_rank_group_end(const struct osc_rank_run *run, size_t first);

/* How long calls of a file took together, and how long they moved data. */
struct osc_rank_moved {
    int64_t all_ns, real_ns;
};

/* The times of calls, from the origin of the run. Zeroed, there are none. */
struct osc_rank_times {
    struct osc_intervals all, real;
};

/* Add those of CALL of F. */
void osc_rank_times_add(struct osc_rank_times *times, const struct osc_rank_file *f,
                        uint32_t call);
/* Set *MOVED to their lengths; times that overlap count once. They are none then, even after a
 * failure. */
OSC_MUST_USE osc_status osc_rank_times_end(struct osc_rank_times *times,
                                           struct osc_rank_moved *moved);

/* Set *MOVED to that of the N calls of F in ORDER; times that overlap count once. */
OSC_MUST_USE osc_status osc_rank_measure(const struct osc_rank_file *f, const uint32_t *order,
                                         size_t n, struct osc_rank_moved *moved);

/* The average of the kept steps of a rank. */
struct osc_rank_average {
    uint64_t n_steps; /* 0: it has none */
    double step_ns, cost_ns[OSC_COST_COUNT];
};

/* Set *AVERAGE to that of the files [FIRST, END), one rank and span. */
void osc_rank_average_of(const struct osc_rank_run *run, size_t first, size_t end,
                         struct osc_rank_average *average);

/* A table that is made of all ranks. */
struct osc_rank_table {
    uint32_t span_column;  /* shown if there are several spans */
    const char *why_empty; /* what is noted if there are no rows; NULL: nothing */
    /* Append the rows of RUN to OUT. */
    osc_status (*fill)(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o);
};

/* finish() of T: replace the parts in R by the rows that it makes of them. */
OSC_MUST_USE osc_status osc_rank_finish(struct osc_result *r, const struct osc_options *o,
                                        const struct osc_rank_table *t, struct osc_err *err);
