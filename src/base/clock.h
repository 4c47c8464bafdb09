/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - a clock for measuring durations.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC: only differences have a meaning. */
int64_t osc_clock_now_ns(void);
