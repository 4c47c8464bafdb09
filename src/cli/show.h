/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - one table of loaded traces on standard output.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_SHOW_H
#define OSC_CLI_SHOW_H

#include "cli/load.h"
#include "table/query.h"

/* Print table DEF in the form that ARGS ask for. The status to exit with. */
int osc_show_table(struct osc_loaded *l, const struct osc_args *args,
                   const struct osc_table_def *def);

/*
 * One line on standard error: how good what the text table just shown rests on is,
 * which is what reading and the facts it asked for have found.
 */
int osc_show_quality(struct osc_loaded *l);

/* Write the terminated TEXT to standard output. The status to exit with. */
int osc_show_text(const char *text);

#endif
