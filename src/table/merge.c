/* SPDX-License-Identifier: Apache-2.0 */
#include "table/merge.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "table/buckets.h"
#include "table/row_sort.h"

/* The fraction of a sum is in units of 2^-100. One double adds at most 2^120. */
#define FRACTION_BITS 100
#define NUMBER_MAX    0x1p120

/* A text of a JOIN column; the list is linked from the largest origin to the smallest. */
struct osc_joined {
    struct osc_joined *before;
    struct osc_origin origin;
    struct osc_str text; /* in the arena */
};

static bool is_sum(const struct osc_column *c)
{
    return c->merge == OSC_MERGE_SUM;
}

/* Add the cell (I, C) of R to SUM. */
static void add_cell(struct osc_sum *sum, const struct osc_result *r, uint64_t i, uint32_t c)
{
    if (r->def->columns[c].type == OSC_TYPE_INTEGER) {
        sum->whole += osc_result_get_int(r, i, c);
    } else {
        const double v = fmin(fmax(osc_result_get_num(r, i, c), -NUMBER_MAX), NUMBER_MAX);
        const double whole = trunc(v);

        sum->whole += (osc_wide)whole;
        sum->fraction += (osc_wide)ldexp(v - whole, FRACTION_BITS);
    }
}

/* Set the cell (I, C) of R to SUM. */
static void set_sum(struct osc_result *r, uint64_t i, uint32_t c, struct osc_sum sum)
{
    const osc_wide one = (osc_wide)1 << FRACTION_BITS;
    const osc_wide whole = sum.whole + sum.fraction / one, fraction = sum.fraction % one;

    if (r->def->columns[c].type == OSC_TYPE_INTEGER)
        osc_result_set_int(r, i, c, osc_wide_nearest(whole));
    else
        osc_result_set_num(r, i, c, (double)whole + ldexp((double)fraction, -FRACTION_BITS));
}

bool osc_merge_has_keys(const struct osc_table_def *def)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].merge == OSC_MERGE_KEY)
            return true;
    }
    return false;
}

static bool origin_less(struct osc_origin a, struct osc_origin b)
{
    return a.part != b.part ? a.part < b.part : a.row < b.row;
}

void osc_merger_init(struct osc_merger *m, const struct osc_table_def *def)
{
    *m = (struct osc_merger){0};
    osc_result_init(&m->rows, def);
    m->keys.arena = &m->arena;
    m->keys.seed = osc_hash_seed();
    for (uint32_t c = 0; c < def->n_columns; c++) {
        m->n_sums += is_sum(&def->columns[c]);
        m->n_joins += def->columns[c].merge == OSC_MERGE_JOIN;
        m->n_buckets += def->columns[c].merge == OSC_MERGE_BUCKETS;
    }
}

void osc_merger_fini(struct osc_merger *m)
{
    for (size_t k = 0; k < m->rows.n_rows * m->n_buckets; k++)
        osc_buckets_fini(&m->buckets[k]);
    osc_free(m->buckets);
    osc_result_fini(&m->rows);
    osc_free(m->origins);
    osc_free(m->sums);
    osc_free(m->joins);
    osc_intern_fini(&m->keys);
    osc_arena_fini(&m->arena);
    osc_strbuf_fini(&m->key);
    osc_strbuf_fini(&m->why);
    *m = (struct osc_merger){0};
}

/* Write the key of row I of PART as bytes to m->key. */
static void write_key(struct osc_merger *m, const struct osc_result *part, uint64_t i)
{
    const struct osc_table_def *def = part->def;

    osc_strbuf_clear(&m->key);
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].merge != OSC_MERGE_KEY)
            continue;
        if (!osc_result_has(part, i, c)) {
            osc_strbuf_addc(&m->key, 0);
            continue;
        }
        osc_strbuf_addc(&m->key, 1);
        switch (def->columns[c].type) {
        case OSC_TYPE_STRING: {
            const struct osc_str s = osc_result_get_str(part, i, c);

            osc_strbuf_add(&m->key, (const char *)&s.len, sizeof s.len);
            osc_strbuf_addstr(&m->key, s);
            break;
        }
        case OSC_TYPE_INTEGER: {
            const int64_t v = osc_result_get_int(part, i, c);

            osc_strbuf_add(&m->key, (const char *)&v, sizeof v);
            break;
        }
        case OSC_TYPE_NUMBER: {
            const double v = osc_result_get_num(part, i, c);

            osc_strbuf_add(&m->key, (const char *)&v, sizeof v);
            break;
        }
        case OSC_TYPE_BOOLEAN:
            osc_strbuf_addc(&m->key, osc_result_get_bool(part, i, c) ? 't' : 'f');
            break;
        }
    }
}

/* Copy cell (I, C) of FROM, which may be missing, to row TO of R. */
static void copy_cell(struct osc_result *r, uint64_t to, const struct osc_result *from,
                      uint64_t i, uint32_t c)
{
    if (!osc_result_has(from, i, c)) {
        osc_result_set_missing(r, to, c);
        return;
    }
    switch (r->def->columns[c].type) {
    case OSC_TYPE_STRING:
        osc_result_set_str(r, to, c, osc_result_get_str(from, i, c));
        break;
    case OSC_TYPE_INTEGER:
        osc_result_set_int(r, to, c, osc_result_get_int(from, i, c));
        break;
    case OSC_TYPE_NUMBER:
        osc_result_set_num(r, to, c, osc_result_get_num(from, i, c));
        break;
    case OSC_TYPE_BOOLEAN:
        osc_result_set_bool(r, to, c, osc_result_get_bool(from, i, c));
        break;
    }
}

/* Fold the integer cell (I, C) of PART into row TO. */
static void fold_int(struct osc_result *r, uint64_t to, const struct osc_result *part,
                     uint64_t i, uint32_t c)
{
    const int64_t a = osc_result_get_int(r, to, c), b = osc_result_get_int(part, i, c);

    if ((r->def->columns[c].merge == OSC_MERGE_MIN) == (b < a))
        osc_result_set_int(r, to, c, b);
}

static void fold_num(struct osc_result *r, uint64_t to, const struct osc_result *part,
                     uint64_t i, uint32_t c)
{
    const double a = osc_result_get_num(r, to, c), b = osc_result_get_num(part, i, c);

    if ((r->def->columns[c].merge == OSC_MERGE_MIN) == (b < a))
        osc_result_set_num(r, to, c, b);
}

static void fold_cell(struct osc_result *r, uint64_t to, const struct osc_result *part,
                      uint64_t i, uint32_t c)
{
    if (!osc_result_has(part, i, c))
        return; /* a missing cell changes nothing */
    if (!osc_result_has(r, to, c)) {
        copy_cell(r, to, part, i, c);
        return;
    }
    switch (r->def->columns[c].type) {
    case OSC_TYPE_INTEGER:
        fold_int(r, to, part, i, c);
        break;
    case OSC_TYPE_NUMBER:
        fold_num(r, to, part, i, c);
        break;
    case OSC_TYPE_BOOLEAN:
        osc_result_set_bool(r, to, c,
                            osc_result_get_bool(r, to, c) || osc_result_get_bool(part, i, c));
        break;
    case OSC_TYPE_STRING:
        break; /* a key, the text of the first row, or made by finish */
    }
}

/* Append an empty row. */
static osc_status new_row(struct osc_merger *m, struct osc_origin origin)
{
    const size_t n = m->rows.n_rows + 1;
    osc_status st = osc_grow(&m->origins, &m->cap_origins, n, sizeof *m->origins);

    if (st != OSC_OK)
        return st;
    if (m->n_sums > 0) {
        st = osc_grow(&m->sums, &m->cap_sums, n * m->n_sums, sizeof *m->sums);
        if (st != OSC_OK)
            return st;
        for (uint32_t k = 0; k < m->n_sums; k++)
            m->sums[(n - 1) * m->n_sums + k] = (struct osc_sum){0};
    }
    if (m->n_joins > 0) {
        st = osc_grow(&m->joins, &m->cap_joins, n * m->n_joins, sizeof(struct osc_joined *));
        if (st != OSC_OK)
            return st;
        for (uint32_t k = 0; k < m->n_joins; k++)
            m->joins[(n - 1) * m->n_joins + k] = NULL;
    }
    if (m->n_buckets > 0) {
        st = osc_grow(&m->buckets, &m->cap_buckets, n * m->n_buckets, sizeof *m->buckets);
        if (st != OSC_OK)
            return st;
        for (uint32_t k = 0; k < m->n_buckets; k++)
            m->buckets[(n - 1) * m->n_buckets + k] = (struct osc_buckets){0};
    }
    osc_result_row(&m->rows);
    if (m->rows.status != OSC_OK)
        return m->rows.status;
    m->origins[n - 1] = origin;
    return OSC_OK;
}

/* Add row I of PART to the sums of row TO. In m->rows their cells only show whether there is a
 * sum. */
static void add_sums(struct osc_merger *m, uint64_t to, const struct osc_result *part,
                     uint64_t i)
{
    for (uint32_t c = 0, k = 0; c < part->def->n_columns; c++) {
        if (!is_sum(&part->def->columns[c]))
            continue;
        if (osc_result_has(part, i, c)) {
            add_cell(&m->sums[to * m->n_sums + k], part, i, c);
            set_sum(&m->rows, to, c, (struct osc_sum){0});
        }
        k++;
    }
}

/* Insert TEXT into LIST in order of ORIGIN; mostly it is the last. */
static osc_status join_text(struct osc_arena *arena, struct osc_joined **list,
                            struct osc_origin origin, struct osc_str text)
{
    struct osc_joined *const j = osc_arena_calloc(arena, 1, sizeof *j);
    const char *const copy = osc_arena_dup(arena, text.s, text.len);

    if (!j || !copy)
        return OSC_ENOMEM;
    while (*list && origin_less(origin, (*list)->origin))
        list = &(*list)->before;
    *j = (struct osc_joined){*list, origin, {copy, text.len}};
    *list = j;
    return OSC_OK;
}

/* Add the texts of row I of PART to those of row TO. */
static osc_status add_joins(struct osc_merger *m, uint64_t to, const struct osc_result *part,
                            uint64_t i, struct osc_origin origin)
{
    osc_status st = OSC_OK;

    for (uint32_t c = 0, k = 0; c < part->def->n_columns && st == OSC_OK; c++) {
        if (part->def->columns[c].merge != OSC_MERGE_JOIN)
            continue;
        if (osc_result_has(part, i, c))
            st = join_text(&m->arena, &m->joins[to * m->n_joins + k], origin,
                           osc_result_get_str(part, i, c));
        k++;
    }
    return st;
}

/* Add the counts in row I of PART to those of row TO. */
static osc_status add_buckets(struct osc_merger *m, uint64_t to, const struct osc_result *part,
                              uint64_t i)
{
    osc_status st = OSC_OK;

    for (uint32_t c = 0, k = 0; c < part->def->n_columns && st == OSC_OK; c++) {
        if (part->def->columns[c].merge == OSC_MERGE_BUCKETS)
            st = osc_buckets_add(&m->buckets[to * m->n_buckets + k++],
                                 osc_result_get_str(part, i, c));
    }
    return st;
}

/* Write the counts of B to cell (TO, C) of OUT. */
static osc_status put_buckets(const struct osc_buckets *b, struct osc_result *out, uint64_t to,
                              uint32_t c)
{
    struct osc_strbuf text = {0};

    for (size_t k = 0; k < b->n; k++)
        osc_buckets_put(&text, b->at[k].index, b->at[k].count);
    const osc_status st = text.status;
    if (st == OSC_OK && text.len > 0)
        osc_result_set_str(out, to, c, (struct osc_str){text.s, (uint32_t)text.len});
    osc_strbuf_fini(&text);
    return st;
}

/* Write the texts of LIST, one line each, to cell (TO, C) of OUT. */
static osc_status put_joined(const struct osc_joined *list, struct osc_result *out, uint64_t to,
                             uint32_t c)
{
    size_t len = 0;

    for (const struct osc_joined *j = list; j; j = j->before)
        len += j->text.len + (j->before != NULL);
    if (!list)
        return OSC_OK;
    if (len > UINT32_MAX)
        return OSC_ELIMIT;
    char *const text = osc_malloc(len + 1);
    if (!text)
        return OSC_ENOMEM;
    size_t at = len;
    for (const struct osc_joined *j = list; j; j = j->before) {
        at -= j->text.len;
        memcpy(text + at, j->text.s, j->text.len);
        if (j->before)
            text[--at] = '\n';
    }
    osc_result_set_str(out, to, c, (struct osc_str){text, (uint32_t)len});
    osc_free(text);
    return OSC_OK;
}

/* Add the other cells. IS_NEW: row TO is empty; IS_FIRST: row I comes before all of TO. */
static void add_cells(struct osc_merger *m, uint64_t to, const struct osc_result *part,
                      uint64_t i, bool is_new, bool is_first)
{
    for (uint32_t c = 0; c < part->def->n_columns; c++) {
        const enum osc_merge rule = part->def->columns[c].merge;

        if (rule == OSC_MERGE_KEY) {
            if (is_new)
                copy_cell(&m->rows, to, part, i, c);
        } else if (rule == OSC_MERGE_FIRST) {
            if (is_first)
                copy_cell(&m->rows, to, part, i, c);
        } else if (rule != OSC_MERGE_FINISH && rule != OSC_MERGE_SUM &&
                   rule != OSC_MERGE_JOIN && rule != OSC_MERGE_BUCKETS) {
            fold_cell(&m->rows, to, part, i, c);
        }
    }
}

/* Find the row with the key of row I of PART; m->rows.n_rows: the key is new. */
static osc_status find_row(struct osc_merger *m, const struct osc_result *part, uint64_t i,
                           uint64_t *row)
{
    osc_sid id = {0};
    osc_status st = OSC_OK;

    *row = m->rows.n_rows;
    if (!osc_merge_has_keys(part->def))
        return OSC_OK;
    write_key(m, part, i);
    st = m->key.status;
    if (st == OSC_OK)
        st = osc_intern_add(&m->keys, (struct osc_str){m->key.s, (uint32_t)m->key.len}, &id);
    if (st == OSC_OK)
        *row = id.v - 1;
    return st;
}

static osc_status add_row(struct osc_merger *m, const struct osc_result *part, uint64_t i,
                          struct osc_origin origin)
{
    uint64_t to;
    osc_status st = find_row(m, part, i, &to);

    if (st != OSC_OK)
        return st;
    const bool is_new = to == m->rows.n_rows;
    if (is_new)
        st = new_row(m, origin);
    if (st != OSC_OK)
        return st;
    const bool is_first = is_new || origin_less(origin, m->origins[to]);
    if (is_first)
        m->origins[to] = origin;
    add_cells(m, to, part, i, is_new, is_first);
    add_sums(m, to, part, i);
    st = add_joins(m, to, part, i, origin);
    if (st == OSC_OK)
        st = add_buckets(m, to, part, i);
    return st != OSC_OK ? st : m->rows.status;
}

/* Add the lines of FROM that NOTES lacks. */
static osc_status add_notes(struct osc_strbuf *notes, const struct osc_strbuf *from)
{
    const char *line = from->len > 0 ? from->s : "";

    while (*line) {
        const char *end = strchrnul(line, '\n');
        const struct osc_str text = {line, (uint32_t)(end - line)};
        const char *at = notes->len > 0 ? notes->s : "";
        bool is_there = false;

        while (*at && !is_there) {
            const char *at_end = strchrnul(at, '\n');

            is_there = osc_str_eq(text, (struct osc_str){at, (uint32_t)(at_end - at)});
            at = *at_end ? at_end + 1 : at_end;
        }
        if (!is_there) {
            osc_strbuf_addstr(notes, text);
            osc_strbuf_addc(notes, '\n');
        }
        line = *end ? end + 1 : end;
    }
    return notes->status;
}

osc_status osc_merger_add(struct osc_merger *m, const struct osc_result *part, uint32_t number)
{
    osc_status st = part->status;

    if (part->n_rows > 0) /* without rows a column has no data */
        m->rows.shown |= part->shown;
    m->rows.n_left_out += part->n_left_out;
    if (st == OSC_OK)
        st = add_notes(part->says_why_empty ? &m->why : &m->rows.notes, &part->notes);
    for (uint64_t i = 0; i < part->n_rows && st == OSC_OK; i++)
        st = add_row(m, part, i, (struct osc_origin){number, (uint32_t)i});
    return st;
}

static int compare_origins(const void *a, const void *b, void *ctx)
{
    const struct osc_origin *origins = ctx;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct osc_origin x = origins[i], y = origins[k];

    if (origin_less(x, y) || origin_less(y, x))
        return origin_less(x, y) ? -1 : 1;
    return (i > k) - (i < k);
}

static int compare_lines(const void *a, const void *b)
{
    const struct osc_str *x = a, *y = b;

    return osc_str_cmp(*x, *y);
}

/* Append the lines of FROM to OUT, sorted by bytes. */
static osc_status sort_notes(struct osc_strbuf *out, const struct osc_strbuf *from)
{
    size_t n = 0;

    for (size_t i = 0; i < from->len; i++)
        n += from->s[i] == '\n';
    if (n == 0)
        return OSC_OK;

    struct osc_str *lines = osc_calloc(n, sizeof *lines);
    const char *at = from->s;
    if (!lines)
        return OSC_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *end = strchrnul(at, '\n');

        lines[i] = (struct osc_str){at, (uint32_t)(end - at + 1)};
        at = end + 1;
    }
    osc_sort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++)
        osc_strbuf_addstr(out, lines[i]);
    osc_free(lines);
    return out->status;
}

/* Write row I of M to row TO of OUT. */
static osc_status put_row(const struct osc_merger *m, uint64_t i, struct osc_result *out,
                          uint64_t to)
{
    const struct osc_table_def *def = m->rows.def;
    uint32_t n_sums = 0, n_joins = 0, n_buckets = 0;
    osc_status st = OSC_OK;

    for (uint32_t c = 0; c < def->n_columns && st == OSC_OK; c++) {
        if (is_sum(&def->columns[c])) {
            const struct osc_sum sum = m->sums[i * m->n_sums + n_sums++];

            if (osc_result_has(&m->rows, i, c))
                set_sum(out, to, c, sum);
        } else if (def->columns[c].merge == OSC_MERGE_JOIN) {
            st = put_joined(m->joins[i * m->n_joins + n_joins++], out, to, c);
        } else if (def->columns[c].merge == OSC_MERGE_BUCKETS) {
            st = put_buckets(&m->buckets[i * m->n_buckets + n_buckets++], out, to, c);
        } else {
            copy_cell(out, to, &m->rows, i, c);
        }
    }
    return st != OSC_OK ? st : out->status;
}

/* Copy the rows of M to OUT, in the order of their origins. */
static osc_status copy_rows(const struct osc_merger *m, struct osc_result *out)
{
    uint32_t *order = NULL;
    osc_status st = osc_sort_rows(&m->rows, NULL, &order);

    if (st == OSC_OK)
        osc_sort_with(order, m->rows.n_rows, sizeof *order, compare_origins, m->origins);
    for (uint64_t i = 0; i < m->rows.n_rows && st == OSC_OK; i++) {
        osc_result_row(out);
        st = out->status != OSC_OK ? out->status : put_row(m, order[i], out, i);
    }
    osc_free(order);
    return st;
}

/* Whether the rows of M are complete and in order as they are, so that long lists need not be
 * copied. */
static bool is_in_place(const struct osc_merger *m)
{
    if (m->n_sums + m->n_joins + m->n_buckets > 0)
        return false;
    for (uint64_t i = 1; i < m->rows.n_rows; i++) {
        if (origin_less(m->origins[i], m->origins[i - 1]))
            return false;
    }
    return true;
}

osc_status osc_merger_result(struct osc_merger *m, struct osc_result *out)
{
    struct osc_strbuf notes = {0};
    osc_status st = OSC_OK;

    if (m->rows.n_rows == 0) {
        m->rows.says_why_empty = m->why.len > 0 && m->rows.notes.len == 0;
        st = add_notes(&m->rows.notes, &m->why);
    }
    if (st == OSC_OK)
        st = sort_notes(&notes, &m->rows.notes);

    osc_strbuf_fini(&m->rows.notes);
    m->rows.notes = notes;
    if (st != OSC_OK)
        return st;
    if (is_in_place(m)) {
        osc_result_move(out, &m->rows);
        return OSC_OK;
    }
    out->shown = m->rows.shown;
    out->n_left_out = m->rows.n_left_out;
    osc_strbuf_add(&out->notes, notes.s ? notes.s : "", notes.len);
    out->says_why_empty = m->rows.says_why_empty;
    return out->notes.status == OSC_OK ? copy_rows(m, out) : out->notes.status;
}
