/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: aligned columns, numbers with units, at most as wide as the terminal.
 * Widths are computed from the first rows, which are held back; a longer cell in a later row
 * shifts the rest of its line to the right and is not cut.
 */
#include "render/renderers.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "render/symbol.h"
#include "render/units.h"

#define HELD_ROWS   8192 /* rows that determine the widths */
#define GAP         2    /* blanks between columns */
#define LEAST_WIDTH 12   /* names are never cut below this width */
#define LONG_WIDTH  100  /* long JSON is cut at this width */
#define BELOW_WIDTH 80   /* sentences are wrapped at this width, or at a narrower terminal */
#define INDENT      4    /* of lines below a row */

struct column {
    size_t width;  /* code points */
    size_t limit;  /* cut cells at this width; SIZE_MAX: never */
    bool is_right; /* numbers */
    bool is_below; /* printed on lines below, not in the columns */
};

struct state {
    struct column *columns;  /* owned */
    uint32_t last;           /* the last one printed in the columns */
    struct osc_strbuf cells; /* texts of the held rows, concatenated */
    size_t *ends;            /* owned; where each cell ends in cells */
    size_t n_ends, cap_ends;
    uint32_t n_held; /* rows */
    bool is_flowing; /* widths are fixed, rows are not held any more */
};

static void add_number(struct osc_strbuf *out, const struct osc_cell *cell, const char *unit)
{
    const bool is_integer = cell->type == OSC_TYPE_INTEGER;
    const double v = is_integer ? (double)cell->i : cell->d;

    if (unit && strcmp(unit, "ns") == 0) {
        if (is_integer)
            osc_units_time_int(out, cell->i);
        else
            osc_units_time(out, v);
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

/* Bytes of the first N code points of S. */
static size_t prefix_bytes(struct osc_str s, size_t n)
{
    size_t i = 0;

    while (i < s.len && (n > 0 || ((unsigned char)s.s[i] & 0xc0) == 0x80)) {
        n -= ((unsigned char)s.s[i] & 0xc0) != 0x80;
        i++;
    }
    return i;
}

/* Write S on one line: a sentence whole, of JSON the beginning. */
static void add_long(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_strbuf shrunk = {0}, line = {0};

    osc_render_shrink(&shrunk, s);
    osc_utf8_append_terminal(&line, (struct osc_str){shrunk.s, (uint32_t)shrunk.len});
    const struct osc_str all = {line.s, (uint32_t)line.len};
    const bool is_json = line.len > 0 && (line.s[0] == '[' || line.s[0] == '{');
    const bool is_cut = is_json && osc_utf8_width(all) > LONG_WIDTH;

    if (line.len > 0)
        osc_strbuf_add(out, line.s, is_cut ? prefix_bytes(all, LONG_WIDTH - 1) : line.len);
    osc_strbuf_adds(out, is_cut ? "\xe2\x80\xa6" : "");
    if (shrunk.status != OSC_OK || line.status != OSC_OK)
        out->status = OSC_ENOMEM;
    osc_strbuf_fini(&shrunk);
    osc_strbuf_fini(&line);
}

static void add_cell(struct osc_strbuf *out, const struct osc_cell *cell,
                     const struct osc_column *column, bool is_folded)
{
    if (cell->is_missing)
        return;
    switch (cell->type) {
    case OSC_TYPE_STRING:
        if (is_folded)
            osc_symbol_fold(out, cell->s);
        else if ((column->flags & (OSC_COLUMN_LONG | OSC_COLUMN_BELOW)) == OSC_COLUMN_LONG)
            add_long(out, cell->s);
        else
            osc_utf8_append_terminal(out, cell->s);
        break;
    case OSC_TYPE_INTEGER:
    case OSC_TYPE_NUMBER:
        add_number(out, cell, column->unit);
        break;
    case OSC_TYPE_BOOLEAN:
        osc_render_exact(out, cell);
        break;
    }
}

/* Write TEXT to a column. It is cut in the middle if necessary: both ends of a name are
 * informative. */
static void add_padded(struct osc_strbuf *out, struct osc_str text, const struct column *c,
                       bool is_last)
{
    const size_t len = osc_utf8_width(text);
    const size_t shown = len < c->limit ? len : c->limit;
    const size_t blanks = shown < c->width ? c->width - shown : 0;

    if (c->is_right)
        osc_strbuf_pad(out, ' ', blanks);
    if (len > c->limit) {
        const size_t head = c->limit / 2, tail = c->limit - 1 - head;
        const size_t from = prefix_bytes(text, len - tail);

        osc_strbuf_add(out, text.s, prefix_bytes(text, head));
        osc_strbuf_adds(out, "\xe2\x80\xa6");
        osc_strbuf_add(out, text.s + from, text.len - from);
    } else {
        osc_strbuf_addstr(out, text);
    }
    if (!c->is_right && !is_last)
        osc_strbuf_pad(out, ' ', blanks);
    if (!is_last)
        osc_strbuf_pad(out, ' ', GAP);
}

/* End the line that began at START; remove trailing blanks. */
static void end_line(struct osc_strbuf *out, size_t start)
{
    while (out->len > start && out->s[out->len - 1] == ' ')
        out->s[--out->len] = '\0';
    osc_strbuf_addc(out, '\n');
}

static void add_titles(struct osc_render *r)
{
    const struct state *s = r->state;

    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[1m");
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (!s->columns[c].is_below)
            add_padded(&r->out, osc_str_c(r->sheet->columns[c].column->name), &s->columns[c],
                       c == s->last);
    }
    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[0m");
    osc_strbuf_addc(&r->out, '\n');
}

/* The widest column that can be narrowed; *NEXT is the width of the second widest. */
static struct column *widest_column(struct state *s, uint32_t n, size_t *next)
{
    struct column *widest = NULL;

    *next = LEAST_WIDTH;
    for (uint32_t c = 0; c < n; c++) {
        struct column *column = &s->columns[c];

        if (column->is_right || column->is_below || column->width <= LEAST_WIDTH)
            continue;
        if (!widest || column->width > widest->width) {
            *next = widest ? widest->width : *next;
            widest = column;
        } else if (column->width > *next) {
            *next = column->width;
        }
    }
    return widest;
}

/* Narrow the widest columns of names until a line fits, as far as possible. */
static void fit(struct osc_render *r, struct state *s)
{
    size_t total = 0, next;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++)
        total += s->columns[c].is_below ? 0 : s->columns[c].width + (c > 0 ? GAP : 0);
    while (r->width > 0 && total > r->width) {
        struct column *widest = widest_column(s, r->sheet->n_columns, &next);
        if (!widest)
            break;

        size_t cut = widest->width - next;
        if (cut == 0)
            cut = 1; /* two equal columns: alternate */
        if (cut > total - r->width)
            cut = total - r->width;
        widest->width -= cut;
        widest->limit = widest->width;
        total -= cut;
    }
}

/* Write TEXT from the INDENT-th character of a line that has begun, wrapped between words. */
static void add_wrapped(struct osc_strbuf *out, struct osc_str text, size_t indent, size_t room)
{
    while (text.len > 0) {
        size_t len = text.len;

        if (osc_utf8_width(text) > room) {
            const char *blank = memrchr(text.s, ' ', prefix_bytes(text, room + 1));

            if (!blank)
                blank = memchr(text.s, ' ', text.len); /* a longer word has its own line */
            len = blank ? (size_t)(blank - text.s) : len;
        }
        osc_strbuf_add(out, text.s, len);
        len += len < text.len;
        text = (struct osc_str){text.s + len, text.len - (uint32_t)len};
        if (text.len > 0) {
            osc_strbuf_addc(out, '\n');
            osc_strbuf_pad(out, ' ', indent);
        }
    }
}

/* Write TEXT on lines of its own; a sentence is wrapped between words. */
static void add_below(struct osc_render *r, struct osc_str text, bool is_sentence)
{
    const size_t width = r->width > 0 && r->width < BELOW_WIDTH ? r->width : BELOW_WIDTH;
    const size_t room = width > INDENT + LEAST_WIDTH ? width - INDENT : LEAST_WIDTH;

    if (text.len == 0)
        return;
    osc_strbuf_pad(&r->out, ' ', INDENT);
    add_wrapped(&r->out, text, INDENT, is_sentence ? room : SIZE_MAX);
    osc_strbuf_addc(&r->out, '\n');
}

/* Write TEXT to column C. A sentence in the last one is wrapped within it, so that nothing of
 * a reason or a remedy is missing; LINE is where the row began. */
static void add_cell_text(struct osc_render *r, uint32_t c, struct osc_str text, size_t line)
{
    const struct state *s = r->state;
    const struct column *column = &s->columns[c];
    const bool is_sentence = (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG) != 0;

    if (c != s->last || !is_sentence || osc_utf8_width(text) <= column->limit) {
        add_padded(&r->out, text, column, c == s->last);
        return;
    }
    const size_t indent =
        osc_utf8_width((struct osc_str){r->out.s + line, (uint32_t)(r->out.len - line)});
    add_wrapped(&r->out, text, indent, column->limit);
}

/* Print the row whose cells end at s->ends[FIRST] and the following. */
static osc_status print_row(struct osc_render *r, const struct state *s, size_t first)
{
    const size_t line = r->out.len;
    size_t start = first == 0 ? 0 : s->ends[first - 1];
    bool has_below = false;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        const size_t end = s->ends[first + c];

        has_below |= s->columns[c].is_below;
        if (!s->columns[c].is_below)
            add_cell_text(r, c, (struct osc_str){s->cells.s + start, (uint32_t)(end - start)},
                          line);
        start = end;
    }
    end_line(&r->out, line);
    for (uint32_t c = 0; c < r->sheet->n_columns && has_below; c++) {
        const size_t from = first + c == 0 ? 0 : s->ends[first + c - 1];

        if (s->columns[c].is_below)
            add_below(
                r, (struct osc_str){s->cells.s + from, (uint32_t)(s->ends[first + c] - from)},
                (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG) != 0);
    }
    return osc_render_flush(r, false);
}

/* Print the titles and the held rows; later rows are printed directly. */
static osc_status release(struct osc_render *r)
{
    struct state *s = r->state;
    osc_status st = OSC_OK;

    fit(r, s);
    add_titles(r);
    for (size_t first = 0; first < s->n_ends && st == OSC_OK; first += r->sheet->n_columns)
        st = print_row(r, s, first);
    s->is_flowing = true;
    s->n_ends = 0;
    osc_strbuf_clear(&s->cells);
    return st;
}

static osc_status begin(struct osc_render *r)
{
    struct state *s = osc_calloc(1, sizeof *s);

    r->state = s;
    if (!s)
        return OSC_ENOMEM;
    s->columns = osc_calloc(r->sheet->n_columns + 1, sizeof *s->columns);
    if (!s->columns)
        return OSC_ENOMEM;
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        const struct osc_column *column = r->sheet->columns[c].column;

        s->columns[c] = (struct column){
            .width = strlen(column->name),
            .limit = SIZE_MAX,
            .is_right = column->type == OSC_TYPE_INTEGER || column->type == OSC_TYPE_NUMBER,
            .is_below = (column->flags & OSC_COLUMN_BELOW) != 0,
        };
        s->last = s->columns[c].is_below ? s->last : c;
    }
    /* A column below needs another one above. */
    if (r->sheet->n_columns > 0)
        s->columns[s->last].is_below = false;
    return OSC_OK;
}

/* Add the texts of row I of ROWS to the held ones. */
static osc_status add_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                          uint64_t i)
{
    const uint32_t n = r->sheet->n_columns;
    const osc_status st = osc_grow(&s->ends, &s->cap_ends, s->n_ends + n, sizeof *s->ends);

    if (st != OSC_OK)
        return st;
    for (uint32_t c = 0; c < n; c++) {
        const struct osc_sheet_column *column = &r->sheet->columns[c];
        const struct osc_cell cell = osc_rows_cell(rows, i, column);

        add_cell(&s->cells, &cell, column->column,
                 !r->has_full_names && osc_rows_is_symbol(rows, i, column));
        s->ends[s->n_ends++] = s->cells.len;
    }
    return s->cells.status;
}

static osc_status hold_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                           uint64_t i)
{
    size_t start = s->cells.len, first = s->n_ends;
    const osc_status st = add_row(r, s, rows, i);

    for (uint32_t c = 0; st == OSC_OK && c < r->sheet->n_columns; c++) {
        const size_t end = s->ends[first + c];

        if (end > start) {
            const size_t width =
                osc_utf8_width((struct osc_str){s->cells.s + start, (uint32_t)(end - start)});

            if (width > s->columns[c].width)
                s->columns[c].width = width;
        }
        start = end;
    }
    s->n_held++;
    return st;
}

static osc_status flow_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                           uint64_t i)
{
    osc_strbuf_clear(&s->cells);
    s->n_ends = 0;
    const osc_status st = add_row(r, s, rows, i);

    return st == OSC_OK ? print_row(r, s, 0) : st;
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    struct state *s = r->state;
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        if (s->is_flowing) {
            st = flow_row(r, s, rows, i);
            continue;
        }
        st = hold_row(r, s, rows, i);
        if (st == OSC_OK && s->n_held == HELD_ROWS)
            st = release(r);
    }
    return st;
}

static osc_status end(struct osc_render *r)
{
    struct state *s = r->state;
    const struct osc_sheet *sheet = r->sheet;
    osc_status st = s->is_flowing ? OSC_OK : release(r);

    if (r->n_rows == 0)
        osc_strbuf_adds(&r->out, "(no rows)\n");
    if (sheet->n_more > 0)
        osc_strbuf_addf(&r->out, "%llu more %s; --limit 0 shows all\n",
                        (unsigned long long)sheet->n_more, sheet->n_more == 1 ? "row" : "rows");
    const char *line = sheet->notes.len > 0 ? sheet->notes.s : "";
    while (*line) {
        const char *eol = strchrnul(line, '\n');

        osc_strbuf_adds(&r->out, "note: ");
        osc_utf8_append_terminal(&r->out, (struct osc_str){line, (uint32_t)(eol - line)});
        osc_strbuf_addc(&r->out, '\n');
        line = *eol ? eol + 1 : eol;
    }
    return st;
}

static void fini(struct osc_render *r)
{
    struct state *s = r->state;

    if (!s)
        return;
    osc_free(s->columns);
    osc_free(s->ends);
    osc_strbuf_fini(&s->cells);
    osc_free(s);
}

const struct osc_renderer osc_render_text = {
    .name = "text",
    .help = "for people: aligned, with units, 100 rows by default",
    .begin = begin,
    .rows = rows,
    .end = end,
    .fini = fini,
};
