/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_run.h - `--fail-on` and `--report` of `opscope diff`.
 *
 * Functions that return an int return the exit status, after a message if it is not
 * OSC_EXIT_DONE.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/diff/gate.h"
#include "cli/compare_show.h"

/* Check --fail-on and --report of ARGS before anything is read, and parse the gate. */
int osc_gate_run_parse(struct osc_gate *g, const struct osc_args *args);

/*
 * Evaluate G over TABLES, the finished rows of RUNS by enum osc_gate_table.
 * OSC_EXIT_INCOMPARABLE: the runs are of other devices or machines, or only one of them has
 * steps. OSC_EXIT_MISUSED: G names what neither has.
 */
int osc_gate_run_evaluate(struct osc_gate *g, const struct osc_args *args,
                          const struct osc_two_runs *runs,
                          const struct osc_result *const *tables);

/* Print what broke G, and write the report. OSC_EXIT_BROKEN: it broke. */
int osc_gate_run_tell(const struct osc_gate *g, const struct osc_args *args,
                      const struct osc_two_runs *runs, const struct osc_result *const *tables,
                      const char *sentences);
