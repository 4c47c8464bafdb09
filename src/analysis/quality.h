/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - rows of the table `quality` that come from no trace.
 *
 * Threading: as the result.
 */
#pragma once

#include "model/finding.h"
#include "table/table.h"

/* Add to R a row that says that CODE was found COUNT times, with MESSAGE. */
void osc_quality_add(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                     struct osc_str message);
