/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "ask/files/budget.h"
#include "ask/join.h"
#include "base/mem.h"
#include "cli/progress.h"

int osc_show_text(const char *text)
{
    const osc_status st = osc_cli_write(NULL, text, strlen(text));

    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, NULL);
}

/* --- opening -------------------------------------------------------------------- */

int osc_show_progress(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    struct osc_show_reading *const r = ctx;

    if (r->is_on && !path)
        osc_progress_stop(&r->progress);
    else if (!r->is_on && path)
        osc_progress_start(&r->progress, "reading", path);
    r->is_on = path != NULL;
    return !r->is_on || osc_progress_tick(&r->progress, done_bytes, total_bytes) ? 0 : -1;
}

int osc_show_open(struct osc_set **set, const struct osc_args *args, struct osc_load *o)
{
    return osc_show_open_to_ask(set, args, o, NULL, 0);
}

int osc_show_open_to_ask(struct osc_set **set, const struct osc_args *args, struct osc_load *o,
                         struct osc_asked *const *asked, size_t n)
{
    /* Of a file that was read in part a set reads the rest later. */
    static struct osc_show_reading reading;
    struct osc_how how = args->request.how;
    struct osc_err err = {0};

    how.progress = osc_show_progress;
    how.ctx = &reading;
    if (o->joined) {
        o->paths = o->joined->paths;
        o->n_paths = o->joined->n_paths;
    } else {
        o->paths = osc_args_paths(args);
        o->n_paths = (size_t)args->n_operands;
        o->view = &args->request.view;
    }
    o->how = &how;
    o->hear = osc_cli_hear;
    const osc_status st = osc_set_load_to_ask(set, o, asked, n, &err);
    /* The set has a limit of its own; this one is for what is printed. */
    osc_mem_set_limit(osc_budget_limit(how.max_memory_bytes));
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* --- tables --------------------------------------------------------------------- */

struct osc_request osc_show_request(const struct osc_args *args)
{
    struct osc_request r = args->request;

    r.text.width = osc_cli_width(STDOUT_FILENO);
    r.text.has_colour = osc_cli_has_colour();
    r.text.write = osc_cli_put;
    r.text.note = osc_cli_hear;
    return r;
}

int osc_show_fail(const struct osc_loaded *l, osc_status st, const char *doing,
                  struct osc_err *err)
{
    st = osc_loaded_fail(l, NULL, st, doing, err);
    return osc_cli_fail(st, err);
}

int osc_show_table(struct osc_set *set, struct osc_asked *k)
{
    struct osc_err err = {0};
    osc_status st = osc_evaluate_opened(set, k, NULL, &err);

    if (st == OSC_OK)
        st = osc_asked_write(k, &err);
    return st == OSC_OK ? OSC_EXIT_DONE
                        : osc_show_fail(osc_set_loaded(set), st, "making a table", &err);
}

/* Count the rows of R with SEVERITY, and append the codes of the first few to OUT. */
static uint64_t list_codes(const struct osc_result *r, const char *severity,
                           struct osc_strbuf *out)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (!osc_str_eq(osc_result_get_str(r, i, osc_column_quality_severity),
                        osc_str_c(severity)))
            continue;
        n++;
        osc_strbuf_adds(out, n > 1 ? ", " : "");
        osc_strbuf_addstr(out, osc_result_get_str(r, i, osc_column_quality_code));
        if (osc_result_get_int(r, i, osc_column_quality_count) > 1) {
            osc_strbuf_addc(out, ' ');
            osc_strbuf_addi(out, osc_result_get_int(r, i, osc_column_quality_count));
        }
    }
    return n;
}

/* Print LINE and the command that says more, in quotes unless it contains quotes. */
static void print_findings(const char *line, const char *operand)
{
    struct osc_strbuf trace = {0};

    if (operand)
        osc_operands_add_trace(&trace, operand);
    const char *const shown = trace.s && trace.status == OSC_OK ? trace.s : "TRACE...";
    const char *const quote = strchr(shown, '\'') ? "" : "'";
    osc_cli_say("quality: %s; %sopscope info %s%s explains", line, quote, shown, quote);
    osc_strbuf_fini(&trace);
}

static void print_quality(const struct osc_result *r, const struct osc_loaded *l)
{
    static const char *const words[][3] = {{"error", "error", "errors"},
                                           {"warning", "warning", "warnings"},
                                           {"info", "hint", "hints"}};
    struct osc_strbuf line = {0}, codes = {0};

    for (size_t i = 0; i < 3; i++) {
        osc_strbuf_clear(&codes);
        const uint64_t n = list_codes(r, words[i][0], &codes);

        if (n > 0)
            osc_strbuf_addf(&line, "%s%llu %s (%s)", line.len > 0 ? ", " : "",
                            (unsigned long long)n, words[i][n > 1 ? 2 : 1], codes.s);
    }
    if (line.len > 0)
        print_findings(line.s, l->operand);
    else if (isatty(STDERR_FILENO)) /* scripts want to hear only what is wrong */
        osc_cli_say("quality: nothing was skipped, repaired or found missing");
    osc_strbuf_fini(&line);
    osc_strbuf_fini(&codes);
}

int osc_show_prepare_quality(struct osc_asked *k, bool is_whole)
{
    const struct osc_request r = {.question = {.table = "quality", .merge = 1}};
    struct osc_err err = {0};
    const osc_status st = osc_asked_init(k, &r, osc_renderer_find("csv"), &err);

    k->takes_facts_as_they_are = !is_whole;
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

int osc_show_quality(struct osc_set *set, struct osc_asked *k)
{
    struct osc_err err = {0};
    const osc_status st = osc_evaluate_opened(set, k, NULL, &err);

    if (st != OSC_OK)
        return osc_show_fail(osc_set_loaded(set), st, "making a table", &err);
    print_quality(&k->answer.blocks[0].result, osc_set_loaded(set));
    return OSC_EXIT_DONE;
}

bool osc_show_says_quality(const struct osc_asked *k)
{
    return !k->form->is_machine && k->def != &osc_table_quality;
}

int osc_show_answer(const struct osc_args *args, struct osc_load *o, struct osc_asked *k,
                    const struct osc_sink *to, bool *has_failed)
{
    const bool says_quality = osc_show_says_quality(k);
    struct osc_asked quality = {0};
    struct osc_asked *const asked[] = {k, &quality};
    struct osc_set *set = NULL;
    int failed = says_quality ? osc_show_prepare_quality(&quality, true) : OSC_EXIT_DONE;

    if (!failed)
        failed = osc_show_open_to_ask(&set, args, o, asked, says_quality ? 2 : 1);
    if (!failed && to) {
        struct osc_err err = {0};
        const osc_status st = osc_evaluate_opened(set, k, to, &err);

        failed = st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
    } else if (!failed) {
        failed = osc_show_table(set, k);
        if (!failed && says_quality)
            failed = osc_show_quality(set, &quality);
    }
    *has_failed = set && osc_set_loaded(set)->has_failed;
    osc_asked_fini(&quality); /* they borrow the traces */
    osc_asked_fini(k);
    osc_set_release(set);
    return failed;
}
