/* SPDX-License-Identifier: Apache-2.0 */
#include "table/row_sort.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "model/known_names.h"
#include "table/nearest.h"

/* torch's sort keys, with "device" for cuda, xpu and the like. */
static const struct torch_key {
    const char *word;
    enum osc_torch_key key;
    bool is_average;
} torch_keys[] = {
    {"self_cpu_time_total", OSC_TORCH_SELF_CPU, false},
    {"cpu_time_total", OSC_TORCH_CPU, false},
    {"cpu_time", OSC_TORCH_CPU, true},
    {"self_device_time_total", OSC_TORCH_SELF_DEVICE, false},
    {"device_time_total", OSC_TORCH_DEVICE, false},
    {"device_time", OSC_TORCH_DEVICE, true},
    {"self_cpu_memory_usage", OSC_TORCH_SELF_CPU_BYTES, false},
    {"cpu_memory_usage", OSC_TORCH_CPU_BYTES, false},
    {"self_device_memory_usage", OSC_TORCH_SELF_DEVICE_BYTES, false},
    {"device_memory_usage", OSC_TORCH_DEVICE_BYTES, false},
    {"count", OSC_TORCH_COUNT, false},
    {"key", OSC_TORCH_KEY, false},
};

/* Whether the LEN bytes at WORD can be torch's word for a device, such as "cuda", or the name
 * of a backend. One that is nearly "cpu" is a slip, unless it is another unit, such as "npu".
 */
static bool is_device(const char *word, size_t len)
{
    char text[16];

    if (len == 0 || len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    return osc_edit_distance(text, "cpu") > 1 ||
           (len == 3 && strcmp(text + 1, "pu") == 0 && text[0] != 'c');
}

/* The word for a device in the LEN bytes of KEY; "": there is none. */
static struct osc_str device_of(const char *key, size_t len)
{
    static const char *const ends[] = {"_time_total", "_time", "_memory_usage"};
    const size_t before = strncmp(key, "self_", 5) == 0 ? 5 : 0;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t after = strlen(ends[i]);

        if (len > before + after && memcmp(key + len - after, ends[i], after) == 0 &&
            is_device(key + before, len - before - after))
            return (struct osc_str){key + before, (uint32_t)(len - before - after)};
    }
    return OSC_STR("");
}

/* Copy KEY with the word for a device in it replaced by "device". */
static void unify_device(const char *key, char *out, size_t size)
{
    const struct osc_str word = device_of(key, strlen(key));

    if (word.len > 0)
        snprintf(out, size, "%.*sdevice%s", (int)(word.s - key), key, word.s + word.len);
    else
        snprintf(out, size, "%s", key);
}

/* Whether WORD stands for any device: torch's word for one, or nearly "cpu", as "npu" is. */
static bool is_any_device(struct osc_str word)
{
    return osc_str_eq(word, OSC_STR("device")) || osc_str_eq(word, OSC_STR("privateuse1")) ||
           osc_known_device_number(word) >= 0 ||
           (word.len == 3 && memcmp(word.s + 1, "pu", 2) == 0);
}

struct osc_str osc_sort_device(const struct osc_table_def *def, const char *text)
{
    const char *const start = text + (text[0] == '-');
    const struct osc_str word = device_of(start, strcspn(start, ":"));

    return osc_table_column(def, start) >= 0 || is_any_device(word) ? OSC_STR("") : word;
}

osc_status osc_sort_fail_device(const struct osc_table_def *def, const char *text,
                                struct osc_str device, struct osc_err *err)
{
    const char *const start = text + (text[0] == '-');
    const size_t len = strcspn(start, ":");
    const char *const end = device.s + device.len;

    return osc_fail(err, OSC_EINVAL,
                    "cannot sort %s by '%.*s': no device is called '%.*s'; did you mean "
                    "'%.*sdevice%.*s'?",
                    def->name, (int)len, start, (int)device.len, device.s,
                    (int)(device.s - start), start, (int)(len - (size_t)(end - start)), end);
}

/* The first column of DEF that KEY of torch means, or -1. */
static int column_of(const struct osc_table_def *def, enum osc_torch_key key)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].torch & (unsigned)key)
            return (int)c;
    }
    return -1;
}

static bool find_torch_key(const struct osc_table_def *def, const char *name,
                           struct osc_sort_key *key)
{
    char word[64];

    unify_device(name, word, sizeof word);
    for (size_t i = 0; i < sizeof torch_keys / sizeof *torch_keys; i++) {
        const struct torch_key *const k = &torch_keys[i];
        const int column = strcmp(k->word, word) == 0 ? column_of(def, k->key) : -1;
        const int divisor = k->is_average ? column_of(def, OSC_TORCH_COUNT) : -1;

        if (column < 0 || (k->is_average && divisor < 0))
            continue;
        key->column = (uint32_t)column;
        key->divisor = divisor;
        return true;
    }
    return false;
}

static osc_status wrong_key(const struct osc_table_def *def, const char *name,
                            struct osc_err *err)
{
    struct osc_nearest near = {.word = name};

    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            osc_nearest_try(&near, def->columns[c].name);
    }
    for (size_t i = 0; i < sizeof torch_keys / sizeof *torch_keys; i++) {
        struct osc_sort_key key;

        if (find_torch_key(def, torch_keys[i].word, &key))
            osc_nearest_try(&near, torch_keys[i].word);
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
    return find_torch_key(def, name, key) ? OSC_OK : wrong_key(def, name, err);
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
