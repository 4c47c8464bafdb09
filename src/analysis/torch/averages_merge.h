/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_merge.h - the rows of all host threads in one order.
 *
 * derive/ has the rows of each track sorted by start, longer first, then by order of the file.
 * torch's list has this order over all threads, and torch sums its doubles in it. A heap of
 * cursors merges the tracks; while one track stays ahead, a row costs one comparison with the
 * start of the second best.
 *
 *   - Instants that become rows (allocator records) are one more list. They come after
 *     ranges with the same start, which contain them.
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
    bool is_record;       /* belongs to the list of instants */
    const uint32_t *next; /* borrowed; the rows after it */
    const uint32_t *end;
};

struct osc_avg_merge {
    const struct osc_store *events; /* borrowed */
    const uint16_t *wanted;         /* borrowed; by form: nonzero if it has wanted bits of
                                     * MASK */
    uint16_t mask;
    struct osc_avg_cursor *heap; /* owned; the least on top */
    uint32_t n;
    int64_t rival_ns; /* the least start of the other cursors: the top stays until then */
};

/*
 * Start with the rows in ORDER whose form has bits of m->mask in m->wanted, and the N_RECORDS
 * rows at RECORDS, sorted by time and row. M is zeroed except for events, wanted and mask.
 * Call osc_avg_merge_fini() even after a failure.
 */
OSC_MUST_USE osc_status osc_avg_merge_init(struct osc_avg_merge *m,
                                           const struct osc_order *order,
                                           const uint32_t *records, size_t n_records);
void osc_avg_merge_fini(struct osc_avg_merge *m);

/* The least row, or NULL. Valid until osc_avg_merge_replace(). */
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
 * Put AT, which was on top and has advanced, into its place in the heap; with IS_OVER remove
 * it.
 */
void osc_avg_merge_replace(struct osc_avg_merge *m, const struct osc_avg_cursor *at,
                           bool is_over);
