/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_merge.h - the rows of all host threads in one order.
 *
 * derive/ has the rows of each track by start, longer first, order of the file.
 * torch's list has them so over all threads, and sums its doubles in that order.
 * A heap of cursors merges the tracks; a track that stays ahead costs one
 * comparison a row, with the start of the next best.
 *
 *   - Instants that become rows of their own (allocator records) come as one more
 *     list. They stand behind the ranges that start with them, which hold them.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "derive/order.h"
#include "model/trace.h"

struct osc_avg_cursor {
    int64_t start_ns, dur_ns;
    uint32_t row;         /* where it stands */
    bool is_record;       /* of the list of instants */
    const uint32_t *next; /* borrowed; the rows after it */
    const uint32_t *end;
};

struct osc_avg_merge {
    const struct osc_store *events; /* borrowed */
    const uint16_t *wanted;         /* borrowed; per form: nonzero bits of MASK are wanted */
    uint16_t mask;
    struct osc_avg_cursor *heap; /* owned; the least on top */
    uint32_t n;
    int64_t rival_ns; /* the least start of the others: the top stays until then */
};

/*
 * Start with the rows in ORDER whose form has bits of m->mask in m->wanted, and the
 * N_RECORDS rows at RECORDS, by time and row. M is zeroed but for events, wanted and
 * mask; fini() is needed in any case.
 */
OSC_MUST_USE osc_status osc_avg_merge_init(struct osc_avg_merge *m,
                                           const struct osc_order *order,
                                           const uint32_t *records, size_t n_records);
void osc_avg_merge_fini(struct osc_avg_merge *m);

/* The least row, or NULL. Good until osc_avg_merge_settle(). */
static inline const struct osc_avg_cursor *osc_avg_merge_top(const struct osc_avg_merge *m)
{
    return m->n == 0 ? NULL : &m->heap[0];
}

/* Move C to its next wanted row; false at the end. */
static inline bool osc_avg_cursor_advance(const struct osc_avg_merge *m,
                                          struct osc_avg_cursor *c)
{
    for (; c->next < c->end; c->next++) {
        const osc_row row = {*c->next};
        const struct osc_chunk *const chunk = osc_chunk_of(m->events, row);
        const uint32_t i = osc_row_place(row);

        if (!c->is_record && !(m->wanted[chunk->form[i]] & m->mask))
            continue;
        c->row = row.v;
        c->start_ns = chunk->ts_ns[i];
        c->dur_ns = c->is_record ? 0 : chunk->dur_ns[i];
        c->next++;
        return true;
    }
    return false;
}

/*
 * Put AT, which was on top and has moved on, where it belongs, or, with IS_OVER,
 * nowhere.
 */
void osc_avg_merge_settle(struct osc_avg_merge *m, const struct osc_avg_cursor *at,
                          bool is_over);
