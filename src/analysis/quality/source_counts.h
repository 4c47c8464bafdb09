/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_counts.h - what sources of a recording could not record whole.
 *
 * A source that drops, or finds a command without times, counts it as a counter of the
 * recording, "SOURCE: TEXT", whose last value is the number.
 *
 * Threading: pure.
 */
#pragma once

#include "analysis/census.h"
#include "analysis/quality/quality_rows.h"
#include "model/finding.h"

/* Call ADD with DATA for each such counter of T: its name, the sum over its processes, when it
 * was first counted. C is the census of T. */
void osc_source_counts_each(const struct osc_trace *t, const struct osc_census *c,
                            osc_quality_found *add, void *data);
