/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_show.h - read the two runs of a comparison, and print its tables.
 *
 * Functions that return an int return the exit status, after a message if it is not
 * OSC_EXIT_DONE.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/compare.h"
#include "cli/show.h"

/* The two runs that a command line names. Zeroed, it is empty. */
struct osc_two_runs {
    struct osc_digests base, new_;
    struct osc_compared both; /* borrows them */
};

/* Read the operands of ARGS, a base and a new run, and make the digests SIDES (bits). */
int osc_compare_show_load(struct osc_two_runs *r, const struct osc_args *args, uint32_t sides);
void osc_two_runs_fini(struct osc_two_runs *r);

/* The whole command: print the table DEF, which compares, of the operands of ARGS. */
int osc_compare_show_table(const struct osc_args *args, const struct osc_table_def *def);
