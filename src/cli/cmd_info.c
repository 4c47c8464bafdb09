/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope info`: what a trace is and how good it is, on one page. */
#include "analysis/registry.h"
#include "cli/budget.h"
#include "cli/commands.h"
#include "cli/show.h"

#include <string.h>

static int show_both(struct osc_loaded *l, const struct osc_args *args)
{
    const bool is_json = strcmp(args->renderer->name, "json") == 0;
    int failed = is_json ? osc_show_text("[") : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_table(l, args, &osc_table_info);
    if (!failed)
        failed = osc_show_text(is_json ? "," : "\n");
    if (!failed)
        failed = osc_show_table(l, args, &osc_table_quality);
    if (!failed && is_json)
        failed = osc_show_text("]\n");
    return failed;
}

static int run(struct osc_args *args)
{
    struct osc_loaded l = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse("which trace? 'opscope info trace.json' or see 'opscope info "
                              "--help'");
    if (strcmp(args->renderer->name, "csv") == 0)
        return osc_cli_misuse("CSV holds one table and info prints two; use 'opscope table "
                              "info' or 'opscope table quality'");
    if (args->table.limit == OSC_LIMIT_DEFAULT)
        args->table.limit = -1;
    failed = osc_load(&l, args, osc_budget_for_table(args, &osc_table_quality));
    if (!failed)
        failed = show_both(&l, args);
    if (!failed && l.has_failed)
        failed = OSC_EXIT_FAILED;
    osc_loaded_fini(&l);
    return failed;
}

const struct osc_command osc_command_info = {
    .name = "info",
    .bit = OSC_COMMAND_INFO,
    .operands = "[OPTION...] TRACE...",
    .summary = "what a trace is, how good it is, and what to record next time",
    .text = "Prints two tables: info (format, origin, counts, switches of the profiler,\n"
            "metadata) and quality (what was skipped, repaired or is missing, and the line of\n"
            "your program to change).\n",
    .examples = "  opscope info trace.json.gz\n"
                "  opscope info --merge runs/ddp/             all ranks of a directory as one\n"
                "  zcat trace.json.gz | opscope info -        from standard input\n"
                "  opscope info --format json a.json | jq     for programs: an array of two\n",
    .run = run,
};
