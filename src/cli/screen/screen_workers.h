/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_workers.h - who worked: the devices and threads that were busy the longest.
 *
 * A device is one, however many queues it has. The name of a thread follows that of its
 * process if there are several processes, both follow the rank or span if there are several.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "cli/screen/screen_read.h"
#include "cli/screen/top_row.h"

/* Append NAME, or ID behind WORD if there is no name and ID is a number. */
void osc_screen_add_name(struct osc_strbuf *out, const char *word, struct osc_str name,
                         struct osc_str id);

/* Find at most MAX rows, the busiest device and then those with the most time; *N_ALL is the
 * number of all. Names live in ARENA. */
OSC_MUST_USE osc_status osc_screen_find_workers(const struct osc_screen *s,
                                                struct osc_arena *arena,
                                                struct osc_top_row *rows, unsigned max,
                                                unsigned *n_rows, uint64_t *n_all);
