/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_clock.h - times that clients take with clocks of their own.
 *
 * A clock domain has a rate, and says what it shows when it is made and when the client
 * resets all of them; that moment is the one that relates it to the recorder's clock.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "sources/itt_abi.h"

/* Now by the recorder's clock, from which its rate is told. Called once, early. */
void osc_itt_clock_begin(void);

/* A clock whose rate and reading FN tells; NULL if there is no FN or no memory. */
struct osc_itt_clock *osc_itt_clock_new(osc_itt_clock_fn fn, void *data);

/* Ask all clocks again. */
void osc_itt_clock_reset(void);

/* TIMESTAMP of CLOCK in ticks of the recorder; as it is, if CLOCK is NULL. */
uint64_t osc_itt_clock_ticks(const struct osc_itt_clock *clock, uint64_t timestamp);
