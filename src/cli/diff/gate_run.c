/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/gate_run.h"

#include "analysis/diff/welch.h"
#include "ask/diff/gate_judge.h"
#include "base/note.h"
#include "cli/output.h"

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
        return osc_cli_misuse("--fail-on: %s", err.message);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

static int write_report(const struct osc_args *args, const struct osc_two_runs *runs,
                        struct osc_gate_findings *f)
{
    const enum osc_gate_form form =
        ends_in(args->report, ".xml") ? OSC_GATE_JUNIT : OSC_GATE_MARKDOWN;
    struct osc_output o = {0};
    struct osc_strbuf text = {0};
    struct osc_err err = {0};
    const osc_status st =
        osc_gate_add_report(&text, form, &args->request, &runs->both, f, &err);
    int failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);

    if (!failed)
        failed = osc_output_open(&o, args->report);
    if (!failed) {
        osc_output_keep_all_private(&o, osc_args_paths(args), args->n_operands);
        osc_cli_redirect(o.fd, args->report);
        failed = osc_show_text(text.s);
        osc_cli_redirect(1, "standard output");
    }
    if (!failed)
        failed = osc_output_commit(&o);
    osc_output_abandon(&o);
    osc_strbuf_fini(&text);
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
    const osc_status st = osc_gate_judge(g, &runs->both, tables, args->allows_different, &err);

    if (st == OSC_ENOTFOUND)
        return osc_cli_misuse("--fail-on: %s", err.message);
    if (st == OSC_EFORMAT) {
        osc_cli_error("%s", err.message);
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
