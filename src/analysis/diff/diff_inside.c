/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `diff_inside`: what each operator takes more or less inside of one place of `diff_tree`, or
 * in all of two runs.
 */
#include "analysis/table_registry.h"

#include "analysis/diff/change.h"
#include "analysis/diff/pair_tree.h"
#include "base/mem.h"
#include "model/kind.h"

enum { CALLS, HOST, HOST_SELF, DEVICE, DEVICE_SELF, N_VALUES };

/* Of each value: both sides and the change. */
enum {
    NAME,
    VALUES,
    MEANS = VALUES + 3 * N_VALUES,
    RATIOS = MEANS + 3 * N_VALUES,
    ORDER = RATIOS + N_VALUES,
    N_COLUMNS
};

#define AT(value, which)   (VALUES + 3 * (value) + (which))
#define MEAN(value, which) (MEANS + 3 * (value) + (which))
#define RATIO(value)       (RATIOS + (value))

#define TRIPLE(value, word, unit, help)                                                      \
    OSC_COLUMN(AT(value, 0), "base_" word, INTEGER, unit, FIRST, OSC_COLUMN_DEEP,            \
               OSC_RULE_DIFF_TREE, help " In the base run."),                                \
        OSC_COLUMN(AT(value, 1), "new_" word, INTEGER, unit, FIRST, OSC_COLUMN_DEEP,         \
                   OSC_RULE_DIFF_TREE, "The same in the new run."),                          \
        OSC_COLUMN(AT(value, 2), "delta_" word, INTEGER, unit, FIRST, OSC_COLUMN_DEEP,       \
                   OSC_RULE_DIFF_TREE, "new_" word " - base_" word "."),                     \
        OSC_COLUMN(MEAN(value, 0), "mean_base_" word, NUMBER, unit, FIRST, OSC_COLUMN_DEEP,  \
                   OSC_RULE_DIFF_TREE,                                                       \
                   "base_" word " in the steps that are compared / these steps of all "      \
                   "processes. Missing unless both runs have steps."),                       \
        OSC_COLUMN(MEAN(value, 1), "mean_new_" word, NUMBER, unit, FIRST, OSC_COLUMN_DEEP,   \
                   OSC_RULE_DIFF_TREE, "The same of the new run."),                          \
        OSC_COLUMN(MEAN(value, 2), "mean_delta_" word, NUMBER, unit, FIRST, OSC_COLUMN_DEEP, \
                   OSC_RULE_DIFF_TREE, "mean_new_" word " - mean_base_" word ".")

#define CHANGE(value, word, of)                                                               \
    OSC_COLUMN(RATIO(value), "delta_" word "_ratio", NUMBER, "ratio", FIRST, OSC_COLUMN_DEEP, \
               OSC_RULE_DIFF_TREE,                                                            \
               "delta_" of " / base_" of "; mean_delta_" of " / mean_base_" of                \
               " if both runs have steps. Missing if the value of the base is 0.")

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_DIFF_TREE,
               "Name of the operators, which are inside of the place, or are it."),
    TRIPLE(CALLS, "calls", NULL, "Number of calls."),
    TRIPLE(HOST, "host_ns", "ns",
           "Sum of the durations; operators within each other count each time."),
    TRIPLE(HOST_SELF, "host_self_ns", "ns",
           "host_ns without the operators and other places directly inside."),
    TRIPLE(DEVICE, "device_ns", "ns", "Sum of the device work that was launched in them."),
    TRIPLE(DEVICE_SELF, "device_self_ns", "ns",
           "device_ns without that of operators and other places directly inside."),
    CHANGE(CALLS, "calls", "calls"),
    CHANGE(HOST, "host", "host_ns"),
    CHANGE(HOST_SELF, "host_self", "host_self_ns"),
    CHANGE(DEVICE, "device", "device_ns"),
    CHANGE(DEVICE_SELF, "device_self", "device_self_ns"),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "The change without its sign."),
};

/* What a name takes on both sides: over all of the run, and in the steps that are compared. */
struct sums {
    osc_sid name;
    int64_t all[OSC_BOTH][N_VALUES], steps[OSC_BOTH][N_VALUES];
};

struct inside {
    struct osc_pair_tree trees;
    struct osc_result *out;
    const char *path; /* that is looked for; NULL: all */
    struct osc_node_pair found;
    bool is_found;
    struct sums *sums; /* owned; in order of first appearance */
    size_t n, cap;
    struct osc_idmap by_name; /* by word: index in sums + 1 */
};

static bool look_for(void *ctx, const struct osc_node_pair *pair)
{
    struct inside *const in = ctx;

    in->is_found = osc_str_eq(osc_intern_str(&in->out->dict, pair->path), osc_str_c(in->path));
    if (in->is_found)
        in->found = *pair;
    return !in->is_found;
}

static struct sums *sums_of(struct inside *in, struct osc_str name)
{
    const osc_sid word = osc_result_word(in->out, name);
    uint32_t *const at = osc_idmap_put(&in->by_name, word.v);

    if (!at)
        return NULL;
    if (*at == 0) {
        if (osc_grow(&in->sums, &in->cap, in->n + 1, sizeof *in->sums) != OSC_OK)
            return NULL;
        in->sums[in->n++] = (struct sums){.name = word};
        *at = (uint32_t)in->n;
    }
    return &in->sums[*at - 1];
}

static void add_node(const struct osc_side_nodes *t, uint32_t k, int64_t *all, int64_t *steps)
{
    const struct osc_side_node *const node = &t->nodes[k];
    int64_t inner_ns = 0, inner_device_ns = 0, inner_step_ns = 0, inner_step_device_ns = 0;

    for (uint32_t c = 0; c < node->n_children; c++) {
        const struct osc_side_node *const child = &t->nodes[t->children[node->first_child + c]];

        inner_ns += child->host_ns;
        inner_device_ns += child->device_ns;
        inner_step_ns += child->step_ns;
        inner_step_device_ns += child->step_device_ns;
    }
    all[CALLS] += node->calls;
    all[HOST] += node->host_ns;
    all[HOST_SELF] += node->host_ns - inner_ns;
    all[DEVICE] += node->device_ns;
    all[DEVICE_SELF] += node->device_ns - inner_device_ns;
    steps[CALLS] += node->step_calls;
    steps[HOST] += node->step_ns;
    steps[HOST_SELF] += node->step_ns - inner_step_ns;
    steps[DEVICE] += node->step_device_ns;
    steps[DEVICE_SELF] += node->step_device_ns - inner_step_device_ns;
}

/* Add all operators of SIDE that are node TOP or below it. */
static osc_status add_side(struct inside *in, int side, uint32_t top)
{
    const struct osc_side_nodes *const t = &in->trees.trees[side];
    bool *const is_in = osc_calloc(t->n, sizeof *is_in);
    osc_status st = is_in ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK && top < t->n)
        is_in[top] = true;
    for (uint32_t k = top; k < t->n && st == OSC_OK; k++) {
        is_in[k] = is_in[k] || (k > 0 && is_in[t->parents[k]]);
        if (k == 0 || !is_in[k] ||
            osc_result_get_int(t->rows, t->nodes[k].row, OSC_TREE_KIND) != OSC_KIND_OPERATOR)
            continue;
        struct sums *const s = sums_of(in, osc_side_node_name(t, k));
        if (s)
            add_node(t, k, s->all[side], s->steps[side]);
        else
            st = OSC_ENOMEM;
    }
    osc_free(is_in);
    return st;
}

/* Write value V on both sides, per step or in all, and return how it changed. */
static double add_change(struct osc_result *out, uint32_t v, double base, double new_,
                         bool has_steps)
{
    if (has_steps) {
        osc_result_num(out, MEAN(v, 0), base);
        osc_result_num(out, MEAN(v, 1), new_);
        osc_result_num(out, MEAN(v, 2), new_ - base);
    }
    if (base != 0)
        osc_result_num(out, RATIO(v), (new_ - base) / base);
    return new_ - base;
}

static void add_row(struct inside *in, const struct sums *s, bool has_steps, uint32_t by)
{
    struct osc_result *const out = in->out;
    const struct osc_side_nodes *const trees = in->trees.trees;
    double change = 0;

    osc_result_row(out);
    osc_result_sid(out, NAME, s->name);
    for (uint32_t v = 0; v < N_VALUES; v++) {
        osc_result_int(out, AT(v, 0), s->all[OSC_BASE][v]);
        osc_result_int(out, AT(v, 1), s->all[OSC_NEW][v]);
        osc_result_int(out, AT(v, 2), s->all[OSC_NEW][v] - s->all[OSC_BASE][v]);
        const double base =
            has_steps ? (double)s->steps[OSC_BASE][v] / (double)trees[OSC_BASE].n_steps
                      : (double)s->all[OSC_BASE][v];
        const double new_ = has_steps
                                ? (double)s->steps[OSC_NEW][v] / (double)trees[OSC_NEW].n_steps
                                : (double)s->all[OSC_NEW][v];
        const double by_v = add_change(out, v, base, new_, has_steps);
        if (v == by)
            change = by_v;
    }
    osc_result_int(out, ORDER, osc_change_order(change, has_steps));
}

/* Device time if any operator launched work, else host time. */
static uint32_t choose_time(const struct inside *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->sums[i].all[OSC_BASE][DEVICE_SELF] != 0 ||
            in->sums[i].all[OSC_NEW][DEVICE_SELF] != 0)
            return DEVICE_SELF;
    return HOST_SELF;
}

static osc_status add_rows(struct inside *in)
{
    static const struct osc_node_pair all = {.base = 0, .new_ = 0};
    const struct osc_node_pair *const pair = in->path ? &in->found : &all;
    const bool has_steps = osc_pair_tree_has_steps(&in->trees);
    osc_status st = OSC_OK;

    if (pair->base != OSC_NO_NODE)
        st = add_side(in, OSC_BASE, pair->base);
    if (st == OSC_OK && pair->new_ != OSC_NO_NODE)
        st = add_side(in, OSC_NEW, pair->new_);
    if (st != OSC_OK)
        return st;
    const uint32_t by = choose_time(in);
    for (size_t i = 0; i < in->n; i++)
        add_row(in, &in->sums[i], has_steps, by);
    for (uint32_t k = 0; k < 3; k++) {
        osc_result_show(in->out, AT(CALLS, 0) + k);
        osc_result_show(in->out, (has_steps ? MEAN(by, 0) : AT(by, 0)) + k);
    }
    osc_result_show(in->out, RATIO(by));
    if (in->n == 0)
        osc_result_why_empty(in->out, "there are no operators");
    return in->out->status;
}

static const struct osc_table_option option_name = {
    .name = "name",
    .kind = OSC_OPTION_TEXT,
    .argument = "PATH",
    .help = "only what is inside of one place, by its path in diff_tree",
};

static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct inside in = {.out = out, .path = osc_option_text(o, &option_name)};
    osc_status st = osc_pair_tree_make(&in.trees, base, new_);

    if (st == OSC_OK && in.path)
        st = osc_pair_tree_walk(&in.trees, out, look_for, &in);
    const bool is_missing = st == OSC_OK && in.path && !in.is_found;
    if (st == OSC_OK && !is_missing)
        st = add_rows(&in);
    osc_pair_tree_fini(&in.trees);
    osc_free(in.sums);
    osc_idmap_fini(&in.by_name);
    if (is_missing)
        return osc_fail(err, OSC_EINVAL,
                        "no place '%s' in both runs: the column path of diff_tree has all",
                        in.path);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const uint32_t sides[] = {OSC_SIDE_STEPS, OSC_SIDE_TREE, OSC_SIDES};

static const struct osc_table_option *const options[] = {&option_name, NULL};

const struct osc_table_def osc_table_diff_inside = {
    .name = "diff_inside",
    .help =
        "What each operator takes more or less inside of one place of diff_tree, which --name "
        "gives by its path, or else in all of two runs. Sorted by the change of "
        "device_self_ns, or of host_self_ns where no operator launched device work, without "
        "its sign: per step if both runs have steps.",
    .source = "host ranges of both runs.",
    .rules = OSC_RULE_DIFF_TREE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    .options = options,
    OSC_COMPARES(.sides = sides, .compare = compare),
};
