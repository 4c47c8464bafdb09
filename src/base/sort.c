/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Up to this size the C library sorts with stack memory. */
#define SMALL_BYTES 1024u

static void swap(char *a, char *b, size_t size)
{
    char piece[64];

    for (size_t n; size > 0; size -= n, a += n, b += n) {
        n = size < sizeof piece ? size : sizeof piece;
        memcpy(piece, a, n);
        memcpy(a, b, n);
        memcpy(b, piece, n);
    }
}

struct order {
    osc_sort_compare_with *compare;
    void *ctx;
};

/* Let element I of a heap of N sink until no element below it is greater. */
static void sink(char *v, size_t i, size_t n, size_t size, const struct order *o)
{
    for (size_t below = 2 * i + 1; below < n; i = below, below = 2 * i + 1) {
        if (below + 1 < n && o->compare(v + below * size, v + (below + 1) * size, o->ctx) < 0)
            below++;
        if (o->compare(v + i * size, v + below * size, o->ctx) >= 0)
            return;
        swap(v + i * size, v + below * size, size);
    }
}

/* Heapsort: needs no memory beside the array and is never worse than N log N. */
static void sort_in_place(char *v, size_t n, size_t size, const struct order *o)
{
    for (size_t i = n / 2; i-- > 0;)
        sink(v, i, n, size, o);
    for (size_t i = n; i-- > 1;) {
        swap(v, v + i * size, size);
        sink(v, 0, i, size, o);
    }
}

struct plain {
    osc_sort_compare *compare;
};

static int compare_plain(const void *a, const void *b, void *ctx)
{
    const struct plain *const plain = ctx;

    return plain->compare(a, b);
}

/* What the C library allocates with malloc, at most. */
static size_t scratch_bytes(size_t n, size_t size)
{
    return n * size > SMALL_BYTES ? n * size : 0;
}

void osc_sort(void *v, size_t n, size_t size, osc_sort_compare *compare)
{
    const size_t scratch = scratch_bytes(n, size);

    if (n < 2)
        return;
    if (!osc_mem_take(scratch)) {
        sort_in_place(v, n, size, &(struct order){compare_plain, &(struct plain){compare}});
        return;
    }
    qsort(v, n, size, compare);
    osc_mem_give(scratch);
}

void osc_sort_with(void *v, size_t n, size_t size, osc_sort_compare_with *compare, void *ctx)
{
    const size_t scratch = scratch_bytes(n, size);

    if (n < 2)
        return;
    if (!osc_mem_take(scratch)) {
        sort_in_place(v, n, size, &(struct order){compare, ctx});
        return;
    }
    qsort_r(v, n, size, compare, ctx);
    osc_mem_give(scratch);
}
