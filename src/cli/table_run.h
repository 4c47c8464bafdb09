/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_run.h - `opscope table`, whose rows may be made in another way (opscope-mpi).
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/show.h"

/* Make and print the answer to K, which was checked, about the traces of ARGS. Returns the exit
 * code, if it is not OSC_EXIT_DONE after a message. */
typedef int osc_table_show(void *ctx, const struct osc_args *args, struct osc_asked *k);

/* Run `opscope table` with ARGS; SHOW, with CTX, prints the answer, or if it is NULL this
 * process alone. Returns the exit code. */
int osc_table_run(struct osc_args *args, osc_table_show *show, void *ctx);
