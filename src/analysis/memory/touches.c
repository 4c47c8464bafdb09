/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/touches.h"

#include "analysis/memory/numbers.h"
#include "base/mem.h"
#include "base/sort.h"

/* The first integer of `Storages`: what the call is. */
enum { CALL_OTHER, CALL_FITS, CALL_BACKWARD };

/* What the walk over the operators keeps. */
struct walk {
    const struct osc_trace *t;
    const struct osc_facts *f;
    struct osc_touches *touches;
    uint32_t *unit;     /* owned; by place: the unit around it as place + 1, or 0 */
    uint8_t *has_child; /* owned; by place */
    bool has_storages;  /* some call told what it took */
    osc_sid accumulate, detach, add;
};

static osc_status add_touch(struct osc_touches *touches, struct osc_touch touch)
{
    if (osc_grow(&touches->all, &touches->cap, touches->n + 1, sizeof *touches->all) != OSC_OK)
        return OSC_ENOMEM;
    touches->all[touches->n++] = touch;
    return OSC_OK;
}

/* The touch of row I of C, without what and address. */
static struct osc_touch touch_of(const struct osc_trace *t, const struct osc_chunk *c,
                                 uint32_t i)
{
    return (struct osc_touch){.time_ns = c->ts_ns[i],
                              .row = osc_row_at(c, i).v,
                              .process = t->tracks[c->track[i]].process};
}

/* Add the touches of the call at PLACE. IS_ACCUMULATED: its first tensor is a gradient. */
static osc_status add_call(struct walk *w, uint32_t place, bool fits, bool is_accumulated)
{
    const osc_row row = {w->f->order.rows[place]};
    const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
    const uint32_t i = osc_row_place(row);
    struct osc_touch touch = touch_of(w->t, c, i);
    osc_status st = OSC_OK;
    bool is_written;

    touch.unit = w->unit[place];
    for (int k = 0; k < OSC_STORAGES_KEYS; k++) {
        struct osc_numbers n =
            osc_numbers_of(w->t, c, i, (enum osc_arg_key)(OSC_ARG_KEY_STORAGES + k));

        if (k == 0 && !osc_numbers_next(&n, &is_written, &touch.address))
            return OSC_OK;
        while (st == OSC_OK && osc_numbers_next(&n, &is_written, &touch.address)) {
            if (is_accumulated) {
                touch.what = OSC_TOUCH_GRADIENT;
                st = add_touch(w->touches, touch);
                is_accumulated = false;
            }
            touch.what = !fits        ? OSC_TOUCH_USED
                         : is_written ? OSC_TOUCH_WRITTEN
                                      : OSC_TOUCH_READ;
            if (st == OSC_OK)
                st = add_touch(w->touches, touch);
        }
        if (!n.at)
            break;
    }
    return st;
}

/* What the call at PLACE is, if that was recorded. */
static bool call_at(const struct walk *w, uint32_t place, uint64_t *what)
{
    const osc_row row = {w->f->order.rows[place]};
    struct osc_numbers n = osc_numbers_of(w->t, osc_chunk_of(&w->t->events, row),
                                          osc_row_place(row), OSC_ARG_KEY_STORAGES);
    bool is_negative;

    return osc_numbers_next(&n, &is_negative, what) && !is_negative && *what <= CALL_BACKWARD;
}

/* Whether the call at PLACE is the first one in AccumulateGrad and makes or changes the
 * gradient, which is its first input. */
static bool is_accumulating(struct walk *w, uint32_t place)
{
    const struct osc_order *const order = &w->f->order;
    const uint32_t parent = w->f->tree.parent[place];

    if (parent == 0 || w->has_child[parent - 1] || w->f->tree.flags[place] & OSC_NODE_MERGED)
        return false;
    w->has_child[parent - 1] = 1;
    const osc_row row = {order->rows[place]}, above = {order->rows[parent - 1]};
    const uint32_t name = osc_chunk_of(&w->t->events, row)->name[osc_row_place(row)];
    return osc_chunk_of(&w->t->events, above)->name[osc_row_place(above)] == w->accumulate.v &&
           w->accumulate.v != 0 && (name == w->detach.v || name == w->add.v);
}

static osc_status add_operator(struct walk *w, uint32_t place)
{
    const uint32_t parent = w->f->tree.parent[place];
    uint8_t *const flags = w->touches->flags;
    const bool is_first = is_accumulating(w, place);
    uint64_t what;

    if (parent != 0) {
        w->unit[place] = w->unit[parent - 1];
        flags[place] |= flags[parent - 1] & OSC_UNIT_BACKWARD;
    }
    if (!call_at(w, place, &what))
        return OSC_OK;
    if (what == CALL_BACKWARD)
        flags[place] |= OSC_UNIT_BACKWARD;
    if (what != CALL_OTHER && w->unit[place] == 0) {
        flags[place] |= OSC_UNIT;
        w->unit[place] = place + 1;
    }
    return add_call(w, place, what == CALL_FITS, is_first);
}

/* Add the tensors that a module or an optimizer told in row I of C. */
static osc_status add_told(struct walk *w, const struct osc_chunk *c, uint32_t i)
{
    struct osc_numbers parameters = osc_numbers_of(w->t, c, i, OSC_ARG_KEY_PARAMETERS);
    struct osc_numbers state = osc_numbers_of(w->t, c, i, OSC_ARG_KEY_OPTIMIZER_STATE);
    struct osc_touch touch = touch_of(w->t, c, i);
    bool is_negative, is_gradient = false;
    osc_status st = OSC_OK;

    for (; st == OSC_OK && osc_numbers_next(&parameters, &is_negative, &touch.address);
         is_gradient = !is_gradient) {
        touch.what = is_gradient ? OSC_TOUCH_GRADIENT : OSC_TOUCH_PARAMETER;
        if (touch.address != 0)
            st = add_touch(w->touches, touch);
    }
    touch.what = OSC_TOUCH_STATE;
    while (st == OSC_OK && osc_numbers_next(&state, &is_negative, &touch.address)) {
        if (touch.address != 0)
            st = add_touch(w->touches, touch);
    }
    return st;
}

static bool tells_storages(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    struct osc_numbers n = osc_numbers_of(t, c, i, OSC_ARG_KEY_STORAGES);
    bool is_negative;
    uint64_t value;

    return osc_numbers_next(&n, &is_negative, &value);
}

static osc_status add_calls(struct walk *w)
{
    const struct osc_order *const order = &w->f->order;
    osc_status st = OSC_OK;

    for (uint32_t p = 0; p < order->n_rows && st == OSC_OK; p++) {
        const osc_row row = {order->rows[p]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);
        const struct osc_form *const form = osc_row_form(w->t, c, i);

        w->has_storages = w->has_storages || tells_storages(w->t, c, i);
        if (w->f->tree.flags[p] & OSC_NODE)
            st = add_operator(w, p);
        if (st == OSC_OK && (form->known[OSC_ARG_KEY_PARAMETERS] >= 0 ||
                             form->known[OSC_ARG_KEY_OPTIMIZER_STATE] >= 0))
            st = add_told(w, c, i);
    }
    return st;
}

/* The unit around node NODE of the tree. */
static uint32_t unit_of(const struct walk *w, uint32_t node)
{
    return node == 0 ? 0 : w->unit[node - 1];
}

static osc_status add_records(struct walk *w)
{
    const struct osc_allocations *const a = &w->f->allocations;
    osc_status st = OSC_OK;

    for (uint32_t d = 0; d < a->n_devices && st == OSC_OK; d++) {
        const struct osc_memory_device *const device = &a->devices[d];

        for (uint32_t k = device->first;
             !device->is_unknown && k < device->first + device->n && st == OSC_OK; k++) {
            const struct osc_allocation_record *const r = &a->records[k];
            const osc_row row = {r->row};
            struct osc_touch touch = {.time_ns = r->time_ns,
                                      .row = r->row,
                                      .process = device->process,
                                      .unit = unit_of(w, r->node),
                                      .record = k,
                                      .what = r->bytes > 0 ? OSC_TOUCH_ALLOC : OSC_TOUCH_FREE};

            if (osc_allocation_address(w->t, osc_chunk_of(&w->t->events, row),
                                       osc_row_place(row), &touch.address))
                st = add_touch(w->touches, touch);
        }
    }
    return st;
}

static int compare(const void *pa, const void *pb)
{
    const struct osc_touch *const a = pa, *const b = pb;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* Whether some event may tell them: its row may have been left out. */
static bool has_storages(const struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_forms; i++) {
        if (t->forms[i].known[OSC_ARG_KEY_STORAGES] >= 0)
            return true;
    }
    return false;
}

osc_status osc_touches_find(const struct osc_trace *t, const struct osc_facts *f,
                            struct osc_touches *touches)
{
    const size_t n = f->order.n_rows;
    osc_status st = OSC_ENOMEM;

    if (!has_storages(t) || f->allocations.n_records == 0 || n == 0)
        return OSC_OK;
    struct walk w = {
        .t = t,
        .f = f,
        .touches = touches,
        .unit = osc_calloc(n, sizeof *w.unit),
        .has_child = osc_calloc(n, 1),
        .accumulate = osc_strings_find(&t->strings, OSC_STR("torch::autograd::AccumulateGrad")),
        .detach = osc_strings_find(&t->strings, OSC_STR("aten::detach")),
        .add = osc_strings_find(&t->strings, OSC_STR("aten::add_"))};
    touches->flags = osc_calloc(n, 1);
    if (w.unit && w.has_child && touches->flags)
        st = add_calls(&w);
    if (!w.has_storages)
        touches->n = 0;
    else if (st == OSC_OK)
        st = add_records(&w);
    if (st == OSC_OK)
        osc_sort(touches->all, touches->n, sizeof *touches->all, compare);
    osc_free(w.unit);
    osc_free(w.has_child);
    return st;
}

void osc_touches_fini(struct osc_touches *touches)
{
    osc_free(touches->all);
    osc_free(touches->flags);
    *touches = (struct osc_touches){0};
}
