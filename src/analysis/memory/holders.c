/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/holders.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

/* What the allocations of a holder have in common: bytes to compare, without padding. */
struct key {
    int64_t block_bytes;
    uint32_t label, module;
};

void osc_holders_init(struct osc_holders *h, struct osc_memory_view *v)
{
    *h = (struct osc_holders){.v = v};
    h->labels.arena = &h->arena;
    h->labels.seed = osc_hash_seed();
    h->keys.arena = &h->arena;
    h->keys.seed = osc_hash_seed();
}

void osc_holders_fini(struct osc_holders *h)
{
    osc_free(h->all);
    osc_intern_fini(&h->labels);
    osc_intern_fini(&h->keys);
    osc_arena_fini(&h->arena);
}

/* Find or make the holder of allocation K. */
static osc_status holder_of(struct osc_holders *h, uint32_t k, struct osc_holder **holder)
{
    const int64_t bytes = h->v->a->records[k].bytes;
    struct key key = {.block_bytes = h->by_size ? bytes : 0};
    osc_sid label = {0}, id;
    osc_status st = OSC_OK;

    if (h->by_op)
        st = osc_intern_add(&h->labels, osc_memory_view_operator(h->v, k), &label);
    if (h->by_module)
        key.module = osc_memory_view_module(h->v, k).v;
    key.label = label.v;
    if (st == OSC_OK)
        st = osc_intern_add(&h->keys, (struct osc_str){(const char *)&key, sizeof key}, &id);
    if (st != OSC_OK)
        return st;
    if (id.v > h->n) {
        if (osc_grow(&h->all, &h->cap, id.v, sizeof *h->all) != OSC_OK)
            return OSC_ENOMEM;
        h->all[h->n++] = (struct osc_holder){.label = key.label,
                                             .module = {key.module},
                                             .block_bytes = key.block_bytes,
                                             .first = k};
    }
    *holder = &h->all[id.v - 1];
    return OSC_OK;
}

static int compare(const void *pa, const void *pb)
{
    const struct osc_holder *const a = pa, *const b = pb;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

osc_status osc_holders_find(struct osc_holders *h, const struct osc_memory_device *d,
                            uint32_t at)
{
    h->n = 0;
    h->bytes = 0;
    h->count = 0;
    osc_intern_fini(&h->keys);
    for (uint32_t k = d->first; k <= at; k++) {
        struct osc_holder *holder;

        if (!osc_allocation_is_live(h->v->a, k, at))
            continue;
        const osc_status st = holder_of(h, k, &holder);
        if (st != OSC_OK)
            return st;
        const int64_t bytes = h->v->a->records[k].bytes;
        holder->bytes += bytes;
        holder->count++;
        h->bytes += bytes;
        h->count++;
        holder->max_bytes = bytes > holder->max_bytes ? bytes : holder->max_bytes;
    }
    if (h->n > 0)
        osc_sort(h->all, h->n, sizeof *h->all, compare);
    return OSC_OK;
}

struct osc_str osc_holder_operator(const struct osc_holders *h, const struct osc_holder *holder)
{
    return osc_intern_str(&h->labels, (osc_sid){holder->label});
}
