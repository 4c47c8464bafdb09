/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_table.h - the runs, workers and spans of log directories as rows, by names alone.
 *
 * `opscope info` shows them. No trace is read, so that a directory of any size is listed at
 * once.
 *
 * Threading: as the result.
 */
#pragma once

#include "ask/folders/logdir.h"
#include "table/table.h"

/* One row for each file: its run, worker and span; then what is left out, and why. It is in no
 * list of tables, because it has no rows of a trace. */
extern const struct osc_table_def osc_table_runs;

/* Append to R, a result of osc_table_runs, the rows of D. */
OSC_MUST_USE osc_status osc_runs_table_add(struct osc_result *r, const struct osc_logdir *d);

/* Append "3 runs, 5 workers, 12 files": what D has. */
void osc_runs_table_count(const struct osc_logdir *d, struct osc_strbuf *out);
