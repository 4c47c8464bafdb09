/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - numbers as decimal text, where there are millions of them.
 *
 * Two digits a step from a table; nothing allocates, looks at a locale or ends
 * with a NUL. The caller has OSC_DIGITS_MAX bytes of room.
 *
 * Threading: pure functions.
 */
#ifndef OSC_CODEC_DIGITS_H
#define OSC_CODEC_DIGITS_H

#include <stdint.h>
#include <string.h>

/* The longest: a sign, 19 digits and a point. Copies are of whole words. */
#define OSC_DIGITS_MAX 32

extern const char osc_digits_pairs[200]; /* "00" to "99" */

/* Write V below 10^8 as 8 digits, zeros in front. */
static inline void osc_digits_8(char *p, uint32_t v)
{
    const uint32_t high = v / 10000, low = v % 10000;

    memcpy(p, osc_digits_pairs + 2 * (size_t)(high / 100), 2);
    memcpy(p + 2, osc_digits_pairs + 2 * (size_t)(high % 100), 2);
    memcpy(p + 4, osc_digits_pairs + 2 * (size_t)(low / 100), 2);
    memcpy(p + 6, osc_digits_pairs + 2 * (size_t)(low % 100), 2);
}

/* Write V below 10^8 without zeros in front. Returns the end. */
static inline char *osc_digits_small(char *p, uint32_t v)
{
    char t[8];
    int i = 8;

    while (v >= 100) {
        const uint32_t rest = v % 100;

        v /= 100;
        i -= 2;
        memcpy(t + i, osc_digits_pairs + 2 * (size_t)rest, 2);
    }
    if (v >= 10) {
        i -= 2;
        memcpy(t + i, osc_digits_pairs + 2 * (size_t)v, 2);
    } else {
        t[--i] = (char)('0' + v);
    }
    for (int k = 0; k + i < 8; k++)
        p[k] = t[k + i];
    return p + (8 - i);
}

/* Write V. Returns the end. */
static inline char *osc_digits_u64(char *p, uint64_t v)
{
    const uint64_t unit = UINT64_C(100000000);

    if (v < unit)
        return osc_digits_small(p, (uint32_t)v);

    const uint64_t high = v / unit;
    if (high < unit) {
        p = osc_digits_small(p, (uint32_t)high);
    } else {
        p = osc_digits_small(p, (uint32_t)(high / unit));
        osc_digits_8(p, (uint32_t)(high % unit));
        p += 8;
    }
    osc_digits_8(p, (uint32_t)(v % unit));
    return p + 8;
}

static inline char *osc_digits_i64(char *p, int64_t v)
{
    if (v >= 0)
        return osc_digits_u64(p, (uint64_t)v);
    *p++ = '-';
    return osc_digits_u64(p, UINT64_C(0) - (uint64_t)v);
}

/* Write NS nanoseconds as microseconds with three decimals, as Kineto does. */
static inline char *osc_digits_micros(char *p, int64_t ns)
{
    uint64_t v = (uint64_t)ns;

    if (ns < 0) {
        *p++ = '-';
        v = UINT64_C(0) - v;
    }
    p = osc_digits_u64(p, v / 1000);

    const uint32_t part = (uint32_t)(v % 1000);
    p[0] = '.';
    p[1] = (char)('0' + part / 100);
    memcpy(p + 2, osc_digits_pairs + 2 * (size_t)(part % 100), 2);
    return p + 4;
}

/*
 * Write the finite V so that it reads back as V, with a point or an exponent that
 * tells it from an integer. Returns the end.
 */
char *osc_digits_double(char *p, double v);

#endif
