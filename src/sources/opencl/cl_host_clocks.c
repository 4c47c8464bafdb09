/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_host_clocks.h"

#define NS         UINT64_C(1000000000)
#define BRACKET_NS UINT64_C(1000000) /* a longer call tells too little */
#define ALIKE_NS   UINT64_C(1000)

static const clockid_t ids[OSC_CL_CLOCK_COUNT] = {
    [OSC_CL_CLOCK_RAW] = CLOCK_MONOTONIC_RAW,
    [OSC_CL_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
    [OSC_CL_CLOCK_BOOT] = CLOCK_BOOTTIME,
    [OSC_CL_CLOCK_REAL] = CLOCK_REALTIME,
};

uint64_t osc_cl_read_clock(enum osc_cl_clock k)
{
    struct timespec t = {0};

    clock_gettime(ids[k], &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

void osc_cl_read_clocks(uint64_t ns[OSC_CL_CLOCK_COUNT])
{
    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++)
        ns[k] = osc_cl_read_clock((enum osc_cl_clock)k);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

enum osc_cl_clock osc_cl_find_clock(const struct osc_cl_readings *r, uint64_t queued_ns)
{
    enum osc_cl_clock found = OSC_CL_CLOCK_OWN;

    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++) {
        if (r->after_ns[k] - r->before_ns[k] > BRACKET_NS)
            return OSC_CL_CLOCK_UNKNOWN;
        if (queued_ns < r->before_ns[k] || queued_ns > r->after_ns[k])
            continue;
        if (found == OSC_CL_CLOCK_OWN)
            found = (enum osc_cl_clock)k;
        else if (distance(r->before_ns[k], r->before_ns[found]) > ALIKE_NS)
            return OSC_CL_CLOCK_UNKNOWN;
    }
    return found;
}
