/* SPDX-License-Identifier: Apache-2.0 */
#include "render/demangle.h"

#include <string.h>

#include "base/utf8.h"

/*
 * Mangled names (Itanium C++ ABI, 5.1): _Z, then N (length, bytes)... E, with I ... E for
 * template arguments. Only names are read. Arguments are skipped in time linear in the length,
 * since substitutions can expand without bound. Names that use anything else are left mangled.
 */
#define NESTING_MAX 64

struct mangled {
    const char *s;
    uint32_t len, i;
    char open[NESTING_MAX]; /* for each open E what it ends: N, I, L ... */
    uint32_t n_open;
};

static char peek(const struct mangled *m, uint32_t ahead)
{
    if (m->len - m->i > ahead)
        return m->s[m->i + ahead];
    return '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_digits(struct mangled *m)
{
    while (is_digit(peek(m, 0)))
        m->i++;
}

static bool skip_char(struct mangled *m, char c)
{
    if (peek(m, 0) != c)
        return false;
    m->i++;
    return true;
}

/* Read a length and that many bytes. */
static bool read_word(struct mangled *m, struct osc_str *word)
{
    uint32_t n = 0;

    while (is_digit(peek(m, 0)) && n <= m->len)
        n = n * 10 + (uint32_t)(m->s[m->i++] - '0');
    if (n == 0 || n > m->len - m->i)
        return false;
    *word = (struct osc_str){m->s + m->i, n};
    m->i += n;
    return true;
}

static bool push(struct mangled *m, char what, uint32_t n_bytes)
{
    if (m->n_open == NESTING_MAX)
        return false;
    m->open[m->n_open++] = what;
    m->i += n_bytes;
    return true;
}

/* Skip the value of a literal, after its type, up to its E. */
static bool skip_value(struct mangled *m)
{
    while (peek(m, 0) != 'E' && peek(m, 0) != '\0')
        m->i++;
    m->n_open--;
    return skip_char(m, 'E');
}

/* After the possible type of a literal: skip its value, unless arguments follow. */
static bool end_of_type(struct mangled *m)
{
    const bool is_literal = m->n_open > 0 && m->open[m->n_open - 1] == 'L';

    return is_literal && peek(m, 0) != 'I' ? skip_value(m) : true;
}

static bool skip_end(struct mangled *m)
{
    const char what = m->open[--m->n_open];

    m->i++;
    if (what == 'U') { /* a lambda has a number */
        skip_digits(m);
        return skip_char(m, '_');
    }
    return m->n_open == 0 || what == 'Z' || end_of_type(m);
}

/* Skip S_, S0_, SZ_, or St, Sa and so on. */
static bool skip_substitution(struct mangled *m)
{
    m->i++;
    if (peek(m, 0) >= 'a' && peek(m, 0) <= 'z') {
        const bool is_std = peek(m, 0) == 't';

        m->i++;
        return is_std || end_of_type(m);
    }
    while (is_digit(peek(m, 0)) || (peek(m, 0) >= 'A' && peek(m, 0) <= 'Z'))
        m->i++;
    return skip_char(m, '_') && end_of_type(m);
}

static bool skip_literal(struct mangled *m)
{
    m->i++;
    if (peek(m, 0) == '_' && peek(m, 1) == 'Z')
        return push(m, 'Z', 2);
    if (!push(m, 'L', 0))
        return false;
    /* The value of a literal follows the name of its type. */
    return peek(m, 0) >= 'a' && peek(m, 0) <= 'z' ? skip_value(m) : true;
}

/* Skip what begins with D: a type such as std::nullptr_t or _Float16, the expansion of a pack.
 */
static bool skip_d(struct mangled *m)
{
    if (peek(m, 1) == '\0' || !strchr("pnaishocuF", peek(m, 1)))
        return false;
    m->i += 2;
    if (m->s[m->i - 1] != 'F')
        return true;
    skip_digits(m);
    return skip_char(m, '_') || skip_char(m, 'b') || skip_char(m, 'x');
}

/* Skip one part of what is between I and E. */
static bool skip_part(struct mangled *m)
{
    const char c = peek(m, 0);
    struct osc_str word;

    if (is_digit(c))
        return read_word(m, &word) && end_of_type(m);
    if (c >= 'a' && c <= 'z') {
        m->i++; /* a built-in type, or the first character of an operator */
        return true;
    }
    switch (c) {
    case 'E':
        return skip_end(m);
    case 'I':
    case 'J':
    case 'N':
    case 'F':
    case 'Z':
        return push(m, c, 1);
    case 'L':
        return skip_literal(m);
    case 'S':
        return skip_substitution(m);
    case 'U':
        return peek(m, 1) == 'l' && push(m, 'U', 2);
    case 'T':
    case 'A':
        m->i++;
        skip_digits(m);
        return skip_char(m, '_');
    case 'D':
        return skip_d(m);
    case 'P':
    case 'R':
    case 'O':
    case 'K':
    case 'V':
    case 'M':
        m->i++;
        return true;
    default:
        return false; /* expressions, vectors and the like */
    }
}

static bool skip_arguments(struct mangled *m)
{
    bool is_fine = push(m, 'I', 1);

    while (is_fine && m->n_open > 0)
        is_fine = skip_part(m);
    return is_fine;
}

/* Read one part of a name, outside all arguments. */
static bool add_part(struct mangled *m, struct osc_strbuf *out)
{
    struct osc_str word;

    if (peek(m, 0) == 'I') {
        osc_strbuf_adds(out, "<...>");
        return out->len > 5 && skip_arguments(m);
    }
    osc_strbuf_adds(out, out->len > 0 ? "::" : "");
    if (peek(m, 0) == 'S' && peek(m, 1) == 't') {
        osc_strbuf_adds(out, "std");
        m->i += 2;
        return true;
    }
    m->i += peek(m, 0) == 'L'; /* static */
    if (!read_word(m, &word))
        return false;
    if (osc_str_starts(word, OSC_STR("_GLOBAL__N_")))
        osc_strbuf_adds(out, "(anonymous namespace)");
    else
        osc_utf8_append_terminal(out, word);
    return true;
}

bool osc_demangle(struct osc_strbuf *out, struct osc_str symbol)
{
    struct mangled m = {.s = symbol.s, .len = symbol.len, .i = 2};
    bool is_fine = osc_str_starts(symbol, OSC_STR("_Z"));

    if (is_fine && skip_char(&m, 'N')) {
        while (is_fine && peek(&m, 0) != 'E')
            is_fine = add_part(&m, out);
        m.i++;
    } else if (is_fine) {
        is_fine = peek(&m, 0) != 'S' || add_part(&m, out);
        is_fine = is_fine && peek(&m, 0) != 'I' && add_part(&m, out);
        if (is_fine && peek(&m, 0) == 'I')
            is_fine = add_part(&m, out);
    }
    if (!is_fine || out->len == 0)
        return false;
    if (m.i < m.len) {
        const uint32_t from = m.i;

        while (skip_char(&m, 'v'))
            continue;
        osc_strbuf_adds(out, m.i == m.len && m.i > from ? "()" : "(...)");
    }
    return true;
}
