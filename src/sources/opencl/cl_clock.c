/* SPDX-License-Identifier: Apache-2.0 */
/* How the clocks of devices relate to that of recordings. */
#include <time.h>

#include "opscope/source.h"
#include "sources/opencl/cl_queues.h"

#define NS            UINT64_C(1000000000)
#define PAIR_EVERY_NS UINT64_C(20000000)
#define READINGS      3
#define BRACKET_NS    UINT64_C(1000000) /* a longer call tells too little */
#define ALIKE_NS      UINT64_C(1000)

static const clockid_t ids[OSC_CL_CLOCK_COUNT] = {
    [OSC_CL_CLOCK_RAW] = CLOCK_MONOTONIC_RAW,
    [OSC_CL_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
    [OSC_CL_CLOCK_BOOT] = CLOCK_BOOTTIME,
    [OSC_CL_CLOCK_REAL] = CLOCK_REALTIME,
};

static uint64_t read_ns(clockid_t id)
{
    struct timespec t = {0};

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

void osc_cl_read_clocks(uint64_t ns[OSC_CL_CLOCK_COUNT])
{
    for (unsigned k = 0; k < OSC_CL_CLOCK_COUNT; k++)
        ns[k] = read_ns(ids[k]);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/*
 * The clock of the host that showed QUEUED_NS between the readings R. Around a long call
 * several clocks may have: then it is not known yet, unless they agree.
 */
static enum osc_cl_clock find_clock(const struct osc_cl_readings *r, uint64_t queued_ns)
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

/* Compare the clock ID of the host with ours: the closest of a few readings. */
static void pair_host_clock(uint32_t number, clockid_t id)
{
    uint64_t best_before = 0, best_ns = 0, best_after = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = osc_now(), ns = read_ns(id), after = osc_now();

        if (after - before < best_after - best_before) {
            best_before = before;
            best_ns = ns;
            best_after = after;
        }
    }
    osc_device_clock(number, best_before, best_ns, best_after);
}

/* Whether DEVICE was compared long ago; from now on it was not. */
static bool is_due(struct osc_cl_device *d)
{
    const uint64_t now = read_ns(CLOCK_MONOTONIC_COARSE);
    /* Relaxed: only how often matters. */
    uint64_t last = atomic_load_explicit(&d->paired_ns, memory_order_relaxed);

    return now - last >= PAIR_EVERY_NS &&
           atomic_compare_exchange_strong_explicit(&d->paired_ns, &last, now,
                                                   memory_order_relaxed, memory_order_relaxed);
}

void osc_cl_clock_pair(struct osc_cl_device *device, uint64_t before, uint64_t queued_ns,
                       uint64_t after, const struct osc_cl_readings *readings)
{
    /* Relaxed: every thread finds the same clock. */
    uint32_t clock = atomic_load_explicit(&device->clock, memory_order_relaxed);

    if (clock == OSC_CL_CLOCK_UNKNOWN) {
        if (!readings || queued_ns == 0)
            return;
        clock = find_clock(readings, queued_ns);
        if (clock == OSC_CL_CLOCK_UNKNOWN) {
            if (is_due(device)) /* the call itself is a pair of readings */
                osc_device_clock(device->number, before, queued_ns, after);
            return;
        }
        atomic_store_explicit(&device->clock, clock, memory_order_relaxed);
    }
    if (!is_due(device))
        return;
    if (clock < OSC_CL_CLOCK_COUNT)
        pair_host_clock(device->number, ids[clock]);
    else if (queued_ns != 0)
        osc_device_clock(device->number, before, queued_ns, after);
}

void osc_cl_clock_end(const struct osc_cl_device *device)
{
    const uint32_t clock = atomic_load_explicit(&device->clock, memory_order_relaxed);

    if (clock < OSC_CL_CLOCK_COUNT)
        pair_host_clock(device->number, ids[clock]);
}
