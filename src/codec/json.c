/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Digits after the decimal point of a microsecond, down to 10^-18 ns. */
#define MICROS_FRACTION_DIGITS 21

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* The end of the digits at Q; Q itself if there are none. */
static const char *skip_digits(const char *q, const char *end)
{
    while (q < end && is_digit(*q))
        q++;
    return q;
}

/* The end of the fraction and exponent at Q, which may be missing; NULL: malformed. */
static const char *skip_decimals(const char *q, const char *end)
{
    const char *start = q;

    if (q < end && *q == '.') {
        start = q + 1;
        q = skip_digits(start, end);
        if (q == start)
            return NULL;
    }
    if (q < end && (*q == 'e' || *q == 'E')) {
        start = q + 1;
        start += start < end && (*start == '+' || *start == '-');
        q = skip_digits(start, end);
        if (q == start)
            return NULL;
    }
    return q;
}

bool osc_json_number(const char *p, const char *end, struct osc_json_number *out)
{
    const bool is_negative = p < end && *p == '-';
    const char *q = p + is_negative;
    uint64_t magnitude = 0;
    bool overflows = false;

    *out = (struct osc_json_number){.start = p};
    if (q == end || !is_digit(*q) || (*q == '0' && q + 1 < end && is_digit(q[1])))
        return false;
    for (; q < end && is_digit(*q); q++) {
        overflows |= magnitude > (UINT64_MAX - 9) / 10;
        magnitude = magnitude * 10 + (uint64_t)(*q - '0');
    }
    out->end = skip_decimals(q, end);
    if (!out->end)
        return false;
    out->is_integer = out->end == q;
    if (out->is_integer && !overflows && magnitude <= (uint64_t)INT64_MAX + is_negative) {
        out->fits_int64 = true;
        out->i = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    }
    return true;
}

bool osc_json_int(struct osc_str text, int64_t *value)
{
    struct osc_json_number n;

    if (!osc_json_number(text.s, text.s + text.len, &n) || n.end != text.s + text.len ||
        !n.fits_int64)
        return false;
    *value = n.i;
    return true;
}

double osc_json_double(const char *p, const char *end)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool is_negative = p < end && *p == '-';
    const char *q = p + is_negative;
    uint64_t mantissa = 0;
    int n_fraction = 0;
    bool in_fraction = false;

    /* An integer up to 2^53 divided by a power of ten that is an exact double: rounded once. */
    for (; q < end && mantissa < UINT64_C(1) << 53; q++) {
        if (*q == '.') {
            in_fraction = true;
            continue;
        }
        if (!is_digit(*q))
            break;
        mantissa = mantissa * 10 + (uint64_t)(*q - '0');
        n_fraction += in_fraction;
    }
    if (q == end && mantissa <= UINT64_C(1) << 53 && n_fraction <= 22) {
        const double d = (double)mantissa / powers[n_fraction];
        return is_negative ? -d : d;
    }

    char room[64];
    const size_t len = (size_t)(end - p);
    char *copy = len < sizeof room ? room : osc_malloc(len + 1);
    if (!copy)
        return (double)NAN;
    memcpy(copy, p, len);
    copy[len] = '\0';
    const double d = strtod(copy, NULL);
    if (copy != room)
        osc_free(copy);
    return d;
}

/* Read the exponent after the 'e' at P; it is limited to one million. */
static int read_exponent(const char *p, const char *end)
{
    bool is_negative = false;
    int e = 0;

    if (p < end && (*p == '+' || *p == '-'))
        is_negative = *p++ == '-';
    for (; p < end && is_digit(*p); p++)
        e = e < 100000 ? e * 10 + (*p - '0') : e;
    return is_negative ? -e : e;
}

/* The limit of a time in 10^-18 ns. */
#define ATTO_MAX ((osc_wide)INT64_MAX * 1000000000 * 1000000000)

/* Read the number [P, END) of microseconds as 10^-18 ns. */
static bool read_atto(const char *p, const char *end, osc_wide *out)
{
    struct osc_json_number number;
    osc_wide v = 0;
    int scale = MICROS_FRACTION_DIGITS; /* the power of ten to multiply by at the end */
    const char *mark = p;

    *out = 0;
    if (!osc_json_number(p, end, &number) || number.end != end)
        return false;
    while (mark < end && *mark != 'e' && *mark != 'E')
        mark++;
    if (mark < end)
        scale += read_exponent(mark + 1, end);
    bool in_fraction = false;
    for (const char *q = p; q < mark; q++) {
        if (*q == '.')
            in_fraction = true;
        if (!is_digit(*q))
            continue;
        if (in_fraction) {
            /* Digits below the last unit are dropped, not rounded. */
            if (scale <= 0)
                continue;
            scale--;
        }
        v = v * 10 + (*q - '0');
        if (v > ATTO_MAX)
            return false;
    }
    for (; scale > 0 && v != 0; scale--) {
        v *= 10;
        if (v > ATTO_MAX)
            return false;
    }
    for (; scale < 0 && v != 0; scale++)
        v /= 10;
    *out = *p == '-' ? -v : v;
    return true;
}

bool osc_json_micros(const char *p, const char *end, struct osc_json_micros *out)
{
    return read_atto(p, end, &out->atto);
}

/* The next digit of the number at *P, or 0 behind its digits. */
static int next_digit(const char **p, const char *mark)
{
    while (*p < mark && !is_digit(**p))
        (*p)++;
    return *p < mark ? *(*p)++ - '0' : 0;
}

bool osc_json_micros_whole(const char *p, const char *end, int64_t *whole,
                           struct osc_json_micros *rest)
{
    struct osc_json_number number;
    const char *mark = p;

    if (!osc_json_number(p, end, &number) || number.end != end)
        return false;
    while (mark < end && *mark != 'e' && *mark != 'E')
        mark++;
    const char *const dot = memchr(p, '.', (size_t)(mark - p));
    const bool is_negative = *p == '-';
    int64_t n_whole = (dot ? dot : mark) - p - is_negative, w = 0;
    osc_wide part = 0;

    if (mark < end)
        n_whole += read_exponent(mark + 1, end);
    for (int64_t i = 0; i < n_whole && (p < mark || w != 0); i++) {
        const int digit = next_digit(&p, mark);

        if (w > (INT64_MAX - digit) / 10)
            return false;
        w = w * 10 + digit;
    }
    for (int64_t i = 0; i < MICROS_FRACTION_DIGITS; i++)
        part = part * 10 + (i < -n_whole ? 0 : next_digit(&p, mark));
    *whole = is_negative ? -w : w;
    rest->atto = is_negative ? -part : part;
    return true;
}

bool osc_json_micros_since(const char *p, const char *end, int64_t since_us,
                           struct osc_json_micros *out)
{
    /* 10^-18 ns in a microsecond; times the limit it fits into 128 bits. */
    const osc_wide unit = (osc_wide)1000000000 * 1000000000 * 1000;
    int64_t whole, distance;
    struct osc_json_micros rest;

    out->atto = 0;
    if (!osc_json_micros_whole(p, end, &whole, &rest) ||
        __builtin_sub_overflow(whole, since_us, &distance) || distance > INT64_MAX / 1000 ||
        distance < -(INT64_MAX / 1000))
        return false;
    out->atto = distance * unit + rest.atto;
    return true;
}

int64_t osc_json_micros_ns(struct osc_json_micros m)
{
    const osc_wide unit = (osc_wide)1000000000 * 1000000000;
    const osc_wide raised = m.atto + unit / 2;
    osc_wide ns = raised / unit;

    if (raised % unit < 0)
        ns--; /* division truncates, but this must round down */
    return (int64_t)ns;
}

bool osc_json_micros_sum_ns(struct osc_json_micros a, struct osc_json_micros b, int64_t *ns)
{
    const osc_wide limit = (osc_wide)INT64_MAX * 1000000000 * 1000000000;
    const struct osc_json_micros sum = {a.atto + b.atto};

    if (sum.atto > limit || sum.atto < -limit)
        return false;
    *ns = osc_json_micros_ns(sum);
    return true;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of the four hexadecimal digits at P, or -1. */
static int32_t read_hex4(const char *p, const char *end)
{
    int32_t v = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const int h = hex_value(p[i]);
        if (h < 0)
            return -1;
        v = v << 4 | h;
    }
    return v;
}

static void add_code_point(struct osc_strbuf *out, uint32_t c)
{
    char b[4];
    size_t n = 0;

    if (c < 0x80) {
        b[n++] = (char)c;
    } else if (c < 0x800) {
        b[n++] = (char)(0xc0 | c >> 6);
        b[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        b[n++] = (char)(0xe0 | c >> 12);
        b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        b[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        b[n++] = (char)(0xf0 | c >> 18);
        b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        b[n++] = (char)(0x80 | (c & 0x3f));
    }
    osc_strbuf_add(out, b, n);
}

/* Unescape \uXXXX; P is after the 'u'. Returns how many bytes from P on were used. */
static size_t unescape_unicode(const char *p, const char *end, struct osc_strbuf *out,
                               unsigned *flaws)
{
    const int32_t high = read_hex4(p, end);

    if (high < 0) {
        osc_strbuf_adds(out, "\\u");
        *flaws |= OSC_JSON_ESCAPE;
        return 0;
    }
    if (high < 0xd800 || high > 0xdfff) {
        add_code_point(out, (uint32_t)high);
        return 4;
    }
    if (high < 0xdc00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
        const int32_t low = read_hex4(p + 6, end);
        if (low >= 0xdc00 && low <= 0xdfff) {
            add_code_point(out, 0x10000 + ((uint32_t)(high - 0xd800) << 10) +
                                    (uint32_t)(low - 0xdc00));
            return 10;
        }
    }
    add_code_point(out, 0xfffd);
    *flaws |= OSC_JSON_SURROGATE;
    return 4;
}

unsigned osc_json_unescape(const char *p, const char *end, struct osc_strbuf *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    unsigned flaws = 0;

    while (p < end) {
        const char *run = p;
        while (p < end && *p != '\\') {
            if ((unsigned char)*p < 0x20)
                flaws |= OSC_JSON_CONTROL;
            p++;
        }
        osc_strbuf_add(out, run, (size_t)(p - run));
        if (p == end)
            break;
        if (++p == end) {
            osc_strbuf_addc(out, '\\');
            flaws |= OSC_JSON_ESCAPE;
            break;
        }
        const char c = *p++;
        const char *known = c == '\0' ? NULL : strchr(from, c);
        if (known) {
            osc_strbuf_addc(out, to[known - from]);
        } else if (c == 'u') {
            p += unescape_unicode(p, end, out, &flaws);
        } else {
            osc_strbuf_addc(out, '\\');
            osc_strbuf_addc(out, c);
            flaws |= OSC_JSON_ESCAPE;
        }
    }
    return flaws;
}

void osc_json_quote(struct osc_strbuf *out, struct osc_str s)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t run = 0;

    if (!osc_utf8_valid(s.s, s.len)) {
        struct osc_strbuf clean = {0};
        osc_utf8_append_clean(&clean, s);
        if (clean.status != OSC_OK)
            out->status = clean.status;
        else
            osc_json_quote(out, (struct osc_str){clean.s ? clean.s : "", (uint32_t)clean.len});
        osc_strbuf_fini(&clean);
        return;
    }
    osc_strbuf_addc(out, '"');
    for (uint32_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        osc_strbuf_add(out, s.s + run, i - run);
        run = i + 1;
        osc_strbuf_addc(out, '\\');
        switch (c) {
        case '"':
        case '\\':
            osc_strbuf_addc(out, (char)c);
            break;
        case '\n':
            osc_strbuf_addc(out, 'n');
            break;
        case '\t':
            osc_strbuf_addc(out, 't');
            break;
        case '\r':
            osc_strbuf_addc(out, 'r');
            break;
        default:
            osc_strbuf_adds(out, "u00");
            osc_strbuf_addc(out, hex[c >> 4]);
            osc_strbuf_addc(out, hex[c & 15]);
        }
    }
    osc_strbuf_add(out, s.s + run, s.len - run);
    osc_strbuf_addc(out, '"');
}

/* The end of the string whose opening quotation mark is at P. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : end;
}

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* The end of the value at P. */
static const char *skip_value(const char *p, const char *end)
{
    uint32_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            if (depth == 0)
                return p;
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']') {
            if (depth == 0)
                return p;
            if (--depth == 0)
                return p + 1;
        } else if (*p == ',' && depth == 0)
            return p;
        p++;
    }
    return end;
}

/* The text from START to END without the blanks before END. */
static struct osc_str trimmed(const char *start, const char *end)
{
    while (end > start && (unsigned char)end[-1] <= ' ')
        end--;
    return (struct osc_str){start, (uint32_t)(end - start)};
}

bool osc_json_next_member(struct osc_str *rest, struct osc_str *key, struct osc_str *value)
{
    const char *const end = rest->s + rest->len;
    const char *p = skip_blank(rest->s, end);

    if (p == end || (*p != '{' && *p != ','))
        return false;
    p = skip_blank(p + 1, end);
    if (p == end || *p != '"')
        return false;
    const char *const name = p + 1;
    p = skip_string(p, end);
    const char *const behind = p;
    p = skip_blank(p, end);
    if (p == end || *p != ':')
        return false;
    const char *const start = skip_blank(p + 1, end);
    p = skip_value(start, end);
    *key = (struct osc_str){name, (uint32_t)(behind - 1 - name)};
    *value = trimmed(start, p);
    *rest = (struct osc_str){p, (uint32_t)(end - p)};
    return true;
}

bool osc_json_member(struct osc_str text, const char *key, struct osc_str *value)
{
    const struct osc_str wanted = osc_str_c(key);
    struct osc_str found, member;

    /* A list of objects without braces is no object. */
    if (text.len > 0 && *skip_blank(text.s, text.s + text.len - 1) != '{')
        return false;
    while (osc_json_next_member(&text, &found, &member)) {
        if (osc_str_eq(found, wanted)) {
            *value = member;
            return true;
        }
    }
    return false;
}

bool osc_json_next(struct osc_str *rest, struct osc_str *value)
{
    const char *const end = rest->s + rest->len;
    const char *start = skip_blank(rest->s, end);

    if (start == end || (*start != '[' && *start != ','))
        return false;
    start = skip_blank(start + 1, end);
    if (start == end || *start == ']')
        return false;
    const char *const after = skip_value(start, end);
    *value = trimmed(start, after);
    *rest = (struct osc_str){after, (uint32_t)(end - after)};
    return true;
}
