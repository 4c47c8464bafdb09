/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LEAST_BYTES ((size_t)64) /* of a buffer: most texts fit */

/* Make room for LEN more bytes and a terminator; returns where they go, or NULL. */
static char *reserve(struct osc_strbuf *b, size_t len)
{
    if (b->status != OSC_OK)
        return NULL;
    if (len >= b->cap - b->len) { /* both are 0 in an empty buffer */
        if (len >= PTRDIFF_MAX - b->len)
            b->status = OSC_ENOMEM;
        else
            b->status = osc_grow(
                &b->s, &b->cap, b->len + len < LEAST_BYTES ? LEAST_BYTES : b->len + len + 1, 1);
        if (b->status != OSC_OK)
            return NULL;
    }
    return b->s + b->len;
}

static void commit(struct osc_strbuf *b, size_t len)
{
    b->len += len;
    b->s[b->len] = '\0';
}

void osc_strbuf_fini(struct osc_strbuf *b)
{
    osc_free(b->s);
    *b = (struct osc_strbuf){0};
}

void osc_strbuf_clear(struct osc_strbuf *b)
{
    b->len = 0;
    b->status = OSC_OK;
    if (b->s)
        b->s[0] = '\0';
}

void osc_strbuf_add(struct osc_strbuf *b, const char *s, size_t len)
{
    char *const p = reserve(b, len);

    if (!p)
        return;
    if (len > 0)
        memcpy(p, s, len);
    commit(b, len);
}

void osc_strbuf_adds(struct osc_strbuf *b, const char *terminated)
{
    osc_strbuf_add(b, terminated, strlen(terminated));
}

void osc_strbuf_addstr(struct osc_strbuf *b, struct osc_str s)
{
    osc_strbuf_add(b, s.s, s.len);
}

void osc_strbuf_addc(struct osc_strbuf *b, char c)
{
    osc_strbuf_add(b, &c, 1);
}

void osc_strbuf_pad(struct osc_strbuf *b, char c, size_t n)
{
    char *const p = reserve(b, n);

    if (!p)
        return;
    memset(p, c, n);
    commit(b, n);
}

void osc_strbuf_add_count(struct osc_strbuf *b, uint64_t n)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            osc_strbuf_addc(b, ',');
        osc_strbuf_addc(b, digits[i]);
    }
}

void osc_strbuf_addi(struct osc_strbuf *b, int64_t v)
{
    char digits[20]; /* fits -9223372036854775808 */
    size_t at = sizeof digits;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (v < 0)
        digits[--at] = '-';
    osc_strbuf_add(b, digits + at, sizeof digits - at);
}

void osc_strbuf_addv(struct osc_strbuf *b, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    const int len = vsnprintf(NULL, 0, format, args);
    if (len < 0) {
        if (b->status == OSC_OK)
            b->status = OSC_EINVAL;
    } else {
        char *const p = reserve(b, (size_t)len);
        if (p) {
            (void)vsnprintf(p, (size_t)len + 1, format, again);
            commit(b, (size_t)len);
        }
    }
    va_end(again);
}

void osc_strbuf_addf(struct osc_strbuf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    osc_strbuf_addv(b, format, args);
    va_end(args);
}

void osc_strbuf_addd(struct osc_strbuf *b, double v)
{
    char text[40];
    int digits = 15;

    if (isnan(v)) {
        osc_strbuf_adds(b, "NaN");
        return;
    }
    if (isinf(v)) {
        osc_strbuf_adds(b, v < 0 ? "-Infinity" : "Infinity");
        return;
    }
    /* Fast path: most numbers are small integers. The text is the same as of "%.15g". */
    if (fabs(v) < 1e15 && v == (double)(int64_t)v && !(v == 0 && signbit(v))) {
        osc_strbuf_addi(b, (int64_t)v);
        return;
    }
    /*
     * A decimal of up to 15 digits survives conversion to a double and back, so if V came from
     * such a decimal, "%.15g" finds it. Denormals have fewer digits.
     */
    if (fabs(v) < DBL_MIN)
        digits = 1;
    do
        (void)snprintf(text, sizeof text, "%.*g", digits, v);
    while (digits++ < 17 && strtod(text, NULL) != v);
    osc_strbuf_adds(b, text);
}
