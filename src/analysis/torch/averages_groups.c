/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages_groups.h"

#include "analysis/torch/shapes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

/* A signed sum of numbers from a file, without undefined overflow. */
static void add(int64_t *sum, int64_t v)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)v);
}

static void subtract(int64_t *sum, int64_t v)
{
    *sum = (int64_t)((uint64_t)*sum - (uint64_t)v);
}

/* The string of argument KEY of a node, or of the older key OLD. */
static osc_sid text_arg(const struct osc_avg_tree *tree, const struct osc_avg_node *n,
                        enum osc_arg_key key, enum osc_arg_key old)
{
    const struct osc_chunk *c = osc_avg_chunk(tree, n);
    const uint32_t place = osc_row_place((osc_row){n->row});
    struct osc_arg arg;

    if (!osc_row_arg(tree->trace, c, place, key, &arg) &&
        (key == old || !osc_row_arg(tree->trace, c, place, old, &arg)))
        return (osc_sid){0};
    return arg.type == OSC_ARG_TEXT || arg.type == OSC_ARG_STRING ? arg.sid : (osc_sid){0};
}

/* Find the shapes of a node: the id of their text, 0 for "[]". */
static osc_status shapes_of(struct osc_avg_groups *g, const struct osc_avg_tree *tree,
                            const struct osc_avg_node *n, uint32_t *id)
{
    const osc_sid dims = text_arg(tree, n, OSC_ARG_KEY_INPUT_DIMS, OSC_ARG_KEY_INPUT_DIMS_OLD);
    osc_sid text = {0};
    osc_status st = OSC_OK;

    *id = 0;
    if (dims.v == 0)
        return OSC_OK;

    uint32_t *const known = osc_idmap_put(&g->shapes_by_sid, dims.v);
    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        osc_strbuf_clear(&g->scratch);
        osc_shapes_text(osc_trace_str(tree->trace, dims), &g->scratch);
        st = g->scratch.status;
        if (st == OSC_OK && g->scratch.len > 2)
            st = osc_intern_add(
                &g->shapes, (struct osc_str){g->scratch.s, (uint32_t)g->scratch.len}, &text);
        if (st != OSC_OK)
            return st;
        *known = text.v + 1;
    }
    *id = *known - 1;
    return OSC_OK;
}

static osc_status flops_of(struct osc_avg_groups *g, const struct osc_avg_tree *tree,
                           const struct osc_avg_node *n, uint64_t *flops)
{
    const enum osc_flops_rule rule = (enum osc_flops_rule)tree->names[n->name].flops_rule;
    const osc_sid dims = text_arg(tree, n, OSC_ARG_KEY_INPUT_DIMS, OSC_ARG_KEY_INPUT_DIMS);
    const enum osc_arg_key key =
        osc_flops_reads_types(rule) ? OSC_ARG_KEY_INPUT_TYPE : OSC_ARG_KEY_CONCRETE_INPUTS;
    const osc_sid inputs = text_arg(tree, n, key, key);

    *flops = 0;
    if (dims.v == 0)
        return OSC_OK;

    uint32_t *const known =
        osc_idmap_put(&g->flops_by_sids[rule], (uint64_t)dims.v << 32 | inputs.v);
    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        const osc_status st =
            osc_grow(&g->flops, &g->cap_flops, g->n_flops + 1, sizeof *g->flops);
        if (st != OSC_OK)
            return st;
        g->flops[g->n_flops++] = osc_flops(rule, osc_trace_str(tree->trace, dims),
                                           osc_trace_str(tree->trace, inputs));
        *known = (uint32_t)g->n_flops;
    }
    *flops = g->flops[*known - 1];
    return OSC_OK;
}

/* What of the inputs of a node is in the key of its group. */
struct inputs {
    uint32_t shapes, dtypes;
};

/* Add a row for node I; *NUMBER is its index + 1. */
static osc_status add_group(struct osc_avg_groups *g, const struct osc_avg_tree *tree,
                            uint32_t i, const struct inputs *in, uint32_t *number)
{
    const struct osc_avg_node *n = &tree->nodes[i];
    const osc_status st = osc_grow(&g->all, &g->cap, g->n + 1, sizeof *g->all);

    if (st != OSC_OK)
        return st;
    g->all[g->n++] = (struct osc_avg_group){
        .first_start_ns = osc_avg_start_ns(tree, n),
        .first_dur_ns = osc_avg_dur_ns(tree, n),
        .first_row = n->row,
        .name = n->name,
        .flags = n->flags,
        .shapes = in->shapes,
        .dtypes = in->dtypes,
        .stack = g->by_stack ? g->stacks.of_node[i] : 0,
        .is_top_level = n->parent == 0,
    };
    *number = (uint32_t)g->n;
    return OSC_OK;
}

/* The address of the number of the plain group of node N. */
static uint32_t *plain_place(struct osc_avg_groups *g, struct osc_avg_tree *tree,
                             const struct osc_avg_node *n)
{
    const uint32_t family = n->flags >> OSC_AVG_FAMILY_SHIFT;

    if (family == 0)
        return &tree->names[n->name].groups[n->flags & (OSC_AVG_VARIANTS - 1)];
    return osc_idmap_put(&g->by_family, (uint64_t)n->name << 32 | family << 2 |
                                            (n->flags & (OSC_AVG_VARIANTS - 1)));
}

/* Find or add the group of node I by a longer key than the plain one; *NUMBER is its index +
 * 1. */
static osc_status long_group(struct osc_avg_groups *g, struct osc_avg_tree *tree, uint32_t i,
                             uint32_t *number)
{
    const struct osc_avg_node *n = &tree->nodes[i];
    struct inputs in = {0};
    osc_status st = g->by_shape ? shapes_of(g, tree, n, &in.shapes) : OSC_OK;
    if (st == OSC_OK && g->by_dtype)
        st = osc_lists_elements_id(&g->types, tree->trace, osc_avg_chunk(tree, n),
                                   osc_row_place((osc_row){n->row}), OSC_ARG_KEY_INPUT_TYPE,
                                   &in.dtypes);
    uint32_t *const plain = plain_place(g, tree, n);

    if (st != OSC_OK || !plain)
        return st != OSC_OK ? st : OSC_ENOMEM;
    if (*plain == 0)
        *plain = ++g->n_plain;

    uint32_t *const shaped = osc_idmap_put(&g->by_plain, (uint64_t)*plain << 32 | in.shapes);
    if (!shaped)
        return OSC_ENOMEM;
    if (*shaped == 0)
        *shaped = ++g->n_shaped;

    uint32_t key = *shaped;
    if (g->by_dtype) {
        uint32_t *const typed = osc_idmap_put(&g->by_typed, (uint64_t)key << 32 | in.dtypes);
        if (!typed)
            return OSC_ENOMEM;
        if (*typed == 0)
            *typed = ++g->n_typed;
        key = *typed;
    }

    const uint32_t stack = g->by_stack ? g->stacks.of_node[i] : 0;
    uint32_t *const group = osc_idmap_put(&g->by_shaped, (uint64_t)key << 32 | stack);
    if (!group)
        return OSC_ENOMEM;
    if (*group == 0)
        st = add_group(g, tree, i, &in, group);
    *number = *group;
    return st;
}

static osc_status group_of(struct osc_avg_groups *g, struct osc_avg_tree *tree, uint32_t i,
                           struct osc_avg_group **group)
{
    uint32_t number = 0;
    osc_status st = OSC_OK;

    if (g->of_node) {
        st = long_group(g, tree, i, &number);
        g->of_node[i] = number;
    } else {
        uint32_t *const place = plain_place(g, tree, &tree->nodes[i]);

        if (!place)
            return OSC_ENOMEM;
        if (*place == 0)
            st = add_group(g, tree, i, &(struct inputs){0}, place);
        number = *place;
    }
    if (st == OSC_OK)
        *group = &g->all[number - 1];
    return st;
}

/* The group of host node I, which has been counted already. */
static inline struct osc_avg_group *known_group(struct osc_avg_groups *g,
                                                const struct osc_avg_tree *tree, uint32_t i)
{
    const struct osc_avg_node *const n = &tree->nodes[i];
    const uint32_t number =
        g->of_node ? g->of_node[i]
                   : tree->names[n->name].groups[n->flags & (OSC_AVG_VARIANTS - 1)];

    return &g->all[number - 1];
}

/* Compare a node with the first one of GROUP: negative if it stands before, as in qsort(). */
static int compare_first(int64_t start_ns, int64_t dur_ns, uint32_t row,
                         const struct osc_avg_group *group)
{
    if (start_ns != group->first_start_ns)
        return start_ns < group->first_start_ns ? -1 : 1;
    if (dur_ns != group->first_dur_ns)
        return dur_ns > group->first_dur_ns ? -1 : 1;
    return (row > group->first_row) - (row < group->first_row);
}

static int compare_groups(const void *pa, const void *pb)
{
    const struct osc_avg_group *a = pa;

    return compare_first(a->first_start_ns, a->first_dur_ns, a->first_row, pb);
}

/* Count a call of GROUP on a device. */
static void count_device_node(const struct osc_avg_tree *tree, const struct osc_avg_node *n,
                              struct osc_avg_group *group)
{
    const int64_t start_ns = osc_avg_start_ns(tree, n), dur_ns = osc_avg_dur_ns(tree, n);

    /* Queues are handled one by one: a later one may have the first call. */
    if (compare_first(start_ns, dur_ns, n->row, group) < 0) {
        group->first_start_ns = start_ns;
        group->first_dur_ns = dur_ns;
        group->first_row = n->row;
    }
    group->calls++;
    add(&group->device_ns, dur_ns);
    add(&group->self_device_ns, dur_ns);
}

/* Count a call of GROUP on the host. */
static inline void count_node(struct osc_avg_groups *g, const struct osc_avg_tree *tree,
                              uint32_t i, struct osc_avg_group *group)
{
    struct osc_avg_node *const n = &tree->nodes[i];
    const int64_t dur_ns = osc_avg_dur_ns(tree, n);
    const double elapsed_us = osc_avg_elapsed_us(tree, n->end_ns - dur_ns, n->end_ns);
    const bool is_sync = !(n->flags & OSC_AVG_ASYNC);

    group->calls++;
    add(&group->cpu_ns, dur_ns);
    group->cpu_us += elapsed_us;
    if (is_sync) {
        add(&group->self_cpu_ns, dur_ns);
        group->self_cpu_us += elapsed_us - n->child_us;
    }
    n->device_ns = 0;
    if (n->parent != 0)
        subtract(&known_group(g, tree, n->parent - 1)->self_cpu_ns, dur_ns);
    if (tree->bytes) {
        const struct osc_avg_bytes *b = &tree->bytes[i];

        group->cpu_bytes += b->cpu;
        group->device_bytes += b->device;
        group->self_cpu_bytes += is_sync ? b->cpu - b->child_cpu : 0;
        group->self_device_bytes += is_sync ? b->device - b->child_device : 0;
    }
}

/*
 * Add the work of devices to the nodes that launched it and to all nodes around them. Parents
 * stand before their children, so go backwards.
 */
static void add_device_work(struct osc_avg_groups *g, struct osc_avg_tree *tree)
{
    for (uint32_t i = tree->n_host; i < tree->n_nodes; i++) {
        const struct osc_avg_node *const n = &tree->nodes[i];
        const uint32_t op = osc_avg_operator_of(tree, n);
        const int64_t dur_ns = osc_avg_dur_ns(tree, n);

        if (op == 0)
            continue;
        add(&known_group(g, tree, op - 1)->self_device_ns, dur_ns);
        add(&tree->nodes[op - 1].device_ns, dur_ns);
    }
    for (uint32_t i = tree->n_host; i > 0 && tree->n_nodes > tree->n_host; i--) {
        const struct osc_avg_node *const n = &tree->nodes[i - 1];

        if (n->device_ns == 0 || (n->flags & OSC_AVG_FOLDED))
            continue;
        add(&known_group(g, tree, i - 1)->device_ns, n->device_ns);
        if (n->parent != 0)
            add(&tree->nodes[n->parent - 1].device_ns, n->device_ns);
    }
}

osc_status osc_avg_groups_build(struct osc_avg_groups *g, struct osc_avg_tree *tree,
                                const struct osc_avg_grouping *how)
{
    osc_status st = OSC_OK;

    *g = (struct osc_avg_groups){
        .by_shape = how->by_shape,
        .by_dtype = how->by_dtype,
        .by_stack = how->by_stack && how->stack_depth > 0,
        .with_flops = how->with_flops,
    };
    g->shapes.arena = &g->arena;
    g->shapes.seed = osc_hash_seed();
    if (g->by_stack)
        st = osc_avg_stacks_build(&g->stacks, tree, how->stack_depth);
    if (g->by_shape || g->by_dtype || g->by_stack) {
        g->of_node_size = ((size_t)tree->n_nodes + 1) * sizeof *g->of_node;
        g->of_node = osc_pages_alloc(g->of_node_size);
        st = st == OSC_OK && !g->of_node ? OSC_ENOMEM : st;
    }
    for (uint32_t i = 0; st == OSC_OK && i < tree->n_nodes; i++) {
        struct osc_avg_node *n = &tree->nodes[i];
        struct osc_avg_group *group = NULL;
        uint64_t flops = 0;

        osc_avg_lift(tree, n);
        if (n->flags & OSC_AVG_FOLDED)
            continue;
        st = group_of(g, tree, i, &group);
        if (st == OSC_OK && g->with_flops && tree->names[n->name].flops_rule != OSC_FLOPS_NONE)
            st = flops_of(g, tree, n, &flops);
        if (st != OSC_OK)
            break;
        group->flops += flops;
        if (n->flags & OSC_AVG_DEVICE)
            count_device_node(tree, n, group);
        else
            count_node(g, tree, i, group);
    }
    if (st == OSC_OK)
        add_device_work(g, tree);
    if (g->n > 0)
        osc_sort(g->all, g->n, sizeof *g->all, compare_groups);
    return st;
}

void osc_avg_groups_fini(struct osc_avg_groups *g)
{
    osc_free(g->all);
    osc_free(g->flops);
    osc_intern_fini(&g->shapes);
    osc_arena_fini(&g->arena);
    osc_strbuf_fini(&g->scratch);
    osc_idmap_fini(&g->shapes_by_sid);
    osc_idmap_fini(&g->by_family);
    osc_idmap_fini(&g->by_plain);
    osc_idmap_fini(&g->by_typed);
    osc_idmap_fini(&g->by_shaped);
    osc_lists_fini(&g->types);
    for (int i = 0; i < OSC_FLOPS_RULES; i++)
        osc_idmap_fini(&g->flops_by_sids[i]);
    osc_avg_stacks_fini(&g->stacks);
    osc_pages_free(g->of_node, g->of_node_size);
    *g = (struct osc_avg_groups){0};
}

struct osc_str osc_avg_group_shapes(const struct osc_avg_groups *g,
                                    const struct osc_avg_group *group)
{
    return group->shapes == 0 ? OSC_STR("[]")
                              : osc_intern_str(&g->shapes, (osc_sid){group->shapes});
}
