/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - columns that fit the width of a terminal.
 *
 * Names are narrowed first, the widest first, each down to its least width. If that is not
 * enough, columns are left out, the least important first, and of equally important ones the
 * last. What is gained beyond need goes back to the names.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSC_FIT_GAP 2 /* blanks between columns */

struct osc_fit_column {
    size_t width;        /* as wide as its contents; then as wide as it is shown */
    size_t least;        /* it may be narrowed down to this */
    unsigned importance; /* smaller ones are left out first */
    bool is_out;         /* is not shown in the line */
};

/* Fit COLUMNS, N of them, into WIDTH. The most important one is never left out. */
void osc_fit(struct osc_fit_column *columns, uint32_t n, size_t width);
