/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_findings.h - rows of `quality` about the files together, not about what one of them
 * holds.
 *
 *   what was left out of directories (left_out.h)
 *   same_rank   files of one rank and span that are not known to be of different processes
 *
 * They stand in the first block of rows.
 *
 * Threading: as the question.
 */
#pragma once

#include "ask/folders/left_out.h"
#include "table/query.h"

/* What to add, for struct osc_more_rows. Both are borrowed. */
struct osc_file_findings {
    const struct osc_left_out *left;
    const struct osc_query *query; /* its traces or parts are set */
};

/* Add the rows of CTX, a struct osc_file_findings, to R, the result of osc_table_quality. */
OSC_MUST_USE osc_status osc_file_findings_add(void *ctx, struct osc_result *r);
