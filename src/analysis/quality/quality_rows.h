/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality_rows.h - rows of the table `quality`.
 *
 * Threading: as the result.
 */
#pragma once

#include "model/finding.h"
#include "prose/phrase.h"
#include "table/table.h"

/* Its columns; those of parts of ranks (rank_run.h) follow. */
enum osc_quality_column {
    OSC_QUALITY_SEVERITY,
    OSC_QUALITY_CODE,
    OSC_QUALITY_COUNT,
    OSC_QUALITY_FIRST_OFFSET,
    OSC_QUALITY_FIRST_NS,
    OSC_QUALITY_LAST_NS,
    OSC_QUALITY_MESSAGE,
    OSC_QUALITY_REMEDY,
    OSC_QUALITY_RANK_OF_SEVERITY,
    OSC_QUALITY_SHOWN
};

/* Is called with DATA and what a row says of F. */
typedef void osc_quality_found(void *data, struct osc_str message, const struct osc_finding *f);

/* Begin a row about CODE, which does not say yet where it was found and what to do. */
void osc_quality_begin(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                       struct osc_str message);

/* Add to R a row that says that CODE was found COUNT times, with MESSAGE; first at FIRST_NS,
 * from the origin (OSC_NO_TIME: not known). */
void osc_quality_add_at(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                        int64_t first_ns, struct osc_str message);

/* The same without a time. */
void osc_quality_add(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                     struct osc_str message);

/* What rows of one trace say. */
extern const struct osc_prose osc_quality_prose;
