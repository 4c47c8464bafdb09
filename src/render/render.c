/* SPDX-License-Identifier: Apache-2.0 */
#include "render/render.h"

#include "base/utf8.h"

#define FLUSH_BYTES ((size_t)64 << 10)

osc_status osc_render_flush(struct osc_render *r, bool is_last)
{
    osc_status st = r->out.status;

    if (st == OSC_OK && r->out.len > 0 && (is_last || r->out.len >= FLUSH_BYTES)) {
        st = r->write(r->ctx, r->out.s, r->out.len);
        osc_strbuf_clear(&r->out);
    }
    return st;
}

osc_status osc_render_begin(struct osc_render *r)
{
    const osc_status st = r->renderer->begin(r);

    return st == OSC_OK ? osc_render_flush(r, false) : st;
}

osc_status osc_render_rows(struct osc_render *r, const struct osc_rows *rows)
{
    const osc_status st = r->renderer->rows(r, rows);

    r->n_rows += rows->n_rows;
    return st == OSC_OK ? osc_render_flush(r, false) : st;
}

osc_status osc_render_end(struct osc_render *r)
{
    const osc_status st = r->renderer->end(r);

    return st == OSC_OK ? osc_render_flush(r, true) : st;
}

void osc_render_fini(struct osc_render *r)
{
    if (r->renderer && r->renderer->fini)
        r->renderer->fini(r);
    osc_strbuf_fini(&r->out);
    r->state = NULL;
}

void osc_render_shrink(struct osc_strbuf *out, struct osc_str s)
{
    bool is_blank = false;

    for (uint32_t i = 0; i < s.len; i++) {
        const bool was_blank = is_blank;

        is_blank = s.s[i] == ' ' || (s.s[i] >= '\t' && s.s[i] <= '\r');
        if (!is_blank)
            osc_strbuf_addc(out, s.s[i]);
        else if (!was_blank)
            osc_strbuf_addc(out, ' ');
    }
}

void osc_render_exact(struct osc_strbuf *out, const struct osc_cell *cell)
{
    switch (cell->type) {
    case OSC_TYPE_STRING:
        osc_utf8_append_clean(out, cell->s);
        break;
    case OSC_TYPE_INTEGER:
        osc_strbuf_addi(out, cell->i);
        break;
    case OSC_TYPE_NUMBER:
        osc_strbuf_addd(out, cell->d);
        break;
    case OSC_TYPE_BOOLEAN:
        osc_strbuf_adds(out, cell->i ? "true" : "false");
        break;
    }
}
