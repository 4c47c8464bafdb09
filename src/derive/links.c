/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/links.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"
#include "derive/arrows.h"
#include "derive/keymap.h"
#include "model/merged_pids.h"

/* One of several calls with the same correlation id. */
struct candidate {
    int64_t correlation, start_ns;
    uint32_t rank, row, call; /* CALL counts from 1 */
};

/* Where rows of a form store their ids: the word of an INT32, or one of these. */
enum { ID_NONE = -1, ID_OTHER = -2 };

struct id_words {
    int32_t correlation, external;
};

struct work {
    struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    const struct osc_optree *tree;
    struct osc_links *links;
    struct id_words *words;         /* owned; by form */
    struct osc_keyrange *external;  /* owned; by process: external ids of calls */
    struct osc_keymap *operators;   /* owned; by process: external id -> node */
    struct osc_keymap correlations; /* -> call, counted from 1 */
    struct osc_keymap duplicates;   /* correlation id of several calls -> 1 */
    struct candidate *candidates;   /* owned; those calls, sorted */
    size_t n_candidates, cap_candidates;
    uint32_t *ranks; /* owned; by process: whose ids are its own; NULL: there is one */
    struct osc_idmap call_of_row, call_of_work;               /* rows -> call, from arrows */
    uint8_t *has_work;                                        /* owned; by call */
    struct osc_tally shared, no_launch, no_operator, no_work; /* SHARED: correlation ids */
};

static int32_t word_of(const struct osc_form *f, enum osc_arg_key key)
{
    const int16_t at = f->known[key];

    if (at < 0)
        return ID_NONE;
    return f->slots[at].type == OSC_ARG_INT32 ? f->slots[at].word : ID_OTHER;
}

static osc_status find_words(struct work *w)
{
    const struct osc_trace *const t = w->t;

    w->words = osc_calloc((size_t)t->n_forms + 1, sizeof *w->words);
    if (!w->words)
        return OSC_ENOMEM;
    for (uint32_t f = 0; f < t->n_forms; f++) {
        const int32_t old = word_of(&t->forms[f], OSC_ARG_KEY_EXTERNAL_ID_OLD);

        w->words[f].correlation = word_of(&t->forms[f], OSC_ARG_KEY_CORRELATION);
        w->words[f].external =
            old != ID_NONE ? old : word_of(&t->forms[f], OSC_ARG_KEY_EXTERNAL_ID);
    }
    return OSC_OK;
}

static inline bool correlation_of(const struct work *w, const struct osc_chunk *c, uint32_t i,
                                  int64_t *id)
{
    const int32_t word = w->words[c->form[i]].correlation;

    if (word < 0)
        return word == ID_OTHER && osc_row_arg_int(w->t, c, i, OSC_ARG_KEY_CORRELATION, id);
    *id = (int32_t)osc_row_words(c, i)[word];
    return true;
}

static inline int64_t external_of(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    const int32_t word = w->words[c->form[i]].external;

    if (word < 0)
        return word == ID_OTHER ? osc_args_external_id(w->t, c, i) : 0;
    return (int32_t)osc_row_words(c, i)[word];
}

/* Add the call in row I, and extend the ranges of ids that size the maps. */
static osc_status add_call(struct work *w, const struct osc_chunk *c, uint32_t i,
                           struct osc_keyrange *correlations)
{
    struct osc_links *const l = w->links;
    int64_t id;

    if (l->n_calls == l->cap_calls &&
        osc_grow(&l->calls, &l->cap_calls, l->n_calls + 1, sizeof *l->calls) != OSC_OK)
        return OSC_ENOMEM;
    l->calls[l->n_calls++] = (struct osc_call){osc_row_at(c, i).v, c->link[i], false};
    if (correlation_of(w, c, i, &id))
        osc_keyrange_add(correlations, id);
    id = external_of(w, c, i);
    if (id != 0)
        osc_keyrange_add(&w->external[w->t->tracks[c->track[i]].process], id);
    return OSC_OK;
}

static osc_status add_work(struct work *w, const struct osc_chunk *c, uint32_t i)
{
    struct osc_links *const l = w->links;

    if (l->n_works == l->cap_works &&
        osc_grow(&l->works, &l->cap_works, l->n_works + 1, sizeof *l->works) != OSC_OK)
        return OSC_ENOMEM;
    l->works[l->n_works++] = (struct osc_work){osc_row_at(c, i).v, 0};
    return OSC_OK;
}

/* List the finished calls, and what ran on devices, including synchronisation. */
static osc_status collect(struct work *w, struct osc_keyrange *correlations)
{
    const struct osc_store *const s = &w->t->events;
    const uint8_t *const forms = w->c->forms;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint8_t form = forms[c->form[i]];
            if (!(form & (OSC_FORM_CALL | OSC_FORM_WORK)) || c->dur_ns[i] == OSC_NO_DUR)
                continue;
            const osc_status st =
                form & OSC_FORM_CALL ? add_call(w, c, i, correlations) : add_work(w, c, i);
            if (st != OSC_OK)
                return st;
        }
    }
    return OSC_OK;
}

/* Whether row A comes before row B in the order of nesting. */
static bool is_before(const struct osc_store *s, osc_row a, osc_row b)
{
    const struct osc_chunk *const x = osc_chunk_of(s, a), *const y = osc_chunk_of(s, b);
    const uint32_t i = osc_row_place(a), j = osc_row_place(b);

    if (x->ts_ns[i] != y->ts_ns[j])
        return x->ts_ns[i] < y->ts_ns[j];
    if (x->dur_ns[i] != y->dur_ns[j])
        return x->dur_ns[i] > y->dur_ns[j];
    return a.v < b.v;
}

static osc_row row_of(const struct work *w, uint32_t node)
{
    return (osc_row){w->order->rows[node - 1]};
}

/* Index operators by external id: the first of each id in the order of the forest. */
static osc_status index_operators(struct work *w)
{
    const struct osc_store *const s = &w->t->events;
    const uint8_t *const flags = w->tree->flags;

    for (uint32_t at = 0; at < w->order->n_rows; at++) {
        if (!(flags[at] & OSC_NODE_LAUNCHER))
            continue;
        const osc_row row = {w->order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);
        const int64_t id = external_of(w, c, i);
        if (id == 0)
            continue;
        const uint32_t process = w->t->tracks[c->track[i]].process;
        const struct osc_keyrange *const asked = &w->external[process];
        if (asked->n == 0 || id < asked->least || id > asked->most)
            continue;
        uint32_t *const place = osc_keymap_put(&w->operators[process], id);
        if (!place)
            return OSC_ENOMEM;
        if (*place == 0 || is_before(s, row, row_of(w, *place)))
            *place = at + 1;
    }
    return OSC_OK;
}

/* Whether the closed range of operator OP contains call I of C. */
static bool holds(const struct osc_store *s, osc_row op, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_chunk *const o = osc_chunk_of(s, op);
    const uint32_t at = osc_row_place(op);

    return o->ts_ns[at] <= c->ts_ns[i] && osc_row_end(c, i) <= osc_row_end(o, at);
}

/* Find the operator of every call, and index the call by its correlation id. */
static osc_status link_calls(struct work *w)
{
    const struct osc_store *const s = &w->t->events;
    int64_t id;

    for (size_t n = 0; n < w->links->n_calls; n++) {
        struct osc_call *const call = &w->links->calls[n];
        const struct osc_chunk *const c = osc_chunk_of(s, (osc_row){call->row});
        const uint32_t i = call->row & OSC_CHUNK_MASK;

        id = external_of(w, c, i);
        if (id != 0) {
            const uint32_t process = w->t->tracks[c->track[i]].process;
            const uint32_t node = osc_keymap_get(&w->operators[process], id);

            if (node != 0 && holds(s, row_of(w, node), c, i))
                call->node = node;
        }
        c->link[i] = call->node == 0 ? 0 : row_of(w, call->node).v;
        if (!correlation_of(w, c, i, &id))
            continue;
        uint32_t *place = osc_keymap_put(&w->correlations, id);
        if (place && *place == 0) {
            *place = (uint32_t)n + 1;
        } else if (place) {
            place = osc_keymap_put(&w->duplicates, id);
            if (place)
                *place = 1;
        }
        if (!place)
            return OSC_ENOMEM;
    }
    return OSC_OK;
}

static int by_correlation(const void *x, const void *y)
{
    const struct candidate *const a = x, *const b = y;

    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The rank to which the ids of row I of C belong. */
static uint32_t rank_of(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    return w->ranks ? w->ranks[w->t->tracks[c->track[i]].process] : 0;
}

/* Whether CALL, which counts from 1, is of RANK. */
static bool is_of_rank(const struct work *w, uint32_t call, uint32_t rank)
{
    if (!w->ranks)
        return true;
    const osc_row row = {w->links->calls[call - 1].row};

    return rank_of(w, osc_chunk_of(&w->t->events, row), osc_row_place(row)) == rank;
}

static bool is_same_id(const struct candidate *a, const struct candidate *b)
{
    return a->correlation == b->correlation && a->rank == b->rank;
}

/* Count each correlation id that several calls of a rank have, where the second of them in the
 * file is. */
static void count_shared(struct work *w)
{
    for (size_t at = 0, end; at < w->n_candidates; at = end) {
        uint32_t first = UINT32_MAX, second = UINT32_MAX;

        for (end = at;
             end < w->n_candidates && is_same_id(&w->candidates[end], &w->candidates[at]);
             end++) {
            const uint32_t row = w->candidates[end].row;

            second = row < first ? first : row < second ? row : second;
            first = row < first ? row : first;
        }
        const osc_row of = {second};
        if (second != UINT32_MAX && w->candidates[at].correlation != 0)
            osc_tally_add(&w->shared,
                          osc_chunk_of(&w->t->events, of)->ts_ns[osc_row_place(of)]);
    }
}

/* Sort the calls that share a correlation by start. */
static osc_status sort_duplicates(struct work *w)
{
    const struct osc_store *const s = &w->t->events;
    int64_t id;

    if (w->duplicates.sparse.n_used == 0)
        return OSC_OK;
    for (size_t n = 0; n < w->links->n_calls; n++) {
        const uint32_t row = w->links->calls[n].row;
        const struct osc_chunk *const c = osc_chunk_of(s, (osc_row){row});
        const uint32_t i = row & OSC_CHUNK_MASK;

        if (!correlation_of(w, c, i, &id) || osc_keymap_get(&w->duplicates, id) == 0)
            continue;
        if (osc_grow(&w->candidates, &w->cap_candidates, w->n_candidates + 1,
                     sizeof *w->candidates) != OSC_OK)
            return OSC_ENOMEM;
        w->candidates[w->n_candidates++] =
            (struct candidate){id, c->ts_ns[i], rank_of(w, c, i), row, (uint32_t)n + 1};
    }
    osc_sort(w->candidates, w->n_candidates, sizeof *w->candidates, by_correlation);
    count_shared(w);
    return OSC_OK;
}

/* The call with CORRELATION that launched row I of C; 0: none. */
static uint32_t find_call(const struct work *w, int64_t correlation, const struct osc_chunk *c,
                          uint32_t i)
{
    const uint32_t one = osc_keymap_get(&w->correlations, correlation);
    const struct candidate last = {correlation, c->ts_ns[i], rank_of(w, c, i), UINT32_MAX, 0};
    size_t low = 0, high = w->n_candidates; /* calls below LOW have smaller ids, or this id and
                                             * started */

    if (one == 0)
        return 0;
    if (osc_keymap_get(&w->duplicates, correlation) == 0)
        return is_of_rank(w, one, last.rank) ? one : 0;
    OSC_BISECT(low, high, k, by_correlation(&w->candidates[k], &last) < 0);
    if (low > 0 && is_same_id(&w->candidates[low - 1], &last))
        return w->candidates[low - 1].call;
    /* All start later: the first; or all are of other ranks. */
    return low < w->n_candidates && is_same_id(&w->candidates[low], &last)
               ? w->candidates[low].call
               : 0;
}

/* The innermost range with a form of FLAGS that starts at AT_NS on TRACK; or none. */
static osc_row starts_at(const struct work *w, uint32_t track, int64_t at_ns, uint8_t flags)
{
    const struct osc_store *const s = &w->t->events;
    uint32_t hint = 0;
    osc_row found = {0};

    for (uint32_t p = osc_order_find(w->t, w->order, track, at_ns, &hint);
         p < w->order->first[track + 1]; p++) {
        const osc_row row = {w->order->rows[p]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);

        if (c->ts_ns[i] != at_ns)
            break;
        if (w->c->forms[c->form[i]] & flags)
            found = row;
    }
    return found;
}

/* More levels than this are not climbed: whoever nests so deep has no call there. */
#define LEVELS_MAX 1000

/*
 * The place + 1 of the innermost range with a form of FLAGS around record I of C, which may
 * also start there; 0: none.
 */
static uint32_t around(const struct work *w, const struct osc_chunk *c, uint32_t i,
                       uint8_t flags)
{
    const struct osc_store *const s = &w->t->events;
    const int64_t at_ns = c->ts_ns[i];
    uint32_t hint = 0, place;

    place = osc_order_find(w->t, w->order, c->track[i], at_ns + 1, &hint);
    for (unsigned n = 0; n < LEVELS_MAX && place > w->order->first[c->track[i]]; n++) {
        const osc_row row = {w->order->rows[--place]};
        const struct osc_chunk *const k = osc_chunk_of(s, row);
        const uint32_t at = osc_row_place(row);

        if ((k->ts_ns[at] == at_ns || osc_row_end(k, at) > at_ns) &&
            (w->c->forms[k->form[at]] & flags) &&
            (!(flags & OSC_FORM_OPERATOR) || (w->tree->flags[place] & OSC_NODE_LAUNCHER)))
            return place + 1;
    }
    return 0;
}

/* The call at the start of the arrow RECORD, which other readers draw from its start; 0: none.
 */
static uint32_t call_of_arrow(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    osc_row row = {0};

    if (osc_form_is_neutral(osc_row_form(w->t, c, i))) {
        row = starts_at(w, c->track[i], c->ts_ns[i], OSC_FORM_CALL);
    } else {
        const uint32_t place = around(w, c, i, OSC_FORM_CALL);
        row.v = place == 0 ? 0 : w->order->rows[place - 1];
    }
    return row.v == 0 ? 0 : osc_idmap_get(&w->call_of_row, row.v);
}

/* Find or add the call that stands for operator NODE, whose own calls were not recorded. */
static osc_status call_of_node(struct work *w, uint32_t node, uint32_t *call)
{
    struct osc_links *const l = w->links;
    uint32_t *const place = osc_idmap_put(&w->call_of_row, row_of(w, node).v);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (osc_grow(&l->calls, &l->cap_calls, l->n_calls + 1, sizeof *l->calls) != OSC_OK)
            return OSC_ENOMEM;
        l->calls[l->n_calls++] = (struct osc_call){row_of(w, node).v, node, true};
        *place = (uint32_t)l->n_calls;
    }
    *call = *place;
    return OSC_OK;
}

/* Store that an arrow leads from CALL to work TO. Of several arrows, the first one from a call
 * of the runtime counts. */
static osc_status store_call(struct work *w, osc_row to, uint32_t call)
{
    uint32_t *const place = osc_idmap_put(&w->call_of_work, to.v);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0)
        *place = call;
    return OSC_OK;
}

/* Follow arrows that start in operators: the operator of a call that has none, or of work whose
 * call is not in the trace. */
static osc_status follow_from_operators(struct work *w, const struct osc_arrow_pairs *arrows)
{
    const struct osc_store *const s = &w->t->others;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < arrows->n && st == OSC_OK; n++) {
        const osc_row from = arrows->v[n].from, to = arrows->v[n].to;
        const struct osc_chunk *const c = osc_chunk_of(s, from), *const d = osc_chunk_of(s, to);
        const uint32_t i = osc_row_place(from), j = osc_row_place(to);

        if (osc_form_is_neutral(osc_row_form(w->t, c, i)) || call_of_arrow(w, c, i) != 0)
            continue;
        const uint32_t node = around(w, c, i, OSC_FORM_OPERATOR);
        const osc_row work = starts_at(w, d->track[j], d->ts_ns[j], OSC_FORM_WORK);
        uint32_t call = work.v == 0 ? 0 : osc_idmap_get(&w->call_of_work, work.v);

        if (node == 0 || work.v == 0)
            continue;
        if (call == 0) {
            st = call_of_node(w, node, &call);
            if (st == OSC_OK)
                st = store_call(w, work, call);
        } else if (w->links->calls[call - 1].node == 0) {
            const osc_row row = {w->links->calls[call - 1].row};

            w->links->calls[call - 1].node = node;
            w->links->calls[call - 1].is_elsewhere = true;
            osc_chunk_of(&w->t->events, row)->link[osc_row_place(row)] = row_of(w, node).v;
        }
    }
    return st;
}

/* If the source draws arrows from calls to work, store the call of each work: index + 1. */
static osc_status follow_arrows(struct work *w)
{
    struct osc_arrow_pairs arrows;
    osc_status st = osc_arrow_pairs_make(w->t, OSC_ARROW_LAUNCH, true, &arrows);

    for (size_t n = 0; n < w->links->n_calls && arrows.n > 0 && st == OSC_OK; n++) {
        uint32_t *const place = osc_idmap_put(&w->call_of_row, w->links->calls[n].row);

        if (place)
            *place = (uint32_t)n + 1;
        else
            st = OSC_ENOMEM;
    }
    for (size_t n = 0; n < arrows.n && st == OSC_OK; n++) {
        const osc_row from = arrows.v[n].from, to = arrows.v[n].to;
        const struct osc_chunk *const c = osc_chunk_of(&w->t->others, from),
                                      *const d = osc_chunk_of(&w->t->others, to);
        const uint32_t i = osc_row_place(from), j = osc_row_place(to);
        const uint32_t call = call_of_arrow(w, c, i);
        const osc_row work = starts_at(w, d->track[j], d->ts_ns[j], OSC_FORM_WORK);

        if (work.v != 0 && call != 0)
            st = store_call(w, work, call);
    }
    if (st == OSC_OK)
        st = follow_from_operators(w, &arrows);
    osc_arrow_pairs_fini(&arrows);
    return st;
}

/* Link the device work, and remove synchronisations from the list. */
static void link_works(struct work *w)
{
    const struct osc_store *const s = &w->t->events;
    struct osc_links *const l = w->links;
    size_t n_kept = 0;

    for (size_t n = 0; n < l->n_works; n++) {
        const osc_row row = {l->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);
        uint32_t call = 0;
        int64_t id;

        if (correlation_of(w, c, i, &id))
            call = find_call(w, id, c, i);
        else if (w->call_of_work.n_used > 0)
            call = osc_idmap_get(&w->call_of_work, row.v);
        c->link[i] = call == 0 ? 0 : l->calls[call - 1].row;
        if (call != 0)
            w->has_work[call - 1] = 1;
        if (c->kind[i] == OSC_KIND_SYNC)
            continue;
        l->works[n_kept++] = (struct osc_work){row.v, call};
        if (call == 0)
            osc_tally_add(&w->no_launch, c->ts_ns[i]);
        else if (l->calls[call - 1].node == 0)
            osc_tally_add(&w->no_operator, c->ts_ns[i]);
    }
    l->n_works = n_kept;
}

/* Count launches whose correlation id no device work has. A trace without any device work is
 * skipped. */
static void count_idle_calls(struct work *w)
{
    const struct osc_links *const l = w->links;

    for (size_t n = 0; l->n_works > 0 && n < l->n_calls; n++) {
        const osc_row row = {l->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);
        int64_t id;

        if (!w->has_work[n] && (w->c->names[c->name[i]] & OSC_NAME_LAUNCH) &&
            correlation_of(w, c, i, &id))
            osc_tally_add(&w->no_work, c->ts_ns[i]);
    }
}

osc_status osc_links_make(struct osc_trace *t, const struct osc_classes *c,
                          const struct osc_order *order, const struct osc_optree *tree,
                          struct osc_links *links)
{
    const size_t n_processes = (size_t)t->n_processes + 1;
    struct work w = {.t = t, .c = c, .order = order, .tree = tree, .links = links};
    struct osc_keyrange correlations = {0};
    osc_status st = OSC_ENOMEM;

    *links = (struct osc_links){0};
    w.external = osc_calloc(n_processes, sizeof *w.external);
    w.operators = osc_calloc(n_processes, sizeof *w.operators);
    if (!w.operators || !w.external)
        goto out;
    st = find_words(&w);
    if (st == OSC_OK)
        st = osc_merged_ranks(t, &w.ranks);
    if (st == OSC_OK)
        st = collect(&w, &correlations);
    if (st == OSC_OK && links->n_calls > 0) {
        osc_keymap_init(&w.correlations, &correlations);
        for (size_t p = 0; p < n_processes; p++)
            osc_keymap_init(&w.operators[p], &w.external[p]);
        st = index_operators(&w);
        if (st == OSC_OK)
            st = link_calls(&w);
        if (st == OSC_OK)
            st = sort_duplicates(&w);
    }
    if (st == OSC_OK && links->n_works > 0)
        st = follow_arrows(&w);
    w.has_work = osc_calloc(links->n_calls + 1, 1);
    if (st == OSC_OK && !w.has_work)
        st = OSC_ENOMEM;
    if (st == OSC_OK) {
        link_works(&w);
        count_idle_calls(&w);
        osc_findings_add_tally(&t->findings, OSC_FINDING_duplicate_id, &w.shared);
        osc_findings_add_tally(&t->findings, OSC_FINDING_no_launch, &w.no_launch);
        osc_findings_add_tally(&t->findings, OSC_FINDING_no_operator, &w.no_operator);
        osc_findings_add_tally(&t->findings, OSC_FINDING_no_work, &w.no_work);
    }
out:
    for (size_t p = 0; w.operators && p < n_processes; p++)
        osc_keymap_fini(&w.operators[p]);
    osc_free(w.operators);
    osc_free(w.external);
    osc_free(w.words);
    osc_free(w.ranks);
    osc_free(w.has_work);
    osc_keymap_fini(&w.correlations);
    osc_keymap_fini(&w.duplicates);
    osc_idmap_fini(&w.call_of_row);
    osc_idmap_fini(&w.call_of_work);
    osc_free(w.candidates);
    if (st != OSC_OK)
        osc_links_fini(links);
    return st;
}

void osc_links_fini(struct osc_links *links)
{
    osc_free(links->calls);
    osc_free(links->works);
    *links = (struct osc_links){0};
}
