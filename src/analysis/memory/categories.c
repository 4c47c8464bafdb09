/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/categories.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

/* What is found, by object and version. The category of an object holds for all its versions
 * and goes before the others; TEMPORARY comes next. */
struct work {
    const struct osc_data_flow *flow;
    const struct osc_touches *touches;
    uint8_t *of_object;    /* owned; enum osc_memory_category */
    uint8_t *is_temporary; /* owned; by object */
    uint8_t *of_version;   /* owned by the result */
    uint8_t *depends;      /* owned; by object: some version depends on a gradient */
    uint8_t *marks;        /* owned; by version, scratch: bits of enum mark */
};

enum mark { MARK_FORWARD = 1, MARK_PARAMETER = 2, MARK_USED = 4, MARK_MADE_BACKWARD = 8 };

/* For each edge of NODE. NOLINTBEGIN(bugprone-macro-parentheses): EDGE is declared. */
#define EACH_EDGE(w, node, edge)                                              \
    for (const struct osc_flow_edge *edge = (w)->flow->edges + (node)->first, \
                                    *const edge##_end = edge + (node)->n;     \
         edge < edge##_end; edge++)
/* NOLINTEND(bugprone-macro-parentheses) */

static uint32_t number_of(const struct work *w, uint32_t object, uint32_t version)
{
    return w->flow->first_version[object] + version;
}

static enum osc_memory_category category_of(const struct work *w, uint32_t object,
                                            uint32_t version)
{
    if (w->of_object[object] != OSC_CATEGORY_NONE)
        return (enum osc_memory_category)w->of_object[object];
    if (w->is_temporary[object])
        return OSC_CATEGORY_TEMPORARY;
    return (enum osc_memory_category)w->of_version[number_of(w, object, version)];
}

/* Give a version a category unless it has one of its own. */
static void set_default(struct work *w, uint32_t object, uint32_t version,
                        enum osc_memory_category category)
{
    uint8_t *const of = &w->of_version[number_of(w, object, version)];

    *of = *of == OSC_CATEGORY_NONE ? (uint8_t)category : *of;
}

/* Give the objects that are touched as WHAT a CATEGORY. */
static void set_touched(struct work *w, enum osc_touch_what what,
                        enum osc_memory_category category)
{
    for (size_t i = 0; i < w->touches->n; i++) {
        if (w->touches->all[i].what == what)
            w->of_object[w->flow->object_of_touch[i]] = (uint8_t)category;
    }
}

static void set_temporaries(struct work *w)
{
    for (uint32_t i = 0; i < w->flow->n_edges; i++) {
        const struct osc_flow_edge *const e = &w->flow->edges[i];

        if (e->input == OSC_NO_VERSION && e->output == OSC_NO_VERSION)
            w->is_temporary[e->object] = 1;
    }
}

/* Whether the object is a gradient or a parameter, which no single version is. */
static bool is_learned(const struct work *w, uint32_t object)
{
    return w->of_object[object] == OSC_CATEGORY_GRADIENT ||
           w->of_object[object] == OSC_CATEGORY_PARAMETER;
}

/* The nodes that find each object, and the objects that are still to be followed. */
struct search {
    uint32_t *first, *node; /* owned; those of object i are node[first[i]] up to first[i + 1] */
    uint32_t *waiting;      /* owned */
    uint8_t *is_followed;   /* owned; by node */
    uint32_t n_waiting;
};

static osc_status search_init(struct search *s, const struct osc_data_flow *flow)
{
    s->first = osc_calloc((size_t)flow->n_objects + 2, sizeof *s->first);
    s->node = osc_malloc(((size_t)flow->n_edges + 1) * sizeof *s->node);
    s->waiting = osc_malloc(((size_t)flow->n_objects + 1) * sizeof *s->waiting);
    s->is_followed = osc_calloc((size_t)flow->n_nodes + 1, 1);
    if (!s->first || !s->node || !s->waiting || !s->is_followed)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < flow->n_edges; i++)
        s->first[flow->edges[i].object + 2] += flow->edges[i].input != OSC_NO_VERSION;
    for (uint32_t i = 2; i <= flow->n_objects; i++)
        s->first[i] += s->first[i - 1];
    for (uint32_t n = 0; n < flow->n_nodes; n++) {
        const struct osc_flow_node *const node = &flow->nodes[n];

        for (uint32_t e = node->first; e < node->first + node->n; e++) {
            if (flow->edges[e].input != OSC_NO_VERSION)
                s->node[s->first[flow->edges[e].object + 1]++] = n;
        }
    }
    return OSC_OK;
}

static void search_fini(struct search *s)
{
    osc_free(s->first);
    osc_free(s->node);
    osc_free(s->waiting);
    osc_free(s->is_followed);
}

static void add_dependent(struct work *w, struct search *s, uint32_t object)
{
    if (w->depends[object])
        return;
    w->depends[object] = 1;
    s->waiting[s->n_waiting++] = object;
}

/* Find the objects of which some version depends on a gradient or a parameter: what a node
 * makes depends on all that it finds, in whatever version. */
static osc_status find_dependent(struct work *w)
{
    const struct osc_data_flow *const flow = w->flow;
    struct search s = {0};
    const osc_status st = search_init(&s, flow);

    for (uint32_t i = 0; i < flow->n_objects && st == OSC_OK; i++) {
        if (is_learned(w, i) && s.first[i + 1] > s.first[i])
            add_dependent(w, &s, i);
    }
    while (s.n_waiting > 0) {
        const uint32_t object = s.waiting[--s.n_waiting];

        for (uint32_t k = s.first[object]; k < s.first[object + 1]; k++) {
            const struct osc_flow_node *const node = &flow->nodes[s.node[k]];

            if (s.is_followed[s.node[k]])
                continue;
            s.is_followed[s.node[k]] = 1;
            EACH_EDGE(w, node, e)
            {
                if (e->output != OSC_NO_VERSION)
                    add_dependent(w, &s, e->object);
            }
        }
    }
    search_fini(&s);
    return st;
}

/* Whether NODE finds or makes something that is learned, or contributes to it. */
static bool is_for_gradient(const struct work *w, const struct osc_flow_node *node)
{
    EACH_EDGE(w, node, e)
    {
        if (e->input == OSC_NO_VERSION && e->output == OSC_NO_VERSION)
            continue;
        if (is_learned(w, e->object) ||
            (e->input != OSC_NO_VERSION &&
             w->marks[number_of(w, e->object, e->input)] & MARK_USED) ||
            (e->output != OSC_NO_VERSION &&
             w->marks[number_of(w, e->object, e->output)] & MARK_USED))
            return true;
    }
    return false;
}

/* Inputs contribute to a gradient, depend on none, and are not made by a backward function. */
static void set_inputs(struct work *w)
{
    const struct osc_data_flow *const flow = w->flow;

    for (uint32_t n = flow->n_nodes; n-- > 0;) {
        const struct osc_flow_node *const node = &flow->nodes[n];
        const bool is = is_for_gradient(w, node);

        EACH_EDGE(w, node, e)
        {
            if (is && e->input != OSC_NO_VERSION)
                w->marks[number_of(w, e->object, e->input)] |= MARK_USED;
            if (is && e->output != OSC_NO_VERSION)
                w->marks[number_of(w, e->object, e->output)] |= MARK_USED;
            if (node->is_in_backward && e->output != OSC_NO_VERSION)
                w->marks[number_of(w, e->object, e->output)] |= MARK_MADE_BACKWARD;
        }
    }
    for (uint32_t i = 0; i < flow->n_objects; i++) {
        for (uint32_t v = flow->first_version[i]; v < flow->first_version[i + 1]; v++) {
            if (!w->depends[i] && (w->marks[v] & (MARK_USED | MARK_MADE_BACKWARD)) == MARK_USED)
                w->of_version[v] = OSC_CATEGORY_INPUT;
        }
    }
}

/* Whether NODE may be of the forward pass: it has an input, and nothing of the backward pass.
 */
static bool is_forward(const struct work *w, const struct osc_flow_node *node)
{
    bool has_forward = false;

    if (node->is_in_backward)
        return false;
    EACH_EDGE(w, node, e)
    {
        const bool is_there = e->input != OSC_NO_VERSION || e->output != OSC_NO_VERSION;

        if (is_there && w->of_object[e->object] == OSC_CATEGORY_GRADIENT)
            return false;
        if (e->input != OSC_NO_VERSION)
            has_forward =
                has_forward || w->marks[number_of(w, e->object, e->input)] & MARK_FORWARD;
    }
    return has_forward;
}

/* Mark what the forward pass uses without having made it. */
static void mark_candidates(struct work *w)
{
    const struct osc_data_flow *const flow = w->flow;

    for (uint32_t i = 0; i < flow->n_objects; i++) {
        for (uint32_t v = flow->first_version[i]; v < flow->first_version[i + 1]; v++) {
            const bool is_input =
                category_of(w, i, v - flow->first_version[i]) == OSC_CATEGORY_INPUT;

            w->marks[v] = is_input ? MARK_FORWARD : 0;
        }
    }
    for (uint32_t n = 0; n < flow->n_nodes; n++) {
        const struct osc_flow_node *const node = &flow->nodes[n];

        if (!is_forward(w, node))
            continue;
        EACH_EDGE(w, node, e)
        {
            if (e->output != OSC_NO_VERSION)
                w->marks[number_of(w, e->object, e->output)] |= MARK_FORWARD;
        }
        EACH_EDGE(w, node, e)
        {
            if (e->input != OSC_NO_VERSION &&
                !(w->marks[number_of(w, e->object, e->input)] & MARK_FORWARD))
                w->marks[number_of(w, e->object, e->input)] |= MARK_PARAMETER;
        }
    }
}

/* Whether NODE makes a gradient, or what contributes to one. */
static bool makes_gradient(const struct work *w, const struct osc_flow_node *node)
{
    EACH_EDGE(w, node, e)
    {
        if (e->output != OSC_NO_VERSION &&
            (w->of_object[e->object] == OSC_CATEGORY_GRADIENT ||
             w->marks[number_of(w, e->object, e->output)] & MARK_USED))
            return true;
    }
    return false;
}

/* Parameters that no module or optimizer told: the forward pass uses them without having made
 * them, they contribute to a gradient, and depend on one. */
static void set_parameters_by_flow(struct work *w)
{
    const struct osc_data_flow *const flow = w->flow;

    mark_candidates(w);
    for (uint32_t n = flow->n_nodes; n-- > 0;) {
        const struct osc_flow_node *const node = &flow->nodes[n];

        if (!makes_gradient(w, node))
            continue;
        EACH_EDGE(w, node, e)
        {
            if (e->input != OSC_NO_VERSION)
                w->marks[number_of(w, e->object, e->input)] |= MARK_USED;
        }
    }
    for (uint32_t i = 0; i < flow->n_objects; i++) {
        const uint8_t both = MARK_PARAMETER | MARK_USED;

        for (uint32_t v = flow->first_version[i]; v < flow->first_version[i + 1]; v++) {
            if (w->depends[i] && (w->marks[v] & both) == both)
                w->of_object[i] = OSC_CATEGORY_PARAMETER;
        }
    }
}

/* Whether NODE makes activations: of inputs or activations, and beside them only of parameters
 * and temporaries. */
static bool makes_activations(const struct work *w, const struct osc_flow_node *node)
{
    const unsigned required = 1u << OSC_CATEGORY_INPUT | 1u << OSC_CATEGORY_ACTIVATION;
    const unsigned allowed = 1u << OSC_CATEGORY_PARAMETER | 1u << OSC_CATEGORY_TEMPORARY;
    unsigned found = 0;

    if (node->is_in_backward)
        return false;
    EACH_EDGE(w, node, e)
    {
        if (e->input != OSC_NO_VERSION)
            found |= 1u << category_of(w, e->object, e->input);
    }
    return (found & required) && !(found & ~(required | allowed));
}

static void set_activations(struct work *w)
{
    for (uint32_t n = 0; n < w->flow->n_nodes; n++) {
        const struct osc_flow_node *const node = &w->flow->nodes[n];

        if (!makes_activations(w, node))
            continue;
        EACH_EDGE(w, node, e)
        {
            if (e->output != OSC_NO_VERSION)
                set_default(w, e->object, e->output, OSC_CATEGORY_ACTIVATION);
        }
    }
}

/* What backward functions make, and what they change that had no other category. */
static void set_autograd_detail(struct work *w)
{
    for (uint32_t n = 0; n < w->flow->n_nodes; n++) {
        const struct osc_flow_node *const node = &w->flow->nodes[n];

        if (!node->is_in_backward)
            continue;
        EACH_EDGE(w, node, e)
        {
            if (e->output == OSC_NO_VERSION)
                continue;
            const enum osc_memory_category before =
                e->output == 0 ? OSC_CATEGORY_NONE : category_of(w, e->object, e->output - 1);
            if (before == OSC_CATEGORY_NONE || before == OSC_CATEGORY_AUTOGRAD_DETAIL)
                set_default(w, e->object, e->output, OSC_CATEGORY_AUTOGRAD_DETAIL);
        }
    }
}

static osc_status apply_rules(struct work *w)
{
    const struct osc_data_flow *const flow = w->flow;

    set_touched(w, OSC_TOUCH_GRADIENT, OSC_CATEGORY_GRADIENT);
    set_temporaries(w);
    set_touched(w, OSC_TOUCH_PARAMETER, OSC_CATEGORY_PARAMETER);
    const osc_status st = find_dependent(w);
    if (st != OSC_OK)
        return st;
    set_inputs(w);
    set_parameters_by_flow(w);
    set_activations(w);
    set_touched(w, OSC_TOUCH_STATE, OSC_CATEGORY_OPTIMIZER_STATE);
    set_autograd_detail(w);
    for (uint32_t i = 0; i < flow->n_objects; i++) {
        for (uint32_t v = flow->first_version[i]; v < flow->first_version[i + 1]; v++)
            w->of_version[v] = (uint8_t)category_of(w, i, v - flow->first_version[i]);
    }
    return OSC_OK;
}

osc_status osc_memory_categories_make(const struct osc_trace *t, const struct osc_facts *f,
                                      struct osc_memory_categories *c)
{
    struct work w = {.flow = &c->flow, .touches = &c->touches};
    osc_status st = osc_touches_find(t, f, &c->touches);

    if (st == OSC_OK)
        st = osc_data_flow_make(t, f, &c->touches, &c->flow);
    if (st == OSC_OK && c->flow.n_objects > 0) {
        const size_t n_objects = c->flow.n_objects, n_versions = c->flow.n_versions;

        w.of_object = osc_calloc(n_objects, 1);
        w.is_temporary = osc_calloc(n_objects, 1);
        w.depends = osc_calloc(n_objects, 1);
        w.marks = osc_calloc(n_versions, 1);
        w.of_version = c->of_version = osc_calloc(n_versions, 1);
        st = w.of_object && w.is_temporary && w.depends && w.marks && w.of_version
                 ? apply_rules(&w)
                 : OSC_ENOMEM;
    }
    osc_free(w.of_object);
    osc_free(w.is_temporary);
    osc_free(w.depends);
    osc_free(w.marks);
    return st;
}

void osc_memory_categories_fini(struct osc_memory_categories *c)
{
    osc_touches_fini(&c->touches);
    osc_data_flow_fini(&c->flow);
    osc_free(c->of_version);
    *c = (struct osc_memory_categories){0};
}

enum osc_memory_category osc_memory_category_of(const struct osc_memory_categories *c,
                                                uint32_t k)
{
    const uint32_t object = c->of_version ? c->flow.object_of_record[k] : 0;

    if (object == 0)
        return OSC_CATEGORY_NONE;
    for (uint32_t v = c->flow.first_version[object - 1]; v < c->flow.first_version[object];
         v++) {
        if (c->of_version[v] != OSC_CATEGORY_NONE)
            return (enum osc_memory_category)c->of_version[v];
    }
    return OSC_CATEGORY_NONE;
}

enum osc_memory_category osc_memory_category_at(const struct osc_memory_categories *c,
                                                uint32_t k, int64_t at_ns)
{
    const uint32_t object = c->of_version ? c->flow.object_of_record[k] : 0;

    if (object == 0)
        return OSC_CATEGORY_NONE;
    const uint32_t first = c->flow.first_version[object - 1];
    uint32_t low = first + 1, high = c->flow.first_version[object];

    OSC_BISECT(low, high, v, c->flow.since_ns[v] <= at_ns);
    return (enum osc_memory_category)c->of_version[low - 1];
}

const char *osc_memory_category_word(enum osc_memory_category category)
{
    static const char *const words[OSC_CATEGORY_COUNT] = {
        [OSC_CATEGORY_PARAMETER] = "parameter",
        [OSC_CATEGORY_GRADIENT] = "gradient",
        [OSC_CATEGORY_OPTIMIZER_STATE] = "optimizer_state",
        [OSC_CATEGORY_ACTIVATION] = "activation",
        [OSC_CATEGORY_INPUT] = "input",
        [OSC_CATEGORY_TEMPORARY] = "temporary",
        [OSC_CATEGORY_AUTOGRAD_DETAIL] = "autograd_detail",
    };

    return category < OSC_CATEGORY_COUNT ? words[category] : NULL;
}
