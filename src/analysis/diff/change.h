/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - what the tables of a comparison share.
 *
 * A table that compares has `comparison` instead of `map`: it is made of the digests of two
 * runs (sides.h). Rows stand in order of the change, the largest first: per step if both runs
 * have steps, else over all. Code that reads such a table finds its columns in a struct
 * osc_change_columns.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include "analysis/diff/samples.h"
#include "prose/phrase.h"

/* Where the columns of a table are; the change is the time that rows are sorted by. */
struct osc_change_columns {
    uint32_t name, base_calls, new_calls, delta_calls;
    uint32_t base_ns, new_ns, delta_ns;                /* of the change */
    uint32_t mean_base_ns, mean_new_ns, mean_delta_ns; /* the same, per step */
    uint32_t mean_base_calls, mean_new_calls;          /* UINT32_MAX: none */
    uint32_t delta_ratio, significant, p_value, order;
};

/* The columns of DEF, one of the tables with a row per name; TIME is an enum osc_time, by
 * which they are sorted. */
struct osc_change_columns osc_change_columns(const struct osc_table_def *def, uint32_t time);

/* The time that the rows of R, diff_operators or diff_kernels, are sorted by. */
uint32_t osc_change_time(const struct osc_result *r);

/* The columns of diff_steps. */
const struct osc_change_columns *osc_diff_steps_columns(void);

/* A row of a table that compares. */
struct osc_change {
    struct osc_str name;
    bool has_steps;               /* times are per step, else over all */
    double base_ns, new_ns;       /* per step or over all */
    double base_calls, new_calls; /* the same */
    bool is_tested, is_significant;
};

/* Row I of R; COLUMNS are those of its table. */
struct osc_change osc_change_at(const struct osc_result *r, uint64_t i,
                                const struct osc_change_columns *columns);

/* Set the columns of the change in the last row of OUT. */
struct osc_changed {
    int64_t base_ns, new_ns;
    struct osc_sample base, new_;
    bool has_steps, is_tested, is_significant;
    double p;
};
void osc_change_set(struct osc_result *out, const struct osc_change_columns *at,
                    const struct osc_changed *c);

/* By what rows are sorted whose change is DELTA, per step if HAS_STEPS: an integer that keeps
 * three digits of a mean, without the sign. */
int64_t osc_change_order(double delta, bool has_steps);

/* What is said of a change. */
struct osc_decision {
    bool is_significant;
    double p;
};

/* The p of CHANGED; 1 if it is not tested. */
double osc_change_p(const struct osc_sample *base, const struct osc_sample *new_,
                    bool is_tested);

/* Add notes to OUT: how many steps there are, and why nothing is said of significance. */
void osc_change_note_steps(struct osc_result *out, const struct osc_run_steps *s);

/* These notes, and those of `diff_steps` alone. */
extern const struct osc_prose osc_change_prose, osc_diff_steps_prose;
