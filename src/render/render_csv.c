/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV as in RFC 4180, but with bare line feeds, as all tools on Linux write it. Invalid UTF-8
 * becomes U+FFFD; a NUL, at which readers stop or fail, becomes U+2400.
 */
#include "render/renderers.h"

#include <string.h>

#include "base/utf8.h"

static void add_clean(struct osc_strbuf *out, struct osc_str s)
{
    const char *nul;

    while (s.len > 0 && (nul = memchr(s.s, '\0', s.len)) != NULL) {
        const uint32_t len = (uint32_t)(nul - s.s);

        osc_utf8_append_clean(out, (struct osc_str){s.s, len});
        osc_strbuf_adds(out, "\xe2\x90\x80");
        s = (struct osc_str){nul + 1, s.len - len - 1};
    }
    osc_utf8_append_clean(out, s);
}

static void add_string(struct osc_strbuf *out, struct osc_str s)
{
    const size_t start = out->len;

    add_clean(out, s);
    if (out->status != OSC_OK || out->len == start)
        return;

    size_t n_quotes = 0;
    bool is_plain = true;
    for (size_t i = start; i < out->len; i++) {
        const char c = out->s[i];

        n_quotes += c == '"';
        is_plain = is_plain && c != '"' && c != ',' && c != '\n' && c != '\r';
    }
    if (is_plain)
        return;

    /* Move bytes to the right, starting at the end; double each quotation mark and add one at
     * each end. */
    const size_t len = out->len - start;
    osc_strbuf_pad(out, '"', n_quotes + 2);
    if (out->status != OSC_OK)
        return;
    char *to = out->s + out->len - 1;
    for (size_t i = len; i-- > 0;) {
        const char c = out->s[start + i];

        *--to = c;
        if (c == '"')
            *--to = '"';
    }
    out->s[start] = '"';
}

static osc_status begin(struct osc_render *r)
{
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (c > 0)
            osc_strbuf_addc(&r->out, ',');
        osc_strbuf_adds(&r->out, r->sheet->columns[c].column->name);
    }
    osc_strbuf_addc(&r->out, '\n');
    return OSC_OK;
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &r->sheet->columns[c]);

            if (c > 0)
                osc_strbuf_addc(&r->out, ',');
            if (cell.is_missing)
                continue;
            if (cell.type == OSC_TYPE_STRING)
                add_string(&r->out, cell.s);
            else
                osc_render_exact(&r->out, &cell);
        }
        osc_strbuf_addc(&r->out, '\n');
        st = osc_render_flush(r, false);
    }
    return st;
}

static osc_status end(struct osc_render *r)
{
    (void)r;
    return OSC_OK;
}

const struct osc_renderer osc_render_csv = {
    .name = "csv",
    .help = "comma-separated values, exact, with a header line",
    .is_machine = true,
    .lacks_notes = true,
    .one_table = "CSV",
    .begin = begin,
    .rows = rows,
    .end = end,
};
