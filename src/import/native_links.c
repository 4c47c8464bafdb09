/* SPDX-License-Identifier: Apache-2.0 */
#include "import/native_links.h"

#include "base/sort.h"
#include "import/native_rows.h"

/* What of a number makes a key; threads are counted from 1. */
#define NUMBER_BITS 48

void osc_native_links_fini(struct osc_native_links *l)
{
    osc_free(l->items);
    *l = (struct osc_native_links){0};
}

/* The integer that A has for KEY; -1: none. */
static int64_t number_of(const struct osc_native_rows *rows, const struct osc_native_args *a,
                         enum osc_arg_key key)
{
    const osc_sid wanted = rows->builder->loading->keys[key];
    size_t word = 0;

    for (size_t i = 0; i < a->n_slots; i++) {
        if (a->slots[i].key.v == wanted.v && a->slots[i].type == OSC_ARG_INT32)
            return (int32_t)a->words[word];
        if (a->slots[i].key.v == wanted.v && a->slots[i].type == OSC_ARG_INT64)
            return (int64_t)((uint64_t)a->words[word + 1] << 32 | a->words[word]);
        word += osc_arg_words((enum osc_arg_type)a->slots[i].type);
    }
    return -1;
}

static bool is_of_engine(const struct osc_native_rows *rows, osc_sid name)
{
    return osc_str_starts(osc_trace_str(rows->builder->loading->trace, name),
                          OSC_STR("autograd::engine::evaluate_function: "));
}

void osc_native_links_add(struct osc_native_rows *rows, uint32_t thread, osc_sid name,
                          int64_t ts_ns, const struct osc_native_args *a)
{
    struct osc_native_links *l = &rows->links;
    const int64_t number = number_of(rows, a, OSC_ARG_KEY_SEQUENCE_NUMBER);

    if (number < 0)
        return;
    const int64_t forward = number_of(rows, a, OSC_ARG_KEY_FWD_THREAD);
    const uint64_t from = forward > 0 ? (uint64_t)forward : rows->threads[thread].torch_thread;
    if (from == 0 || (forward > 0 && is_of_engine(rows, name)))
        return;
    const osc_status st = osc_build_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items);
    if (st != OSC_OK) {
        rows->builder->status = st;
        return;
    }
    l->is_mixed = l->is_mixed || (l->n > 0 && l->items[l->n - 1].ts_ns > ts_ns);
    l->items[l->n] = (struct osc_native_link){
        .ts_ns = ts_ns,
        .key = from << NUMBER_BITS | ((uint64_t)number & ((UINT64_C(1) << NUMBER_BITS) - 1)),
        .thread = thread,
        .is_backward = forward > 0,
        .order = l->n};
    l->n++;
}

static int compare_links(const void *pa, const void *pb)
{
    const struct osc_native_link *const a = pa, *const b = pb;

    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void put_arrow(struct osc_native_rows *rows, const struct osc_native_link *from,
                      const struct osc_native_link *to, uint64_t id)
{
    const osc_sid category = osc_build_string(rows->builder, "fwdbwd", 6);

    osc_native_rows_flow(rows, &rows->threads[from->thread], 's', category, id, from->ts_ns);
    osc_native_rows_flow(rows, &rows->threads[to->thread], 'f', category, id, to->ts_ns);
}

void osc_native_links_build(struct osc_native_rows *rows)
{
    struct osc_native_links *l = &rows->links;
    struct osc_idmap last = {0}; /* key -> its operator + 1, until it has an arrow */
    uint64_t n_arrows = 0;

    if (l->is_mixed)
        osc_sort(l->items, l->n, sizeof *l->items, compare_links);
    for (size_t i = 0; i < l->n && rows->builder->status == OSC_OK; i++) {
        const struct osc_native_link *link = &l->items[i];
        uint32_t *const from = osc_idmap_put(&last, link->key);

        if (!from) {
            rows->builder->status = OSC_ENOMEM;
        } else if (!link->is_backward) {
            *from = (uint32_t)i + 1;
        } else if (*from > 0) {
            put_arrow(rows, &l->items[*from - 1], link, ++n_arrows);
            *from = 0;
        }
    }
    osc_idmap_fini(&last);
}
