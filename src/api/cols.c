/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cols.h"

#include <string.h>

#include "ask/frame.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/wide.h"
#include "codec/json.h"
#include "names/labels.h"
#include "names/symbol.h"
#include "table/question.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "values are copied as they are: they must be little-endian"
#endif

#define SCHEMA      1
#define FRONT_BYTES 16u
#define EXACT_MAX   (INT64_C(1) << 53)

struct writing {
    const struct osc_cols *is;
    uint64_t n;             /* rows */
    struct osc_strbuf head; /* JSON */
    struct osc_strbuf data;
    struct osc_arena arena;  /* bytes of words */
    struct osc_intern words; /* ids are indexes: 0 is the empty word */
};

/* Where the next array begins in the data, which are padded to there. */
static size_t begin_array(struct writing *w)
{
    osc_strbuf_pad(&w->data, '\0', -w->data.len & 7);
    return w->data.len;
}

/* Append the rows here of the array P, whose elements have SIZE bytes. */
static void add_array(struct writing *w, const void *p, size_t size)
{
    if (w->n > 0)
        osc_strbuf_add(&w->data, (const char *)p + w->is->offset * size, w->n * size);
}

static void add_text(struct osc_strbuf *out, const char *text)
{
    if (text)
        osc_json_quote(out, osc_str_c(text));
    else
        osc_strbuf_adds(out, "null");
}

/* Whether all integers of COL here are exact as doubles. */
static bool fits_numbers(const struct writing *w, const struct osc_frame_column *col)
{
    const int64_t *const v = col->values;

    for (uint64_t i = w->is->offset; i < w->is->offset + w->n; i++)
        if (v[i] > EXACT_MAX || v[i] < -EXACT_MAX)
            return false;
    return true;
}

static const char *add_integers(struct writing *w, const struct osc_frame_column *col)
{
    const int64_t *const v = col->values;

    if (!w->is->has_numbers || !fits_numbers(w, col)) {
        add_array(w, v, sizeof *v);
        return "BigInt64Array";
    }
    for (uint64_t i = 0; i < w->n; i++) {
        const double d = (double)v[w->is->offset + i];

        osc_strbuf_put(&w->data, (const char *)&d, sizeof d);
    }
    return "Float64Array";
}

/* Word I of COL. */
static struct osc_str word_of(const struct osc_frame_column *col, uint32_t i)
{
    const int64_t from = col->word_offsets[i];

    return (struct osc_str){col->word_bytes + from,
                            (uint32_t)(col->word_offsets[i + 1] - from)};
}

/* Append the indexes of the words of COL. */
static osc_status add_words(struct writing *w, const struct osc_frame_column *col)
{
    const int32_t *const codes = col->values;
    uint32_t index = 0;
    int32_t last = -1;

    for (uint64_t i = 0; i < w->n; i++) {
        const int32_t code = codes[w->is->offset + i];

        if (code >= 0 && code != last) {
            osc_sid id;
            const osc_status st = osc_intern_add(&w->words, word_of(col, (uint32_t)code), &id);

            if (st != OSC_OK)
                return st;
            index = id.v; /* 0 is the empty word, which is word 0 */
            last = code;
        }
        const uint32_t here = code < 0 ? 0 : index;
        osc_strbuf_put(&w->data, (const char *)&here, sizeof here);
    }
    return OSC_OK;
}

/* Append the sum of COL over all rows of the answer. */
static void add_sum(struct writing *w, const struct osc_frame_column *col)
{
    const uint64_t n = osc_frame_rows(w->is->frame);
    osc_wide whole = 0;
    double sum = 0;

    osc_strbuf_adds(&w->head, ", \"sum\": ");
    if (w->is->n_all != n || w->is->first != 0 ||
        (col->type != OSC_TYPE_INTEGER && col->type != OSC_TYPE_NUMBER)) {
        osc_strbuf_adds(&w->head, "null");
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (col->missing && col->missing[i])
            continue;
        if (col->type == OSC_TYPE_INTEGER)
            whole += ((const int64_t *)col->values)[i];
        else
            sum += ((const double *)col->values)[i];
    }
    osc_strbuf_addc(&w->head, '"');
    if (col->type == OSC_TYPE_INTEGER)
        osc_strbuf_addi(&w->head, osc_wide_nearest(whole));
    else
        osc_strbuf_addd(&w->head, sum);
    osc_strbuf_addc(&w->head, '"');
}

/* Whether the table has names of kernels in the column NAME. */
static bool has_symbols(const struct osc_table_def *def, const char *name)
{
    for (uint32_t i = 0; def && i < def->n_columns; i++)
        if (strcmp(def->columns[i].name, name) == 0)
            return (def->columns[i].flags & OSC_COLUMN_SYMBOL) != 0;
    return false;
}

/* Append the labels, if any, of the words of COL that are HERE, by word, and not their own. */
static void write_labels(struct writing *w, const struct osc_frame_column *col,
                         const struct osc_labels *labels, const osc_sid *ids,
                         const uint8_t *here)
{
    bool has_any = false;

    for (uint32_t i = 0; i < col->n_words; i++) {
        const struct osc_str name = word_of(col, i);
        const struct osc_str label = osc_labels_get(labels, ids[i]);

        if (!here[i] || ids[i].v == 0 || osc_str_eq(name, label))
            continue;
        osc_strbuf_adds(&w->head, has_any ? ", " : ", \"labels\": {");
        osc_json_quote(&w->head, name);
        osc_strbuf_adds(&w->head, ": ");
        osc_json_quote(&w->head, label);
        has_any = true;
    }
    if (has_any)
        osc_strbuf_addc(&w->head, '}');
}

/* Append the labels of COL, if names of functions are among its words. */
static osc_status add_labels(struct writing *w, const struct osc_frame_column *col)
{
    const bool is_symbol = has_symbols(w->is->def, col->name);
    const int32_t *const codes = col->values;
    struct osc_labels labels = {0};
    osc_sid *const ids = osc_calloc((size_t)col->n_words + 1, sizeof *ids);
    uint8_t *const here = osc_calloc((size_t)col->n_words + 1, 1);
    osc_status st = ids && here ? OSC_OK : OSC_ENOMEM;
    bool has_any = false;

    for (uint64_t i = 0; i < w->n && st == OSC_OK; i++)
        if (codes[w->is->offset + i] >= 0)
            here[codes[w->is->offset + i]] = 1;
    for (uint32_t i = 0; i < col->n_words && st == OSC_OK; i++) {
        const struct osc_str name = word_of(col, i);

        if (!is_symbol && !osc_symbol_is_function(name))
            continue;
        has_any = true;
        st = osc_labels_add(&labels, name, true, &ids[i]);
    }
    if (st == OSC_OK && has_any)
        st = osc_labels_compose(&labels, OSC_LABELS_WIDTH, OSC_LABELS_WIDTH);
    if (st == OSC_OK && has_any)
        write_labels(w, col, &labels, ids, here);
    osc_labels_fini(&labels);
    osc_free(ids);
    osc_free(here);
    return st;
}

static osc_status add_column(struct writing *w, const struct osc_frame_column *col)
{
    static const char *const types[] = {"string", "integer", "number", "boolean"};
    const size_t at = begin_array(w);
    const char *array = "Float64Array";
    bool has_missing = false;
    osc_status st = OSC_OK;

    switch (col->type) {
    case OSC_TYPE_INTEGER:
        array = add_integers(w, col);
        break;
    case OSC_TYPE_NUMBER:
        add_array(w, col->values, sizeof(double));
        break;
    case OSC_TYPE_BOOLEAN:
        array = "Uint8Array";
        add_array(w, col->values, 1);
        break;
    case OSC_TYPE_STRING:
        array = "Uint32Array";
        st = add_words(w, col);
        break;
    }
    osc_strbuf_adds(&w->head, "{\"name\": ");
    add_text(&w->head, col->name);
    osc_strbuf_addf(&w->head, ", \"type\": \"%s\", \"unit\": ", types[col->type]);
    add_text(&w->head, col->unit);
    osc_strbuf_addf(&w->head, ", \"array\": \"%s\", \"at\": %zu, \"missing\": ", array, at);
    if (col->missing && w->n > 0)
        has_missing = memchr(col->missing + w->is->offset, 1, w->n) != NULL;
    if (has_missing) {
        osc_strbuf_addf(&w->head, "%zu", begin_array(w));
        add_array(w, col->missing, 1);
    } else {
        osc_strbuf_adds(&w->head, "null");
    }
    osc_strbuf_adds(&w->head, ", \"help\": ");
    add_text(&w->head, col->help);
    if (w->is->has_sums)
        add_sum(w, col);
    if (st == OSC_OK && col->type == OSC_TYPE_STRING)
        st = add_labels(w, col);
    osc_strbuf_addc(&w->head, '}');
    return st;
}

/* Append the questions of the rows here, if the table has any. */
static void add_questions(struct writing *w)
{
    const char *before = " \"questions\": [";
    struct osc_str words;

    for (uint64_t i = 0; i < w->n; i++) {
        if (!osc_frame_question(w->is->frame, w->is->offset + i, &words))
            return;
        osc_strbuf_adds(&w->head, before);
        osc_question_json(&w->head, words);
        before = ",\n  ";
    }
    if (w->n > 0)
        osc_strbuf_adds(&w->head, "],\n");
}

/* Close the list of columns, and append where the rows were before they were sorted. */
static void add_made(struct writing *w)
{
    const uint32_t *const made = w->is->has_made ? osc_frame_made(w->is->frame) : NULL;

    osc_strbuf_adds(&w->head, "],\n");
    if (!made)
        return;
    osc_strbuf_addf(&w->head, " \"made\": %zu,\n", begin_array(w));
    add_array(w, made, sizeof *made);
}

/* Append the offsets and bytes of all words, and close the head. */
static osc_status add_dictionary(struct writing *w)
{
    const uint32_t n = w->words.n_entries + 1;
    const size_t offsets = begin_array(w);
    uint64_t n_bytes = 0;

    for (uint32_t i = 0; i <= n; i++) {
        const uint32_t at = (uint32_t)n_bytes;

        osc_strbuf_put(&w->data, (const char *)&at, sizeof at);
        if (i < n)
            n_bytes += osc_intern_str(&w->words, (osc_sid){i}).len;
        if (n_bytes > UINT32_MAX)
            return OSC_ELIMIT;
    }
    const size_t bytes = begin_array(w);
    for (uint32_t i = 0; i < n; i++)
        osc_strbuf_addstr(&w->data, osc_intern_str(&w->words, (osc_sid){i}));
    osc_strbuf_addf(&w->head,
                    " \"words\": {\"n\": %u, \"offsets\": %zu, \"bytes\": %zu, "
                    "\"n_bytes\": %llu}}",
                    n, offsets, bytes, (unsigned long long)n_bytes);
    return OSC_OK;
}

static void begin_head(struct writing *w)
{
    const struct osc_frame *const f = w->is->frame;
    const unsigned long long offset = w->is->first + w->is->offset;
    const char *line = osc_frame_notes(f);

    osc_strbuf_adds(&w->head, "{\"opscope\": \"" OSC_VERSION "\", \"schema\": ");
    osc_strbuf_addf(&w->head, "%d, \"table\": ", SCHEMA);
    add_text(&w->head, osc_frame_name(f));
    osc_strbuf_adds(&w->head, ", \"fingerprint\": ");
    add_text(&w->head, osc_frame_fingerprint(f));
    osc_strbuf_adds(&w->head, ",\n \"command\": ");
    add_text(&w->head, w->is->command);
    osc_strbuf_addf(&w->head, ",\n \"rows\": %llu, \"offset\": %llu, \"n\": %llu,\n",
                    (unsigned long long)w->is->n_all, offset, (unsigned long long)w->n);
    osc_strbuf_adds(&w->head, " \"notes\": [");
    for (const char *between = ""; *line; between = ", ") {
        const char *const end = strchrnul(line, '\n');

        osc_strbuf_adds(&w->head, between);
        osc_json_quote(&w->head, (struct osc_str){line, (uint32_t)(end - line)});
        line = *end ? end + 1 : end;
    }
    osc_strbuf_adds(&w->head, "],\n \"columns\": [");
}

/* Append all to OUT. */
static osc_status join(struct osc_strbuf *out, const struct writing *w)
{
    const size_t pad = -(FRONT_BYTES + w->head.len) & 7;
    const uint32_t sizes[] = {(uint32_t)w->head.len,
                              (uint32_t)(FRONT_BYTES + w->head.len + pad)};

    osc_strbuf_adds(out, "osccols1");
    osc_strbuf_add(out, (const char *)sizes, sizeof sizes);
    osc_strbuf_add(out, w->head.s, w->head.len);
    osc_strbuf_pad(out, ' ', pad);
    osc_strbuf_add(out, w->data.s, w->data.len);
    return out->status;
}

osc_status osc_cols_write(struct osc_strbuf *out, const struct osc_cols *cols)
{
    struct osc_cols own = *cols;
    struct writing w = {.is = &own};
    const uint64_t n_rows = osc_frame_rows(cols->frame);
    osc_status st = OSC_OK;

    w.words = (struct osc_intern){.arena = &w.arena, .seed = osc_hash_seed()};
    /* From here on the offset is in the frame. */
    own.offset = cols->offset > cols->first ? cols->offset - cols->first : 0;
    own.offset = own.offset < n_rows ? own.offset : n_rows;
    own.n_all = cols->n_all > 0 ? cols->n_all : n_rows;
    w.n = n_rows - own.offset < cols->limit ? n_rows - own.offset : cols->limit;
    begin_head(&w);
    for (size_t i = 0; i < osc_frame_columns(cols->frame) && st == OSC_OK; i++) {
        const struct osc_frame_column col = osc_frame_column_at(cols->frame, i);

        osc_strbuf_adds(&w.head, i > 0 ? ",\n  " : "\n  ");
        st = add_column(&w, &col);
    }
    if (st == OSC_OK)
        add_made(&w);
    if (st == OSC_OK)
        add_questions(&w);
    if (st == OSC_OK)
        st = add_dictionary(&w);
    if (st == OSC_OK)
        st = w.head.status != OSC_OK ? w.head.status : w.data.status;
    if (st == OSC_OK)
        st = join(out, &w);
    osc_intern_fini(&w.words);
    osc_arena_fini(&w.arena);
    osc_strbuf_fini(&w.head);
    osc_strbuf_fini(&w.data);
    return st;
}
