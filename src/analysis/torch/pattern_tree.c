/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/pattern_tree.h"

#include "base/mem.h"
#include "derive/facts.h"

osc_status osc_pattern_tree_init(struct osc_pattern_tree *p, const struct osc_trace *t)
{
    p->t = t;
    p->n_names = osc_trace_facts(t)->classes.n_names;
    p->names = osc_calloc((size_t)p->n_names + 1, sizeof *p->names);
    return p->names ? OSC_OK : OSC_ENOMEM;
}

void osc_pattern_tree_fini(struct osc_pattern_tree *p)
{
    osc_free(p->names);
    osc_free(p->nodes);
    *p = (struct osc_pattern_tree){0};
}

static uint32_t bits_of(struct osc_pattern_tree *p, uint32_t name)
{
    if (p->names[name] == 0)
        p->names[name] = osc_pattern_name(osc_trace_str(p->t, (osc_sid){name}));
    return p->names[name];
}

/* The node of row PARENT among node NODE and those around it, + 1; 0: none. */
static uint32_t find_parent(const struct osc_pattern_tree *p, uint32_t node, uint32_t parent)
{
    while (node > 0 && p->nodes[node - 1].row != parent)
        node = p->nodes[node - 1].parent;
    return node;
}

/* Append row ROW. *ROOT is the last node without a parent, + 1. */
static void add_node(struct osc_pattern_tree *p, uint32_t row, uint32_t *root)
{
    const struct osc_chunk *const c = osc_chunk_of(&p->t->events, (osc_row){row});
    const uint32_t i = osc_row_place((osc_row){row}), self = p->n + 1;
    struct osc_pattern_node *const node = &p->nodes[p->n];

    *node = (struct osc_pattern_node){.row = row, .bits = bits_of(p, c->name[i])};
    /* Nodes that do not contain this one have ended: none contains what follows. */
    node->parent = find_parent(p, p->n, c->parent[i]);
    uint32_t *const last = node->parent > 0 ? &p->nodes[node->parent - 1].last : root;
    if (*last > 0)
        p->nodes[*last - 1].next = self;
    *last = self;
    p->n++;
    if (node->parent == 0) {
        node->module = self;
        return;
    }
    const struct osc_pattern_node *const parent = &p->nodes[node->parent - 1];
    node->module = node->bits & OSC_PATTERN_NAME_MODULE ? self : parent->module;
    node->caller = parent->bits & OSC_PATTERN_NAME_FRAME ? node->parent : parent->caller;
}

/* Find the flags that follow from what is in a node. */
static void look_inside(struct osc_pattern_tree *p)
{
    for (uint32_t k = p->n; k > 0; k--) {
        struct osc_pattern_node *const node = &p->nodes[k - 1];
        struct osc_pattern_node *const parent =
            node->parent > 0 ? &p->nodes[node->parent - 1] : NULL;

        if ((node->bits & OSC_PATTERN_NAME_FILL) ||
            (node->last > 0 && (p->nodes[node->last - 1].flags & OSC_PATTERN_FILLS)))
            node->flags |= OSC_PATTERN_FILLS;
        if (parent && ((node->flags & OSC_PATTERN_HAS_ZERO) ||
                       ((node->bits & OSC_PATTERN_NAME_ZERO) &&
                        !(parent->bits & OSC_PATTERN_NAME_ZEROS))))
            parent->flags |= OSC_PATTERN_HAS_ZERO;
    }
}

/* Find those that follow from the sibling before. */
static void look_aside(struct osc_pattern_tree *p)
{
    for (uint32_t k = 0; k < p->n; k++) {
        const struct osc_pattern_node *const node = &p->nodes[k];
        const bool fills = node->last > 0
                               ? (p->nodes[node->last - 1].flags & OSC_PATTERN_FILLS) != 0
                               : (node->bits & OSC_PATTERN_NAME_FILL) != 0;

        if (fills && node->next > 0)
            p->nodes[node->next - 1].flags |= OSC_PATTERN_AFTER_FILL;
    }
}

osc_status osc_pattern_tree_make(struct osc_pattern_tree *p, uint32_t track)
{
    const struct osc_order *const o = &osc_trace_facts(p->t)->order;
    const uint32_t first = o->first[track], n = o->first[track + 1] - first;
    uint32_t root = 0;

    p->n = 0;
    if (osc_grow(&p->nodes, &p->cap, (size_t)n + 1, sizeof *p->nodes) != OSC_OK)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k < n; k++)
        add_node(p, o->rows[first + k], &root);
    look_inside(p);
    look_aside(p);
    return OSC_OK;
}
