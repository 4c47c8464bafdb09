/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - tables that compare two runs.
 *
 *   files --load--> set --digest--> digests of the base      (and the same of the new run)
 *   digests of both --compare--> rows --as of any table--> columns, text
 *
 * Digests (analysis/diff/sides.h) are small: the traces of a run are freed before the other run
 * is read.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/diff/sides.h"
#include "ask/evaluate.h"

/* The digests of one run. Zeroed, it is empty. It points into itself: never copy it. */
struct osc_digests {
    struct osc_result of[OSC_SIDES]; /* by enum osc_side; def is NULL: it was not made */
    struct osc_str *sources;         /* owned array */
    uint32_t n_sources;
    struct osc_arena arena;
    struct osc_digest files;
    char *torch_version; /* in the arena; NULL: unknown */
    bool has_failed;     /* some file could not be read to its end */
};

/* What VIEW, which may be NULL, selects of the base, or else of the newer run. */
struct osc_view osc_compare_view(const struct osc_view *view, bool is_base);

/* The bits of enum osc_side that the table DEF compares. */
uint32_t osc_compare_sides(const struct osc_table_def *def);

/*
 * Load O and make the digests SIDES, a set of bits, with the options of R. Failures have been
 * completed as those of tables are. The caller frees D in any case.
 */
OSC_MUST_USE osc_status osc_digests_load(struct osc_digests *d, const struct osc_load *o,
                                         const struct osc_request *r, uint32_t sides,
                                         struct osc_err *err);
void osc_digests_fini(struct osc_digests *d);

/* A sink for the rows of a digest: they become that of SIDE. */
struct osc_side_sink {
    struct osc_digests *all;
    uint32_t side; /* enum osc_side */
};
struct osc_sink osc_sink_side(struct osc_side_sink *to);

/* The digests of two runs. */
struct osc_compared {
    const struct osc_digests *base, *new_;
    struct osc_str *sources; /* owned by osc_compare_run(): of both */
};

/* Make the rows of K, whose table compares, from C; K borrows C. */
OSC_MUST_USE osc_status osc_compare_run(struct osc_asked *k, struct osc_compared *c,
                                        struct osc_err *err);
void osc_compared_fini(struct osc_compared *c);
