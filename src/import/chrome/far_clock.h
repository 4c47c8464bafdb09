/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_clock.h - times that are too far from zero for 64 bits of nanoseconds.
 *
 * Some programs count microseconds from the year 1601, or from a random start, or write
 * nanoseconds. If more than half of the first eight ranges of a trace, or without any of the
 * first eight events, begin more than 146 years from zero, times are read by their distance
 * from the first of those. They are looked for at the start of the text; all threads then read
 * times alike.
 *
 * Threading: pure function.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* The whole microseconds from which times of the trace that begins with TEXT count; 0: zero. */
int64_t osc_far_clock(struct osc_str text);
