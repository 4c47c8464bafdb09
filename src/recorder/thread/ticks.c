/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

int osc_ticks_source;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0};

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#if defined __x86_64__
/* Whether the counter is "invariant": it neither stops nor changes its rate. */
static int is_invariant(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* The kernel switches to another clock once it has found processors that disagree. */
static int kernel_trusts_it(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/"
                               "current_clocksource";
    char text[8] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    return n == 4 && memcmp(text, "tsc\n", 4) == 0;
}
#endif

static int choose(void)
{
#if defined __x86_64__
    return is_invariant() && kernel_trusts_it() ? OSC_TICKS_COUNTER : OSC_TICKS_MONOTONIC;
#elif defined __aarch64__
    return OSC_TICKS_COUNTER; /* the architecture guarantees all of it */
#else
    return OSC_TICKS_MONOTONIC;
#endif
}

void osc_ticks_init(void)
{
    const int kept = errno;

    /* relaxed: every thread finds the same answer. */
    if (__atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) == OSC_TICKS_UNKNOWN)
        __atomic_store_n(&osc_ticks_source, choose(), __ATOMIC_RELAXED);
    errno = kept;
}

uint64_t osc_ticks_slow(void)
{
    osc_ticks_init();
    /* relaxed: as in osc_ticks_init() */
    if (__atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) == OSC_TICKS_COUNTER)
        return osc_ticks_counter();
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

const char *osc_ticks_name(void)
{
    osc_ticks_init();
    /* relaxed: as in osc_ticks_init() */
    if (__atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) != OSC_TICKS_COUNTER)
        return "monotonic";
#if defined __aarch64__
    return "cntvct";
#else
    return "tsc";
#endif
}

uint64_t osc_ticks_hz(void)
{
    uint64_t hz = 0;

    osc_ticks_init();
    /* relaxed: as in osc_ticks_init() */
    if (__atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) != OSC_TICKS_COUNTER)
        return UINT64_C(1000000000);
#if defined __aarch64__
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
#endif
    return hz;
}

void osc_ticks_anchor(struct osc_clock_anchor *anchor)
{
    enum { TRIES = 8 };

    *anchor = (struct osc_clock_anchor){.width_ticks = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        struct osc_clock_anchor now;
        const uint64_t before = osc_ticks();

        now.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
        now.raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
        now.realtime_ns = clock_ns(CLOCK_REALTIME);
        now.boottime_ns = clock_ns(CLOCK_BOOTTIME);
        now.width_ticks = osc_ticks() - before;
        now.ticks = before + now.width_ticks / 2;
        if (now.width_ticks < anchor->width_ticks)
            *anchor = now;
    }
}
