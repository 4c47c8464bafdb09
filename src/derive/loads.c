/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/loads.h"

#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"

#define BUCKETS_MAX 100

__extension__ typedef unsigned __int128 wide; /* a sum of fills, or one over a long time */

/* A time at which the fill of a device changes. */
struct edge {
    int64_t at_ns;
    uint64_t fill;
};

struct edges {
    struct edge *v; /* owned */
    size_t n, cap;
    bool is_unsorted;
};

/* Start and end of each kernel of one device that states its blocks per SM. */
struct sweep {
    struct edges starts, ends;
};

static osc_status add_edge(struct edges *e, int64_t at_ns, uint64_t fill)
{
    if (e->n == e->cap && osc_grow(&e->v, &e->cap, e->n + 1, sizeof *e->v) != OSC_OK)
        return OSC_ENOMEM;
    e->is_unsorted = e->is_unsorted || (e->n > 0 && e->v[e->n - 1].at_ns > at_ns);
    e->v[e->n++] = (struct edge){at_ns, fill};
    return OSC_OK;
}

/* End of the ascending run that begins at I. */
static size_t run_end(const struct edge *v, size_t i, size_t n)
{
    for (i++; i < n && v[i].at_ns >= v[i - 1].at_ns; i++)
        continue;
    return i;
}

/* Merge A[0, MID) and A[MID, N) into OUT. */
static void merge_two(const struct edge *a, size_t mid, size_t n, struct edge *out)
{
    size_t i = 0, j = mid;

    while (i < mid && j < n)
        *out++ = a[j].at_ns < a[i].at_ns ? a[j++] : a[i++];
    memcpy(out, a + i, (mid - i) * sizeof *a);
    memcpy(out + (mid - i), a + j, (n - j) * sizeof *a);
}

/* Sort E, which has about one ascending run per queue, by merging pairs of runs. */
static osc_status sort_edges(struct edges *e)
{
    struct edge *tmp = NULL;
    size_t n_runs = 2;

    if (!e->is_unsorted)
        return OSC_OK;
    tmp = osc_malloc(e->n * sizeof *tmp);
    if (!tmp)
        return OSC_ENOMEM;
    while (n_runs > 1) {
        n_runs = 0;
        for (size_t i = 0; i < e->n; n_runs++) {
            const size_t mid = run_end(e->v, i, e->n);
            const size_t end = mid < e->n ? run_end(e->v, mid, e->n) : mid;

            merge_two(e->v + i, mid - i, end - i, tmp + i);
            i = end;
        }
        struct edge *const swap = e->v;
        e->v = tmp;
        tmp = swap;
    }
    e->cap = e->n; /* the allocated size of TMP */
    e->is_unsorted = false;
    osc_free(tmp);
    return OSC_OK;
}

/* Compute the fills of D: one between any two edges while something runs. */
static osc_status sweep_device(struct sweep *s, struct osc_device_load *d)
{
    size_t i = 0, k = 0, cap = 0;
    wide sum = 0;
    int64_t last_ns = 0;
    osc_status st = sort_edges(&s->starts);

    if (st == OSC_OK)
        st = sort_edges(&s->ends);
    while (st == OSC_OK && k < s->ends.n) {
        const bool is_start = i < s->starts.n && s->starts.v[i].at_ns <= s->ends.v[k].at_ns;
        const struct edge edge = is_start ? s->starts.v[i] : s->ends.v[k];

        if (sum > 0 && edge.at_ns > last_ns) {
            if (d->n_fills == cap)
                st = osc_grow(&d->fills, &cap, d->n_fills + 1, sizeof *d->fills);
            if (st != OSC_OK)
                break;
            d->fills[d->n_fills++] = (struct osc_fill){
                last_ns, edge.at_ns, sum < OSC_FILL_ONE ? (uint64_t)sum : OSC_FILL_ONE};
        }
        last_ns = edge.at_ns;
        sum = is_start ? sum + edge.fill : sum - edge.fill;
        i += is_start;
        k += !is_start;
    }
    return st;
}

/* `blocks per SM` of row I of C as a fill; 0 if it is missing or invalid. */
static uint64_t fill_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    double blocks;

    if (!osc_args_quantity(t, c, i, OSC_ARG_KEY_BLOCKS_PER_SM, &blocks) || blocks <= 0)
        return 0;
    if (blocks >= 1)
        return OSC_FILL_ONE;
    const uint64_t fill = (uint64_t)(blocks * (double)OSC_FILL_ONE);
    return fill > 0 ? fill : 1;
}

/* Add the kernel in row I of C to device D. */
static osc_status add_kernel(const struct osc_trace *t, struct osc_device_load *d,
                             struct sweep *s, const struct osc_chunk *c, uint32_t i)
{
    const int64_t start_ns = c->ts_ns[i], end_ns = osc_row_end(c, i);
    const uint64_t fill = fill_of(t, c, i);

    d->has_kernels = true;
    if (end_ns > start_ns)
        osc_intervals_add(&d->busy, start_ns, end_ns);
    if (fill > 0 && (add_edge(&s->starts, start_ns, fill) != OSC_OK ||
                     add_edge(&s->ends, end_ns, fill) != OSC_OK))
        return OSC_ENOMEM;
    return OSC_OK;
}

/* Queue by queue, where kernels are in order of time. */
static osc_status add_kernels(const struct osc_trace *t, const struct osc_classes *classes,
                              const struct osc_order *order, struct osc_loads *l,
                              struct sweep *s)
{
    osc_status st = OSC_OK;

    if (!l->devices)
        return OSC_OK;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const uint32_t d = l->of_track[k];

        for (uint32_t at = order->first[k]; d != 0 && at < order->first[k + 1] && st == OSC_OK;
             at++) {
            const osc_row row = {order->rows[at]};
            const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
            const uint32_t i = osc_row_place(row);

            if (c->kind[i] == OSC_KIND_KERNEL && (classes->forms[c->form[i]] & OSC_FORM_WORK))
                st = add_kernel(t, &l->devices[d - 1], &s[d - 1], c, i);
        }
    }
    return st;
}

static int by_number(const void *x, const void *y, void *ctx)
{
    const struct osc_device_load *const a = x, *const b = y;
    const struct osc_trace *const t = *(const struct osc_trace *const *)ctx;
    const uint64_t na = (uint64_t)a->number, nb = (uint64_t)b->number; /* unsigned, so that -1
                                                                        * sorts last */

    if (na != nb)
        return na < nb ? -1 : 1;
    return osc_str_cmp(osc_trace_str(t, a->name), osc_trace_str(t, b->name));
}

/* Set of_track of track K to its device, which is added if it is new. */
static osc_status find_device(const struct osc_trace *t, uint32_t k, struct osc_idmap *known,
                              size_t *cap, struct osc_loads *l)
{
    const osc_sid name = t->tracks[k].device;
    uint32_t *const place = osc_idmap_put(known, name.v);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        const osc_status st =
            osc_grow(&l->devices, cap, (size_t)l->n_devices + 1, sizeof *l->devices);
        if (st != OSC_OK)
            return st;
        struct osc_str family;

        l->devices[l->n_devices++] = (struct osc_device_load){
            .name = name, .number = osc_device_split(osc_trace_str(t, name), &family)};
        *place = l->n_devices;
    }
    l->of_track[k] = *place;
    return OSC_OK;
}

/* Sort the devices and renumber them. */
static osc_status sort_devices(const struct osc_trace *t, struct osc_loads *l)
{
    struct osc_idmap places = {0};
    osc_status st = OSC_OK;

    osc_sort_with(l->devices, l->n_devices, sizeof *l->devices, by_number, &t);
    for (uint32_t d = 0; d < l->n_devices && st == OSC_OK; d++) {
        uint32_t *const place = osc_idmap_put(&places, l->devices[d].name.v);

        if (place)
            *place = d + 1;
        else
            st = OSC_ENOMEM;
    }
    for (uint32_t k = 0; k < t->n_tracks && st == OSC_OK; k++) {
        if (l->of_track[k] != 0)
            l->of_track[k] = osc_idmap_get(&places, t->tracks[k].device.v);
    }
    osc_idmap_fini(&places);
    return st;
}

/* List the devices whose queues did any work. */
static osc_status find_devices(const struct osc_trace *t, const struct osc_links *links,
                               struct osc_loads *l)
{
    struct osc_idmap known = {0};
    osc_status st = OSC_OK;
    size_t cap = 0;

    l->of_track = osc_calloc((size_t)t->n_tracks + 1, sizeof *l->of_track);
    if (!l->of_track)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const uint32_t k = osc_chunk_of(&t->events, row)->track[osc_row_place(row)];

        if (l->of_track[k] == 0)
            st = find_device(t, k, &known, &cap, l);
    }
    osc_idmap_fini(&known);
    return st == OSC_OK && l->n_devices > 0 ? sort_devices(t, l) : st;
}

/* The last span in which the recorder says that it was on, else that of all events. */
static void find_extent(const struct osc_trace *t, struct osc_loads *l)
{
    const osc_sid name = osc_strings_find(&t->strings, OSC_STR("PyTorch Profiler (0)"));

    l->start_ns = t->min_ts_ns;
    l->end_ns = t->max_end_ns;
    for (uint32_t k = t->events.n_chunks; k-- > 1 && name.v != 0;) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = c->n_rows; i-- > 0;) {
            if (c->name[i] != name.v || c->dur_ns[i] == OSC_NO_DUR ||
                !osc_row_form(t, c, i)->is_profiler)
                continue;
            l->start_ns = c->ts_ns[i];
            l->end_ns = osc_row_end(c, i);
            return;
        }
    }
}

static void cut_buckets(struct osc_loads *l)
{
    const int64_t length_ns = l->end_ns - l->start_ns;

    l->bucket_ns = 1000;
    if (length_ns <= 0)
        return;
    while ((length_ns - 1) / BUCKETS_MAX >= l->bucket_ns)
        l->bucket_ns *= 10;
    l->n_buckets = (uint32_t)(length_ns / l->bucket_ns);
    l->n_buckets += l->n_buckets == 0; /* shorter than a microsecond */
}

osc_status osc_loads_make(const struct osc_trace *t, const struct osc_classes *classes,
                          const struct osc_order *order, const struct osc_links *links,
                          struct osc_loads *l)
{
    struct sweep *sweeps = NULL;

    *l = (struct osc_loads){0};
    osc_status st = find_devices(t, links, l);
    if (st == OSC_OK) {
        sweeps = osc_calloc((size_t)l->n_devices + 1, sizeof *sweeps);
        st = sweeps ? add_kernels(t, classes, order, l, sweeps) : OSC_ENOMEM;
    }
    for (uint32_t d = 0; d < l->n_devices && st == OSC_OK; d++) {
        st = osc_intervals_merge(&l->devices[d].busy);
        if (st == OSC_OK)
            st = sweep_device(&sweeps[d], &l->devices[d]);
    }
    for (uint32_t d = 0; sweeps && d < l->n_devices; d++) {
        osc_free(sweeps[d].starts.v);
        osc_free(sweeps[d].ends.v);
    }
    osc_free(sweeps);
    find_extent(t, l);
    cut_buckets(l);
    if (st != OSC_OK)
        osc_loads_fini(l);
    return st;
}

void osc_loads_fini(struct osc_loads *l)
{
    for (uint32_t d = 0; d < l->n_devices; d++) {
        osc_intervals_fini(&l->devices[d].busy);
        osc_free(l->devices[d].fills);
    }
    osc_free(l->devices);
    osc_free(l->of_track);
    *l = (struct osc_loads){0};
}

static int64_t overlap(int64_t a_start, int64_t a_end, int64_t b_start, int64_t b_end)
{
    const int64_t start = a_start > b_start ? a_start : b_start;
    const int64_t end = a_end < b_end ? a_end : b_end;

    return end > start ? end - start : 0;
}

/* Index of the first fill that ends after AT_NS. */
static size_t first_fill(const struct osc_device_load *d, int64_t at_ns)
{
    size_t low = 0, high = d->n_fills;

    OSC_BISECT(low, high, i, d->fills[i].end_ns <= at_ns);
    return low;
}

struct osc_load osc_loads_between(const struct osc_loads *l, uint32_t d, int64_t start_ns,
                                  int64_t end_ns)
{
    const struct osc_device_load *const device = &l->devices[d];
    struct osc_load load = {.start_ns = start_ns, .end_ns = end_ns};
    size_t hint = 0;
    wide area = 0;

    for (size_t i = osc_intervals_find(&device->busy, start_ns + 1, &hint);
         i < device->busy.n && device->busy.v[i].start_ns < end_ns; i++)
        load.busy_ns +=
            overlap(start_ns, end_ns, device->busy.v[i].start_ns, device->busy.v[i].end_ns);
    for (size_t i = first_fill(device, start_ns);
         i < device->n_fills && device->fills[i].start_ns < end_ns; i++) {
        const struct osc_fill *const f = &device->fills[i];

        area += (wide)f->fill * (uint64_t)overlap(start_ns, end_ns, f->start_ns, f->end_ns);
    }
    load.fill_ns = (double)area / (double)OSC_FILL_ONE;
    return load;
}

struct osc_load osc_loads_bucket(const struct osc_loads *l, uint32_t d, uint32_t b)
{
    const int64_t start_ns = l->start_ns + b * l->bucket_ns;

    return osc_loads_between(l, d, start_ns,
                             b + 1 < l->n_buckets ? start_ns + l->bucket_ns : l->end_ns);
}
