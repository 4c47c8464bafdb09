/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/sentences.h"

#include <math.h>

#include "analysis/diff/change.h"
#include "analysis/table_registry.h"
#include "ask/diff/call_graph.h"
#include "base/mem.h"
#include "base/sort.h"
#include "names/labels.h"
#include "prose/phrase.h"
#include "table/row_sort.h"

#define SENTENCES_MAX 5
#define FOUND_MAX     20   /* of which the largest are told */
#define CLIMB_MAX     1000 /* operators around one that are looked at */
#define NAME_COLUMNS  70   /* longer names are cut */
#define QUOTES_MAX    3    /* names in a sentence */

/* Changes of less than this part of a step, or of all, are not worth a sentence. */
#define PART_LEAST 0.005
/* An operator explains the change of the host's part of a step if its own is at least this part
 * of it. */
#define OWN_LEAST 0.2

/* A sentence: its bytes, and the change that it names. */
struct sentence {
    size_t from, to;
    double change_ns;
};

/* What the sentences may say. */
#define FACT_LIST(X)                                                                 \
    X(name, TEXT, 0)     /* what changed, */                                         \
    X(delta, DELTA, 0)   /* by how much, */                                          \
    X(growth, GROWTH, 0) /* and by which part */                                     \
    X(where, TEXT, 0)    /* " on the device", if not everywhere */                   \
    X(is_new, FLAG, 0)                                                               \
    X(is_gone, FLAG, 0)                                                              \
    X(new, TEXT, 0)        /* what the new run has alone below it, */                \
    X(new_itself, FLAG, 0) /* which is itself, without what it calls */              \
    X(base, TEXT, 0)       /* what the base has alone */                             \
    X(base_itself, FLAG, 0)                                                          \
    X(new_calls, DECIMAL, 0)                                                         \
    X(base_calls, DECIMAL, 0)                                                        \
    X(new_time, TIME, 0) /* of a call, a step or in all */                           \
    X(base_time, TIME, 0)                                                            \
    X(is_each, FLAG, 0) /* calls take other times */                                 \
    X(has_steps, FLAG, 0)                                                            \
    X(is_same, FLAG, 0)  /* nothing changed but by noise */                          \
    X(is_noise, FLAG, 0) /* the step did not, but something else */                  \
    X(is_tested, FLAG, 0)                                                            \
    X(is_significant, FLAG, 0)                                                       \
    X(is_first, FLAG, 0) /* part of a step that is told */                           \
    X(a_step, PHRASE, "{has_steps? a step| in all}")                                 \
    X(instead, PHRASE, "{new_time} instead of {base_time}")                          \
    X(bracket, PHRASE, "{growth? ({growth})}")                                       \
    X(work, PHRASE,                                                                  \
      "{name} {delta}{a_step}{where}{bracket}{is_new?: it is new}{is_gone?: it is "  \
      "not called any more}{new?: {new}{new_itself? itself}{base? instead of "       \
      "{base}{base_itself? itself}| is new}|{base?: {base}{base_itself? itself} is " \
      "not called any more}}{new_calls?: {new_calls} calls{a_step} instead of "      \
      "{base_calls}}{is_each?: each call {instead}}\n")                              \
    X(step_part, PHRASE, "step.{name} {delta}{a_step}{bracket}\n")                   \
    X(step, PHRASE,                                                                  \
      "{is_same?the same within noise: }{has_steps?a step|the run} takes "           \
      "{instead}{bracket}{is_noise?, which is within the noise of its steps}")       \
    X(among, PHRASE, "{is_first?:|,} {name} {delta}")                                \
    X(row, PHRASE,                                                                   \
      "{instead}{a_step} ({delta}{growth?, {growth}}){is_tested?{is_significant?, "  \
      "significant|, within noise}}")

OSC_PROSE(osc_sentences_prose, FACT_LIST);

/* A name in a sentence. How it reads depends on the others in it. */
struct quote {
    unsigned fact;
    struct osc_str name;
    bool is_kernel;
};

struct story {
    const struct osc_diff_tables *t;
    struct osc_strbuf *out;       /* of all that were found */
    struct osc_prose_facts facts; /* of the sentence that is being made */
    struct quote quotes[QUOTES_MAX];
    uint32_t n_quotes;
    struct sentence found[FOUND_MAX];
    struct osc_call_graph graph;
    struct osc_change_columns at, total; /* columns of the change, and of the total time */
    bool *is_told;                       /* owned; by node */
    uint32_t *stack;                     /* owned; as long as there are nodes */
    bool has_steps, is_tested, is_device;
    const char *where; /* the times are, for the sentence; "" if there is only one place */
    double part_ns;    /* the change of the part that operators shall explain; 0: none */
    uint32_t n_found;
};

/* Let FACT be the name of NODE. */
static void set_name(struct story *s, unsigned fact, uint32_t node)
{
    s->quotes[s->n_quotes++] =
        (struct quote){fact, s->graph.names[node], s->graph.is_kernel[node]};
}

/* Append SENTENCE, with names that are short and different, to the sentences that were found.
 */
static osc_status end(struct story *s, unsigned sentence)
{
    struct osc_labels labels = {0};
    osc_sid ids[QUOTES_MAX];
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < s->n_quotes && st == OSC_OK; k++)
        st = osc_labels_add(&labels, s->quotes[k].name, s->quotes[k].is_kernel, &ids[k]);
    if (st == OSC_OK)
        st = osc_labels_compose(&labels, NAME_COLUMNS, NAME_COLUMNS);
    for (uint32_t k = 0; k < s->n_quotes && st == OSC_OK; k++)
        osc_prose_text(&s->facts, s->quotes[k].fact, osc_labels_get(&labels, ids[k]));
    osc_prose_flag(&s->facts, FACT_has_steps, s->has_steps);
    s->found[s->n_found].from = s->out->len;
    if (st == OSC_OK)
        osc_prose_say(s->out, &s->facts, sentence);
    s->found[s->n_found++].to = s->out->len;
    memset(s->facts.v, 0, sizeof s->facts.v);
    s->n_quotes = 0;
    osc_labels_fini(&labels);
    return st;
}

/* The change of the operator NODE, by the columns AT. */
static struct osc_change change_of(const struct story *s, uint32_t node,
                                   const struct osc_change_columns *at)
{
    /* Names of rows differ, so nodes of operators are in their order. */
    return node < s->graph.n_operators ? osc_change_at(s->t->operators, node, at)
                                       : (struct osc_change){0};
}

static bool is_on_both(const struct story *s, uint32_t node)
{
    return s->graph.is_on[node][0] && s->graph.is_on[node][1];
}

/* The innermost operator around NODE, which one side has alone, that both sides have. */
static uint32_t find_joint(const struct story *s, uint32_t node)
{
    for (int n = 0; n < CLIMB_MAX; n++) {
        const struct osc_call_graph *const g = &s->graph;
        uint32_t best = OSC_NO_NODE;
        int64_t best_ns = -1;

        for (uint32_t k = g->first_caller[node]; k < g->first_caller[node + 1]; k++) {
            const struct osc_call_edge *const e = &g->edges[g->callers[k]];
            const int64_t ns = e->ns[0] + e->ns[1];

            if (e->caller != OSC_NO_NODE && ns > best_ns) {
                best = e->caller;
                best_ns = ns;
            }
        }
        if (best == OSC_NO_NODE || is_on_both(s, best))
            return best;
        node = best;
    }
    return OSC_NO_NODE;
}

/* The outermost operator that always leads to NODE. */
static uint32_t find_outermost(const struct story *s, uint32_t node)
{
    for (int n = 0; n < CLIMB_MAX; n++) {
        const uint32_t caller = osc_call_graph_only_caller(&s->graph, node);

        if (caller == OSC_NO_NODE)
            break;
        node = caller;
    }
    return node;
}

/* What one side alone has below a node, with its time. */
struct alone {
    uint32_t node; /* OSC_NO_NODE: nothing */
    double ns;
};

/*
 * Of what SIDE alone has below NODE, the operator or (with IS_KERNEL, directly below) kernel
 * with the most time; all of it counts as told.
 */
static struct alone find_alone(struct story *s, uint32_t node, int side, bool is_kernel)
{
    const struct osc_call_graph *const g = &s->graph;
    struct alone best = {OSC_NO_NODE, -1};
    uint32_t n = 0;

    s->stack[n++] = node;
    while (n > 0) {
        const uint32_t at = s->stack[--n];

        for (uint32_t k = g->first_callee[at]; k < g->first_callee[at + 1]; k++) {
            const struct osc_call_edge *const e = &g->edges[g->callees[k]];
            const uint32_t callee = e->callee;

            if (g->is_kernel[callee] != is_kernel || is_on_both(s, callee) ||
                !g->is_on[callee][side] || s->is_told[callee])
                continue;
            const struct osc_change change =
                is_kernel ? (struct osc_change){0} : change_of(s, callee, &s->at);
            const double ns = is_kernel   ? (double)e->ns[side]
                              : side == 0 ? change.base_ns
                                          : change.new_ns;
            if (ns > best.ns)
                best = (struct alone){callee, ns};
            s->is_told[callee] = true; /* so it is on the stack once at most */
            if (!is_kernel)
                s->stack[n++] = callee;
        }
    }
    return best;
}

/* What NODE itself takes less on SIDE than on the other. */
static double own_part(const struct story *s, uint32_t node, int side)
{
    const struct osc_change c = change_of(s, node, &s->at);

    return side == 0 ? c.base_ns - c.new_ns : c.new_ns - c.base_ns;
}

/* Name A, or NODE if it has more time itself on SIDE. */
static void name_alone(struct story *s, uint32_t node, int side, const struct alone *a)
{
    const bool is_itself = own_part(s, node, side) > a->ns;

    set_name(s, side == 1 ? FACT_new : FACT_base, is_itself ? node : a->node);
    osc_prose_flag(&s->facts, side == 1 ? FACT_new_itself : FACT_base_itself, is_itself);
}

/* Name what one side alone has below NODE. False: nothing. */
static bool name_instead(struct story *s, uint32_t node, bool is_kernel)
{
    const struct alone new_ = find_alone(s, node, 1, is_kernel);
    const struct alone base = find_alone(s, node, 0, is_kernel);
    const bool has_new = new_.node != OSC_NO_NODE || (!is_kernel && own_part(s, node, 1) > 0);
    const bool has_base = base.node != OSC_NO_NODE || (!is_kernel && own_part(s, node, 0) > 0);

    if (new_.node == OSC_NO_NODE && base.node == OSC_NO_NODE)
        return false;
    if (has_new)
        name_alone(s, node, 1, &new_);
    if (has_base || !has_new)
        name_alone(s, node, 0, &base);
    return true;
}

/* Set what changed from BASE_NS to NEW_NS by how much. */
static void set_change(struct story *s, double base_ns, double new_ns)
{
    osc_prose_real(&s->facts, FACT_delta, new_ns - base_ns);
    osc_prose_text(&s->facts, FACT_where, osc_str_c(s->where));
    s->found[s->n_found].change_ns = fabs(new_ns - base_ns);
}

/* Tell the change of NODE, which one side has alone. */
static void tell_one_sided(struct story *s, uint32_t node)
{
    const struct osc_change own = change_of(s, node, &s->at);
    const uint32_t joint = find_joint(s, node);

    if (joint == OSC_NO_NODE) {
        set_name(s, FACT_name, node);
        set_change(s, own.base_ns, own.new_ns);
        osc_prose_flag(&s->facts, s->graph.is_on[node][1] ? FACT_is_new : FACT_is_gone, true);
        s->is_told[node] = true;
    } else {
        const uint32_t outermost = find_outermost(s, joint);
        const struct osc_change change = change_of(s, outermost, &s->total);

        set_name(s, FACT_name, outermost);
        set_change(s, change.base_ns, change.new_ns);
        (void)name_instead(s, joint, false);
        s->is_told[joint] = s->is_told[outermost] = s->is_told[node] = true;
    }
}

/* Set how many calls there are, or how long each of them takes. */
static void set_calls(struct story *s, const struct osc_change *c)
{
    const double more = fabs(c->new_calls - c->base_calls);

    if (more > c->base_calls / 100 && more > 0) {
        osc_prose_real(&s->facts, FACT_new_calls, c->new_calls);
        osc_prose_real(&s->facts, FACT_base_calls, c->base_calls);
    } else if (c->base_calls > 0 && c->new_calls > 0) {
        osc_prose_flag(&s->facts, FACT_is_each, true);
        osc_prose_real(&s->facts, FACT_new_time, c->new_ns / c->new_calls);
        osc_prose_real(&s->facts, FACT_base_time, c->base_ns / c->base_calls);
    }
}

/* Tell the change of NODE, which both sides have. */
static void tell_two_sided(struct story *s, uint32_t node)
{
    const struct osc_change own = change_of(s, node, &s->at);

    set_name(s, FACT_name, node);
    set_change(s, own.base_ns, own.new_ns);
    osc_prose_growth(&s->facts, FACT_growth, own.base_ns, own.new_ns);
    if (!s->is_device || !name_instead(s, node, true))
        set_calls(s, &own);
    s->is_told[node] = true;
}

/* Whether the change C is worth a sentence where WHOLE_NS is the longer step or all. */
static bool is_worth_it(const struct story *s, const struct osc_change *c, double whole_ns)
{
    const double change_ns = c->new_ns - c->base_ns;

    if (s->part_ns != 0) /* only the device time of operators is tested; this part was */
        return change_ns * s->part_ns > 0 && fabs(change_ns) >= fabs(s->part_ns) * OWN_LEAST;
    return change_ns != 0 && fabs(change_ns) >= whole_ns * PART_LEAST &&
           (!s->is_tested || c->is_significant);
}

/* The length of a step, or of all, whichever run has the longer one; 0: unknown. */
static double whole_of(const struct osc_result *steps)
{
    if (steps->n_rows == 0)
        return 0;
    const struct osc_change c = osc_change_at(steps, 0, osc_diff_steps_columns());

    return fmax(c.base_ns, c.new_ns);
}

static osc_status tell_operators(struct story *s)
{
    const struct osc_result *const r = s->t->operators;
    const struct osc_sort_key key = {.column = s->at.order, .divisor = -1};
    const double whole_ns = whole_of(s->t->steps);
    uint32_t *order = NULL;
    osc_status st = osc_sort_rows(r, &key, &order);

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK && s->n_found < FOUND_MAX; i++) {
        const struct osc_change change = osc_change_at(r, order[i], &s->at);
        const uint32_t node = order[i];

        if (s->is_told[node] || !is_worth_it(s, &change, whole_ns))
            continue;
        if (is_on_both(s, node))
            tell_two_sided(s, node);
        else
            tell_one_sided(s, node);
        st = end(s, FACT_work);
    }
    osc_free(order);
    return st;
}

/* Tell which kernels changed: of a trace whose operators launched none of them. */
static osc_status tell_kernels(struct story *s)
{
    const struct osc_result *const r = s->t->kernels;
    const struct osc_change_columns at = osc_change_columns(r->def, 0);
    const struct osc_sort_key key = {.column = at.order, .divisor = -1};
    const double whole_ns = whole_of(s->t->steps);
    uint32_t *order = NULL;
    osc_status st = osc_sort_rows(r, &key, &order);

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK && s->n_found < FOUND_MAX; i++) {
        const struct osc_change c = osc_change_at(r, order[i], &at);

        if (!is_worth_it(s, &c, whole_ns))
            continue;
        s->quotes[s->n_quotes++] = (struct quote){FACT_name, c.name, true};
        set_change(s, c.base_ns, c.new_ns);
        osc_prose_growth(&s->facts, FACT_growth, c.base_ns, c.new_ns);
        if (c.base_calls > 0 && c.new_calls > 0)
            set_calls(s, &c);
        else
            osc_prose_flag(&s->facts, c.new_calls > 0 ? FACT_is_new : FACT_is_gone, true);
        st = end(s, FACT_work);
    }
    osc_free(order);
    return st;
}

/* The change of the part NAME of a step; 0 if there are no steps. */
static struct osc_change part_of(const struct story *s, const char *name)
{
    const struct osc_result *const r = s->t->steps;

    for (uint64_t i = 1; i < r->n_rows; i++) {
        const struct osc_change c = osc_change_at(r, i, osc_diff_steps_columns());
        if (osc_str_eq(c.name, osc_str_c(name)))
            return c;
    }
    return (struct osc_change){0};
}

/*
 * After the device, or where no operator alone changed beyond noise, tell what changed on the
 * host, if steps got longer or shorter by it: the time in which only the host works. Operators
 * on the host that merely wait for a device that takes longer do not change that. *IS_TOLD:
 * some operator was named.
 */
static osc_status tell_host(struct story *s, bool *is_told)
{
    const struct osc_change part = part_of(s, "cpu_exec");
    const uint32_t n_before = s->n_found;

    *is_told = true;
    if (!is_worth_it(s, &part, whole_of(s->t->steps)))
        return OSC_OK;
    if (*s->where)
        s->where = " on the host";
    s->is_device = false;
    s->at = osc_change_columns(s->t->operators->def, OSC_TIME_HOST_SELF);
    s->total = osc_change_columns(s->t->operators->def, OSC_TIME_HOST_TOTAL);
    s->part_ns = part.new_ns - part.base_ns;
    const osc_status st = tell_operators(s);
    s->part_ns = 0;
    *is_told = s->n_found > n_before;
    return st;
}

/* Tell the changes of parts of steps that no operator explains; of the part cpu_exec too,
 * unless operators OF_HOST were named. */
static osc_status tell_parts(struct story *s, bool of_host)
{
    static const char *const parts[] = {"dataloader", "communication", "runtime", "other",
                                        "cpu_exec"};
    const size_t n_parts = sizeof parts / sizeof *parts - (of_host ? 1 : 0);
    const struct osc_result *const r = s->t->steps;
    const double whole_ns = whole_of(r);
    osc_status st = OSC_OK;

    for (uint64_t i = 1; i < r->n_rows && st == OSC_OK && s->n_found < FOUND_MAX; i++) {
        const struct osc_change c = osc_change_at(r, i, osc_diff_steps_columns());
        bool is_one = false;

        for (size_t k = 0; k < n_parts; k++)
            is_one |= osc_str_eq(c.name, osc_str_c(parts[k]));
        if (!is_one || !is_worth_it(s, &c, whole_ns))
            continue;
        osc_prose_text(&s->facts, FACT_name, c.name);
        set_change(s, c.base_ns, c.new_ns);
        osc_prose_growth(&s->facts, FACT_growth, c.base_ns, c.new_ns);
        st = end(s, FACT_step_part);
    }
    return st;
}

static int by_change(const void *x, const void *y)
{
    const struct sentence *const a = x, *const b = y;

    if (a->change_ns != b->change_ns)
        return a->change_ns > b->change_ns ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Append the sentences about the largest changes to OUT. */
static void add_largest(struct story *s, struct osc_strbuf *out)
{
    osc_sort(s->found, s->n_found, sizeof *s->found, by_change);
    for (uint32_t i = 0; i < s->n_found && i < SENTENCES_MAX && s->out->len > 0; i++)
        osc_strbuf_add(out, s->out->s + s->found[i].from, s->found[i].to - s->found[i].from);
    if (s->out->status != OSC_OK)
        out->status = s->out->status;
}

/* Tell how the length of a step changed, and the parts of it that changed most. */
static osc_status tell_steps(struct story *s)
{
    const struct osc_result *const r = s->t->steps;
    const struct osc_change_columns *const at = osc_diff_steps_columns();
    const struct osc_sort_key key = {.column = at->order, .divisor = -1};
    uint32_t *order = NULL, n = 0;

    if (r->n_rows == 0) {
        osc_strbuf_add(s->out, r->notes.s, r->notes.len); /* why, in lines */
        return OSC_OK;
    }
    const osc_status st = osc_sort_rows(r, &key, &order);
    if (st != OSC_OK)
        return st;
    const struct osc_change whole = osc_change_at(r, order[0], at);
    const double delta = whole.new_ns - whole.base_ns;
    const bool is_noise = whole.is_tested && !whole.is_significant;
    osc_prose_flag(&s->facts, FACT_is_same, is_noise && s->n_found == 0);
    osc_prose_flag(&s->facts, FACT_is_noise, is_noise && s->n_found > 0);
    osc_prose_flag(&s->facts, FACT_has_steps, whole.has_steps);
    osc_prose_real(&s->facts, FACT_new_time, whole.new_ns);
    osc_prose_real(&s->facts, FACT_base_time, whole.base_ns);
    osc_prose_growth(&s->facts, FACT_growth, whole.base_ns, whole.new_ns);
    osc_prose_say(s->out, &s->facts, FACT_step);
    for (uint64_t i = 1; i < r->n_rows && n < 3; i++) {
        const struct osc_change part = osc_change_at(r, order[i], at);
        const double change = part.new_ns - part.base_ns;

        if (fabs(change) < fabs(delta) / 10 || !is_worth_it(s, &part, whole_of(r)))
            continue;
        osc_prose_flag(&s->facts, FACT_is_first, n++ == 0);
        osc_prose_text(&s->facts, FACT_name, part.name);
        osc_prose_real(&s->facts, FACT_delta, change);
        osc_prose_say(s->out, &s->facts, FACT_among);
    }
    osc_strbuf_addc(s->out, '\n');
    osc_free(order);
    return OSC_OK;
}

/* Whether all operators and kernels are of one run: then none of them is new or gone. */
static bool is_of_one(const struct osc_call_graph *g)
{
    bool is_on[2] = {false, false};

    for (uint32_t k = 0; k < g->n; k++) {
        is_on[0] |= g->is_on[k][0];
        is_on[1] |= g->is_on[k][1];
    }
    return is_on[0] != is_on[1];
}

/* Tell what operators and kernels take more or less. */
static osc_status tell_work(struct story *s, bool has_kernels)
{
    bool of_host = true;
    osc_status st = OSC_OK;

    if (!s->is_device && has_kernels) {
        st = tell_kernels(s);
        s->where = " on the host";
    }
    const uint32_t n_before = s->n_found;
    if (st == OSC_OK)
        st = tell_operators(s);
    if (st == OSC_OK && (s->is_device || s->n_found == n_before))
        st = tell_host(s, &of_host);
    if (st == OSC_OK)
        st = tell_parts(s, of_host);
    return st;
}

osc_status osc_diff_sentences(const struct osc_diff_tables *t, struct osc_strbuf *out)
{
    struct osc_strbuf found = {0};
    struct story s = {.t = t, .out = &found, .facts = {.prose = &osc_sentences_prose}};
    const uint32_t time = osc_change_time(t->operators);
    const bool has_kernels = t->kernels->n_rows > 0;
    osc_status st = osc_call_graph_make(&s.graph, t->operators, t->calls);

    s.is_device = time == OSC_TIME_DEVICE_SELF;
    s.where = s.is_device || has_kernels ? " on the device" : "";
    s.at = osc_change_columns(t->operators->def, time);
    s.total = osc_change_columns(t->operators->def,
                                 s.is_device ? OSC_TIME_DEVICE_TOTAL : OSC_TIME_HOST_TOTAL);
    const bool has_whole = t->steps->n_rows > 0; /* otherwise operators still may be per step */
    if (has_whole || t->operators->n_rows > 0) {
        const struct osc_change first =
            osc_change_at(has_whole ? t->steps : t->operators, 0,
                          has_whole ? osc_diff_steps_columns() : &s.at);

        s.has_steps = first.has_steps;
        s.is_tested = first.is_tested;
    }
    s.is_told = osc_calloc((size_t)s.graph.n + 1, sizeof *s.is_told);
    s.stack = osc_calloc((size_t)s.graph.n + 1, sizeof *s.stack);
    if (st == OSC_OK && (!s.is_told || !s.stack))
        st = OSC_ENOMEM;
    if (st == OSC_OK && (has_whole || !is_of_one(&s.graph)))
        st = tell_work(&s, has_kernels);
    if (st == OSC_OK) {
        if (has_whole)
            add_largest(&s, out);
        s.out = out;
        st = tell_steps(&s);
        s.out = &found;
        if (!has_whole)
            add_largest(&s, out);
    }
    osc_strbuf_fini(&found);
    osc_free(s.is_told);
    osc_free(s.stack);
    osc_call_graph_fini(&s.graph);
    return st == OSC_OK ? out->status : st;
}

void osc_diff_say_change(struct osc_strbuf *out, const struct osc_change *c)
{
    struct osc_prose_facts facts = {.prose = &osc_sentences_prose};

    osc_prose_real(&facts, FACT_new_time, c->new_ns);
    osc_prose_real(&facts, FACT_base_time, c->base_ns);
    osc_prose_real(&facts, FACT_delta, c->new_ns - c->base_ns);
    osc_prose_growth(&facts, FACT_growth, c->base_ns, c->new_ns);
    osc_prose_flag(&facts, FACT_has_steps, c->has_steps);
    osc_prose_flag(&facts, FACT_is_tested, c->is_tested);
    osc_prose_flag(&facts, FACT_is_significant, c->is_significant);
    osc_prose_say(out, &facts, FACT_row);
}
