/* SPDX-License-Identifier: Apache-2.0 */
/* Check JSON, mend its strings, and escape strings for it. */
#include "codec/json.h"

#include <string.h>

#include "base/utf8.h"

#define DEPTH_MAX 10000

bool osc_json_is_plain(struct osc_str s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t high = 0;
    uint32_t i = 0;

    for (; i + 8 <= s.len; i += 8) {
        uint64_t v;

        memcpy(&v, s.s + i, 8);
        /* Subtracting N from a byte below N sets its top bit. A borrow may set others, too, so
         * a word with a hit is checked byte by byte. */
        const uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
        const uint64_t special = (v - ones * 0x20) | (quote - ones) | (slash - ones);
        high |= v & tops;
        if (special & ~v & tops)
            break; /* perhaps special */
    }
    for (; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.s[i];

        if (c < 0x20 || c == '"' || c == '\\')
            return false;
        high |= (uint64_t)(c & 0x80);
    }
    return high == 0 || osc_utf8_valid(s.s, s.len);
}

bool osc_json_escape(struct osc_strbuf *out, struct osc_str s)
{
    const size_t start = out->len;

    if (osc_json_is_plain(s)) {
        osc_strbuf_add(out, s.s, s.len);
        return false;
    }
    osc_json_quote(out, s);
    if (out->status == OSC_OK && out->len >= start + 2) {
        memmove(out->s + start, out->s + start + 1, out->len - start - 1);
        out->len -= 2;
        out->s[out->len] = '\0';
    }
    return true;
}

struct check {
    const char *p, *end;
    const char *run;           /* the text from here to p is not in mended yet */
    struct osc_strbuf *mended; /* or NULL */
    uint32_t depth;
    uint8_t is_object[DEPTH_MAX / 8]; /* one bit per level */
};

static void skip_blank(struct check *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
        c->p++;
}

/* Whether every backslash of the string begins a valid escape of JSON. */
static bool has_good_escapes(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p != '\\')
            continue;
        if (++p == end || *p == '\0' || !strchr("\"\\/bfnrtu", *p))
            return false;
        if (*p != 'u')
            continue;
        for (int i = 0; i < 4; i++) {
            p++;
            if (p == end || *p == '\0' || !strchr("0123456789abcdefABCDEF", *p))
                return false;
        }
    }
    return true;
}

/* Whether the bytes between the quotation marks are a valid string of JSON. */
static bool is_right(const char *p, const char *end)
{
    for (const char *q = p; q < end; q++) {
        if ((unsigned char)*q < 0x20)
            return false;
    }
    return has_good_escapes(p, end) && osc_utf8_valid(p, (size_t)(end - p));
}

/* Read the string at p; p moves after it. */
static bool read_string(struct check *c)
{
    const char *const start = c->p + 1;
    const char *q = start;

    while (q < c->end && *q != '"')
        q += *q == '\\' && q + 1 < c->end ? 2 : 1;
    if (q >= c->end)
        return false;
    c->p = q + 1;
    if (is_right(start, q))
        return true;
    if (!c->mended)
        return false;

    struct osc_strbuf text = {0};
    (void)osc_json_unescape(start, q, &text);
    osc_strbuf_add(c->mended, c->run, (size_t)(start - 1 - c->run));
    osc_json_quote(c->mended, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len});
    if (text.status != OSC_OK)
        c->mended->status = text.status;
    osc_strbuf_fini(&text);
    c->run = c->p;
    return true;
}

static bool read_word(struct check *c)
{
    const struct osc_str words[] = {OSC_STR("true"), OSC_STR("false"), OSC_STR("null")};
    struct osc_json_number n;

    if (osc_json_number(c->p, c->end, &n)) {
        c->p = n.end;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((size_t)(c->end - c->p) >= words[i].len &&
            memcmp(c->p, words[i].s, words[i].len) == 0) {
            c->p += words[i].len;
            return true;
        }
    }
    return false;
}

static bool is_in_object(const struct check *c)
{
    const uint32_t level = c->depth - 1;

    return (c->is_object[level / 8] >> level % 8 & 1) != 0;
}

/* Read "KEY": and the white space after it. */
static bool read_key(struct check *c)
{
    skip_blank(c);
    if (c->p == c->end || *c->p != '"' || !read_string(c))
        return false;
    skip_blank(c);
    if (c->p == c->end || *c->p++ != ':')
        return false;
    skip_blank(c);
    return true;
}

/* Read the opening bracket at p. *IS_EMPTY: it was closed at once. */
static bool open_level(struct check *c, bool *is_empty)
{
    const bool is_object = *c->p++ == '{';
    const uint8_t bit = (uint8_t)(1u << c->depth % 8);

    if (c->depth == DEPTH_MAX)
        return false;
    if (is_object)
        c->is_object[c->depth / 8] |= bit;
    else
        c->is_object[c->depth / 8] &= (uint8_t)~bit;
    skip_blank(c);
    *is_empty = c->p < c->end && *c->p == (is_object ? '}' : ']');
    if (*is_empty) {
        c->p++;
        return true;
    }
    c->depth++;
    return !is_object || read_key(c);
}

/* After a value, close the levels that end here and move to the next value. *IS_DONE: there is
 * none. */
static bool close_levels(struct check *c, bool *is_done)
{
    while (c->depth > 0) {
        skip_blank(c);
        if (c->p == c->end)
            return false;

        const bool in_object = is_in_object(c);
        const char ch = *c->p++;
        if (ch == ',') {
            skip_blank(c);
            return !in_object || read_key(c);
        }
        if (ch != (in_object ? '}' : ']'))
            return false;
        c->depth--;
    }
    skip_blank(c);
    *is_done = true;
    return c->p == c->end;
}

static bool read_all(struct check *c)
{
    bool is_done = false;

    skip_blank(c);
    while (!is_done) {
        bool is_whole = true, is_good;

        if (c->p == c->end)
            return false;
        if (*c->p == '{' || *c->p == '[')
            is_good = open_level(c, &is_whole);
        else
            is_good = *c->p == '"' ? read_string(c) : read_word(c);
        if (is_good && is_whole)
            is_good = close_levels(c, &is_done);
        if (!is_good)
            return false;
    }
    return true;
}

bool osc_json_check(struct osc_str text, struct osc_strbuf *mended)
{
    const size_t before = mended ? mended->len : 0;
    struct check c = {.p = text.s, .end = text.s + text.len, .run = text.s, .mended = mended};

    if (!read_all(&c)) {
        if (mended && mended->len > before) {
            mended->len = before;
            mended->s[before] = '\0';
        }
        return false;
    }
    if (mended && c.run != text.s)
        osc_strbuf_add(mended, c.run, (size_t)(c.end - c.run));
    return true;
}
