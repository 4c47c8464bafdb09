/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_read.h - the tables that the one screen shows, and cells of them.
 *
 * Threading: pure functions.
 */
#pragma once

#include "cli/options.h"
#include "table/query.h"

enum osc_screen_table {
    OSC_SCREEN_INFO,
    OSC_SCREEN_QUALITY,
    OSC_SCREEN_STEPS,
    OSC_SCREEN_OVERVIEW,
    OSC_SCREEN_RANKS, /* overview again, a block for each rank and span */
    OSC_SCREEN_OPERATORS,
    OSC_SCREEN_KERNELS,
    OSC_SCREEN_ADVICE,
    OSC_SCREEN_TRACKS,
    OSC_SCREEN_TABLES
};

/* What is shown: filled by cmd_screen.c. */
struct osc_screen {
    const struct osc_args *args;
    uint32_t n_traces; /* that were asked */
    /* Borrowed; merged but for STEPS, RANKS, ADVICE and TRACKS. */
    const struct osc_answer *answers[OSC_SCREEN_TABLES];
    unsigned width; /* of the terminal; 0: it is none */
    bool has_colour;
};

const struct osc_answer *osc_screen_answer(const struct osc_screen *s,
                                           enum osc_screen_table table);

/* The rows of a merged table. */
const struct osc_result *osc_screen_merged(const struct osc_screen *s,
                                           enum osc_screen_table table);

/* The value of KEY in `info`: as it is, empty if it has none; as a number; as a switch. */
struct osc_str osc_screen_info(const struct osc_screen *s, const char *key);
uint64_t osc_screen_info_count(const struct osc_screen *s, const char *key);
bool osc_screen_info_flag(const struct osc_screen *s, const char *key);

/* Whether the blocks of A are of several ranks; if not, several are spans of one. */
bool osc_screen_has_ranks(const struct osc_answer *a);

/* How many steps there are, are kept, and are traces without any, which count as one. */
void osc_screen_count_steps(const struct osc_screen *s, uint64_t *n, uint64_t *n_kept,
                            uint64_t *n_whole);

/* Whether kernels ran. */
bool osc_screen_has_device(const struct osc_screen *s);

/* A step beyond 3 MAD of the median of the kept ones of its rank and span. */
struct osc_outlier {
    const struct osc_answer_block *block; /* of the table of steps */
    uint64_t row;
    double median_ns;
};

/*
 * Fill FOUND with at most MAX of them, the farthest from their median in proportion to
 * it first, equals in order of rank, span and time. Returns how many there are.
 */
uint64_t osc_screen_outliers(const struct osc_screen *s, struct osc_outlier *found,
                             uint64_t max);

/*
 * Append what --steps calls the step in row ROW of R: its label, or where that is none, or
 * other steps of R have it too, its ordinal behind an @.
 */
void osc_screen_add_step(const struct osc_result *r, uint64_t row, struct osc_strbuf *out);

/*
 * How many pieces of advice there are, of all ranks; *OF and *ROW, which may be NULL, are
 * that with the most time at stake, if there is one.
 */
uint64_t osc_screen_advice(const struct osc_screen *s, const struct osc_answer_block **of,
                           uint64_t *row);

/* Put three commands that fit the trace. */
struct osc_page;
void osc_screen_put_commands(struct osc_page *p);
