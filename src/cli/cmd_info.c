/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope info`: facts about a trace and its quality, on one page. */
#include "analysis/ranks/late.h"
#include "analysis/table_registry.h"
#include "ask/files/budget.h"
#include "ask/folders/runs_table.h"
#include "base/note.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/log_dirs.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "import/verify.h"
#include "table/question.h"

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

/* Append to OUT which rank lets the others wait, if one does, by the rows of STRAGGLERS. */
static void add_late(struct osc_strbuf *out, const struct osc_asked *stragglers)
{
    const struct osc_answer *const a = &stragglers->answer;
    uint64_t row;

    if (a->n_blocks == 0 || !osc_late_find(&a->blocks[0].result, &row))
        return;
    osc_strbuf_addc(out, '\n');
    osc_late_say(&a->blocks[0].result, row, stragglers->request.text.full_names, out);
    osc_strbuf_addc(out, '\n');
}

/* Append a line with the table TABLE of the ranks that INFO is about, and WHAT it says. */
static void add_table(struct osc_strbuf *out, const char *table, const struct osc_asked *info,
                      const char *what)
{
    const struct osc_view *const all = info->options.view;
    const struct osc_view view = {.ranks = all->ranks, .spans = all->spans};
    struct osc_strbuf q = {0};

    osc_question_begin(&q, "table", table);
    osc_question_add_view(&q, &view, "ns");
    osc_strbuf_adds(out, "  ");
    osc_question_print(out, osc_strbuf_str(&q));
    osc_strbuf_addf(out, " %s  # %s\n", info->options.operands, what);
    osc_strbuf_fini(&q);
}

/* Say who of several ranks lets the others wait, by STRAGGLERS, and which tables compare the
 * ranks that INFO is about. */
static int show_ranks(const struct osc_asked *info, const struct osc_asked *stragglers)
{
    const struct osc_answer *const a = &info->answer;
    struct osc_strbuf text = {0};
    uint32_t n = a->n_blocks > 0;

    for (uint32_t b = 1; b < a->n_blocks; b++)
        n += a->blocks[b].rank != a->blocks[b - 1].rank;
    if (n < 2 || !info->options.operands)
        return OSC_EXIT_DONE;
    add_late(&text, stragglers);
    osc_strbuf_addf(&text, "\n%u ranks, which these tables compare:\n", n);
    add_table(&text, "ranks", info, "steps and clocks");
    add_table(&text, "stragglers", info, "who lets others wait, since when and why");
    const int failed = text.status == OSC_OK ? osc_show_text(text.s)
                                             : osc_cli_fail(text.status, &(struct osc_err){0});
    osc_strbuf_fini(&text);
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

/* Write R, the rows of log directories, as ARGS says. */
static osc_status write_runs(const struct osc_args *args, const struct osc_result *r,
                             struct osc_sheet *sheet, struct osc_err *err)
{
    const struct osc_sheet_choice choice = {.shown = r->shown,
                                            .is_machine = args->renderer->is_machine};
    const struct osc_request request = osc_show_request(args);
    const int64_t limit = request.question.limit;
    struct osc_rows rows = {.result = r, .n_rows = r->n_rows};
    struct osc_render render = {.renderer = args->renderer,
                                .sheet = sheet,
                                .width = request.text.width,
                                .has_colour = request.text.has_colour != 0,
                                .write = osc_cli_write};

    if (limit > 0 && rows.n_rows > (uint64_t)limit) {
        sheet->n_more = rows.n_rows - (uint64_t)limit;
        rows.n_rows = (uint64_t)limit;
    }
    osc_status st = osc_sheet_choose(sheet, &choice, err);
    if (st == OSC_OK)
        st = osc_render_begin(&render);
    if (st == OSC_OK)
        st = osc_render_rows(&render, &rows);
    if (st == OSC_OK)
        st = osc_render_end(&render);
    osc_render_fini(&render);
    return st;
}

/* Print the runs, workers and spans of D, and what is left out. HAS_ALL: they are the answer,
 * and one of them is to be chosen. */
static int show_runs(const struct osc_args *args, const struct osc_logdir *d, bool has_all)
{
    struct osc_sheet sheet = {.def = &osc_table_runs};
    struct osc_err err = {0};
    struct osc_result r;

    osc_result_init(&r, &osc_table_runs);
    osc_status st = osc_runs_table_add(&r, d);
    osc_runs_table_count(d, &sheet.notes);
    if (has_all && d->n_runs > 1)
        osc_strbuf_adds(&sheet.notes, "; --run NAME chooses one");
    osc_strbuf_addc(&sheet.notes, '\n');
    if (st == OSC_OK)
        st = sheet.notes.status;
    if (st == OSC_OK)
        st = write_runs(args, &r, &sheet, &err);
    osc_sheet_fini(&sheet);
    osc_result_fini(&r);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* Ask SET the questions and print the answers to the first two, then D, if the traces are in
 * directories. The third is asked for its sentence alone, if it has a table. */
static int show_all(struct osc_set *set, const struct osc_args *args,
                    struct osc_asked *const *asked, const struct osc_logdir *d)
{
    const bool is_json = strcmp(args->renderer->name, "json") == 0;
    const char *const between = is_json ? "," : "\n";
    int failed = is_json ? osc_show_text("[") : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_table(set, asked[0]);
    if (!failed)
        failed = osc_show_text(between);
    if (!failed)
        failed = osc_show_table(set, asked[1]);
    if (!failed && d->n_runs > 0)
        failed = osc_show_text(between);
    if (!failed && d->n_runs > 0)
        failed = show_runs(args, d, false);
    if (!failed && is_json)
        failed = osc_show_text("]\n");
    if (!failed && asked[2]->def) {
        struct osc_err err = {0};
        const osc_status st = osc_evaluate_opened(set, asked[2], NULL, &err);

        failed = st == OSC_OK ? show_ranks(asked[0], asked[2])
                              : osc_show_fail(osc_set_loaded(set), st, "making a table", &err);
    }
    return failed;
}

/* Print the tables about the traces of ARGS, and D, their directories. */
static int show_traces(const struct osc_args *args, const struct osc_logdir *d)
{
    const struct osc_selection selection = osc_request_selection(&args->request.view);
    struct osc_load o = {.reserve = osc_budget_for_table(&osc_table_quality, false,
                                                         osc_selection_is_all(&selection))};
    struct osc_asked info = {0}, quality = {0}, stragglers = {0};
    struct osc_asked *const asked[] = {&info, &quality, &stragglers};
    const bool has_ranks =
        (d->n_runs > 0 || args->n_operands > 1) && strcmp(args->renderer->name, "text") == 0;
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    int failed = OSC_EXIT_DONE;

    if (args->renderer->one_table)
        return osc_cli_misuse("%s holds one table and info prints two; use 'opscope table "
                              "info' or 'opscope table quality'",
                              args->renderer->one_table);
    osc_status st = prepare(&info, args, "info", &err);
    if (st == OSC_OK)
        st = prepare(&quality, args, "quality", &err);
    if (st == OSC_OK && has_ranks)
        st = prepare(&stragglers, args, "stragglers", &err);
    failed = st == OSC_OK ? osc_show_open_to_ask(&set, args, &o, asked, has_ranks ? 3 : 2)
                          : osc_cli_fail(st, &err);
    const bool is_listed =
        failed && d->n_runs > 0 && show_runs(args, d, false) == OSC_EXIT_DONE;
    if (!failed && !is_listed)
        failed = show_all(set, args, asked, d);
    if (!failed && osc_set_loaded(set)->has_failed)
        failed = OSC_EXIT_FAILED;
    osc_asked_fini(&info);
    osc_asked_fini(&quality);
    osc_asked_fini(&stragglers);
    osc_set_release(set);
    return failed;
}

/* Find in D the directories of the traces of ARGS, once a run is chosen. */
static int find_chosen(struct osc_logdir *d, struct osc_args *args)
{
    const bool is_all = !args->run_name;
    const int failed = osc_log_dirs_choose_of(args, d);

    if (failed || is_all)
        return failed;
    osc_logdir_fini(d);
    args->logdir = args->logdir_spec = args->run_name = NULL;
    return osc_log_dirs_find(d, args);
}

static int run(struct osc_args *args)
{
    const bool is_named = osc_log_dirs_are_named(args);
    struct osc_logdir d = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0 && !args->logdir && !args->logdir_spec)
        return osc_cli_misuse(
            "no trace was named; try 'opscope info trace.json' or see 'opscope info --help'");
    failed = osc_log_dirs_find(&d, args);
    if (!failed && d.n_runs > 1 && !args->run_name && (is_named || args->n_operands == 1)) {
        failed = show_runs(args, &d, true);
        osc_logdir_fini(&d);
        return failed;
    }
    if (!failed && is_named)
        failed = find_chosen(&d, args);
    if (!failed)
        failed = args->verifies ? verify(args) : show_traces(args, &d);
    osc_logdir_fini(&d);
    return failed;
}

const struct osc_command osc_command_info = {
    .name = "info",
    .bit = OSC_COMMAND_INFO,
    .operands = "[OPTION...] TRACE...",
    .summary = "what a trace is, how good it is, and what to record next time",
    .text = "Prints two tables: info (format, origin, counts, switches of the profiler,\n"
            "metadata) and quality (what was skipped, repaired or is missing, and the line of\n"
            "your program to change). Of directories it also prints their runs, workers and\n"
            "spans, and what is not read and why; of several runs only that, until one is\n"
            "chosen with --run. With --verify it reads .osc files to their ends instead\n"
            "and checks all hashes and columns; the exit status is 1 if any is damaged.\n",
    .examples = "  opscope info trace.json.gz\n"
                "  opscope info --merge runs/ddp/             all ranks of a directory as one\n"
                "  opscope info --logdir log/                 the runs of a log directory\n"
                "  opscope info --logdir log/ --run fast      one of them\n"
                "  zcat trace.json.gz | opscope info -        from standard input\n"
                "  opscope info --verify run.osc              whether the file is intact\n"
                "  opscope info --format json a.json | jq     for programs: an array of two\n",
    .run = run,
    .chooses_run = true,
};
