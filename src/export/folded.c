/* SPDX-License-Identifier: Apache-2.0 */
/* Files of folded stacks, for flame graphs: one line for each stack with its value. What these
 * are: analysis/stacks/folding.h. */
#include "analysis/stacks/folding.h"
#include "export/exporters.h"

static struct osc_folding folding_of(const struct osc_export *x)
{
    return (struct osc_folding){.traces = x->traces,
                                .n_traces = x->n_traces,
                                .stack = x->stack,
                                .metric = x->metric,
                                .is_redacted = x->is_redacted,
                                .line = x->sink.write,
                                .progress = x->sink.progress,
                                .ctx = x->sink.ctx};
}

static osc_status facts(const struct osc_export *x, uint32_t *facts, struct osc_err *err)
{
    const struct osc_folding q = folding_of(x);

    return osc_folding_facts(&q, facts, err);
}

static osc_status write(const struct osc_export *x, struct osc_err *err)
{
    const struct osc_folding q = folding_of(x);
    struct osc_stack_tree tree;
    uint64_t n_lines = 0, n_of_torch = 0;

    osc_stack_tree_init(&tree);
    osc_status st = osc_folding_make(&q, &tree, &n_of_torch, err);
    if (st == OSC_OK && n_of_torch == 0)
        st = osc_stack_tree_write(&tree, x->sink.write, x->sink.ctx, &n_lines);
    if (st == OSC_OK && n_lines + n_of_torch == 0)
        st = osc_folding_fail_zero(err);
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
