/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope diff`: what changed from one run to another. */
#include "analysis/table_registry.h"
#include "cli/commands.h"
#include "cli/compare_show.h"
#include "cli/diff/gate_report.h"
#include "cli/diff/gate_run.h"
#include "cli/diff/sentences.h"
#include "table/nearest.h"

#include <string.h>

#define ROWS_OF_EACH 10 /* of each table below the sentences, unless --limit is given */

enum { STEPS, OPERATORS, KERNELS, TREE, TABLES };

static const struct osc_table_def *const defs[TABLES] = {
    [STEPS] = &osc_table_diff_steps,
    [OPERATORS] = &osc_table_diff_operators,
    [KERNELS] = &osc_table_diff_kernels,
    [TREE] = &osc_table_diff_tree,
};

/* A whole comparison: what it prints, and what it reads. */
struct diff {
    struct osc_args *args;
    const struct osc_table_def *named;   /* the only table to print; NULL: sentences and all */
    struct osc_asked asked[TABLES], own; /* own: the question for the named table */
    struct osc_two_runs runs;
    struct osc_gate gate;
    struct osc_strbuf sentences;
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
    const bool is_text = !d->args->renderer->is_machine;
    osc_status st = OSC_OK;
    struct osc_err err = {0};

    for (int t = 0; t < TABLES && st == OSC_OK; t++) {
        struct osc_request r = osc_show_request(d->args);

        if (d->named)
            r.question = (struct osc_question){.limit = -1};
        if (r.question.limit == 0 && is_text)
            r.question.limit = ROWS_OF_EACH;
        if (is_text)
            r.text.note = NULL; /* which columns are left out: --table says it */
        st = osc_asked_init_table(&d->asked[t], defs[t], &r, NULL, &err);
    }
    if (d->named && st == OSC_OK) {
        const struct osc_request r = osc_show_request(d->args);

        st = osc_asked_init_table(&d->own, d->named, &r, NULL, &err);
    }
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static const struct osc_result *rows_of(const struct diff *d, int table)
{
    return &d->asked[table].answer.blocks[0].result;
}

/* Read the runs and make the rows of all tables, and the sentences. */
static int compare(struct diff *d)
{
    struct osc_err err = {0};
    uint32_t sides = 1u << OSC_SIDE_ABOUT | 1u << OSC_SIDE_CALLS;
    osc_status st = OSC_OK;

    for (int t = 0; t < TABLES; t++)
        sides |= osc_compare_sides(defs[t]);
    const int failed = osc_compare_show_load(&d->runs, d->args, sides);
    if (failed)
        return failed;
    for (int t = 0; t < TABLES && st == OSC_OK; t++) {
        st = osc_compare_run(&d->asked[t], &d->runs.both, &err);
        if (t > 0 && !d->args->renderer->is_machine)
            osc_strbuf_clear(&d->asked[t].answer.sheet.notes); /* the same as above */
    }
    if (st == OSC_OK && d->named)
        st = osc_compare_run(&d->own, &d->runs.both, &err);
    if (st == OSC_OK) {
        const struct osc_diff_tables tables = {
            .steps = rows_of(d, STEPS),
            .operators = rows_of(d, OPERATORS),
            .kernels = rows_of(d, KERNELS),
            .calls = {&d->runs.base.of[OSC_SIDE_CALLS], &d->runs.new_.of[OSC_SIDE_CALLS]},
        };

        st = osc_diff_sentences(&tables, &d->sentences);
    }
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int print_sentences(const struct diff *d)
{
    const bool is_md = strcmp(d->args->renderer->name, "md") == 0;

    struct osc_strbuf out = {0};
    int failed = OSC_EXIT_DONE;

    if (d->sentences.len == 0 || (d->args->renderer->is_machine && !is_md))
        return failed;
    if (!is_md)
        return osc_show_text(d->sentences.s);
    osc_report_add_list(&out, d->sentences.s);
    failed = out.status == OSC_OK ? osc_show_text(out.s)
                                  : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}

static int print_table(struct osc_asked *k)
{
    struct osc_err err = {0};
    const osc_status st = osc_asked_write(k, &err);

    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* Print the tables that have rows; as JSON all of them, in an array. */
static int print_tables(struct diff *d)
{
    const bool is_json = strcmp(d->args->renderer->name, "json") == 0;
    int failed = is_json ? osc_show_text("[") : OSC_EXIT_DONE;

    for (int t = 0; t < TABLES && !failed; t++) {
        if (!is_json && rows_of(d, t)->n_rows == 0)
            continue;
        if (is_json && t > 0)
            failed = osc_show_text(",");
        else if (!is_json)
            failed = osc_show_text("\n");
        failed = failed ? failed : print_table(&d->asked[t]);
    }
    return failed || !is_json ? failed : osc_show_text("]\n");
}

static int show(struct diff *d)
{
    const struct osc_result *tables[OSC_GATE_TABLES];
    int failed = osc_gate_run_parse(&d->gate, d->args);

    if (!failed)
        failed = prepare(d);
    if (!failed)
        failed = compare(d);
    if (!failed) {
        tables[OSC_GATE_STEPS] = rows_of(d, STEPS);
        tables[OSC_GATE_OPERATORS] = rows_of(d, OPERATORS);
        tables[OSC_GATE_KERNELS] = rows_of(d, KERNELS);
    }
    if (!failed && d->args->gate)
        failed = osc_gate_run_evaluate(&d->gate, d->args, &d->runs, tables);
    if (!failed && d->named)
        failed = print_table(&d->own);
    if (!failed && !d->named)
        failed = print_sentences(d);
    if (!failed && !d->named)
        failed = print_tables(d);
    if (!failed && (d->runs.base.has_failed || d->runs.new_.has_failed))
        failed = OSC_EXIT_FAILED;
    if (!failed && d->args->gate)
        failed = osc_gate_run_tell(&d->gate, d->args, &d->runs, tables,
                                   d->sentences.s ? d->sentences.s : "");
    for (int t = 0; t < TABLES; t++)
        osc_asked_fini(&d->asked[t]);
    osc_asked_fini(&d->own);
    osc_two_runs_fini(&d->runs);
    osc_gate_fini(&d->gate);
    osc_strbuf_fini(&d->sentences);
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
    if (q->sort || q->columns || q->where || q->group_by || q->compat)
        return osc_cli_misuse("--%s is for one table: name it with --table",
                              q->sort      ? "sort"
                              : q->columns ? "columns"
                              : q->where   ? "where"
                              : q->compat  ? "compat"
                                           : "group-by");
    if (strcmp(args->renderer->name, "csv") == 0)
        return osc_cli_misuse("CSV holds one table; name it with --table");
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
