/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope info`: what a trace is and how good it is, on one page. */
#include "analysis/table_registry.h"
#include "base/strbuf.h"
#include "cli/budget.h"
#include "cli/commands.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "import/osc/verify.h"

#include <inttypes.h>
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

static void add_fault(void *ctx, const struct osc_verify_fault *fault)
{
    struct osc_strbuf *out = ctx;

    const uint64_t end = fault->offset + fault->n_bytes;

    osc_strbuf_addf(out, "  bytes %" PRIu64 " to %" PRIu64, fault->offset, end);
    if (fault->type != 0)
        osc_strbuf_addf(out, " (%s)", osc_verify_type_text(fault->type));
    osc_strbuf_addf(out, ": %s", fault->what);
    if (fault->n_records > 0)
        osc_strbuf_addf(out, "; %llu records are lost", (unsigned long long)fault->n_records);
    osc_strbuf_addc(out, '\n');
}

/* One line for PATH, and one for each fault below it; *IS_WHOLE: there is none. */
static int verify_one(const char *path, bool *is_whole)
{
    struct osc_strbuf line = {0}, faults = {0};
    struct osc_progress progress;
    struct osc_verify v = {.tell = add_fault,
                           .ctx = &faults,
                           .progress = osc_progress_tick,
                           .progress_ctx = &progress};
    struct osc_err err = {0};
    int failed = OSC_EXIT_DONE;

    osc_progress_start(&progress, "checking", path);
    const osc_status st = osc_verify_path(&v, path, &err);
    osc_progress_stop(&progress);
    if (st != OSC_OK) {
        osc_cli_error("%s", err.message);
        *is_whole = false;
    } else if (!v.has_hashes) {
        osc_strbuf_addf(&line, "%s: has no hashes; those of .osc files are checked\n", path);
    } else {
        osc_strbuf_addf(&line, "%s: %llu bytes, %llu chunks, %llu records%s: ", path,
                        (unsigned long long)v.n_bytes, (unsigned long long)v.n_chunks,
                        (unsigned long long)v.n_records, v.has_index ? "" : ", without index");
        osc_strbuf_addf(&line, v.n_faults == 0 ? "all is well\n" : "%llu damaged\n",
                        (unsigned long long)v.n_faults);
        *is_whole = v.n_faults == 0;
    }
    if (line.status != OSC_OK || faults.status != OSC_OK) {
        osc_cli_error("out of memory");
        failed = OSC_EXIT_FAILED;
    }
    if (!failed && line.len > 0)
        failed = osc_show_text(line.s);
    if (!failed && faults.len > 0)
        failed = osc_show_text(faults.s);
    osc_strbuf_fini(&line);
    osc_strbuf_fini(&faults);
    return failed;
}

static int verify(const struct osc_args *args)
{
    struct osc_paths files = {0};
    bool all_whole = true;
    int failed = osc_paths_find(&files, (const char *const *)args->operands, args->n_operands);

    for (uint32_t i = 0; i < files.n && !failed; i++) {
        bool is_whole = true;

        failed = verify_one(files.all[i], &is_whole);
        all_whole = all_whole && is_whole;
    }
    osc_paths_fini(&files);
    return !failed && !all_whole ? OSC_EXIT_FAILED : failed;
}

static int run(struct osc_args *args)
{
    struct osc_loaded l = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse("which trace? 'opscope info trace.json' or see 'opscope info "
                              "--help'");
    if (args->verifies)
        return verify(args);
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
            "your program to change). --verify reads an .osc file to its end and checks all\n"
            "of its hashes and columns instead; the exit status is 1 if anything is damaged.\n",
    .examples = "  opscope info trace.json.gz\n"
                "  opscope info --merge runs/ddp/             all ranks of a directory as one\n"
                "  zcat trace.json.gz | opscope info -        from standard input\n"
                "  opscope info --verify run.osc              is the file as it was written?\n"
                "  opscope info --format json a.json | jq     for programs: an array of two\n",
    .run = run,
};
