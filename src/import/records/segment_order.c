/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/segment_order.h"

#include "base/sort.h"
#include "import/build/builder.h"

void osc_segment_order_fini(struct osc_segment_order *o)
{
    osc_free(o->segments);
    osc_idmap_fini(&o->written);
    *o = (struct osc_segment_order){0};
}

static uint32_t end_of(const struct osc_segment *s)
{
    const uint64_t end = (uint64_t)s->head.first_slot + s->head.n_slots;

    return end < OSC_BLOCK_SLOTS ? (uint32_t)end : OSC_BLOCK_SLOTS;
}

osc_status osc_segment_order_add(struct osc_segment_order *o, const struct osc_segment *s)
{
    uint32_t *written;
    const osc_status st = osc_build_grow(&o->segments, &o->cap, o->n + 1, sizeof *o->segments);

    if (st != OSC_OK)
        return st;
    o->segments[o->n++] = *s;
    if (s->block > 0 || s->is_standing)
        return OSC_OK;
    written = osc_idmap_put(&o->written, s->head.seq);
    if (!written)
        return OSC_ENOMEM;
    *written = end_of(s) > *written ? end_of(s) : *written;
    return OSC_OK;
}

uint32_t osc_segment_order_written(const struct osc_segment_order *o, uint64_t seq)
{
    return osc_idmap_get(&o->written, seq);
}

/* Compare by thread, block and slot; of duplicates, the first in the file comes first. */
static int compare_places(const void *pa, const void *pb)
{
    const struct osc_segment *const a = pa, *const b = pb;

    if (a->head.thread != b->head.thread)
        return a->head.thread < b->head.thread ? -1 : 1;
    if (a->head.seq != b->head.seq)
        return a->head.seq < b->head.seq ? -1 : 1;
    if (a->head.first_slot != b->head.first_slot)
        return a->head.first_slot < b->head.first_slot ? -1 : 1;
    return (a->due > b->due) - (a->due < b->due);
}

/* Compare by the chunk at which a segment is due, then by place. */
static int compare_dues(const void *pa, const void *pb)
{
    const struct osc_segment *const a = pa, *const b = pb;

    if (a->due != b->due)
        return a->due < b->due ? -1 : 1;
    if (a->head.seq != b->head.seq)
        return a->head.seq < b->head.seq ? -1 : 1;
    return compare_places(a, b);
}

osc_status osc_segment_order_sort(struct osc_segment_order *o)
{
    size_t n = 0;

    if (o->n < 2)
        return OSC_OK;
    osc_sort(o->segments, o->n, sizeof *o->segments, compare_places);
    for (size_t i = 0; i < o->n; i++) {
        struct osc_segment *s = &o->segments[i];
        const struct osc_segment *last = n > 0 ? &o->segments[n - 1] : NULL;

        if (last && last->head.thread == s->head.thread) {
            if (last->head.seq == s->head.seq && s->head.first_slot < end_of(last))
                continue;
            s->due = last->due > s->due ? last->due : s->due;
        }
        o->segments[n++] = *s;
    }
    o->n = n;
    osc_sort(o->segments, o->n, sizeof *o->segments, compare_dues);
    return OSC_OK;
}
