/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: aligned columns, numbers with units, at most as wide as the terminal.
 * Widths are computed from the first rows, which are held back; a longer number in a later row
 * shifts the rest of its line to the right, and its name is as much shorter. Names are labels
 * (labels.h); where the terminal is too narrow they are cut, and columns left out (fit.h):
 * first those that say nothing in the first rows, then the minor ones, then the others from the
 * right. What rows are grouped by, and what else tells them apart (keys.h), goes last. Where a
 * column has the names of all that another one numbers, the names count for it.
 */
#include "render/renderers.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "names/elide.h"
#include "render/alike.h"
#include "render/cell.h"
#include "render/fit.h"
#include "render/hidden_rows.h"
#include "render/keys.h"
#include "render/wrap.h"

#define HELD_ROWS   8192 /* rows that determine the widths */
#define LEAST_WIDTH 12   /* other names are never cut below this width */
#define KEY_WIDTH   20   /* nor those that tell rows apart below this one, */
#define HARD_WIDTH  8    /* or this if they would go otherwise */
#define NAME_WIDTH  32   /* nor those of the column of names below this */
#define TITLE_WIDTH 6    /* titles of keys neither, below this one */
#define SENTENCE    16 /* a sentence in the last column is wrapped at this width or a larger */
#define BELOW_WIDTH 80 /* sentences are wrapped at this width, or at a narrower terminal */
#define MORE_DIGITS 3  /* of numbers such as ids in later rows */
#define INDENT      4  /* of lines below a row */

struct column {
    size_t width;            /* columns of a terminal */
    size_t cells;            /* the same without the title */
    bool is_right;           /* numbers */
    bool is_below;           /* printed on lines below, not in the columns */
    bool is_out;             /* left out: the terminal is too narrow */
    bool is_label;           /* cells are names */
    bool differs;            /* held cells are not all the same */
    bool is_needed;          /* rows would read alike without it */
    bool has_value;          /* some held cell is not missing; */
    bool has_news;           /* and not zero or false */
    bool is_named;           /* another column has a name for each of its cells */
    uint32_t named;          /* the column of which this one has the names, + 1; 0: none */
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

    bool has_lost_keys;     /* columns that tell rows apart are left out */
    struct osc_alike alike; /* rows that read alike then */
    uint64_t deep;          /* bits of columns that text does not show, but that have values */
};

/* Whether COLUMN tells rows apart. */
static bool is_key(const struct osc_sheet_column *column)
{
    return column->is_asked || column->column->merge == OSC_MERGE_KEY;
}

/* Whether column C tells rows apart, itself or for the column that it names. */
static bool tells_apart(const struct osc_render *r, const struct state *s, uint32_t c)
{
    return s->columns[c].named > 0 || is_key(&r->sheet->columns[c]);
}

/* Whether rows are grouped by column C, or by what it names. */
static bool is_wanted(const struct osc_render *r, const struct state *s, uint32_t c)
{
    const uint32_t named = s->columns[c].named;

    return named > 0 ? r->sheet->columns[named - 1].is_asked
                     : r->sheet->columns[c].is_asked && !s->columns[c].is_named;
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

static osc_status add_titles(struct osc_render *r)
{
    const struct state *s = r->state;
    struct osc_strbuf title = {0};

    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[1m");
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (!is_in_line(&s->columns[c]))
            continue;
        osc_strbuf_clear(&title);
        osc_elide(&title, osc_str_c(r->sheet->columns[c].column->name), s->columns[c].width,
                  NULL);
        add_padded(r, (struct osc_str){title.s ? title.s : "", (uint32_t)title.len},
                   &s->columns[c], c == s->last);
    }
    if (r->has_colour)
        osc_strbuf_adds(&r->out, "\x1b[0m");
    osc_strbuf_addc(&r->out, '\n');
    const osc_status st = title.status;
    osc_strbuf_fini(&title);
    return st;
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

/* --- widths ----------------------------------------------------------------------------- */

/* The column of names: the first that is called so, else the widest of labels. */
static uint32_t find_name(const struct osc_render *r, const struct state *s)
{
    uint32_t widest = UINT32_MAX;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (!s->columns[c].is_label)
            continue;
        if (osc_keys_is_name(r->sheet->columns[c].column->name))
            return c;
        if (s->columns[c].has_value &&
            (widest == UINT32_MAX || s->columns[c].width > s->columns[widest].width))
            widest = c;
    }
    return widest;
}

/* How important column C is: those that say nothing are the least, what rows are grouped by and
 * the name are the most. */
static unsigned importance(const struct osc_render *r, const struct state *s, uint32_t c)
{
    const struct osc_sheet_column *const shown = &r->sheet->columns[c];
    const struct osc_column *const column = shown->column;

    if (c == s->name)
        return OSC_FIT_VITAL + 2;
    if (!s->columns[c].has_value)
        return 0;
    if (is_wanted(r, s, c))
        return OSC_FIT_VITAL + 1;
    if (s->columns[c].is_needed)
        return OSC_FIT_VITAL;
    if (s->columns[c].is_named)
        return 2;
    if (shown->index >= 0 && (uint32_t)shown->index + 1 == r->sheet->def->sorted_by)
        return OSC_FIT_IMPORTANT + 1;
    if (tells_apart(r, s, c))
        return s->columns[c].differs ? OSC_FIT_IMPORTANT : 5;
    if (!s->columns[c].has_news)
        return 1;
    if (column->flags & OSC_COLUMN_MINOR)
        return 2;
    return (column->flags & OSC_COLUMN_LONG) || strcmp(column->name, "calls") == 0 ? 4 : 3;
}

/* The widths down to which column C may be narrowed: LEAST. */
static void set_least(const struct osc_render *r, const struct state *s, uint32_t c,
                      size_t least[OSC_FIT_LEVELS])
{
    const struct column *const column = &s->columns[c];
    const size_t title = strlen(r->sheet->columns[c].column->name);
    const bool may_be_cut = tells_apart(r, s, c);
    size_t easy = column->width, tight = column->width;

    if (c == s->name) {
        easy = r->width * 2 / 5 > NAME_WIDTH ? r->width * 2 / 5 : NAME_WIDTH;
        tight = NAME_WIDTH;
    } else if (column->is_label) {
        easy = may_be_cut ? KEY_WIDTH : LEAST_WIDTH;
        tight = LEAST_WIDTH;
    } else if (r->sheet->columns[c].column->flags & OSC_COLUMN_LONG) {
        easy = tight = SENTENCE;
    } else if (may_be_cut) {
        tight = column->cells > TITLE_WIDTH ? column->cells : TITLE_WIDTH;
    }
    least[OSC_FIT_EASY] = easy > title ? easy : title;
    least[OSC_FIT_TIGHT] = tight > title || may_be_cut ? tight : title;
    least[OSC_FIT_HARD] =
        column->is_label && may_be_cut && c != s->name ? HARD_WIDTH : least[OSC_FIT_TIGHT];
    least[OSC_FIT_UTMOST] = c == s->name ? LEAST_WIDTH : least[OSC_FIT_HARD];
    for (size_t level = 0; level < OSC_FIT_LEVELS; level++)
        least[level] = least[level] < column->width ? least[level] : column->width;
}

/* Whether the table has columns that are keys; if not, any may tell rows apart. */
static bool has_keys(const struct osc_render *r)
{
    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (r->sheet->columns[c].index >= 0 && is_key(&r->sheet->columns[c]))
            return true;
    }
    return false;
}

/* Find columns with names of what keys only number: names for all held rows. */
static void find_named(const struct osc_render *r, struct state *s)
{
    const uint32_t n = r->sheet->n_columns;

    for (uint32_t c = 1; c < n; c++) {
        const uint32_t key = c - 1; /* names stand behind their numbers */
        uint32_t row = 0;

        if (!s->columns[c].is_label || !is_key(&r->sheet->columns[key]) ||
            !osc_keys_is_name_of(r->sheet->columns[c].column->name,
                                 r->sheet->columns[key].column->name))
            continue;
        while (row < s->n_held && cell_text(s, (size_t)row * n, c).len > 0)
            row++;
        s->columns[key].is_named = row == s->n_held;
        s->columns[c].named = row == s->n_held ? key + 1 : 0;
    }
}

/* List the columns that may tell rows apart in AT; those that others name are the last. */
static uint32_t list_keys(const struct osc_render *r, const struct state *s,
                          uint32_t at[OSC_KEYS_MAX])
{
    const bool all_count = !has_keys(r);
    uint32_t n_keys = 0;

    for (int are_named = 0; are_named < 2; are_named++) {
        for (uint32_t c = 0; c < r->sheet->n_columns && n_keys < OSC_KEYS_MAX; c++) {
            if (!s->columns[c].is_below && s->columns[c].is_named == (are_named == 1) &&
                (all_count || c == s->name || tells_apart(r, s, c)))
                at[n_keys++] = c;
        }
    }
    return n_keys;
}

/* Find the columns without which held rows would read alike; unless they ARE_ALL, other keys
 * may be needed by later ones, too. */
static osc_status find_needed(const struct osc_render *r, struct state *s, bool are_all)
{
    const uint32_t n = r->sheet->n_columns, n_rows = s->n_held;
    uint32_t at[OSC_KEYS_MAX];
    uint64_t always = 0, needed = 0;

    find_named(r, s);
    const uint32_t n_keys = list_keys(r, s, at);
    for (uint32_t k = 0; k < n_keys; k++) {
        if (at[k] == s->name || is_wanted(r, s, at[k]))
            always |= UINT64_C(1) << k;
    }
    uint64_t *const cells = osc_calloc((size_t)n_rows * n_keys + 1, sizeof *cells);
    if (!cells)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n_rows; i++) {
        for (uint32_t k = 0; k < n_keys; k++) {
            const struct osc_str text = cell_text(s, (size_t)i * n, at[k]);

            cells[(size_t)i * n_keys + k] = osc_hash(text.s, text.len, k);
            s->columns[at[k]].differs |= cells[(size_t)i * n_keys + k] != cells[k];
        }
    }
    const osc_status st = osc_keys_find(cells, n_rows, n_keys, always, &needed);
    for (uint32_t k = 0; k < n_keys && st == OSC_OK; k++) {
        const struct osc_sheet_column *const column = &r->sheet->columns[at[k]];

        s->columns[at[k]].is_needed =
            (needed >> k & 1) ||
            (!are_all && is_key(column) && (s->columns[at[k]].differs || column->index < 0));
    }
    osc_free(cells);
    return st;
}

/* Narrow columns until a line fits, and leave some out. */
static osc_status fit(struct osc_render *r, struct state *s)
{
    const uint32_t n = r->sheet->n_columns;
    struct osc_fit_column *const columns = osc_calloc((size_t)n + 1, sizeof *columns);

    if (!columns)
        return OSC_ENOMEM;
    for (uint32_t c = 0; c < n; c++) {
        columns[c] = (struct osc_fit_column){.width = s->columns[c].width,
                                             .importance = importance(r, s, c),
                                             .is_out = s->columns[c].is_below};
        set_least(r, s, c, columns[c].least);
    }
    osc_fit(columns, n, r->width);
    for (uint32_t c = 0; c < n; c++) {
        struct column *const column = &s->columns[c];

        column->is_out = columns[c].is_out && !column->is_below;
        column->width = columns[c].width;
        s->has_lost_keys |= column->is_out && is_key(&r->sheet->columns[c]) && has_keys(r);
        s->last = is_in_line(column) ? c : s->last;
    }
    osc_free(columns);
    return OSC_OK;
}

/* A column to show beside one that is left out: that of names. */
static const char *beside(const struct osc_render *r)
{
    const struct state *const s = r->state;
    const char *shown = "";

    for (uint32_t c = r->sheet->n_columns; c-- > 0;) {
        if (is_in_line(&s->columns[c]) && r->sheet->columns[c].index >= 0)
            shown = r->sheet->columns[c].column->name;
    }
    return s->name != UINT32_MAX && is_in_line(&s->columns[s->name])
               ? r->sheet->columns[s->name].column->name
               : shown;
}

/* Tell that the columns LIST, of which FIRST is the first, are missing WHERE; WHAT shows them.
 */
static void note_columns(struct osc_render *r, const struct osc_strbuf *list, const char *first,
                         const char *where, const char *what)
{
    struct osc_strbuf line = {0};
    const char *const shown = beside(r);

    if (!first || !r->note)
        return;
    osc_strbuf_addf(&line, "%s: %s; %s '--columns %s%s%s' shows them", where,
                    list->s ? list->s : "", what, shown, *shown ? "," : "", first);
    if (list->status == OSC_OK && line.status == OSC_OK)
        r->note(r->ctx, line.s);
    else
        r->out.status = OSC_ENOMEM;
    osc_strbuf_fini(&line);
}

static void add_to_list(struct osc_strbuf *list, const char **first, const char *name)
{
    osc_strbuf_adds(list, *first ? ", " : "");
    osc_strbuf_adds(list, name);
    *first = *first ? *first : name;
}

/* Tell which columns were left out. */
static void note_left_out(struct osc_render *r)
{
    const struct state *const s = r->state;
    struct osc_strbuf narrow = {0}, deep = {0};
    const char *first_narrow = NULL, *first_deep = NULL;

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (s->columns[c].is_out)
            add_to_list(&narrow, &first_narrow, r->sheet->columns[c].column->name);
    }
    for (uint32_t c = 0; c < r->sheet->def->n_columns; c++) {
        if (s->deep >> c & 1)
            add_to_list(&deep, &first_deep, r->sheet->def->columns[c].name);
    }
    note_columns(r, &narrow, first_narrow, "left out to fit the terminal",
                 "a wider one, a pipe or");
    note_columns(r, &deep, first_deep, "left out of text", "any other --format or");
    osc_strbuf_fini(&narrow);
    osc_strbuf_fini(&deep);
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

/* --- lines ------------------------------------------------------------------------------ */

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

/* Append to OUT, which is empty, the name of a row; with a number if rows before it read the
 * same, though columns that are left out differ. */
static osc_status number_name(const struct osc_render *r, struct state *s, size_t first,
                              struct osc_strbuf *out)
{
    const struct column *const column = &s->columns[s->name];
    struct osc_strbuf others = {0};

    for (uint32_t c = 0; c < r->sheet->n_columns; c++) {
        if (c == s->name || !is_in_line(&s->columns[c]) || !tells_apart(r, s, c))
            continue;
        osc_strbuf_addstr(&others, cell_text(s, first, c));
        osc_strbuf_addc(&others, '\n');
    }
    osc_status st = others.status;
    if (st == OSC_OK)
        st = osc_alike_name(&s->alike, &column->names, s->held[first + s->name].name,
                            (struct osc_str){others.s ? others.s : "", (uint32_t)others.len},
                            column->width, out);
    osc_strbuf_fini(&others);
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

/* Make room in COLUMN, numbers, for larger ones. */
static void add_digits(struct column *column)
{
    column->width += MORE_DIGITS;
    column->cells += MORE_DIGITS;
}

/* Determine the widths, by labels as long as they can be, and shorten those that do not fit.
 * Unless IS_ALL, rows follow, with larger numbers. */
static osc_status lay_out(struct osc_render *r, struct state *s, bool is_all)
{
    const size_t width_symbols = r->width > 0 ? SIZE_MAX : OSC_LABELS_WIDTH;
    osc_status st = OSC_OK;

    for (uint32_t c = 0; c < r->sheet->n_columns && st == OSC_OK; c++) {
        const struct osc_column *const column = r->sheet->columns[c].column;

        if (s->columns[c].is_label)
            st = compose(&s->columns[c], SIZE_MAX, width_symbols);
        else if (!is_all && r->width > 0 && column->type == OSC_TYPE_INTEGER && !column->unit)
            add_digits(&s->columns[c]);
    }
    s->name = find_name(r, s);
    if (st == OSC_OK && r->width > 0)
        st = find_needed(r, s, is_all);
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
        st = add_titles(r);
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
        const bool is_symbol =
            !r->has_full_names && (osc_rows_is_symbol(rows, i, sheet_column) ||
                                   ((sheet_column->column->flags & OSC_COLUMN_SYMBOL) &&
                                    osc_symbol_is_function(cell.s)));

        *held = (struct text_cell){.end = s->cells.len};
        column->has_value |=
            !cell.is_missing && (cell.type != OSC_TYPE_STRING || cell.s.len > 0);
        column->has_news |= !cell.is_missing && (cell.i != 0 || cell.d != 0 || cell.s.len > 0);
        if (column->is_label) {
            st = add_name(s, column, &cell, is_symbol, &held->name);
        } else {
            osc_cell_write(&s->cells, &cell, sheet_column->column);
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

        if (width > s->columns[c].cells)
            s->columns[c].cells = width;
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

/* Note which of the columns that text does not show have values in ROWS. */
static void find_deep(struct osc_render *r, const struct osc_rows *rows)
{
    struct state *const s = r->state;

    for (uint32_t c = 0; c < r->sheet->def->n_columns; c++) {
        if (!(r->sheet->deep >> c & 1))
            continue;
        for (uint64_t i = 0; i < rows->n_rows && !(s->deep >> c & 1); i++) {
            const uint64_t row = rows->order ? rows->order[i] : i;

            s->deep |= (uint64_t)osc_result_has(rows->result, row, c) << c;
        }
    }
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    struct state *s = r->state;
    osc_status st = OSC_OK;

    find_deep(r, rows);
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
    if (sheet->n_more > 0 || sheet->n_alike > 0)
        osc_hidden_rows_add(&r->out, sheet, r->width > 0 ? r->width : SIZE_MAX);
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
    osc_alike_fini(&s->alike);
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
