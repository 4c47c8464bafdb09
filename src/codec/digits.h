/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - write millions of numbers as decimal text.
 *
 * Eight digits are made at a time, side by side in a word. Nothing allocates, depends on the
 * locale or appends a NUL. The caller provides OSC_DIGITS_MAX bytes.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* The longest text is a sign, 19 digits and a point. More, because whole words are copied. */
#define OSC_DIGITS_MAX 32

#define OSC_DIGITS_LANES UINT64_C(100000000) /* the first number with more than 8 digits */
#define OSC_DIGITS_ZEROS UINT64_C(0x3030303030303030) /* '0' in all lanes */

/*
 * The 8 digits of V below 10^8, the first in the lowest byte. All lanes are divided at once, by
 * multiplications that are exact for so few digits.
 */
static inline uint64_t osc_digits_lanes(uint32_t v)
{
    const uint64_t four = v / 10000 | (uint64_t)(v % 10000) << 32;
    const uint64_t hundreds = (four * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    const uint64_t two = hundreds | (four - 100 * hundreds) << 16;
    const uint64_t tens = (two * 103 >> 10) & UINT64_C(0x000f000f000f000f);

    return tens | (two - 10 * tens) << 8;
}

/* Write V below 10^8 as 8 digits with leading zeros. */
static inline void osc_digits_8(char *p, uint32_t v)
{
    const uint64_t text = osc_digits_lanes(v) | OSC_DIGITS_ZEROS;

    memcpy(p, &text, sizeof text);
}

/*
 * Write V below 10^8 without leading zeros. Returns the end. No branch depends on the number of
 * digits, because it could not be predicted.
 */
static inline char *osc_digits_small(char *p, uint32_t v)
{
    const uint64_t lanes = osc_digits_lanes(v);
    const unsigned n_zeros = (unsigned)__builtin_ctzll(lanes | UINT64_C(1) << 56) / 8;
    const uint64_t text = (lanes | OSC_DIGITS_ZEROS) >> 8 * n_zeros;

    memcpy(p, &text, sizeof text);
    return p + 8 - n_zeros;
}

/* Write V. Returns the end. */
static inline char *osc_digits_u64(char *p, uint64_t v)
{
    if (v < OSC_DIGITS_LANES)
        return osc_digits_small(p, (uint32_t)v);

    const uint64_t high = v / OSC_DIGITS_LANES;
    if (high < OSC_DIGITS_LANES) {
        p = osc_digits_small(p, (uint32_t)high);
    } else {
        p = osc_digits_small(p, (uint32_t)(high / OSC_DIGITS_LANES));
        osc_digits_8(p, (uint32_t)(high % OSC_DIGITS_LANES));
        p += 8;
    }
    osc_digits_8(p, (uint32_t)(v % OSC_DIGITS_LANES));
    return p + 8;
}

static inline char *osc_digits_i64(char *p, int64_t v)
{
    if (v >= 0)
        return osc_digits_u64(p, (uint64_t)v);
    *p++ = '-';
    return osc_digits_u64(p, UINT64_C(0) - (uint64_t)v);
}

/*
 * Write LANES, the last 8 digits of nanoseconds, as microseconds with three decimals, without
 * the first N_SKIPPED digits, at most 4. Returns the end.
 */
static inline char *osc_digits_micros_end(char *p, uint64_t lanes, unsigned n_skipped)
{
    const uint64_t text = lanes | OSC_DIGITS_ZEROS, whole = text >> 8 * n_skipped;
    const uint32_t part = (uint32_t)(text >> 32 & 0xffffff00) | '.';

    memcpy(p, &whole, sizeof whole);
    p += 5 - n_skipped;
    memcpy(p, &part, sizeof part);
    return p + 4;
}

/* The slower version of osc_digits_micros(), for any NS. */
char *osc_digits_micros_any(char *p, int64_t ns);

/* Write NS nanoseconds as microseconds with three decimals, as Kineto does. */
static inline char *osc_digits_micros(char *p, int64_t ns)
{
    if ((uint64_t)ns < OSC_DIGITS_LANES) { /* most durations */
        const uint64_t lanes = osc_digits_lanes((uint32_t)ns);

        return osc_digits_micros_end(p, lanes,
                                     (unsigned)__builtin_ctzll(lanes | UINT64_C(1) << 32) / 8);
    }
    return osc_digits_micros_any(p, ns);
}

/*
 * Write the finite V so that it reads back as V, with a point or an exponent so that it differs
 * from an integer. Returns the end.
 */
char *osc_digits_double(char *p, double v);
