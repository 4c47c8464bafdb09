/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/averages_merge.h"

#include "base/mem.h"

/* Move C to its next wanted row; false at the end. */
static bool advance(const struct osc_avg_merge *m, struct osc_avg_cursor *c)
{
    for (; c->next < c->end; c->next++) {
        const osc_row row = {*c->next};
        const struct osc_chunk *chunk = osc_chunk_of(m->events, row);
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

static bool is_before(const struct osc_avg_cursor *a, const struct osc_avg_cursor *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->dur_ns != b->dur_ns)
        return a->dur_ns > b->dur_ns;
    if (a->is_record != b->is_record)
        return b->is_record;
    return a->row < b->row;
}

/* The lesser child of place I, or I itself if it has none. */
static uint32_t lesser_child(const struct osc_avg_merge *m, uint32_t i)
{
    const uint32_t child = 2 * i + 1;

    if (child >= m->n)
        return i;
    return child + 1 < m->n && is_before(&m->heap[child + 1], &m->heap[child]) ? child + 1
                                                                               : child;
}

/* Let the cursor at I sink to where it belongs. */
static void sink(struct osc_avg_merge *m, uint32_t i)
{
    uint32_t child = lesser_child(m, i);

    if (child == i || !is_before(&m->heap[child], &m->heap[i]))
        return; /* as for most rows: their track stays ahead */

    const struct osc_avg_cursor moving = m->heap[i];
    do {
        m->heap[i] = m->heap[child];
        i = child;
        child = lesser_child(m, i);
    } while (child != i && is_before(&m->heap[child], &moving));
    m->heap[i] = moving;
}

osc_status osc_avg_merge_init(struct osc_avg_merge *m, const struct osc_order *order,
                              const uint32_t *records, size_t n_records)
{
    m->heap = osc_calloc(order->n_tracks + 1u, sizeof *m->heap);
    if (!m->heap)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < order->n_tracks; i++) {
        const uint32_t track = order->tracks[i];
        struct osc_avg_cursor *c = &m->heap[m->n];

        *c = (struct osc_avg_cursor){.next = order->rows + order->first[track],
                                     .end = order->rows + order->first[track + 1]};
        m->n += advance(m, c);
    }
    if (n_records > 0) {
        struct osc_avg_cursor *c = &m->heap[m->n];

        *c = (struct osc_avg_cursor){
            .is_record = true, .next = records, .end = records + n_records};
        m->n += advance(m, c);
    }
    for (uint32_t i = m->n; i > 0; i--)
        sink(m, i - 1);
    return OSC_OK;
}

void osc_avg_merge_fini(struct osc_avg_merge *m)
{
    osc_free(m->heap);
    *m = (struct osc_avg_merge){0};
}

void osc_avg_merge_pop(struct osc_avg_merge *m)
{
    if (!advance(m, &m->heap[0]))
        m->heap[0] = m->heap[--m->n];
    if (m->n > 0)
        sink(m, 0);
}
