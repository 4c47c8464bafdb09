/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_options.h - what the program asked of the flusher, or else its environment.
 *
 * What osc_start() was given counts; where that says nothing, OPSCOPE_SCHEDULE does, which
 * is what `opscope run` sets.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "opscope/record.h"

struct osc_flush_options {
    struct osc_start_options o;   /* its schedule is the one below, or NULL */
    struct osc_schedule schedule; /* if there is one */
    bool is_flight;               /* it keeps what is recorded until asked for it */
};

/* Fill OPTIONS, which is zeroed and stays where it is, from GIVEN, which may be NULL. */
void osc_flush_options_read(struct osc_flush_options *options,
                            const struct osc_start_options *given);
