/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - integers of 128 bits, for sums and products of those of 64.
 *
 * A file can hold any numbers, so sums of what it says are made without bounds and
 * bounded once, where they become a cell: then their order does not matter.
 *
 * Threading: pure.
 */
#pragma once

#include <stdint.h>

__extension__ typedef __int128 osc_wide;

/* The integer of 64 bits that is nearest to V. */
static inline int64_t osc_wide_nearest(osc_wide v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}
