/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strbuf.h - a growing string.
 *
 * Append without checks and look at .status once at the end: after a failed allocation every
 * call is a no-op and the text stays as it was. A zeroed struct is empty.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "base/str.h"

struct osc_strbuf {
    char *s;           /* owned; NUL-terminated after the first append, NULL before */
    size_t len, cap;   /* bytes; len without the terminator, cap with it */
    osc_status status; /* sticky */
};

void osc_strbuf_fini(struct osc_strbuf *b);
void osc_strbuf_clear(struct osc_strbuf *b); /* keeps the memory, resets the status */
void osc_strbuf_add(struct osc_strbuf *b, const char *s, size_t len);
/* The same, faster for a few bytes whose number the compiler knows. */
static inline void osc_strbuf_put(struct osc_strbuf *b, const char *s, size_t len)
{
    if (b->status != OSC_OK || len >= b->cap - b->len) {
        osc_strbuf_add(b, s, len);
        return;
    }
    memcpy(b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = '\0';
}
/* What is in B; borrowed until it changes. */
static inline struct osc_str osc_strbuf_str(const struct osc_strbuf *b)
{
    return (struct osc_str){b->s ? b->s : "", (uint32_t)b->len};
}
void osc_strbuf_adds(struct osc_strbuf *b, const char *terminated);
void osc_strbuf_addstr(struct osc_strbuf *b, struct osc_str s);
void osc_strbuf_addc(struct osc_strbuf *b, char c);
void osc_strbuf_pad(struct osc_strbuf *b, char c, size_t n); /* append C, N times */
void osc_strbuf_addi(struct osc_strbuf *b, int64_t v);       /* decimal */
void osc_strbuf_add_count(struct osc_strbuf *b, uint64_t n); /* for people: 1,234,567 */
void osc_strbuf_addf(struct osc_strbuf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void osc_strbuf_addv(struct osc_strbuf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* The shortest decimal text that reads back as V, or "NaN", "Infinity", "-Infinity". */
void osc_strbuf_addd(struct osc_strbuf *b, double v);
