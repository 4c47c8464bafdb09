/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - numbers and texts as bytes: little-endian, of fixed width, one after the other.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

/* --- writing ------------------------------------------------------------------------ */

/* Store the N_BYTES low bytes of V at TO. */
static inline void osc_fields_store(char *to, uint64_t v, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (char)(v >> 8 * i);
}

static inline void osc_put_u64(struct osc_strbuf *out, uint64_t v)
{
    char bytes[8];

    osc_fields_store(bytes, v, sizeof bytes);
    osc_strbuf_put(out, bytes, sizeof bytes);
}

static inline void osc_put_u32(struct osc_strbuf *out, uint32_t v)
{
    char bytes[4];

    osc_fields_store(bytes, v, sizeof bytes);
    osc_strbuf_put(out, bytes, sizeof bytes);
}

static inline void osc_put_u8(struct osc_strbuf *out, unsigned v)
{
    const char byte = (char)v;

    osc_strbuf_put(out, &byte, 1);
}

/* Write the length, the bytes and a NUL; UINT32_MAX for a missing text. */
static inline void osc_put_text(struct osc_strbuf *out, struct osc_str s)
{
    osc_put_u32(out, s.s ? s.len : UINT32_MAX);
    if (!s.s)
        return;
    osc_strbuf_addstr(out, s);
    osc_strbuf_addc(out, '\0');
}

/* The same of a C string, or NULL. */
static inline void osc_put_c_text(struct osc_strbuf *out, const char *s)
{
    osc_put_text(out, s ? osc_str_c(s) : (struct osc_str){NULL, 0});
}

/* --- reading ------------------------------------------------------------------------ */

/* The unread bytes, borrowed. Once there are too few, every read returns 0. */
struct osc_fields {
    const char *at, *end;
    bool is_bad;
};

/* The next N bytes; NULL: there are too few. */
static inline const char *osc_get_bytes(struct osc_fields *r, size_t n)
{
    const char *const at = r->at;

    if (r->is_bad || (size_t)(r->end - r->at) < n) {
        r->is_bad = true;
        return NULL;
    }
    r->at += n;
    return at;
}

__attribute__((always_inline)) static inline uint64_t osc_get_number(struct osc_fields *r,
                                                                     int n_bytes)
{
    const char *const p = osc_get_bytes(r, (size_t)n_bytes);
    uint64_t v = 0;

    for (int i = 0; p && i < n_bytes; i++)
        v |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return v;
}

static inline uint32_t osc_get_u32(struct osc_fields *r)
{
    return (uint32_t)osc_get_number(r, 4);
}

static inline uint64_t osc_get_u64(struct osc_fields *r)
{
    return osc_get_number(r, 8);
}

/* A text that lies in the bytes and ends in NUL; s is NULL for a missing one. */
static inline struct osc_str osc_get_text(struct osc_fields *r)
{
    const uint32_t len = osc_get_u32(r);

    if (r->is_bad || len == UINT32_MAX)
        return (struct osc_str){NULL, 0};
    const char *const s = osc_get_bytes(r, (size_t)len + 1);
    if (!s || s[len] != '\0') {
        r->is_bad = true;
        return (struct osc_str){NULL, 0};
    }
    return (struct osc_str){s, len};
}
