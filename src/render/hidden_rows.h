/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden_rows.h - the sentence about the rows of a table that are not shown.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/sheet.h"

/* Append to OUT how many rows of S were left out, which is one at least, in WIDTH columns. */
void osc_hidden_rows_add(struct osc_strbuf *out, const struct osc_sheet *s, size_t width);
