/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - bytes with a length.
 *
 * Names come from files: they are not terminated, not always UTF-8, and NUL is a
 * byte like any other. A struct osc_str borrows its bytes and is passed by value.
 *
 * Threading: plain values.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct osc_str {
    const char *s; /* borrowed */
    uint32_t len;  /* bytes */
};

/* A string literal, including embedded NULs. */
#define OSC_STR(literal) ((struct osc_str){"" literal, sizeof(literal) - 1})

static inline struct osc_str osc_str_c(const char *s)
{
    return (struct osc_str){s, (uint32_t)strlen(s)};
}

static inline bool osc_str_eq(struct osc_str a, struct osc_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

static inline bool osc_str_starts(struct osc_str s, struct osc_str prefix)
{
    return s.len >= prefix.len && memcmp(s.s, prefix.s, prefix.len) == 0;
}

/* Whether TEXT is PATTERN, or begins with what is before a '*' at its end. */
static inline bool osc_str_fits(struct osc_str text, struct osc_str pattern)
{
    if (pattern.len > 0 && pattern.s[pattern.len - 1] == '*')
        return osc_str_starts(text, (struct osc_str){pattern.s, pattern.len - 1});
    return osc_str_eq(text, pattern);
}

static inline bool osc_str_ends(struct osc_str s, struct osc_str suffix)
{
    return s.len >= suffix.len && memcmp(s.s + (s.len - suffix.len), suffix.s, suffix.len) == 0;
}

static inline bool osc_str_has(struct osc_str s, struct osc_str part)
{
    return part.len == 0 || (s.len >= part.len && memmem(s.s, s.len, part.s, part.len) != NULL);
}

/* Whether S is digits, perhaps behind a minus. */
static inline bool osc_str_is_number(struct osc_str s)
{
    const uint32_t first = s.len > 0 && s.s[0] == '-';
    uint32_t n = first;

    while (n < s.len && s.s[n] >= '0' && s.s[n] <= '9')
        n++;
    return n > first && n == s.len;
}

static inline char osc_char_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* osc_str_has() ignoring case; PART is in lower case. */
static inline bool osc_str_has_case(struct osc_str s, struct osc_str part)
{
    for (uint32_t at = 0; part.len <= s.len && at <= s.len - part.len; at++) {
        uint32_t k = 0;

        while (k < part.len && osc_char_lower(s.s[at + k]) == part.s[k])
            k++;
        if (k == part.len)
            return true;
    }
    return false;
}

/* osc_str_eq() ignoring case; WORD is in lower case. */
static inline bool osc_str_eq_case(struct osc_str s, struct osc_str word)
{
    return s.len == word.len && osc_str_has_case(s, word);
}

/* Compare by bytes: negative, zero or positive, as strcmp. */
static inline int osc_str_cmp(struct osc_str a, struct osc_str b)
{
    const uint32_t n = a.len < b.len ? a.len : b.len;
    const int c = n == 0 ? 0 : memcmp(a.s, b.s, n);

    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}
