/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - 128-bit integers, for sums and products of 64-bit ones.
 *
 * A file may hold any numbers. Sums over them are computed without overflow and clamped once,
 * when they become a cell: so the order of addition does not matter.
 *
 * Threading: pure.
 */
#pragma once

#include <stdint.h>

__extension__ typedef __int128 osc_wide;

/* V clamped to 64 bits. */
static inline int64_t osc_wide_nearest(osc_wide v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}
