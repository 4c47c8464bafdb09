/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_dirs.h - the options --logdir, --logdir_spec and --run: from them to operands.
 *
 *   --logdir DIR               look for runs in DIR and below it
 *   --logdir_spec A:DIR,B:DIR  the same in several; names of runs begin with A or B
 *   --run NAME                 the run to read, of these or of the directories among the
 *                              operands
 *
 * One run needs no choice. The directory of the chosen run becomes an operand, so everything
 * else works as if it had been named.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/folders/logdir.h"
#include "cli/command_options.h"

/* Whether ARGS names log directories or a run. */
bool osc_log_dirs_are_named(const struct osc_args *args);

/* Find the runs of the log directories of ARGS, or of the directories among its operands; of
 * these, unless ARGS names a run, only the run that would be read, if there is one. The caller
 * frees D in any case. Returns the exit status, after a message. */
int osc_log_dirs_find(struct osc_logdir *d, const struct osc_args *args);

/* Add the run that ARGS chooses to its operands. Does nothing if ARGS names none. Returns the
 * exit status, after a message. */
int osc_log_dirs_choose(struct osc_args *args);

/* The same among the runs D, which were found. */
int osc_log_dirs_choose_of(struct osc_args *args, const struct osc_logdir *d);

/* Free the operands of ARGS, if they were made here. */
void osc_log_dirs_fini(struct osc_args *args);
