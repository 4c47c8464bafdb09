/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.c - from backward operators to the forward ones whose gradient they take.
 *
 * PyTorch draws an arrow "fwdbwd" from the start of the one to the start of the
 * other. Where it did not, `Sequence number` and `Fwd thread id` say the same, once
 * it is known which thread the logical number means: the arrows tell, or there is
 * only one thread that runs forward (torch213.md, 6.8).
 */
#include "base/mem.h"
#include "derive/keymap.h"
#include "derive/links.h"

/* So many ranges that start at one time are looked at; more are not to be told apart. */
#define SAME_START_MAX 64

struct work {
    struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    uint8_t *phases;           /* owned; by form: 's' or 'f' of these arrows, or 0 */
    struct osc_keymap starts;  /* id of an arrow -> row of its start in the other store */
    struct osc_keymap threads; /* logical thread -> track */
    struct osc_keymap forward; /* sequence number and track -> row */
    uint32_t only_track;       /* the one that runs forward; none, or several: 0 */
};

static bool is_operator(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    return w->t->forms[c->form[i]].kind == OSC_KIND_OPERATOR && osc_is_range(w->c, c, i);
}

/* Mark the forms of the arrows. False: there are none. */
static bool find_forms(struct work *w)
{
    bool is_any = false;

    for (uint32_t f = 0; f < w->t->n_forms; f++) {
        const struct osc_form *const form = &w->t->forms[f];
        const struct osc_str category = osc_trace_str(w->t, form->category);

        if ((form->ph == 's' || form->ph == 'f') &&
            (osc_str_eq(category, OSC_STR("fwdbwd")) ||
             osc_str_eq(category, OSC_STR("forward_backward")))) {
            w->phases[f] = form->ph;
            is_any = true;
        }
    }
    return is_any;
}

/* The id of an arrow; texts are told apart from numbers by a high bit. */
static bool arrow_id(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                     int64_t *id)
{
    struct osc_arg arg;

    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_FLOW_ID, id))
        return true;
    if (!osc_row_arg(t, c, i, OSC_ARG_KEY_FLOW_ID, &arg) || arg.sid.v == 0)
        return false;
    *id = (int64_t)(UINT64_C(1) << 62 | arg.sid.v);
    return true;
}

/* The operator that starts at AT_NS on TRACK, the innermost with a sequence number. */
static osc_row operator_at(const struct work *w, uint32_t track, int64_t at_ns)
{
    const struct osc_store *const s = &w->t->events;
    const uint32_t *const rows = w->order->rows;
    const uint32_t end = w->order->first[track + 1];
    uint32_t low = w->order->first[track], high = end;
    osc_row best = {0};

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const osc_row row = {rows[middle]};

        if (osc_chunk_of(s, row)->ts_ns[osc_row_place(row)] < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
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

/* The arrow ends at row I of C: link what stands at its two ends. */
static osc_status follow_arrow(struct work *w, const struct osc_chunk *c, uint32_t i)
{
    int64_t id, thread;
    const osc_row start = {arrow_id(w->t, c, i, &id) ? osc_keymap_get(&w->starts, id) : 0};

    if (start.v == 0)
        return OSC_OK;
    const struct osc_chunk *const from = osc_chunk_of(&w->t->others, start);
    const uint32_t track = from->track[osc_row_place(start)];
    const osc_row forward = operator_at(w, track, from->ts_ns[osc_row_place(start)]);
    const osc_row backward = operator_at(w, c->track[i], c->ts_ns[i]);
    if (forward.v == 0 || backward.v == 0 || forward.v == backward.v)
        return OSC_OK;

    const struct osc_chunk *const b = osc_chunk_of(&w->t->events, backward);
    const uint32_t at = osc_row_place(backward);
    b->link[at] = forward.v;
    if (!osc_row_arg_int(w->t, b, at, OSC_ARG_KEY_FWD_THREAD, &thread))
        return OSC_OK;
    uint32_t *const place = osc_keymap_put(&w->threads, thread);
    if (!place)
        return OSC_ENOMEM;
    *place = track;
    return OSC_OK;
}

static osc_status follow_arrows(struct work *w)
{
    const struct osc_store *const s = &w->t->others;

    /* An arrow may end, in the file, before it starts. */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t k = 1; k < s->n_chunks; k++) {
            const struct osc_chunk *const c = s->chunks[k];

            for (uint32_t i = 0; i < c->n_rows; i++) {
                int64_t id;

                if (pass == 1 && w->phases[c->form[i]] == 'f') {
                    const osc_status st = follow_arrow(w, c, i);
                    if (st != OSC_OK)
                        return st;
                } else if (pass == 0 && w->phases[c->form[i]] == 's' &&
                           arrow_id(w->t, c, i, &id)) {
                    uint32_t *const place = osc_keymap_put(&w->starts, id);
                    if (!place)
                        return OSC_ENOMEM;
                    *place = osc_row_at(c, i).v;
                }
            }
        }
    }
    return OSC_OK;
}

/* `Sequence number` of row I, and its `Fwd thread id`, 0 if it runs forward itself. */
static bool sequence(const struct work *w, const struct osc_chunk *c, uint32_t i,
                     int64_t *number, int64_t *thread)
{
    if (w->t->forms[c->form[i]].known[OSC_ARG_KEY_SEQUENCE_NUMBER] < 0 ||
        !is_operator(w, c, i) ||
        !osc_row_arg_int(w->t, c, i, OSC_ARG_KEY_SEQUENCE_NUMBER, number) || *number < 0 ||
        *number > INT32_MAX)
        return false;
    if (!osc_row_arg_int(w->t, c, i, OSC_ARG_KEY_FWD_THREAD, thread))
        *thread = 0;
    return true;
}

static int64_t sequence_key(const struct work *w, int64_t number, uint32_t track)
{
    return number * (int64_t)w->t->n_tracks + track;
}

/* Note the last forward operator of each sequence number: the one that made the node. */
static osc_status index_forward(struct work *w)
{
    const struct osc_store *const s = &w->t->events;
    bool is_one = true;

    for (uint32_t at = 0; at < w->order->n_rows; at++) {
        const osc_row row = {w->order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row), track = c->track[i];
        int64_t number, thread;

        if (!sequence(w, c, i, &number, &thread) || thread != 0)
            continue;
        uint32_t *const place = osc_keymap_put(&w->forward, sequence_key(w, number, track));
        if (!place)
            return OSC_ENOMEM;
        *place = row.v;
        is_one = is_one && (w->only_track == 0 || w->only_track == track);
        w->only_track = track;
    }
    if (!is_one)
        w->only_track = 0;
    return OSC_OK;
}

/* Link what no arrow has linked by the numbers alone. */
static void link_by_number(const struct work *w)
{
    const struct osc_store *const s = &w->t->events;

    for (uint32_t at = 0; at < w->order->n_rows; at++) {
        const osc_row row = {w->order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);
        int64_t number, thread;

        if (!sequence(w, c, i, &number, &thread) || thread == 0 || c->link[i] != 0)
            continue;
        const uint32_t known = osc_keymap_get(&w->threads, thread);
        const uint32_t track = known != 0 ? known : w->only_track;
        if (track != 0)
            c->link[i] = osc_keymap_get(&w->forward, sequence_key(w, number, track));
    }
}

static bool has_backward(const struct osc_trace *t)
{
    for (uint32_t f = 0; f < t->n_forms; f++) {
        if (t->forms[f].known[OSC_ARG_KEY_FWD_THREAD] >= 0)
            return true;
    }
    return false;
}

osc_status osc_links_forward(struct osc_trace *t, const struct osc_classes *c,
                             const struct osc_order *order)
{
    struct work w = {.t = t, .c = c, .order = order};
    osc_status st = OSC_OK;

    w.phases = osc_calloc((size_t)t->n_forms + 1, sizeof *w.phases);
    if (!w.phases)
        return OSC_ENOMEM;
    if (find_forms(&w))
        st = follow_arrows(&w);
    if (st == OSC_OK && has_backward(t)) {
        st = index_forward(&w);
        if (st == OSC_OK)
            link_by_number(&w);
    }
    osc_free(w.phases);
    osc_keymap_fini(&w.starts);
    osc_keymap_fini(&w.threads);
    osc_keymap_fini(&w.forward);
    return st;
}
