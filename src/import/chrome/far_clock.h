/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_clock.h - times that are too far from zero for 64 bits of nanoseconds.
 *
 * Some programs count microseconds from the year 1601, or from a random start, or write
 * nanoseconds. A trace whose first range, or without one its first event, begins more than 146
 * years from zero is read by the distance from there. It is looked for at the start of the
 * text; all threads then read times alike.
 *
 * Threading: pure function.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* The whole microseconds from which times of the trace that begins with TEXT count; 0: zero. */
int64_t osc_far_clock(struct osc_str text);
