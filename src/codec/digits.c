/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TEN(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"

/* An array of 200 holds no terminator. */
const char osc_digits_pairs[200] =
    TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");

/* As the shortest of up to 17 digits that reads back. */
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

char *osc_digits_double(char *p, double v)
{
    static const double powers[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    static const uint32_t whole[] = {10, 100, 1000, 10000, 100000, 1000000};
    const double size = fabs(v);

    /*
     * Most have few decimals. A whole number below 2^53 and a power of ten are exact
     * doubles, so that their quotient is the double nearest to the decimal number.
     */
    for (int k = 0; k < 6 && size < 1e9; k++) {
        const uint64_t n = (uint64_t)(size * powers[k] + 0.5);
        uint32_t part = (uint32_t)(n % whole[k]);

        if ((double)n / powers[k] != size)
            continue;
        if (signbit(v))
            *p++ = '-';
        p = osc_digits_u64(p, n / whole[k]);
        *p++ = '.';
        for (int i = k; i >= 0; i--) {
            p[i] = (char)('0' + part % 10);
            part /= 10;
        }
        return p + k + 1;
    }
    return write_any(p, v);
}
