/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_clock.h - times that clients take with clocks of their own.
 *
 * A clock domain has a rate. It is read when it is created and when the client resets all of
 * them; each reading relates it to the recorder's clock.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "sources/itt/itt_abi.h"

/* Take the first reading of the recorder's clock, to measure its rate. Called once, early. */
void osc_itt_clock_begin(void);

/* A clock whose rate and reading FN returns; NULL without FN or without memory. */
struct osc_itt_clock *osc_itt_clock_new(osc_itt_clock_fn fn, void *data);

/* Read all clocks again. */
void osc_itt_clock_reset(void);

/* TIMESTAMP of CLOCK in ticks of the recorder; unchanged if CLOCK is NULL. */
uint64_t osc_itt_clock_ticks(const struct osc_itt_clock *clock, uint64_t timestamp);
