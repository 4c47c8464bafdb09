/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/data_flow.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

/* What a node does to an object, bits by osc_touch_what, as it comes of sorting. */
struct use {
    uint32_t node, object;
    uint8_t what;
};

struct work {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_touches *touches;
    struct osc_data_flow *flow;
    size_t cap_objects;
    uint8_t *is_tensor; /* owned; by object */
    uint32_t *node_of;  /* owned; by place in osc_order.rows: node + 1, or 0 */
    struct use *uses;   /* owned */
    size_t n_uses;
};

/* Where memory is: bytes to compare, without padding. */
struct key {
    uint64_t address, process;
};

/* The objects at addresses, while they are there. */
struct places {
    struct osc_arena arena;
    struct osc_intern keys;
    uint32_t *object; /* owned; by id: object + 1, or 0 */
    size_t cap;
};

static uint32_t *place_of(struct places *p, const struct osc_touch *touch)
{
    const struct key key = {touch->address, touch->process};
    const size_t before = p->keys.n_entries;
    osc_sid id;

    if (osc_intern_add(&p->keys, (struct osc_str){(const char *)&key, sizeof key}, &id) !=
            OSC_OK ||
        osc_grow(&p->object, &p->cap, (size_t)id.v + 1, sizeof *p->object) != OSC_OK)
        return NULL;
    if (id.v > before)
        p->object[id.v] = 0;
    return &p->object[id.v];
}

/* Set *AT to a new object, which TOUCH is the first to touch. */
static osc_status add_object(struct work *w, const struct osc_touch *touch, uint32_t *at)
{
    struct osc_data_flow *const flow = w->flow;

    if (osc_grow(&flow->objects, &w->cap_objects, (size_t)flow->n_objects + 1,
                 sizeof *flow->objects) != OSC_OK)
        return OSC_ENOMEM;
    flow->objects[flow->n_objects++] = (struct osc_flow_object){.process = touch->process};
    *at = flow->n_objects;
    return OSC_OK;
}

/* Give each touch its object. */
static osc_status find_objects(struct work *w, struct places *places)
{
    const struct osc_touches *const touches = w->touches;
    struct osc_data_flow *const flow = w->flow;

    for (size_t i = 0; i < touches->n; i++) {
        const struct osc_touch *const touch = &touches->all[i];
        uint32_t *const at = place_of(places, touch);

        if (!at)
            return OSC_ENOMEM;
        if ((*at == 0 || touch->what == OSC_TOUCH_ALLOC) && add_object(w, touch, at) != OSC_OK)
            return OSC_ENOMEM;
        struct osc_flow_object *const object = &flow->objects[*at - 1];
        flow->object_of_touch[i] = *at - 1;
        if (touch->what == OSC_TOUCH_ALLOC) {
            flow->object_of_record[touch->record] = *at;
            object->alloc = touch->record + 1;
        } else if (touch->what == OSC_TOUCH_FREE) {
            object->release = touch->record + 1;
            *at = 0;
        } else {
            w->is_tensor[flow->object_of_touch[i]] = 1;
        }
    }
    return OSC_OK;
}

static int compare_nodes(const void *pa, const void *pb)
{
    const struct osc_flow_node *const a = pa, *const b = pb;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool is_of_memory(const struct osc_touch *touch)
{
    return touch->what == OSC_TOUCH_ALLOC || touch->what == OSC_TOUCH_FREE;
}

/* Whether touch I makes an edge. */
static bool is_use(const struct work *w, size_t i)
{
    const struct osc_touch *const touch = &w->touches->all[i];

    return touch->what <= OSC_TOUCH_USED && (touch->unit != 0 || is_of_memory(touch)) &&
           w->is_tensor[w->flow->object_of_touch[i]];
}

/* Make the nodes: units that touch anything, and records outside of units. */
static osc_status make_nodes(struct work *w)
{
    const struct osc_touches *const touches = w->touches;
    struct osc_data_flow *const flow = w->flow;
    size_t cap = 0;

    for (size_t i = 0; i < touches->n; i++) {
        const struct osc_touch *const touch = &touches->all[i];
        const uint32_t unit = touch->unit;

        if (!is_use(w, i) || (unit != 0 && w->node_of[unit - 1] != 0))
            continue;
        if (osc_grow(&flow->nodes, &cap, (size_t)flow->n_nodes + 1, sizeof *flow->nodes) !=
            OSC_OK)
            return OSC_ENOMEM;
        struct osc_flow_node *const node = &flow->nodes[flow->n_nodes++];
        *node = (struct osc_flow_node){.start_ns = touch->time_ns, .row = touch->row};
        if (unit == 0)
            continue;
        const osc_row row = {w->f->order.rows[unit - 1]};
        node->start_ns = osc_chunk_of(&w->t->events, row)->ts_ns[osc_row_place(row)];
        node->row = row.v;
        node->unit = unit;
        node->is_in_backward = touches->flags[unit - 1] & OSC_UNIT_BACKWARD;
        w->node_of[unit - 1] = 1;
    }
    osc_sort(flow->nodes, flow->n_nodes, sizeof *flow->nodes, compare_nodes);
    for (uint32_t n = 0; n < flow->n_nodes; n++) {
        if (flow->nodes[n].unit != 0)
            w->node_of[flow->nodes[n].unit - 1] = n + 1;
    }
    return OSC_OK;
}

static int compare_uses(const void *pa, const void *pb)
{
    const struct use *const a = pa, *const b = pb;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* The node of a record of memory outside of units. */
static uint32_t node_of_record(const struct osc_data_flow *flow, const struct osc_touch *touch)
{
    const struct osc_flow_node key = {.start_ns = touch->time_ns, .row = touch->row};
    uint32_t low = 0, high = flow->n_nodes;

    OSC_BISECT(low, high, i, compare_nodes(&flow->nodes[i], &key) < 0);
    return low;
}

static osc_status find_uses(struct work *w)
{
    w->uses = osc_malloc((w->touches->n + 1) * sizeof *w->uses);
    if (!w->uses)
        return OSC_ENOMEM;
    for (size_t i = 0; i < w->touches->n; i++) {
        const struct osc_touch *const touch = &w->touches->all[i];

        if (!is_use(w, i))
            continue;
        w->uses[w->n_uses++] =
            (struct use){.node = touch->unit != 0 ? w->node_of[touch->unit - 1] - 1
                                                  : node_of_record(w->flow, touch),
                         .object = w->flow->object_of_touch[i],
                         .what = touch->what};
    }
    osc_sort(w->uses, w->n_uses, sizeof *w->uses, compare_uses);
    return OSC_OK;
}

/* The edge of a node that does WHAT, bits, to an object, whose version is *VERSION. */
static struct osc_flow_edge edge_of(unsigned what, uint32_t object, uint32_t *version)
{
    const bool is_alloc = what & 1u << OSC_TOUCH_ALLOC, is_free = what & 1u << OSC_TOUCH_FREE;
    const unsigned known = 1u << OSC_TOUCH_READ | 1u << OSC_TOUCH_WRITTEN;
    /* A call without a schema may have written. */
    const bool is_changed =
        what & 1u << OSC_TOUCH_WRITTEN || (what & 1u << OSC_TOUCH_USED && !(what & known));
    struct osc_flow_edge edge = {object, is_alloc ? OSC_NO_VERSION : *version, OSC_NO_VERSION};

    if (is_free)
        return edge;
    if (is_alloc)
        edge.output = 0; /* also where a longer node, which begins earlier, uses it before */
    else if (is_changed)
        edge.output = ++*version;
    return edge;
}

/* Make edges of the uses, with VERSIONS of all objects, 0 at first. */
static osc_status make_edges(struct work *w, uint32_t *versions)
{
    struct osc_data_flow *const flow = w->flow;

    flow->edges = osc_malloc((w->n_uses + 1) * sizeof *flow->edges);
    if (!flow->edges)
        return OSC_ENOMEM;
    for (size_t i = 0, end; i < w->n_uses; i = end) {
        const struct use *const use = &w->uses[i];
        struct osc_flow_node *const node = &flow->nodes[use->node];
        unsigned what = 0;

        for (end = i; end < w->n_uses && w->uses[end].node == use->node &&
                      w->uses[end].object == use->object;
             end++)
            what |= 1u << w->uses[end].what;
        if (node->n++ == 0)
            node->first = flow->n_edges;
        flow->edges[flow->n_edges++] = edge_of(what, use->object, &versions[use->object]);
    }
    return OSC_OK;
}

/* Number the versions, of which the last ones of the objects are LAST. */
static osc_status number_versions(struct osc_data_flow *flow, const uint32_t *last)
{
    uint32_t n = 0;

    flow->first_version = osc_malloc(((size_t)flow->n_objects + 1) * sizeof(uint32_t));
    if (!flow->first_version)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < flow->n_objects; i++) {
        flow->first_version[i] = n;
        n += last[i] + 1;
    }
    flow->first_version[flow->n_objects] = n;
    flow->n_versions = n;
    flow->since_ns = osc_malloc(((size_t)n + 1) * sizeof *flow->since_ns);
    flow->row_of_version = osc_calloc((size_t)n + 1, sizeof *flow->row_of_version);
    if (!flow->since_ns || !flow->row_of_version)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        flow->since_ns[i] = INT64_MIN;
    for (uint32_t i = 0; i < flow->n_nodes; i++) {
        const struct osc_flow_node *const node = &flow->nodes[i];

        for (uint32_t e = node->first; e < node->first + node->n; e++) {
            const struct osc_flow_edge *const edge = &flow->edges[e];

            if (edge->output == OSC_NO_VERSION || edge->output == 0)
                continue;
            const uint32_t version = flow->first_version[edge->object] + edge->output;
            flow->since_ns[version] = node->start_ns;
            flow->row_of_version[version] = node->row;
        }
    }
    return OSC_OK;
}

/* Make the graph, now that the objects are known. */
static osc_status make_graph(struct work *w)
{
    uint32_t *const versions = osc_calloc((size_t)w->flow->n_objects + 1, sizeof *versions);
    osc_status st = versions ? make_nodes(w) : OSC_ENOMEM;

    if (st == OSC_OK)
        st = find_uses(w);
    if (st == OSC_OK)
        st = make_edges(w, versions);
    if (st == OSC_OK)
        st = number_versions(w->flow, versions);
    osc_free(versions);
    return st;
}

osc_status osc_data_flow_make(const struct osc_trace *t, const struct osc_facts *f,
                              const struct osc_touches *touches, struct osc_data_flow *flow)
{
    struct work w = {.t = t, .f = f, .touches = touches, .flow = flow};
    struct places places = {.keys.seed = osc_hash_seed()};
    osc_status st = OSC_ENOMEM;

    if (touches->n == 0)
        return OSC_OK;
    if (touches->n >= OSC_NO_VERSION / 2) /* objects, edges and versions have 32 bits */
        return OSC_ELIMIT;
    places.keys.arena = &places.arena;
    flow->object_of_touch = osc_malloc(touches->n * sizeof *flow->object_of_touch);
    flow->object_of_record =
        osc_calloc(f->allocations.n_records, sizeof *flow->object_of_record);
    w.is_tensor = osc_calloc(touches->n, 1);
    w.node_of = osc_calloc(f->order.n_rows, sizeof *w.node_of);
    if (flow->object_of_touch && flow->object_of_record && w.is_tensor && w.node_of)
        st = find_objects(&w, &places);
    if (st == OSC_OK)
        st = make_graph(&w);
    osc_free(w.is_tensor);
    osc_free(w.node_of);
    osc_free(w.uses);
    osc_free(places.object);
    osc_intern_fini(&places.keys);
    osc_arena_fini(&places.arena);
    return st;
}

void osc_data_flow_fini(struct osc_data_flow *flow)
{
    osc_free(flow->nodes);
    osc_free(flow->edges);
    osc_free(flow->objects);
    osc_free(flow->first_version);
    osc_free(flow->since_ns);
    osc_free(flow->row_of_version);
    osc_free(flow->object_of_record);
    osc_free(flow->object_of_touch);
    *flow = (struct osc_data_flow){0};
}
