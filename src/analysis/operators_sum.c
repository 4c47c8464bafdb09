/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operators.h"

#include "analysis/median.h"
#include "base/mem.h"
#include "base/sort.h"

/* What the host calls of a node, and of the nodes below it, launched. */
struct launched {
    int64_t device_ns;  /* kernels, copies and memsets */
    int64_t tc_ns;      /* of these, kernels that use Tensor Cores */
    int64_t unknown_ns; /* of these, kernels of which no rule knows it */
    int64_t device_total_ns, tc_total_ns, unknown_total_ns;
};

/* Device self time of one call; not 0. */
struct value {
    uint32_t group;
    int64_t self_ns;
};

struct sweep {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_operators_how *how;
    struct osc_operators *ops;
    bool is_plain;             /* names alone determine groups */
    bool has_stacks;           /* some form has the argument Call stack */
    bool has_frames;           /* none has it, but there are Python frames */
    struct launched *launched; /* owned */
    size_t n_launched, cap_launched;
    /* Indexed by node, including the unused 0; zeroed pages, owned. */
    int64_t *ns;       /* time of its children and calls; after the sweep its self time */
    uint32_t *numbers; /* of its entry in launched, from 1 on; after the sweep of its group */
    uint8_t *eligible; /* it has an eligible child */
    size_t n_nodes;
    uint32_t *group_of;      /* owned; by name: group + 1, if is_plain */
    struct osc_idmap inputs; /* by_dtype: shape and dtypes -> number, instead of shape */
    struct osc_idmap pairs;  /* shape and stack -> number of the pair */
    struct osc_idmap keys;   /* name and pair -> group + 1 */
    uint32_t n_inputs, n_pairs;
    struct value *device; /* owned */
    size_t n_device, cap_device;
};

static osc_status add_launched(struct sweep *s, uint32_t *number)
{
    if (s->n_launched == s->cap_launched &&
        osc_grow(&s->launched, &s->cap_launched, s->n_launched + 1, sizeof *s->launched) !=
            OSC_OK)
        return OSC_ENOMEM;
    s->launched[s->n_launched++] = (struct launched){0};
    *number = (uint32_t)s->n_launched;
    return OSC_OK;
}

/* What NODE and the nodes below it launched; NULL if memory is exhausted. */
static inline struct launched *launched_by(struct sweep *s, uint32_t node)
{
    uint32_t *const place = &s->numbers[node];

    if (*place == 0 && add_launched(s, place) != OSC_OK)
        return NULL;
    return &s->launched[*place - 1];
}

/* Add every call and the work it launched to its node. */
static osc_status sum_launched(struct sweep *s)
{
    const struct osc_links *const links = &s->f->links;
    const struct osc_store *const events = &s->t->events;

    for (size_t n = 0; n < links->n_calls; n++) {
        const uint32_t node = osc_optree_owner(&s->f->tree, links->calls[n].node);
        const osc_row row = {links->calls[n].row};

        /* A call is not self time of the node that makes it. */
        if (node != 0 && !links->calls[n].is_elsewhere)
            s->ns[node] += osc_chunk_of(events, row)->dur_ns[osc_row_place(row)];
    }
    for (size_t n = 0; n < links->n_works; n++) {
        const uint32_t call = links->works[n].call;
        const uint32_t node =
            call == 0 ? 0 : osc_optree_owner(&s->f->tree, links->calls[call - 1].node);
        if (node == 0)
            continue;
        struct launched *const l = launched_by(s, node);
        if (!l)
            return OSC_ENOMEM;
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(events, row);
        const uint32_t i = osc_row_place(row);

        l->device_ns += c->dur_ns[i];
        if (c->kind[i] != OSC_KIND_KERNEL)
            continue;
        const enum osc_tensor_cores uses =
            osc_name_tensor_cores(s->f->classes.names[c->name[i]], s->how->compat_tb);
        l->tc_ns += uses == OSC_TENSOR_CORES_YES ? c->dur_ns[i] : 0;
        l->unknown_ns += uses == OSC_TENSOR_CORES_UNKNOWN ? c->dur_ns[i] : 0;
    }
    return OSC_OK;
}

/* Sum up the device work that no operator launched. */
static osc_status sum_rest(struct sweep *s)
{
    const struct osc_links *const links = &s->f->links;
    uint8_t *const is_counted = osc_calloc(links->n_calls + 1, 1);

    if (!is_counted)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works; n++) {
        const struct osc_work *const work = &links->works[n];
        const enum osc_launcher by = osc_launcher_of(s->t, s->f, work);
        const osc_row row = {work->row};
        struct osc_operator_rest *const rest = &s->ops->rest[by];

        if (by == OSC_LAUNCHER_OPERATOR)
            continue;
        rest->n_works++;
        rest->device_ns += osc_chunk_of(&s->t->events, row)->dur_ns[osc_row_place(row)];
        if (work->call != 0 && !is_counted[work->call - 1]) {
            is_counted[work->call - 1] = 1;
            rest->n_calls++;
        }
    }
    osc_free(is_counted);
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

/* The shape of row I: `Input Dims`, else `Input dims`; 0 if it is missing or []. */
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

/* Find the dtypes of row I, and the number of its SHAPE with these. */
static osc_status inputs_of(struct sweep *s, const struct osc_chunk *c, uint32_t i,
                            osc_sid shape, uint32_t *dtypes, uint32_t *number)
{
    const osc_status st =
        osc_lists_elements_id(&s->ops->types, s->t, c, i, OSC_ARG_KEY_INPUT_TYPE, dtypes);

    if (st != OSC_OK)
        return st;
    uint32_t *const inputs = osc_idmap_put(&s->inputs, (uint64_t)shape.v << 32 | *dtypes);
    if (!inputs)
        return OSC_ENOMEM;
    if (*inputs == 0)
        *inputs = ++s->n_inputs;
    *number = *inputs;
    return OSC_OK;
}

/* The address of the group (+ 1) of a name with INPUTS (shape, or shape and dtypes) or a stack.
 */
static uint32_t *find_key(struct sweep *s, uint32_t name, uint32_t inputs, uint32_t stack)
{
    uint32_t *const pair = osc_idmap_put(&s->pairs, (uint64_t)inputs << 32 | stack);

    if (!pair)
        return NULL;
    if (*pair == 0)
        *pair = ++s->n_pairs;
    return osc_idmap_put(&s->keys, (uint64_t)name << 32 | *pair);
}

/* The group of the operator in row I of C; NODE is 0 if it is asynchronous. */
static osc_status find_group(struct sweep *s, uint32_t node, const struct osc_chunk *c,
                             uint32_t i, uint32_t *group)
{
    uint32_t *place = &s->group_of[c->name[i]];
    osc_sid shape = {0}, stack = {0};
    uint32_t dtypes = 0, rebuilt = 0, step = 0;
    osc_status st = OSC_OK;

    if (!s->is_plain) {
        if (s->how->by_shape)
            st = shape_of(s, c, i, &shape);
        uint32_t inputs = shape.v;
        if (st == OSC_OK && s->how->by_dtype)
            st = inputs_of(s, c, i, shape, &dtypes, &inputs);
        if (st != OSC_OK)
            return st;
        if (s->how->by_stack && s->has_frames)
            rebuilt = node == 0 ? 0 : s->ops->stacks.of_place[node - 1];
        else if (s->how->by_stack)
            stack = stack_of(s->t, c, i);
        if (s->how->by_step)
            step = c->step[i];
        place = find_key(s, c->name[i], inputs, stack.v | rebuilt | step);
        if (!place)
            return OSC_ENOMEM;
    }
    if (*place == 0)
        st = add_group(s, place,
                       (struct osc_operator_group){.name = {c->name[i]},
                                                   .shape = shape,
                                                   .dtypes = dtypes,
                                                   .stack = stack,
                                                   .rebuilt = rebuilt,
                                                   .step = step,
                                                   .first_row = UINT32_MAX,
                                                   .max_host_self_ns = INT64_MIN,
                                                   .max_device_self_ns = INT64_MIN});
    *group = *place - 1;
    return st;
}

/* Count row I of C, node NODE whose children are done, as a call of its group. */
static inline osc_status count_call(struct sweep *s, uint32_t node, const struct osc_chunk *c,
                                    uint32_t i, const struct launched *own, bool is_eligible)
{
    const int64_t dur_ns = c->dur_ns[i], host_ns = dur_ns - s->ns[node];
    const uint32_t row = osc_row_at(c, i).v;
    uint32_t at = s->is_plain ? s->group_of[c->name[i]] - 1 : UINT32_MAX;

    if (at == UINT32_MAX) {
        const osc_status st = find_group(s, node, c, i, &at);
        if (st != OSC_OK)
            return st;
    }
    struct osc_operator_group *const g = &s->ops->groups[at];
    g->first_row = row < g->first_row ? row : g->first_row;
    g->n_calls++;
    g->host_self_ns += host_ns;
    g->host_total_ns += dur_ns;
    g->max_host_self_ns = host_ns > g->max_host_self_ns ? host_ns : g->max_host_self_ns;
    g->is_eligible |= is_eligible;
    if (s->has_stacks && !g->has_stack)
        g->has_stack = stack_of(s->t, c, i).v != 0;
    else if (s->has_frames && !g->has_stack)
        g->has_stack = s->ops->stacks.of_place[node - 1] != 0;
    s->ns[node] = host_ns;
    s->numbers[node] = at + 1;
    if (s->how->by_step) {
        osc_call_logs_add(&g->host_self_logs, host_ns);
        osc_call_logs_add(&g->device_self_logs, own->device_ns);
    }
    if (own->device_ns > g->max_device_self_ns)
        g->max_device_self_ns = own->device_ns;
    g->device_total_ns += own->device_total_ns;
    g->tc_total_ns += own->tc_total_ns;
    g->unknown_total_ns += own->unknown_total_ns;
    if (own->device_ns == 0)
        return OSC_OK;
    g->device_self_ns += own->device_ns;
    g->tc_self_ns += own->tc_ns;
    g->unknown_self_ns += own->unknown_ns;
    g->n_device_values++;
    if (s->n_device == s->cap_device &&
        osc_grow(&s->device, &s->cap_device, s->n_device + 1, sizeof *s->device) != OSC_OK)
        return OSC_ENOMEM;
    s->device[s->n_device++] = (struct value){at, own->device_ns};
    return OSC_OK;
}

/*
 * What NODE and the nodes below it launched is complete: add it to PARENT, which takes over
 * the entry if it has none. Returns what NODE launched.
 */
static struct launched hand_on(struct sweep *s, uint32_t node, uint32_t parent)
{
    const uint32_t number = s->numbers[node];
    struct launched own = s->launched[number - 1];
    uint32_t *const above = &s->numbers[parent];

    own.device_total_ns += own.device_ns;
    own.tc_total_ns += own.tc_ns;
    own.unknown_total_ns += own.unknown_ns;
    s->numbers[node] = 0;
    if (parent != 0 && *above == 0) {
        *above = number;
        s->launched[number - 1] = (struct launched){0};
    }
    if (parent != 0) {
        s->launched[*above - 1].device_total_ns += own.device_total_ns;
        s->launched[*above - 1].tc_total_ns += own.tc_total_ns;
        s->launched[*above - 1].unknown_total_ns += own.unknown_total_ns;
    }
    return own;
}

/*
 * Parents stand before their children. Going backwards, everything below a node has been
 * summed when the node is reached, so no stack is needed.
 */
static osc_status sweep_nodes(struct sweep *s)
{
    const struct osc_optree *const tree = &s->f->tree;
    const struct osc_store *const events = &s->t->events;
    const uint16_t eligible_flag = s->how->compat_tb ? OSC_NAME_ELIGIBLE_TB : OSC_NAME_ELIGIBLE;

    for (uint32_t node = s->f->order.n_rows; node > 0; node--) {
        const uint8_t flags = tree->flags[node - 1];
        const uint32_t parent = tree->parent[node - 1];
        struct launched own = {0};
        osc_status st = OSC_OK;

        if ((flags & (OSC_NODE | OSC_NODE_MERGED)) != OSC_NODE)
            continue;
        const osc_row row = {s->f->order.rows[node - 1]};
        const struct osc_chunk *const c = osc_chunk_of(events, row);
        const uint32_t i = osc_row_place(row);

        if (s->launched && s->numbers[node] != 0)
            own = hand_on(s, node, parent);
        bool is_eligible = (s->f->classes.names[c->name[i]] & eligible_flag) != 0;
        if (flags & OSC_NODE_OPERATOR)
            is_eligible = is_eligible || own.tc_ns > 0 || s->eligible[node];
        s->ns[parent] += c->dur_ns[i];
        if (is_eligible)
            s->eligible[parent] = 1;
        if (flags & OSC_NODE_ROW)
            st = count_call(s, node, c, i, &own, is_eligible);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

/* Whether rows of FORM are asynchronous ranges of the host of kind operator. */
static bool is_async_operator(const struct osc_form *form)
{
    return form->shape == OSC_SHAPE_ASYNC && form->kind == OSC_KIND_OPERATOR &&
           !form->is_device;
}

bool osc_operators_is_async(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    return is_async_operator(&t->forms[c->form[i]]) && c->kind[i] == OSC_KIND_OPERATOR &&
           c->dur_ns[i] != OSC_NO_DUR &&
           !(osc_trace_facts(t)->classes.names[c->name[i]] & OSC_NAME_WRAPPER);
}

/* Count the asynchronous operator in row I of C: nobody knows what it was doing meanwhile. */
static osc_status count_async_call(struct sweep *s, const struct osc_chunk *c, uint32_t i)
{
    const uint16_t name = s->f->classes.names[c->name[i]];
    const uint32_t row = osc_row_at(c, i).v;
    uint32_t at = 0;
    const osc_status st = find_group(s, 0, c, i, &at);
    if (st != OSC_OK)
        return st;
    struct osc_operator_group *const g = &s->ops->groups[at];
    g->first_row = row < g->first_row ? row : g->first_row;
    g->n_calls++;
    g->n_async++;
    g->host_total_ns += c->dur_ns[i];
    g->is_eligible |= (name & OSC_NAME_ELIGIBLE) != 0;
    g->has_stack |= s->has_stacks && stack_of(s->t, c, i).v != 0;
    return OSC_OK;
}

/* Count the asynchronous operators, which the plugin does not know. */
static osc_status count_async(struct sweep *s)
{
    const struct osc_store *const events = &s->t->events;
    bool has_any = false;

    for (uint32_t f = 0; f < s->t->n_forms && !s->how->compat_tb; f++)
        has_any |= is_async_operator(&s->t->forms[f]);
    for (uint32_t k = 1; k < events->n_chunks && has_any; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!osc_operators_is_async(s->t, c, i))
                continue;
            const osc_status st = count_async_call(s, c, i);
            if (st != OSC_OK)
                return st;
        }
    }
    return OSC_OK;
}

/* Values of groups FIRST to before END, grouped in one array. */
struct dealing {
    int64_t *values; /* owned */
    size_t room;
    size_t *next; /* owned; by group: where its next value goes */
    size_t first, end;
};

static size_t count_values(const struct osc_operator_group *g, bool is_host)
{
    return is_host ? g->n_calls - g->n_async : g->n_device_values;
}

static void deal(struct dealing *d, size_t group, int64_t ns)
{
    if (group >= d->first && group < d->end)
        d->values[d->next[group]++] = ns;
}

/* Compute medians of host or device self time of as many groups from D->first as there is room
 * for; sets D->end. */
static void find_some_medians(struct sweep *s, bool is_host, struct dealing *d)
{
    struct osc_operator_group *const groups = s->ops->groups;
    size_t at = 0;

    for (d->end = d->first; d->end < s->ops->n_groups; d->end++) {
        const size_t n = count_values(&groups[d->end], is_host);

        if (n > d->room - at)
            break;
        d->next[d->end] = at;
        at += n;
    }
    if (is_host) {
        for (uint32_t node = 1; node <= s->f->order.n_rows; node++) {
            if (s->numbers[node] != 0)
                deal(d, s->numbers[node] - 1, s->ns[node]);
        }
    } else {
        for (size_t i = 0; i < s->n_device; i++)
            deal(d, s->device[i].group, s->device[i].self_ns);
    }
    for (size_t g = d->first; g < d->end; g++) {
        struct osc_operator_group *const group = &groups[g];
        const size_t n = count_values(group, is_host);
        const double median =
            osc_median(d->values + d->next[g] - n, n, group->n_calls - group->n_async - n);

        if (is_host)
            group->median_host_self_ns = median;
        else
            group->median_device_self_ns = median;
    }
}

/* Find all medians in a few rounds: an array for all values at once would be the largest of the
 * whole table. */
static osc_status find_all_medians(struct sweep *s)
{
    const size_t n_groups = s->ops->n_groups;
    size_t n_calls = 0, most = 0;

    for (size_t g = 0; g < n_groups; g++) {
        const size_t n = count_values(&s->ops->groups[g], true);

        n_calls += n;
        most = n > most ? n : most;
    }
    struct dealing d = {.room = n_calls / 2 > most ? n_calls / 2 : most};
    const size_t bytes = (d.room + 1) * sizeof *d.values;
    d.values = osc_pages_alloc(bytes);
    d.next = osc_calloc(n_groups + 1, sizeof *d.next);
    const osc_status st = d.values && d.next ? OSC_OK : OSC_ENOMEM;

    for (int is_host = 0; st == OSC_OK && is_host < 2; is_host++) {
        for (d.first = 0; d.first < n_groups; d.first = d.end)
            find_some_medians(s, is_host != 0, &d);
    }
    osc_pages_free(d.values, bytes);
    osc_free(d.next);
    return st;
}

/* Allocate data of nodes, names and forms. */
static osc_status prepare(struct sweep *s)
{
    const struct osc_trace *const t = s->t;

    s->n_nodes = (size_t)s->f->order.n_rows + 1;
    s->ns = osc_pages_alloc(s->n_nodes * sizeof *s->ns);
    s->numbers = osc_pages_alloc(s->n_nodes * sizeof *s->numbers);
    s->eligible = osc_pages_alloc(s->n_nodes);
    s->group_of = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *s->group_of);
    if (!s->ns || !s->numbers || !s->eligible || !s->group_of)
        return OSC_ENOMEM;
    for (uint32_t f = 0; f < t->n_forms; f++) {
        s->has_stacks |= t->forms[f].known[OSC_ARG_KEY_CALL_STACK] >= 0;
        s->has_frames |= (s->f->classes.forms[f] & OSC_FORM_FUNCTION) != 0;
    }
    s->has_frames = s->has_frames && !s->has_stacks && !s->how->compat_tb && !s->how->by_step;
    return s->has_frames ? osc_stacks_make(t, &s->f->classes, &s->f->order, &s->ops->stacks)
                         : OSC_OK;
}

static int by_first_row(const void *x, const void *y)
{
    const struct osc_operator_group *const a = x, *const b = y;

    return (a->first_row > b->first_row) - (a->first_row < b->first_row);
}

osc_status osc_operators_make(const struct osc_trace *t, const struct osc_operators_how *how,
                              struct osc_operators *ops)
{
    struct sweep s = {.t = t,
                      .f = osc_trace_facts(t),
                      .how = how,
                      .ops = ops,
                      .is_plain =
                          !how->by_shape && !how->by_dtype && !how->by_stack && !how->by_step};
    *ops = (struct osc_operators){0};
    osc_status st = prepare(&s);
    if (st == OSC_OK)
        st = sum_launched(&s);
    if (st == OSC_OK && how->has_rest)
        st = sum_rest(&s);
    if (st == OSC_OK)
        st = sweep_nodes(&s);
    if (st == OSC_OK)
        st = count_async(&s);
    /* Not needed any more: the medians use the memory. */
    osc_free(s.launched);
    osc_pages_free(s.eligible, s.n_nodes);
    if (st == OSC_OK && !how->by_step)
        st = find_all_medians(&s);
    if (st == OSC_OK && ops->n_groups > 1)
        osc_sort(ops->groups, ops->n_groups, sizeof *ops->groups, by_first_row);
    osc_pages_free(s.ns, s.n_nodes * sizeof *s.ns);
    osc_pages_free(s.numbers, s.n_nodes * sizeof *s.numbers);
    osc_free(s.device);
    osc_free(s.group_of);
    osc_idmap_fini(&s.inputs);
    osc_idmap_fini(&s.pairs);
    osc_idmap_fini(&s.keys);
    if (st != OSC_OK)
        osc_operators_fini(ops);
    return st;
}

void osc_operators_fini(struct osc_operators *ops)
{
    osc_free(ops->groups);
    osc_lists_fini(&ops->lists);
    osc_lists_fini(&ops->types);
    osc_stacks_fini(&ops->stacks);
    *ops = (struct osc_operators){0};
}
