/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages_merge.h"

#include "base/mem.h"

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

/* Let the cursor at I sink to its place. */
static void sink(struct osc_avg_merge *m, uint32_t i)
{
    uint32_t child = lesser_child(m, i);

    if (child == i || !is_before(&m->heap[child], &m->heap[i]))
        return;

    const struct osc_avg_cursor moving = m->heap[i];
    do {
        m->heap[i] = m->heap[child];
        i = child;
        child = lesser_child(m, i);
    } while (child != i && is_before(&m->heap[child], &moving));
    m->heap[i] = moving;
}

static void find_rival(struct osc_avg_merge *m)
{
    m->rival_ns = m->n > 1 ? m->heap[lesser_child(m, 0)].start_ns : INT64_MAX;
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
        m->n += osc_avg_cursor_advance(m, c);
    }
    if (n_records > 0) {
        struct osc_avg_cursor *c = &m->heap[m->n];

        *c = (struct osc_avg_cursor){
            .is_record = true, .next = records, .end = records + n_records};
        m->n += osc_avg_cursor_advance(m, c);
    }
    for (uint32_t i = m->n; i > 0; i--)
        sink(m, i - 1);
    find_rival(m);
    return OSC_OK;
}

void osc_avg_merge_fini(struct osc_avg_merge *m)
{
    osc_free(m->heap);
    *m = (struct osc_avg_merge){0};
}

void osc_avg_merge_replace(struct osc_avg_merge *m, const struct osc_avg_cursor *at,
                           bool is_over)
{
    m->heap[0] = is_over ? m->heap[--m->n] : *at;
    if (m->n > 0)
        sink(m, 0);
    find_rival(m);
}
