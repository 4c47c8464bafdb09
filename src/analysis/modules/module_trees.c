/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modules/module_trees.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

/* A call in the trees. Numbers count from 1; 0 is none. */
struct node {
    uint32_t place, sums;
    uint32_t holder;      /* node */
    uint32_t first, next; /* the first child by time; the next child of the same holder */
    uint32_t n_waiting;   /* children whose shape is not known yet */
    uint32_t shape;       /* equal for equal trees */
    int64_t start_ns;
    uint32_t row;
};

struct builder {
    const struct osc_trace *t;
    const struct osc_modules *m;
    struct osc_module_trees *out;
    struct node *nodes; /* owned; [0] holds the roots */
    uint32_t n;
    uint32_t *by_time;       /* owned; nodes */
    uint32_t *ready;         /* owned; nodes whose children all have a shape */
    uint32_t *sums_of_place; /* owned; + 1 */
    struct osc_intern names;
    struct osc_arena arena;
    struct osc_idmap ids, by_name;  /* module ids; name and id -> sums + 1 */
    struct osc_idmap lists, shapes; /* of shapes; of sums and list */
    uint32_t n_ids, n_lists, n_shapes;
};

/* Return the number of KEY in MAP; a new key gets the next one, counted in N. 0: out of
 * memory. */
static uint32_t number_of(struct osc_idmap *map, uint64_t key, uint32_t *n)
{
    uint32_t *const number = osc_idmap_put(map, key);

    if (number && *number == 0)
        *number = ++*n;
    return number ? *number : 0;
}

/* Places of equal name and module id share their sums. */
static osc_status share_sums(struct builder *b)
{
    struct osc_module_trees *const out = b->out;
    uint32_t n_sums = 0;

    out->sums = osc_calloc(b->m->n_places + 1, sizeof *out->sums);
    b->sums_of_place = osc_calloc(b->m->n_places + 1, sizeof *b->sums_of_place);
    if (!out->sums || !b->sums_of_place)
        return OSC_ENOMEM;
    for (size_t i = 0; i < b->m->n_places; i++) {
        const struct osc_module_place *const p = &b->m->places[i];
        osc_sid name;
        uint32_t id = 0;
        const osc_status st = osc_intern_add(&b->names, p->name, &name);

        if (st != OSC_OK)
            return st;
        if (p->has_id) {
            id = number_of(&b->ids, (uint64_t)p->module_id, &b->n_ids);
            if (id == 0)
                return OSC_ENOMEM;
        }
        const uint32_t at = number_of(&b->by_name, (uint64_t)name.v << 32 | id, &n_sums);
        if (at == 0)
            return OSC_ENOMEM;
        b->sums_of_place[i] = at;
        struct osc_module_place *const sums = &out->sums[at - 1];
        sums->n_calls += p->n_calls;
        sums->n_operators += p->n_operators;
        sums->host_total_ns += p->host_total_ns;
        sums->host_self_ns += p->host_self_ns;
        sums->device_total_ns += p->device_total_ns;
        sums->device_self_ns += p->device_self_ns;
        sums->backward_host_ns += p->backward_host_ns;
        sums->backward_device_ns += p->backward_device_ns;
    }
    out->n_sums = n_sums;
    return OSC_OK;
}

static int by_time(const void *x, const void *y, void *ctx)
{
    const struct node *const nodes = ctx;
    const struct node *const a = &nodes[*(const uint32_t *)x];
    const struct node *const b = &nodes[*(const uint32_t *)y];

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Make nodes from calls, each in the list of its holder. */
static osc_status make_nodes(struct builder *b)
{
    struct osc_idmap of_row = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i <= b->n && st == OSC_OK; i++) {
        const struct osc_scope_call *const call = &b->m->calls[i - 1];
        const osc_row row = {call->row};
        uint32_t *const node = osc_idmap_put(&of_row, call->row);

        b->nodes[i] = (struct node){
            .place = call->place,
            .sums = b->sums_of_place[call->place - 1],
            .start_ns = osc_chunk_of(&b->t->events, row)->ts_ns[osc_row_place(row)],
            .row = call->row,
        };
        b->by_time[i - 1] = i;
        if (node)
            *node = i;
        else
            st = OSC_ENOMEM;
    }
    if (st == OSC_OK)
        osc_sort_with(b->by_time, b->n, sizeof *b->by_time, by_time, b->nodes);
    /* Go backwards, so that the earliest comes first in its list. */
    for (uint32_t k = b->n; k > 0 && st == OSC_OK; k--) {
        const uint32_t i = b->by_time[k - 1];
        const uint32_t holder = b->m->calls[i - 1].holder;
        struct node *const n = &b->nodes[i];

        n->holder = holder == 0 ? 0 : osc_idmap_get(&of_row, holder);
        n->next = b->nodes[n->holder].first;
        b->nodes[n->holder].first = i;
        b->nodes[n->holder].n_waiting++;
    }
    osc_idmap_fini(&of_row);
    return st;
}

/* Find the shape of node I; those of its children are known. */
static osc_status find_shape(struct builder *b, uint32_t i)
{
    struct node *const n = &b->nodes[i];
    uint32_t list = 0;

    for (uint32_t k = n->first; k != 0; k = b->nodes[k].next) {
        list = number_of(&b->lists, (uint64_t)list << 32 | b->nodes[k].shape, &b->n_lists);
        if (list == 0)
            return OSC_ENOMEM;
    }
    n->shape = number_of(&b->shapes, (uint64_t)n->sums << 32 | list, &b->n_shapes);
    return n->shape == 0 ? OSC_ENOMEM : OSC_OK;
}

/* Find shapes from the innermost nodes outwards. Calls in a cycle never get one. */
static osc_status find_shapes(struct builder *b)
{
    uint32_t n_ready = 0;
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i <= b->n; i++) {
        if (b->nodes[i].n_waiting == 0)
            b->ready[n_ready++] = i;
    }
    while (n_ready > 0 && st == OSC_OK) {
        const uint32_t i = b->ready[--n_ready], holder = b->nodes[i].holder;

        st = find_shape(b, i);
        if (holder != 0 && --b->nodes[holder].n_waiting == 0)
            b->ready[n_ready++] = holder;
    }
    return st;
}

static int by_name(const void *x, const void *y, void *ctx)
{
    const struct builder *const b = ctx;
    const struct node *const p = &b->nodes[*(const uint32_t *)x];
    const struct node *const q = &b->nodes[*(const uint32_t *)y];
    const int order =
        osc_str_cmp(b->m->places[p->place - 1].name, b->m->places[q->place - 1].name);

    return order != 0 ? order : by_time(x, y, b->nodes);
}

/* List one root of each shape, sorted by name, and then what it contains. */
static osc_status list_rows(struct builder *b)
{
    struct osc_module_trees *const out = b->out;
    struct osc_idmap seen = {0};
    uint32_t *const stack = b->ready;
    uint32_t n_stack = 0;

    for (uint32_t i = b->nodes[0].first; i != 0; i = b->nodes[i].next) {
        uint32_t *const is_seen = osc_idmap_put(&seen, b->nodes[i].shape);

        if (!is_seen) {
            osc_idmap_fini(&seen);
            return OSC_ENOMEM;
        }
        if (*is_seen == 0)
            stack[n_stack++] = i;
        *is_seen = 1;
    }
    osc_idmap_fini(&seen);
    osc_sort_with(stack, n_stack, sizeof *stack, by_name, b);
    for (uint32_t i = 0; i < n_stack / 2; i++) {
        const uint32_t swap = stack[i];

        stack[i] = stack[n_stack - 1 - i];
        stack[n_stack - 1 - i] = swap;
    }
    while (n_stack > 0) {
        const uint32_t i = stack[--n_stack];
        uint32_t n_children = 0;

        out->rows[out->n_rows++] =
            (struct osc_module_row){b->nodes[i].place, b->nodes[i].sums - 1};
        for (uint32_t k = b->nodes[i].first; k != 0; k = b->nodes[k].next)
            stack[n_stack + n_children++] = k;
        for (uint32_t k = 0; k < n_children / 2; k++) {
            const uint32_t swap = stack[n_stack + k];

            stack[n_stack + k] = stack[n_stack + n_children - 1 - k];
            stack[n_stack + n_children - 1 - k] = swap;
        }
        n_stack += n_children;
    }
    return OSC_OK;
}

osc_status osc_module_trees_make(const struct osc_trace *t, const struct osc_modules *m,
                                 struct osc_module_trees *trees)
{
    struct builder b = {.t = t, .m = m, .out = trees, .n = (uint32_t)m->n_calls};
    osc_status st = OSC_ENOMEM;

    *trees = (struct osc_module_trees){0};
    b.names.arena = &b.arena;
    b.names.seed = osc_hash_seed();
    b.nodes = osc_calloc((size_t)b.n + 1, sizeof *b.nodes);
    b.by_time = osc_malloc(((size_t)b.n + 1) * sizeof *b.by_time);
    b.ready = osc_malloc(((size_t)b.n + 1) * sizeof *b.ready);
    trees->rows = osc_malloc(((size_t)b.n + 1) * sizeof *trees->rows);
    if (b.nodes && b.by_time && b.ready && trees->rows)
        st = share_sums(&b);
    if (st == OSC_OK)
        st = make_nodes(&b);
    if (st == OSC_OK)
        st = find_shapes(&b);
    if (st == OSC_OK)
        st = list_rows(&b);
    osc_free(b.nodes);
    osc_free(b.by_time);
    osc_free(b.ready);
    osc_free(b.sums_of_place);
    osc_intern_fini(&b.names);
    osc_arena_fini(&b.arena);
    osc_idmap_fini(&b.ids);
    osc_idmap_fini(&b.by_name);
    osc_idmap_fini(&b.lists);
    osc_idmap_fini(&b.shapes);
    if (st != OSC_OK)
        osc_module_trees_fini(trees);
    return st;
}

void osc_module_trees_fini(struct osc_module_trees *trees)
{
    osc_free(trees->rows);
    osc_free(trees->sums);
    *trees = (struct osc_module_trees){0};
}
