/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/pyramid.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"

struct sizes {
    size_t n_starts, n_nodes, n_ranges;
};

static struct sizes plan(struct osc_pyramid *p)
{
    struct sizes s = {0};

    for (uint32_t k = 0; k < p->lanes->n; k++) {
        struct osc_pyramid_lane *const v = &p->v[k];
        uint32_t n = p->lanes->v[k].n;

        if (s.n_ranges < (size_t)p->lanes->v[k].first + n)
            s.n_ranges = (size_t)p->lanes->v[k].first + n;
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
        for (uint32_t j = i; j < end; j++) {
            const uint32_t row = p->lanes->rows[lane->first + j];
            const int64_t dur_ns = osc_lane_end(p->t, row) - osc_lane_start(p->t, row);

            p->durs_ns[lane->first + j] =
                dur_ns < OSC_PYRAMID_LONG ? (uint32_t)dur_ns : OSC_PYRAMID_LONG;
            sum_ns += dur_ns;
            if (dur_ns > longest_ns) {
                longest_ns = dur_ns;
                longest = lane->first + j;
            }
        }
        if (v->n_nodes[0] == 0)
            continue;
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
    p->durs_ns = osc_malloc((s.n_ranges + 1) * sizeof *p->durs_ns);
    if (!p->starts_ns || !p->sums_ns || !p->longest_ns || !p->longest || !p->durs_ns) {
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
    osc_free(p->durs_ns);
    *p = (struct osc_pyramid){0};
}

/* Of N increasing STARTS_NS from FROM on, whose first may be before or after AT_NS, how many
 * start before AT_NS; it is looked for in steps that double, from GUESS on. */
static uint32_t count_before(const int64_t *starts_ns, uint32_t from, uint32_t n,
                             uint32_t guess, int64_t at_ns)
{
    uint32_t low = from, high = n, step = 1;
    uint32_t at = n - from > guess ? from + guess : n;

    if (at < n && starts_ns[at] < at_ns) {
        low = at + 1;
        while (high - low > step && starts_ns[low + step] < at_ns) {
            low += step + 1;
            step *= 2;
        }
        high = high - low > step ? low + step : high;
    } else {
        high = at;
        while (high - low > step && starts_ns[high - step] >= at_ns) {
            high -= step;
            step *= 2;
        }
        low = high - low > step ? high - step : low;
    }
    OSC_BISECT(low, high, i, starts_ns[i] < at_ns);
    return low;
}

uint32_t osc_pyramid_find(const struct osc_pyramid *p, uint32_t lane, uint32_t low,
                          uint32_t high, uint32_t guess, int64_t at_ns)
{
    const int64_t *const starts_ns = p->starts_ns + p->v[lane].starts;
    const uint32_t *const rows = p->lanes->rows + p->lanes->v[lane].first;
    const uint32_t n_blocks = (high + OSC_PYRAMID_FAN - 1) / OSC_PYRAMID_FAN;
    const uint32_t from = low / OSC_PYRAMID_FAN + 1;

    if (low >= high)
        return high;
    /* The place is in the last block whose first range starts before AT_NS, or right behind it.
     */
    const uint32_t block = from < n_blocks ? count_before(starts_ns, from, n_blocks,
                                                          guess / OSC_PYRAMID_FAN, at_ns)
                                           : n_blocks;
    uint32_t at = (block - 1) * OSC_PYRAMID_FAN, end = block * OSC_PYRAMID_FAN;
    if (at < low)
        at = low;
    if (end > high)
        end = high;
    OSC_BISECT(at, end, i, osc_lane_start(p->t, rows[i]) < at_ns);
    return at;
}

static void add(struct osc_pyramid_sum *sum, int64_t sum_ns, int64_t longest_ns,
                uint32_t longest)
{
    sum->sum_ns += sum_ns;
    if (longest_ns > sum->longest_ns) {
        sum->longest_ns = longest_ns;
        sum->longest = longest;
    }
}

/* Add what is at [FROM, TO) of LANE: its ranges (LEVEL 0), or nodes of the level below LEVEL.
 */
static void add_some(const struct osc_pyramid *p, uint32_t lane, unsigned level, uint32_t from,
                     uint32_t to, struct osc_pyramid_sum *sum)
{
    const uint32_t first = level > 0 ? p->v[lane].nodes[level - 1] : p->lanes->v[lane].first;

    if (level == 0)
        for (uint32_t i = first + from; i < first + to; i++) {
            const int64_t dur_ns = osc_pyramid_dur(p, i);

            add(sum, dur_ns, dur_ns, i);
        }
    else
        for (uint32_t i = first + from; i < first + to; i++)
            add(sum, p->sums_ns[i], p->longest_ns[i], p->longest[i]);
}

struct osc_pyramid_sum osc_pyramid_sum(const struct osc_pyramid *p, uint32_t lane,
                                       uint32_t from, uint32_t to)
{
    const struct osc_pyramid_lane *const v = &p->v[lane];
    struct osc_pyramid_sum sum = {.longest_ns = -1, .n = to - from};
    uint32_t ends[OSC_PYRAMID_LEVELS + 1]; /* of what is left at the right, by level */
    unsigned level = 0;

    if (from >= to)
        return (struct osc_pyramid_sum){0};
    while (level < OSC_PYRAMID_LEVELS && v->n_nodes[level] > 0 &&
           to - from >= 2 * OSC_PYRAMID_FAN) {
        const uint32_t whole = (from + OSC_PYRAMID_FAN - 1) / OSC_PYRAMID_FAN;

        add_some(p, lane, level, from, whole * OSC_PYRAMID_FAN, &sum);
        ends[level++] = to;
        from = whole;
        to /= OSC_PYRAMID_FAN;
    }
    add_some(p, lane, level, from, to, &sum);
    while (level > 0) { /* in order of time: of equally long ranges the first one stays */
        level--;
        add_some(p, lane, level, to * OSC_PYRAMID_FAN, ends[level], &sum);
        to = ends[level];
    }
    return sum;
}
