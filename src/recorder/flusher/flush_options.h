/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_options.h - the flusher's options, from the program or from its environment.
 *
 * Options given to osc_start() take precedence; OPSCOPE_SCHEDULE, which `opscope run` sets,
 * supplies the others.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "opscope/record.h"

struct osc_flush_options {
    struct osc_start_options o;   /* its schedule is the one below, or NULL */
    struct osc_schedule schedule; /* if there is one */
    bool is_flight;               /* a flight recorder: keeps records until a dump */
};

/* Fill OPTIONS, which is zeroed and must not move, from GIVEN, which may be NULL. */
void osc_flush_options_read(struct osc_flush_options *options,
                            const struct osc_start_options *given);
