/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/order.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"

/* Chunks are distributed to the threads in this many parts. */
#define PARTS 16u

static inline int64_t start_of(const struct osc_trace *t, uint32_t row)
{
    return osc_chunk_of(&t->events, (osc_row){row})->ts_ns[row & OSC_CHUNK_MASK];
}

static inline int64_t end_of(const struct osc_trace *t, uint32_t row)
{
    return osc_row_end(osc_chunk_of(&t->events, (osc_row){row}), row & OSC_CHUNK_MASK);
}

/*
 * Whether row A, which starts at A_NS, nests before row B, which starts at B_NS, regardless of
 * their places in the file. Ends are rarely compared.
 */
static inline bool is_before(const struct osc_trace *t, uint32_t a, int64_t a_ns, uint32_t b,
                             int64_t b_ns)
{
    return a_ns != b_ns ? a_ns < b_ns : end_of(t, a) > end_of(t, b);
}

/* Number of rows in ROWS[0, N), ascending, before ROW; with IS_AFTER_EQUAL also those
 * equal. */
static uint32_t count_before(const struct osc_trace *t, const uint32_t *rows, uint32_t n,
                             uint32_t row, bool is_after_equal)
{
    const int64_t row_ns = start_of(t, row);
    uint32_t low = 0, high = n;

    OSC_BISECT(low, high, i,
               is_after_equal ? !is_before(t, row, row_ns, rows[i], start_of(t, rows[i]))
                              : is_before(t, rows[i], start_of(t, rows[i]), row, row_ns));
    return low;
}

/*
 * Merge ROWS[0, MID) and ROWS[MID, N), both ascending. Rows at both ends that are in place
 * already are not touched. TMP has room for MID rows.
 */
static void merge_runs(const struct osc_trace *t, uint32_t *rows, uint32_t mid, uint32_t n,
                       uint32_t *tmp)
{
    const uint32_t skip = count_before(t, rows, mid, rows[mid], true);
    if (skip == mid)
        return;
    const uint32_t end = mid + count_before(t, rows + mid, n - mid, rows[mid - 1], false);
    const uint32_t n_left = mid - skip;
    uint32_t i = 0, j = mid, out = skip;

    memcpy(tmp, rows + skip, n_left * sizeof *tmp);
    int64_t a_ns = start_of(t, tmp[0]), b_ns = start_of(t, rows[mid]);
    for (;;) {
        if (is_before(t, rows[j], b_ns, tmp[i], a_ns)) {
            rows[out++] = rows[j++];
            if (j == end)
                break;
            b_ns = start_of(t, rows[j]);
        } else {
            rows[out++] = tmp[i++];
            if (i == n_left)
                return; /* the rest of the right run is in place */
            a_ns = start_of(t, tmp[i]);
        }
    }
    memcpy(rows + out, tmp + i, (n_left - i) * sizeof *tmp);
}

/* Find where runs begin, followed by N; the caller frees *STARTS. NULL: one run. */
static osc_status find_runs(const struct osc_trace *t, const uint32_t *rows, uint32_t n,
                            uint32_t **starts, uint32_t *n_runs)
{
    size_t cap = 0, n_starts = 0;
    int64_t last_ns = n > 0 ? start_of(t, rows[0]) : 0;

    *starts = NULL;
    for (uint32_t i = 1; i < n; i++) {
        const int64_t row_ns = start_of(t, rows[i]);

        if (is_before(t, rows[i], row_ns, rows[i - 1], last_ns)) {
            if (osc_grow(starts, &cap, n_starts + 3, sizeof **starts) != OSC_OK)
                return OSC_ENOMEM;
            if (n_starts == 0)
                (*starts)[n_starts++] = 0;
            (*starts)[n_starts++] = i;
        }
        last_ns = row_ns;
    }
    if (*starts)
        (*starts)[n_starts] = n;
    *n_runs = (uint32_t)n_starts;
    return OSC_OK;
}

osc_status osc_order_sort(const struct osc_trace *t, uint32_t *rows, uint32_t n)
{
    uint32_t *starts = NULL, *tmp = NULL, n_runs = 0;
    osc_status st = find_runs(t, rows, n, &starts, &n_runs);

    if (st != OSC_OK || n_runs == 0)
        goto out;
    tmp = osc_malloc(n * sizeof *tmp);
    if (!tmp) {
        st = OSC_ENOMEM;
        goto out;
    }
    while (n_runs > 1) {
        uint32_t n_left = 0;

        for (uint32_t r = 0; r < n_runs; r += 2) {
            const uint32_t from = starts[r];
            const uint32_t to = starts[r + 2 < n_runs ? r + 2 : n_runs];

            if (r + 1 < n_runs)
                merge_runs(t, rows + from, starts[r + 1] - from, to - from, tmp);
            starts[n_left++] = from;
        }
        starts[n_left] = n;
        n_runs = n_left;
    }
out:
    osc_free(starts);
    osc_free(tmp);
    return st;
}

struct work {
    const struct osc_trace *t;
    const struct osc_classes *c;
    enum osc_order_of of;
    struct osc_order *o;
    uint32_t *counts; /* per part and track: number of rows, later their next place */
    osc_status *statuses;
};

/* OF is a constant at each call, so that the loops test only what they need. */
static inline bool is_member(const struct work *w, enum osc_order_of of,
                             const struct osc_chunk *c, uint32_t i)
{
    if (of == OSC_ORDER_RANGES)
        return osc_is_range(w->c, c, i);
    return c->kind[i] == OSC_KIND_ALLOC || c->kind[i] == OSC_KIND_FREE;
}

/* The chunks of part P. */
static uint32_t part_begin(const struct osc_trace *t, uint32_t p)
{
    const uint64_t n = t->events.n_chunks > 0 ? t->events.n_chunks - 1u : 0;

    return (uint32_t)(n * p / PARTS) + 1;
}

static inline void count_rows(const struct work *w, enum osc_order_of of,
                              const struct osc_chunk *c, uint32_t *counts)
{
    const uint32_t *const tracks = c->track;

    for (uint32_t i = 0; i < c->n_rows; i++)
        counts[tracks[i]] += is_member(w, of, c, i);
}

static void count_part(void *ctx, uint32_t p)
{
    const struct work *const w = ctx;
    uint32_t *const counts = w->counts + (size_t)p * w->t->n_tracks;

    for (uint32_t k = part_begin(w->t, p); k < part_begin(w->t, p + 1); k++) {
        if (w->of == OSC_ORDER_RANGES)
            count_rows(w, OSC_ORDER_RANGES, w->t->events.chunks[k], counts);
        else
            count_rows(w, OSC_ORDER_MEMORY, w->t->events.chunks[k], counts);
    }
}

static inline void deal_rows(const struct work *w, enum osc_order_of of,
                             const struct osc_chunk *c, uint32_t *places)
{
    const uint32_t *const tracks = c->track;
    const uint32_t first = osc_row_at(c, 0).v, n = c->n_rows;
    uint32_t *const rows = w->o->rows;

    for (uint32_t i = 0; i < n; i++) {
        if (is_member(w, of, c, i))
            rows[places[tracks[i]]++] = first + i;
    }
}

static void deal_part(void *ctx, uint32_t p)
{
    const struct work *const w = ctx;
    uint32_t *const places = w->counts + (size_t)p * w->t->n_tracks;

    for (uint32_t k = part_begin(w->t, p); k < part_begin(w->t, p + 1); k++) {
        if (w->of == OSC_ORDER_RANGES)
            deal_rows(w, OSC_ORDER_RANGES, w->t->events.chunks[k], places);
        else
            deal_rows(w, OSC_ORDER_MEMORY, w->t->events.chunks[k], places);
    }
}

static void sort_track(void *ctx, uint32_t i)
{
    const struct work *const w = ctx;
    const uint32_t track = w->o->tracks[i], first = w->o->first[track];

    w->statuses[i] = osc_order_sort(w->t, w->o->rows + first, w->o->first[track + 1] - first);
}

/* Turn counts into places, grouped by track and by part within a track. */
static void place_parts(struct work *w)
{
    const uint32_t n_tracks = w->t->n_tracks;
    uint32_t n = 0;

    for (uint32_t k = 0; k < n_tracks; k++) {
        w->o->first[k] = n;
        for (uint32_t p = 0; p < PARTS; p++) {
            uint32_t *const count = &w->counts[(size_t)p * n_tracks + k];
            const uint32_t here = *count;

            *count = n;
            n += here;
        }
        if (n > w->o->first[k])
            w->o->tracks[w->o->n_tracks++] = k;
    }
    w->o->first[n_tracks] = n;
    w->o->n_rows = n;
}

/* Longest first, so that threads finish together; the order of equal ones has no effect. */
static int by_length(const void *a, const void *b, void *ctx)
{
    const uint32_t *const first = ctx;
    uint32_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    const uint32_t m = first[x + 1] - first[x], n = first[y + 1] - first[y];
    return m != n ? (m < n ? 1 : -1) : (x > y) - (x < y);
}

osc_status osc_order_make(const struct osc_trace *t, const struct osc_classes *c,
                          enum osc_order_of of, unsigned n_threads, struct osc_order *o)
{
    struct work w = {t, c, of, o, NULL, NULL};
    osc_status st = OSC_ENOMEM;

    *o = (struct osc_order){0};
    w.counts = osc_calloc((size_t)t->n_tracks * PARTS + 1, sizeof *w.counts);
    o->first = osc_calloc((size_t)t->n_tracks + 1, sizeof *o->first);
    o->tracks = osc_calloc((size_t)t->n_tracks + 1, sizeof *o->tracks);
    if (!w.counts || !o->first || !o->tracks)
        goto out;
    osc_parallel(n_threads, PARTS, count_part, &w);
    place_parts(&w);
    o->rows_bytes = ((size_t)o->n_rows + 1) * sizeof *o->rows;
    o->rows = osc_pages_alloc(o->rows_bytes);
    w.statuses = osc_calloc((size_t)o->n_tracks + 1, sizeof *w.statuses);
    if (!o->rows || !w.statuses)
        goto out;
    osc_parallel(n_threads, PARTS, deal_part, &w);
    osc_sort_with(o->tracks, o->n_tracks, sizeof *o->tracks, by_length, o->first);
    osc_parallel(n_threads, o->n_tracks, sort_track, &w);
    st = OSC_OK;
    for (uint32_t i = 0; i < o->n_tracks; i++) {
        if (w.statuses[i] != OSC_OK)
            st = w.statuses[i];
    }
out:
    osc_free(w.counts);
    osc_free(w.statuses);
    if (st != OSC_OK)
        osc_order_fini(o);
    return st;
}

void osc_order_fini(struct osc_order *o)
{
    osc_pages_free(o->rows, o->rows_bytes);
    osc_free(o->first);
    osc_free(o->tracks);
    *o = (struct osc_order){0};
}

static bool starts_before(const struct osc_trace *t, const struct osc_order *o, uint32_t place,
                          int64_t at_ns)
{
    const osc_row row = {o->rows[place]};

    return osc_chunk_of(&t->events, row)->ts_ns[osc_row_place(row)] < at_ns;
}

uint32_t osc_order_find(const struct osc_trace *t, const struct osc_order *o, uint32_t track,
                        int64_t at_ns, uint32_t *hint)
{
    const uint32_t first = o->first[track], end = o->first[track + 1];
    uint32_t low = first + *hint, high = low, stride = 1;

    if (low < end && starts_before(t, o, low, at_ns)) {
        while (stride < end - low && starts_before(t, o, low + stride, at_ns)) {
            low += stride;
            stride *= 2;
        }
        high = stride < end - low ? low + stride : end;
        low++;
    } else {
        while (stride < high - first && !starts_before(t, o, high - stride, at_ns)) {
            high -= stride;
            stride *= 2;
        }
        low = stride < high - first ? high - stride : first;
    }
    OSC_BISECT(low, high, i, starts_before(t, o, i, at_ns));
    *hint = low - first;
    return low;
}
