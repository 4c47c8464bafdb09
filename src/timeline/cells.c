/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/cells.h"

#include "base/wide.h"

struct lane {
    const struct osc_pyramid *p;
    uint32_t k;
    const uint32_t *rows; /* of the lane */
};

static int64_t start_of(const struct lane *l, uint32_t place)
{
    return osc_lane_start(l->p->t, l->rows[place]);
}

static int64_t end_of(const struct lane *l, uint32_t place)
{
    return osc_lane_end(l->p->t, l->rows[place]);
}

int64_t osc_cell_bucket_end(const struct osc_cell_window *w, int64_t at_ns)
{
    const uint64_t width = (uint64_t)w->to_ns - (uint64_t)w->from_ns, n = w->n_buckets;
    const uint64_t offset = (uint64_t)at_ns - (uint64_t)w->from_ns;

    if (width <= (UINT64_MAX - n) / n) /* nearly always, and many times faster */
        return w->from_ns + (int64_t)(((offset * n / width + 1) * width + n - 1) / n);
    const osc_wide i = (osc_wide)offset * n / width;
    return w->from_ns + (int64_t)(((i + 1) * width + n - 1) / n);
}

int64_t osc_cell_bucket_start(const struct osc_cell_window *w, int64_t at_ns)
{
    const uint64_t width = (uint64_t)w->to_ns - (uint64_t)w->from_ns, n = w->n_buckets;
    const uint64_t offset = (uint64_t)at_ns - (uint64_t)w->from_ns;
    const osc_wide i = (osc_wide)offset * n / width;

    return w->from_ns + (int64_t)((i * width + n - 1) / n);
}

static struct osc_lane_cell single(const struct lane *l, uint32_t place)
{
    const int64_t start_ns = start_of(l, place), end_ns = end_of(l, place);

    return (struct osc_lane_cell){.start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .busy_ns = end_ns - start_ns,
                                  .row = l->rows[place],
                                  .n = 1};
}

/* The cell of the ranges at places [FROM, TO). */
static struct osc_lane_cell merged(const struct lane *l, uint32_t from, uint32_t to)
{
    if (to - from == 1)
        return single(l, from);
    const struct osc_pyramid_sum sum = osc_pyramid_sum(l->p, l->k, from, to);

    return (struct osc_lane_cell){.start_ns = start_of(l, from),
                                  .end_ns = end_of(l, to - 1),
                                  .busy_ns = sum.sum_ns,
                                  .row = l->p->lanes->rows[sum.longest],
                                  .n = sum.n};
}

void osc_cells_find(const struct osc_pyramid *p, uint32_t lane, const struct osc_cell_window *w,
                    bool (*emit)(void *ctx, const struct osc_lane_cell *cell), void *ctx)
{
    const struct osc_lane *const v = &p->lanes->v[lane];
    const struct lane l = {p, lane, p->lanes->rows + v->first};
    const uint64_t width = (uint64_t)w->to_ns - (uint64_t)w->from_ns;
    /* The least duration of a range that stands alone. */
    const int64_t alone_ns = (int64_t)(width / w->n_buckets + (width % w->n_buckets != 0));
    uint32_t i = osc_pyramid_find(p, lane, 0, v->n, 0, w->from_ns);
    const uint32_t end = osc_pyramid_find(p, lane, i, v->n, 0, w->to_ns);

    if (i > 0 && end_of(&l, i - 1) > w->from_ns) {
        const struct osc_lane_cell cell = single(&l, i - 1);
        if (!emit(ctx, &cell))
            return;
    }
    uint32_t n_last = 0; /* ranges of the bucket before; the next one has about as many */
    while (i < end) {
        const uint32_t next = osc_pyramid_find(p, lane, i + 1, end, n_last,
                                               osc_cell_bucket_end(w, start_of(&l, i)));
        /* One as long as the bucket can only be the last that starts in it. */
        const bool has_long = osc_pyramid_dur(p, v->first + next - 1) >= alone_ns;
        const uint32_t n_merged = next - i - (has_long ? 1 : 0);
        struct osc_lane_cell cell;

        if (n_merged > 0) {
            cell = merged(&l, i, i + n_merged);
            if (!emit(ctx, &cell))
                return;
        }
        if (has_long) {
            cell = single(&l, next - 1);
            if (!emit(ctx, &cell))
                return;
        }
        n_last = next - i;
        i = next;
    }
}
