/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.c - link backward operators to the forward operators whose gradient they compute.
 *
 * PyTorch draws an arrow "fwdbwd" from the start of the forward operator to the start of the
 * backward one. If it did not, `Sequence number` and `Fwd thread id` identify the forward
 * operator, provided that the thread with that logical number is known: from the arrows, or
 * because only one thread runs forward operators.
 */
#include "base/mem.h"
#include "derive/args.h"
#include "derive/arrows.h"
#include "derive/keymap.h"
#include "derive/links.h"

/* At most this many ranges with the same start are examined; more cannot be distinguished. */
#define SAME_START_MAX 64

/* An operator with a sequence number. */
struct numbered {
    int64_t number, thread;
    uint32_t row, track;
};

struct numbered_list {
    struct numbered *v; /* owned */
    size_t n, cap;
};

struct work {
    struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    uint8_t *has_number; /* owned; by form: it has a sequence number */
    struct numbered_list forward_list, backward_list;
    struct osc_keymap threads;     /* logical thread -> track */
    struct osc_keyrange *numbers;  /* owned; by track: its sequence numbers */
    struct osc_keymap *forward;    /* owned; by track: sequence number -> row */
    uint32_t *starts_at, *ends_at; /* owned; by track: where the last arrow started and
                                    * ended */
    uint32_t only_track;           /* the only track that runs forward operators; none or
                                    * several: 0 */
};

static bool is_operator(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    return c->kind[i] == OSC_KIND_OPERATOR && osc_is_range(w->c, c, i);
}

/* The innermost operator with a sequence number that starts at AT_NS on TRACK. */
static osc_row operator_at(const struct work *w, uint32_t track, int64_t at_ns, uint32_t *hints)
{
    const struct osc_store *const s = &w->t->events;
    const uint32_t *const rows = w->order->rows;
    const uint32_t end = w->order->first[track + 1];
    const uint32_t low = osc_order_find(w->t, w->order, track, at_ns, &hints[track]);
    osc_row best = {0};

    for (uint32_t n = 0; n < SAME_START_MAX && low + n < end; n++) {
        const osc_row row = {rows[low + n]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);

        if (c->ts_ns[i] != at_ns)
            break;
        if (is_operator(w, c, i) &&
            (best.v == 0 || w->t->forms[c->form[i]].known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0))
            best = row;
    }
    return best;
}

/* Link the operators at the two ends of an arrow. */
static osc_status follow_arrow(struct work *w, const struct osc_arrow_pair *arrow)
{
    const osc_row start = arrow->from;
    const struct osc_chunk *const from = osc_chunk_of(&w->t->others, start);
    const struct osc_chunk *const c = osc_chunk_of(&w->t->others, arrow->to);
    const uint32_t i = osc_row_place(arrow->to);
    int64_t thread;
    const uint32_t track = from->track[osc_row_place(start)];
    const osc_row forward =
        operator_at(w, track, from->ts_ns[osc_row_place(start)], w->starts_at);
    const osc_row backward = operator_at(w, c->track[i], c->ts_ns[i], w->ends_at);
    if (forward.v == 0 || backward.v == 0 || forward.v == backward.v)
        return OSC_OK;

    const struct osc_chunk *const b = osc_chunk_of(&w->t->events, backward);
    const uint32_t at = osc_row_place(backward);
    if (b->link[at] == 0)
        b->link[at] = forward.v;
    if (!osc_args_int(w->t, b, at, OSC_ARG_KEY_FWD_THREAD, &thread))
        return OSC_OK;
    uint32_t *const place = osc_keymap_put(&w->threads, thread);
    if (!place)
        return OSC_ENOMEM;
    *place = *place == 0 ? track : *place;
    return OSC_OK;
}

/* `Sequence number` of row I, and its `Fwd thread id`, which is 0 for a forward operator. */
static bool sequence(const struct work *w, const struct osc_chunk *c, uint32_t i,
                     int64_t *number, int64_t *thread)
{
    if (!is_operator(w, c, i) ||
        !osc_args_int(w->t, c, i, OSC_ARG_KEY_SEQUENCE_NUMBER, number) || *number < 0 ||
        *number > INT32_MAX)
        return false;
    if (!osc_args_int(w->t, c, i, OSC_ARG_KEY_FWD_THREAD, thread))
        *thread = 0;
    return true;
}

static osc_status add_numbered(struct numbered_list *l, struct numbered one)
{
    if (l->n == l->cap && osc_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v) != OSC_OK)
        return OSC_ENOMEM;
    l->v[l->n++] = one;
    return OSC_OK;
}

/* List the operators with a sequence number: forward ones, and the backward ones that no arrow
 * has linked. */
static osc_status list_numbered(struct work *w)
{
    const struct osc_store *const s = &w->t->events;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!w->has_number[c->form[i]])
                continue;
            struct numbered one = {.row = osc_row_at(c, i).v, .track = c->track[i]};
            osc_status st = OSC_OK;
            if (!sequence(w, c, i, &one.number, &one.thread))
                continue;
            if (one.thread == 0) {
                osc_keyrange_add(&w->numbers[one.track], one.number);
                st = add_numbered(&w->forward_list, one);
            } else if (c->link[i] == 0) {
                st = add_numbered(&w->backward_list, one);
            }
            if (st != OSC_OK)
                return st;
        }
    }
    return OSC_OK;
}

/* Index the last forward operator of each number: it created the autograd node. */
static osc_status index_forward(struct work *w)
{
    const struct osc_store *const s = &w->t->events;

    for (size_t n = 0; n < w->forward_list.n; n++) {
        const struct numbered *const one = &w->forward_list.v[n];
        const osc_row row = {one->row};
        uint32_t *const place = osc_keymap_put(&w->forward[one->track], one->number);

        if (!place)
            return OSC_ENOMEM;
        const osc_row last = {*place};
        if (last.v == 0 || osc_chunk_of(s, last)->ts_ns[osc_row_place(last)] <=
                               osc_chunk_of(s, row)->ts_ns[osc_row_place(row)])
            *place = row.v;
    }
    return OSC_OK;
}

/* Link the remaining operators by their numbers alone. */
static osc_status link_rest(struct work *w)
{
    const size_t n_tracks = (size_t)w->t->n_tracks + 1;
    osc_status st = OSC_ENOMEM;

    w->numbers = osc_calloc(n_tracks, sizeof *w->numbers);
    w->forward = osc_calloc(n_tracks, sizeof *w->forward);
    if (!w->numbers || !w->forward)
        goto out;
    st = list_numbered(w);
    for (uint32_t k = 1, n = 0; k < w->t->n_tracks; k++) {
        osc_keymap_init(&w->forward[k], &w->numbers[k]);
        if (w->numbers[k].n > 0)
            w->only_track = n++ == 0 ? k : 0;
    }
    if (st == OSC_OK && w->backward_list.n > 0)
        st = index_forward(w);
    for (size_t n = 0; n < w->backward_list.n && st == OSC_OK; n++) {
        const struct numbered *const one = &w->backward_list.v[n];
        const uint32_t known = osc_keymap_get(&w->threads, one->thread);
        const uint32_t track = known != 0 ? known : w->only_track;
        const osc_row row = {one->row};

        if (track != 0)
            osc_chunk_of(&w->t->events, row)->link[osc_row_place(row)] =
                osc_keymap_get(&w->forward[track], one->number);
    }
out:
    for (size_t k = 0; w->forward && k < n_tracks; k++)
        osc_keymap_fini(&w->forward[k]);
    osc_free(w->forward);
    osc_free(w->numbers);
    osc_free(w->forward_list.v);
    osc_free(w->backward_list.v);
    return st;
}

/* Mark forms with sequence numbers. False: no form belongs to a backward operator. */
static bool find_numbered(struct work *w)
{
    bool has_backward = false;

    for (uint32_t f = 0; f < w->t->n_forms; f++) {
        const int16_t *const known = w->t->forms[f].known;

        w->has_number[f] = known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0;
        has_backward = has_backward || known[OSC_ARG_KEY_FWD_THREAD] >= 0;
    }
    return has_backward;
}

osc_status osc_links_forward(struct osc_trace *t, const struct osc_classes *c,
                             const struct osc_order *order)
{
    struct work w = {.t = t, .c = c, .order = order};
    struct osc_arrow_pairs arrows = {0};
    osc_status st = OSC_OK;

    w.has_number = osc_calloc((size_t)t->n_forms + 1, sizeof *w.has_number);
    w.starts_at = osc_calloc((size_t)t->n_tracks + 1, sizeof *w.starts_at);
    w.ends_at = osc_calloc((size_t)t->n_tracks + 1, sizeof *w.ends_at);
    if (!w.has_number || !w.starts_at || !w.ends_at) {
        st = OSC_ENOMEM;
        goto out;
    }
    st = osc_arrow_pairs_make(t, OSC_ARROW_FORWARD, false, &arrows);
    for (size_t n = 0; n < arrows.n && st == OSC_OK; n++)
        st = follow_arrow(&w, &arrows.v[n]);
    if (st == OSC_OK && find_numbered(&w))
        st = link_rest(&w);
out:
    osc_free(w.has_number);
    osc_free(w.starts_at);
    osc_free(w.ends_at);
    osc_arrow_pairs_fini(&arrows);
    osc_keymap_fini(&w.threads);
    return st;
}
