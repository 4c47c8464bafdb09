/* SPDX-License-Identifier: Apache-2.0 */
/*
 * median.h - the middle one of many, without sorting them all.
 *
 * Threading: pure functions; the array is the caller's and is reordered.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The K-th smallest of V[0, N), from 0; nothing before it is larger afterwards. K < N. */
int64_t osc_select_kth(int64_t *v, size_t n, size_t k);

/*
 * The median of V[0, N) and N_ZEROS zeros, none of V being negative if there are
 * any: the mean of the middle two of an even number. 0 of nothing.
 */
double osc_median(int64_t *v, size_t n, size_t n_zeros);
