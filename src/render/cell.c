/* SPDX-License-Identifier: Apache-2.0 */
#include "render/cell.h"

#include <string.h>

#include "base/utf8.h"
#include "prose/units.h"
#include "render/render.h"

#define LONG_WIDTH 100 /* long JSON is cut at this width */

static void add_number(struct osc_strbuf *out, const struct osc_cell *cell,
                       const struct osc_column *column)
{
    const char *const unit = column->unit;
    const bool is_integer = cell->type == OSC_TYPE_INTEGER;
    const double v = is_integer ? (double)cell->i : cell->d;

    if (unit && strcmp(unit, "ns") == 0) {
        if (is_integer && (column->flags & OSC_COLUMN_MOMENT))
            osc_units_moment(out, cell->i);
        else if (is_integer)
            osc_units_time_int(out, cell->i);
        else
            osc_units_time(out, v);
    } else if (unit && strcmp(unit, "bytes/s") == 0) {
        osc_units_rate(out, v);
    } else if (unit && strcmp(unit, "bytes") == 0) {
        osc_units_bytes(out, v);
    } else if (unit && strcmp(unit, "ratio") == 0) {
        osc_units_ratio(out, v);
    } else if (is_integer) {
        osc_strbuf_addi(out, cell->i);
    } else {
        osc_strbuf_addf(out, "%.6g", v);
    }
}

/* Write S on one line: a sentence whole, of JSON the beginning. */
static void add_long(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_strbuf shrunk = {0}, line = {0};

    osc_render_shrink(&shrunk, s);
    osc_utf8_append_terminal(&line, (struct osc_str){shrunk.s, (uint32_t)shrunk.len});
    const struct osc_str all = {line.s, (uint32_t)line.len};
    const bool is_json = line.len > 0 && (line.s[0] == '[' || line.s[0] == '{');
    const bool is_cut = is_json && osc_utf8_columns(all) > LONG_WIDTH;

    if (line.len > 0)
        osc_strbuf_add(out, line.s, is_cut ? osc_utf8_head(all, LONG_WIDTH - 1) : line.len);
    osc_strbuf_adds(out, is_cut ? "\xe2\x80\xa6" : "");
    if (shrunk.status != OSC_OK || line.status != OSC_OK)
        out->status = OSC_ENOMEM;
    osc_strbuf_fini(&shrunk);
    osc_strbuf_fini(&line);
}

void osc_cell_write(struct osc_strbuf *out, const struct osc_cell *cell,
                    const struct osc_column *column)
{
    if (cell->is_missing)
        return;
    switch (cell->type) {
    case OSC_TYPE_STRING:
        if (column->flags & OSC_COLUMN_BELOW)
            osc_utf8_append_terminal(out, cell->s);
        else if (column->flags & OSC_COLUMN_LONG)
            add_long(out, cell->s);
        else
            osc_utf8_append_name(out, cell->s);
        break;
    case OSC_TYPE_INTEGER:
    case OSC_TYPE_NUMBER:
        add_number(out, cell, column);
        break;
    case OSC_TYPE_BOOLEAN:
        osc_render_exact(out, cell);
        break;
    }
}
