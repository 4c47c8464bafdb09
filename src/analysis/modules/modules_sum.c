/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modules/modules.h"

#include <stdlib.h>

#include "analysis/modules/scopes.h"
#include "analysis/tracks.h"
#include "base/mem.h"

/* An open scope or node. Its children add themselves to it when they end. */
struct entry {
    int64_t end_ns, dur_ns;
    int64_t children_ns;
    int64_t device_ns;      /* launched inside it, including its own */
    int64_t device_self_ns; /* for a scope: by operators directly inside */
    int64_t n_operators;
    uint32_t scope; /* place + 1 of the innermost scope, itself included; 0: none */
    osc_row row;    /* of that scope */
    uint32_t group; /* of backward work, + 1; 0: none */
    bool is_scope, is_operator;
    bool is_root;     /* the first open node of its group, which adds itself to the group */
    bool in_operator; /* it is an operator, or inside one */
};

/* Roots of a backward thread that belong together. */
struct group {
    int64_t host_ns, device_ns;
    uint32_t place; /* place + 1 */
};

/* A backward operator's link. */
struct pair {
    uint32_t forward; /* row */
    uint32_t group;   /* + 1 */
};

struct sweep {
    const struct osc_trace *t;
    const struct osc_facts *f;
    struct osc_modules *m;
    struct osc_scope_finder scopes;
    int64_t *device_of; /* pages, owned; by node: device time that its calls launched; or
                         * NULL */
    size_t device_bytes;
    uint32_t *place_of_row; /* pages, owned: of operators in scopes */
    size_t place_bytes;
    struct entry *stack; /* owned */
    size_t n_open, cap_open;
    struct group *groups; /* owned */
    size_t n_groups, cap_groups;
    uint32_t last_group; /* of this track, + 1 */
    struct pair *pairs;  /* owned */
    size_t n_pairs, cap_pairs;
};

static osc_status sum_device_work(struct sweep *s)
{
    const struct osc_links *const links = &s->f->links;

    if (links->n_works == 0)
        return OSC_OK;
    s->device_bytes = ((size_t)s->f->order.n_rows + 1) * sizeof *s->device_of;
    s->device_of = osc_pages_alloc(s->device_bytes);
    if (!s->device_of)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const uint32_t call = links->works[n].call;

        if (call != 0)
            s->device_of[osc_optree_owner(&s->f->tree, links->calls[call - 1].node)] +=
                osc_chunk_of(&s->t->events, row)->dur_ns[osc_row_place(row)];
    }
    return OSC_OK;
}

static void close_top(struct sweep *s)
{
    const struct entry *const e = &s->stack[--s->n_open];

    if (e->is_scope) {
        struct osc_module_place *const p = &s->m->places[e->scope - 1];

        p->n_calls++;
        p->n_operators += e->n_operators;
        p->host_total_ns += e->dur_ns;
        p->host_self_ns += e->dur_ns - e->children_ns;
        p->device_total_ns += e->device_ns;
        p->device_self_ns += e->device_self_ns;
    }
    if (e->is_root) {
        s->groups[e->group - 1].host_ns += e->dur_ns;
        s->groups[e->group - 1].device_ns += e->device_ns;
    }
    if (s->n_open == 0)
        return;
    struct entry *const above = &s->stack[s->n_open - 1];
    above->children_ns += e->dur_ns;
    above->device_ns += e->device_ns;
    if (e->is_operator && above->is_scope) {
        above->n_operators++;
        above->device_self_ns += e->device_ns;
    }
}

/* Find the group of a root of backward work. E joins it if it is such a root. */
static osc_status find_group(struct sweep *s, struct entry *e, const struct osc_chunk *c,
                             uint32_t i)
{
    const struct osc_str name = osc_row_name(s->t, c, i);
    const bool is_wrapper =
        osc_str_starts(name, OSC_STR("autograd::engine::evaluate_function: "));

    if (!is_wrapper && c->link[i] == 0)
        return OSC_OK;
    e->is_root = true;
    if (s->last_group == 0 || !osc_str_eq(name, OSC_STR("autograd::engine::evaluate_function: "
                                                        "torch::autograd::AccumulateGrad"))) {
        if (s->n_groups == s->cap_groups &&
            osc_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups) != OSC_OK)
            return OSC_ENOMEM;
        s->groups[s->n_groups++] = (struct group){0};
        s->last_group = (uint32_t)s->n_groups;
    }
    e->group = s->last_group;
    return OSC_OK;
}

/* Store where row I of C, inside E, ran, and where its backward link leads. */
static osc_status store_links(struct sweep *s, const struct entry *e, const struct osc_chunk *c,
                              uint32_t i)
{
    s->place_of_row[osc_row_at(c, i).v] = e->scope;
    if (e->group == 0 || c->link[i] == 0)
        return OSC_OK;
    if (s->n_pairs == s->cap_pairs &&
        osc_grow(&s->pairs, &s->cap_pairs, s->n_pairs + 1, sizeof *s->pairs) != OSC_OK)
        return OSC_ENOMEM;
    s->pairs[s->n_pairs++] = (struct pair){c->link[i], e->group};
    return OSC_OK;
}

static osc_status add_operator(struct sweep *s, struct entry *e, const struct osc_chunk *c,
                               uint32_t i)
{
    const osc_status st = e->in_operator ? OSC_OK : find_group(s, e, c, i);

    e->is_operator = e->in_operator = true;
    return st == OSC_OK ? store_links(s, e, c, i) : st;
}

/* Row I of C was merged into the open operator: add its links there. */
static osc_status add_merged(struct sweep *s, const struct osc_chunk *c, uint32_t i)
{
    const struct entry *const e = s->n_open > 0 ? &s->stack[s->n_open - 1] : NULL;

    return e ? store_links(s, e, c, i) : OSC_OK;
}

/* Make E the scope in ROW. */
static osc_status enter_scope(struct sweep *s, struct entry *e, osc_row row)
{
    struct osc_modules *const m = s->m;
    osc_row holder;
    const osc_status st =
        osc_scopes_place(&s->scopes, row, e->row, e->scope, &holder, &e->scope);

    e->row = row;
    if (st != OSC_OK || s->scopes.scopes != OSC_SCOPES_MODULE)
        return st;
    if (m->n_calls == m->cap_calls &&
        osc_grow(&m->calls, &m->cap_calls, m->n_calls + 1, sizeof *m->calls) != OSC_OK)
        return OSC_ENOMEM;
    m->calls[m->n_calls++] = (struct osc_scope_call){row.v, e->scope, holder.v};
    return OSC_OK;
}

/* The entry for row I of C, inside of what is open now. */
static struct entry entry_of(const struct sweep *s, const struct osc_chunk *c, uint32_t i)
{
    const struct entry *const above = s->n_open > 0 ? &s->stack[s->n_open - 1] : NULL;

    return (struct entry){.end_ns = c->ts_ns[i] + c->dur_ns[i],
                          .dur_ns = c->dur_ns[i],
                          .scope = above ? above->scope : 0,
                          .row = above ? above->row : (osc_row){0},
                          .group = above ? above->group : 0,
                          .in_operator = above && above->in_operator};
}

static osc_status push(struct sweep *s, const struct entry *e)
{
    if (osc_grow(&s->stack, &s->cap_open, s->n_open + 1, sizeof *s->stack) != OSC_OK ||
        !s->stack)
        return OSC_ENOMEM;
    s->stack[s->n_open++] = *e;
    return OSC_OK;
}

/* Open the line that called the operator in row I of C, if its stack has a new one. */
static osc_status open_line(struct sweep *s, const struct osc_chunk *c, uint32_t i)
{
    struct entry e = entry_of(s, c, i);
    uint32_t place;
    const osc_status st = osc_scopes_line(&s->scopes, c, i, e.scope, &place);

    if (st != OSC_OK || place == 0)
        return st;
    e.scope = place;
    e.row = osc_row_at(c, i);
    e.is_scope = true;
    return push(s, &e);
}

/* Handle the range at place AT of the order. */
static osc_status add_range(struct sweep *s, uint32_t at)
{
    const osc_row row = {s->f->order.rows[at]};
    const struct osc_chunk *const c = osc_chunk_of(&s->t->events, row);
    const uint32_t i = osc_row_place(row);
    const int64_t start_ns = c->ts_ns[i], end_ns = start_ns + c->dur_ns[i];
    const uint8_t flags = s->f->tree.flags[at];
    const bool is_node = (flags & (OSC_NODE | OSC_NODE_MERGED)) == OSC_NODE;
    const bool is_scope = osc_scopes_has(&s->scopes, c, i);
    osc_status st = OSC_OK;

    if (!is_node && !is_scope && !(flags & OSC_NODE_MERGED))
        return OSC_OK;
    while (s->n_open > 0 && (s->stack[s->n_open - 1].end_ns <= start_ns ||
                             s->stack[s->n_open - 1].end_ns < end_ns))
        close_top(s);
    if (!is_node && !is_scope)
        return add_merged(s, c, i);
    const bool is_operator = is_node && (flags & OSC_NODE_LAUNCHER);
    if (is_operator && s->scopes.by_stack)
        st = open_line(s, c, i);
    struct entry e = entry_of(s, c, i);
    e.is_scope = is_scope;
    if (st == OSC_OK && is_scope)
        st = enter_scope(s, &e, row);
    if (st == OSC_OK && is_operator)
        st = add_operator(s, &e, c, i);
    if (st != OSC_OK)
        return st;
    if (is_node && s->device_of)
        e.device_ns = s->device_of[at + 1];
    return push(s, &e);
}

static osc_status sweep_track(struct sweep *s, uint32_t track)
{
    const struct osc_order *const o = &s->f->order;
    osc_status st = OSC_OK;

    s->last_group = 0;
    for (uint32_t at = o->first[track]; at < o->first[track + 1] && st == OSC_OK; at++)
        st = add_range(s, at);
    while (s->n_open > 0)
        close_top(s);
    return st;
}

/* Add each group of backward work to the place of its first link, and to those above. */
static void join_backward(struct sweep *s)
{
    struct osc_module_place *const places = s->m->places;

    for (size_t n = 0; n < s->n_pairs; n++) {
        struct group *const g = &s->groups[s->pairs[n].group - 1];

        if (g->place == 0)
            g->place = s->place_of_row[s->pairs[n].forward];
    }
    for (size_t n = 0; n < s->n_groups; n++) {
        const struct group *const g = &s->groups[n];

        if (g->place == 0)
            continue;
        places[g->place - 1].backward_host_ns += g->host_ns;
        places[g->place - 1].backward_device_ns += g->device_ns;
    }
    for (size_t n = s->m->n_places; n > 0; n--) {
        const struct osc_module_place *const p = &places[n - 1];

        if (p->parent == 0)
            continue;
        places[p->parent - 1].backward_host_ns += p->backward_host_ns;
        places[p->parent - 1].backward_device_ns += p->backward_device_ns;
    }
}

osc_status osc_modules_make(const struct osc_trace *t, enum osc_scopes scopes,
                            struct osc_modules *m)
{
    struct sweep s = {.t = t, .f = osc_trace_facts(t), .m = m};
    uint32_t *tracks = NULL, n_tracks = 0;

    *m = (struct osc_modules){0};
    s.place_bytes = ((size_t)t->events.n_chunks << OSC_CHUNK_SHIFT) * sizeof *s.place_of_row;
    s.place_of_row = osc_pages_alloc(s.place_bytes);
    osc_status st = s.place_of_row ? OSC_OK : OSC_ENOMEM;
    if (st == OSC_OK)
        st = osc_tracks_in_order(t, &tracks, &n_tracks);
    if (st == OSC_OK)
        st = osc_scopes_init(&s.scopes, t, s.f, scopes, m);
    /* Most traces have no scopes: then operators belong to none. */
    const bool has_scopes = s.scopes.has_scopes;
    if (st == OSC_OK && has_scopes)
        st = sum_device_work(&s);
    for (uint32_t k = 0; k < n_tracks && st == OSC_OK && has_scopes; k++)
        st = sweep_track(&s, tracks[k]);
    if (st == OSC_OK && has_scopes)
        join_backward(&s);
    osc_scopes_fini(&s.scopes);
    osc_pages_free(s.device_of, s.device_bytes);
    osc_pages_free(s.place_of_row, s.place_bytes);
    osc_free(s.stack);
    osc_free(s.groups);
    osc_free(s.pairs);
    osc_free(tracks);
    if (st != OSC_OK)
        osc_modules_fini(m);
    return st;
}

void osc_modules_fini(struct osc_modules *m)
{
    osc_free(m->places);
    osc_free(m->calls);
    osc_arena_fini(&m->arena);
    *m = (struct osc_modules){0};
}
