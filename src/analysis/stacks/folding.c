/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/folding.h"

#include <string.h>

#include "analysis/modules/modules.h"
#include "analysis/operators.h"
#include "analysis/stacks/call_samples.h"
#include "analysis/stacks/python_stacks.h"
#include "base/mem.h"
#include "derive/facts.h"

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
    const struct osc_folding *q;
    enum kind kind;
    enum metric metric;
    struct osc_stack_tree *tree; /* borrowed */
    uint64_t n_lines;            /* passed on for torch's metrics */
    bool has_any; /* there are operators, modules or stacks, even if their values are 0 */
};

static bool is_of_torch(enum metric metric)
{
    return metric == TORCH_HOST || metric == TORCH_DEVICE;
}

/* Read the words of Q; OSC_EINVAL with a sentence if they are wrong. */
static osc_status read_wish(const struct osc_folding *q, struct folding *f, struct osc_err *err)
{
    const char *const kind = q->stack ? q->stack : "op";
    const char *const metric = q->metric                     ? q->metric
                               : strcmp(kind, "sample") == 0 ? "calls"
                                                             : "host_self_ns";
    bool has_kind = false, has_metric = false;

    *f = (struct folding){.q = q};
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

osc_status osc_folding_facts(const struct osc_folding *q, uint32_t *facts, struct osc_err *err)
{
    struct folding f;

    const osc_status st = read_wish(q, &f, err);
    *facts = OSC_FACT_LINKS | (f.metric == ALLOCATED ? OSC_FACT_CALLERS : 0u);
    return st;
}

/* Push the frame that contains all of T, if there are several traces. */
static osc_status push_root(struct folding *f, const struct osc_trace *t, uint32_t *root)
{
    struct osc_strbuf name = {0};

    *root = 0;
    if (f->q->n_traces == 1)
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

static osc_status fold_python(struct folding *f, const struct osc_trace *t, uint32_t root,
                              struct osc_err *err)
{
    struct osc_python_folding p = {.t = t,
                                   .value = f->metric == CALLS ? OSC_PYTHON_CALLS
                                            : f->metric == HOST_SELF || f->metric == TORCH_HOST
                                                ? OSC_PYTHON_HOST
                                                : OSC_PYTHON_DEVICE,
                                   .tree = f->tree,
                                   .root = root,
                                   .line = is_of_torch(f->metric) ? f->q->line : NULL,
                                   .ctx = f->q->ctx};
    const osc_status st = osc_python_stacks_fold(&p, err);

    f->n_lines += p.n_lines;
    f->has_any |= p.has_any;
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

    for (uint32_t i = 0; i < f->q->n_traces; i++)
        is_whole = is_whole && !f->q->traces[i]->is_selected &&
                   !osc_findings_say_cut(&f->q->traces[i]->findings);
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

    if (f->kind == PYTHON && f->q->is_redacted)
        return osc_fail(err, OSC_EFORMAT,
                        "no Python stacks: --redact removes the argument Call stack; leave it "
                        "out or use --stack op");
    if (f->kind == SAMPLE && f->q->is_redacted)
        return osc_fail(err, OSC_EFORMAT,
                        "no samples of call stacks: --redact removes them; leave it out");
    if (f->metric == ALLOCATED)
        return osc_fail(err, OSC_EFORMAT, "%.*s", said(f, no_allocations), no_allocations);
    return osc_fail(err, OSC_EFORMAT, "%.*s", said(f, nothing[f->kind]), nothing[f->kind]);
}

/* Fold all traces of F. */
static osc_status fold_all(struct folding *f, struct osc_err *err)
{
    const struct osc_folding *const q = f->q;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < q->n_traces && st == OSC_OK; i++) {
        st = fold(f, q->traces[i], err);
        if (st == OSC_OK && q->progress && !q->progress(q->ctx, (uint64_t)i + 1, q->n_traces))
            st = OSC_ECANCELED;
    }
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while folding stacks");
    return st;
}

osc_status osc_folding_make(const struct osc_folding *q, struct osc_stack_tree *tree,
                            uint64_t *n_lines, struct osc_err *err)
{
    struct folding f;
    osc_status st = read_wish(q, &f, err);

    f.tree = tree;
    if (st == OSC_OK && is_of_torch(f.metric) && !q->line)
        return osc_fail(err, OSC_EINVAL, "--metric: torch's metrics are for files only");
    if (st == OSC_OK)
        st = fold_all(&f, err);
    *n_lines = f.n_lines;
    return st == OSC_OK && !f.has_any ? fail_empty(&f, err) : st;
}

osc_status osc_folding_fail_zero(struct osc_err *err)
{
    return osc_fail(err, OSC_EFORMAT, "all stacks of the trace are 0 by this metric");
}
