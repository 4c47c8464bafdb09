/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/plugin_tree.h"

#include "analysis/diff/tree_columns.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/facts.h"

#define DEPTH_MAX 1000u /* where the plugin fails */

/* --- one side ------------------------------------------------------------------------ */

/* The host thread of the node that starts first; false: there are no nodes. */
static bool find_thread(const struct osc_trace *t, uint32_t *track)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    int64_t first_ns = INT64_MAX;
    bool is_found = false;

    for (uint32_t k = 0; k < t->n_tracks; k++) {
        uint32_t p = f->order.first[k];

        while (p < f->order.first[k + 1] && !(f->tree.flags[p] & OSC_NODE))
            p++;
        if (t->tracks[k].is_queue || p == f->order.first[k + 1])
            continue;
        const osc_row row = {f->order.rows[p]};
        const int64_t start_ns = osc_chunk_of(&t->events, row)->ts_ns[osc_row_place(row)];

        if (is_found && (start_ns > first_ns || (start_ns == first_ns &&
                                                 t->tracks[k].order > t->tracks[*track].order)))
            continue;
        *track = k;
        first_ns = start_ns;
        is_found = true;
    }
    return is_found;
}

/* Add the device work of all calls to their nodes, and of nodes to those around them. */
static void sum_devices(const struct osc_trace *t, int64_t *device_ns)
{
    const struct osc_facts *const f = osc_trace_facts(t);

    for (size_t w = 0; w < f->links.n_works; w++) {
        const uint32_t call = f->links.works[w].call;
        const osc_row row = {f->links.works[w].row};

        if (call != 0)
            device_ns[osc_optree_owner(&f->tree, f->links.calls[call - 1].node)] +=
                osc_chunk_of(&t->events, row)->dur_ns[osc_row_place(row)];
    }
    for (uint32_t node = f->order.n_rows; node > 0; node--) {
        if ((f->tree.flags[node - 1] & (OSC_NODE | OSC_NODE_MERGED)) == OSC_NODE)
            device_ns[f->tree.parent[node - 1]] += device_ns[node];
    }
}

osc_status osc_plugin_tree_map(const struct osc_trace *t, struct osc_result *out)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    const size_t bytes = ((size_t)f->order.n_rows + 1) * sizeof(int64_t);
    int64_t *const device_ns = osc_pages_alloc(bytes);
    uint32_t track = 0;

    if (!device_ns)
        return OSC_ENOMEM;
    sum_devices(t, device_ns);
    const bool is_found = find_thread(t, &track);
    osc_result_row(out); /* tells files apart */
    osc_result_int(out, OSC_TREE_HASH, 0);
    osc_result_int(out, OSC_TREE_STEP, OSC_TREE_OUTSIDE);
    osc_result_int(out, OSC_TREE_CALLS, 1);
    for (uint32_t p = f->order.first[track]; is_found && p < f->order.first[track + 1]; p++) {
        const osc_row row = {f->order.rows[p]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row), parent = f->tree.parent[p];

        if ((f->tree.flags[p] & (OSC_NODE | OSC_NODE_MERGED)) != OSC_NODE)
            continue;
        osc_result_row(out);
        osc_result_int(out, OSC_TREE_HASH, (int64_t)p + 1);
        osc_result_int(out, OSC_TREE_STEP, OSC_TREE_OUTSIDE);
        osc_result_int(out, OSC_TREE_PARENT, parent);
        osc_result_str(out, OSC_TREE_NAME, osc_row_name(t, c, i));
        osc_result_int(out, OSC_TREE_KIND, c->kind[i]);
        osc_result_int(out, OSC_TREE_CALLS, 1);
        osc_result_int(out, OSC_TREE_HOST, c->dur_ns[i]);
        osc_result_int(out, OSC_TREE_DEVICE, device_ns[p + 1]);
    }
    osc_pages_free(device_ns, bytes);
    return out->status;
}

/* --- comparing ----------------------------------------------------------------------- */

/* A list of nodes, which are numbers of rows: places [first, end) in struct side.lists. */
struct list {
    size_t first, end;
};

struct side {
    const struct osc_result *rows;
    uint32_t *first_child, *next; /* owned; by row + 1, 0: none, and row + 1 of another */
    uint32_t *lists;              /* owned; grows */
    size_t n, cap;
};

/* A pair that is compared: on each side a node, a group or nothing. */
struct pair {
    struct list lists[2];
    bool is_group[2];
    uint32_t depth;
    size_t path; /* offset in paths */
};

struct comparing {
    struct side sides[2];
    struct pair *stack; /* owned */
    size_t n, cap;
    struct osc_strbuf paths; /* each ends in NUL */
    const struct osc_plugin_pairs *pairs;
};

/* Link the rows of R as a tree: parents come before their children. */
static osc_status make_side(const struct osc_result *r, struct side *s)
{
    struct osc_idmap rows = {0};
    uint32_t n_files = 0;
    osc_status st = OSC_OK;

    s->rows = r;
    s->first_child = osc_calloc((size_t)r->n_rows + 1, sizeof *s->first_child);
    s->next = osc_calloc((size_t)r->n_rows + 1, sizeof *s->next);
    if (!s->first_child || !s->next)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        n_files += osc_result_get_int(r, i, OSC_TREE_HASH) == 0;
        uint32_t *const place =
            osc_idmap_put(&rows, (uint64_t)osc_result_get_int(r, i, OSC_TREE_HASH));

        if (!place)
            st = OSC_ENOMEM;
        else if (osc_result_get_int(r, i, OSC_TREE_CALLS) != 1 || n_files > 1)
            st = OSC_EINVAL;
        else
            *place = i + 1;
    }
    /* From the end, so that lists of children are in order. */
    for (uint32_t i = (uint32_t)r->n_rows; i > 0 && st == OSC_OK; i--) {
        const uint64_t above = (uint64_t)osc_result_get_int(r, i - 1, OSC_TREE_PARENT);
        uint32_t parent = above == 0 ? 0 : osc_idmap_get(&rows, above);
        if (osc_result_get_int(r, i - 1, OSC_TREE_HASH) == 0)
            continue;

        parent = parent < i ? parent : 0;
        s->next[i] = s->first_child[parent];
        s->first_child[parent] = i;
    }
    osc_idmap_fini(&rows);
    return st;
}

static osc_status add_to_list(struct side *s, uint32_t node)
{
    if (osc_grow(&s->lists, &s->cap, s->n + 1, sizeof *s->lists) != OSC_OK)
        return OSC_ENOMEM;
    s->lists[s->n++] = node;
    return OSC_OK;
}

/* Append the children of NODE to the lists of S. */
static osc_status add_children(struct side *s, uint32_t node)
{
    osc_status st = OSC_OK;

    for (uint32_t c = s->first_child[node]; c != 0 && st == OSC_OK; c = s->next[c])
        st = add_to_list(s, c);
    return st;
}

static enum osc_kind kind_of(const struct side *s, uint32_t node)
{
    return (enum osc_kind)osc_result_get_int(s->rows, node - 1, OSC_TREE_KIND);
}

/* The list of what is in the steps, or without steps of all top nodes. */
static osc_status list_top(struct side *s, struct list *list)
{
    bool has_steps = false;
    osc_status st = OSC_OK;

    list->first = s->n;
    for (uint32_t c = s->first_child[0]; c != 0; c = s->next[c])
        has_steps |= kind_of(s, c) == OSC_KIND_STEP;
    for (uint32_t c = s->first_child[0]; c != 0 && st == OSC_OK; c = s->next[c]) {
        if (!has_steps)
            st = add_to_list(s, c);
        else if (kind_of(s, c) == OSC_KIND_STEP)
            st = add_children(s, c);
    }
    list->end = s->n;
    return st;
}

static struct osc_str name_of(const struct side *s, uint32_t node)
{
    return osc_result_get_str(s->rows, node - 1, OSC_TREE_NAME);
}

/* The class of a node that can match; 0: it cannot. */
static int class_of(const struct side *s, uint32_t node)
{
    const enum osc_kind kind = kind_of(s, node);

    if (kind == OSC_KIND_DATALOADER || kind == OSC_KIND_MODULE || kind == OSC_KIND_STEP)
        return (int)kind;
    return osc_str_starts(name_of(s, node), OSC_STR("Optimizer.step")) ? OSC_KIND_OPTIMIZER : 0;
}

/* Put a pair on the stack, the K-th child of ABOVE. */
static osc_status push(struct comparing *c, struct list a, struct list b,
                       const struct pair *above, uint32_t k)
{
    if (osc_grow(&c->stack, &c->cap, c->n + 1, sizeof *c->stack) != OSC_OK)
        return OSC_ENOMEM;
    const size_t path = c->paths.len;
    if (above) {
        struct osc_strbuf text = {0};

        osc_strbuf_addf(&text, "%s-%u", c->paths.s + above->path, k);
        if (text.status == OSC_OK)
            osc_strbuf_add(&c->paths, text.s, text.len + 1);
        else
            c->paths.status = text.status;
        osc_strbuf_fini(&text);
    } else {
        osc_strbuf_add(&c->paths, "0", 2);
    }
    c->stack[c->n++] = (struct pair){.lists = {a, b},
                                     .is_group = {a.end - a.first != 1, b.end - b.first != 1},
                                     .depth = above ? above->depth + 1 : 0,
                                     .path = path};
    return c->paths.status;
}

/* The children of both sides of P as lists. */
static osc_status list_children(struct comparing *c, const struct pair *p, struct list *lists)
{
    osc_status st = OSC_OK;

    for (int s = 0; s < 2; s++) {
        struct side *const side = &c->sides[s];

        lists[s].first = side->n;
        for (size_t k = p->lists[s].first; k < p->lists[s].end && st == OSC_OK; k++)
            st = add_children(side, side->lists[k]);
        lists[s].end = side->n;
    }
    return st;
}

/* The first node of LIST from place FROM on that matches NODE of the base; list->end: none. */
static size_t find_match(const struct comparing *c, uint32_t node, size_t from, size_t end)
{
    const struct side *const base = &c->sides[0], *const new_ = &c->sides[1];
    const int class = class_of(base, node);

    while (from < end && (class_of(new_, new_->lists[from]) != class ||
                          !osc_str_eq(name_of(new_, new_->lists[from]), name_of(base, node))))
        from++;
    return from;
}

/* Put what LISTS have between two matches, and the matches, on the stack. */
static osc_status push_matches(struct comparing *c, const struct list *lists,
                               const struct pair *above)
{
    const size_t from = c->n;
    size_t a = lists[0].first, b = lists[1].first;
    uint32_t k = 0;
    osc_status st = OSC_OK;

    for (size_t i = a; i < lists[0].end && st == OSC_OK; i++) {
        const uint32_t node = c->sides[0].lists[i];
        const size_t match =
            class_of(&c->sides[0], node) ? find_match(c, node, b, lists[1].end) : lists[1].end;

        if (match == lists[1].end)
            continue;
        if (i > a || match > b)
            st = push(c, (struct list){a, i}, (struct list){b, match}, above, k++);
        if (st == OSC_OK)
            st = push(c, (struct list){i, i + 1}, (struct list){match, match + 1}, above, k++);
        a = i + 1;
        b = match + 1;
    }
    if (k > 0 && st == OSC_OK && (a < lists[0].end || b < lists[1].end))
        st = push(c, (struct list){a, lists[0].end}, (struct list){b, lists[1].end}, above, k);
    for (size_t i = from, last = c->n; i + 1 < last; i++) {
        const struct pair swapped = c->stack[--last];

        c->stack[last] = c->stack[i];
        c->stack[i] = swapped;
    }
    return st;
}

static struct osc_plugin_side sums_of(const struct side *s, const struct list *list)
{
    struct osc_plugin_side sums = {.name = OSC_STR("CompositeNodes")};

    if (list->first == list->end)
        sums.name = OSC_STR("Blank");
    if (list->end - list->first == 1)
        sums.name = name_of(s, s->lists[list->first]);
    for (size_t k = list->first; k < list->end; k++) {
        const uint32_t row = s->lists[k] - 1;

        sums.calls++;
        sums.host_ns += osc_result_get_int(s->rows, row, OSC_TREE_HOST);
        sums.device_ns += osc_result_get_int(s->rows, row, OSC_TREE_DEVICE);
    }
    return sums;
}

static osc_status compare(struct comparing *c)
{
    struct list lists[2];
    osc_status st = list_top(&c->sides[0], &lists[0]);

    if (st == OSC_OK)
        st = list_top(&c->sides[1], &lists[1]);
    if (st == OSC_OK)
        st = push(c, lists[0], lists[1], NULL, 0);
    bool is_top = true;
    while (c->n > 0 && st == OSC_OK) {
        const struct pair p = c->stack[--c->n];
        struct osc_plugin_side sums[2];

        for (int s = 0; s < 2; s++) {
            sums[s] = sums_of(&c->sides[s], &p.lists[s]);
            if (is_top)
                sums[s].name = OSC_STR("CompositeNodes");
        }
        c->pairs->add(c->pairs->ctx, osc_str_c(c->paths.s + p.path), p.depth, &sums[0],
                      &sums[1]);
        if (is_top)
            st = push_matches(c, p.lists, &p);
        else if (p.is_group[0] == p.is_group[1] && p.depth < DEPTH_MAX) {
            st = list_children(c, &p, lists);
            if (st == OSC_OK)
                st = push_matches(c, lists, &p);
        }
        is_top = false;
    }
    return st;
}

osc_status osc_plugin_tree_compare(const struct osc_result *base, const struct osc_result *new_,
                                   const struct osc_plugin_pairs *pairs)
{
    struct comparing c = {.pairs = pairs};
    osc_status st = make_side(base, &c.sides[0]);

    if (st == OSC_OK)
        st = make_side(new_, &c.sides[1]);
    if (st == OSC_OK && base->n_rows + new_->n_rows > 2)
        st = compare(&c);
    for (int s = 0; s < 2; s++) {
        osc_free(c.sides[s].first_child);
        osc_free(c.sides[s].next);
        osc_free(c.sides[s].lists);
    }
    osc_free(c.stack);
    osc_strbuf_fini(&c.paths);
    return st;
}
