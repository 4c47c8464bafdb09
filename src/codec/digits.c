/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/wide.h"

char *osc_digits_micros_any(char *p, int64_t ns)
{
    uint64_t v = (uint64_t)ns;

    if (ns < 0) {
        *p++ = '-';
        v = UINT64_C(0) - v;
    }
    if (v < OSC_DIGITS_LANES)
        return osc_digits_micros(p, (int64_t)v);
    p = osc_digits_u64(p, v / OSC_DIGITS_LANES);
    return osc_digits_micros_end(p, osc_digits_lanes((uint32_t)(v % OSC_DIGITS_LANES)), 0);
}

/* Write V with the fewest digits, up to 17, that read back as V. */
static char *write_any(char *p, double v)
{
    char text[32];
    int digits = 15, n;

    do
        n = snprintf(text, sizeof text, "%.*g", digits, v);
    while (digits++ < 17 && strtod(text, NULL) != v);
    for (int i = 0; i < n; i++)
        p[i] = text[i];
    if (!memchr(text, '.', (size_t)n) && !memchr(text, 'e', (size_t)n)) {
        p[n++] = '.';
        p[n++] = '0';
    }
    return p + n;
}

/* N / 10^K; K is at least 1. */
struct decimal {
    uint64_t n;
    unsigned k;
};

static const uint64_t tens[] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

/*
 * Most numbers have few decimals. An integer below 2^53 and a power of ten are exact doubles,
 * so their quotient is the double nearest to the decimal number.
 */
static bool is_short(double size, struct decimal *d)
{
    for (unsigned k = 1; k <= 6 && size < 1e9; k++) {
        const double power = (double)tens[k];
        const uint64_t n = (uint64_t)(size * power + 0.5);

        if ((double)n / power != size)
            continue;
        *d = (struct decimal){n, k};
        return true;
    }
    return false;
}

/*
 * Find the digits of write_any() for numbers of medium size: M / 2^S in 128 bits, exactly. A
 * decimal number reads back if it is less than half a step of doubles away; no decimal number
 * of 17 digits is exactly between two doubles.
 */
static bool is_near(double size, struct decimal *d)
{
    static const double powers[] = {1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    uint64_t bits, error;

    if (!(size >= 1e-3 && size < 1e9))
        return false;
    memcpy(&bits, &size, sizeof bits);

    const uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const unsigned s = 1075 - (unsigned)(bits >> 52); /* 23 to 62 */
    if (m == UINT64_C(1) << 52)
        return false; /* the step below is half as large as the one above */

    unsigned k = 17; /* decimals, for 15 digits in all */
    for (size_t i = 0; i < sizeof powers / sizeof *powers && size >= powers[i]; i++)
        k--;
    for (unsigned n_digits = 15;; n_digits++, k++) {
        const osc_wide product = (osc_wide)m * tens[k];
        const uint64_t unit = UINT64_C(1) << s, rest = (uint64_t)product & (unit - 1);

        d->n = (uint64_t)(product >> s);
        const bool is_up = rest > unit / 2 || (rest == unit / 2 && d->n % 2 == 1);
        d->n += is_up;
        error = is_up ? unit - rest : rest;
        if (2 * error < tens[k] || n_digits == 17)
            break;
    }
    d->k = k;
    while (d->k > 1 && d->n % 10 == 0) {
        d->n /= 10;
        d->k--;
    }
    return true;
}

char *osc_digits_double(char *p, double v)
{
    const double size = fabs(v);
    struct decimal d;

    if (!is_short(size, &d) && !is_near(size, &d))
        return write_any(p, v);
    if (signbit(v))
        *p++ = '-';
    p = osc_digits_u64(p, d.n / tens[d.k]);
    *p++ = '.';

    uint64_t part = d.n % tens[d.k];
    for (unsigned i = d.k; i-- > 0;) {
        p[i] = (char)('0' + part % 10);
        part /= 10;
    }
    return p + d.k;
}
