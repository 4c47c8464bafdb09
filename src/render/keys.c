/* SPDX-License-Identifier: Apache-2.0 */
#include "render/keys.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Number of rows that differ in the columns of the bits SHOWN. ROWS has room for one hash a
 * row.
 */
static uint32_t count_different(const uint64_t *cells, uint32_t n_rows, uint32_t n_columns,
                                uint64_t shown, uint64_t *rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_rows; i++) {
        rows[i] = 0;
        for (uint32_t c = 0; c < n_columns; c++) {
            if (shown >> c & 1)
                rows[i] = osc_hash_u64(rows[i] ^ cells[(size_t)i * n_columns + c]);
        }
    }
    osc_sort(rows, n_rows, sizeof *rows, compare);
    for (uint32_t i = 0; i < n_rows; i++)
        n += i == 0 || rows[i] != rows[i - 1];
    return n;
}

osc_status osc_keys_find(const uint64_t *cells, uint32_t n_rows, uint32_t n_columns,
                         uint64_t always, uint64_t *needed)
{
    const uint64_t all = n_columns < 64 ? (UINT64_C(1) << n_columns) - 1 : UINT64_MAX;
    uint64_t *const rows = osc_calloc((size_t)n_rows + 1, sizeof *rows);

    if (!rows)
        return OSC_ENOMEM;
    const uint32_t n_most = count_different(cells, n_rows, n_columns, all, rows);
    uint64_t shown = all;
    for (uint32_t c = n_columns; c-- > 0;) {
        const uint64_t without = shown & ~(UINT64_C(1) << c);

        if (!(always >> c & 1) &&
            count_different(cells, n_rows, n_columns, without, rows) == n_most)
            shown = without;
    }
    *needed = shown & ~always;
    osc_free(rows);
    return OSC_OK;
}

bool osc_keys_is_name(const char *title)
{
    static const char *const words[] = {"name", "path", "operator", "title"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(title, words[i]) == 0)
            return true;
    }
    return false;
}

bool osc_keys_is_name_of(const char *title, const char *key)
{
    const size_t len = strlen(key);

    return strncmp(title, key, len) == 0 && strcmp(title + len, "_name") == 0;
}
