/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operators.h"

#include <stdlib.h>

#include "analysis/median.h"
#include "base/mem.h"

/* What the host calls of one node did. */
struct launched {
    int64_t call_ns;   /* the calls themselves, which are not self time */
    int64_t device_ns; /* kernels, copies and memsets that they launched */
    int64_t tc_ns;     /* of these, kernels that use Tensor Cores */
};

/* A node whose children are being swept. */
struct open_node {
    uint32_t node, row, name;
    uint32_t launched; /* index in sweep.launched + 1, or 0 */
    int64_t dur_ns, children_ns, device_ns, tc_ns;
    bool has_eligible_child;
};

/* Self times of one call, for medians. */
struct value {
    uint32_t group;
    int64_t self_ns;
};

/* Room for one per node: pages are taken as they are written. */
struct values {
    struct value *v; /* pages, owned */
    size_t n, bytes;
};

struct sweep {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_options *o;
    struct osc_operators *ops;
    bool is_plain;             /* names alone make groups */
    bool has_stacks;           /* some form has the argument */
    struct launched *launched; /* owned */
    size_t n_launched, cap_launched;
    uint32_t *launched_of; /* pages, owned; by node - 1; NULL: there are no host calls */
    size_t launched_of_bytes;
    uint32_t *group_of;     /* owned; by name: group + 1, where names alone make groups */
    struct osc_idmap pairs; /* shape and stack -> number of the pair */
    struct osc_idmap keys;  /* name and pair -> group + 1 */
    uint32_t n_pairs;
    struct open_node *stack; /* owned */
    size_t n_open, cap_open;
    struct values host, device; /* of DEVICE only those that are not 0 */
};

/* Where the calls of NODE are summed up; NULL when memory is exhausted. */
static struct launched *launched_by(struct sweep *s, uint32_t node)
{
    uint32_t *const place = &s->launched_of[node - 1];

    if (*place == 0) {
        if (osc_grow(&s->launched, &s->cap_launched, s->n_launched + 1, sizeof *s->launched) !=
            OSC_OK)
            return NULL;
        s->launched[s->n_launched++] = (struct launched){0};
        *place = (uint32_t)s->n_launched;
    }
    return &s->launched[*place - 1];
}

/* Add every call and what it launched to the node that gets it. */
static osc_status sum_launched(struct sweep *s)
{
    const struct osc_links *const links = &s->f->links;
    const struct osc_store *const events = &s->t->events;

    if (links->n_calls == 0)
        return OSC_OK;
    s->launched_of_bytes = ((size_t)s->f->order.n_rows + 1) * sizeof *s->launched_of;
    s->launched_of = osc_pages_alloc(s->launched_of_bytes);
    if (!s->launched_of)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_calls; n++) {
        const uint32_t node = osc_optree_owner(&s->f->tree, links->calls[n].node);
        if (node == 0)
            continue;
        struct launched *const l = launched_by(s, node);
        if (!l)
            return OSC_ENOMEM;
        const osc_row row = {links->calls[n].row};
        l->call_ns += osc_chunk_of(events, row)->dur_ns[osc_row_place(row)];
    }
    for (size_t n = 0; n < links->n_works; n++) {
        const uint32_t call = links->works[n].call;
        const uint32_t node =
            call == 0 ? 0 : osc_optree_owner(&s->f->tree, links->calls[call - 1].node);
        if (node == 0)
            continue;
        struct launched *const l = &s->launched[s->launched_of[node - 1] - 1];
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(events, row);
        const uint32_t i = osc_row_place(row);

        l->device_ns += c->dur_ns[i];
        if (c->kind[i] == OSC_KIND_KERNEL &&
            osc_name_tensor_cores(s->f->classes.names[c->name[i]], s->o->compat_tb) ==
                OSC_TENSOR_CORES_YES)
            l->tc_ns += c->dur_ns[i];
    }
    return OSC_OK;
}

static osc_status add_group(struct sweep *s, uint32_t *place, struct osc_operator_group group)
{
    struct osc_operators *const ops = s->ops;

    if (osc_grow(&ops->groups, &ops->cap_groups, ops->n_groups + 1, sizeof *ops->groups) !=
        OSC_OK)
        return OSC_ENOMEM;
    ops->groups[ops->n_groups++] = group;
    *place = (uint32_t)ops->n_groups;
    return OSC_OK;
}

/* The call stack of row I as a string of the trace; 0: none. */
static osc_sid stack_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    struct osc_arg arg;

    if (t->forms[c->form[i]].known[OSC_ARG_KEY_CALL_STACK] < 0 ||
        !osc_row_arg(t, c, i, OSC_ARG_KEY_CALL_STACK, &arg) || arg.type != OSC_ARG_STRING)
        return (osc_sid){0};
    return arg.sid;
}

/* The shape of row I: `Input Dims`, or else `Input dims`; 0 where there is none or []. */
static osc_status shape_of(struct sweep *s, const struct osc_chunk *c, uint32_t i, osc_sid *id)
{
    struct osc_lists *const lists = &s->ops->lists;
    struct osc_arg arg;
    const bool is_new =
        osc_row_arg(s->t, c, i, OSC_ARG_KEY_INPUT_DIMS, &arg) && arg.type != OSC_ARG_NULL;
    const osc_status st = osc_lists_id(
        lists, s->t, c, i, is_new ? OSC_ARG_KEY_INPUT_DIMS : OSC_ARG_KEY_INPUT_DIMS_OLD, id);

    if (st == OSC_OK && id->v != 0 &&
        osc_str_eq(osc_intern_str(&lists->texts, *id), OSC_STR("[]")))
        id->v = 0;
    return st;
}

/* The place that holds the group (+ 1) of a name with a shape or a stack. */
static uint32_t *find_key(struct sweep *s, uint32_t name, osc_sid shape, osc_sid stack)
{
    uint32_t *const pair = osc_idmap_put(&s->pairs, (uint64_t)shape.v << 32 | stack.v);

    if (!pair)
        return NULL;
    if (*pair == 0)
        *pair = ++s->n_pairs;
    return osc_idmap_put(&s->keys, (uint64_t)name << 32 | *pair);
}

/* The group of the operator in row I of C. */
static osc_status find_group(struct sweep *s, const struct osc_chunk *c, uint32_t i,
                             uint32_t *group)
{
    uint32_t *place = &s->group_of[c->name[i]];
    osc_sid shape = {0}, stack = {0};
    osc_status st = OSC_OK;

    if (s->o->by_shape || s->o->by_stack) {
        if (s->o->by_shape)
            st = shape_of(s, c, i, &shape);
        if (st != OSC_OK)
            return st;
        if (s->o->by_stack)
            stack = stack_of(s->t, c, i);
        place = find_key(s, c->name[i], shape, stack);
        if (!place)
            return OSC_ENOMEM;
    }
    if (*place == 0)
        st = add_group(s, place,
                       (struct osc_operator_group){.name = {c->name[i]},
                                                   .shape = shape,
                                                   .stack = stack,
                                                   .first_row = UINT32_MAX,
                                                   .max_host_self_ns = INT64_MIN,
                                                   .max_device_self_ns = INT64_MIN});
    *group = *place - 1;
    return st;
}

static osc_status make_room(struct values *values, uint32_t n)
{
    values->bytes = ((size_t)n + 1) * sizeof *values->v;
    values->v = osc_pages_alloc(values->bytes);
    return values->v ? OSC_OK : OSC_ENOMEM;
}

static inline void add_value(struct values *values, uint32_t group, int64_t self_ns)
{
    values->v[values->n++] = (struct value){group, self_ns};
}

/* Count a node whose children are done as one call of its group. */
static inline osc_status count_call(struct sweep *s, const struct open_node *n,
                                    bool is_eligible)
{
    static const struct launched nothing;
    const struct launched *const own =
        n->launched == 0 ? &nothing : &s->launched[n->launched - 1];
    const struct osc_chunk *const c = osc_chunk_of(&s->t->events, (osc_row){n->row});
    const uint32_t i = n->row & OSC_CHUNK_MASK;
    const int64_t host_ns = n->dur_ns - n->children_ns - own->call_ns;
    uint32_t at = s->group_of[n->name] - 1;

    if (!s->is_plain || at == UINT32_MAX) {
        const osc_status st = find_group(s, c, i, &at);
        if (st != OSC_OK)
            return st;
    }
    struct osc_operator_group *const g = &s->ops->groups[at];
    g->first_row = n->row < g->first_row ? n->row : g->first_row;
    g->n_calls++;
    g->host_self_ns += host_ns;
    g->host_total_ns += n->dur_ns;
    g->max_host_self_ns = host_ns > g->max_host_self_ns ? host_ns : g->max_host_self_ns;
    g->device_total_ns += n->device_ns;
    g->tc_total_ns += n->tc_ns;
    g->is_eligible |= is_eligible;
    if (s->has_stacks && !g->has_stack)
        g->has_stack = stack_of(s->t, c, i).v != 0;
    add_value(&s->host, at, host_ns);
    if (own->device_ns > g->max_device_self_ns)
        g->max_device_self_ns = own->device_ns;
    if (own->device_ns != 0) {
        g->device_self_ns += own->device_ns;
        g->tc_self_ns += own->tc_ns;
        g->n_device_values++;
        add_value(&s->device, at, own->device_ns);
    }
    return OSC_OK;
}

/* The top node is done: count it, and add it to its parent. */
static inline osc_status close_top(struct sweep *s)
{
    /* It stays where it is until another one is opened. */
    const struct open_node *const n = &s->stack[--s->n_open];
    const uint8_t flags = s->f->tree.flags[n->node - 1];
    bool is_eligible = osc_name_is_eligible(s->f->classes.names[n->name], s->o->compat_tb);

    if (flags & OSC_NODE_OPERATOR) {
        const bool has_tc = n->launched != 0 && s->launched[n->launched - 1].tc_ns > 0;

        is_eligible = is_eligible || has_tc || n->has_eligible_child;
    }
    if (s->n_open > 0) {
        struct open_node *const above = &s->stack[s->n_open - 1];

        above->children_ns += n->dur_ns;
        above->device_ns += n->device_ns;
        above->tc_ns += n->tc_ns;
        above->has_eligible_child |= is_eligible;
    }
    return flags & OSC_NODE_ROW ? count_call(s, n, is_eligible) : OSC_OK;
}

static inline osc_status open_node(struct sweep *s, uint32_t node)
{
    const osc_row row = {s->f->order.rows[node - 1]};
    const struct osc_chunk *const c = osc_chunk_of(&s->t->events, row);
    const uint32_t launched = s->launched_of ? s->launched_of[node - 1] : 0;

    if (s->n_open == s->cap_open &&
        osc_grow(&s->stack, &s->cap_open, s->n_open + 1, sizeof *s->stack) != OSC_OK)
        return OSC_ENOMEM;
    s->stack[s->n_open++] = (struct open_node){
        .node = node,
        .row = row.v,
        .name = c->name[osc_row_place(row)],
        .launched = launched,
        .dur_ns = c->dur_ns[osc_row_place(row)],
        .device_ns = launched == 0 ? 0 : s->launched[launched - 1].device_ns,
        .tc_ns = launched == 0 ? 0 : s->launched[launched - 1].tc_ns,
    };
    return OSC_OK;
}

/* Walk all nodes of all threads. Parents stand before their children. */
static osc_status sweep_nodes(struct sweep *s)
{
    const struct osc_optree *const tree = &s->f->tree;
    osc_status st = OSC_OK;

    for (uint32_t at = 0; at < s->f->order.n_rows; at++) {
        if (!(tree->flags[at] & OSC_NODE) || (tree->flags[at] & OSC_NODE_MERGED))
            continue;
        while (s->n_open > 0 && s->stack[s->n_open - 1].node != tree->parent[at]) {
            st = close_top(s);
            if (st != OSC_OK)
                return st;
        }
        st = open_node(s, at + 1);
        if (st != OSC_OK)
            return st;
    }
    while (s->n_open > 0 && st == OSC_OK)
        st = close_top(s);
    return st;
}

/*
 * Medians of one side. VALUES are dealt out group by group into one array, in
 * which each group's part is then looked through.
 */
static osc_status find_medians(struct sweep *s, const struct values *values, bool is_host)
{
    struct osc_operator_group *const groups = s->ops->groups;
    const size_t n_groups = s->ops->n_groups;
    int64_t *dealt = osc_malloc((values->n + 1) * sizeof *dealt);
    size_t *next = osc_calloc(n_groups + 1, sizeof *next);
    osc_status st = OSC_ENOMEM;
    size_t at = 0;

    if (!dealt || !next)
        goto out;
    for (size_t g = 0; g < n_groups; g++) {
        next[g] = at;
        at += is_host ? groups[g].n_calls : groups[g].n_device_values;
    }
    for (size_t i = 0; i < values->n; i++)
        dealt[next[values->v[i].group]++] = values->v[i].self_ns;
    for (size_t g = 0; g < n_groups; g++) {
        struct osc_operator_group *const group = &groups[g];
        const size_t n = is_host ? group->n_calls : group->n_device_values;
        const double median = osc_median(dealt + next[g] - n, n, group->n_calls - n);

        if (is_host)
            group->median_host_self_ns = median;
        else
            group->median_device_self_ns = median;
    }
    st = OSC_OK;
out:
    osc_free(dealt);
    osc_free(next);
    return st;
}

static int by_first_row(const void *x, const void *y)
{
    const struct osc_operator_group *const a = x, *const b = y;

    return (a->first_row > b->first_row) - (a->first_row < b->first_row);
}

osc_status osc_operators_make(const struct osc_trace *t, const struct osc_options *o,
                              struct osc_operators *ops)
{
    struct sweep s = {.t = t,
                      .f = osc_trace_facts(t),
                      .o = o,
                      .ops = ops,
                      .is_plain = !o->by_shape && !o->by_stack};
    osc_status st = OSC_ENOMEM;

    *ops = (struct osc_operators){0};
    s.group_of = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *s.group_of);
    for (uint32_t f = 0; f < t->n_forms && !s.has_stacks; f++)
        s.has_stacks = t->forms[f].known[OSC_ARG_KEY_CALL_STACK] >= 0;
    if (s.group_of)
        st = sum_launched(&s);
    if (st == OSC_OK)
        st = make_room(&s.host, s.f->order.n_rows);
    if (st == OSC_OK)
        st = make_room(&s.device, s.f->order.n_rows);
    if (st == OSC_OK)
        st = sweep_nodes(&s);
    if (st == OSC_OK)
        st = find_medians(&s, &s.host, true);
    if (st == OSC_OK)
        st = find_medians(&s, &s.device, false);
    if (st == OSC_OK && ops->n_groups > 1)
        qsort(ops->groups, ops->n_groups, sizeof *ops->groups, by_first_row);
    osc_free(s.launched);
    osc_pages_free(s.launched_of, s.launched_of_bytes);
    osc_free(s.group_of);
    osc_idmap_fini(&s.pairs);
    osc_idmap_fini(&s.keys);
    osc_free(s.stack);
    osc_pages_free(s.host.v, s.host.bytes);
    osc_pages_free(s.device.v, s.device.bytes);
    if (st != OSC_OK)
        osc_operators_fini(ops);
    return st;
}

void osc_operators_fini(struct osc_operators *ops)
{
    osc_free(ops->groups);
    osc_lists_fini(&ops->lists);
    *ops = (struct osc_operators){0};
}
