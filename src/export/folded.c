/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks for flame graphs: one line for each stack with its value.
 *
 *   op      operators and those that called them; sums by the last frame are the rows of the
 *           table operators, and of the table memory for self_alloc_bytes
 *   module  modules by their place in the hierarchy: rows of the table modules
 *   python  Python frames, then the event itself; sums by the last frame are the rows of the
 *           table averages, except for device work
 *   sample  samples of call stacks that stand beside the events (call_samples.h)
 *
 * With one of torch's metrics the file is that of its export_stacks(): a line for each event
 * that has a stack, without the event's name, in whole microseconds, truncated.
 */
#include "export/folded.h"

#include <string.h>

#include "analysis/modules/modules.h"
#include "analysis/operators.h"
#include "analysis/torch/averages_stacks.h"
#include "base/mem.h"
#include "codec/json.h"
#include "derive/facts.h"
#include "derive/stacks.h"
#include "export/call_samples.h"
#include "export/exporters.h"

enum kind {
    OP,
    MODULE,
    PYTHON,
    SAMPLE,
};

enum metric {
    HOST_SELF,
    DEVICE_SELF,
    CALLS,
    ALLOCATED,
    TORCH_HOST,
    TORCH_DEVICE,
};

static const char *const kinds[] = {"op", "module", "python", "sample"};

static const struct {
    const char *name;
    enum metric metric;
} metrics[] = {
    {"host_self_ns", HOST_SELF},
    {"device_self_ns", DEVICE_SELF},
    {"calls", CALLS},
    {"self_alloc_bytes", ALLOCATED},
    {"self_cpu_time_total", TORCH_HOST},
    {"self_cuda_time_total", TORCH_DEVICE},
    {"self_xpu_time_total", TORCH_DEVICE},
    {"self_privateuse1_time_total", TORCH_DEVICE},
};

struct folding {
    const struct osc_export *x;
    enum kind kind;
    enum metric metric;
    struct osc_stack_tree *tree; /* borrowed */
    uint64_t n_lines;            /* written for torch's metrics */
    bool has_any; /* there are operators, modules or stacks, even if their values are 0 */
};

static bool is_of_torch(enum metric metric)
{
    return metric == TORCH_HOST || metric == TORCH_DEVICE;
}

/* Read the options of X; OSC_EINVAL with a sentence if they are wrong. */
static osc_status read_wish(const struct osc_export *x, struct folding *f, struct osc_err *err)
{
    const char *const kind = x->stack ? x->stack : "op";
    const char *const metric = x->metric                     ? x->metric
                               : strcmp(kind, "sample") == 0 ? "calls"
                                                             : "host_self_ns";
    bool has_kind = false, has_metric = false;

    *f = (struct folding){.x = x};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) == 0) {
            f->kind = (enum kind)i;
            has_kind = true;
        }
    }
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        if (strcmp(metric, metrics[i].name) == 0) {
            f->metric = metrics[i].metric;
            has_metric = true;
        }
    }
    if (!has_kind)
        return osc_fail(err, OSC_EINVAL, "--stack: '%s' is not op, python, module or sample",
                        kind);
    if (!has_metric)
        return osc_fail(
            err, OSC_EINVAL,
            "--metric: '%s' is not host_self_ns, device_self_ns, calls or "
            "self_alloc_bytes, nor torch's self_cpu_time_total or self_cuda_time_total",
            metric);
    if (f->kind == SAMPLE && f->metric != CALLS)
        return osc_fail(err, OSC_EINVAL,
                        "--metric: samples of call stacks have no '%s'; leave it out", metric);
    if (f->metric == ALLOCATED && f->kind != OP)
        return osc_fail(err, OSC_EINVAL,
                        "--metric: '%s' exists only for operators; add --stack op", metric);
    if (is_of_torch(f->metric) && f->kind != PYTHON)
        return osc_fail(
            err, OSC_EINVAL,
            "--metric: '%s' exists only for Python stacks; add --stack python or use %s",
            metric, f->metric == TORCH_HOST ? "host_self_ns" : "device_self_ns");
    return OSC_OK;
}

static osc_status facts(const struct osc_export *x, uint32_t *facts, struct osc_err *err)
{
    struct folding f;

    const osc_status st = read_wish(x, &f, err);
    *facts = OSC_FACT_LINKS | (f.metric == ALLOCATED ? OSC_FACT_CALLERS : 0u);
    return st;
}

/* Push the frame that contains all of T, if there are several traces. */
static osc_status push_root(struct folding *f, const struct osc_trace *t, uint32_t *root)
{
    struct osc_strbuf name = {0};

    *root = 0;
    if (f->x->n_traces == 1)
        return OSC_OK;
    osc_strbuf_addf(&name, "rank %d", t->rank);
    if (t->span != 1)
        osc_strbuf_addf(&name, " span %d", t->span);
    osc_status st = name.status;
    if (st == OSC_OK)
        st =
            osc_stack_tree_push(f->tree, 0, (struct osc_str){name.s, (uint32_t)name.len}, root);
    osc_strbuf_fini(&name);
    return st;
}

/* For each node of the operator tree. */
struct op_sums {
    int64_t inside_ns; /* time in children, and in calls of the device runtime */
    int64_t device_ns; /* time of work that its own calls launched */
};

/* As in operators_sum.c: the time of child nodes, and of work they launched, is not the node's
 * own. */
static void sum_ops(const struct osc_trace *t, struct op_sums *sums)
{
    const struct osc_facts *const f = osc_trace_facts(t);

    for (uint32_t node = 1; node <= f->order.n_rows; node++) {
        const osc_row row = {f->order.rows[node - 1]};

        if ((f->tree.flags[node - 1] & (OSC_NODE | OSC_NODE_MERGED)) == OSC_NODE)
            sums[f->tree.parent[node - 1]].inside_ns +=
                osc_chunk_of(&t->events, row)->dur_ns[osc_row_place(row)];
    }
    for (size_t n = 0; n < f->links.n_calls; n++) {
        const uint32_t node = osc_optree_owner(&f->tree, f->links.calls[n].node);
        const osc_row row = {f->links.calls[n].row};

        if (f->links.calls[n].is_elsewhere)
            continue;
        sums[node].inside_ns += osc_chunk_of(&t->events, row)->dur_ns[osc_row_place(row)];
    }
    for (size_t n = 0; n < f->links.n_works; n++) {
        const uint32_t call = f->links.works[n].call;
        const osc_row row = {f->links.works[n].row};

        if (call != 0)
            sums[osc_optree_owner(&f->tree, f->links.calls[call - 1].node)].device_ns +=
                osc_chunk_of(&t->events, row)->dur_ns[osc_row_place(row)];
    }
}

/* Fold the asynchronous operators, which are in no tree and have only calls, below ROOT. */
static osc_status fold_async(struct folding *f, const struct osc_trace *t, uint32_t root)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < t->events.n_chunks && st == OSC_OK; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            uint32_t stack;

            if (!osc_operators_is_async(t, c, i))
                continue;
            f->has_any = true;
            if (f->metric != CALLS)
                return OSC_OK;
            st = osc_stack_tree_push(f->tree, root, osc_row_name(t, c, i), &stack);
            if (st == OSC_OK)
                osc_stack_tree_add(f->tree, stack, 1);
        }
    }
    return st;
}

static osc_status fold_ops(struct folding *f, const struct osc_trace *t, uint32_t root)
{
    const struct osc_facts *const facts = osc_trace_facts(t);
    const size_t n = (size_t)facts->order.n_rows + 1;
    struct op_sums *const sums = osc_pages_alloc(n * sizeof *sums);
    uint32_t *const stacks = osc_pages_alloc(n * sizeof *stacks); /* by node */
    osc_status st = sums && stacks ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK) {
        sum_ops(t, sums);
        stacks[0] = root;
    }
    /* Parents stand before their children. */
    for (uint32_t node = 1; st == OSC_OK && node < n; node++) {
        const uint8_t flags = facts->tree.flags[node - 1];
        const osc_row row = {facts->order.rows[node - 1]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if ((flags & (OSC_NODE | OSC_NODE_MERGED)) != OSC_NODE)
            continue;
        stacks[node] = stacks[facts->tree.parent[node - 1]];
        if (!(flags & OSC_NODE_ROW))
            continue;
        f->has_any = true;
        st = osc_stack_tree_push(f->tree, stacks[node], osc_row_name(t, c, i), &stacks[node]);
        if (st == OSC_OK)
            osc_stack_tree_add(f->tree, stacks[node],
                               f->metric == CALLS       ? 1
                               : f->metric == HOST_SELF ? c->dur_ns[i] - sums[node].inside_ns
                                                        : sums[node].device_ns);
    }
    osc_pages_free(sums, n * sizeof *sums);
    osc_pages_free(stacks, n * sizeof *stacks);
    return st == OSC_OK ? fold_async(f, t, root) : st;
}

/* Fold what operators allocate; records that no operator contains are those of "(none)". */
static osc_status fold_allocations(struct folding *f, const struct osc_trace *t, uint32_t root)
{
    const struct osc_allocations *const a = &osc_trace_facts(t)->allocations;
    const struct osc_callers *const c = &osc_trace_facts(t)->callers;
    uint32_t *const stacks = osc_calloc((size_t)c->n_chains + 1, sizeof *stacks);
    osc_status st = stacks ? OSC_OK : OSC_ENOMEM;

    /* A chain stands behind the one above it. */
    for (uint32_t i = 0; i < c->n_chains && st == OSC_OK; i++) {
        const struct osc_chain *const chain = &c->chains[i];

        st = osc_stack_tree_push(f->tree, chain->above == 0 ? root : stacks[chain->above],
                                 osc_trace_str(t, c->names[chain->name].name), &stacks[i + 1]);
    }
    for (size_t k = 0; k < a->n_records && st == OSC_OK; k++) {
        if (a->records[k].bytes <= 0)
            continue;
        f->has_any = true;
        if (c->chain_of[k] == 0 && stacks[0] == 0)
            st = osc_stack_tree_push(f->tree, root, OSC_STR("(none)"), &stacks[0]);
        if (st == OSC_OK)
            osc_stack_tree_add(f->tree, stacks[c->chain_of[k]], a->records[k].bytes);
    }
    osc_free(stacks);
    return st;
}

/* Push the frame of P: "h.0.attn:Attention_0" if its attribute path was recorded. */
static osc_status push_module(struct folding *f, const struct osc_module_place *p,
                              uint32_t stack, uint32_t *pushed)
{
    struct osc_strbuf text = {0};
    osc_status st;

    if (p->path.len == 0)
        return osc_stack_tree_push(f->tree, stack, p->name, pushed);
    osc_strbuf_addstr(&text, p->path);
    osc_strbuf_addc(&text, ':');
    osc_strbuf_addstr(&text, p->name);
    st = text.status;
    if (st == OSC_OK)
        st = osc_stack_tree_push(f->tree, stack, (struct osc_str){text.s, (uint32_t)text.len},
                                 pushed);
    osc_strbuf_fini(&text);
    return st;
}

static osc_status fold_modules(struct folding *f, const struct osc_trace *t, uint32_t root)
{
    struct osc_modules m;
    uint32_t *stacks = NULL; /* by place + 1 */
    osc_status st = osc_modules_make(t, OSC_SCOPES_LIGHTNING, &m);

    if (st == OSC_OK && m.n_places == 0) {
        osc_modules_fini(&m);
        st = osc_modules_make(t, OSC_SCOPES_MODULE, &m);
    }
    if (st == OSC_OK) {
        stacks = osc_calloc(m.n_places + 1, sizeof *stacks);
        st = stacks ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK)
        stacks[0] = root;
    for (size_t i = 0; st == OSC_OK && i < m.n_places; i++) {
        const struct osc_module_place *const p = &m.places[i];

        f->has_any = true;
        st = push_module(f, p, stacks[p->parent], &stacks[i + 1]);
        if (st == OSC_OK)
            osc_stack_tree_add(f->tree, stacks[i + 1],
                               f->metric == CALLS       ? p->n_calls
                               : f->metric == HOST_SELF ? p->host_self_ns
                                                        : p->device_self_ns);
    }
    osc_free(stacks);
    osc_modules_fini(&m);
    return st;
}

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

/* Find the value by METRIC of each node that is not folded. */
static osc_status find_values(struct python *p, enum metric metric)
{
    const bool is_host = metric == HOST_SELF || metric == TORCH_HOST;
    const struct osc_avg_tree *const tree = &p->events;

    p->values_bytes = ((size_t)tree->n_host + 1) * sizeof *p->values;
    p->values = osc_pages_alloc(p->values_bytes);
    if (!p->values)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < tree->n_host; i++) {
        struct osc_avg_node *const n = &tree->nodes[i];

        osc_avg_lift(tree, n);
        if (metric == CALLS)
            p->values[i] = 1;
        if (!is_host || (n->flags & (OSC_AVG_ASYNC | OSC_AVG_FOLDED)))
            continue;
        p->values[i] += osc_avg_dur_ns(tree, n);
        if (n->parent != 0)
            p->values[n->parent - 1] -= osc_avg_dur_ns(tree, n);
    }
    for (uint32_t i = tree->n_host; !is_host && metric != CALLS && i < tree->n_nodes; i++) {
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
static osc_status push_said(struct folding *f, struct python *p, struct osc_str text,
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
static osc_status push_rebuilt(struct folding *f, struct python *p, uint32_t root)
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

static osc_status push_stack(struct folding *f, struct python *p, uint32_t id, uint32_t root,
                             uint32_t *node)
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

/* Write a line in torch's format: NODE, and VALUE_NS in whole microseconds. */
static osc_status write_torch(struct folding *f, uint32_t node, int64_t value_ns,
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
    return f->x->sink.write(f->x->sink.ctx, line->s, line->len);
}

static osc_status fold_python(struct folding *f, const struct osc_trace *t, uint32_t root,
                              struct osc_err *err)
{
    struct python p = {.t = t};
    struct osc_strbuf line = {0};
    osc_status st = find_stacks(&p, err);

    if (st == OSC_OK)
        st = find_values(&p, f->metric);
    if (st == OSC_OK)
        st = push_rebuilt(f, &p, root);
    for (uint32_t i = 0; st == OSC_OK && i < p.events.n_host; i++) {
        const struct osc_avg_node *const n = &p.events.nodes[i];
        uint32_t node, leaf;

        if (n->flags & (OSC_AVG_FOLDED | OSC_AVG_RECORD))
            continue;
        const uint32_t id = stack_of(&p, i);
        st = push_stack(f, &p, id, root, &node);
        if (st == OSC_OK && is_of_torch(f->metric)) {
            st = id == 0 ? OSC_OK : write_torch(f, node, p.values[i], &line);
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

static osc_status fold(struct folding *f, const struct osc_trace *t, struct osc_err *err)
{
    uint32_t root;
    const osc_status st = push_root(f, t, &root);

    if (st != OSC_OK)
        return st;
    if (f->kind == SAMPLE && t->is_selected)
        return osc_fail(err, OSC_EINVAL,
                        "--stack: samples of call stacks cannot be selected; leave out --from, "
                        "--to, --steps, --thread and the like");
    if (f->kind == SAMPLE)
        return osc_call_samples_fold(t, root, f->tree, &f->has_any);
    if (f->kind == PYTHON)
        return fold_python(f, t, root, err);
    if (f->metric == ALLOCATED)
        return fold_allocations(f, t, root);
    return f->kind == OP ? fold_ops(f, t, root) : fold_modules(f, t, root);
}

/* The length of TEXT, without the advice behind its semicolon where some of what was recorded
 * is missing. */
static int said(const struct folding *f, const char *text)
{
    bool is_whole = true;

    for (uint32_t i = 0; i < f->x->n_traces; i++)
        is_whole = is_whole && !f->x->traces[i]->is_selected &&
                   !osc_findings_say_cut(&f->x->traces[i]->findings);
    return (int)(is_whole ? strlen(text) : strcspn(text, ";"));
}

/* Explain why there is nothing to write. */
static osc_status fail_empty(const struct folding *f, struct osc_err *err)
{
    static const char *const nothing[] = {
        [OP] = "no operators in the trace",
        [MODULE] = "no modules in the trace; record with with_stack=True and with_modules=True",
        [PYTHON] = "no Python stacks in the trace; record with with_stack=True",
        [SAMPLE] = "no samples of call stacks in the trace",
    };

    static const char no_allocations[] =
        "no allocations in the trace; record with profile_memory=True";

    if (!f->has_any && f->kind == PYTHON && f->x->is_redacted)
        return osc_fail(err, OSC_EFORMAT,
                        "no Python stacks: --redact removes the argument Call stack; leave it "
                        "out or use --stack op");
    if (!f->has_any && f->kind == SAMPLE && f->x->is_redacted)
        return osc_fail(err, OSC_EFORMAT,
                        "no samples of call stacks: --redact removes them; leave it out");
    if (!f->has_any && f->metric == ALLOCATED)
        return osc_fail(err, OSC_EFORMAT, "%.*s", said(f, no_allocations), no_allocations);
    if (!f->has_any)
        return osc_fail(err, OSC_EFORMAT, "%.*s", said(f, nothing[f->kind]), nothing[f->kind]);
    return osc_fail(err, OSC_EFORMAT, "all stacks of the trace are 0 by this metric");
}

/* Fold all traces of F. */
static osc_status fold_all(struct folding *f, struct osc_err *err)
{
    const struct osc_export *const x = f->x;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < x->n_traces && st == OSC_OK; i++) {
        st = fold(f, x->traces[i], err);
        if (st == OSC_OK && x->sink.progress &&
            !x->sink.progress(x->sink.ctx, (uint64_t)i + 1, x->n_traces))
            st = OSC_ECANCELED;
    }
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while folding stacks");
    return st;
}

osc_status osc_folded_make(const struct osc_export *x, struct osc_stack_tree *tree,
                           struct osc_err *err)
{
    struct folding f;
    osc_status st = read_wish(x, &f, err);

    f.tree = tree;
    if (st == OSC_OK && is_of_torch(f.metric))
        return osc_fail(err, OSC_EINVAL, "--metric: torch's metrics are for files only");
    if (st == OSC_OK)
        st = fold_all(&f, err);
    return st == OSC_OK && !f.has_any ? fail_empty(&f, err) : st;
}

static osc_status write(const struct osc_export *x, struct osc_err *err)
{
    struct osc_stack_tree tree;
    struct folding f;
    uint64_t n_lines = 0;
    osc_status st = read_wish(x, &f, err);

    osc_stack_tree_init(&tree);
    f.tree = &tree;
    if (st == OSC_OK)
        st = fold_all(&f, err);
    if (st == OSC_OK && f.has_any && !is_of_torch(f.metric))
        st = osc_stack_tree_write(&tree, &x->sink, &n_lines);
    if (st == OSC_OK && n_lines + f.n_lines == 0)
        st = fail_empty(&f, err);
    osc_stack_tree_fini(&tree);
    return st;
}

const struct osc_exporter osc_export_folded = {
    .name = "folded",
    .suffixes = ".folded",
    .help = "one line for each stack with its value, for flame graphs",
    .takes_stack = true,
    .takes_many = true,
    .facts = facts,
    .write = write,
};
