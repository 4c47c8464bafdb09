/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/shift.h"

#include <stdbool.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

/* Hashes of runs are polynomials modulo the prime 2^61 - 1. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE  UINT64_C(0x12345678abcdef1)

__extension__ typedef unsigned __int128 wide;

static uint64_t times(uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;
    const uint64_t sum = (uint64_t)(product >> 61) + (uint64_t)(product & PRIME);

    return sum >= PRIME ? sum - PRIME : sum;
}

/* A run of the length that is looked for. */
struct run {
    uint64_t hash;
    size_t at;
};

struct shifting_lists {
    uint64_t *ref, *own, *powers; /* owned: hashes of what begins the lists */
    struct run *runs;             /* owned; of the first list, by hash and place */
    size_t n_ref, n_own;
};

static int by_hash(const void *a, const void *b)
{
    const struct run *const x = a, *const y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The hash of V[at, at + LEN), whose beginnings have the hashes FIRST. */
static uint64_t hash_of(const struct shifting_lists *a, const uint64_t *first, size_t at,
                        size_t len)
{
    const uint64_t without = times(first[at], a->powers[len]);

    return first[at + len] >= without ? first[at + len] - without
                                      : first[at + len] + PRIME - without;
}

static void hash_beginnings(const uint64_t *v, size_t n, uint64_t *out)
{
    out[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t sum = times(out[i], BASE) + osc_hash_u64(v[i]) % PRIME;

        out[i + 1] = sum >= PRIME ? sum - PRIME : sum;
    }
}

/* Whether the shift X is nearer to 0 than Y, or as near and positive. */
static bool is_nearer(int64_t x, int64_t y)
{
    const int64_t far_x = x < 0 ? -x : x, far_y = y < 0 ? -y : y;

    return far_x < far_y || (far_x == far_y && x > y);
}

/* Whether both lists have a run of LEN; *SHIFT: by how much the nearest are apart. */
static bool has_run(struct shifting_lists *a, size_t len, int64_t *shift)
{
    const size_t n = a->n_ref - len + 1;
    bool is_found = false;

    for (size_t i = 0; i < n; i++)
        a->runs[i] = (struct run){hash_of(a, a->ref, i, len), i};
    osc_sort(a->runs, n, sizeof *a->runs, by_hash);
    for (size_t i = 0; i + len <= a->n_own; i++) {
        const struct run key = {hash_of(a, a->own, i, len), i};
        size_t low = 0, high = n;

        OSC_BISECT(low, high, k, by_hash(&a->runs[k], &key) < 0)
        /* The first at this place or behind it, and the last before it. */
        for (size_t k = low > 0 ? low - 1 : 0; k <= low && k < n; k++) {
            const int64_t by = (int64_t)a->runs[k].at - (int64_t)i;

            if (a->runs[k].hash != key.hash)
                continue;
            if (!is_found || is_nearer(by, *shift))
                *shift = by;
            is_found = true;
        }
    }
    return is_found;
}

osc_status osc_rank_shift(const uint64_t *ref, size_t n_ref, const uint64_t *own, size_t n_own,
                          int64_t *shift)
{
    const size_t most = n_ref < n_own ? n_ref : n_own;
    struct shifting_lists a = {.ref = osc_calloc(n_ref + 1, sizeof *a.ref),
                               .own = osc_calloc(n_own + 1, sizeof *a.own),
                               .powers = osc_calloc(most + 1, sizeof *a.powers),
                               .runs = osc_calloc(n_ref + 1, sizeof *a.runs),
                               .n_ref = n_ref,
                               .n_own = n_own};
    size_t low = 0, high = most; /* a run of low is there, none above high */
    osc_status st = a.ref && a.own && a.powers && a.runs ? OSC_OK : OSC_ENOMEM;

    *shift = 0;
    if (st == OSC_OK) {
        hash_beginnings(ref, n_ref, a.ref);
        hash_beginnings(own, n_own, a.own);
        a.powers[0] = 1;
        for (size_t i = 0; i < most; i++)
            a.powers[i + 1] = times(a.powers[i], BASE);
    }
    while (st == OSC_OK && low < high) {
        const size_t len = low + (high - low + 1) / 2;
        int64_t found = 0;

        if (has_run(&a, len, &found)) {
            low = len;
            *shift = found;
        } else {
            high = len - 1;
        }
    }
    osc_free(a.ref);
    osc_free(a.own);
    osc_free(a.powers);
    osc_free(a.runs);
    return st;
}
