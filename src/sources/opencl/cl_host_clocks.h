/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_host_clocks.h - the clocks of the host, one of which a driver may use for its times.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>
#include <time.h>

/* Each is one of the host's clocks, but the last two. */
enum osc_cl_clock {
    OSC_CL_CLOCK_RAW, /* CLOCK_MONOTONIC_RAW */
    OSC_CL_CLOCK_MONOTONIC,
    OSC_CL_CLOCK_BOOT,
    OSC_CL_CLOCK_REAL,
    OSC_CL_CLOCK_COUNT,
    OSC_CL_CLOCK_OWN = OSC_CL_CLOCK_COUNT, /* none of these */
    OSC_CL_CLOCK_UNKNOWN                   /* not compared yet */
};

/* All clocks of the host around a call, in ns. */
struct osc_cl_readings {
    uint64_t before_ns[OSC_CL_CLOCK_COUNT], after_ns[OSC_CL_CLOCK_COUNT];
};

/* The clock K, one of the host's, in ns. */
uint64_t osc_cl_read_clock(enum osc_cl_clock k);

/* Read all clocks of the host. */
void osc_cl_read_clocks(uint64_t ns[OSC_CL_CLOCK_COUNT]);

/*
 * The clock of the host that showed QUEUED_NS between the readings R. Around a long call
 * several clocks may have: then it is not known yet, unless they agree.
 */
enum osc_cl_clock osc_cl_find_clock(const struct osc_cl_readings *r, uint64_t queued_ns);
