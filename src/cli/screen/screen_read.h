/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_read.h - the tables that the one screen shows, and access to their cells.
 *
 * Threading: pure functions.
 */
#pragma once

#include "cli/command_options.h"
#include "table/query.h"

enum osc_screen_table {
    OSC_SCREEN_INFO,
    OSC_SCREEN_QUALITY,
    OSC_SCREEN_STEPS,
    OSC_SCREEN_OVERVIEW,
    OSC_SCREEN_RANKS, /* overview again, one block for each rank and span */
    OSC_SCREEN_OPERATORS,
    OSC_SCREEN_KERNELS,
    OSC_SCREEN_MODULES,
    OSC_SCREEN_RANGES,
    OSC_SCREEN_POINTS,
    OSC_SCREEN_ADVICE,
    OSC_SCREEN_TRACKS,
    OSC_SCREEN_STRAGGLERS,
    OSC_SCREEN_TABLES
};

/* The data to show, filled in by cmd_screen.c. */
struct osc_screen {
    const struct osc_args *args;
    uint32_t n_traces; /* number of traces */
    /* Borrowed; merged, except STEPS, RANKS, ADVICE and TRACKS. */
    const struct osc_answer *answers[OSC_SCREEN_TABLES];
    unsigned width; /* of the terminal; 0: not a terminal */
    bool has_colour;
};

const struct osc_answer *osc_screen_answer(const struct osc_screen *s,
                                           enum osc_screen_table table);

/* The rows of a merged table. */
const struct osc_result *osc_screen_merged(const struct osc_screen *s,
                                           enum osc_screen_table table);

/* The value of KEY in `info` as text, empty if it is missing; as a number; as a boolean. */
struct osc_str osc_screen_info(const struct osc_screen *s, const char *key);
uint64_t osc_screen_info_count(const struct osc_screen *s, const char *key);
bool osc_screen_info_flag(const struct osc_screen *s, const char *key);

/* Whether the blocks of A belong to several ranks; if not, they are spans of one rank. */
bool osc_screen_has_ranks(const struct osc_answer *a);

/* Count the steps, the kept steps, and the traces without steps, which count as one step. */
void osc_screen_count_steps(const struct osc_screen *s, uint64_t *n, uint64_t *n_kept,
                            uint64_t *n_whole);

/* Of the traces without steps: in how many no step begins in what is selected, though they may
 * have some, and whether some has device work. */
void osc_screen_look_at_whole(const struct osc_screen *s, uint64_t *n_outside, bool *has_work);

/* Whether the steps are iterations, which the program did not announce as steps. */
bool osc_screen_has_iterations(const struct osc_screen *s);

/* Whether kernels ran. */
bool osc_screen_has_device(const struct osc_screen *s);
/* Who has the device time of `operators`. */
struct osc_screen_owners {
    double own_ns, rest_ns; /* of operators, and of work that none launched */
    uint64_t n_operators;   /* rows; the rest is by cause: */
    uint64_t n_causes;
};
struct osc_screen_owners osc_screen_find_owners(const struct osc_screen *s);
/* Whether there are operators: `operators` may have rows that are none. */
bool osc_screen_has_operators(const struct osc_screen *s);

/* A step that is far from the median of the kept steps of its rank and span. */
struct osc_outlier {
    const struct osc_answer_block *block; /* of the table of steps */
    uint64_t row;
    double median_ns;
};

/*
 * Fill FOUND with at most MAX outliers, sorted by relative distance from their median, then by
 * rank, span and time. Returns their total number.
 */
uint64_t osc_screen_outliers(const struct osc_screen *s, struct osc_outlier *found,
                             uint64_t max);

/*
 * Append the name of the step in row ROW of R for --steps: its label, or @ and its ordinal if
 * it has no label or other steps of R have the same.
 */
void osc_screen_add_step(const struct osc_result *r, uint64_t row, struct osc_strbuf *out);

/*
 * The number of advice rows in all ranks, of its spans once. *OF and *ROW, which may be NULL,
 * receive the one with the most time at stake, if there is one.
 */
uint64_t osc_screen_advice(const struct osc_screen *s, const struct osc_answer_block **of,
                           uint64_t *row);

/* Put three commands that fit the trace. */
struct osc_page;
void osc_screen_put_commands(struct osc_page *p);
