/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - one process whose recording profiles of the program divided into several files.
 *
 * Its threads and queues are in the tables of each file; tables in which each is to stand once
 * have a hidden column that names the process of such a file, and join rows in finish().
 *
 * Threading: not locked.
 */
#pragma once

#include "base/strbuf.h"
#include "model/trace.h"
#include "table/table.h"

/* Append which process T is a piece of: its number, host and run; nothing if T is a whole. */
void osc_piece_of(const struct osc_trace *t, struct osc_strbuf *out);

/* The columns by which rows of pieces are told apart. */
struct osc_piece_key {
    uint32_t of; /* what osc_piece_of() says; rows without are left alone */
    uint32_t columns[3];
    uint32_t n_columns;
};

/*
 * Call JOIN for each row of R, a whole block, that has the same KEY as an earlier one: TO, the
 * first of them. Rows for which it returns true are removed.
 */
OSC_MUST_USE osc_status osc_pieces_join(struct osc_result *r, const struct osc_piece_key *key,
                                        bool (*join)(struct osc_result *r, uint64_t to,
                                                     uint64_t row));

/* Put into TO what ROW has in COLUMN, if TO has nothing there: a text. */
void osc_pieces_fill(struct osc_result *r, uint64_t to, uint64_t row, uint32_t column);

/* Add what ROW has in COLUMN, if anything, to TO: an integer. */
void osc_pieces_add(struct osc_result *r, uint64_t to, uint64_t row, uint32_t column);
