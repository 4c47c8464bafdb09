/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_top.h - the lists of the one screen: operators, kernels, modules, ranges and Python
 * functions that take the most time.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/page.h"
#include "cli/screen/screen_read.h"

/* Print the lists that have rows, with at most N_LINES lines together: five rows each, or as
 * many as there is room for. */
void osc_screen_put_tops(struct osc_page *p, unsigned n_lines);

/* The first of the ranges with the most time that ran at least ten times and whose name fits
 * into a command; empty: none. */
struct osc_str osc_screen_find_repeated(const struct osc_screen *s);

/* Whether the program marked ranges, other than steps and operators. */
bool osc_screen_has_marked(const struct osc_screen *s);
