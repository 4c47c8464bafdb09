/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `diff_tree`: what changed where, by the modules, annotations and operators around it.
 */
#include "analysis/table_registry.h"

#include "analysis/diff/change.h"
#include "analysis/diff/pair_tree.h"
#include "analysis/diff/plugin_tree.h"
#include "analysis/shared_options.h"

enum {
    PATH,
    DEPTH,
    BASE_NAME,
    NEW_NAME,
    BASE_CALLS,
    NEW_CALLS,
    BASE,
    NEW,
    DELTA,
    MEAN_BASE,
    MEAN_NEW,
    MEAN_DELTA,
    BASE_DEVICE,
    NEW_DEVICE,
    DELTA_DEVICE,
    MEAN_BASE_DEVICE,
    MEAN_NEW_DEVICE,
    MEAN_DELTA_DEVICE,
    ORDER,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(
        PATH, "path", STRING, NULL, KEY, 0, OSC_RULE_DIFF_TREE,
        "Names from the outermost node to this one, as the new run has them, or the base "
        "run if only that one has it. The second node of a path ends in [2], and so on; the "
        "middle of a long path is left out."),
    OSC_COLUMN(DEPTH, "depth", INTEGER, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Number of nodes around it."),
    OSC_COLUMN(BASE_NAME, "base_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Name in the base run; missing if only the new run has it."),
    OSC_COLUMN(NEW_NAME, "new_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Name in the new run; missing if only the base run has it."),
    OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of calls in the base run."),
    OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of calls in the new run."),
    OSC_COLUMN(BASE, "base_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Host time over all of the base run."),
    OSC_COLUMN(NEW, "new_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Host time over all of the new run."),
    OSC_COLUMN(DELTA, "delta_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "new_ns - base_ns."),
    OSC_COLUMN(
        MEAN_BASE, "mean_base_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
        "base_ns / steps of all processes of the base run. Missing unless both runs have "
        "steps."),
    OSC_COLUMN(MEAN_NEW, "mean_new_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "The same of the new run."),
    OSC_COLUMN(MEAN_DELTA, "mean_delta_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "mean_new_ns - mean_base_ns."),
    OSC_COLUMN(BASE_DEVICE, "base_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE | OSC_RULE_LINKS,
               "Sum of the device work that was launched in it, in the base run."),
    OSC_COLUMN(NEW_DEVICE, "new_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE | OSC_RULE_LINKS, "The same in the new run."),
    OSC_COLUMN(DELTA_DEVICE, "delta_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "new_device_ns - base_device_ns."),
    OSC_COLUMN(MEAN_BASE_DEVICE, "mean_base_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE,
               "base_device_ns / steps of all processes of the base run. Missing unless both "
               "runs have steps."),
    OSC_COLUMN(MEAN_NEW_DEVICE, "mean_new_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "The same of the new run."),
    OSC_COLUMN(MEAN_DELTA_DEVICE, "mean_delta_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "mean_new_device_ns - mean_base_device_ns."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "The change of host time without its sign."),
};

struct rows {
    struct osc_pair_tree trees;
    struct osc_result *out;
};

/* Set the columns from COLUMN on: BASE, NEW and their difference, which is returned. */
static double add_means(struct osc_result *out, uint32_t column, double base, double new_)
{
    osc_result_num(out, column, base);
    osc_result_num(out, column + 1, new_);
    osc_result_num(out, column + 2, new_ - base);
    return new_ - base;
}

static bool add_row(void *ctx, const struct osc_node_pair *p)
{
    struct rows *const rows = ctx;
    const struct osc_pair_tree *const c = &rows->trees;
    static const struct osc_side_node none;
    const struct osc_side_nodes *const base = &c->trees[OSC_BASE], *const new_ =
                                                                       &c->trees[OSC_NEW];
    const struct osc_side_node *const a =
        p->base == OSC_NO_NODE ? &none : &base->nodes[p->base];
    const struct osc_side_node *const b =
        p->new_ == OSC_NO_NODE ? &none : &new_->nodes[p->new_];
    struct osc_result *const out = rows->out;
    double change = (double)b->host_ns - (double)a->host_ns;

    osc_result_row(out);
    osc_result_sid(out, PATH, p->path);
    osc_result_int(out, DEPTH, p->depth);
    if (p->base != OSC_NO_NODE)
        osc_result_str(out, BASE_NAME, osc_side_node_name(base, p->base));
    if (p->new_ != OSC_NO_NODE)
        osc_result_str(out, NEW_NAME, osc_side_node_name(new_, p->new_));
    osc_result_int(out, BASE_CALLS, a->calls);
    osc_result_int(out, NEW_CALLS, b->calls);
    osc_result_int(out, BASE, a->host_ns);
    osc_result_int(out, NEW, b->host_ns);
    osc_result_int(out, DELTA, b->host_ns - a->host_ns);
    osc_result_int(out, BASE_DEVICE, a->device_ns);
    osc_result_int(out, NEW_DEVICE, b->device_ns);
    osc_result_int(out, DELTA_DEVICE, b->device_ns - a->device_ns);
    if (osc_pair_tree_has_steps(c)) {
        const double n_base = (double)base->n_steps, n_new = (double)new_->n_steps;

        change =
            add_means(out, MEAN_BASE, (double)a->step_ns / n_base, (double)b->step_ns / n_new);
        (void)add_means(out, MEAN_BASE_DEVICE, (double)a->step_device_ns / n_base,
                        (double)b->step_device_ns / n_new);
    }
    osc_result_int(out, ORDER, osc_change_order(change, osc_pair_tree_has_steps(c)));
    return true;
}

/* Add a pair of the plugin. */
static void add_pair(void *ctx, struct osc_str path, uint32_t depth,
                     const struct osc_plugin_side *base, const struct osc_plugin_side *new_)
{
    struct osc_result *const out = ctx;

    osc_result_row(out);
    osc_result_str(out, PATH, path);
    osc_result_int(out, DEPTH, depth);
    osc_result_str(out, BASE_NAME, base->name);
    osc_result_str(out, NEW_NAME, new_->name);
    osc_result_int(out, BASE_CALLS, base->calls);
    osc_result_int(out, NEW_CALLS, new_->calls);
    osc_result_int(out, BASE, base->host_ns);
    osc_result_int(out, NEW, new_->host_ns);
    osc_result_int(out, DELTA, new_->host_ns - base->host_ns);
    osc_result_int(out, BASE_DEVICE, base->device_ns);
    osc_result_int(out, NEW_DEVICE, new_->device_ns);
    osc_result_int(out, DELTA_DEVICE, new_->device_ns - base->device_ns);
    osc_result_int(out, ORDER, -(int64_t)out->n_rows); /* the plugin's order */
}

/* --compat tb: as the plugin compares. */
static osc_status compare_plugin(const struct osc_result *base, const struct osc_result *new_,
                                 struct osc_result *out, struct osc_err *err)
{
    const struct osc_plugin_pairs pairs = {add_pair, out};
    const osc_status st = osc_plugin_tree_compare(base, new_, &pairs);

    for (uint32_t c = BASE_NAME; c <= DELTA_DEVICE; c++) {
        if (c < MEAN_BASE || c > MEAN_DELTA)
            osc_result_show(out, c);
    }
    if (st == OSC_EINVAL)
        return osc_fail(
            err, st, "--compat tb compares single files: choose them with --rank and --span");
    if (out->n_rows == 0)
        osc_result_why_empty(out, "the first threads have no operators, modules or steps");
    return st == OSC_OK && out->status == OSC_OK
               ? OSC_OK
               : osc_fail(err, st == OSC_OK ? out->status : st, "comparing: %s",
                          osc_status_text(st == OSC_OK ? out->status : st));
}

static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct rows rows = {.out = out};

    if (osc_is_compat_tb(o))
        return compare_plugin(base[1], new_[1], out, err);
    osc_status st = osc_pair_tree_make(&rows.trees, base, new_);

    if (st == OSC_OK)
        st = osc_pair_tree_walk(&rows.trees, out, add_row, &rows);
    if (st == OSC_OK) {
        const bool has_steps = osc_pair_tree_has_steps(&rows.trees);

        for (uint32_t k = 0; k < 3; k++)
            osc_result_show(out, (has_steps ? MEAN_BASE : BASE) + k);
        for (uint64_t i = 0; i < out->n_rows; i++) {
            if (osc_result_get_int(out, i, BASE_DEVICE) != 0 ||
                osc_result_get_int(out, i, NEW_DEVICE) != 0) {
                osc_result_show(out, has_steps ? MEAN_DELTA_DEVICE : DELTA_DEVICE);
                break;
            }
        }
        if (out->n_rows == 0)
            osc_result_why_empty(out, "neither run has ranges of the host that enclose others: "
                                      "steps, modules, annotations or operators");
    }
    osc_pair_tree_fini(&rows.trees);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const uint32_t sides[] = {OSC_SIDE_STEPS, OSC_SIDE_TREE, OSC_SIDES};
/* The order tells nothing of device work, nor of what one side alone has without duration. */
static bool is_alike(const struct osc_result *r, uint64_t row)
{
    const bool is_device_alike = osc_result_has(r, row, MEAN_DELTA_DEVICE)
                                     ? osc_result_get_num(r, row, MEAN_DELTA_DEVICE) == 0
                                     : osc_result_get_int(r, row, DELTA_DEVICE) == 0;

    return is_device_alike && osc_result_get_int(r, row, ORDER) == 0 &&
           osc_result_has(r, row, BASE_NAME) == osc_result_has(r, row, NEW_NAME);
}

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_diff_tree = {
    .name = "diff_tree",
    .help =
        "What changed where: pairs of modules, annotations and operators that have the same "
        "place in two runs, and what only one of them has. Sorted by the change of host time "
        "without its sign, per step if both runs have steps.",
    .source = "host ranges of both runs.",
    .rules = OSC_RULE_DIFF_TREE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    .options = options,
    OSC_COMPARES(.sides = sides, .compare = compare, .is_alike = is_alike),
};
