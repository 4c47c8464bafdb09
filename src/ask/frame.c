/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/frame.h"

#include <stdatomic.h>
#include <string.h>

#include "ask/files/fingerprint.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

struct column {
    struct osc_sheet_column source;
    char *help;        /* owned */
    void *values;      /* owned; in the layout of osc_frame_column */
    uint8_t *missing;  /* owned; NULL: no cell is missing */
    size_t cap_values; /* rows */
    uint64_t n_missing;
    struct osc_intern words; /* while rows are added, values are ids in it */
    bool has_empty;          /* the empty word, id 0 in words, occurs */
    struct osc_str last;     /* the word of the last row, and its id */
    uint32_t last_id;
    struct osc_strbuf bytes; /* of the words, once all rows are added */
    int64_t *offsets;        /* owned; n_words + 1 */
    uint32_t n_words;
};

struct osc_frame {
    atomic_uint n_holders;
    const struct osc_table_def *def;
    struct column *columns; /* owned; a column of questions stands behind those of the sheet */
    uint32_t n_columns;
    bool has_questions;
    uint64_t n_rows;
    uint32_t *made; /* owned; see osc_frame_made() */
    size_t cap_made;
    struct osc_arena arena; /* bytes of words, while rows are added */
    struct osc_strbuf notes;
    char fingerprint[OSC_FINGERPRINT_BYTES];
};

static size_t width_of(enum osc_type type)
{
    static const size_t widths[] = {[OSC_TYPE_STRING] = sizeof(int32_t),
                                    [OSC_TYPE_INTEGER] = sizeof(int64_t),
                                    [OSC_TYPE_NUMBER] = sizeof(double),
                                    [OSC_TYPE_BOOLEAN] = sizeof(uint8_t)};

    return widths[type];
}

static void free_frame(struct osc_frame *f)
{
    for (uint32_t c = 0; c < f->n_columns; c++) {
        struct column *const col = &f->columns[c];

        osc_free(col->help);
        osc_free(col->values);
        osc_free(col->missing);
        osc_free(col->offsets);
        osc_intern_fini(&col->words);
        osc_strbuf_fini(&col->bytes);
    }
    osc_free(f->columns);
    osc_free(f->made);
    osc_arena_fini(&f->arena);
    osc_strbuf_fini(&f->notes);
    osc_free(f);
}

/* --- filling ------------------------------------------------------------------------ */

struct filling {
    struct osc_frame *frame;
    struct osc_strbuf text; /* scratch */
    uint64_t n_left;        /* rows that are still to be taken; further ones are not made */
};

/* The id of STR among the words of COL. */
static osc_status find_word(struct filling *l, struct column *col, struct osc_str str,
                            uint32_t *id)
{
    const struct osc_str as_is = str;
    osc_sid sid;
    osc_status st = OSC_OK;

    if (str.s == col->last.s && str.len == col->last.len) {
        *id = col->last_id;
        return OSC_OK;
    }
    if (!osc_utf8_valid(str.s, str.len)) {
        osc_strbuf_clear(&l->text);
        osc_utf8_append_clean(&l->text, str);
        if (l->text.status != OSC_OK)
            return l->text.status;
        str = (struct osc_str){l->text.s, (uint32_t)l->text.len};
    }
    col->has_empty |= str.len == 0;
    st = osc_intern_add(&col->words, str, &sid);
    *id = sid.v;
    col->last = as_is;
    col->last_id = sid.v;
    return st;
}

static osc_status mark_missing(struct column *col, uint64_t row)
{
    if (!col->missing) {
        col->missing = osc_calloc(col->cap_values, 1);
        if (!col->missing)
            return OSC_ENOMEM;
    }
    col->missing[row] = 1;
    col->n_missing++;
    return OSC_OK;
}

static osc_status put_cell(struct filling *l, struct column *col, uint64_t row,
                           const struct osc_cell *cell)
{
    uint32_t id = 0;
    osc_status st = OSC_OK;

    switch (col->source.column->type) {
    case OSC_TYPE_INTEGER:
        ((int64_t *)col->values)[row] = cell->is_missing ? 0 : cell->i;
        break;
    case OSC_TYPE_NUMBER:
        ((double *)col->values)[row] = cell->is_missing ? 0 : cell->d;
        break;
    case OSC_TYPE_BOOLEAN:
        ((uint8_t *)col->values)[row] = !cell->is_missing && cell->i != 0;
        break;
    case OSC_TYPE_STRING:
        if (!cell->is_missing)
            st = find_word(l, col, cell->s, &id);
        ((uint32_t *)col->values)[row] = id;
        break;
    }
    return st == OSC_OK && cell->is_missing ? mark_missing(col, row) : st;
}

/* Make room for N rows in COL. New rows are marked as not missing. */
static osc_status make_room(struct column *col, uint64_t n)
{
    const size_t before = col->cap_values;
    osc_status st = OSC_OK;

    if (n > SIZE_MAX / sizeof(int64_t))
        return OSC_ENOMEM;
    st =
        osc_grow(&col->values, &col->cap_values, (size_t)n, width_of(col->source.column->type));
    if (st == OSC_OK && col->missing && col->cap_values > before) {
        uint8_t *const missing = osc_realloc(col->missing, col->cap_values);

        if (!missing)
            return OSC_ENOMEM;
        memset(missing + before, 0, col->cap_values - before);
        col->missing = missing;
    }
    return st;
}

/* Note for the N ROWS where they were before they were sorted. */
static osc_status note_made(struct osc_frame *f, const struct osc_rows *rows, uint64_t n)
{
    const osc_status st =
        n > SIZE_MAX / sizeof *f->made
            ? OSC_ENOMEM
            : osc_grow(&f->made, &f->cap_made, (size_t)(f->n_rows + n), sizeof *f->made);

    for (uint64_t i = 0; i < n && st == OSC_OK; i++)
        f->made[f->n_rows + i] = rows->order ? rows->order[i] : (uint32_t)i;
    return st;
}

static osc_status add_rows(void *ctx, const struct osc_rows *rows)
{
    struct filling *const l = ctx;
    struct osc_frame *const f = l->frame;
    const uint64_t n = l->n_left < rows->n_rows ? l->n_left : rows->n_rows;

    for (uint32_t c = 0; c < f->n_columns; c++) {
        struct column *const col = &f->columns[c];
        osc_status st = make_room(col, f->n_rows + n);

        col->last = (struct osc_str){0};
        for (uint64_t i = 0; i < n && st == OSC_OK; i++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &col->source);

            st = put_cell(l, col, f->n_rows + i, &cell);
        }
        if (st != OSC_OK)
            return st;
    }
    const osc_status st = f->def->stream ? OSC_OK : note_made(f, rows, n);
    if (st != OSC_OK)
        return st;
    f->n_rows += n;
    l->n_left -= n;
    return l->n_left == 0 ? OSC_ECANCELED : OSC_OK;
}

/* --- finishing ------------------------------------------------------------------------ */

/* Store the words of COL one after the other, and replace ids by codes. */
static osc_status finish_words(struct column *col, uint64_t n_rows)
{
    uint32_t *const ids = col->values;
    const uint32_t first = col->has_empty ? 0 : 1;

    if (col->words.n_entries >= INT32_MAX)
        return OSC_ELIMIT;
    col->n_words = col->words.n_entries + 1 - first;
    col->offsets = osc_calloc((size_t)col->n_words + 1, sizeof *col->offsets);
    if (!col->offsets)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < col->n_words; i++) {
        osc_strbuf_addstr(&col->bytes, osc_intern_str(&col->words, (osc_sid){i + first}));
        col->offsets[i + 1] = (int64_t)col->bytes.len;
    }
    for (uint64_t i = 0; i < n_rows; i++) {
        const bool is_missing = col->missing && col->missing[i];
        const int32_t code = is_missing ? -1 : (int32_t)(ids[i] - first);

        memcpy(&ids[i], &code, sizeof code);
    }
    osc_intern_fini(&col->words);
    return col->bytes.status;
}

/* Shrink the arrays of COL to N_ROWS rows. */
static void trim(struct column *col, uint64_t n_rows)
{
    const size_t width = width_of(col->source.column->type);
    void *const values = n_rows > 0 ? osc_realloc(col->values, (size_t)n_rows * width) : NULL;

    if (values)
        col->values = values;
}

static osc_status finish(struct osc_frame *f, struct osc_asked *k)
{
    osc_status st = OSC_OK;

    for (uint32_t c = 0; c < f->n_columns && st == OSC_OK; c++) {
        struct column *const col = &f->columns[c];
        struct osc_strbuf help = {0};

        if (col->source.column->type == OSC_TYPE_STRING)
            st = finish_words(col, f->n_rows);
        trim(col, f->n_rows);
        osc_sheet_add_help(&help, f->def, col->source.column);
        osc_strbuf_addc(&help, '\0');
        col->help = help.s;
        if (st == OSC_OK)
            st = help.status;
    }
    osc_arena_fini(&f->arena);
    if (k->answer.sheet.notes.len > 0)
        osc_strbuf_add(&f->notes, k->answer.sheet.notes.s, k->answer.sheet.notes.len);
    osc_strbuf_addc(&f->notes, '\0');
    return st == OSC_OK ? f->notes.status : st;
}

static void add_column(struct osc_frame *f, struct osc_sheet_column source)
{
    struct column *const col = &f->columns[f->n_columns++];

    col->source = source;
    col->words = (struct osc_intern){.arena = &f->arena, .seed = osc_hash_seed()};
}

static osc_status prepare(struct osc_frame *f, const struct osc_sheet *sheet)
{
    const struct osc_table_def *const def = f->def;

    f->columns = osc_calloc((size_t)sheet->n_columns + 1, sizeof *f->columns);
    if (!f->columns)
        return OSC_ENOMEM;
    for (uint32_t c = 0; c < sheet->n_columns; c++)
        add_column(f, sheet->columns[c]);
    for (uint32_t c = 0; c < def->n_columns && !f->has_questions; c++) {
        f->has_questions = (def->columns[c].flags & OSC_COLUMN_QUESTION) != 0;
        if (f->has_questions)
            add_column(f, (struct osc_sheet_column){&def->columns[c], (int32_t)c, false});
    }
    return OSC_OK;
}

osc_status osc_frame_make(struct osc_frame **to, struct osc_asked *k, struct osc_window *window,
                          const struct osc_digest *files, struct osc_err *err)
{
    struct osc_frame *const f = osc_calloc(1, sizeof *f);
    struct filling l = {.frame = f, .n_left = UINT64_MAX};
    osc_status st = f ? OSC_OK : OSC_ENOMEM;

    *to = NULL;
    if (st == OSC_OK) {
        atomic_store_explicit(&f->n_holders, 1, memory_order_relaxed); /* nobody else has it */
        f->def = k->def;
        osc_fingerprint_text(f->fingerprint, files);
        st = prepare(f, &k->answer.sheet);
    }
    if (window && k->answer.is_stream) {
        k->query.n_skipped = window->first;
        l.n_left = window->n;
    } else if (window) {
        window->first = 0;
    }
    if (st == OSC_OK)
        st = osc_answer_rows(&k->query, &k->answer, add_rows, &l, err);
    if (st == OSC_ECANCELED && l.n_left == 0)
        st = OSC_OK;
    if (st == OSC_OK && window)
        window->n_all = k->answer.is_stream ? osc_answer_count_stream(&k->query, &k->answer)
                                            : f->n_rows + k->answer.sheet.n_more;
    if (st == OSC_OK)
        st = finish(f, k);
    osc_strbuf_fini(&l.text);
    if (st == OSC_OK)
        *to = f;
    else if (f)
        free_frame(f);
    return st;
}

/* --- reading -------------------------------------------------------------------------- */

struct osc_frame *osc_frame_hold(struct osc_frame *f)
{
    if (f) /* relaxed: the caller already has access through its own reference */
        atomic_fetch_add_explicit(&f->n_holders, 1, memory_order_relaxed);
    return f;
}

void osc_frame_release(struct osc_frame *f)
{
    /* Pairs with itself: all reads by other holders happen before the last one frees it. */
    if (f && atomic_fetch_sub_explicit(&f->n_holders, 1, memory_order_acq_rel) == 1)
        free_frame(f);
}

const char *osc_frame_name(const struct osc_frame *f)
{
    return f->def->name;
}

const char *osc_frame_fingerprint(const struct osc_frame *f)
{
    return f->fingerprint;
}

const char *osc_frame_notes(const struct osc_frame *f)
{
    return f->notes.s;
}

const uint32_t *osc_frame_made(const struct osc_frame *f)
{
    return f->made;
}

uint64_t osc_frame_rows(const struct osc_frame *f)
{
    return f->n_rows;
}

size_t osc_frame_columns(const struct osc_frame *f)
{
    return f->n_columns - f->has_questions;
}

bool osc_frame_question(const struct osc_frame *f, uint64_t row, struct osc_str *words)
{
    const struct column *const col = &f->columns[f->n_columns - 1];
    const int32_t code = f->has_questions ? ((const int32_t *)col->values)[row] : -1;

    *words = (struct osc_str){0};
    if (code >= 0) {
        const int64_t from = col->offsets[code];

        *words =
            (struct osc_str){col->bytes.s + from, (uint32_t)(col->offsets[code + 1] - from)};
    }
    return f->has_questions;
}

struct osc_frame_column osc_frame_column_at(const struct osc_frame *f, size_t i)
{
    const struct column *const col = &f->columns[i];

    return (struct osc_frame_column){
        .name = col->source.column->name,
        .unit = col->source.column->unit,
        .help = col->help,
        .type = col->source.column->type,
        .values = col->values,
        .missing = col->missing,
        .n_missing = col->n_missing,
        .word_bytes = col->bytes.s,
        .word_offsets = col->offsets,
        .n_words = col->n_words,
    };
}
