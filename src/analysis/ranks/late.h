/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h - which rank lets the others wait, in one sentence.
 *
 * Of the rows of `stragglers` the one with most waiting, if it has more than its share by half,
 * and came later than the clocks may be wrong.
 *
 * Threading: pure functions.
 */
#pragma once

#include "prose/phrase.h"
#include "table/table.h"

/* Set *ROW to the row of STRAGGLERS, a finished result of that table, that the sentence is
 * about. Returns whether there is one. */
bool osc_late_find(const struct osc_result *stragglers, uint64_t *row);

/* Append the sentence about ROW, without a full stop: who, how much, since when, how right the
 * clocks are, and why; names of kernels folded unless HAS_FULL_NAMES. */
void osc_late_say(const struct osc_result *stragglers, uint64_t row, bool has_full_names,
                  struct osc_strbuf *out);

/* The sentence. */
extern const struct osc_prose osc_late_prose;
