/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.h - where one list of signatures begins in another one.
 *
 * Ranks call the same collectives in the same order, but a recording may begin later than that
 * of another rank. The longest run of signatures that both have in common says by how much.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Set *SHIFT so that OWN[i] belongs to REF[i + *SHIFT], by the longest run that both have; of
 * several that are equally long the one with the shift nearest to 0, of two such the positive
 * one. 0: they have no signature in common.
 */
OSC_MUST_USE osc_status osc_rank_shift(const uint64_t *ref, size_t n_ref, const uint64_t *own,
                                       size_t n_own, int64_t *shift);
