/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_clock.h - convert ticks to nanoseconds of CLOCK_MONOTONIC.
 *
 *   host     between two anchors: the straight line through them, rounded down; before the
 *            first and after the last anchor: the nearest line, extended
 *   devices  one straight line each, through the narrowest pair of the first half and
 *            the narrowest of the second half of its pairs
 *
 * All of it in integers, so that every reader computes the same nanosecond. docs/format.md has
 * the formulas.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "wire/live.h"

/* A straight line through (x0 ticks, y0_ns) that rises by dy_ns in dx ticks. */
struct osc_records_line {
    uint64_t x0, dx; /* DX > 0 */
    int64_t y0_ns;
    uint64_t dy_ns;
    uint64_t whole, rest; /* dy_ns / dx, dy_ns % dx */
    uint64_t share;       /* rest << 64 / dx: see osc_records_line_ns() */
};

/* The line through (X0, Y0_NS) that rises by DY_NS in DX ticks, DX > 0. */
struct osc_records_line osc_records_line(uint64_t x0, int64_t y0_ns, uint64_t dx,
                                         uint64_t dy_ns);

/* The same as osc_records_line_ns() for any ticks; limited to +- OSC_TIME_MAX_NS. */
int64_t osc_records_line_slowly(const struct osc_records_line *l, uint64_t ticks);

/* floor(y0 + (TICKS - x0) * dy / dx) without dividing. */
static inline int64_t osc_records_line_ns(const struct osc_records_line *l, uint64_t ticks)
{
    const uint64_t d = ticks - l->x0;

    if (__builtin_expect(d >> 48 != 0 || l->whole >> 13 != 0, 0))
        return osc_records_line_slowly(l, ticks);
    /* SHARE is rounded down, so Q is right or one too small; the remainder shows which. */
    __extension__ const unsigned __int128 product = (unsigned __int128)d * l->share;
    const uint64_t q = (uint64_t)(product >> 64);
    const uint64_t left = d * l->rest - q * l->dx;

    return (int64_t)((uint64_t)l->y0_ns + d * l->whole + q + (left >= l->dx));
}

/* Zeroed, ticks are nanoseconds. */
struct osc_records_clock {
    struct osc_clock_anchor *anchors; /* owned; sorted by ticks once lines are made */
    size_t n_anchors, cap_anchors;
    struct osc_records_line *lines; /* owned; each from its x0 on, the first also before */
    size_t n_lines, at;             /* at: the line used last */
};

OSC_MUST_USE osc_status osc_records_clock_add(struct osc_records_clock *c,
                                              const struct osc_clock_anchor *anchors, size_t n);

/* Make the lines after all anchors were added. TICKS_HZ is used if there is only one anchor;
 * 0: unknown. */
OSC_MUST_USE osc_status osc_records_clock_sort(struct osc_records_clock *c, uint64_t ticks_hz);
void osc_records_clock_fini(struct osc_records_clock *c);

/* Set c->at to the line for TICKS. */
void osc_records_clock_seek(struct osc_records_clock *c, uint64_t ticks);

/* TICKS as nanoseconds. */
static inline int64_t osc_records_clock_ns(struct osc_records_clock *c, uint64_t ticks)
{
    const struct osc_records_line *l = &c->lines[c->at];

    if (__builtin_expect(ticks - l->x0 >= l->dx, 0)) {
        osc_records_clock_seek(c, ticks);
        l = &c->lines[c->at];
    }
    return osc_records_line_ns(l, ticks);
}

/* A reading of a device's clock: it showed device_ticks between before and before + width. */
struct osc_records_pair {
    uint64_t device_ticks, before, width;
};

struct osc_records_fit {
    struct osc_records_line line;
    uint64_t hz; /* of the device's clock: as stated, else as fitted */
    /* How much slower the clock is than stated, in parts of 10^9; negative: faster. 0 unless
     * the rate is both stated and fitted. */
    int64_t drift_ppb;
    int64_t width_ns; /* of the wider of the two pairs */
};

/*
 * Fit a line through N > 0 PAIRS; sorts them. STATED_HZ is the rate that the device states, or
 * 0; it is used if the pairs are too close together to fit a rate.
 */
struct osc_records_fit osc_records_fit(struct osc_records_clock *c,
                                       struct osc_records_pair *pairs, size_t n,
                                       uint64_t stated_hz);
