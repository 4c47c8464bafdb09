/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* How many bytes follow FIRST in its character; -1: no character starts with FIRST. */
static int n_trailing(unsigned char first)
{
    if (first < 0x80)
        return 0;
    if (first < 0xc2 || first > 0xf4)
        return -1;
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/* Whether SECOND may follow FIRST: this excludes overlong forms and surrogates. */
static bool is_second(unsigned char first, unsigned char second)
{
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= low && second <= high;
}

/*
 * Length of the character at S, of LEN > 0 bytes. If *IS_VALID is false it is the length of a
 * maximal invalid subpart.
 */
static size_t step(const unsigned char *s, size_t len, bool *is_valid)
{
    const int trailing = n_trailing(s[0]);
    size_t i = 1;

    *is_valid = false;
    if (trailing < 0)
        return 1;
    for (; i <= (size_t)trailing; i++) {
        if (i == len || (i == 1 ? !is_second(s[0], s[1]) : (s[i] & 0xc0) != 0x80))
            return i;
    }
    *is_valid = true;
    return i;
}

/* Length of the ASCII at the start of S; reads eight bytes at a time. */
static size_t skip_ascii(const char *s, size_t len)
{
    size_t i = 0;
    uint64_t eight;

    for (; len - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, s + i, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < len && !((unsigned char)s[i] & 0x80))
        i++;
    return i;
}

/* Length of the valid text at the start of S. */
static size_t skip_valid(const char *s, size_t len)
{
    size_t i = 0;

    for (;;) {
        bool is_valid;

        i += skip_ascii(s + i, len - i);
        if (i == len)
            return len;
        const size_t n = step((const unsigned char *)s + i, len - i, &is_valid);
        if (!is_valid)
            return i;
        i += n;
    }
}

bool osc_utf8_valid(const char *s, size_t len)
{
    return skip_valid(s, len) == len;
}

size_t osc_utf8_append_clean(struct osc_strbuf *b, struct osc_str str)
{
    size_t n_replaced = 0;

    for (size_t i = 0; i < str.len;) {
        const size_t n = skip_valid(str.s + i, str.len - i);
        bool is_valid;

        osc_strbuf_add(b, str.s + i, n);
        i += n;
        if (i < str.len) {
            i += step((const unsigned char *)str.s + i, str.len - i, &is_valid);
            osc_strbuf_adds(b, REPLACEMENT);
            n_replaced++;
        }
    }
    return n_replaced;
}

/* The code point of the valid character of N bytes at S. */
static uint32_t code_point(const unsigned char *s, size_t n)
{
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

struct range {
    uint32_t from, to;
};

static bool is_in(uint32_t c, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n && c >= ranges[i].from; i++) {
        if (c <= ranges[i].to)
            return true;
    }
    return false;
}

/*
 * Whether C leaves no mark of its own: format controls, marks of direction, separators of lines
 * and fillers (Unicode 15: Default_Ignorable_Code_Point, Bidi_Control, categories Zl and Zp).
 */
static bool is_invisible(uint32_t c)
{
    static const struct range ranges[] = {
        {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };

    return is_in(c, ranges, sizeof ranges / sizeof *ranges);
}

/* Whether C is a space other than U+0020 (category Zs), or the empty pattern of Braille. */
static bool is_other_space(uint32_t c)
{
    static const struct range ranges[] = {{0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                                          {0x202f, 0x202f}, {0x205f, 0x205f}, {0x2800, 0x2800},
                                          {0x3000, 0x3000}};

    return is_in(c, ranges, sizeof ranges / sizeof *ranges);
}

/* Append the valid character of N bytes, not a control character, at S; in a name IS_NAME. */
static void append_visible(struct osc_strbuf *b, const unsigned char *s, size_t n, bool is_name)
{
    const uint32_t c = code_point(s, n);

    if (!is_invisible(c) && !(is_name && is_other_space(c)))
        osc_strbuf_add(b, (const char *)s, n);
    else
        osc_strbuf_addf(b, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
}

/* Whether the blank at I of STR would only be a gap. */
static bool is_gap(struct osc_str str, size_t i)
{
    return i == 0 || i + 1 == str.len || str.s[i - 1] == ' ';
}

static void append(struct osc_strbuf *b, struct osc_str str, bool is_name)
{
    const unsigned char *const s = (const unsigned char *)str.s;

    for (size_t i = 0; i < str.len;) {
        bool is_valid;
        const size_t n = step(s + i, str.len - i, &is_valid);

        if (!is_valid)
            osc_strbuf_adds(b, REPLACEMENT);
        else if (s[i] < 0x20 || s[i] == 0x7f || (is_name && s[i] == ' ' && is_gap(str, i)))
            osc_strbuf_addf(b, "\\x%02x", s[i]);
        else if (s[i] == 0xc2 && s[i + 1] < 0xa0) /* C1: some terminals interpret these too */
            osc_strbuf_addf(b, "\\x%02x", s[i + 1]);
        else
            append_visible(b, s + i, n, is_name);
        i += n;
    }
}

void osc_utf8_append_terminal(struct osc_strbuf *b, struct osc_str str)
{
    append(b, str, false);
}

void osc_utf8_append_name(struct osc_strbuf *b, struct osc_str str)
{
    append(b, str, true);
}

size_t osc_utf8_width(struct osc_str str)
{
    size_t n = 0;

    for (size_t i = 0; i < str.len; i++)
        n += ((unsigned char)str.s[i] & 0xc0) != 0x80;
    return n;
}

/* The columns of C, a code point above ASCII. */
static size_t columns_of(uint32_t c)
{
    static const struct range wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    static const struct range accents[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
        {0x64b, 0x65f},   {0x93c, 0x93c},   {0x94d, 0x94d},   {0xe34, 0xe3a},
        {0xe47, 0xe4e},   {0x1ab0, 0x1ace}, {0x1dc0, 0x1dff}, {0x20d0, 0x20f0},
        {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe20, 0xfe2f}};

    if (is_in(c, accents, sizeof accents / sizeof *accents))
        return 0;
    return is_in(c, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* Bytes at the start of S that take at most N columns; *COLUMNS: how many they take. */
static size_t measure(struct osc_str str, size_t n, size_t *columns)
{
    const unsigned char *const s = (const unsigned char *)str.s;
    size_t i = 0;

    *columns = 0;
    while (i < str.len) {
        size_t len = 1;

        while (len < 4 && i + len < str.len && (s[i + len] & 0xc0) == 0x80)
            len++;
        const size_t width = len > 1 ? columns_of(code_point(s + i, len)) : 1;
        if (*columns + width > n)
            break;
        *columns += width;
        i += len;
    }
    return i;
}

size_t osc_utf8_columns(struct osc_str str)
{
    size_t columns;

    measure(str, SIZE_MAX, &columns);
    return columns;
}

size_t osc_utf8_head(struct osc_str str, size_t n)
{
    size_t columns;

    return measure(str, n, &columns);
}

size_t osc_utf8_tail(struct osc_str str, size_t n)
{
    const unsigned char *const s = (const unsigned char *)str.s;
    size_t at = str.len, start = str.len, columns = 0;

    while (at > 0) {
        size_t from = at - 1;

        while (from > 0 && at - from < 4 && (s[from] & 0xc0) == 0x80)
            from--;
        const size_t width = at - from > 1 ? columns_of(code_point(s + from, at - from)) : 1;
        if (columns + width > n)
            break;
        columns += width;
        at = from;
        start = width > 0 ? at : start; /* accents need the character before them */
    }
    return str.len - start;
}
