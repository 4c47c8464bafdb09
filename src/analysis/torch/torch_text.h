/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_text.h - `averages` as torch's table() prints it, to the letter.
 *
 * Columns, widths, units, header and footer are those of torch 2.13; with is torch_113 the
 * units and the five frames of 1.13. torch's defect with stacks and FLOPs in one table is
 * kept: the two cells stand under each other's title.
 *
 *   - Presence and width of columns go by all rows, shown or not.
 *   - Widths count characters. What is not UTF-8 is U+FFFD, and control characters
 *     are \xNN, here as in every text.
 *   - Times of the host are torch's doubles, summed as torch sums them, so that
 *     even a last digit at a tie comes out as there.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

/* The text of R, a result of the table `averages`; nothing at all without rows. */
OSC_MUST_USE osc_status osc_torch_text(const struct osc_result *r,
                                       const struct osc_text_options *o, struct osc_strbuf *out,
                                       struct osc_err *err);
