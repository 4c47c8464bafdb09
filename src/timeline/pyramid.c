/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/pyramid.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"

struct sizes {
    size_t n_starts, n_nodes;
};

static struct sizes plan(struct osc_pyramid *p)
{
    struct sizes s = {0};

    for (uint32_t k = 0; k < p->lanes->n; k++) {
        struct osc_pyramid_lane *const v = &p->v[k];
        uint32_t n = p->lanes->v[k].n;

        v->starts = (uint32_t)s.n_starts;
        s.n_starts += (n + OSC_PYRAMID_FAN - 1) / OSC_PYRAMID_FAN;
        for (unsigned level = 0; level < OSC_PYRAMID_LEVELS && n > 1; level++) {
            n = (n + OSC_PYRAMID_FAN - 1) / OSC_PYRAMID_FAN;
            v->nodes[level] = (uint32_t)s.n_nodes;
            v->n_nodes[level] = n;
            s.n_nodes += n;
        }
    }
    return s;
}

static void fill_first_level(const struct osc_pyramid *p, uint32_t k)
{
    const struct osc_lane *const lane = &p->lanes->v[k];
    const struct osc_pyramid_lane *const v = &p->v[k];

    for (uint32_t i = 0; i < lane->n; i += OSC_PYRAMID_FAN) {
        const uint32_t node = v->nodes[0] + i / OSC_PYRAMID_FAN;
        const uint32_t end = lane->n - i > OSC_PYRAMID_FAN ? i + OSC_PYRAMID_FAN : lane->n;
        int64_t sum_ns = 0, longest_ns = -1;
        uint32_t longest = 0;

        p->starts_ns[v->starts + i / OSC_PYRAMID_FAN] =
            osc_lane_start(p->t, p->lanes->rows[lane->first + i]);
        if (v->n_nodes[0] == 0)
            continue;
        for (uint32_t j = i; j < end; j++) {
            const uint32_t row = p->lanes->rows[lane->first + j];
            const int64_t dur_ns = osc_lane_end(p->t, row) - osc_lane_start(p->t, row);

            sum_ns += dur_ns;
            if (dur_ns > longest_ns) {
                longest_ns = dur_ns;
                longest = lane->first + j;
            }
        }
        p->sums_ns[node] = sum_ns;
        p->longest_ns[node] = longest_ns;
        p->longest[node] = longest;
    }
}

static void fill(void *ctx, uint32_t k)
{
    const struct osc_pyramid *const p = ctx;
    const struct osc_pyramid_lane *const v = &p->v[k];

    fill_first_level(p, k);
    for (unsigned level = 1; level < OSC_PYRAMID_LEVELS && v->n_nodes[level] > 0; level++)
        for (uint32_t i = 0; i < v->n_nodes[level - 1]; i++) {
            const uint32_t from = v->nodes[level - 1] + i;
            const uint32_t to = v->nodes[level] + i / OSC_PYRAMID_FAN;
            const bool is_first = i % OSC_PYRAMID_FAN == 0;

            p->sums_ns[to] = (is_first ? 0 : p->sums_ns[to]) + p->sums_ns[from];
            if (is_first || p->longest_ns[from] > p->longest_ns[to]) {
                p->longest_ns[to] = p->longest_ns[from];
                p->longest[to] = p->longest[from];
            }
        }
}

osc_status osc_pyramid_make(const struct osc_trace *t, const struct osc_lanes *lanes,
                            unsigned n_threads, struct osc_pyramid *p)
{
    *p = (struct osc_pyramid){.t = t, .lanes = lanes};
    if (lanes->n == 0)
        return OSC_OK;
    p->v = osc_calloc(lanes->n, sizeof *p->v);
    if (!p->v)
        return OSC_ENOMEM;
    const struct sizes s = plan(p);
    p->starts_ns = osc_malloc(s.n_starts * sizeof *p->starts_ns);
    p->sums_ns = osc_malloc((s.n_nodes + 1) * sizeof *p->sums_ns);
    p->longest_ns = osc_malloc((s.n_nodes + 1) * sizeof *p->longest_ns);
    p->longest = osc_malloc((s.n_nodes + 1) * sizeof *p->longest);
    if (!p->starts_ns || !p->sums_ns || !p->longest_ns || !p->longest) {
        osc_pyramid_fini(p);
        return OSC_ENOMEM;
    }
    osc_parallel(n_threads, lanes->n, fill, p);
    return OSC_OK;
}

void osc_pyramid_fini(struct osc_pyramid *p)
{
    osc_free(p->v);
    osc_free(p->starts_ns);
    osc_free(p->sums_ns);
    osc_free(p->longest_ns);
    osc_free(p->longest);
    *p = (struct osc_pyramid){0};
}

uint32_t osc_pyramid_find(const struct osc_pyramid *p, uint32_t lane, uint32_t low,
                          uint32_t high, int64_t at_ns)
{
    const int64_t *const starts_ns = p->starts_ns + p->v[lane].starts;
    const uint32_t *const rows = p->lanes->rows + p->lanes->v[lane].first;
    /* Blocks whose first range starts too early may hold the place; gallop over those. */
    uint32_t from = low / OSC_PYRAMID_FAN, to = from + 1, step = 1;
    const uint32_t n_blocks = (high + OSC_PYRAMID_FAN - 1) / OSC_PYRAMID_FAN;

    while (to < n_blocks && starts_ns[to] < at_ns) {
        from = to;
        to += step;
        step *= 2;
    }
    if (to > n_blocks)
        to = n_blocks;
    from++;
    OSC_BISECT(from, to, i, starts_ns[i] < at_ns);
    /* The place is in the block before, or is the first of this one. */
    uint32_t at = (from - 1) * OSC_PYRAMID_FAN;
    if (at < low)
        at = low;
    while (at < high && at < from * OSC_PYRAMID_FAN && osc_lane_start(p->t, rows[at]) < at_ns)
        at++;
    return at;
}

static void add(struct osc_pyramid_sum *sum, int64_t sum_ns, int64_t longest_ns,
                uint32_t longest, uint32_t n)
{
    sum->sum_ns += sum_ns;
    if (sum->n == 0 || longest_ns > sum->longest_ns) {
        sum->longest_ns = longest_ns;
        sum->longest = longest;
    }
    sum->n += n;
}

struct osc_pyramid_sum osc_pyramid_sum(const struct osc_pyramid *p, uint32_t lane,
                                       uint32_t from, uint32_t to)
{
    const struct osc_lane *const l = &p->lanes->v[lane];
    const struct osc_pyramid_lane *const v = &p->v[lane];
    struct osc_pyramid_sum sum = {0};

    while (from < to) {
        unsigned shift = 0; /* of the largest node that begins here and ends in time */
        uint32_t end = from + 1;

        for (unsigned level = 0; level < OSC_PYRAMID_LEVELS && v->n_nodes[level] > 0; level++) {
            const unsigned s = (level + 1) * OSC_PYRAMID_SHIFT;
            const uint64_t node_end = from + (UINT64_C(1) << s);
            const uint32_t whole = node_end < l->n ? (uint32_t)node_end : l->n;

            if ((from & ((UINT64_C(1) << s) - 1)) != 0 || whole > to)
                break;
            shift = s;
            end = whole;
        }
        if (shift > 0) {
            const uint32_t node =
                v->nodes[shift / OSC_PYRAMID_SHIFT - 1] + (uint32_t)((uint64_t)from >> shift);
            add(&sum, p->sums_ns[node], p->longest_ns[node], p->longest[node], end - from);
        } else {
            const uint32_t place = l->first + from;
            const uint32_t row = p->lanes->rows[place];
            const int64_t dur_ns = osc_lane_end(p->t, row) - osc_lane_start(p->t, row);

            add(&sum, dur_ns, dur_ns, place, 1);
        }
        from = end;
    }
    return sum;
}
