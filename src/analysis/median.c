/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/median.h"

#include "base/sort.h"

static void swap(int64_t *a, int64_t *b)
{
    const int64_t x = *a;

    *a = *b;
    *b = x;
}

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* Hoare's partition around the median of three; returns where the two halves meet. */
static size_t partition(int64_t *v, size_t low, size_t high)
{
    const size_t middle = low + (high - low) / 2;

    if (v[middle] < v[low])
        swap(&v[middle], &v[low]);
    if (v[high] < v[low])
        swap(&v[high], &v[low]);
    if (v[high] < v[middle])
        swap(&v[high], &v[middle]);
    const int64_t pivot = v[middle];
    for (size_t i = low, j = high;; i++, j--) {
        while (v[i] < pivot)
            i++;
        while (v[j] > pivot)
            j--;
        if (i >= j)
            return j;
        swap(&v[i], &v[j]);
    }
}

int64_t osc_select_kth(int64_t *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;

    /* Enough rounds for any input except one made to be slow, which is sorted instead. */
    for (unsigned round = 0; low < high; round++) {
        if (round == 100) {
            osc_sort(v + low, high - low + 1, sizeof *v, by_value);
            break;
        }
        const size_t meet = partition(v, low, high);
        if (k <= meet)
            high = meet;
        else
            low = meet + 1;
    }
    return v[k];
}

/* The K-th smallest of V with N_ZEROS zeroes added. */
static int64_t kth_with_zeros(int64_t *v, size_t n, size_t n_zeros, size_t k)
{
    return k < n_zeros ? 0 : osc_select_kth(v, n, k - n_zeros);
}

/* The element before the K-th smallest, after kth_with_zeros(). */
static int64_t below_kth(const int64_t *v, size_t n_zeros, size_t k)
{
    int64_t most = n_zeros > 0 ? 0 : v[0];

    for (size_t i = 0; n_zeros + i < k; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

double osc_median(int64_t *v, size_t n, size_t n_zeros)
{
    const size_t all = n + n_zeros;

    if (all == 0)
        return 0;
    const int64_t upper = kth_with_zeros(v, n, n_zeros, all / 2);
    if (all % 2 == 1)
        return (double)upper;
    const int64_t lower = below_kth(v, n_zeros, all / 2);
    /* Add whole halves first, so that the sum cannot overflow. */
    const int64_t whole = lower / 2 + upper / 2, rest = lower % 2 + upper % 2;
    return (double)whole + (double)rest / 2;
}
