/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - columns that fit the width of a terminal.
 *
 * Columns that can be narrowed are, the widest first, each down to its least width. If that is
 * not enough, columns are left out, the least important first, and of equally important ones
 * the last. Before a column goes that is one of the more important ones, all are narrowed
 * further. What is gained beyond need goes back.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSC_FIT_GAP 2 /* blanks between columns */

/* How far columns are narrowed to save others. */
enum osc_fit_level {
    OSC_FIT_EASY,   /* for any column */
    OSC_FIT_TIGHT,  /* for those that are important */
    OSC_FIT_HARD,   /* for those that are vital */
    OSC_FIT_UTMOST, /* for the same */
    OSC_FIT_LEVELS
};

/* From which importance on a column is important, and vital. */
#define OSC_FIT_IMPORTANT 10
#define OSC_FIT_VITAL     20

struct osc_fit_column {
    size_t width;                 /* as wide as its contents; then as wide as it is shown */
    size_t least[OSC_FIT_LEVELS]; /* it may be narrowed down to this */
    unsigned importance;          /* smaller ones are left out first */
    bool is_out;                  /* is not shown in the line */
};

/* Fit COLUMNS, N of them, into WIDTH. The most important one is never left out. */
void osc_fit(struct osc_fit_column *columns, uint32_t n, size_t width);
