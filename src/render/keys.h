/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - which columns tell the rows of a table apart.
 *
 * Of columns that are keys together some tell nothing that the others do not: where each track
 * has one process, that of a row follows from its track.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_KEYS_MAX 64 /* columns at most */

/*
 * Find which of the N_COLUMNS columns tell N_ROWS rows apart as well as all of them do. CELLS
 * has a hash of each cell, row by row. Columns of the bits ALWAYS count in any case; of the
 * others as few as possible, rather the first ones, get a bit in *NEEDED.
 */
OSC_MUST_USE osc_status osc_keys_find(const uint64_t *cells, uint32_t n_rows,
                                      uint32_t n_columns, uint64_t always, uint64_t *needed);

/* Whether a column called TITLE has the names of rows, if its table has no more telling one. */
bool osc_keys_is_name(const char *title);

/* Whether a column called TITLE has names of what the column KEY numbers. */
bool osc_keys_is_name_of(const char *title, const char *key);
