/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - a cell of a table as people read it: times and sizes with units, texts on one line.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"
#include "table/sheet.h"

/* Append CELL of COLUMN; nothing if it is missing. */
void osc_cell_write(struct osc_strbuf *out, const struct osc_cell *cell,
                    const struct osc_column *column);
