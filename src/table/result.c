/* SPDX-License-Identifier: Apache-2.0 */
#include "table/table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define BATCH_SHIFT 12
static_assert(OSC_BATCH_ROWS == 1u << BATCH_SHIFT, "a row's batch is found by a shift");

/* Rows of the first batch at first, and how it grows. */
#define FIRST_ROWS 1u
#define GROWTH     2u

static size_t value_bytes(enum osc_type type)
{
    switch (type) {
    case OSC_TYPE_STRING:
        return sizeof(uint32_t);
    case OSC_TYPE_INTEGER:
        return sizeof(int64_t);
    case OSC_TYPE_NUMBER:
        return sizeof(double);
    case OSC_TYPE_BOOLEAN:
        break;
    }
    return sizeof(uint8_t);
}

/* Validity of N rows, in whole words of 64 bits. */
static size_t valid_bytes(uint32_t n)
{
    return ((size_t)n + 63) / 64 * 8;
}

/* Values of N rows of COLUMN, in whole words of 64 bits. */
static size_t values_bytes(const struct osc_column *column, uint32_t n)
{
    return (n * value_bytes(column->type) + 7) / 8 * 8;
}

/* Size of the cells of a batch of N rows. */
static size_t cells_bytes(const struct osc_table_def *def, uint32_t n)
{
    size_t size = 0;

    for (uint32_t c = 0; c < def->n_columns; c++)
        size += values_bytes(&def->columns[c], n) + valid_bytes(n);
    return size;
}

/*
 * Give B room for N rows, which are more than it has; new cells are missing. Everything lies in
 * one piece: the array of arrays, then the cells, all aligned to 8.
 */
static osc_status grow_batch(struct osc_batch *b, const struct osc_table_def *def, uint32_t n)
{
    struct osc_array *const arrays =
        osc_calloc(1, def->n_columns * sizeof *arrays + cells_bytes(def, n));

    if (!arrays)
        return OSC_ENOMEM;
    uint8_t *at = (uint8_t *)(arrays + def->n_columns);
    for (uint32_t c = 0; c < def->n_columns; c++) {
        const struct osc_column *const column = &def->columns[c];

        arrays[c] = (struct osc_array){.values = at, .valid = at + values_bytes(column, n)};
        at = arrays[c].valid + valid_bytes(n);
        if (!b->arrays)
            continue;
        memcpy(arrays[c].values, b->arrays[c].values, values_bytes(column, b->n_rows));
        memcpy(arrays[c].valid, b->arrays[c].valid, valid_bytes(b->n_rows));
    }
    osc_free(b->arrays);
    b->arrays = arrays;
    b->cap_rows = n;
    return OSC_OK;
}

/* Get room for one more row of R in its last batch B. A result of few rows is small: there may
 * be one for each of many files. */
static osc_status make_room(struct osc_result *r, struct osc_batch *b)
{
    uint32_t n = b->cap_rows ? b->cap_rows * GROWTH : FIRST_ROWS;

    if (b->n_rows < b->cap_rows)
        return OSC_OK;
    if (r->n_batches > 1 || n > OSC_BATCH_ROWS)
        n = OSC_BATCH_ROWS;
    return grow_batch(b, r->def, n);
}

static osc_status add_batch(struct osc_result *r)
{
    size_t cap = r->cap_batches;

    if (r->n_batches < r->cap_batches && r->batches[r->n_batches].arrays) {
        /* osc_result_clear() keeps the arrays with old cells. */
        struct osc_batch *const b = &r->batches[r->n_batches++];

        memset(b->arrays + r->def->n_columns, 0, cells_bytes(r->def, b->cap_rows));
        return OSC_OK;
    }
    if (r->n_batches == UINT32_MAX)
        return OSC_ELIMIT;
    if (cap == 0) { /* most results have only one */
        r->batches = osc_malloc(sizeof *r->batches);
        cap = r->batches ? 1 : 0;
    }
    const osc_status st =
        osc_grow(&r->batches, &cap, (size_t)r->n_batches + 1, sizeof *r->batches);
    if (st != OSC_OK)
        return st;
    for (size_t i = r->cap_batches; i < cap; i++)
        r->batches[i] = (struct osc_batch){0};
    r->cap_batches = (uint32_t)cap;
    r->n_batches++;
    return OSC_OK;
}

/* The array that holds row I of COLUMN; *PLACE is the index in it. */
static struct osc_array *array_of(const struct osc_result *r, uint64_t i, uint32_t column,
                                  uint32_t *place)
{
    assert(i < r->n_rows && column < r->def->n_columns);
    *place = (uint32_t)(i & (OSC_BATCH_ROWS - 1));
    return &r->batches[i >> BATCH_SHIFT].arrays[column];
}

static void put_int(struct osc_result *r, uint64_t i, uint32_t column, int64_t v)
{
    uint32_t at;
    struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_INTEGER);
    ((int64_t *)a->values)[at] = v;
    a->valid[at >> 3] |= (uint8_t)(1u << (at & 7));
}

static void put_num(struct osc_result *r, uint64_t i, uint32_t column, double v)
{
    uint32_t at;
    struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_NUMBER);
    ((double *)a->values)[at] = v;
    a->valid[at >> 3] |= (uint8_t)(1u << (at & 7));
}

static void put_bool(struct osc_result *r, uint64_t i, uint32_t column, bool v)
{
    uint32_t at;
    struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_BOOLEAN);
    ((uint8_t *)a->values)[at] = v;
    a->valid[at >> 3] |= (uint8_t)(1u << (at & 7));
}

/* Whether row I of COLUMN equals V; if so, *ID is its id. */
static bool is_str(const struct osc_result *r, uint64_t i, uint32_t column, struct osc_str v,
                   osc_sid *id)
{
    uint32_t at;
    const struct osc_array *const a = array_of(r, i, column, &at);

    id->v = ((const uint32_t *)a->values)[at];
    return id->v != 0 && osc_str_eq(osc_intern_str(&r->dict, *id), v);
}

static void put_sid(struct osc_result *r, uint64_t i, uint32_t column, osc_sid id)
{
    uint32_t at;
    struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_STRING);
    ((uint32_t *)a->values)[at] = id.v;
    a->valid[at >> 3] |= (uint8_t)(1u << (at & 7));
}

static void put_str(struct osc_result *r, uint64_t i, uint32_t column, struct osc_str v)
{
    osc_sid id = {0};

    /* Adjacent rows are often equal, and comparing is cheaper than a look-up. */
    if (i == 0 || !is_str(r, i - 1, column, v, &id))
        id = osc_result_word(r, v);
    if (r->status == OSC_OK)
        put_sid(r, i, column, id);
}

void osc_result_init(struct osc_result *r, const struct osc_table_def *def)
{
    assert(def->n_columns <= 64);
    *r = (struct osc_result){.def = def};
}

void osc_result_fini(struct osc_result *r)
{
    for (uint32_t i = 0; i < r->cap_batches; i++)
        osc_free(r->batches[i].arrays);
    osc_free(r->batches);
    osc_intern_fini(&r->dict);
    osc_arena_fini(&r->arena);
    osc_strbuf_fini(&r->notes);
    osc_free(r->marks);
    *r = (struct osc_result){.def = r->def};
}

void osc_result_clear(struct osc_result *r)
{
    for (uint32_t i = 0; i < r->n_batches; i++)
        r->batches[i].n_rows = 0;
    r->n_batches = 0;
    r->n_rows = 0;
    osc_intern_fini(&r->dict);
    osc_arena_fini(&r->arena);
}

void osc_result_row(struct osc_result *r)
{
    if (r->status != OSC_OK)
        return;
    if ((r->n_rows & (OSC_BATCH_ROWS - 1)) == 0) {
        r->status = add_batch(r);
        if (r->status != OSC_OK)
            return;
    }
    struct osc_batch *const b = &r->batches[r->n_batches - 1];
    r->status = make_room(r, b);
    if (r->status != OSC_OK)
        return;
    b->n_rows++; /* its cells are missing until set */
    r->n_rows++;
}

void osc_result_int(struct osc_result *r, uint32_t column, int64_t v)
{
    if (r->status == OSC_OK)
        put_int(r, r->n_rows - 1, column, v);
}

void osc_result_num(struct osc_result *r, uint32_t column, double v)
{
    if (r->status == OSC_OK)
        put_num(r, r->n_rows - 1, column, v);
}

void osc_result_bool(struct osc_result *r, uint32_t column, bool v)
{
    if (r->status == OSC_OK)
        put_bool(r, r->n_rows - 1, column, v);
}

void osc_result_str(struct osc_result *r, uint32_t column, struct osc_str v)
{
    if (r->status == OSC_OK)
        put_str(r, r->n_rows - 1, column, v);
}

void osc_result_sid(struct osc_result *r, uint32_t column, osc_sid id)
{
    if (r->status == OSC_OK)
        put_sid(r, r->n_rows - 1, column, id);
}

osc_sid osc_result_word(struct osc_result *r, struct osc_str v)
{
    osc_sid id = {0};

    if (!r->dict.arena)
        r->dict.arena = &r->arena;
    if (r->dict.seed == 0)
        r->dict.seed = osc_hash_seed();
    const osc_status st = osc_intern_add(&r->dict, v, &id);
    if (st != OSC_OK)
        r->status = st;
    return id;
}

void osc_result_str_again(struct osc_result *r, uint32_t column)
{
    uint32_t at, at_before;

    if (r->status != OSC_OK)
        return;
    assert(r->n_rows > 1 && r->def->columns[column].type == OSC_TYPE_STRING);
    struct osc_array *const a = array_of(r, r->n_rows - 1, column, &at);
    const struct osc_array *const before = array_of(r, r->n_rows - 2, column, &at_before);
    ((uint32_t *)a->values)[at] = ((const uint32_t *)before->values)[at_before];
    if (before->valid[at_before >> 3] >> (at_before & 7) & 1)
        a->valid[at >> 3] |= (uint8_t)(1u << (at & 7));
}

void osc_result_show(struct osc_result *r, uint32_t column)
{
    assert(column < r->def->n_columns);
    r->shown |= UINT64_C(1) << column;
}

void osc_result_note(struct osc_result *r, const char *format, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    osc_strbuf_adds(&r->notes, line);
    osc_result_end_note(r);
}

void osc_result_end_note(struct osc_result *r)
{
    osc_strbuf_addc(&r->notes, '\n');
    if (r->notes.status != OSC_OK)
        r->status = r->notes.status;
    r->says_why_empty = false;
}

void osc_result_why_empty(struct osc_result *r, const char *why)
{
    const bool is_only = r->notes.len == 0;

    osc_result_note(r, "%s", why);
    r->says_why_empty = is_only;
}

bool osc_result_has(const struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    const struct osc_array *a = array_of(r, i, column, &at);

    return (a->valid[at >> 3] >> (at & 7) & 1) != 0;
}

int64_t osc_result_get_int(const struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    const struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_INTEGER);
    return ((const int64_t *)a->values)[at];
}

double osc_result_get_num(const struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    const struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_NUMBER);
    return ((const double *)a->values)[at];
}

bool osc_result_get_bool(const struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    const struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_BOOLEAN);
    return ((const uint8_t *)a->values)[at] != 0;
}

osc_sid osc_result_get_sid(const struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    const struct osc_array *a = array_of(r, i, column, &at);

    assert(r->def->columns[column].type == OSC_TYPE_STRING);
    return (osc_sid){((const uint32_t *)a->values)[at]};
}

struct osc_str osc_result_get_str(const struct osc_result *r, uint64_t i, uint32_t column)
{
    return osc_intern_str(&r->dict, osc_result_get_sid(r, i, column));
}

void osc_result_set_num(struct osc_result *r, uint64_t i, uint32_t column, double v)
{
    put_num(r, i, column, v);
}

void osc_result_set_int(struct osc_result *r, uint64_t i, uint32_t column, int64_t v)
{
    put_int(r, i, column, v);
}

void osc_result_set_bool(struct osc_result *r, uint64_t i, uint32_t column, bool v)
{
    put_bool(r, i, column, v);
}

void osc_result_set_str(struct osc_result *r, uint64_t i, uint32_t column, struct osc_str v)
{
    put_str(r, i, column, v);
}

void osc_result_set_missing(struct osc_result *r, uint64_t i, uint32_t column)
{
    uint32_t at;
    struct osc_array *a = array_of(r, i, column, &at);
    const size_t size = value_bytes(r->def->columns[column].type);

    memset((uint8_t *)a->values + at * size, 0, size);
    a->valid[at >> 3] &= (uint8_t) ~(1u << (at & 7));
}

/* Copy the cell at row FROM of COLUMN to row TO. */
static void move_cell(struct osc_result *r, uint64_t to, uint64_t from, uint32_t column)
{
    const size_t size = value_bytes(r->def->columns[column].type);
    uint32_t at_to, at_from;
    struct osc_array *b = array_of(r, to, column, &at_to);
    const struct osc_array *a = array_of(r, from, column, &at_from);
    const unsigned bit = a->valid[at_from >> 3] >> (at_from & 7) & 1;

    memcpy((uint8_t *)b->values + at_to * size, (const uint8_t *)a->values + at_from * size,
           size);
    b->valid[at_to >> 3] &= (uint8_t) ~(1u << (at_to & 7));
    b->valid[at_to >> 3] |= (uint8_t)(bit << (at_to & 7));
}

void osc_result_move(struct osc_result *to, struct osc_result *from)
{
    osc_result_fini(to);
    *to = *from;
    to->dict.arena = &to->arena;
    osc_result_init(from, to->def);
}

void osc_result_empty(struct osc_result *r)
{
    osc_result_clear(r);
    osc_strbuf_clear(&r->notes);
    r->says_why_empty = false;
    r->shown = 0;
}

void osc_result_keep(struct osc_result *r, const bool *keep)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (!keep[i])
            continue;
        for (uint32_t c = 0; c < r->def->n_columns && n != i; c++)
            move_cell(r, n, i, c);
        n++;
    }
    /* The remaining rows of the batch must be missing again, as all new rows are. */
    for (uint64_t i = n; i < r->n_rows && (i & (OSC_BATCH_ROWS - 1)) != 0; i++) {
        for (uint32_t c = 0; c < r->def->n_columns; c++)
            osc_result_set_missing(r, i, c);
    }
    r->n_rows = n;
    for (uint32_t b = 0; b < r->n_batches; b++) {
        const uint64_t first = (uint64_t)b << BATCH_SHIFT;
        const uint64_t left = n > first ? n - first : 0;

        r->batches[b].n_rows = left < OSC_BATCH_ROWS ? (uint32_t)left : OSC_BATCH_ROWS;
    }
    r->n_batches = (uint32_t)((n + OSC_BATCH_ROWS - 1) >> BATCH_SHIFT);
}

const char *osc_table_why_whole(const struct osc_table_def *def)
{
    if (def->mapping)
        return NULL;
    return def->composition ? "it is made of other tables" : "it is as long as the traces";
}

int osc_table_column(const struct osc_table_def *def, const char *name)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (strcmp(def->columns[c].name, name) == 0)
            return (int)c;
    }
    return -1;
}
