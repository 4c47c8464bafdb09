/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/lanes.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "derive/facts.h"
#include "timeline/domains.h"

/* The rows of one group of one track, before and after they have lanes. */
struct group {
    uint32_t track;
    uint8_t group;
    osc_sid domain;
    const uint32_t *rows; /* borrowed; in order of start, longer first */
    uint32_t n;
    uint8_t *lane_of;  /* borrowed; by place in rows */
    uint32_t n_lanes;  /* result */
    bool is_crowded;   /* result: the last lane has ranges that overlap */
    uint32_t first;    /* place of its first row in osc_lanes.rows */
    uint32_t lanes_at; /* index of its first lane */
};

struct work {
    const struct osc_trace *t;
    struct group *groups; /* owned */
    size_t n_groups, cap_groups;
    uint32_t *others; /* owned; rows that are no synchronous ranges, by track and group */
    uint32_t *again;  /* owned; rows of the groups that repeat others */
    uint8_t *lane_of; /* owned; by place: first of all groups with ranges, then of the others */
    struct osc_lanes *l;
};

/* The open ranges of a group: where each lane is free again. */
struct open {
    int64_t end_ns[OSC_LANES_MAX];
    uint32_t n_used; /* lanes that have had a range */
    uint32_t n_busy; /* lanes from here on are free */
};

/* The lane for a range from START_NS to END_NS; starts never fall. */
static uint32_t take_lane(struct open *o, int64_t start_ns, int64_t end_ns, bool *is_crowded)
{
    uint32_t below, lane;

    while (o->n_busy > 0 && o->end_ns[o->n_busy - 1] <= start_ns)
        o->n_busy--;
    /* The innermost open range that contains this one: it must be drawn below. */
    for (below = o->n_busy; below > 0; below--)
        if (o->end_ns[below - 1] > start_ns && o->end_ns[below - 1] >= end_ns)
            break;
    for (lane = below; lane < o->n_busy; lane++)
        if (o->end_ns[lane] <= start_ns)
            break;
    if (lane == OSC_LANES_MAX) {
        *is_crowded = true;
        lane--;
        if (o->end_ns[lane] > end_ns)
            end_ns = o->end_ns[lane];
    }
    o->end_ns[lane] = end_ns;
    if (lane >= o->n_busy)
        o->n_busy = lane + 1;
    if (lane >= o->n_used)
        o->n_used = lane + 1;
    return lane;
}

/* The lane from BASE on that is free at START_NS, for a range to END_NS. */
static uint32_t take_free(struct open *o, uint32_t base, int64_t start_ns, int64_t end_ns,
                          bool *is_crowded)
{
    uint32_t lane = base;

    while (lane < o->n_used && o->end_ns[lane] > start_ns)
        lane++;
    if (lane == OSC_LANES_MAX) {
        *is_crowded = true;
        lane--;
    } else if (lane == o->n_used) {
        o->n_used++;
    }
    o->end_ns[lane] = end_ns;
    return lane;
}

/* Lanes for packed queues: kind after kind. */
static void assign_packed(const struct work *w, struct group *g)
{
    struct open o;
    bool has[OSC_KIND_COUNT] = {0};

    for (uint32_t k = 0; k < g->n; k++)
        has[osc_chunk_of(&w->t->events, (osc_row){g->rows[k]})
                ->kind[g->rows[k] & OSC_CHUNK_MASK]] = true;
    o.n_used = 0;
    for (unsigned kind = 0; kind < OSC_KIND_COUNT; kind++) {
        const uint32_t base = o.n_used < OSC_LANES_MAX ? o.n_used : OSC_LANES_MAX - 1;

        for (uint32_t k = 0; k < g->n && has[kind]; k++) {
            const osc_row row = {g->rows[k]};
            const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
            const uint32_t at = osc_row_place(row);

            if (c->kind[at] == kind)
                g->lane_of[k] = (uint8_t)take_free(&o, base, c->ts_ns[at], osc_row_end(c, at),
                                                   &g->is_crowded);
        }
    }
    g->n_lanes = o.n_used;
}

static void assign(void *ctx, uint32_t i)
{
    const struct work *const w = ctx;
    struct group *const g = &w->groups[i];
    const struct osc_chunk *c = NULL; /* most rows are in that of the row before */
    struct open o;

    if (g->group == OSC_LANE_PACKED) {
        assign_packed(w, g);
        return;
    }
    o.n_used = o.n_busy = 0;
    for (uint32_t k = 0; k < g->n; k++) {
        const osc_row row = {g->rows[k]};

        if (!c || c->index != row.v >> OSC_CHUNK_SHIFT)
            c = osc_chunk_of(&w->t->events, row);
        const uint32_t at = osc_row_place(row);
        g->lane_of[k] =
            (uint8_t)take_lane(&o, c->ts_ns[at], osc_row_end(c, at), &g->is_crowded);
    }
    g->n_lanes = o.n_used;
}

/* Put the rows of group I to the place of their lanes. */
static void distribute(void *ctx, uint32_t i)
{
    const struct work *const w = ctx;
    const struct group *const g = &w->groups[i];
    struct osc_lane *const lanes = w->l->v + g->lanes_at;
    uint32_t at[OSC_LANES_MAX] = {0}, place = g->first;

    if (g->n_lanes == 1)
        at[0] = g->n;
    for (uint32_t k = 0; k < g->n && g->n_lanes > 1; k++)
        at[g->lane_of[k]]++;
    for (uint32_t d = 0; d < g->n_lanes; d++) {
        lanes[d] = (struct osc_lane){.track = g->track,
                                     .depth = (uint16_t)d,
                                     .group = g->group,
                                     .domain = g->domain,
                                     .overlaps = g->is_crowded && d + 1 == OSC_LANES_MAX,
                                     .first = place,
                                     .n = at[d]};
        at[d] = place;
        place += lanes[d].n;
    }
    if (g->n_lanes == 1)
        memcpy(w->l->rows + g->first, g->rows, g->n * sizeof *g->rows);
    for (uint32_t k = 0; k < g->n && g->n_lanes > 1; k++)
        w->l->rows[at[g->lane_of[k]]++] = g->rows[k];
}

static osc_status add_group(struct work *w, const struct group *g)
{
    if (g->n == 0)
        return OSC_OK;
    if (osc_grow(&w->groups, &w->cap_groups, w->n_groups + 1, sizeof *w->groups) != OSC_OK)
        return OSC_ENOMEM;
    w->groups[w->n_groups++] = *g;
    return OSC_OK;
}

int osc_lane_group_of(const struct osc_classes *classes, const struct osc_chunk *c, uint32_t i)
{
    const enum osc_kind kind = c->kind[i];

    if (osc_is_range(classes, c, i))
        return OSC_LANE_RANGES;
    if (kind == OSC_KIND_ALLOC || kind == OSC_KIND_FREE || kind == OSC_KIND_COUNTER)
        return -1;
    return c->dur_ns[i] == OSC_NO_DUR ? OSC_LANE_INSTANTS : OSC_LANE_ASYNC;
}

/* Call for each row without a synchronous range that has a group: count it at AT[track * 2 +
 * group - 1], or with ROWS put it to the place that is counted there. */
static void visit_others(const struct osc_trace *t, const struct osc_classes *classes,
                         uint32_t *at, uint32_t *rows)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const int group = osc_lane_group_of(classes, c, i);

            if (group <= OSC_LANE_RANGES)
                continue;
            uint32_t *const n =
                &at[(size_t)c->track[i] * 2 + (unsigned)(group - OSC_LANE_ASYNC)];
            if (rows)
                rows[*n] = osc_row_at(c, i).v;
            (*n)++;
        }
    }
}

/* Add the groups of asynchronous ranges and instants; FIRST counts places of lane_of. */
static osc_status add_others(struct work *w, const struct osc_classes *classes,
                             uint32_t *n_rows)
{
    const struct osc_trace *const t = w->t;
    const size_t n_counts = (size_t)t->n_tracks * 2;
    uint32_t *const at = osc_calloc(n_counts + 1, sizeof *at);
    uint32_t n = 0;
    osc_status st = at ? OSC_OK : OSC_ENOMEM;

    if (st != OSC_OK)
        return st;
    visit_others(t, classes, at, NULL);
    for (size_t i = 0; i < n_counts; i++) {
        const uint32_t count = at[i];

        at[i] = n;
        n += count;
    }
    if (n > 0) {
        w->others = osc_malloc(n * sizeof *w->others);
        st = w->others ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK && n > 0)
        visit_others(t, classes, at, w->others);
    for (size_t i = 0, first = 0; i < n_counts && st == OSC_OK; first = at[i++]) {
        const uint32_t count = at[i] - (uint32_t)first;
        uint32_t *const rows = n > 0 ? w->others + first : NULL;

        if (count == 0)
            continue;
        st = osc_order_sort(t, rows, count);
        if (st == OSC_OK)
            st = add_group(w, &(struct group){.track = (uint32_t)(i / 2),
                                              .group = (uint8_t)(OSC_LANE_ASYNC + i % 2),
                                              .rows = rows,
                                              .n = count});
    }
    *n_rows = n;
    osc_free(at);
    return st;
}

static int by_start(const void *a, const void *b, void *ctx)
{
    const struct osc_trace *const t = ((const struct work *)ctx)->t;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int64_t x_ns = osc_lane_start(t, x), y_ns = osc_lane_start(t, y);

    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    const int64_t x_end_ns = osc_lane_end(t, x), y_end_ns = osc_lane_end(t, y);
    if (x_end_ns != y_end_ns)
        return x_end_ns > y_end_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Put the ranges of TRACK that are no Python frames to ROWS; the result is their number. */
static uint32_t put_no_frames(const struct work *w, uint32_t track, uint32_t *rows)
{
    const struct osc_order *const order = &osc_trace_facts(w->t)->order;
    uint32_t n = 0;

    for (uint32_t k = order->first[track]; k < order->first[track + 1]; k++) {
        const uint32_t row = order->rows[k];

        if (osc_chunk_of(&w->t->events, (osc_row){row})->kind[row & OSC_CHUNK_MASK] !=
            OSC_KIND_PYTHON)
            rows[n++] = row;
    }
    return n;
}

/* The same for the ranges of all queues that are packed with FIRST. */
static uint32_t put_packed(struct work *w, uint32_t first, uint32_t *rows)
{
    const struct osc_order *const order = &osc_trace_facts(w->t)->order;
    uint32_t n = 0;

    for (uint32_t k = first; k < w->t->n_tracks; k++) {
        if (w->l->packing.first[k] != first)
            continue;
        for (uint32_t i = order->first[k]; i < order->first[k + 1]; i++)
            rows[n++] = order->rows[i];
    }
    if (n > 0)
        osc_sort_with(rows, n, sizeof *rows, by_start, w);
    return n;
}

/* The most rows that groups which repeat others can have, D included. */
static size_t count_again(const struct work *w, const struct osc_domains *d)
{
    const struct osc_order *const order = &osc_trace_facts(w->t)->order;
    const struct osc_packing *const p = &w->l->packing;
    size_t n = 0;

    for (uint32_t k = 1; k < w->t->n_tracks && order->n_rows > 0; k++) {
        const uint32_t n_ranges = order->first[k + 1] - order->first[k];

        n += p->n_frames[k] > 0 ? n_ranges - p->n_frames[k] : 0;
        n += p->first[k] != 0 ? n_ranges : 0;
    }
    for (uint32_t i = 0; i < d->n; i++)
        n += d->v[i].n;
    return n;
}

/* Add a group for each of the domains D, whose rows begin at AT. */
static osc_status add_domains(struct work *w, const struct osc_domains *d, uint32_t *at)
{
    osc_status st = OSC_OK;

    osc_domains_rows(w->t, d, at);
    for (uint32_t i = 0; i < d->n && st == OSC_OK; i++) {
        const struct osc_domain *const one = &d->v[i];

        osc_sort_with(at, one->n, sizeof *at, by_start, w);
        st = add_group(w, &(struct group){.track = one->track,
                                          .group = OSC_LANE_DOMAIN,
                                          .domain = one->name,
                                          .rows = at,
                                          .n = one->n});
        at += one->n;
    }
    return st;
}

/* Add the groups of ranges that are in another group, too; those of the domains D last. */
static osc_status add_again(struct work *w, const struct osc_domains *d, uint32_t *n_rows)
{
    const struct osc_packing *const p = &w->l->packing;
    const size_t n_most = count_again(w, d);
    uint32_t *at;
    osc_status st = OSC_OK;

    if (n_most == 0)
        return OSC_OK;
    if (n_most > UINT32_MAX - *n_rows)
        return OSC_ELIMIT;
    at = w->again = osc_malloc(n_most * sizeof *w->again);
    if (!w->again)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < w->t->n_tracks && st == OSC_OK; k++) {
        struct group g = {.track = k, .group = OSC_LANE_NO_FRAMES, .rows = at};

        g.n = p->n_frames[k] > 0 ? put_no_frames(w, k, at) : 0;
        at += g.n;
        st = add_group(w, &g);
        if (p->first[k] != k || st != OSC_OK)
            continue;
        g = (struct group){.track = k, .group = OSC_LANE_PACKED, .rows = at};
        g.n = put_packed(w, k, at);
        at += g.n;
        st = add_group(w, &g);
    }
    if (st == OSC_OK)
        st = add_domains(w, d, at);
    for (uint32_t i = 0; i < d->n; i++)
        at += d->v[i].n;
    *n_rows += (uint32_t)(at - w->again);
    return st;
}

static int by_track(const void *a, const void *b)
{
    const struct group *const x = a, *const y = b;

    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->domain.v < y->domain.v ? -1 : x->domain.v > y->domain.v;
}

static osc_status find_groups(struct work *w, uint32_t *n_rows)
{
    const struct osc_facts *const facts = osc_trace_facts(w->t);
    const struct osc_order *const order = &facts->order;
    uint32_t n_others = 0;

    for (uint32_t k = 1; k < w->t->n_tracks; k++) {
        const struct group g = {.track = k,
                                .group = OSC_LANE_RANGES,
                                .rows =
                                    order->n_rows > 0 ? order->rows + order->first[k] : NULL,
                                .n = order->first[k + 1] - order->first[k]};
        const osc_status st = add_group(w, &g);

        if (st != OSC_OK)
            return st;
    }
    osc_status st = add_others(w, &facts->classes, &n_others);

    *n_rows = order->n_rows + n_others;
    struct osc_domains domains = {.n = 0};

    if (st == OSC_OK)
        st = osc_domains_find(w->t, &domains);
    if (st == OSC_OK)
        st = add_again(w, &domains, n_rows);
    osc_domains_fini(&domains);
    if (st != OSC_OK)
        return st;
    osc_sort(w->groups, w->n_groups, sizeof *w->groups, by_track);
    return OSC_OK;
}

static osc_status layout(struct work *w, uint32_t n_rows, unsigned n_threads)
{
    struct osc_lanes *const l = w->l;
    uint32_t at = 0;

    l->rows_bytes = n_rows * sizeof *l->rows;
    l->rows = osc_pages_alloc(l->rows_bytes);
    w->lane_of = osc_malloc(n_rows);
    if (!l->rows || !w->lane_of)
        return OSC_ENOMEM;
    l->n_rows = n_rows;
    for (size_t i = 0; i < w->n_groups; i++) {
        w->groups[i].first = at;
        w->groups[i].lane_of = w->lane_of + at;
        at += w->groups[i].n;
    }
    osc_parallel(n_threads, (uint32_t)w->n_groups, assign, w);
    for (size_t i = 0; i < w->n_groups; i++) {
        w->groups[i].lanes_at = l->n;
        l->n += w->groups[i].n_lanes;
    }
    l->v = osc_calloc(l->n, sizeof *l->v);
    if (!l->v)
        return OSC_ENOMEM;
    osc_parallel(n_threads, (uint32_t)w->n_groups, distribute, w);
    return OSC_OK;
}

osc_status osc_lanes_make(const struct osc_trace *t, unsigned n_threads, struct osc_lanes *l)
{
    struct work w = {.t = t, .l = l};
    uint32_t n_rows = 0;

    *l = (struct osc_lanes){0};
    osc_status st = osc_packing_find(t, &l->packing);
    if (st == OSC_OK)
        st = find_groups(&w, &n_rows);
    if (st == OSC_OK && n_rows > 0)
        st = layout(&w, n_rows, n_threads);
    osc_free(w.groups);
    osc_free(w.others);
    osc_free(w.again);
    osc_free(w.lane_of);
    if (st != OSC_OK)
        osc_lanes_fini(l);
    return st;
}

void osc_lanes_fini(struct osc_lanes *l)
{
    osc_packing_fini(&l->packing);
    osc_free(l->v);
    osc_pages_free(l->rows, l->rows_bytes);
    *l = (struct osc_lanes){0};
}
