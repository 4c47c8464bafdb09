/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - how long things take.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC: only differences mean anything. */
int64_t osc_clock_now_ns(void);
