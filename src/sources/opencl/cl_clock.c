/* SPDX-License-Identifier: Apache-2.0 */
/* How the clocks of devices relate to that of recordings. */
#include <time.h>

#include "opscope/source.h"
#include "sources/opencl/cl_queues.h"

#define NS            UINT64_C(1000000000)
#define PAIR_EVERY_NS UINT64_C(20000000)
#define READINGS      3

/* Compare the clock K of the host with ours: the closest of a few readings. */
static void pair_host_clock(uint32_t number, enum osc_cl_clock k)
{
    uint64_t best_before = 0, best_ns = 0, best_after = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = osc_now(), ns = osc_cl_read_clock(k), after = osc_now();

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
    struct timespec t = {0};

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    const uint64_t now = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
    /* Relaxed: only how often matters. */
    uint64_t last = atomic_load_explicit(&d->paired_ns, memory_order_relaxed);

    return now - last >= PAIR_EVERY_NS &&
           atomic_compare_exchange_strong_explicit(&d->paired_ns, &last, now,
                                                   memory_order_relaxed, memory_order_relaxed);
}

bool osc_cl_clock_pair(struct osc_cl_device *device, uint64_t before, uint64_t queued_ns,
                       uint64_t after, const struct osc_cl_readings *readings)
{
    /* Relaxed: every thread finds the same clock. */
    uint32_t clock = atomic_load_explicit(&device->clock, memory_order_relaxed);

    if (clock == OSC_CL_CLOCK_UNKNOWN && readings && queued_ns != 0) {
        clock = osc_cl_find_clock(readings, queued_ns);
        if (clock != OSC_CL_CLOCK_UNKNOWN) {
            atomic_store_explicit(&device->clock, clock, memory_order_relaxed);
            /* Due now: a call before it may have been too long to tell, and a poor pair.
             * Release pairs with the acquire below: whoever sees 0 sees the clock. */
            atomic_store_explicit(&device->paired_ns, 0, memory_order_release);
        }
    }
    if (clock < OSC_CL_CLOCK_COUNT) {
        if (is_due(device))
            pair_host_clock(device->number, clock);
    } else if (queued_ns != 0 && is_due(device)) { /* the call itself is a pair of readings */
        osc_device_clock(device->number, before, queued_ns, after);
    }
    return atomic_load_explicit(&device->paired_ns, memory_order_acquire) != 0 ||
           atomic_load_explicit(&device->clock, memory_order_relaxed) != OSC_CL_CLOCK_UNKNOWN;
}

void osc_cl_clock_end(const struct osc_cl_device *device)
{
    const uint32_t clock = atomic_load_explicit(&device->clock, memory_order_relaxed);

    if (clock < OSC_CL_CLOCK_COUNT)
        pair_host_clock(device->number, clock);
}
