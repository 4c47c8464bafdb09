/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_ranges.h - the ranges that took the most time.
 *
 * Time of ranges within each other on a thread counts once (outer_ns of table ranges).
 *
 * Those that are in no other list come first: what the program marked, calls of a runtime,
 * asynchronous operators; then operators. So there are five of them if the trace has that many.
 * Steps and Python functions, which have sections of their own, and marks that a device drew
 * over its work are listed only if there is nothing else. Work of devices and lines that repeat
 * others are never listed.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/screen_read.h"
#include "cli/screen/top_row.h"

/* Find at most MAX ranges, those with the most time first. Returns how many there are;
 * *N_ALONE, which may be NULL, receives how many of them are in no other list. */
unsigned osc_screen_find_ranges(const struct osc_screen *s, struct osc_top_row *rows,
                                unsigned max, unsigned *n_alone);

/* The first of them that ran at least ten times and whose name fits into a command; empty:
 * none. */
struct osc_str osc_screen_find_repeated(const struct osc_screen *s);
