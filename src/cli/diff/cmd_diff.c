/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope diff`: what changed from one run to another. */
#include "analysis/table_registry.h"
#include "ask/diff/whole.h"
#include "cli/commands.h"
#include "cli/compare_show.h"
#include "cli/diff/gate_run.h"
#include "table/nearest.h"

#include <string.h>

/* A whole comparison: what it prints, and what it reads. */
struct diff {
    struct osc_args *args;
    const struct osc_table_def *named; /* the only table to print; NULL: sentences and all */
    struct osc_asked own;              /* the question for the named table */
    struct osc_whole whole;
    struct osc_two_runs runs;
    struct osc_gate gate;
};

/* The table that --table names; NULL after a message. */
static const struct osc_table_def *find_table(const char *name)
{
    const struct osc_table_def *const def = osc_table_find(name);
    struct osc_nearest near = {.word = name};

    if (def && def->comparison)
        return def;
    if (def) {
        osc_cli_error("--table: %s is a table of one run; see 'opscope table %s TRACE...'",
                      name, name);
        return NULL;
    }
    for (size_t i = 0; osc_tables[i]; i++) {
        if (osc_tables[i]->comparison)
            osc_nearest_try(&near, osc_tables[i]->name);
    }
    if (near.best)
        osc_cli_error("--table: unknown table '%s'; did you mean '%s'?", name, near.best);
    else
        osc_cli_error("--table: unknown table '%s'; 'opscope table --list' names the tables",
                      name);
    return NULL;
}

/* Prepare the questions for all tables, and for the named one as the options say. */
static int prepare(struct diff *d)
{
    const struct osc_request r = osc_show_request(d->args);
    struct osc_request all = r;
    struct osc_err err = {0};

    if (d->named) {
        all.question = (struct osc_question){.limit = -1};
        all.text.format = NULL;
    }
    osc_status st = osc_whole_init(&d->whole, &all, &err);
    if (d->named && st == OSC_OK)
        st = osc_asked_init_table(&d->own, d->named, &r, NULL, &err);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* Read the runs and make the rows of all tables, and the sentences. */
static int compare(struct diff *d)
{
    struct osc_err err = {0};
    const int failed = osc_compare_show_load(
        &d->runs, d->args, osc_whole_sides() | (d->named ? osc_compare_sides(d->named) : 0));

    if (failed)
        return failed;
    osc_status st = osc_whole_run(&d->whole, &d->runs.both, &err);
    if (st == OSC_OK && d->named)
        st = osc_compare_run(&d->own, &d->runs.both, &err);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int print(struct diff *d)
{
    struct osc_err err = {0};
    const osc_status st =
        d->named ? osc_asked_write(&d->own, &err) : osc_whole_write(&d->whole, &err);

    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int show(struct diff *d)
{
    const struct osc_result *tables[OSC_GATE_TABLES];
    int failed = osc_gate_run_parse(&d->gate, d->args);

    if (!failed)
        failed = prepare(d);
    if (!failed)
        failed = compare(d);
    if (!failed)
        osc_whole_rows(&d->whole, tables);
    if (!failed && d->args->gate)
        failed = osc_gate_run_evaluate(&d->gate, d->args, &d->runs, tables);
    if (!failed)
        failed = print(d);
    if (!failed && d->args->gate)
        failed = osc_gate_run_tell(&d->gate, d->args, &d->runs, tables,
                                   d->whole.sentences.s ? d->whole.sentences.s : "");
    if (!failed && (d->runs.base.has_failed || d->runs.new_.has_failed))
        failed = OSC_EXIT_FAILED; /* a gate that holds does so only for what was read */
    osc_whole_fini(&d->whole);
    osc_asked_fini(&d->own);
    osc_two_runs_fini(&d->runs);
    osc_gate_fini(&d->gate);
    return failed;
}

static int run(struct osc_args *args)
{
    struct diff d = {.args = args};
    const struct osc_question *const q = &args->request.question;

    if (args->named_table) {
        d.named = find_table(args->named_table);
        if (!d.named)
            return OSC_EXIT_MISUSED;
        if (!args->gate && !args->report && !args->allows_different)
            return osc_compare_show_table(args, d.named);
        if (q->group_by)
            return osc_cli_misuse("--group-by and --fail-on do not go together");
        return show(&d);
    }
    return show(&d);
}

const struct osc_command osc_command_diff = {
    .name = "diff",
    .bit = OSC_COMMAND_DIFF,
    .operands = "[OPTION...] BASE NEW",
    .summary = "what changed from one run to another, and whether that is too much",
    .text =
        "Compares two runs, each a trace or a directory of ranks: first sentences, what\n"
        "changed most first, then the tables diff_steps, diff_operators, diff_kernels and\n"
        "diff_tree. Times are per step of one process if both runs have steps. A change is\n"
        "significant if it is larger than what steps differ by among themselves. GATE\n"
        "compares step.CATEGORY, operator('NAME').self and kernel('NAME') with a time (2ms)\n"
        "or a share of the base (5%), joined by and, or, not and brackets; beside\n"
        "'significant', what grew must be so. The exit status is 3 if it broke, 4 if the\n"
        "runs cannot be compared.\n",
    .examples =
        "  opscope diff before.json after.json\n"
        "  opscope diff runs/before/ runs/after/               all ranks\n"
        "  opscope diff before.json after.json --table diff_operators --format csv\n"
        "  opscope diff before.json after.json --fail-on 'step.total > 5% and significant'\n",
    .run = run,
};
