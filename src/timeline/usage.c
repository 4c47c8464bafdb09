/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/usage.h"

#include "base/mem.h"
#include "base/sort.h"
#include "derive/loads.h"

#define FAN 16u

/* No share, for a bucket after which another one is to be emitted whatever it is. */
#define CHANGES UINT64_MAX

static struct osc_fill entry(const struct osc_usage *s, size_t i)
{
    if (s->busy)
        return (struct osc_fill){s->busy[i].start_ns, s->busy[i].end_ns, OSC_FILL_ONE};
    return s->fills[i];
}

static struct osc_usage_sum nothing(void)
{
    return (struct osc_usage_sum){.least = OSC_FILL_ONE};
}

static void join(struct osc_usage_sum *to, const struct osc_usage_sum *from)
{
    to->area += from->area;
    to->covered_ns += from->covered_ns;
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
}

/* Add to TO what entry I of S has from FROM_NS to TO_NS, which is some time. */
static void join_entry(struct osc_usage_sum *to, const struct osc_usage *s, size_t i,
                       int64_t from_ns, int64_t to_ns)
{
    const struct osc_fill e = entry(s, i);
    const int64_t start_ns = e.start_ns > from_ns ? e.start_ns : from_ns;
    const int64_t end_ns = e.end_ns < to_ns ? e.end_ns : to_ns;

    join(to, &(struct osc_usage_sum){.area = (osc_wide)e.fill * (end_ns - start_ns),
                                     .covered_ns = end_ns - start_ns,
                                     .least = e.fill,
                                     .most = e.fill});
}

static osc_status make_nodes(struct osc_usage *s)
{
    size_t n_all = 0, n = s->n;

    for (unsigned level = 0; level < OSC_USAGE_LEVELS && n > 1; level++) {
        n = (n + FAN - 1) / FAN;
        s->first_node[level] = n_all;
        s->n_nodes[level] = n;
        n_all += n;
    }
    s->nodes = osc_malloc((n_all + 1) * sizeof *s->nodes);
    if (!s->nodes)
        return OSC_ENOMEM;
    for (size_t i = 0; i < n_all; i++)
        s->nodes[i] = nothing();
    for (size_t i = 0; i < s->n && s->n_nodes[0] > 0; i++)
        join_entry(&s->nodes[i / FAN], s, i, INT64_MIN, INT64_MAX);
    for (unsigned level = 1; level < OSC_USAGE_LEVELS && s->n_nodes[level] > 0; level++)
        for (size_t i = 0; i < s->n_nodes[level - 1]; i++)
            join(&s->nodes[s->first_node[level] + i / FAN],
                 &s->nodes[s->first_node[level - 1] + i]);
    return OSC_OK;
}

osc_status osc_usage_of_busy(const struct osc_device_load *d, struct osc_usage *s)
{
    *s = (struct osc_usage){.busy = d->busy.v, .n = d->busy.n};
    return make_nodes(s);
}

osc_status osc_usage_of_fills(const struct osc_device_load *d, struct osc_usage *s)
{
    *s = (struct osc_usage){.fills = d->fills, .n = d->n_fills};
    return make_nodes(s);
}

void osc_usage_fini(struct osc_usage *s)
{
    osc_free(s->nodes);
    *s = (struct osc_usage){0};
}

/* --- windows ----------------------------------------------------------------------------- */

/* The first entry that ends after AT_NS. */
static size_t first_after(const struct osc_usage *s, int64_t at_ns)
{
    size_t low = 0, high = s->n;

    OSC_BISECT(low, high, i, entry(s, i).end_ns <= at_ns);
    return low;
}

/* The first entry from LOW on that does not start before AT_NS: it is usually near. */
static size_t first_from(const struct osc_usage *s, size_t low, int64_t at_ns)
{
    size_t high = low, step = 1;

    while (high < s->n && entry(s, high).start_ns < at_ns) {
        low = high + 1;
        high = s->n - high > step ? high + step : s->n;
        step *= 2;
    }
    OSC_BISECT(low, high, i, entry(s, i).start_ns < at_ns);
    return low;
}

/* Add the whole entries [FROM, TO) to SUM. */
static void join_whole(struct osc_usage_sum *sum, const struct osc_usage *s, size_t from,
                       size_t to)
{
    while (from < to) {
        const struct osc_usage_sum *node = NULL;
        size_t end = from + 1, width = FAN;

        for (unsigned level = 0; level < OSC_USAGE_LEVELS && s->n_nodes[level] > 0; level++) {
            const size_t whole = s->n - from > width ? from + width : s->n;

            if (from % width != 0 || whole > to)
                break;
            node = &s->nodes[s->first_node[level] + from / width];
            end = whole;
            width *= FAN;
        }
        if (node)
            join(sum, node);
        else
            join_entry(sum, s, from, INT64_MIN, INT64_MAX);
        from = end;
    }
}

/*
 * The sum of the bucket from FROM_NS to TO_NS. *I is the first entry that ends after FROM_NS,
 * and becomes the first one that ends after TO_NS.
 */
static struct osc_usage_sum bucket(const struct osc_usage *s, size_t *i, int64_t from_ns,
                                   int64_t to_ns)
{
    const size_t end = first_from(s, *i, to_ns);
    struct osc_usage_sum sum = nothing();

    if (end > *i) {
        join_entry(&sum, s, *i, from_ns, to_ns);
        if (end - *i > 1)
            join_entry(&sum, s, end - 1, from_ns, to_ns);
        if (end - *i > 2)
            join_whole(&sum, s, *i + 1, end - 1);
        *i = entry(s, end - 1).end_ns > to_ns ? end - 1 : end;
    }
    if (sum.covered_ns < to_ns - from_ns)
        sum.least = 0;
    return sum;
}

/* The first time from AT_NS on, at most TO_NS, at which the share is another one than HELD, or
 * may be; entry I is the first that ends after AT_NS. */
static int64_t next_change(const struct osc_usage *s, size_t i, uint64_t held, int64_t at_ns,
                           int64_t to_ns)
{
    const struct osc_fill e =
        i < s->n ? entry(s, i) : (struct osc_fill){.start_ns = to_ns, .end_ns = to_ns};
    const bool is_inside = e.start_ns <= at_ns;
    const int64_t change_ns = is_inside ? e.end_ns : e.start_ns;

    if ((is_inside ? e.fill : 0) != held)
        return at_ns;
    return change_ns < to_ns ? change_ns : to_ns;
}

void osc_usage_find(const struct osc_usage *s, const struct osc_cell_window *w,
                    bool (*emit)(void *ctx, const struct osc_usage_cell *cell), void *ctx)
{
    const double one = (double)OSC_FILL_ONE;
    size_t i = first_after(s, w->from_ns);
    int64_t at_ns = w->from_ns;
    uint64_t held = CHANGES;

    while (at_ns < w->to_ns) {
        const int64_t end_ns = osc_cell_bucket_end(w, at_ns);
        const struct osc_usage_sum sum = bucket(s, &i, at_ns, end_ns);
        const bool changes = sum.least != sum.most;

        if (changes || sum.most != held) {
            const struct osc_usage_cell cell = {
                at_ns, (double)sum.least / one, (double)sum.most / one,
                (double)sum.area / one / (double)(end_ns - at_ns)};
            if (!emit(ctx, &cell))
                return;
        }
        held = changes ? CHANGES : sum.most;
        at_ns = end_ns;
        if (!changes && at_ns < w->to_ns) {
            const int64_t change_ns = next_change(s, i, held, at_ns, w->to_ns);

            if (change_ns == w->to_ns)
                return;
            at_ns = osc_cell_bucket_start(w, change_ns);
            i += i < s->n && entry(s, i).end_ns <= at_ns;
        }
    }
}
