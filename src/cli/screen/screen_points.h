/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_points.h - the names of a trace in which nothing has a duration: counters and
 * instants, with the thread that wrote them.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/arena.h"
#include "cli/screen/screen_read.h"
#include "cli/screen/top_row.h"

/* Find at most MAX rows of `points`, those with the most events first, if there are no ranges.
 * Names live in ARENA. */
OSC_MUST_USE osc_status osc_screen_find_points(const struct osc_screen *s,
                                               struct osc_arena *arena,
                                               struct osc_top_row *rows, unsigned max,
                                               unsigned *n_rows);
