/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/gate_run.h"

#include <string.h>

#include "analysis/diff/change.h"
#include "analysis/diff/welch.h"
#include "analysis/table_registry.h"
#include "base/note.h"
#include "cli/diff/gate_report.h"
#include "cli/output.h"

#define REPORT_ROWS 20 /* of each table in Markdown */

/* Whether PATH ends in SUFFIX. */
static bool ends_in(const char *path, const char *suffix)
{
    return osc_str_ends(osc_str_c(path), osc_str_c(suffix));
}

int osc_gate_run_parse(struct osc_gate *g, const struct osc_args *args)
{
    struct osc_err err = {0};

    if (args->report && !args->gate)
        return osc_cli_misuse("--report is about a gate: name one with --fail-on");
    if (args->allows_different && !args->gate)
        return osc_cli_misuse("--allow-different is about a gate: name one with --fail-on");
    if (args->report && !ends_in(args->report, ".xml") && !ends_in(args->report, ".md"))
        return osc_cli_misuse("--report: '%s' ends in neither .xml nor .md", args->report);
    if (!args->gate)
        return OSC_EXIT_DONE;
    const osc_status st = osc_gate_parse(g, args->gate, &err);
    if (st == OSC_EINVAL)
        return osc_cli_misuse("%s", err.message);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* --- comparability ------------------------------------------------------------------ */

/* Append the values of KEY in ABOUT, in order, separated by commas. */
static void add_values(struct osc_strbuf *out, const struct osc_result *about, const char *key)
{
    struct osc_str last = {NULL, 0};

    /* The next in order each time: there are few. */
    for (uint64_t n = 0; n < about->n_rows; n++) {
        struct osc_str next = {NULL, 0};

        for (uint64_t i = 0; i < about->n_rows; i++) {
            const struct osc_str v = osc_result_get_str(about, i, OSC_ABOUT_VALUE);

            if (osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_KEY), osc_str_c(key)) &&
                (!last.s || osc_str_cmp(v, last) > 0) && (!next.s || osc_str_cmp(v, next) < 0))
                next = v;
        }
        if (!next.s)
            break;
        osc_strbuf_adds(out, last.s ? ", " : "");
        osc_strbuf_addstr(out, next);
        last = next;
    }
}

/* Whether both runs name the same for KEY, or one names nothing and MAY_LACK. */
static int check_key(const struct osc_two_runs *runs, const char *key, const char *what,
                     bool may_lack)
{
    struct osc_strbuf base = {0}, new_ = {0};
    int failed = OSC_EXIT_DONE;

    add_values(&base, &runs->base.of[OSC_SIDE_ABOUT], key);
    add_values(&new_, &runs->new_.of[OSC_SIDE_ABOUT], key);
    const char *const a = base.s ? base.s : "", *const b = new_.s ? new_.s : "";
    if (base.status != OSC_OK || new_.status != OSC_OK) {
        osc_cli_error("out of memory");
        failed = OSC_EXIT_FAILED;
    } else if (strcmp(a, b) != 0 && !(may_lack && (*a == '\0' || *b == '\0'))) {
        osc_cli_error("not comparable: the %s of base (%.100s) and new (%.100s) differ; "
                      "--allow-different compares them all the same",
                      what, *a ? a : "none", *b ? b : "none");
        failed = OSC_EXIT_INCOMPARABLE;
    }
    osc_strbuf_fini(&base);
    osc_strbuf_fini(&new_);
    return failed;
}

static bool has_steps(const struct osc_result *steps)
{
    for (uint64_t i = 0; i < steps->n_rows; i++) {
        if (osc_result_has(steps, i, OSC_STEPS_STEP))
            return true;
    }
    return false;
}

static int check_runs(const struct osc_two_runs *runs, const struct osc_args *args)
{
    int failed = OSC_EXIT_DONE;
    const bool base = has_steps(&runs->base.of[OSC_SIDE_STEPS]);

    if (base != has_steps(&runs->new_.of[OSC_SIDE_STEPS])) {
        osc_cli_error("not comparable: %s has steps, and %s has none", base ? "base" : "new",
                      base ? "new" : "base");
        return OSC_EXIT_INCOMPARABLE;
    }
    if (!args->allows_different)
        failed = check_key(runs, "device", "devices", false);
    if (!failed && !args->allows_different)
        failed = check_key(runs, "host", "machines", true);
    return failed;
}

/* --- reports ------------------------------------------------------------------------ */

static int keep_text(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *const out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status == OSC_OK ? 0 : -1;
}

/* Append the columns of DEF that people read, where R has its rows. */
static void add_columns(struct osc_strbuf *out, const struct osc_table_def *def,
                        const struct osc_result *r)
{
    const struct osc_change_columns at = def == &osc_table_diff_steps
                                             ? *osc_diff_steps_columns()
                                             : osc_change_columns(def, osc_change_time(r));
    const bool has_steps = r->n_rows > 0 && osc_result_has(r, 0, at.mean_delta_ns);
    const uint32_t all[] = {at.name,
                            at.base_calls,
                            at.new_calls,
                            has_steps ? at.mean_base_ns : at.base_ns,
                            has_steps ? at.mean_new_ns : at.new_ns,
                            has_steps ? at.mean_delta_ns : at.delta_ns,
                            at.delta_ratio,
                            at.significant};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? "," : "", def->columns[all[i]].name);
}

/* Append the tables of RUNS as Markdown to OUT. */
static osc_status add_tables(struct osc_strbuf *out, const struct osc_args *args,
                             const struct osc_two_runs *runs,
                             const struct osc_result *const *tables, struct osc_err *err)
{
    enum { N_DEFS = 3 };
    static const struct osc_table_def *const defs[N_DEFS] = {
        &osc_table_diff_steps, &osc_table_diff_operators, &osc_table_diff_kernels};
    osc_status st = OSC_OK;

    for (size_t t = 0; t < N_DEFS && st == OSC_OK; t++) {
        struct osc_compared both = {.base = &runs->base, .new_ = &runs->new_};
        struct osc_request r = args->request;
        struct osc_asked k = {0};

        struct osc_strbuf columns = {0};

        add_columns(&columns, defs[t], tables[t]);
        r.question = (struct osc_question){.limit = REPORT_ROWS, .columns = columns.s};
        r.text = (struct osc_layout){.format = "md", .write = keep_text, .ctx = out};
        st = columns.status;
        if (st == OSC_OK)
            st = osc_asked_init_table(&k, defs[t], &r, NULL, err);
        if (st == OSC_OK)
            st = osc_compare_run(&k, &both, err);
        if (st == OSC_OK && k.answer.blocks[0].result.n_rows > 0) {
            osc_strbuf_addf(out, "### %s\n\n", defs[t]->name);
            st = osc_asked_write(&k, err);
            osc_strbuf_adds(out, "\n");
        }
        osc_asked_fini(&k);
        osc_compared_fini(&both);
        osc_strbuf_fini(&columns);
    }
    return st;
}

static int write_report(const struct osc_args *args, const struct osc_two_runs *runs,
                        struct osc_gate_findings *f)
{
    struct osc_output o = {0};
    struct osc_strbuf text = {0}, tables = {0};
    struct osc_err err = {0};
    osc_status st = OSC_OK;

    if (ends_in(args->report, ".xml")) {
        st = osc_gate_add_junit(&text, f);
    } else {
        st = add_tables(&tables, args, runs, f->tables, &err);
        f->tables_md = tables.s ? tables.s : "";
        if (st == OSC_OK)
            st = osc_gate_add_markdown(&text, f);
    }
    int failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
    if (!failed)
        failed = osc_output_open(&o, args->report);
    if (!failed) {
        osc_cli_redirect(o.fd, args->report);
        failed = osc_show_text(text.s);
        osc_cli_redirect(1, "standard output");
    }
    if (!failed)
        failed = osc_output_commit(&o);
    osc_output_abandon(&o);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&tables);
    return failed;
}

static int print_verdict(const struct osc_args *args, const struct osc_gate_findings *f)
{
    struct osc_strbuf out = {0};
    const osc_status st = osc_gate_add_text(&out, f);
    int failed = OSC_EXIT_DONE;

    if (f->gate->asks_significance && !osc_gate_knows_significance(f->tables))
        osc_cli_say("significance is not known: a run has fewer than %u steps",
                    OSC_WELCH_STEPS_MIN);

    if (st != OSC_OK)
        failed = osc_cli_fail(st, &(struct osc_err){0});
    else if (args->renderer->is_machine || args->named_table)
        osc_notes_each(&out, osc_cli_hear, NULL);
    else
        failed = osc_show_text(out.s);
    osc_strbuf_fini(&out);
    return failed;
}

int osc_gate_run_evaluate(struct osc_gate *g, const struct osc_args *args,
                          const struct osc_two_runs *runs,
                          const struct osc_result *const *tables)
{
    struct osc_err err = {0};
    const int failed = check_runs(runs, args);

    if (failed)
        return failed;
    const osc_status st = osc_gate_evaluate(g, tables, &err);
    if (st == OSC_ENOTFOUND)
        return osc_cli_misuse("%s", err.message);
    if (st == OSC_EFORMAT) {
        osc_cli_error("not comparable: %s", err.message);
        return OSC_EXIT_INCOMPARABLE;
    }
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

int osc_gate_run_tell(const struct osc_gate *g, const struct osc_args *args,
                      const struct osc_two_runs *runs, const struct osc_result *const *tables,
                      const char *sentences)
{
    struct osc_gate_findings f = {.gate = g,
                                  .text = args->gate,
                                  .tables = tables,
                                  .base = args->operands[0],
                                  .new_run = args->operands[1],
                                  .sentences = sentences,
                                  .tables_md = ""};
    int failed = print_verdict(args, &f);

    if (!failed && args->report)
        failed = write_report(args, runs, &f);
    if (failed)
        return failed;
    return g->is_broken ? OSC_EXIT_BROKEN : OSC_EXIT_DONE;
}
