/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_state.h - what the ITT collector knows of the process: whether calls are wanted, and
 * which static parts were given our functions.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdatomic.h>

#include "sources/itt_abi.h"

/* Bits of the process's state. If any is set, calls take the slow path. */
enum osc_itt_state {
    OSC_ITT_REPORT_DUE = 1, /* the recording does not name the static parts yet */
    OSC_ITT_DETACHED = 2,   /* the client stopped recording for good */
};

extern _Atomic uint32_t osc_itt_state_ __attribute__((visibility("hidden")));

/* Record that the static part G got N_BOUND of the N_FUNCTIONS that it knows. */
void osc_itt_report_part(const struct osc_itt_global *g, unsigned n_bound,
                         unsigned n_functions);

/* Record all static parts again: the child of a fork has a new recording. */
void osc_itt_report_parts(void);
