/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/flow/chains.h"

#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"
#include "derive/facts.h"
#include "derive/keymap.h"

/* At most this many ranges with the same start are examined; more cannot be distinguished. */
#define SAME_START_MAX 64

/* Chains of up to this many members are sorted by insertion. */
#define SHORT_CHAIN 8

#define NONE UINT32_MAX

/* Arrows of one kind and category. */
struct family {
    uint32_t category; /* osc_sid */
    enum osc_arrow_kind kind;
    struct osc_keyrange range; /* of its ids */
    struct osc_keymap chains;  /* id -> chain + 1 */
};

/* Which end of an arrow a record is; the order in which records at one time are sorted. */
enum { ROLE_START, ROLE_STEP, ROLE_END };

/* A record of an arrow. There are about as many as events, so every byte counts. */
struct record {
    uint32_t row;         /* osc_row of the other store */
    uint32_t chain;       /* NONE: it has no id */
    uint32_t from;        /* the record that leads here, or NONE */
    uint32_t event;       /* osc_row of what it stands for, or 0 */
    uint32_t family : 29; /* index in chains.families: memory holds fewer */
    uint32_t role : 2;
    uint32_t leads : 1; /* it leads to another record */
};

struct chains {
    const struct osc_trace *t;
    const struct osc_order *order;
    unsigned kinds;      /* of arrows: bits of enum osc_arrow_kind */
    uint32_t *family_of; /* owned; by form: index in families + 1, or 0 */
    struct family *families;
    size_t n_families, cap_families;
    struct record *records; /* owned; in order of the file */
    size_t n_records, cap_records;
    uint32_t n_chains;
    uint32_t *members; /* owned; records, grouped by chain */
    uint32_t *ends;    /* owned; by chain: end of its members */
    uint32_t *hints;   /* owned; by track */
};

static const struct osc_chunk *chunk_of(const struct chains *f, const struct record *r)
{
    return osc_chunk_of(&f->t->others, (osc_row){r->row});
}

static uint32_t place_of(const struct record *r)
{
    return osc_row_place((osc_row){r->row});
}

static int64_t time_of(const struct chains *f, const struct record *r)
{
    return chunk_of(f, r)->ts_ns[place_of(r)];
}

/* Number the categories of the arrow forms that are asked for. */
static osc_status find_families(struct chains *f)
{
    struct osc_idmap known = {0};
    osc_status st = OSC_OK;

    f->family_of = osc_calloc((size_t)f->t->n_forms + 1, sizeof *f->family_of);
    if (!f->family_of)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k < f->t->n_forms && st == OSC_OK; k++) {
        const struct osc_form *const form = &f->t->forms[k];

        if (!osc_shape_is_arrow((enum osc_form_shape)form->shape) ||
            (f->kinds & 1u << form->arrow) == 0)
            continue;
        uint32_t *const place =
            osc_idmap_put(&known, (uint64_t)form->arrow << 32 | form->category.v);
        if (!place) {
            st = OSC_ENOMEM;
        } else if (*place == 0) {
            st = osc_grow(&f->families, &f->cap_families, f->n_families + 1,
                          sizeof *f->families);
            if (st != OSC_OK)
                break;
            f->families[f->n_families++] = (struct family){
                .category = form->category.v, .kind = (enum osc_arrow_kind)form->arrow};
            *place = (uint32_t)f->n_families;
        }
        if (place)
            f->family_of[k] = *place;
    }
    osc_idmap_fini(&known);
    return st;
}

static osc_status add_record(struct chains *f, const struct osc_chunk *c, uint32_t i)
{
    const uint32_t family = f->family_of[c->form[i]] - 1;
    const uint8_t shape = f->t->forms[c->form[i]].shape;
    int64_t id;

    if (f->n_records == f->cap_records &&
        osc_grow(&f->records, &f->cap_records, f->n_records + 1, sizeof *f->records) != OSC_OK)
        return OSC_ENOMEM;
    const bool has_id = osc_args_flow_id(f->t, c, i, &id);
    if (has_id)
        osc_keyrange_add(&f->families[family].range, id);
    f->records[f->n_records++] = (struct record){
        .row = osc_row_at(c, i).v,
        .family = family & ((1u << 29) - 1),
        .chain = has_id ? 0 : NONE,
        .from = NONE,
        .role = shape == OSC_SHAPE_ARROW_FROM   ? ROLE_START
                : shape == OSC_SHAPE_ARROW_STEP ? ROLE_STEP
                                                : ROLE_END,
    };
    return OSC_OK;
}

static osc_status list_records(struct chains *f)
{
    const struct osc_store *const s = &f->t->others;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (f->family_of[c->form[i]] == 0)
                continue;
            const osc_status st = add_record(f, c, i);
            if (st != OSC_OK)
                return st;
        }
    }
    return OSC_OK;
}

/* Assign each record to its chain, by category and id. */
static osc_status number_chains(struct chains *f)
{
    for (size_t k = 0; k < f->n_families; k++)
        osc_keymap_init(&f->families[k].chains, &f->families[k].range);
    for (size_t n = 0; n < f->n_records; n++) {
        struct record *const r = &f->records[n];
        int64_t id;

        if (r->chain == NONE || !osc_args_flow_id(f->t, chunk_of(f, r), place_of(r), &id))
            continue;
        uint32_t *const place = osc_keymap_put(&f->families[r->family].chains, id);
        if (!place)
            return OSC_ENOMEM;
        *place = *place == 0 ? ++f->n_chains : *place;
        r->chain = *place - 1;
    }
    return OSC_OK;
}

/* Group the members by chain, each chain in the order of the file. */
static osc_status gather_chains(struct chains *f)
{
    uint32_t before = 0;

    f->members = osc_malloc((f->n_records + 1) * sizeof *f->members);
    f->ends = osc_calloc((size_t)f->n_chains + 1, sizeof *f->ends);
    if (!f->members || !f->ends)
        return OSC_ENOMEM;
    for (size_t n = 0; n < f->n_records; n++) {
        if (f->records[n].chain != NONE)
            f->ends[f->records[n].chain]++;
    }
    for (uint32_t k = 0; k < f->n_chains; k++) {
        const uint32_t n = f->ends[k];

        f->ends[k] = before; /* the start for now; it grows to the end below */
        before += n;
    }
    for (size_t n = 0; n < f->n_records; n++) {
        if (f->records[n].chain != NONE)
            f->members[f->ends[f->records[n].chain]++] = (uint32_t)n;
    }
    return OSC_OK;
}

/* By time; at one time starts first and ends last, then in the order of the file. */
static int compare_members(const void *x, const void *y, void *ctx)
{
    const struct chains *const f = ctx;
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct record *const ra = &f->records[a], *const rb = &f->records[b];
    const int64_t at = time_of(f, ra), bt = time_of(f, rb);

    if (at != bt)
        return at < bt ? -1 : 1;
    if (ra->role != rb->role)
        return ra->role < rb->role ? -1 : 1;
    return (a > b) - (a < b);
}

/* Sort the members of a chain: nearly all have two, or one per kernel of a launch. */
static void sort_members(struct chains *f, uint32_t *members, uint32_t n)
{
    if (n > SHORT_CHAIN) {
        osc_sort_with(members, n, sizeof *members, compare_members, f);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t member = members[i];
        uint32_t k = i;

        for (; k > 0 && compare_members(&members[k - 1], &member, f) > 0; k--)
            members[k] = members[k - 1];
        members[k] = member;
    }
}

/* Find which member leads to which in the chain [FIRST, END). */
static void lead_chain(struct chains *f, uint32_t first, uint32_t end)
{
    uint32_t last = NONE;

    sort_members(f, &f->members[first], end - first);
    uint32_t first_start = NONE;
    for (uint32_t i = first; i < end && first_start == NONE; i++) {
        if (f->records[f->members[i]].role == ROLE_START)
            first_start = f->members[i];
    }
    for (uint32_t i = first; i < end; i++) {
        struct record *const r = &f->records[f->members[i]];

        if (r->role != ROLE_START) {
            r->from = last == NONE ? first_start : last;
            if (r->from != NONE)
                f->records[r->from].leads = true;
        }
        if (r->role != ROLE_END)
            last = f->members[i];
    }
}

static const struct osc_chunk *range_at(const struct chains *f, uint32_t place, uint32_t *i)
{
    const osc_row row = {f->order->rows[place]};

    *i = osc_row_place(row);
    return osc_chunk_of(&f->t->events, row);
}

/*
 * Of the ranges at places [FIRST, END), which have the same start, the operator that a
 * forward-backward arrow means: the innermost with a sequence number, or else the outermost;
 * or 0.
 */
static uint32_t operator_among(const struct chains *f, uint32_t first, uint32_t end)
{
    uint32_t best = 0;

    for (uint32_t p = first; p < end && p - first < SAME_START_MAX; p++) {
        uint32_t i;
        const struct osc_chunk *const c = range_at(f, p, &i);

        if (c->kind[i] == OSC_KIND_OPERATOR &&
            (best == 0 || f->t->forms[c->form[i]].known[OSC_ARG_KEY_SEQUENCE_NUMBER] >= 0))
            best = f->order->rows[p];
    }
    return best;
}

/* Of these ranges the innermost with the id of R as correlation, or else the innermost. */
static uint32_t range_among(const struct chains *f, uint32_t first, uint32_t end,
                            const struct record *r)
{
    int64_t id = 0;

    if (end - first == 1)
        return f->order->rows[first];
    (void)osc_args_flow_id(f->t, chunk_of(f, r), place_of(r), &id);
    for (uint32_t p = end; p > first && end - p < SAME_START_MAX; p--) {
        uint32_t i;
        const struct osc_chunk *const c = range_at(f, p - 1, &i);
        int64_t correlation;

        if (osc_args_int(f->t, c, i, OSC_ARG_KEY_CORRELATION, &correlation) &&
            correlation == id)
            return f->order->rows[p - 1];
    }
    return f->order->rows[end - 1];
}

static bool binds_to_next(const struct chains *f, const struct record *r)
{
    struct osc_str point;

    /* Only Chrome's format has arrows that miss the start of their range. */
    if (osc_form_is_neutral(osc_row_form(f->t, chunk_of(f, r), place_of(r))))
        return false;
    return r->role == ROLE_END && !(osc_row_arg_str(f->t, chunk_of(f, r), place_of(r),
                                                    OSC_ARG_KEY_BINDING_POINT, &point) &&
                                    osc_str_eq(point, OSC_STR("e")));
}

/* The end of the ranges that start at AT_NS, from place FIRST on; the track ends at LAST. */
static uint32_t end_of_start(const struct chains *f, uint32_t track, uint32_t first,
                             uint32_t last, int64_t at_ns)
{
    uint32_t end = first;

    for (; end < last && end - first < SAME_START_MAX; end++) {
        uint32_t i;
        const struct osc_chunk *const c = range_at(f, end, &i);

        if (c->ts_ns[i] != at_ns)
            return end;
    }
    if (end == last)
        return end;
    uint32_t hint = f->hints[track];
    return osc_order_find(f->t, f->order, track, at_ns + 1, &hint);
}

/* Find the range that starts at the time of R. False: there is none. */
static bool bind_at_start(struct chains *f, struct record *r)
{
    const struct osc_chunk *const c = chunk_of(f, r);
    const uint32_t track = c->track[place_of(r)], end_of_track = f->order->first[track + 1];
    const int64_t at_ns = c->ts_ns[place_of(r)];
    const uint32_t first = osc_order_find(f->t, f->order, track, at_ns, &f->hints[track]);
    const uint32_t end = end_of_start(f, track, first, end_of_track, at_ns);

    if (f->families[r->family].kind == OSC_ARROW_FORWARD) {
        r->event = operator_among(f, first, end);
        return true;
    }
    if (first < end)
        r->event = range_among(f, first, end, r);
    else if (binds_to_next(f, r) && end < end_of_track)
        r->event = f->order->rows[end];
    return r->event != 0 || binds_to_next(f, r);
}

/* A record that stands for the range around it. */
struct inside {
    int64_t at_ns;
    uint32_t track, record;
};

static int compare_insides(const void *x, const void *y)
{
    const struct inside *const a = x, *const b = y;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/*
 * Assign to each of N records on one track, sorted by time, the last range in nesting order
 * that starts before it and ends after it, or else the last that ends at its time. A range that
 * has ended at one time has ended at all later ones, so one stack is enough. ROOM has as many
 * elements as the track has ranges.
 */
static void bind_around(struct chains *f, const struct inside *v, size_t n, uint32_t *room)
{
    uint32_t place = f->order->first[v->track], n_open = 0;
    uint32_t ended = 0; /* osc_row of the last range that ends at ended_ns, or 0 */
    int64_t ended_ns = 0;

    for (size_t k = 0; k < n; k++) {
        uint32_t i;
        const struct osc_chunk *c;

        for (; place < f->order->first[v->track + 1]; place++) {
            c = range_at(f, place, &i);
            if (c->ts_ns[i] > v[k].at_ns)
                break;
            room[n_open++] = place;
        }
        if (ended_ns != v[k].at_ns)
            ended = 0;
        ended_ns = v[k].at_ns;
        for (; n_open > 0; n_open--) {
            c = range_at(f, room[n_open - 1], &i);
            if (osc_row_end(c, i) > v[k].at_ns)
                break;
            if (ended == 0 && osc_row_end(c, i) == v[k].at_ns)
                ended = f->order->rows[room[n_open - 1]];
        }
        f->records[v[k].record].event = n_open > 0 ? f->order->rows[room[n_open - 1]] : ended;
    }
}

static osc_status bind_all_around(struct chains *f, struct inside *v, size_t n)
{
    uint32_t longest = 0;

    if (n == 0)
        return OSC_OK;
    osc_sort(v, n, sizeof *v, compare_insides);
    for (size_t k = 0; k < n; k++) {
        const uint32_t *const first = &f->order->first[v[k].track];

        longest = first[1] - first[0] > longest ? first[1] - first[0] : longest;
    }
    uint32_t *const room = osc_malloc(((size_t)longest + 1) * sizeof *room);
    if (!room)
        return OSC_ENOMEM;
    for (size_t k = 0, end = 0; k < n; k = end) {
        while (end < n && v[end].track == v[k].track)
            end++;
        bind_around(f, &v[k], end - k, room);
    }
    osc_free(room);
    return OSC_OK;
}

/* Find the events for which the records stand. */
static osc_status bind_records(struct chains *f)
{
    struct inside *insides = NULL;
    size_t n = 0, cap = 0;
    osc_status st = OSC_OK;

    f->hints = osc_calloc((size_t)f->t->n_tracks + 1, sizeof *f->hints);
    if (!f->hints)
        return OSC_ENOMEM;
    for (size_t k = 0; k < f->n_records && st == OSC_OK; k++) {
        struct record *const r = &f->records[k];

        if (r->chain == NONE || bind_at_start(f, r))
            continue;
        st = osc_grow(&insides, &cap, n + 1, sizeof *insides);
        if (st == OSC_OK)
            insides[n++] =
                (struct inside){time_of(f, r), chunk_of(f, r)->track[place_of(r)], (uint32_t)k};
    }
    if (st == OSC_OK)
        st = bind_all_around(f, insides, n);
    osc_free(insides);
    return st;
}

static osc_status make(struct chains *f)
{
    osc_status st = find_families(f);

    if (st == OSC_OK && f->n_families > 0)
        st = list_records(f);
    if (st == OSC_OK)
        st = number_chains(f);
    if (st == OSC_OK)
        st = gather_chains(f);
    if (st != OSC_OK)
        return st;
    for (uint32_t k = 0; k < f->n_chains; k++)
        lead_chain(f, k == 0 ? 0 : f->ends[k - 1], f->ends[k]);
    return bind_records(f);
}

static void fini(struct chains *f)
{
    for (size_t k = 0; k < f->n_families; k++)
        osc_keymap_fini(&f->families[k].chains);
    osc_free(f->family_of);
    osc_free(f->families);
    osc_free(f->records);
    osc_free(f->members);
    osc_free(f->ends);
    osc_free(f->hints);
}

/* Call EMIT for each record that an arrow leads to, and for each start that leads nowhere. */
static void emit_all(const struct chains *f, struct osc_chains_count *count,
                     void (*emit)(void *ctx, const struct osc_chain_arrow *arrow), void *ctx)
{
    count->n_records = f->n_records;
    for (size_t k = 0; k < f->n_records; k++) {
        const struct record *const r = &f->records[k];
        const struct family *const family = &f->families[r->family];
        const bool is_start = r->role == ROLE_START;

        if (r->chain == NONE)
            count->n_anonymous++;
        if (r->chain == NONE || (is_start && r->leads))
            continue;
        const struct osc_chain_arrow arrow = {.kind = family->kind,
                                              .category = {family->category},
                                              .from = is_start ? r->event
                                                      : r->from == NONE
                                                          ? 0
                                                          : f->records[r->from].event,
                                              .to = is_start ? 0 : r->event};
        if (arrow.from == 0 && arrow.to == 0)
            count->n_nothing++;
        else
            emit(ctx, &arrow);
    }
}

osc_status osc_chains_each(const struct osc_trace *t, unsigned kinds,
                           struct osc_chains_count *count,
                           void (*emit)(void *ctx, const struct osc_chain_arrow *arrow),
                           void *ctx)
{
    struct chains f = {.t = t, .order = &osc_trace_facts(t)->order, .kinds = kinds};
    const osc_status st = make(&f);

    *count = (struct osc_chains_count){0};
    if (st == OSC_OK)
        emit_all(&f, count, emit, ctx);
    fini(&f);
    return st;
}
