/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/call_graph.h"

#include "analysis/diff/change.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"

/* The node of the operator or kernel NAME, which is added if it is new. */
static osc_status find_node(struct osc_call_graph *g, struct osc_str name, bool is_kernel,
                            uint32_t *node)
{
    struct osc_strbuf key = {0};
    osc_sid id;

    osc_strbuf_addc(&key, is_kernel ? 'k' : 'o');
    osc_strbuf_addstr(&key, name);
    osc_status st = key.status;
    if (st == OSC_OK)
        st = osc_intern_add(&g->keys, (struct osc_str){key.s, (uint32_t)key.len}, &id);
    osc_strbuf_fini(&key);
    if (st != OSC_OK)
        return st;
    if (id.v > g->n) {
        if (osc_grow(&g->names, &g->cap_nodes[0], id.v, sizeof *g->names) != OSC_OK ||
            osc_grow(&g->is_on, &g->cap_nodes[1], id.v, sizeof *g->is_on) != OSC_OK ||
            osc_grow(&g->is_kernel, &g->cap_nodes[2], id.v, sizeof *g->is_kernel) != OSC_OK)
            return OSC_ENOMEM;
        const struct osc_str kept = osc_intern_str(&g->keys, id);
        g->names[g->n] = (struct osc_str){kept.s + 1, kept.len - 1};
        g->is_on[g->n][0] = g->is_on[g->n][1] = false;
        g->is_kernel[g->n] = is_kernel;
        g->n++;
    }
    *node = id.v - 1;
    return OSC_OK;
}

static osc_status add_edges(struct osc_call_graph *g, const struct osc_result *calls, int side,
                            struct osc_idmap *places)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < calls->n_rows && st == OSC_OK; i++) {
        uint32_t caller = OSC_NO_NODE, callee = OSC_NO_NODE;

        st = find_node(g, osc_result_get_str(calls, i, OSC_CALLS_NAME),
                       osc_result_get_bool(calls, i, OSC_CALLS_IS_KERNEL), &callee);
        if (st == OSC_OK && osc_result_has(calls, i, OSC_CALLS_CALLER))
            st = find_node(g, osc_result_get_str(calls, i, OSC_CALLS_CALLER), false, &caller);
        if (st != OSC_OK)
            return st;
        uint32_t *const place = osc_idmap_put(places, (uint64_t)caller << 32 | callee);
        if (!place || (*place == 0 && osc_grow(&g->edges, &g->cap_edges, g->n_edges + 1,
                                               sizeof *g->edges) != OSC_OK))
            return OSC_ENOMEM;
        if (*place == 0) {
            g->edges[g->n_edges] = (struct osc_call_edge){.caller = caller, .callee = callee};
            *place = (uint32_t)++g->n_edges;
        }
        struct osc_call_edge *const edge = &g->edges[*place - 1];
        edge->is_on[side] = true;
        edge->ns[side] += osc_result_get_int(calls, i, OSC_CALLS_HOST);
        g->is_on[callee][side] = true;
    }
    return st;
}

/* List the edges of each node by its caller or its callee. */
static osc_status list_edges(const struct osc_call_graph *g, bool by_caller, uint32_t **list,
                             uint32_t **first)
{
    *list = osc_calloc(g->n_edges + 1, sizeof **list);
    *first = osc_calloc((size_t)g->n + 2, sizeof **first);
    if (!*list || !*first)
        return OSC_ENOMEM;
    for (size_t e = 0; e < g->n_edges; e++) {
        const uint32_t node = by_caller ? g->edges[e].caller : g->edges[e].callee;

        if (node != OSC_NO_NODE)
            (*first)[node + 2]++;
    }
    for (uint32_t k = 2; k < g->n + 2; k++)
        (*first)[k] += (*first)[k - 1];
    for (size_t e = 0; e < g->n_edges; e++) {
        const uint32_t node = by_caller ? g->edges[e].caller : g->edges[e].callee;

        if (node != OSC_NO_NODE)
            (*list)[(*first)[node + 1]++] = (uint32_t)e;
    }
    return OSC_OK;
}

osc_status osc_call_graph_make(struct osc_call_graph *g, const struct osc_result *operators,
                               const struct osc_result *const *calls)
{
    const struct osc_change_columns at = osc_change_columns(operators->def, 0);
    struct osc_idmap places = {0};
    osc_status st = OSC_OK;
    uint32_t node;

    *g = (struct osc_call_graph){0};
    g->keys.arena = &g->arena;
    g->keys.seed = osc_hash_seed();
    for (uint64_t i = 0; i < operators->n_rows && st == OSC_OK; i++)
        st = find_node(g, osc_result_get_str(operators, i, at.name), false, &node);
    g->n_operators = g->n;
    for (int s = 0; s < 2 && st == OSC_OK; s++)
        st = add_edges(g, calls[s], s, &places);
    osc_idmap_fini(&places);
    if (st == OSC_OK)
        st = list_edges(g, false, &g->callers, &g->first_caller);
    if (st == OSC_OK)
        st = list_edges(g, true, &g->callees, &g->first_callee);
    return st;
}

void osc_call_graph_fini(struct osc_call_graph *g)
{
    osc_free(g->names);
    osc_free(g->is_on);
    osc_free(g->is_kernel);
    osc_free(g->edges);
    osc_free(g->callers);
    osc_free(g->first_caller);
    osc_free(g->callees);
    osc_free(g->first_callee);
    osc_intern_fini(&g->keys);
    osc_arena_fini(&g->arena);
    *g = (struct osc_call_graph){0};
}

uint32_t osc_call_graph_only_caller(const struct osc_call_graph *g, uint32_t node)
{
    uint32_t only = OSC_NO_NODE;

    for (uint32_t k = g->first_caller[node]; k < g->first_caller[node + 1]; k++) {
        const uint32_t caller = g->edges[g->callers[k]].caller;

        if (caller == OSC_NO_NODE || only != OSC_NO_NODE || caller == node)
            return OSC_NO_NODE;
        only = caller;
    }
    return only != OSC_NO_NODE && g->is_on[only][0] && g->is_on[only][1] ? only : OSC_NO_NODE;
}
