/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_links.h"

#include "base/sort.h"
#include "import/records/records_state.h"

/* Bits of a sequence number in a key; the thread, counted from 1, is above them. */
#define NUMBER_BITS 48

/* An operator with a sequence number. */
struct link {
    int64_t ts_ns;
    uint64_t key;    /* thread and sequence number */
    uint32_t thread; /* index */
    bool is_backward;
    size_t order; /* the order of reading */
};

struct links {
    struct osc_records_rows *rows;
    const struct osc_trace *trace;
    struct link *items; /* owned */
    size_t n, cap;
    bool is_mixed;       /* items were not read in order of time */
    uint32_t *of_tracks; /* owned; for each track the index of its thread + 1 */
};

/* The integer argument KEY of a row with form F and WORDS; -1: it has none. */
static int64_t number_of(const struct osc_form *f, const uint32_t *words, enum osc_arg_key key)
{
    if (f->known[key] < 0)
        return -1;
    const struct osc_arg arg = osc_slot_value(&f->slots[f->known[key]], words);

    return arg.type == OSC_ARG_INT32 || arg.type == OSC_ARG_INT64 ? arg.i : -1;
}

static bool is_of_engine(const struct links *l, osc_sid name)
{
    return osc_str_starts(osc_trace_str(l->trace, name),
                          OSC_STR("autograd::engine::evaluate_function: "));
}

/* Add row I of K, with form F and arguments WORDS, if it has a sequence number. */
static osc_status add(struct links *l, const struct osc_chunk *k, uint32_t i,
                      const struct osc_form *f, const uint32_t *words)
{
    const uint32_t thread = l->of_tracks[k->track[i]] - 1;
    const int64_t number = number_of(f, words, OSC_ARG_KEY_SEQUENCE_NUMBER),
                  forward = number_of(f, words, OSC_ARG_KEY_FWD_THREAD), ts_ns = k->ts_ns[i];
    const uint64_t from =
        forward > 0 ? (uint64_t)forward : l->rows->threads[thread].torch_thread;

    if (number < 0 || from == 0 || (forward > 0 && is_of_engine(l, (osc_sid){k->name[i]})))
        return OSC_OK;
    const osc_status st = osc_build_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items);
    if (st != OSC_OK)
        return st;
    l->is_mixed = l->is_mixed || (l->n > 0 && l->items[l->n - 1].ts_ns > ts_ns);
    l->items[l->n] = (struct link){
        .ts_ns = ts_ns,
        .key = from << NUMBER_BITS | ((uint64_t)number & ((UINT64_C(1) << NUMBER_BITS) - 1)),
        .thread = thread,
        .is_backward = forward > 0,
        .order = l->n};
    l->n++;
    return OSC_OK;
}

/* Add the operators in K, whose arguments are at ARGS. */
static osc_status add_chunk(struct links *l, const struct osc_chunk *k, const uint32_t *args)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++) {
        const struct osc_form *const f = &l->trace->forms[k->form[i]];

        if (f->known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0 && f->shape == OSC_SHAPE_BEGIN &&
            f->kind == OSC_KIND_OPERATOR)
            st = add(l, k, i, f, args + k->arg_word[i]);
    }
    return st;
}

/* Look at the rows that are built so far; they are not joined to the trace yet, and their
 * threads are known only by their tracks. */
static osc_status add_all(struct links *l)
{
    const struct osc_records_rows *const rows = l->rows;
    const struct osc_columns *const events = &rows->builder->events;
    osc_status st = OSC_OK;

    l->of_tracks = osc_calloc((size_t)l->trace->n_tracks + 1, sizeof *l->of_tracks);
    if (!l->of_tracks)
        return OSC_ENOMEM;
    for (size_t i = 0; i < rows->n_threads; i++)
        l->of_tracks[rows->threads[i].track.v] = (uint32_t)i + 1;
    for (size_t i = 0; i < events->n_done && st == OSC_OK; i++)
        st = add_chunk(l, events->done[i], events->done[i]->args);
    if (events->chunk && st == OSC_OK)
        st = add_chunk(l, events->chunk, events->args);
    return st;
}

static int compare_links(const void *pa, const void *pb)
{
    const struct link *const a = pa, *const b = pb;

    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void put_arrow(struct osc_records_rows *rows, const struct link *from,
                      const struct link *to)
{
    const struct osc_arrow_end a = {rows->threads[from->thread].track, from->ts_ns},
                               b = {rows->threads[to->thread].track, to->ts_ns};

    osc_build_arrow(rows->builder, OSC_ARROW_FORWARD, &a, &b);
}

/* An operator and its backward function have the same number, in the order of time: one arrow
 * for each pair, and the number may be used again behind it. */
static void put_arrows(struct links *l)
{
    struct osc_idmap last = {0}; /* key -> index of its operator + 1, until it has an arrow */

    if (l->is_mixed)
        osc_sort(l->items, l->n, sizeof *l->items, compare_links);
    for (size_t i = 0; i < l->n && l->rows->builder->status == OSC_OK; i++) {
        const struct link *link = &l->items[i];
        uint32_t *const from = osc_idmap_put(&last, link->key);

        if (!from) {
            l->rows->builder->status = OSC_ENOMEM;
        } else if (!link->is_backward) {
            *from = (uint32_t)i + 1;
        } else if (*from > 0) {
            put_arrow(l->rows, &l->items[*from - 1], link);
            *from = 0;
        }
    }
    osc_idmap_fini(&last);
}

/* Whether any form has the number of a forward thread as an argument. */
static bool has_backward(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++)
        if (t->forms[i].known[OSC_ARG_KEY_FWD_THREAD] >= 0)
            return true;
    return false;
}

void osc_records_links_build(struct osc_records_rows *rows)
{
    struct links l = {.rows = rows, .trace = rows->builder->loading->trace};

    if (!has_backward(l.trace))
        return;
    const osc_status st = add_all(&l);
    if (st == OSC_OK)
        put_arrows(&l);
    else
        rows->builder->status = st;
    osc_free(l.of_tracks);
    osc_free(l.items);
}
