/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - sorting, within the limit of memory, and finding places in what is sorted.
 *
 * qsort() and qsort_r() take a copy of the array from malloc, where nobody counts
 * it. Here it is counted; where the limit does not allow it, the array is sorted in
 * place, which is slower.
 *
 *   - The comparison must tell all elements apart that the caller can: the order of
 *     equal ones is not defined.
 *
 * Threading: pure, as far as the comparison is.
 */
#pragma once

#include <stddef.h>

typedef int osc_sort_compare(const void *a, const void *b);
typedef int osc_sort_compare_with(const void *a, const void *b, void *ctx);

/* Sort the N elements of SIZE bytes at V, which may be NULL if N is 0. */
void osc_sort(void *v, size_t n, size_t size, osc_sort_compare *compare);
void osc_sort_with(void *v, size_t n, size_t size, osc_sort_compare_with *compare, void *ctx);

/*
 * Find the place before which IS_BEFORE is true, an expression of the place I: from there on
 * it is not. LOW and HIGH, variables that hold the first place and the one behind the last,
 * both end there.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): I is a name that the macro declares. */
#define OSC_BISECT(low, high, i, is_before)                     \
    while ((low) < (high)) {                                    \
        const __typeof__(low) i = (low) + ((high) - (low)) / 2; \
        if (is_before)                                          \
            (low) = i + 1;                                      \
        else                                                    \
            (high) = i;                                         \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
