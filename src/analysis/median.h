/* SPDX-License-Identifier: Apache-2.0 */
/*
 * median.h - the median, without sorting the whole array.
 *
 * Threading: pure functions; the array is the caller's and is reordered.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The K-th smallest of V[0, N), from 0. Afterwards no element before it is larger. K < N. */
int64_t osc_select_kth(int64_t *v, size_t n, size_t k);

/*
 * The median of V[0, N) with N_ZEROS zeroes added (then V must not be negative): for an even
 * number the mean of the middle two; 0 for no values.
 */
double osc_median(int64_t *v, size_t n, size_t n_zeros);
