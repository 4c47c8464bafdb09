/* SPDX-License-Identifier: Apache-2.0 */
#include "table/row_sort.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "table/column_meaning.h"
#include "table/nearest.h"

/* Copy NAME with a device in it replaced by the word of WORDS for any. */
static void unify_device(const struct osc_sort_words *words, const char *name, char *out,
                         size_t size)
{
    const struct osc_str device = words->device(osc_str_c(name));

    if (device.len > 0)
        snprintf(out, size, "%.*s%s%s", (int)(device.s - name), name, words->any_device,
                 device.s + device.len);
    else
        snprintf(out, size, "%s", name);
}

struct osc_str osc_sort_device(const struct osc_table_def *def, const char *text)
{
    const struct osc_sort_words *const words = def->sort_words;
    const char *const start = text + (text[0] == '-');

    if (!words || osc_table_column(def, start) >= 0)
        return OSC_STR("");
    const struct osc_str device =
        words->device((struct osc_str){start, (uint32_t)strcspn(start, ":")});
    return words->is_any_device(device) ? OSC_STR("") : device;
}

osc_status osc_sort_fail_device(const struct osc_table_def *def, const char *text,
                                struct osc_str device, struct osc_err *err)
{
    const char *const start = text + (text[0] == '-');
    const size_t len = strcspn(start, ":");
    const char *const end = device.s + device.len;

    return osc_fail(err, OSC_EINVAL,
                    "cannot sort %s by '%.*s': no device is called '%.*s'; did you mean "
                    "'%.*s%s%.*s'?",
                    def->name, (int)len, start, (int)device.len, device.s,
                    (int)(device.s - start), start, def->sort_words->any_device,
                    (int)(len - (size_t)(end - start)), end);
}

/* Set KEY to what WORD means in DEF; false: it has no such column. */
static bool use_word(const struct osc_table_def *def, const struct osc_sort_word *word,
                     struct osc_sort_key *key)
{
    const int column = osc_table_column(def, word->column);
    const int divisor = word->divisor ? osc_table_column(def, word->divisor) : -1;

    if (column < 0 || (word->divisor && divisor < 0))
        return false;
    key->column = (uint32_t)column;
    key->divisor = divisor;
    return true;
}

static bool find_word(const struct osc_table_def *def, const char *name,
                      struct osc_sort_key *key)
{
    char unified[64];

    if (!def->sort_words)
        return false;
    unify_device(def->sort_words, name, unified, sizeof unified);
    for (const struct osc_sort_word *w = def->sort_words->words; w->word; w++) {
        if (strcmp(w->word, unified) == 0 && use_word(def, w, key))
            return true;
    }
    return false;
}

static osc_status wrong_key(const struct osc_table_def *def, const char *name,
                            struct osc_err *err)
{
    struct osc_nearest near = {.word = name, .best = osc_column_meant(def, name)};

    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            osc_nearest_try(&near, def->columns[c].name);
    }
    for (const struct osc_sort_word *w = def->sort_words ? def->sort_words->words : NULL;
         w && w->word; w++) {
        struct osc_sort_key key;

        if (use_word(def, w, &key))
            osc_nearest_try(&near, w->word);
    }
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "cannot sort %s by '%s'; did you mean '%s'?",
                        def->name, name, near.best);
    return osc_fail(err, OSC_EINVAL,
                    "cannot sort %s by '%s'; 'opscope table %s --list' names its columns",
                    def->name, name, def->name);
}

osc_status osc_sort_parse(const struct osc_table_def *def, const char *text,
                          struct osc_sort_key *key, struct osc_err *err)
{
    const char *const start = text + (text[0] == '-');
    const char *const colon = strchr(start, ':');
    char name[64];

    *key = (struct osc_sort_key){.divisor = -1};
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - start) : (int)strlen(start),
             start);
    if (colon && strcmp(colon, ":asc") == 0)
        key->ascending = true;
    else if (colon && strcmp(colon, ":desc") != 0)
        return osc_fail(err, OSC_EINVAL,
                        "the order of '%s' is neither ':asc' (smallest first) nor ':desc'",
                        text);
    if (key->ascending && start != text)
        return osc_fail(err, OSC_EINVAL,
                        "'%s' asks for both orders; '-COL' is descending, 'COL:asc' ascending",
                        text);

    const int column = osc_table_column(def, name);
    if (column >= 0) {
        key->column = (uint32_t)column;
        return OSC_OK;
    }
    return find_word(def, name, key) ? OSC_OK : wrong_key(def, name, err);
}

struct comparison {
    const struct osc_result *r;
    const struct osc_sort_key *key;
};

static int compare_ints(const struct comparison *c, uint32_t a, uint32_t b)
{
    osc_wide x = osc_result_get_int(c->r, a, c->key->column);
    osc_wide y = osc_result_get_int(c->r, b, c->key->column);

    if (c->key->divisor >= 0) {
        /* Compare x/m < y/n as x*n < y*m: counts are positive, and nothing is rounded. */
        const int64_t m = osc_result_get_int(c->r, a, (uint32_t)c->key->divisor);
        const int64_t n = osc_result_get_int(c->r, b, (uint32_t)c->key->divisor);

        x *= n > 0 ? n : 1;
        y *= m > 0 ? m : 1;
    }
    return (x > y) - (x < y);
}

static int compare_cells(const struct comparison *c, uint32_t a, uint32_t b)
{
    const uint32_t column = c->key->column;

    switch (c->r->def->columns[column].type) {
    case OSC_TYPE_STRING:
        return osc_str_cmp(osc_result_get_str(c->r, a, column),
                           osc_result_get_str(c->r, b, column));
    case OSC_TYPE_INTEGER:
        return compare_ints(c, a, b);
    case OSC_TYPE_NUMBER: {
        const double x = osc_result_get_num(c->r, a, column);
        const double y = osc_result_get_num(c->r, b, column);

        return (x > y) - (x < y);
    }
    case OSC_TYPE_BOOLEAN:
        return (int)osc_result_get_bool(c->r, a, column) -
               (int)osc_result_get_bool(c->r, b, column);
    }
    return 0;
}

/* NaN counts as missing: otherwise the order would depend on the algorithm. */
static bool is_there(const struct comparison *c, uint32_t i)
{
    if (!osc_result_has(c->r, i, c->key->column))
        return false;
    if (c->r->def->columns[c->key->column].type != OSC_TYPE_NUMBER)
        return true;

    const double v = osc_result_get_num(c->r, i, c->key->column);
    return v >= v; /* false only for NaN */
}

bool osc_sort_has_any(const struct osc_result *r, const struct osc_sort_key *key)
{
    const struct comparison c = {r, key};

    for (uint32_t i = 0; i < r->n_rows; i++) {
        if (is_there(&c, i))
            return true;
    }
    return false;
}

static int compare_rows(const void *pa, const void *pb, void *ctx)
{
    const struct comparison *c = ctx;
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const bool has_a = is_there(c, a), has_b = is_there(c, b);
    int order = 0;

    if (has_a && has_b) {
        order = compare_cells(c, a, b);
        if (!c->key->ascending)
            order = -order;
    } else if (has_a != has_b) {
        order = has_a ? -1 : 1;
    }
    return order != 0 ? order : (a > b) - (a < b);
}

osc_status osc_sort_rows(const struct osc_result *r, const struct osc_sort_key *key,
                         uint32_t **order)
{
    struct comparison c = {r, key};

    *order = NULL;
    if (r->n_rows > UINT32_MAX)
        return OSC_ELIMIT;

    uint32_t *rows = osc_malloc((r->n_rows ? r->n_rows : 1) * sizeof *rows);
    if (!rows)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < r->n_rows; i++)
        rows[i] = i;
    if (key)
        osc_sort_with(rows, r->n_rows, sizeof *rows, compare_rows, &c);
    *order = rows;
    return OSC_OK;
}
