/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_names.h - which names a recording sampled, and how many of their calls it left out.
 *
 * Threading: pure.
 */
#pragma once

#include "analysis/quality/quality_rows.h"
#include "base/str.h"
#include "model/finding.h"
#include "model/trace.h"

/* Call ADD with DATA for each name of T that was sampled, the first 20 of the file and all
 * others together: a sentence, and the calls that were not recorded. */
void osc_sampled_names_each(const struct osc_trace *t, osc_quality_found *add, void *data);
