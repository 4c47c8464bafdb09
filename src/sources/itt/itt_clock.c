/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt_clock.h"

#include <stdatomic.h>
#include <time.h>

#include "sources/itt/itt_objects.h"
#include "sources/source_memory.h"

#define NS 1000000000

/* The rate is measured until this long after osc_itt_clock_begin(), and fixed from then on. */
#define RATE_NS 1000000000

#define READINGS 4

struct clock {
    struct osc_itt_clock abi;  /* what clients get */
    _Atomic uint64_t hz, base; /* of the client's clock, which showed base ... */
    _Atomic uint64_t ticks;    /* ... when ours showed this */
    struct clock *next;
};

/* Both clocks at the same moment. */
struct reading {
    uint64_t ticks;
    int64_t ns;
};

static struct reading first;
static _Atomic double known_hz;
static _Atomic(struct clock *) clocks;

static int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* The reading that took the least time of a few: other threads may run during one. */
static struct reading read_both(void)
{
    struct reading best = {0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = osc_now();
        const int64_t ns = monotonic_ns();
        const uint64_t took = osc_now() - before;

        if (took < least) {
            least = took;
            best = (struct reading){before + took / 2, ns};
        }
    }
    return best;
}

void osc_itt_clock_begin(void)
{
    first = read_both();
}

/*
 * Ticks of the recorder per second, measured since osc_itt_clock_begin(). Times to convert are
 * no older, so the error is no larger than that of the two readings.
 */
static double ticks_hz(void)
{
    /* Relaxed: every thread computes about the same. */
    const double known = atomic_load_explicit(&known_hz, memory_order_relaxed);
    struct reading now = first;

    if (known > 0)
        return known;
    while (now.ns - first.ns < 1000)
        now = read_both();
    const double hz = (double)(now.ticks - first.ticks) / (double)(now.ns - first.ns) * NS;
    if (now.ns - first.ns >= RATE_NS)
        atomic_store_explicit(&known_hz, hz, memory_order_relaxed);
    return hz;
}

/* Read CLOCK, and store our own time at the middle of the call. */
static void ask(struct clock *clock)
{
    struct osc_itt_clock_info info = {0};
    const uint64_t before = osc_now();

    clock->abi.fn(&info, clock->abi.fn_data);
    const uint64_t after = osc_now();
    /* Relaxed: a reset while events arrive has no right order. */
    atomic_store_explicit(&clock->hz, info.hz, memory_order_relaxed);
    atomic_store_explicit(&clock->base, info.base, memory_order_relaxed);
    atomic_store_explicit(&clock->ticks, before + (after - before) / 2, memory_order_relaxed);
}

struct osc_itt_clock *osc_itt_clock_new(osc_itt_clock_fn fn, void *data)
{
    struct clock *const clock = fn ? osc_source_memory(sizeof *clock) : NULL;

    if (!clock)
        return NULL;
    clock->abi = (struct osc_itt_clock){.fn = fn, .fn_data = data};
    ask(clock);
    clock->next = atomic_load_explicit(&clocks, memory_order_relaxed);
    /* Release pairs with the acquire in osc_itt_clock_reset(). */
    while (!atomic_compare_exchange_weak_explicit(&clocks, &clock->next, clock,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return &clock->abi;
}

void osc_itt_clock_reset(void)
{
    /* Acquire pairs with the release in osc_itt_clock_new(). */
    for (struct clock *c = atomic_load_explicit(&clocks, memory_order_acquire); c; c = c->next)
        ask(c);
}

uint64_t osc_itt_clock_ticks(const struct osc_itt_clock *abi, uint64_t timestamp)
{
    const struct clock *const clock = (const struct clock *)abi;
    /* Relaxed: see ask(). */
    const uint64_t hz = clock ? atomic_load_explicit(&clock->hz, memory_order_relaxed) : 0;

    if (hz == 0)
        return timestamp;
    const uint64_t base = atomic_load_explicit(&clock->base, memory_order_relaxed);
    const uint64_t ticks = atomic_load_explicit(&clock->ticks, memory_order_relaxed);
    const double elapsed = (double)(int64_t)(timestamp - base) / (double)hz * ticks_hz();
    /* A value this far off was never a time. */
    return elapsed > -9e18 && elapsed < 9e18 ? ticks + (uint64_t)(int64_t)elapsed : ticks;
}
