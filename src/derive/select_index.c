/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select_index.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "derive/args.h"

static int by_annotation(const void *x, const void *y)
{
    const struct osc_original *const a = x, *const b = y;

    if (a->external != b->external)
        return a->external < b->external ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->row.v > b->row.v) - (a->row.v < b->row.v);
}

static bool is_annotation(const struct osc_trace *t, const struct osc_classes *classes,
                          const struct osc_chunk *c, uint32_t i)
{
    return osc_kind_is_label((enum osc_kind)t->forms[c->form[i]].kind) &&
           osc_is_range(classes, c, i);
}

/* List the host annotations that may have copies on devices. */
static osc_status find_originals(const struct osc_trace *t, const struct osc_classes *classes,
                                 struct osc_select_index *x)
{
    const struct osc_store *const s = &t->events;
    size_t cap = 0;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!is_annotation(t, classes, c, i) || osc_is_on_device(classes, c, i))
                continue;
            const int64_t external = osc_args_external_id(t, c, i);
            if (external == 0)
                continue;
            if (osc_grow(&x->originals, &cap, x->n_originals + 1, sizeof *x->originals) !=
                OSC_OK)
                return OSC_ENOMEM;
            x->originals[x->n_originals++] =
                (struct osc_original){external, c->name[i], osc_row_at(c, i)};
        }
    }
    if (x->n_originals > 1)
        osc_sort(x->originals, x->n_originals, sizeof *x->originals, by_annotation);
    return OSC_OK;
}

/* The first host annotation of which row I of C, on a device, is a copy; or none. */
static osc_row original_of(const struct osc_trace *t, const struct osc_classes *classes,
                           const struct osc_select_index *x, const struct osc_chunk *c,
                           uint32_t i)
{
    size_t low = 0, high = x->n_originals;

    if (high == 0 || !is_annotation(t, classes, c, i))
        return (osc_row){0};
    const struct osc_original key = {osc_args_external_id(t, c, i), c->name[i], {0}};
    OSC_BISECT(low, high, k, by_annotation(&x->originals[k], &key) < 0);
    if (low == x->n_originals || x->originals[low].external != key.external ||
        x->originals[low].name != key.name)
        return (osc_row){0};
    return x->originals[low].row;
}

osc_row osc_select_cause(const struct osc_trace *t, const struct osc_classes *classes,
                         const struct osc_select_index *x, const struct osc_chunk *c,
                         uint32_t i)
{
    const osc_row launch = {c->link[i]};

    return launch.v != 0 ? launch : original_of(t, classes, x, c, i);
}

uint32_t osc_select_step(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    uint32_t low = 0, high = c->kind[i] == OSC_KIND_STEP ? t->n_steps : 0;

    OSC_BISECT(low, high, k,
               t->steps[k].start_ns < c->ts_ns[i] || (t->steps[k].start_ns == c->ts_ns[i] &&
                                                      t->steps[k].row.v < osc_row_at(c, i).v));
    return low < t->n_steps && t->steps[low].row.v == osc_row_at(c, i).v ? low + 1 : c->step[i];
}

uint32_t osc_select_device_step(const struct osc_trace *t, const struct osc_classes *classes,
                                const struct osc_select_index *x, const struct osc_chunk *c,
                                uint32_t i)
{
    if (x->are_of_device)
        return osc_select_step(t, c, i);
    const osc_row cause = osc_select_cause(t, classes, x, c, i);
    return cause.v == 0
               ? 0
               : osc_select_step(t, osc_chunk_of(&t->events, cause), osc_row_place(cause));
}

struct spanning {
    const struct osc_trace *t;
    const struct osc_classes *classes;
    struct osc_select_index *index;
};

/* Find the smallest and largest step of the rows in a chunk. */
static void span_chunk(void *ctx, uint32_t item)
{
    const struct spanning *const w = ctx;
    const struct osc_chunk *const c = w->t->events.chunks[item + 1];
    struct osc_step_span span = {UINT32_MAX, 0};

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const uint32_t step = osc_is_on_device(w->classes, c, i)
                                  ? osc_select_device_step(w->t, w->classes, w->index, c, i)
                                  : osc_select_step(w->t, c, i);

        if (step == 0)
            continue;
        span.first = step < span.first ? step : span.first;
        span.last = step > span.last ? step : span.last;
    }
    w->index->spans[c->index] = span;
}

osc_status osc_select_index_make(const struct osc_trace *t, const struct osc_classes *classes,
                                 bool are_of_device, unsigned n_threads,
                                 struct osc_select_index *x)
{
    struct spanning w = {t, classes, x};

    *x = (struct osc_select_index){.are_of_device = are_of_device};
    x->spans = osc_calloc((size_t)t->events.n_chunks + 1, sizeof *x->spans);
    osc_status st = x->spans ? find_originals(t, classes, x) : OSC_ENOMEM;
    if (st == OSC_OK && t->events.n_chunks > 1)
        osc_parallel(n_threads, t->events.n_chunks - 1, span_chunk, &w);
    return st;
}

void osc_select_index_fini(struct osc_select_index *x)
{
    osc_free(x->originals);
    osc_free(x->spans);
    *x = (struct osc_select_index){0};
}
