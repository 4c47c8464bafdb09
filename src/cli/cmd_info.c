/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope info`: facts about a trace and its quality, on one page. */
#include "analysis/table_registry.h"
#include "ask/budget.h"
#include "ask/note.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "import/verify.h"

#include <inttypes.h>
#include <string.h>

static osc_status prepare(struct osc_asked *k, const struct osc_args *args, const char *table,
                          struct osc_err *err)
{
    struct osc_request r = osc_show_request(args);

    r.question.table = table;
    if (r.question.limit == 0)
        r.question.limit = -1;
    return osc_asked_init(k, &r, NULL, err);
}

/* Ask SET both questions and print the answers. */
static int show_both(struct osc_set *set, const struct osc_args *args, struct osc_asked *info,
                     struct osc_asked *quality)
{
    const bool is_json = strcmp(args->renderer->name, "json") == 0;
    int failed = is_json ? osc_show_text("[") : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_table(set, info);
    if (!failed)
        failed = osc_show_text(is_json ? "," : "\n");
    if (!failed)
        failed = osc_show_table(set, quality);
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
        osc_strbuf_addf(out, "; %llu records lost", (unsigned long long)fault->n_records);
    osc_strbuf_addc(out, '\n');
}

/* Verify PATH: print a line for it, followed by one for each fault. *IS_WHOLE: no faults. */
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
        osc_strbuf_addf(&line, "%s: it has no hashes; only .osc files have\n", path);
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
    struct osc_strbuf notes = {0};
    struct osc_err err = {0};
    bool all_whole = true;
    const osc_status st =
        osc_paths_find(&files, osc_args_paths(args), (size_t)args->n_operands, &notes, &err);
    int failed = OSC_EXIT_DONE;

    osc_notes_each(&notes, osc_cli_hear, NULL);
    osc_strbuf_fini(&notes);
    if (st != OSC_OK)
        failed = osc_cli_fail(st, &err);
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
    const struct osc_selection selection = osc_request_selection(&args->request.view);
    struct osc_load o = {.reserve = osc_budget_for_table(&osc_table_quality, false,
                                                         osc_selection_is_all(&selection))};
    struct osc_asked info = {0}, quality = {0};
    struct osc_asked *const asked[] = {&info, &quality};
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse(
            "no trace was named; try 'opscope info trace.json' or see 'opscope info --help'");
    if (args->verifies)
        return verify(args);
    if (strcmp(args->renderer->name, "csv") == 0)
        return osc_cli_misuse("CSV holds one table and info prints two; use 'opscope table "
                              "info' or 'opscope table quality'");
    osc_status st = prepare(&info, args, "info", &err);
    if (st == OSC_OK)
        st = prepare(&quality, args, "quality", &err);
    failed =
        st == OSC_OK ? osc_show_open_to_ask(&set, args, &o, asked, 2) : osc_cli_fail(st, &err);
    if (!failed)
        failed = show_both(set, args, &info, &quality);
    if (!failed && osc_set_loaded(set)->has_failed)
        failed = OSC_EXIT_FAILED;
    osc_asked_fini(&info);
    osc_asked_fini(&quality);
    osc_set_release(set);
    return failed;
}

const struct osc_command osc_command_info = {
    .name = "info",
    .bit = OSC_COMMAND_INFO,
    .operands = "[OPTION...] TRACE...",
    .summary = "what a trace is, how good it is, and what to record next time",
    .text = "Prints two tables: info (format, origin, counts, switches of the profiler,\n"
            "metadata) and quality (what was skipped, repaired or is missing, and the line of\n"
            "your program to change). With --verify it reads .osc files to their ends instead\n"
            "and checks all hashes and columns; the exit status is 1 if any is damaged.\n",
    .examples = "  opscope info trace.json.gz\n"
                "  opscope info --merge runs/ddp/             all ranks of a directory as one\n"
                "  zcat trace.json.gz | opscope info -        from standard input\n"
                "  opscope info --verify run.osc              whether the file is intact\n"
                "  opscope info --format json a.json | jq     for programs: an array of two\n",
    .run = run,
};
