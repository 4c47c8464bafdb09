/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_ticks.h - arithmetic of clocks that wrap.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdint.h>

/* The time whose bits of MASK read TICKS and that is nearest to EXPECTED. */
uint64_t osc_ze_nearest(uint64_t ticks, uint64_t mask, uint64_t expected);

/* TICKS, and what passes in NS (which may be negative) at HZ, below 10 GHz. */
uint64_t osc_ze_advance(uint64_t ticks, int64_t ns, uint64_t hz);
