/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/averages_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* A range of equal starts. */
struct tie {
    int64_t dur_ns;
    struct osc_avg_key key;
};

static int64_t dur_of(const struct osc_store *events, uint32_t row)
{
    const osc_row r = {row};
    const int64_t dur_ns = osc_chunk_of(events, r)->dur_ns[osc_row_place(r)];

    return dur_ns == OSC_NO_DUR ? 0 : dur_ns;
}

static int compare_ties(const void *pa, const void *pb)
{
    const struct tie *a = pa, *b = pb;

    if (a->dur_ns != b->dur_ns)
        return a->dur_ns < b->dur_ns ? 1 : -1;
    return (a->key.row > b->key.row) - (a->key.row < b->key.row);
}

static osc_status sort_tie(const struct osc_store *events, struct osc_avg_key *keys, uint32_t n)
{
    struct tie few[16];
    struct tie *ties = n <= 16 ? few : osc_malloc(n * sizeof *ties);

    if (!ties)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        ties[i] = (struct tie){dur_of(events, keys[i].row), keys[i]};
    qsort(ties, n, sizeof *ties, compare_ties);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = ties[i].key;
    if (ties != few)
        osc_free(ties);
    return OSC_OK;
}

/* Order each group of equal starts by duration; the starts themselves are sorted. */
static osc_status sort_ties(const struct osc_store *events, struct osc_avg_key *keys,
                            uint32_t n)
{
    for (uint32_t i = 0; i + 1 < n;) {
        uint32_t end = i + 1;

        while (end < n && keys[end].start == keys[i].start)
            end++;
        if (end - i > 1) {
            const osc_status st = sort_tie(events, keys + i, end - i);
            if (st != OSC_OK)
                return st;
        }
        i = end;
    }
    return OSC_OK;
}

/* One pass of a stable radix sort; false if all keys have the same digit. */
static bool scatter(const struct osc_avg_key *from, struct osc_avg_key *to, uint32_t n,
                    unsigned shift)
{
    uint32_t place[DIGITS] = {0};
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        place[from[i].start >> shift & (DIGITS - 1)]++;
    if (place[from[0].start >> shift & (DIGITS - 1)] == n)
        return false;
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint32_t count = place[d];

        place[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[place[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

osc_status osc_avg_sort(const struct osc_store *events, struct osc_avg_key *keys,
                        struct osc_avg_key *spare, uint32_t n, struct osc_avg_key **sorted)
{
    uint64_t all = 0;
    bool is_sorted = true;

    for (uint32_t i = 1; i < n; i++) {
        all |= keys[i - 1].start | keys[i].start;
        is_sorted &= keys[i - 1].start <= keys[i].start;
    }
    for (unsigned shift = 0; !is_sorted && shift < 64 && all >> shift != 0;
         shift += DIGIT_BITS) {
        if (scatter(keys, spare, n, shift)) {
            struct osc_avg_key *const done = spare;

            spare = keys;
            keys = done;
        }
    }
    *sorted = keys;
    return sort_ties(events, keys, n);
}
