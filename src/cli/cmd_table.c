/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope table`: print any table in any form. */
#include "analysis/table_registry.h"
#include "ask/files/budget.h"
#include "cli/commands.h"
#include "cli/compare_show.h"
#include "cli/output.h"
#include "cli/parts.h"
#include "cli/reference.h"
#include "cli/show.h"
#include "cli/table_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "table/nearest.h"

/*
 * Find the table that the first operand names and remove that operand. If it names a file, the
 * table is averages. NULL after a message: it is neither a table nor a file.
 */
static const struct osc_table_def *choose_table(struct osc_args *args)
{
    const char *name = args->n_operands > 0 ? args->operands[0] : NULL;
    const struct osc_table_def *def = name ? osc_table_find(name) : NULL;
    struct osc_nearest near = {.word = name};

    if (def) {
        args->operands++;
        args->n_operands--;
        return def;
    }
    if (!name || strcmp(name, "-") == 0 || strchr(name, '/') || access(name, F_OK) == 0)
        return osc_table_find("averages");
    for (size_t i = 0; osc_tables[i]; i++)
        osc_nearest_try(&near, osc_tables[i]->name);
    if (!near.best && strchr(name, '.'))
        return osc_table_find("averages"); /* the importer reports that the file is missing */
    if (near.best)
        osc_cli_error("'%s' is neither a table nor a file; did you mean '%s'?", name,
                      near.best);
    else
        osc_cli_error("'%s' is neither a table nor a file; 'opscope table --list' names the "
                      "tables",
                      name);
    return NULL;
}

/* Refuse a wrong order: a later operand names a table and not a file. */
static int check_operands(const struct osc_args *args)
{
    for (int i = 0; i < args->n_operands; i++) {
        const char *name = args->operands[i];

        if (osc_table_find(name) && access(name, F_OK) != 0)
            return osc_cli_misuse("'%s' is a table, not a file; name one table, before the "
                                  "traces: 'opscope table %s TRACE...'",
                                  name, name);
    }
    return OSC_EXIT_DONE;
}

/* Answer K, which was checked, about the traces of ARGS. In text, also report their quality. */
static int show(const struct osc_args *args, struct osc_asked *k)
{
    const struct osc_selection selection = osc_request_selection(&args->request.view);
    struct osc_load o = {
        .selects_late = osc_asked_selects_late(k),
        .reserve = osc_show_says_quality(k) && osc_table_facts(k->def) == 0
                       ? osc_budget_for_tables()
                       : osc_budget_for_table(k->def, args->request.question.sort != NULL,
                                              osc_selection_is_all(&selection)),
    };
    bool has_failed = false;
    const int failed = osc_show_answer(args, &o, k, NULL, &has_failed);

    return !failed && has_failed ? OSC_EXIT_FAILED : failed;
}

/* Write the parts of the answer to K, which was checked, about the traces of ARGS. */
static int write_parts(const struct osc_args *args, struct osc_asked *k)
{
    struct osc_strbuf parts = {0};
    struct osc_output o = {0};
    bool has_failed = false;

    if (!args->is_partial)
        return osc_cli_misuse("--%s is for --partial", args->output ? "output" : "share");
    if (!args->output)
        return osc_cli_misuse("no file for the parts was named; use -o X.part");
    if (!k->def->mapping)
        return osc_cli_misuse("%s has no parts: %s; 'opscope %s' writes it", k->def->name,
                              osc_table_why_whole(k->def),
                              k->def->composition ? "table" : "export");
    if (args->share.n > 1 && osc_request_names_time(&args->request))
        return osc_cli_misuse("a time counts from the first event of all traces, which a share "
                              "does not know; select --steps, or use opscope-mpi");
    int failed = osc_output_open(&o, args->output);
    if (!failed)
        osc_output_keep_all_private(&o, osc_args_paths(args), args->n_operands);
    if (!failed)
        failed = osc_parts_make(args, k, args->share, NULL, &parts, &has_failed);
    if (!failed) {
        osc_cli_redirect(o.fd, args->output);
        const osc_status st = osc_cli_write(NULL, parts.s, parts.len);
        failed = st == OSC_OK ? osc_output_commit(&o) : osc_cli_fail(st, &(struct osc_err){0});
    }
    osc_output_abandon(&o);
    osc_strbuf_fini(&parts);
    return !failed && has_failed ? OSC_EXIT_FAILED : failed;
}

/* --list with --format: print the whole reference, in Markdown or as JSON. */
static int show_page(const struct osc_args *args, bool has_name)
{
    const char *const form = args->renderer->name;
    const bool is_json = strcmp(form, "json") == 0;

    if (!is_json && strcmp(form, "md") != 0)
        return osc_cli_misuse("--list prints text, or all tables with --format md or json");
    if (has_name)
        return osc_cli_misuse("--list --format %s prints all tables; leave out the name", form);
    return is_json ? osc_reference_json() : osc_reference_page();
}

int osc_table_run(struct osc_args *args, osc_table_show *show_otherwise, void *ctx)
{
    const struct osc_table_def *def = NULL;
    struct osc_request request;
    struct osc_asked k = {0};
    struct osc_err err = {0};
    char **const first = args->operands;
    int failed = OSC_EXIT_DONE;

    def = choose_table(args);
    if (!def)
        return OSC_EXIT_MISUSED;
    const bool has_format = args->request.text.format != NULL;
    if (args->wants_list && has_format)
        return show_page(args, args->operands > first);
    if (args->wants_list)
        return osc_reference_list(args->operands > first ? def : NULL);
    if (args->explain && has_format)
        return osc_cli_misuse("--explain prints text only; leave out --format");
    if (args->explain)
        return osc_reference_explain(def, args->explain);
    failed = check_operands(args);
    if (failed)
        return failed;
    if (def->comparison &&
        (show_otherwise || args->is_partial || args->output || args->share.n > 0))
        return osc_cli_misuse(
            "%s compares two runs and has no parts; 'opscope diff' reads ranks "
            "one by one",
            def->name);
    if (def->comparison)
        return osc_compare_show_table(args, def);
    request = osc_show_request(args);
    request.question.table = def->name;
    const osc_status st = osc_asked_init(&k, &request, NULL, &err);
    if (st != OSC_OK)
        failed = osc_cli_fail(st, &err);
    else if (args->n_operands == 0)
        failed = osc_cli_misuse("no trace was named; try 'opscope table %s trace.json' or see "
                                "'opscope table --help'",
                                def->name);
    else if (args->is_partial || args->output || args->share.n > 0)
        failed =
            show_otherwise
                ? osc_cli_misuse("opscope-mpi shares out and joins parts itself; leave out "
                                 "--partial, --share and -o")
                : write_parts(args, &k);
    else if (show_otherwise)
        failed = show_otherwise(ctx, args, &k);
    else
        failed = show(args, &k);
    osc_asked_fini(&k);
    return failed;
}

static int run(struct osc_args *args)
{
    return osc_table_run(args, NULL, NULL);
}

const struct osc_command osc_command_table = {
    .name = "table",
    .bit = OSC_COMMAND_TABLE,
    .operands = "[NAME] [OPTION...] TRACE...",
    .summary = "print one table: as text, CSV, JSON or Markdown",
    .text = "Prints table NAME of the traces. The default is averages, torch's\n"
            "key_averages().table(). 'opscope table --list' lists all tables. If a file has\n"
            "the name of a table, write ./NAME.\n",
    .examples =
        "  opscope table trace.json.gz --sort self_cpu_time_total --limit 10\n"
        "  opscope table averages --group-by shape trace.json.gz\n"
        "  opscope table kernels trace.json.gz          where the device spends its time\n"
        "  opscope table events t.json --from 10ms --to 12ms --format csv > events.csv\n"
        "  opscope table steps runs/ddp/ --rank 0-3     some ranks of a directory\n"
        "  opscope table kernels t.json --where 'calls > 9 and mean_ns < us(5)'\n"
        "  opscope table kernels --explain mean_ns      what a column means\n",
    .run = run,
};
