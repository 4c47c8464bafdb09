/* SPDX-License-Identifier: Apache-2.0 */
/* JSON for programs with a stable structure: one object per table, one line per row; and JSON
 * Lines: one object per row. */
#include "render/renderers.h"

#include <math.h>

#include "codec/json.h"

#define SCHEMA 1 /* incremented when a column is renamed */

static const char *type_name(enum osc_type type)
{
    switch (type) {
    case OSC_TYPE_STRING:
        return "string";
    case OSC_TYPE_INTEGER:
        return "integer";
    case OSC_TYPE_NUMBER:
        return "number";
    case OSC_TYPE_BOOLEAN:
        break;
    }
    return "boolean";
}

static void add_text(struct osc_strbuf *out, const char *text)
{
    osc_json_quote(out, osc_str_c(text));
}

static void add_notes(struct osc_strbuf *out, const struct osc_strbuf *notes)
{
    const char *line = notes->len > 0 ? notes->s : "";

    for (const char *sep = ""; *line; sep = ", ") {
        const char *end = strchrnul(line, '\n');

        osc_strbuf_adds(out, sep);
        osc_json_quote(out, (struct osc_str){line, (uint32_t)(end - line)});
        line = *end ? end + 1 : end;
    }
}

static osc_status begin(struct osc_render *r)
{
    struct osc_strbuf help = {0};
    const struct osc_sheet *s = r->sheet;
    struct osc_strbuf *out = &r->out;

    osc_strbuf_adds(out, "{\"opscope\": ");
    add_text(out, OSC_VERSION);
    osc_strbuf_addf(out, ", \"schema\": %d, \"table\": ", SCHEMA);
    add_text(out, s->def->name);
    osc_strbuf_adds(out, ",\n \"sources\": [");
    for (uint32_t i = 0; i < s->n_sources; i++) {
        osc_strbuf_adds(out, i > 0 ? ", " : "");
        osc_json_quote(out, s->sources[i]);
    }
    osc_strbuf_adds(out, "],\n \"notes\": [");
    add_notes(out, &s->notes);
    osc_strbuf_adds(out, "],\n \"columns\": [");
    for (uint32_t c = 0; c < s->n_columns; c++) {
        const struct osc_column *column = s->columns[c].column;

        osc_strbuf_adds(out, c > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ");
        add_text(out, column->name);
        osc_strbuf_adds(out, ", \"type\": ");
        add_text(out, type_name(column->type));
        osc_strbuf_adds(out, ", \"unit\": ");
        if (column->unit)
            add_text(out, column->unit);
        else
            osc_strbuf_adds(out, "null");
        osc_strbuf_adds(out, ", \"help\": ");
        osc_strbuf_clear(&help);
        osc_sheet_add_help(&help, s->def, column);
        osc_json_quote(out, (struct osc_str){help.s, (uint32_t)help.len});
        osc_strbuf_addc(out, '}');
    }
    const osc_status st = help.status;
    osc_strbuf_fini(&help);
    osc_strbuf_adds(out, "],\n \"rows\": [");
    return st;
}

static void add_cell(struct osc_strbuf *out, const struct osc_cell *cell)
{
    if (cell->is_missing || (cell->type == OSC_TYPE_NUMBER && !isfinite(cell->d)))
        osc_strbuf_adds(out, "null"); /* JSON has no infinities or NaN */
    else if (cell->type == OSC_TYPE_STRING)
        osc_json_quote(out, cell->s);
    else
        osc_render_exact(out, cell);
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        osc_strbuf_adds(&r->out, r->n_rows + i > 0 ? ",\n  [" : "\n  [");
        for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &r->sheet->columns[c]);

            osc_strbuf_adds(&r->out, c > 0 ? ", " : "");
            add_cell(&r->out, &cell);
        }
        osc_strbuf_addc(&r->out, ']');
        st = osc_render_flush(r, false);
    }
    return st;
}

static osc_status end(struct osc_render *r)
{
    osc_strbuf_adds(&r->out, "]}\n");
    return OSC_OK;
}

/* --- JSON Lines ----------------------------------------------------------------------------
 */

static osc_status begin_lines(struct osc_render *r)
{
    (void)r;
    return OSC_OK;
}

static osc_status lines(struct osc_render *r, const struct osc_rows *rows)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
            const struct osc_sheet_column *const column = &r->sheet->columns[c];
            const struct osc_cell cell = osc_rows_cell(rows, i, column);

            osc_strbuf_adds(&r->out, c > 0 ? ", " : "{");
            add_text(&r->out, column->column->name);
            osc_strbuf_adds(&r->out, ": ");
            add_cell(&r->out, &cell);
        }
        osc_strbuf_adds(&r->out, "}\n");
        st = osc_render_flush(r, false);
    }
    return st;
}

static osc_status end_lines(struct osc_render *r)
{
    (void)r;
    return OSC_OK;
}

const struct osc_renderer osc_render_jsonl = {
    .name = "jsonl",
    .help = "a JSON object a row, with the names of columns, exact",
    .is_machine = true,
    .lacks_notes = true,
    .one_table = "JSON Lines",
    .begin = begin_lines,
    .rows = lines,
    .end = end_lines,
};

const struct osc_renderer osc_render_json = {
    .name = "json",
    .help = "one JSON object with columns, units, notes and exact rows",
    .is_machine = true,
    .begin = begin,
    .rows = rows,
    .end = end,
};
