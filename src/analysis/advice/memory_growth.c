/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that every step leaves behind: what it allocated and nobody released until the end.
 *
 * A tensor that the next step replaces is released there, so the last kept step says nothing;
 * what all others leave is kept by the program, and grows.
 */
#include "analysis/advice/advice_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "derive/allocations.h"
#include "derive/args.h"

/* From so many kept steps on, what they have in common is no accident. */
enum { STEPS_ENOUGH = 4 };

/* An allocation or a release. */
struct record {
    int64_t time_ns, bytes;
    uint32_t row;
    bool is_open; /* an allocation that nothing has ended */
};

/* What a step allocated, and what of it stayed. */
struct step_bytes {
    int64_t all, stays;
};

static int by_time(const void *x, const void *y)
{
    const struct record *const a = x, *const b = y;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static osc_status collect(const struct osc_trace *t, struct record **records, size_t *n)
{
    size_t cap = 0;

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            struct record r = {.time_ns = c->ts_ns[i], .row = osc_row_at(c, i).v};

            if ((c->kind[i] != OSC_KIND_ALLOC && c->kind[i] != OSC_KIND_FREE) ||
                !osc_args_int(t, c, i, OSC_ARG_KEY_BYTES, &r.bytes))
                continue;
            if (osc_grow(records, &cap, *n + 1, sizeof **records) != OSC_OK)
                return OSC_ENOMEM;
            (*records)[(*n)++] = r;
        }
    }
    if (*n > 1)
        osc_sort(*records, *n, sizeof **records, by_time);
    return OSC_OK;
}

/* Find the allocations that no record of their address follows. */
static osc_status find_open(const struct osc_trace *t, struct record *records, size_t n)
{
    struct osc_idmap live = {0}; /* address -> index + 1 */
    osc_status st = OSC_OK;

    for (size_t k = 0; k < n && st == OSC_OK; k++) {
        const struct osc_chunk *const c = osc_chunk_of(&t->events, (osc_row){records[k].row});
        uint64_t address;

        if (!osc_allocation_address(t, c, osc_row_place((osc_row){records[k].row}), &address))
            continue;
        uint32_t *const place = osc_idmap_put(&live, address);
        st = place ? OSC_OK : OSC_ENOMEM;
        if (!place)
            break;
        if (*place != 0)
            records[*place - 1].is_open = false;
        records[k].is_open = records[k].bytes > 0;
        *place = records[k].is_open ? (uint32_t)k + 1 : 0;
    }
    osc_idmap_fini(&live);
    return st;
}

/* The innermost module around row I of C, by attributes or name, or else the innermost
 * operator, by name. */
static osc_sid who_allocated(const struct osc_advice_base *a, const struct osc_chunk *c,
                             uint32_t i)
{
    const struct osc_order *const o = &a->f->order;
    const struct osc_optree *const tree = &a->f->tree;
    const int64_t at_ns = c->ts_ns[i];
    uint32_t hint = 0, node = osc_order_find(a->t, o, c->track[i], at_ns + 1, &hint);
    osc_sid inner = {0};

    while (node > o->first[c->track[i]] && !(tree->flags[node - 1] & OSC_NODE))
        node--;
    node = node > o->first[c->track[i]] ? node : 0;
    for (; node != 0; node = tree->parent[node - 1]) {
        const osc_row row = {o->rows[node - 1]};
        const struct osc_chunk *const k = osc_chunk_of(&a->t->events, row);
        const uint32_t j = osc_row_place(row);

        if (osc_row_end(k, j) <= at_ns)
            continue;
        if (k->kind[j] == OSC_KIND_MODULE)
            return osc_row_module(a->t, k, j);
        if (inner.v == 0 && (tree->flags[node - 1] & OSC_NODE_ROW))
            inner = (osc_sid){k->name[j]};
    }
    return inner;
}

/* The last kept step (index); n_steps if there are too few. */
static uint32_t last_kept(const struct osc_advice_base *a)
{
    uint32_t last = a->b->n_steps;

    for (uint32_t i = 0; i < a->b->n_steps; i++)
        last = a->b->steps[i].is_kept ? i : last;
    return a->b->n_kept < STEPS_ENOUGH ? a->b->n_steps : last;
}

/* Sum the bytes of the kept steps before LAST, and name who allocated what stays. */
static osc_status sum(const struct osc_advice_base *a, const struct record *records, size_t n,
                      uint32_t last, struct step_bytes *steps, struct osc_advice_item *item)
{
    osc_status st = OSC_OK;

    for (size_t k = 0; k < n && st == OSC_OK; k++) {
        const osc_row row = {records[k].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        const uint32_t step = c->step ? c->step[i] : 0;

        if (records[k].bytes <= 0 || step == 0 || step - 1 == last ||
            !a->b->steps[step - 1].is_kept)
            continue;
        steps[step - 1].all += records[k].bytes;
        if (!records[k].is_open)
            continue;
        steps[step - 1].stays += records[k].bytes;
        item->count++;
        st = osc_name_sums_add(&item->names, who_allocated(a, c, i), records[k].bytes);
    }
    return st;
}

osc_status osc_advice_memory_growth(const struct osc_advice_base *a,
                                    struct osc_advice_item *item)
{
    const uint32_t last = last_kept(a);
    struct step_bytes *const steps = osc_calloc((size_t)a->b->n_steps + 1, sizeof *steps);
    struct record *records = NULL;
    size_t n = 0;
    osc_status st = steps ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK && last < a->b->n_steps)
        st = collect(a->t, &records, &n);
    if (st == OSC_OK)
        st = find_open(a->t, records, n);
    if (st == OSC_OK)
        st = sum(a, records, n, last, steps, item);
    item->applies = st == OSC_OK && n > 0;
    for (uint32_t i = 0; st == OSC_OK && i < a->b->n_steps; i++) {
        if (!a->b->steps[i].is_kept || i == last)
            continue;
        item->part += steps[i].stays;
        item->whole += steps[i].all;
        item->applies = item->applies && steps[i].stays > steps[i].all / 100;
    }
    item->facts.n_steps = (int64_t)a->b->n_kept - 1;
    if (item->applies)
        item->subject = osc_trace_str(a->t, osc_name_sums_top(&item->names).name);
    osc_free(records);
    osc_free(steps);
    return st;
}
