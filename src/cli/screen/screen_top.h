/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_top.h - the lists of the one screen: operators, kernels, ranges, threads and devices,
 * Python functions and modules that take the most time.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/page.h"
#include "cli/screen/screen_read.h"

/*
 * Print the lists that have rows, with at most N_LINES lines together: five rows each, as far
 * as there is room. Where it is short, the blank lines between lists go first, then the parts
 * of the model, then rows of the longest lists; the ranges keep theirs as long as any other
 * list has rows to give.
 */
void osc_screen_put_tops(struct osc_page *p, unsigned n_lines);
