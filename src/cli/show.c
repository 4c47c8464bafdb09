/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/utf8.h"
#include "cli/ask.h"
#include "cli/shell.h"

int osc_show_text(const char *text)
{
    const osc_status st = osc_cli_write(NULL, text, strlen(text));

    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, NULL);
}

static osc_status emit(void *ctx, const struct osc_rows *rows)
{
    return osc_render_rows(ctx, rows);
}

/* Why a table is empty, on stderr. */
static void say_notes(const struct osc_strbuf *notes)
{
    for (const char *line = notes->len > 0 ? notes->s : ""; *line;) {
        const char *const end = strchrnul(line, '\n');
        struct osc_strbuf text = {0};

        osc_utf8_append_terminal(&text, (struct osc_str){line, (uint32_t)(end - line)});
        if (text.s)
            osc_cli_error("%s", text.s);
        osc_strbuf_fini(&text);
        line = *end ? end + 1 : end;
    }
}

static osc_status render(const struct osc_query *q, struct osc_answer *a,
                         const struct osc_renderer *renderer, struct osc_err *err)
{
    struct osc_render r = {
        .renderer = renderer,
        .sheet = &a->sheet,
        .width = osc_cli_width(STDOUT_FILENO),
        .has_colour = osc_cli_has_colour(),
        .has_full_names = q->options->full_names,
        .write = osc_cli_write,
    };
    osc_status st = osc_render_begin(&r);

    if (st == OSC_OK)
        st = osc_answer_rows(q, a, emit, &r, err);
    if (st == OSC_OK)
        st = osc_render_end(&r);
    /* CSV alone has no place for them. */
    if (st == OSC_OK && r.n_rows == 0 && strcmp(renderer->name, "csv") == 0)
        say_notes(&a->sheet.notes);
    osc_render_fini(&r);
    return st;
}

/* The lines of NOTES, each after "note: ". */
static void add_notes(struct osc_strbuf *out, const struct osc_strbuf *notes)
{
    const char *line = notes->len > 0 ? notes->s : "";

    while (*line) {
        const char *end = strchrnul(line, '\n');

        osc_strbuf_adds(out, "note: ");
        osc_utf8_append_terminal(out, (struct osc_str){line, (uint32_t)(end - line)});
        osc_strbuf_addc(out, '\n');
        line = *end ? end + 1 : end;
    }
}

/* A table that has a text of its own: one for each block, under a line that says which. */
static osc_status write_own_text(const struct osc_query *q, struct osc_answer *a,
                                 struct osc_err *err)
{
    struct osc_strbuf out = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < a->n_blocks && st == OSC_OK; i++) {
        const struct osc_answer_block *b = &a->blocks[i];

        osc_strbuf_clear(&out);
        if (a->n_blocks > 1)
            osc_strbuf_addf(&out, "%srank %d, span %d\n", i > 0 ? "\n" : "", b->rank, b->span);
        st = q->def->text(&b->result, q->options, &out, err);
        if (st == OSC_OK && out.status != OSC_OK)
            st = osc_fail(err, out.status, "%s", osc_status_text(out.status));
        if (st == OSC_OK && out.len > 0)
            st = osc_cli_write(NULL, out.s, out.len);
    }
    osc_strbuf_clear(&out);
    add_notes(&out, &a->sheet.notes);
    if (st == OSC_OK && out.len > 0)
        st = osc_cli_write(NULL, out.s, out.len);
    osc_strbuf_fini(&out);
    return st;
}

int osc_show_table(struct osc_loaded *l, const struct osc_args *args,
                   const struct osc_table_def *def)
{
    struct osc_asked k = {0};
    struct osc_err err = {0};
    int failed = osc_ask(&k, l, args, def);

    if (!failed) {
        const osc_status st = k.query.has_own_text
                                  ? write_own_text(&k.query, &k.answer, &err)
                                  : render(&k.query, &k.answer, args->renderer, &err);

        if (st != OSC_OK)
            failed = osc_load_fail(l, NULL, st, &err, "making a table");
    }
    osc_asked_fini(&k);
    return failed;
}

/* Rows of RESULT with SEVERITY, the codes of the first few in OUT. */
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

/* LINE, and the command that says more: in quotes, unless it has some itself. */
static void print_findings(const char *line, const char *operand)
{
    struct osc_strbuf trace = {0};

    if (operand)
        osc_shell_add_trace(&trace, operand);
    const char *const shown = trace.s && trace.status == OSC_OK ? trace.s : "TRACE...";
    const char *const quote = strchr(shown, '\'') ? "" : "'";
    osc_cli_error("quality: %s; %sopscope info %s%s explains", line, quote, shown, quote);
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
    else
        osc_cli_error("quality: nothing was skipped, repaired or found missing");
    osc_strbuf_fini(&line);
    osc_strbuf_fini(&codes);
}

int osc_show_quality(struct osc_loaded *l)
{
    const struct osc_options options = {.limit = OSC_LIMIT_DEFAULT};
    const struct osc_query q = {
        .def = &osc_table_quality,
        .traces = (const struct osc_trace *const *)l->traces,
        .n_traces = l->n_traces,
        .options = &options,
        .is_merged = true,
        .is_machine = true,
    };
    struct osc_answer a = {0};
    struct osc_err err = {0};

    /* Of derived facts only those that the table rests on: they are there by now. */
    const osc_status st = osc_query_run(&q, &a, &err);
    if (st == OSC_OK)
        print_quality(&a.blocks[0].result, l);
    const int failed =
        st == OSC_OK ? OSC_EXIT_DONE : osc_load_fail(l, NULL, st, &err, "making a table");
    osc_answer_fini(&a);
    return failed;
}
