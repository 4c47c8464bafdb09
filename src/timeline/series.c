/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/series.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"
#include "derive/facts.h"

#define FAN 16u

static struct osc_series *add_series(struct osc_all_series *all, const struct osc_series *s)
{
    if (osc_grow(&all->v, &all->cap, all->n + (size_t)1, sizeof *all->v) != OSC_OK)
        return NULL;
    all->v[all->n] = *s;
    return &all->v[all->n++];
}

/* The value of row I of C, a sample of a counter: that of its only argument, KEY. */
static bool counter_value(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                          osc_sid *key, double *value)
{
    const struct osc_form *const f = &t->forms[c->form[i]];

    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (f->slots[k].is_member)
            continue;
        const struct osc_arg arg = osc_row_slot(t, c, i, k);

        *key = f->slots[k].key;
        return osc_arg_double(t, &arg, value) && *value == *value;
    }
    return false;
}

/* --- counters ---------------------------------------------------------------------------- */

struct counters {
    const struct osc_trace *t;
    struct osc_all_series *all;
    struct osc_idmap of_pair, of_series; /* (name, key) -> pair; (pair, track) -> index + 1 */
    uint32_t n_pairs;
};

static struct osc_series *find_series(struct counters *s, const struct osc_chunk *c, uint32_t i,
                                      osc_sid key)
{
    uint32_t *const pair = osc_idmap_put(&s->of_pair, (uint64_t)c->name[i] << 32 | key.v);

    if (!pair)
        return NULL;
    if (*pair == 0)
        *pair = ++s->n_pairs;
    uint32_t *const at = osc_idmap_put(&s->of_series, (uint64_t)*pair << 32 | c->track[i]);
    if (!at)
        return NULL;
    if (*at == 0) {
        const struct osc_series new = {
            .sort = OSC_SERIES_COUNTER, .track = c->track[i], .name = {c->name[i]}, .key = key};
        if (!add_series(s->all, &new))
            return NULL;
        *at = s->all->n;
    }
    return &s->all->v[*at - 1];
}

static osc_status visit_counters(struct counters *s)
{
    for (uint32_t k = 1; k < s->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = s->t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            osc_sid key;
            double value;

            if (s->t->forms[c->form[i]].shape != OSC_SHAPE_COUNTER ||
                !counter_value(s->t, c, i, &key, &value))
                continue;
            struct osc_series *const series = find_series(s, c, i, key);
            if (!series)
                return OSC_ENOMEM;
            if (series->samples) /* the second time */
                series->samples[series->n] = (struct osc_sample){c->ts_ns[i], value};
            series->n++;
        }
    }
    return OSC_OK;
}

static osc_status add_counters(const struct osc_trace *t, struct osc_all_series *all)
{
    struct counters s = {.t = t, .all = all};
    osc_status st = visit_counters(&s);

    for (uint32_t i = 0; i < all->n && st == OSC_OK; i++) {
        all->v[i].samples = osc_malloc(all->v[i].n * sizeof *all->v[i].samples);
        all->v[i].n = 0;
        st = all->v[i].samples ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK)
        st = visit_counters(&s);
    osc_idmap_fini(&s.of_pair);
    osc_idmap_fini(&s.of_series);
    return st;
}

/* --- memory ------------------------------------------------------------------------------ */

/* Append the series of KEY in the records of D, if they have one. */
static osc_status add_memory(const struct osc_trace *t, const struct osc_memory_device *d,
                             enum osc_arg_key key, enum osc_series_sort sort,
                             struct osc_all_series *all)
{
    const struct osc_allocations *const a = &osc_trace_facts(t)->allocations;
    struct osc_series s = {.sort = (uint8_t)sort, .device = osc_str_c(d->name)};
    double most = 0;

    s.samples = osc_malloc((d->n + (size_t)1) * sizeof *s.samples);
    if (!s.samples)
        return OSC_ENOMEM;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct osc_chunk *const c =
            osc_chunk_of(&t->events, (osc_row){a->records[k].row});
        const uint32_t i = a->records[k].row & OSC_CHUNK_MASK;
        int64_t bytes;

        if (!osc_args_int(t, c, i, key, &bytes))
            continue;
        if (s.n == 0)
            s.track = c->track[i];
        most = (double)bytes > most ? (double)bytes : most;
        s.samples[s.n++] = (struct osc_sample){c->ts_ns[i], (double)bytes};
    }
    /* The allocator of the CPU says 0, which is no total. */
    if (most > 0 && add_series(all, &s))
        return OSC_OK;
    osc_free(s.samples);
    return most > 0 ? OSC_ENOMEM : OSC_OK;
}

/* --- use of devices ---------------------------------------------------------------------- */

static osc_status add_usage(struct osc_all_series *all, struct osc_series *s, osc_status st)
{
    if (st == OSC_OK && add_series(all, s))
        return OSC_OK;
    osc_usage_fini(&s->usage);
    return OSC_ENOMEM;
}

/* By device: the queue of it that comes first in the file. NULL: no memory. */
static uint32_t *find_first_queues(const struct osc_trace *t, const struct osc_loads *l)
{
    uint32_t *const first = osc_malloc(((size_t)l->n_devices + 1) * sizeof *first);

    for (uint32_t d = 0; d < l->n_devices && first; d++)
        first[d] = UINT32_MAX;
    for (uint32_t k = 0; k < t->n_tracks && first && l->of_track; k++) {
        const uint32_t d = l->of_track[k];

        if (d != 0 &&
            (first[d - 1] == UINT32_MAX || t->tracks[k].order < t->tracks[first[d - 1]].order))
            first[d - 1] = k;
    }
    return first;
}

static osc_status add_usages(const struct osc_trace *t, struct osc_all_series *all)
{
    const struct osc_loads *const l = &osc_trace_facts(t)->loads;
    uint32_t *const first = find_first_queues(t, l);
    osc_status st = first ? OSC_OK : OSC_ENOMEM;

    for (uint32_t d = 0; d < l->n_devices && st == OSC_OK; d++) {
        const struct osc_device_load *const device = &l->devices[d];
        struct osc_series s = {.track = first[d], .device = osc_trace_str(t, device->name)};

        if (!device->has_kernels)
            continue;
        s.sort = OSC_SERIES_UTILIZATION;
        st = add_usage(all, &s, osc_usage_of_busy(device, &s.usage));
        if (st != OSC_OK || device->n_fills == 0)
            continue;
        s.sort = OSC_SERIES_SM_EFFICIENCY;
        st = add_usage(all, &s, osc_usage_of_fills(device, &s.usage));
    }
    osc_free(first);
    return st;
}

/* --- nodes ------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b, void *ctx)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct osc_sample *const samples = ctx;

    if (samples[x].at_ns != samples[y].at_ns)
        return samples[x].at_ns < samples[y].at_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool is_sorted(const struct osc_series *s)
{
    for (uint32_t i = 1; i < s->n; i++)
        if (s->samples[i].at_ns < s->samples[i - 1].at_ns)
            return false;
    return true;
}

/* Sort the samples of S by time, and those of one time in the order that they have. */
static osc_status sort_samples(struct osc_series *s)
{
    if (is_sorted(s))
        return OSC_OK;
    uint32_t *const order = osc_malloc(s->n * sizeof *order);
    struct osc_sample *const sorted = osc_malloc(s->n * sizeof *sorted);
    const bool has_memory = order && sorted;

    for (uint32_t i = 0; i < s->n && has_memory; i++)
        order[i] = i;
    if (has_memory) {
        osc_sort_with(order, s->n, sizeof *order, by_time, s->samples);
        for (uint32_t i = 0; i < s->n; i++)
            sorted[i] = s->samples[order[i]];
        osc_free(s->samples);
        s->samples = sorted;
    } else {
        osc_free(sorted);
    }
    osc_free(order);
    return has_memory ? OSC_OK : OSC_ENOMEM;
}

static void widen(struct osc_span_of_values *v, double least, double most)
{
    v->least = least < v->least ? least : v->least;
    v->most = most > v->most ? most : v->most;
}

static osc_status make_nodes(struct osc_series *s)
{
    size_t n_all = 0;
    uint32_t n = s->n;

    for (unsigned level = 0; level < OSC_SERIES_LEVELS && n > 1; level++) {
        n = (n + FAN - 1) / FAN;
        s->first_node[level] = (uint32_t)n_all;
        s->n_nodes[level] = n;
        n_all += n;
    }
    s->nodes = osc_malloc((n_all + 1) * sizeof *s->nodes);
    if (!s->nodes)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < s->n && s->n_nodes[0] > 0; i++) {
        struct osc_span_of_values *const v = &s->nodes[i / FAN];

        if (i % FAN == 0)
            *v = (struct osc_span_of_values){s->samples[i].value, s->samples[i].value};
        widen(v, s->samples[i].value, s->samples[i].value);
    }
    for (unsigned level = 1; level < OSC_SERIES_LEVELS && s->n_nodes[level] > 0; level++)
        for (uint32_t i = 0; i < s->n_nodes[level - 1]; i++) {
            const struct osc_span_of_values from = s->nodes[s->first_node[level - 1] + i];
            struct osc_span_of_values *const v = &s->nodes[s->first_node[level] + i / FAN];

            if (i % FAN == 0)
                *v = from;
            widen(v, from.least, from.most);
        }
    return OSC_OK;
}

osc_status osc_series_make(const struct osc_trace *t, struct osc_all_series *s)
{
    const struct osc_allocations *const a = &osc_trace_facts(t)->allocations;

    *s = (struct osc_all_series){0};
    osc_status st = add_counters(t, s);
    for (uint32_t d = 0; d < a->n_devices && st == OSC_OK; d++) {
        st =
            add_memory(t, &a->devices[d], OSC_ARG_KEY_TOTAL_ALLOCATED, OSC_SERIES_ALLOCATED, s);
        if (st == OSC_OK)
            st = add_memory(t, &a->devices[d], OSC_ARG_KEY_TOTAL_RESERVED, OSC_SERIES_RESERVED,
                            s);
    }
    for (uint32_t i = 0; i < s->n && st == OSC_OK; i++) {
        st = sort_samples(&s->v[i]);
        if (st == OSC_OK)
            st = make_nodes(&s->v[i]);
    }
    if (st == OSC_OK)
        st = add_usages(t, s);
    if (st != OSC_OK)
        osc_series_fini(s);
    return st;
}

void osc_series_fini(struct osc_all_series *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        osc_free(s->v[i].samples);
        osc_free(s->v[i].nodes);
        osc_usage_fini(&s->v[i].usage);
    }
    osc_free(s->v);
    *s = (struct osc_all_series){0};
}

/* --- windows ----------------------------------------------------------------------------- */

static uint32_t first_at(const struct osc_series *s, uint32_t low, int64_t at_ns)
{
    uint32_t high = low, step = 1;

    while (high < s->n && s->samples[high].at_ns < at_ns) {
        low = high + 1;
        high = s->n - high > step ? high + step : s->n;
        step *= 2;
    }
    OSC_BISECT(low, high, i, s->samples[i].at_ns < at_ns);
    return low;
}

/* The values of the samples [FROM, TO), of which there are some. */
static struct osc_span_of_values span(const struct osc_series *s, uint32_t from, uint32_t to)
{
    struct osc_span_of_values v = {s->samples[from].value, s->samples[from].value};

    while (from < to) {
        struct osc_span_of_values here = {s->samples[from].value, s->samples[from].value};
        uint64_t end = (uint64_t)from + 1, width = FAN;

        for (unsigned level = 0; level < OSC_SERIES_LEVELS && s->n_nodes[level] > 0; level++) {
            const uint64_t whole = from + width < s->n ? from + width : s->n;

            if (from % width != 0 || whole > to)
                break;
            here = s->nodes[s->first_node[level] + (uint32_t)(from / width)];
            end = whole;
            width *= FAN;
        }
        widen(&v, here.least, here.most);
        from = (uint32_t)end;
    }
    return v;
}

struct finding {
    bool (*emit)(void *ctx, const struct osc_series_cell *cell);
    void *ctx;
};

static bool pass_on(void *ctx, const struct osc_usage_cell *cell)
{
    const struct finding *const f = ctx;
    const struct osc_series_cell same = {cell->at_ns, cell->least, cell->most, cell->mean};

    return f->emit(f->ctx, &same);
}

void osc_series_find(const struct osc_series *s, const struct osc_cell_window *w,
                     bool (*emit)(void *ctx, const struct osc_series_cell *cell), void *ctx)
{
    if (osc_series_is_usage(s)) {
        osc_usage_find(&s->usage, w, pass_on, &(struct finding){emit, ctx});
        return;
    }
    uint32_t i = first_at(s, 0, w->from_ns);
    const uint32_t end = first_at(s, i, w->to_ns);

    if (i > 0) {
        const struct osc_sample *const before = &s->samples[i - 1];
        const struct osc_series_cell cell = {before->at_ns, before->value, before->value,
                                             before->value};
        if (!emit(ctx, &cell))
            return;
    }
    while (i < end) {
        uint32_t next = first_at(s, i + 1, osc_cell_bucket_end(w, s->samples[i].at_ns));

        next = next < end ? next : end;
        const struct osc_span_of_values v = span(s, i, next);
        const struct osc_series_cell cell = {s->samples[i].at_ns, v.least, v.most,
                                             s->samples[next - 1].value};
        if (!emit(ctx, &cell))
            return;
        i = next;
    }
}
