/* SPDX-License-Identifier: Apache-2.0 */
/* A pipe table for a bug report, followed by the names of its files. */
#include "render/renderers.h"

#define SOURCES_MAX 8 /* a report is about the numbers */

#include "base/utf8.h"

/* Write S, escaping what Markdown or HTML would treat as markup. */
static void add_escaped(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_strbuf clean = {0};

    osc_utf8_append_terminal(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        const char c = clean.s[i];

        if (c == '<')
            osc_strbuf_adds(out, "&lt;");
        else if (c == '&')
            osc_strbuf_adds(out, "&amp;");
        else {
            if (strchr("|\\`*_[]~", c))
                osc_strbuf_addc(out, '\\');
            osc_strbuf_addc(out, c);
        }
    }
    if (clean.status != OSC_OK)
        out->status = clean.status;
    osc_strbuf_fini(&clean);
}

/* Write a cell of a column with FLAGS; a long JSON text becomes one line. */
static void add_string(struct osc_strbuf *out, struct osc_str s, unsigned flags)
{
    struct osc_strbuf line = {0};

    if (flags & OSC_COLUMN_LONG) {
        osc_render_shrink(&line, s);
        s = (struct osc_str){line.s, (uint32_t)line.len};
    }
    add_escaped(out, s);
    if (line.status != OSC_OK)
        out->status = line.status;
    osc_strbuf_fini(&line);
}

static osc_status begin(struct osc_render *r)
{
    const struct osc_sheet *s = r->sheet;

    for (uint32_t c = 0; c < s->n_columns; c++) {
        osc_strbuf_adds(&r->out, c > 0 ? " | " : "| ");
        osc_strbuf_adds(&r->out, s->columns[c].column->name);
    }
    osc_strbuf_adds(&r->out, " |\n");
    for (uint32_t c = 0; c < s->n_columns; c++) {
        const enum osc_type type = s->columns[c].column->type;
        const bool is_number = type == OSC_TYPE_INTEGER || type == OSC_TYPE_NUMBER;

        osc_strbuf_adds(&r->out, is_number ? "| ---: " : "| --- ");
    }
    osc_strbuf_adds(&r->out, "|\n");
    return OSC_OK;
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &r->sheet->columns[c]);

            osc_strbuf_adds(&r->out, c > 0 ? " | " : "| ");
            if (cell.is_missing)
                continue;
            if (cell.type == OSC_TYPE_STRING)
                add_string(&r->out, cell.s, r->sheet->columns[c].column->flags);
            else
                osc_render_exact(&r->out, &cell);
        }
        osc_strbuf_adds(&r->out, " |\n");
        st = osc_render_flush(r, false);
    }
    return st;
}

static osc_status end(struct osc_render *r)
{
    const struct osc_sheet *s = r->sheet;
    const char *line = s->notes.len > 0 ? s->notes.s : "";

    osc_strbuf_addc(&r->out, '\n');
    while (*line) {
        const char *eol = strchrnul(line, '\n');

        osc_strbuf_adds(&r->out, "Note: ");
        add_escaped(&r->out, (struct osc_str){line, (uint32_t)(eol - line)});
        osc_strbuf_adds(&r->out, "\n\n");
        line = *eol ? eol + 1 : eol;
    }
    osc_strbuf_adds(&r->out, s->n_sources == 1 ? "Trace: " : "Traces: ");
    for (uint32_t i = 0; i < s->n_sources && i < SOURCES_MAX; i++) {
        osc_strbuf_adds(&r->out, i > 0 ? ", " : "");
        add_escaped(&r->out, s->sources[i]);
    }
    if (s->n_sources > SOURCES_MAX)
        osc_strbuf_addf(&r->out, " and %u more", s->n_sources - SOURCES_MAX);
    osc_strbuf_adds(&r->out, "; PyTorch ");
    add_escaped(&r->out, osc_str_c(s->torch_version ? s->torch_version : "unknown"));
    osc_strbuf_adds(&r->out, "; opscope " OSC_VERSION "\n");
    return OSC_OK;
}

const struct osc_renderer osc_render_markdown = {
    .name = "md",
    .help = "a Markdown table for reports, exact, with the versions below it",
    .is_machine = true,
    .begin = begin,
    .rows = rows,
    .end = end,
};
