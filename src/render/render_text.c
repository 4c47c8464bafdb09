/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: aligned columns, numbers with units, at most as wide as the terminal.
 * Widths are computed from the first rows, which are held back; a longer number in a later row
 * shifts the rest of its line to the right, and its name is as much shorter. Names are labels
 * (labels.h); where the terminal is too narrow they are cut, and columns left out (fit.h):
 * first those that say nothing in the first rows, then the minor ones, then the others from the
 * right.
 */
#include "render/renderers.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "render/elide.h"
#include "render/fit.h"
#include "render/labels.h"
#include "render/units.h"
#include "render/wrap.h"

#define HELD_ROWS    8192 /* rows that determine the widths */
#define LEAST_WIDTH  12   /* other names are never cut below this width */
#define KEY_WIDTH    20   /* nor those that tell rows apart below this one */
#define NAME_WIDTH   32   /* nor those of the column of names below this */
#define SYMBOL_WIDTH 80   /* symbols are cut at this width even if there is no terminal */
#define SENTENCE     16 /* a sentence in the last column is wrapped at this width or a larger */
#define LONG_WIDTH   100 /* long JSON is cut at this width */
#define BELOW_WIDTH  80  /* sentences are wrapped at this width, or at a narrower terminal */
#define MORE_DIGITS  3   /* of numbers such as ids in later rows */
#define INDENT       4   /* of lines below a row */

struct column {
    size_t width;            /* columns of a terminal */
    bool is_right;           /* numbers */
    bool is_below;           /* printed on lines below, not in the columns */
    bool is_out;             /* left out: the terminal is too narrow */
    bool is_label;           /* cells are names */
    bool has_value;          /* some held cell is not missing; */
    bool has_news;           /* and not zero or false */
    struct osc_labels names; /* of labels */
};

/* A cell of a held row. */
struct text_cell {
    size_t end;   /* of its text in cells */
    osc_sid name; /* of labels */
};

struct state {
    struct column *columns;  /* owned */
    uint32_t last;           /* the last one printed in the columns */
    uint32_t name;           /* the column of names */
    struct osc_strbuf cells; /* texts of the held rows, concatenated */
    struct text_cell *held;  /* owned */
    size_t n_held_cells, cap_held;
    uint32_t n_held; /* rows */
    bool is_flowing; /* widths are fixed, rows are not held any more */

    /* If columns that tell rows apart are left out: what is shown of rows so far. */
    bool has_lost_keys;
    struct osc_arena arena;
    struct osc_intern keys;
    uint32_t *numbers; /* owned; by key: the last number that was appended */
    struct osc_intern numbered;
    uint32_t *owners; /* owned; by id of a name with a number: whose it is */
    size_t cap_numbers, cap_owners;
    struct osc_strbuf scratch;
};

static bool is_key(const struct osc_column *column)
{
    return column->merge == OSC_MERGE_KEY;
}

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

static void add_cell(struct osc_strbuf *out, const struct osc_cell *cell,
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
        add_number(out, cell, column->unit);
        break;
    case OSC_TYPE_BOOLEAN:
        osc_render_exact(out, cell);
        break;
    }
}

/* Write TEXT to a column. */
static void add_padded(struct osc_render *r, struct osc_str text, const struct column *c,
                       bool is_last)
{
    struct osc_strbuf *const out = &r->out;
    const size_t len = osc_utf8_columns(text);
    const size_t blanks = len < c->width ? c->width - len : 0;

    if (c->is_right)
        osc_strbuf_pad(out, ' ', blanks);
    if (len > c->width && !c->is_right && r->width > 0)
        osc_elide(out, text, c->width, NULL);
    else
        osc_strbuf_addstr(out, text);
    if (!c->is_right && !is_last)
        osc_strbuf_pad(out, ' ', blanks);
    if (!is_last)
        osc_strbuf_pad(out, ' ', OSC_FIT_GAP);
}

/* End the line that began at START; remove trailing blanks. */
static void end_line(struct osc_strbuf *out, size_t start)
{
    while (out->len > start && out->s[out->len - 1] == ' ')
        out->s[--out->len] = '\0';
    osc_strbuf_addc(out, '\n');
}

static bool is_in_line(const struct column *column)
{
    return !column->is_below && !column->is_out;
}

static void add_titles(struct osc_render *r)
{
    const struct state *s = r->state;

    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[1m");
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (is_in_line(&s->columns[c]))
            add_padded(r, osc_str_c(r->sheet->columns[c].column->name), &s->columns[c],
                       c == s->last);
    }
    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[0m");
    osc_strbuf_addc(&r->out, '\n');
}

/* --- widths ----------------------------------------------------------------------------------
 */

/* Whether a column called NAME has the names of rows, if its table has no more telling one. */
static bool is_called_name(const char *name)
{
    static const char *const words[] = {"name", "path", "operator", "title"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0)
            return true;
    }
    return false;
}

/* The column of names: the first that is called so, else the widest of labels. */
static uint32_t find_name(const struct osc_render *r, const struct state *s)
{
    uint32_t widest = UINT32_MAX;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (!s->columns[c].is_label)
            continue;
        if (is_called_name(r->sheet->columns[c].column->name))
            return c;
        if (s->columns[c].has_value &&
            (widest == UINT32_MAX || s->columns[c].width > s->columns[widest].width))
            widest = c;
    }
    return widest;
}

/* How important column C is: those that say nothing are the least, the name is the most. */
static unsigned importance(const struct osc_render *r, const struct state *s, uint32_t c)
{
    const struct osc_column *const column = r->sheet->columns[c].column;
    const int32_t index = r->sheet->columns[c].index;

    if (c == s->name)
        return 7;
    if (!s->columns[c].has_value)
        return 0;
    if (index >= 0 && (uint32_t)index + 1 == r->sheet->def->sorted_by)
        return 6;
    if (is_key(column))
        return 5;
    if (!s->columns[c].has_news)
        return 1;
    if (column->flags & OSC_COLUMN_MINOR)
        return 2;
    return (column->flags & OSC_COLUMN_LONG) || strcmp(column->name, "calls") == 0 ? 4 : 3;
}

/* The width down to which column C may be narrowed. */
static size_t least_width(const struct osc_render *r, const struct state *s, uint32_t c)
{
    const struct column *const column = &s->columns[c];
    const size_t title = strlen(r->sheet->columns[c].column->name);
    size_t least = column->width;

    if (c == s->name)
        least = r->width * 2 / 5 > NAME_WIDTH ? r->width * 2 / 5 : NAME_WIDTH;
    else if (column->is_label)
        least = is_key(r->sheet->columns[c].column) ? KEY_WIDTH : LEAST_WIDTH;
    else if (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG)
        least = SENTENCE;
    least = least > title ? least : title;
    return least < column->width ? least : column->width;
}

/* Narrow columns until a line fits, and leave some out. */
static osc_status fit(struct osc_render *r, struct state *s)
{
    const uint32_t n = r->sheet->n_columns;
    struct osc_fit_column *const columns = osc_calloc((size_t)n + 1, sizeof *columns);

    if (!columns)
        return OSC_ENOMEM;
    for (uint32_t c = 0; c < n; c++)
        columns[c] = (struct osc_fit_column){.width = s->columns[c].width,
                                             .least = least_width(r, s, c),
                                             .importance = importance(r, s, c),
                                             .is_out = s->columns[c].is_below};
    osc_fit(columns, n, r->width);
    for (uint32_t c = 0; c < n; c++) {
        struct column *const column = &s->columns[c];

        column->is_out = columns[c].is_out && !column->is_below;
        column->width = columns[c].width;
        s->has_lost_keys |= column->is_out && is_key(r->sheet->columns[c].column);
        s->last = is_in_line(column) ? c : s->last;
    }
    osc_free(columns);
    return OSC_OK;
}

/* Tell which columns were left out. */
static void note_left_out(struct osc_render *r)
{
    const struct state *const s = r->state;
    struct osc_strbuf line = {0};
    const char *first = NULL, *shown = NULL;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        const char *const name = r->sheet->columns[c].column->name;

        if (is_in_line(&s->columns[c]) && r->sheet->columns[c].index >= 0 &&
            (!shown || (c == s->name && is_called_name(name))))
            shown = name;
        if (!s->columns[c].is_out)
            continue;
        osc_strbuf_addf(&line, first ? ", %s" : "left out to fit the terminal: %s", name);
        first = first ? first : name;
    }
    if (first && r->note) {
        osc_strbuf_addf(&line, "; a wider one, a pipe or '--columns %s%s%s' shows them",
                        shown ? shown : "", shown ? "," : "", first);
        if (line.status == OSC_OK)
            r->note(r->ctx, line.s);
        else
            r->out.status = line.status;
    }
    osc_strbuf_fini(&line);
}

/* Compose the labels of column C, at most WIDTH wide, and widen it to them. */
static osc_status compose(struct column *column, size_t width, size_t width_symbols)
{
    const osc_status st = osc_labels_compose(&column->names, width, width_symbols);

    for (uint32_t i = 1; i <= column->names.names.n_entries && st == OSC_OK; i++) {
        const size_t columns = osc_utf8_columns(osc_labels_get(&column->names, (osc_sid){i}));

        column->width = columns > column->width ? columns : column->width;
    }
    return st;
}

/* --- lines -----------------------------------------------------------------------------------
 */

/* Write TEXT on lines of its own: a sentence, or a command. */
static void add_below(struct osc_render *r, struct osc_str text, bool is_sentence)
{
    const size_t width = r->width > 0 && r->width < BELOW_WIDTH ? r->width : BELOW_WIDTH;
    const size_t room = width > INDENT + LEAST_WIDTH ? width - INDENT : LEAST_WIDTH;

    if (text.len == 0)
        return;
    osc_strbuf_pad(&r->out, ' ', INDENT);
    if (is_sentence)
        osc_wrap_words(&r->out, text, INDENT, room, false);
    else
        osc_wrap_command(&r->out, text, INDENT,
                         r->width > INDENT ? r->width - INDENT : SIZE_MAX / 2);
    osc_strbuf_addc(&r->out, '\n');
}

/* Write TEXT to column C. A sentence in the last one is wrapped within it, so that nothing of
 * a reason or a remedy is missing; LINE is where the row began. */
static void add_cell_text(struct osc_render *r, uint32_t c, struct osc_str text, size_t line)
{
    const struct state *s = r->state;
    const struct column *column = &s->columns[c];
    const bool is_sentence = (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG) != 0;

    if (c != s->last || !is_sentence || r->width == 0 ||
        osc_utf8_columns(text) <= column->width) {
        add_padded(r, text, column, c == s->last);
        return;
    }
    const size_t indent =
        osc_utf8_columns((struct osc_str){r->out.s + line, (uint32_t)(r->out.len - line)});
    osc_wrap_words(&r->out, text, indent, column->width, true);
}

/* The text of cell C of the row whose cells begin at FIRST. */
static struct osc_str cell_text(const struct state *s, size_t first, uint32_t c)
{
    const struct text_cell *const cell = &s->held[first + c];
    const size_t start = first + c == 0 ? 0 : s->held[first + c - 1].end;

    if (s->columns[c].is_label)
        return osc_labels_get(&s->columns[c].names, cell->name);
    return (struct osc_str){s->cells.len > 0 ? s->cells.s + start : "",
                            (uint32_t)(cell->end - start)};
}

/* Find the row that begins at FIRST, with NAME instead of its name, among the rows so far, and
 * add it; *KEY: its id. *IS_NEW: none of them reads the same. */
static osc_status find_row(const struct osc_render *r, struct state *s, size_t first,
                           struct osc_str name, osc_sid *key, bool *is_new)
{
    osc_strbuf_clear(&s->scratch);
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (!is_in_line(&s->columns[c]) ||
            (c != s->name && !is_key(r->sheet->columns[c].column)))
            continue;
        osc_strbuf_addstr(&s->scratch, c == s->name ? name : cell_text(s, first, c));
        osc_strbuf_addc(&s->scratch, '\n');
    }
    if (!s->keys.arena)
        s->keys = (struct osc_intern){.arena = &s->arena, .seed = osc_hash_seed()};
    const uint32_t n_before = s->keys.n_entries;
    osc_status st =
        osc_grow(&s->numbers, &s->cap_numbers, (size_t)n_before + 2, sizeof *s->numbers);
    if (st == OSC_OK)
        st = s->scratch.status;
    if (st == OSC_OK)
        st = osc_intern_add(
            &s->keys,
            (struct osc_str){s->scratch.s ? s->scratch.s : "", (uint32_t)s->scratch.len}, key);
    *is_new = st == OSC_OK && s->keys.n_entries > n_before;
    if (*is_new)
        s->numbers[key->v] = 1;
    return st;
}

/* Whether TEXT, a name with a number, may stand for the name ID: no other one looks so. */
static osc_status find_owner(struct state *s, struct osc_str text, osc_sid id, bool *is_owner)
{
    osc_sid numbered;

    *is_owner = osc_intern_find(&s->columns[s->name].names.used, text).v == 0;
    if (!*is_owner)
        return OSC_OK;
    if (!s->numbered.arena)
        s->numbered = (struct osc_intern){.arena = &s->arena, .seed = osc_hash_seed()};
    const uint32_t n_before = s->numbered.n_entries;
    osc_status st =
        osc_grow(&s->owners, &s->cap_owners, (size_t)n_before + 2, sizeof *s->owners);
    if (st == OSC_OK)
        st = osc_intern_add(&s->numbered, text, &numbered);
    if (st != OSC_OK)
        return st;
    if (s->numbered.n_entries > n_before)
        s->owners[numbered.v] = id.v;
    *is_owner = s->owners[numbered.v] == id.v;
    return OSC_OK;
}

/* Append to OUT, which is empty, the name of a row; with a number if rows before it read the
 * same, though columns that are left out differ. */
static osc_status number_name(const struct osc_render *r, struct state *s, size_t first,
                              struct osc_strbuf *out)
{
    const struct osc_str name = cell_text(s, first, s->name);
    const size_t width = s->columns[s->name].width;
    osc_sid key, numbered;
    bool is_new;
    osc_status st = find_row(r, s, first, name, &key, &is_new);

    if (st == OSC_OK && is_new) {
        osc_strbuf_addstr(out, name);
        return out->status;
    }
    while (st == OSC_OK && !is_new) {
        char number[16];
        const int len = snprintf(number, sizeof number, " #%u", ++s->numbers[key.v]);

        osc_strbuf_clear(out);
        osc_elide(out, name, width > (size_t)len ? width - (size_t)len : 0, NULL);
        osc_strbuf_adds(out, number);
        const struct osc_str text = {out->s, (uint32_t)out->len};
        bool is_owner = false;
        st = out->status;
        if (st == OSC_OK)
            st = find_owner(s, text, s->held[first + s->name].name, &is_owner);
        if (st == OSC_OK && is_owner)
            st = find_row(r, s, first, text, &numbered, &is_new);
    }
    return st;
}

/* Append to OUT, which is empty, the name of a row after those that determined the widths: as
 * much shorter as numbers are longer than any before. */
static osc_status shorten_name(const struct osc_render *r, const struct state *s, size_t first,
                               struct osc_strbuf *out)
{
    const size_t width = s->columns[s->name].width;
    size_t excess = 0;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        const size_t columns = is_in_line(&s->columns[c]) && s->columns[c].is_right
                                   ? osc_utf8_columns(cell_text(s, first, c))
                                   : 0;

        excess += columns > s->columns[c].width ? columns - s->columns[c].width : 0;
    }
    if (excess > 0)
        osc_elide(out, cell_text(s, first, s->name), width > excess ? width - excess : 0, NULL);
    return out->status;
}

/* Print the row whose cells begin at FIRST. */
static osc_status print_row(struct osc_render *r, struct state *s, size_t first)
{
    const size_t line = r->out.len;
    struct osc_strbuf name = {0};
    osc_status st = OSC_OK;

    if (s->has_lost_keys && s->name != UINT32_MAX)
        st = number_name(r, s, first, &name);
    else if (s->is_flowing && r->width > 0 && s->name != UINT32_MAX)
        st = shorten_name(r, s, first, &name);
    for (uint32_t c = 0; c < r->sheet->n_columns && st == OSC_OK; c++) {
        const bool is_name = c == s->name && name.len > 0;

        if (is_in_line(&s->columns[c]))
            add_cell_text(r, c,
                          is_name ? (struct osc_str){name.s, (uint32_t)name.len}
                                  : cell_text(s, first, c),
                          line);
    }
    osc_strbuf_fini(&name);
    end_line(&r->out, line);
    for (uint32_t c = 0; c < r->sheet->n_columns && st == OSC_OK; c++) {
        if (s->columns[c].is_below)
            add_below(r, cell_text(s, first, c),
                      (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG) != 0);
    }
    return st == OSC_OK ? osc_render_flush(r, false) : st;
}

/* Determine the widths, by labels as long as they can be, and shorten those that do not fit.
 * Unless IS_ALL, rows follow, with larger numbers. */
static osc_status lay_out(struct osc_render *r, struct state *s, bool is_all)
{
    const size_t width_symbols = r->width > 0 ? SIZE_MAX : SYMBOL_WIDTH;
    osc_status st = OSC_OK;

    for (uint32_t c = 0; c < r->sheet->n_columns && st == OSC_OK; c++) {
        const struct osc_column *const column = r->sheet->columns[c].column;

        if (s->columns[c].is_label)
            st = compose(&s->columns[c], SIZE_MAX, width_symbols);
        else if (!is_all && r->width > 0 && column->type == OSC_TYPE_INTEGER && !column->unit)
            s->columns[c].width += MORE_DIGITS;
    }
    s->name = find_name(r, s);
    if (st == OSC_OK && r->width > 0)
        st = fit(r, s);
    for (uint32_t c = 0; c < r->sheet->n_columns && st == OSC_OK && r->width > 0; c++) {
        struct column *const column = &s->columns[c];

        if (column->is_label && is_in_line(column))
            st = osc_labels_compose(&column->names, column->width, column->width);
    }
    return st;
}

/* Print the titles and the held rows, which ARE_ALL or will be followed by others, which are
 * printed directly. */
static osc_status release(struct osc_render *r, bool are_all)
{
    struct state *s = r->state;
    osc_status st = lay_out(r, s, are_all);

    if (st == OSC_OK)
        add_titles(r);
    for (size_t first = 0; first < s->n_held_cells && st == OSC_OK;
         first += r->sheet->n_columns)
        st = print_row(r, s, first);
    s->is_flowing = true;
    s->n_held_cells = 0;
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
        const bool is_symbol = (column->flags & OSC_COLUMN_SYMBOL) && !r->has_full_names;
        const bool is_text = (column->flags & (OSC_COLUMN_LONG | OSC_COLUMN_BELOW)) != 0;

        s->columns[c] = (struct column){
            .width = strlen(column->name),
            .is_right = column->type == OSC_TYPE_INTEGER || column->type == OSC_TYPE_NUMBER,
            .is_below = (column->flags & OSC_COLUMN_BELOW) != 0,
            .is_label =
                column->type == OSC_TYPE_STRING && !is_text && (r->width > 0 || is_symbol),
        };
        s->last = s->columns[c].is_below ? s->last : c;
    }
    /* A column below needs another one above. */
    if (r->sheet->n_columns > 0)
        s->columns[s->last].is_below = false;
    return OSC_OK;
}

/* Add CELL, a name, to COLUMN. */
static osc_status add_name(const struct state *s, struct column *column,
                           const struct osc_cell *cell, bool is_symbol, osc_sid *name)
{
    if (cell->is_missing)
        return OSC_OK;
    return s->is_flowing ? osc_labels_add_late(&column->names, cell->s, is_symbol, name)
                         : osc_labels_add(&column->names, cell->s, is_symbol, name);
}

/* Add the cells of row I of ROWS to the held ones. */
static osc_status add_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                          uint64_t i)
{
    const uint32_t n = r->sheet->n_columns;
    osc_status st = osc_grow(&s->held, &s->cap_held, s->n_held_cells + n, sizeof *s->held);

    for (uint32_t c = 0; c < n && st == OSC_OK; c++) {
        const struct osc_sheet_column *sheet_column = &r->sheet->columns[c];
        const struct osc_cell cell = osc_rows_cell(rows, i, sheet_column);
        struct column *const column = &s->columns[c];
        struct text_cell *const held = &s->held[s->n_held_cells++];
        const bool is_symbol = !r->has_full_names && osc_rows_is_symbol(rows, i, sheet_column);

        *held = (struct text_cell){.end = s->cells.len};
        column->has_value |=
            !cell.is_missing && (cell.type != OSC_TYPE_STRING || cell.s.len > 0);
        column->has_news |= !cell.is_missing && (cell.i != 0 || cell.d != 0 || cell.s.len > 0);
        if (column->is_label) {
            st = add_name(s, column, &cell, is_symbol, &held->name);
        } else {
            add_cell(&s->cells, &cell, sheet_column->column);
            held->end = s->cells.len;
            st = s->cells.status;
        }
    }
    return st;
}

static osc_status hold_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                           uint64_t i)
{
    const size_t first = s->n_held_cells;
    const osc_status st = add_row(r, s, rows, i);

    for (uint32_t c = 0; st == OSC_OK && c < r->sheet->n_columns; c++) {
        if (s->columns[c].is_label)
            continue;
        const size_t width = osc_utf8_columns(cell_text(s, first, c));

        if (width > s->columns[c].width)
            s->columns[c].width = width;
    }
    s->n_held++;
    return st;
}

static osc_status flow_row(struct osc_render *r, struct state *s, const struct osc_rows *rows,
                           uint64_t i)
{
    osc_strbuf_clear(&s->cells);
    s->n_held_cells = 0;
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
            st = release(r, false);
    }
    return st;
}

/* Write a note, wrapped between words if there is a terminal. */
static void add_note(struct osc_render *r, struct osc_str note)
{
    struct osc_strbuf text = {0};

    osc_utf8_append_terminal(&text, note);
    osc_strbuf_adds(&r->out, "note: ");
    osc_wrap_words(&r->out, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len}, 6,
                   r->width > 6 + LEAST_WIDTH ? r->width - 6 : SIZE_MAX, false);
    osc_strbuf_addc(&r->out, '\n');
    if (text.status != OSC_OK)
        r->out.status = text.status;
    osc_strbuf_fini(&text);
}

static osc_status end(struct osc_render *r)
{
    struct state *s = r->state;
    const struct osc_sheet *sheet = r->sheet;
    osc_status st = s->is_flowing ? OSC_OK : release(r, true);

    if (r->n_rows == 0)
        osc_strbuf_adds(&r->out, "(no rows)\n");
    if (sheet->n_more > 0)
        osc_strbuf_addf(&r->out, "%llu more %s; --limit 0 shows all\n",
                        (unsigned long long)sheet->n_more, sheet->n_more == 1 ? "row" : "rows");
    const char *line = sheet->notes.len > 0 ? sheet->notes.s : "";
    while (*line) {
        const char *eol = strchrnul(line, '\n');

        add_note(r, (struct osc_str){line, (uint32_t)(eol - line)});
        line = *eol ? eol + 1 : eol;
    }
    if (st == OSC_OK)
        st = osc_render_flush(r, true);
    if (st == OSC_OK && r->n_rows > 0)
        note_left_out(r);
    return st;
}

static void fini(struct osc_render *r)
{
    struct state *s = r->state;

    if (!s)
        return;
    for (uint32_t c = 0; s->columns && c < r->sheet->n_columns; c++)
        osc_labels_fini(&s->columns[c].names);
    osc_free(s->columns);
    osc_free(s->held);
    osc_free(s->numbers);
    osc_free(s->owners);
    osc_intern_fini(&s->numbered);
    osc_intern_fini(&s->keys);
    osc_arena_fini(&s->arena);
    osc_strbuf_fini(&s->cells);
    osc_strbuf_fini(&s->scratch);
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
