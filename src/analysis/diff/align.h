/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h - which elements of two sequences belong together, in order.
 *
 *   1. The common begin and end, by value.
 *   2. Values that occur once in each: the longest run of them that is ascending in both
 *      (as patience diff does) cuts the rest into gaps.
 *   3. In a gap, a longest common subsequence by Myers's algorithm, O((n + m) d), as long as it
 *      has no more than OSC_ALIGN_EDITS_MAX differences d.
 *   4. Else the first occurrence of a value goes with the first of the other side, the second
 *      with the second and so on, as far as they ascend.
 *
 * So sequences of n elements take O(n log n) and a constant times n, whatever they contain, and
 * one that differs by a few elements is aligned without a loss.
 *
 * Threading: pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_ALIGN_EDITS_MAX 256u
#define OSC_ALIGN_NONE      UINT32_MAX

/* A sequence of N values; elements with equal values may go together. */
struct osc_sequence {
    const uint64_t *values;
    uint32_t n;
};

/* Set TO, one for each element of A, to the number of the element of B that it goes with, or
 * OSC_ALIGN_NONE. */
OSC_MUST_USE osc_status osc_align(const struct osc_sequence *a, const struct osc_sequence *b,
                                  uint32_t *to);
