/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_work.h"

#include "base/mem.h"
#include "base/sort.h"
#include "derive/facts.h"

/* A range before a call, or the sum of those of one name. */
struct entry {
    uint32_t call, name; /* name: osc_sid of the trace */
    int64_t ns;
};

/* When a call was launched. */
struct launch {
    int64_t at_ns;
    uint32_t call;
};

struct gathering {
    const struct osc_trace *t;
    const struct osc_facts *f;
    struct launch *launches; /* owned; by time */
    struct launch *starts;   /* owned; by time */
    size_t n_calls;
    struct entry *v; /* owned */
    size_t n, cap;
    osc_status status; /* sticky */
};

static int by_time(const void *a, const void *b)
{
    const struct launch *const x = a, *const y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int by_name(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* The longest first; of equal ones by the bytes of the name. */
static int by_length(const void *a, const void *b, void *ctx)
{
    const struct osc_trace *const t = ((const struct gathering *)ctx)->t;
    const struct entry *const x = a, *const y = b;

    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return osc_str_cmp(osc_trace_str(t, (osc_sid){x->name}),
                       osc_trace_str(t, (osc_sid){y->name}));
}

/* Add NS of NAME, which began at AT_NS, to the first call of LIST after it. */
static void add(struct gathering *g, const struct launch *list, int64_t at_ns, uint32_t name,
                int64_t ns)
{
    size_t low = 0, high = g->n_calls;

    OSC_BISECT(low, high, i, list[i].at_ns <= at_ns)
    if (low == g->n_calls || ns <= 0)
        return;
    if (g->status == OSC_OK)
        g->status = osc_grow(&g->v, &g->cap, g->n + 1, sizeof *g->v);
    if (g->status == OSC_OK)
        g->v[g->n++] = (struct entry){list[low].call, name, ns};
}

/* Whether row I of C, a range of the host, is work and does not wait for others. */
static bool is_work(const struct gathering *g, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_classes *const classes = &g->f->classes;
    const uint16_t name = classes->names[c->name[i]];
    const enum osc_kind kind = (enum osc_kind)c->kind[i];

    if (!osc_is_range(classes, c, i) || osc_is_on_device(classes, c, i) ||
        kind == OSC_KIND_STEP || kind == OSC_KIND_COMMUNICATION)
        return false;
    if (classes->forms[c->form[i]] & OSC_FORM_FUNCTION)
        return true;
    return !(name & (OSC_NAME_COMM_HOST | OSC_NAME_SYNC));
}

static void gather_rows(struct gathering *g)
{
    const struct osc_order *const o = &g->f->order;
    const struct osc_links *const l = &g->f->links;

    for (uint32_t at = 0; at < o->n_rows && g->status == OSC_OK; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&g->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (is_work(g, c, i))
            add(g, g->launches, c->ts_ns[i] - g->t->min_ts_ns, c->name[i], c->self_ns[i]);
    }
    for (size_t n = 0; n < l->n_works && g->status == OSC_OK; n++) {
        const osc_row row = {l->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&g->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] == OSC_KIND_KERNEL && !osc_is_comm_kernel(&g->f->classes, c, i))
            add(g, g->starts, c->ts_ns[i] - g->t->min_ts_ns, c->name[i], c->dur_ns[i]);
    }
}

/* Set when each call of P was launched and when it started. */
static osc_status list_calls(struct gathering *g, const struct osc_call_rows *rows,
                             const struct osc_rank_part *p)
{
    g->n_calls = p->n_calls;
    g->launches = osc_calloc(p->n_calls + 1, sizeof *g->launches);
    g->starts = osc_calloc(p->n_calls + 1, sizeof *g->starts);
    if (!g->launches || !g->starts)
        return OSC_ENOMEM;
    for (size_t k = 0; k < p->n_calls; k++) {
        const osc_row row = {rows[k].host};

        g->starts[k] = (struct launch){p->calls[k].start_ns, (uint32_t)k};
        g->launches[k] = g->starts[k];
        if (row.v)
            g->launches[k].at_ns =
                osc_chunk_of(&g->t->events, row)->ts_ns[osc_row_place(row)] - g->t->min_ts_ns;
    }
    osc_sort(g->launches, p->n_calls, sizeof *g->launches, by_time);
    osc_sort(g->starts, p->n_calls, sizeof *g->starts, by_time);
    return OSC_OK;
}

/* Join entries of the same call and name. */
static void join(struct gathering *g)
{
    size_t n = 0;

    osc_sort(g->v, g->n, sizeof *g->v, by_name);
    for (size_t k = 0; k < g->n; k++) {
        if (n > 0 && g->v[n - 1].call == g->v[k].call && g->v[n - 1].name == g->v[k].name)
            g->v[n - 1].ns += g->v[k].ns;
        else
            g->v[n++] = g->v[k];
    }
    g->n = n;
}

/* Keep the largest sums of each call. */
static osc_status keep(struct gathering *g, struct osc_rank_words *words,
                       struct osc_rank_part *p)
{
    osc_status st = OSC_OK;

    for (size_t first = 0, end; first < g->n && st == OSC_OK; first = end) {
        for (end = first + 1; end < g->n && g->v[end].call == g->v[first].call;)
            end++;
        osc_sort_with(&g->v[first], end - first, sizeof *g->v, by_length, g);
        const size_t n = end - first < OSC_RANK_WORK_MAX ? end - first : OSC_RANK_WORK_MAX;
        struct osc_rank_call *const c = &p->calls[g->v[first].call];
        st = osc_grow(&p->work, &p->cap_work, p->n_work + n, sizeof *p->work);
        for (size_t k = first; k < end; k++)
            c->work_ns += g->v[k].ns;
        c->first_work = (uint32_t)p->n_work;
        c->n_work = (uint8_t)n;
        for (size_t k = first; k < first + n && st == OSC_OK; k++) {
            struct osc_rank_work *const w = &p->work[p->n_work++];

            w->ns = g->v[k].ns;
            st = osc_rank_word(words, osc_trace_str(g->t, (osc_sid){g->v[k].name}), &w->name);
        }
    }
    return st;
}

osc_status osc_rank_work_find(const struct osc_trace *t, const struct osc_call_rows *rows,
                              struct osc_rank_words *words, struct osc_rank_part *p)
{
    struct gathering g = {.t = t, .f = osc_trace_facts(t)};
    osc_status st = list_calls(&g, rows, p);

    if (st == OSC_OK && p->n_calls > 0)
        gather_rows(&g);
    if (st == OSC_OK)
        st = g.status;
    if (st == OSC_OK) {
        join(&g);
        st = keep(&g, words, p);
    }
    osc_free(g.launches);
    osc_free(g.starts);
    osc_free(g.v);
    return st;
}
