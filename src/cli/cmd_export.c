/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope export`: write traces as files for other tools. */
#include <stdio.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "ask/files/budget.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page_export.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "derive/derive.h"
#include "export/export.h"
#include "export/redact.h"
#include "export/write_devices.h"
#include "export/write_producer.h"
#include "export/write_step_bounds.h"
#include "table/nearest.h"

/* The context of the callbacks that write and show progress. */
struct report {
    struct osc_progress progress;
    uint64_t n_bytes;
};

static osc_status write_bytes(void *ctx, const char *s, size_t len)
{
    struct report *const r = ctx;

    r->n_bytes += len;
    return osc_cli_write(NULL, s, len);
}

static bool show_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct report *const r = ctx;
    const double all = done > 0 ? (double)r->n_bytes * (double)total / (double)done : 0;

    return osc_progress_tick(&r->progress, r->n_bytes, (uint64_t)all);
}

/* Append "json, json.gz or csv". */
static void add_names(struct osc_strbuf *out)
{
    for (size_t i = 0; osc_exporters[i]; i++)
        osc_strbuf_addf(out, "%s%s",
                        i == 0                 ? ""
                        : osc_exporters[i + 1] ? ", "
                                               : " or ",
                        osc_exporters[i]->name);
}

/* Find the exporter that the user wants, or NULL after a message. */
static const struct osc_exporter *choose(const struct osc_args *args)
{
    const char *const form = args->form;
    const struct osc_exporter *const e =
        form ? osc_exporter_find(form) : osc_exporter_of_path(args->output);
    struct osc_nearest near = {.word = form};
    struct osc_strbuf names = {0};

    if (e)
        return e;
    add_names(&names);
    for (size_t i = 0; form && osc_exporters[i]; i++)
        osc_nearest_try(&near, osc_exporters[i]->name);
    if (names.status != OSC_OK)
        osc_cli_error("out of memory");
    else if (near.best)
        osc_cli_error("unknown form '%s'; did you mean '%s'?", form, near.best);
    else if (form)
        osc_cli_error("unknown form '%s'; the forms are %s", form, names.s);
    else if (strcmp(args->output, "-") == 0)
        osc_cli_error("standard output has no suffix; name the form with --format, %s",
                      names.s);
    else if (osc_str_ends(osc_str_c(args->output), OSC_STR(".gz")))
        osc_cli_error("%s: only JSON can be written compressed; write it without .gz and "
                      "compress it with gzip, which opscope reads as well",
                      args->output);
    else
        osc_cli_error("%s: its suffix names no form; use --format, %s", args->output, names.s);
    osc_strbuf_fini(&names);
    return NULL;
}

/* Find the table to write as CSV, or NULL after a message. */
static const struct osc_table_def *choose_table(const char *name)
{
    const struct osc_table_def *const def = osc_table_find(name ? name : "events");
    struct osc_nearest near = {.word = name};

    if (def)
        return def;
    for (size_t i = 0; osc_tables[i]; i++)
        osc_nearest_try(&near, osc_tables[i]->name);
    if (near.best)
        osc_cli_error("unknown table '%s'; did you mean '%s'?", name, near.best);
    else
        osc_cli_error("unknown table '%s'; 'opscope table --list' lists all", name);
    return NULL;
}

/* Refuse options that would change nothing. */
static int check(const struct osc_args *args, const struct osc_exporter *e)
{
    if (args->named_table && !e->is_table)
        return osc_cli_misuse("--table has no effect for %s, only for csv", e->name);
    if ((args->stack || args->metric) && !e->takes_stack)
        return osc_cli_misuse("--%s has no effect for %s, only for folded",
                              args->stack ? "stack" : "metric", e->name);
    if (args->with_counters && !e->takes_counters)
        return osc_cli_misuse("--counters has no effect for %s, only for json and json.gz",
                              e->name);
    if (args->no_stacks && !e->takes_counters)
        return osc_cli_misuse("--no-stacks has no effect for %s, only for json and json.gz",
                              e->name);
    return OSC_EXIT_DONE;
}

/* Refuse to write over an input, and let nobody read the output who cannot read the inputs.
 * FILES are all N of them. */
static int check_inputs(const struct osc_output *o, const char *const *files, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (osc_output_is(o, files[i]))
            return osc_cli_misuse("%s: it is one of the inputs; write to another file",
                                  strcmp(files[i], "-") == 0 ? "standard input" : files[i]);
        osc_output_keep_private(o, files[i]);
    }
    return OSC_EXIT_DONE;
}

static int refuse_many(const struct osc_chosen *l, const struct osc_exporter *e)
{
    const struct osc_trace *const first = l->traces[0], *const last =
                                                            l->traces[l->n_traces - 1];

    if (first->rank != last->rank)
        return osc_cli_misuse("a %s file holds one rank, and there are ranks %d to %d; select "
                              "one, such as --rank %d",
                              e->name, first->rank, last->rank, first->rank);
    if (first->span != last->span)
        return osc_cli_misuse("a %s file holds one span, and there are spans %d to %d; select "
                              "one, such as --span %d",
                              e->name, first->span, last->span, first->span);
    return osc_cli_misuse("a %s file holds one process, and %u files were given; name one",
                          e->name, l->n_traces);
}

static const char *output_name(const struct osc_args *args)
{
    return strcmp(args->output, "-") == 0 ? "standard output" : args->output;
}

static struct osc_export make_export(const struct osc_args *args)
{
    return (struct osc_export){
        .stack = args->stack,
        .metric = args->metric,
        .with_counters = args->with_counters,
        .no_stacks = args->no_stacks,
        .is_redacted = args->is_redacted,
        .n_threads = args->request.how.n_threads,
    };
}

/* Before anything is read, refuse options that E does not support. */
static int check_wish(const struct osc_args *args, const struct osc_exporter *e)
{
    const struct osc_export x = make_export(args);
    struct osc_err err = {0};
    uint32_t facts;

    if (e->facts && e->facts(&x, &facts, &err) != OSC_OK)
        return osc_cli_misuse("%s", err.message);
    return OSC_EXIT_DONE;
}

static int write_traces(const struct osc_set *set, const struct osc_args *args,
                        const struct osc_exporter *e)
{
    const struct osc_loaded *const l = osc_set_loaded(set);
    const struct osc_chosen *const c = osc_set_chosen(set);
    struct report r = {.n_bytes = 0};
    struct osc_err err = {0};
    uint32_t facts = 0;
    struct osc_export x = make_export(args);

    x.traces = c->traces;
    x.n_traces = c->n_traces;
    x.sink =
        (struct osc_export_sink){.write = write_bytes, .progress = show_progress, .ctx = &r};
    osc_status st = e->facts ? e->facts(&x, &facts, &err) : OSC_OK;

    if (st == OSC_OK && facts != 0)
        st = osc_chosen_derive(c, l, facts, args->request.how.n_threads, &err);
    if (st != OSC_OK)
        return osc_show_fail(l, st, "writing", &err);
    osc_progress_start(&r.progress, "writing", output_name(args));
    st = e->write(&x, &err);
    osc_progress_stop(&r.progress);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_show_fail(l, st, "writing", &err);
}

static bool show_page_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct report *const r = ctx;

    return osc_progress_tick(&r->progress, done * OSC_PAGE_BYTES / total, OSC_PAGE_BYTES);
}

/* Write the page of SET. */
static int write_page(struct osc_set *set, const struct osc_args *args)
{
    struct report r = {.n_bytes = 0};
    struct osc_err err = {0};
    const struct osc_page how = {
        .write = write_bytes, .progress = show_page_progress, .ctx = &r};

    osc_progress_start(&r.progress, "writing", output_name(args));
    const osc_status st = osc_page_export(set, args, &how, &err);
    osc_progress_stop(&r.progress);
    return st == OSC_OK ? OSC_EXIT_DONE
                        : osc_show_fail(osc_set_loaded(set), st, "writing", &err);
}

static int redact(const struct osc_set *set)
{
    const struct osc_chosen *const c = osc_set_chosen(set);

    for (uint32_t i = 0; i < c->n_traces; i++)
        osc_derive_forget(c->traces[i]);
    const osc_status st = osc_redact(c->traces, c->n_traces);
    return st == OSC_OK
               ? OSC_EXIT_DONE
               : osc_show_fail(osc_set_loaded(set), st, "redacting", &(struct osc_err){0});
}

/* Whether something was found when T was read: then it may lack the events that told who wrote
 * it. */
static bool has_findings(const struct osc_trace *t)
{
    bool has_any = false;

    for (int code = 0; code < OSC_FINDING_COUNT; code++)
        has_any |= t->findings.by_code[code].count > 0;
    return has_any;
}

/* Let traces of which something is left out, by ARGS or when they were read, keep who wrote
 * them; those of which ARGS leave something out also how their devices are called and their
 * steps were measured. */
static int keep_origins(const struct osc_set *set, const struct osc_args *args)
{
    const struct osc_selection s = osc_request_selection(&args->request.view);
    const struct osc_chosen *const c = osc_set_chosen(set);
    const bool is_whole =
        !args->is_redacted && !args->request.how.no_args && osc_selection_is_all(&s);
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < c->n_traces && st == OSC_OK; i++) {
        if (!is_whole || has_findings(c->traces[i]))
            st = osc_write_producer(c->traces[i]);
        if (!is_whole && st == OSC_OK)
            st = osc_write_devices(c->traces[i]);
        if (!is_whole && st == OSC_OK)
            st = osc_write_step_bounds(c->traces[i]);
    }
    return st == OSC_OK
               ? OSC_EXIT_DONE
               : osc_show_fail(osc_set_loaded(set), st, "exporting", &(struct osc_err){0});
}

/* Refuse to write a trace that was not read to its end: the file would look complete. */
static int refuse_partial(const struct osc_chosen *l)
{
    for (uint32_t i = 0; i < l->n_traces; i++) {
        if (l->traces[i]->is_partial) {
            osc_cli_error("nothing was written: a trace could not be read to its end");
            return OSC_EXIT_FAILED;
        }
    }
    return OSC_EXIT_DONE;
}

/* Refuse an empty selection; it is probably a mistake. */
static int refuse_empty(const struct osc_chosen *l, const struct osc_args *args)
{
    const struct osc_selection s = osc_request_selection(&args->request.view);
    uint64_t n_events = 0;

    for (uint32_t i = 0; i < l->n_traces; i++)
        n_events += l->traces[i]->events.n_rows;
    if (n_events > 0 || osc_selection_is_all(&s))
        return OSC_EXIT_DONE;
    return osc_cli_misuse("nothing was written: no event %s",
                          s.has_from || s.has_to ? "that is selected starts in that time"
                                                 : "is selected");
}

/* Whether reading L has lost data or found anything that makes numbers doubtful. */
static bool has_lost(const struct osc_chosen *l)
{
    for (uint32_t i = 0; i < l->n_traces; i++) {
        for (int code = 0; code < OSC_FINDING_COUNT; code++) {
            if (l->traces[i]->findings.by_code[code].count > 0 &&
                osc_finding_severity((enum osc_finding_code)code) > OSC_INFO)
                return true;
        }
    }
    return false;
}

/* Write table K, or if it is NULL the traces in E's format, to O. */
static int write_set(struct osc_set *set, const struct osc_args *args,
                     const struct osc_exporter *e, struct osc_asked *k, struct osc_output *o)
{
    const struct osc_loaded *const l = osc_set_loaded(set);
    const struct osc_chosen *const c = osc_set_chosen(set);
    struct osc_asked quality = {0};
    int failed = check_inputs(o, (const char *const *)l->files.all, l->files.n);

    if (!failed && c->n_traces > 1 && !e->takes_many)
        failed = refuse_many(c, e);
    if (!failed)
        failed = refuse_partial(c);
    if (!failed)
        failed = refuse_empty(c, args);
    if (!failed && args->is_redacted)
        failed = redact(set);
    if (!failed && !e->is_table && (!e->is_page || args->is_redacted))
        failed = keep_origins(set, args);
    if (!failed) {
        osc_cli_redirect(o->fd, output_name(args));
        failed = e->is_table  ? osc_show_table(set, k)
                 : e->is_page ? write_page(set, args)
                              : write_traces(set, args, e);
    }
    if (!failed)
        failed = osc_output_commit(o);
    if (!failed && has_lost(c)) {
        failed = osc_show_prepare_quality(&quality, false);
        if (!failed)
            failed = osc_show_quality(set, &quality);
    }
    osc_asked_fini(&quality);
    return !failed && l->has_failed ? OSC_EXIT_FAILED : failed;
}

/* Load the traces of ARGS and write them to O, or table K if it is not NULL. */
static int load_and_write(const struct osc_args *args, const struct osc_exporter *e,
                          struct osc_asked *k, struct osc_output *o)
{
    const struct osc_selection selection = osc_request_selection(&args->request.view);
    const bool is_all = osc_selection_is_all(&selection);
    struct osc_load load = {
        .with_callers = e->takes_callers || (e->is_page && args->is_redacted),
        .has_digests = e->is_page,
        .selects_late = e->is_table && osc_asked_selects_late(k),
        .reserve = e->is_page    ? osc_budget_for_frames()
                   : e->is_table ? osc_budget_for_table(k->def, false, is_all)
                                 : osc_budget_for_export(e->facts != NULL || !is_all),
    };
    struct osc_set *set = NULL;
    int failed = osc_show_open(&set, args, &load);

    if (!failed)
        failed = write_set(set, args, e, k, o);
    osc_asked_fini(k); /* it borrows the traces */
    osc_set_release(set);
    return failed;
}

/* Initialize K for table NAME and check that it can be written as CSV. */
static int ask_table(struct osc_asked *k, const struct osc_args *args, const char *name)
{
    struct osc_request r = osc_show_request(args);
    struct osc_err err = {0};

    r.question.table = name;
    const osc_status st = osc_asked_init(k, &r, osc_renderer_find("csv"), &err);
    k->stands_for = args->is_redacted ? "TRACE" : NULL;
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int run(struct osc_args *args)
{
    const struct osc_exporter *e = NULL;
    const struct osc_table_def *def = NULL;
    struct osc_asked k = {0};
    struct osc_output o = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse("no trace was named; try 'opscope export trace.json -o "
                              "small.json.gz' or see 'opscope export --help'");
    if (!args->output)
        return osc_cli_misuse(
            "no output file was named; use -o OUT, or see 'opscope export --help'");
    e = choose(args);
    if (!e)
        return OSC_EXIT_MISUSED;
    failed = check(args, e);
    if (!failed)
        failed = check_wish(args, e);
    if (!failed && e->is_page)
        failed = osc_page_export_check();
    if (failed)
        return failed;
    if (e->is_table) {
        def = choose_table(args->named_table);
        failed = def ? ask_table(&k, args, def->name) : OSC_EXIT_MISUSED;
    }
    if (failed)
        return failed;
    failed = osc_output_open(&o, args->output);
    if (!failed)
        failed =
            check_inputs(&o, (const char *const *)args->operands, (uint32_t)args->n_operands);
    if (!failed)
        failed = load_and_write(args, e, &k, &o);
    osc_output_abandon(&o);
    osc_asked_fini(&k);
    return failed;
}

const struct osc_command osc_command_export = {
    .name = "export",
    .bit = OSC_COMMAND_EXPORT,
    .operands = "[OPTION...] TRACE... -o OUT",
    .summary = "write a trace, or a part of it, as a file for other tools",
    .text = "Writes the selected part of the traces to OUT. Its suffix names the form:\n"
            "  .osc             columns that every command opens at once: the cache\n"
            "  .json, .json.gz  Chrome trace events, as PyTorch writes them: one rank a file\n"
            "  .folded          one line for each stack with its value, for flame graphs\n"
            "  .csv             the rows of one table (default: events)\n"
            "  .html            a page to send: what opscope view shows, in one file of at\n"
            "                   most 3 MB that needs no server and no network\n"
            "OUT appears complete or not at all, and is never one of the inputs.\n",
    .examples =
        "  opscope export huge.json.gz -o huge.osc                    to open it at once\n"
        "  opscope export huge.json.gz --steps 5-5 -o small.json.gz   one step of a trace\n"
        "  opscope export runs/ddp/ --rank 3 -o rank3.json            one rank of a run\n"
        "  opscope export t.json --from 10ms --to 12ms -o cut.json    by time\n"
        "  opscope export t.json --redact -o bug.json.gz              nothing private\n"
        "  opscope export t.json --stack python -o t.folded           for flame graphs\n"
        "  opscope export t.json -o run.html                          a page to send\n"
        "  opscope export t.json --table kernels -o kernels.csv       a table\n",
    .run = run,
};
