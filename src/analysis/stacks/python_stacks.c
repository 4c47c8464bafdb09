/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/python_stacks.h"

#include <string.h>

#include "analysis/torch/averages_stacks.h"
#include "base/mem.h"
#include "codec/json.h"
#include "derive/facts.h"
#include "derive/stacks.h"

/* The Python stacks of a trace, as stacks of the tree. */
struct python {
    const struct osc_trace *t;
    struct osc_avg_tree events;
    struct osc_avg_stacks said; /* as events state them */
    struct osc_stacks rebuilt;  /* from ranges of frames, if no event states one */
    uint32_t *place_of_row;     /* pages, owned; + 1, for rebuilt stacks */
    size_t rows_bytes;
    int64_t *values; /* pages, owned; by node */
    size_t values_bytes;
    uint32_t *known;                /* owned; by stack: node + 1, or 0 */
    struct osc_strbuf text, frames; /* frames: 32-bit offsets in text */
};

static bool says_stacks(const struct osc_trace *t)
{
    for (uint32_t f = 0; f < t->n_forms; f++) {
        if (t->forms[f].known[OSC_ARG_KEY_CALL_STACK] >= 0)
            return true;
    }
    return false;
}

static osc_status rebuild(struct python *p)
{
    const struct osc_trace *const t = p->t;
    const struct osc_facts *const f = osc_trace_facts(t);
    const osc_status st = osc_stacks_make(t, &f->classes, &f->order, &p->rebuilt);

    if (st != OSC_OK)
        return st;
    p->rows_bytes =
        (((size_t)t->events.n_chunks << OSC_CHUNK_SHIFT) + 1) * sizeof *p->place_of_row;
    p->place_of_row = osc_pages_alloc(p->rows_bytes);
    if (!p->place_of_row)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < f->order.n_rows; i++)
        p->place_of_row[f->order.rows[i]] = i + 1;
    return OSC_OK;
}

/* Find the VALUE of each node that is not folded. */
static osc_status find_values(struct python *p, enum osc_python_value value)
{
    const bool is_host = value == OSC_PYTHON_HOST;
    const struct osc_avg_tree *const tree = &p->events;

    p->values_bytes = ((size_t)tree->n_host + 1) * sizeof *p->values;
    p->values = osc_pages_alloc(p->values_bytes);
    if (!p->values)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < tree->n_host; i++) {
        struct osc_avg_node *const n = &tree->nodes[i];

        osc_avg_lift(tree, n);
        if (value == OSC_PYTHON_CALLS)
            p->values[i] = 1;
        if (!is_host || (n->flags & (OSC_AVG_ASYNC | OSC_AVG_FOLDED)))
            continue;
        p->values[i] += osc_avg_dur_ns(tree, n);
        if (n->parent != 0)
            p->values[n->parent - 1] -= osc_avg_dur_ns(tree, n);
    }
    for (uint32_t i = tree->n_host; !is_host && value != OSC_PYTHON_CALLS && i < tree->n_nodes;
         i++) {
        const uint32_t op = osc_avg_operator_of(tree, &tree->nodes[i]);

        if (op != 0)
            p->values[op - 1] += osc_avg_dur_ns(tree, &tree->nodes[i]);
    }
    return OSC_OK;
}

static osc_status find_stacks(struct python *p, struct osc_err *err)
{
    osc_status st = osc_avg_tree_build(&p->events, p->t, err);
    size_t n_stacks = 0;

    if (st == OSC_OK && says_stacks(p->t)) {
        st = osc_avg_stacks_build(&p->said, &p->events, UINT32_MAX);
        n_stacks = p->said.texts.n_entries;
    } else if (st == OSC_OK) {
        st = rebuild(p);
        n_stacks = p->rebuilt.n_stacks;
    }
    if (st == OSC_OK) {
        p->known = osc_calloc(n_stacks + 1, sizeof *p->known);
        st = p->known ? OSC_OK : OSC_ENOMEM;
    }
    return st;
}

static void python_fini(struct python *p)
{
    osc_avg_tree_fini(&p->events);
    osc_avg_stacks_fini(&p->said);
    osc_stacks_fini(&p->rebuilt);
    osc_pages_free(p->place_of_row, p->rows_bytes);
    osc_pages_free(p->values, p->values_bytes);
    osc_free(p->known);
    osc_strbuf_fini(&p->text);
    osc_strbuf_fini(&p->frames);
}

/* The number of the stack of event I, 0: none. */
static uint32_t stack_of(const struct python *p, uint32_t i)
{
    if (p->said.of_node)
        return p->said.of_node[i];
    const uint32_t place = p->place_of_row[p->events.nodes[i].row];
    return place == 0 ? 0 : p->rebuilt.of_place[place - 1];
}

/* Push the frames of the JSON list TEXT, whose last one is the outermost. */
static osc_status push_said(struct osc_python_folding *f, struct python *p, struct osc_str text,
                            uint32_t *node)
{
    struct osc_str value;
    osc_status st = OSC_OK;

    osc_strbuf_clear(&p->text);
    osc_strbuf_clear(&p->frames);
    while (osc_json_next(&text, &value) && value.len >= 2) {
        const uint32_t at = (uint32_t)p->text.len;

        osc_strbuf_add(&p->frames, (const char *)&at, sizeof at);
        (void)osc_json_unescape(value.s + 1, value.s + value.len - 1, &p->text);
    }
    if (p->text.status != OSC_OK || p->frames.status != OSC_OK)
        return OSC_ENOMEM;
    uint32_t end = (uint32_t)p->text.len;
    for (size_t n = p->frames.len / sizeof end; n > 0 && st == OSC_OK; n--) {
        uint32_t at;

        memcpy(&at, p->frames.s + (n - 1) * sizeof at, sizeof at);
        st = osc_stack_tree_push(f->tree, *node, (struct osc_str){p->text.s + at, end - at},
                                 node);
        end = at;
    }
    return st;
}

/* Push all rebuilt stacks below ROOT; callers stand before their callees. */
static osc_status push_rebuilt(struct osc_python_folding *f, struct python *p, uint32_t root)
{
    osc_status st = OSC_OK;

    for (uint32_t id = 1; id <= p->rebuilt.n_stacks && st == OSC_OK; id++) {
        const struct osc_stack *const s = &p->rebuilt.stacks[id - 1];
        uint32_t node;

        st = osc_stack_tree_push(f->tree, s->caller == 0 ? root : p->known[s->caller] - 1,
                                 osc_trace_str(p->t, s->frame), &node);
        p->known[id] = node + 1;
    }
    return st;
}

static osc_status push_stack(struct osc_python_folding *f, struct python *p, uint32_t id,
                             uint32_t root, uint32_t *node)
{
    *node = root;
    if (id == 0)
        return OSC_OK;
    f->has_any = true;
    if (p->known[id] != 0) {
        *node = p->known[id] - 1;
        return OSC_OK;
    }
    const osc_status st = push_said(f, p, osc_avg_stack_text(&p->said, id), node);
    p->known[id] = *node + 1;
    return st;
}

/* Pass on a line in torch's format: NODE, and VALUE_NS in whole microseconds. */
static osc_status pass_torch(struct osc_python_folding *f, uint32_t node, int64_t value_ns,
                             struct osc_strbuf *line)
{
    if (node == 0 || value_ns < 1000)
        return OSC_OK;
    osc_strbuf_clear(line);
    osc_stack_tree_text(f->tree, node, line);
    osc_strbuf_addf(line, " %lld\n", (long long)(value_ns / 1000));
    if (line->status != OSC_OK)
        return line->status;
    f->n_lines++;
    return f->line(f->ctx, line->s, line->len);
}

osc_status osc_python_stacks_fold(struct osc_python_folding *f, struct osc_err *err)
{
    struct python p = {.t = f->t};
    struct osc_strbuf line = {0};
    osc_status st = find_stacks(&p, err);

    if (st == OSC_OK)
        st = find_values(&p, f->value);
    if (st == OSC_OK)
        st = push_rebuilt(f, &p, f->root);
    for (uint32_t i = 0; st == OSC_OK && i < p.events.n_host; i++) {
        const struct osc_avg_node *const n = &p.events.nodes[i];
        uint32_t node, leaf;

        if (n->flags & (OSC_AVG_FOLDED | OSC_AVG_RECORD))
            continue;
        const uint32_t id = stack_of(&p, i);
        st = push_stack(f, &p, id, f->root, &node);
        if (st == OSC_OK && f->line) {
            st = id == 0 ? OSC_OK : pass_torch(f, node, p.values[i], &line);
        } else if (st == OSC_OK) {
            st = osc_stack_tree_push(f->tree, node, p.events.names[n->name].text, &leaf);
            if (st == OSC_OK)
                osc_stack_tree_add(f->tree, leaf, p.values[i]);
        }
    }
    osc_strbuf_fini(&line);
    python_fini(&p);
    return st;
}
