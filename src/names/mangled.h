/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mangled.h - a mangled name while it is read: letters, numbers, words, and texts made of them.
 *
 * Only for demangle.c, which has the grammar. Texts live as long as the arena; one without an
 * address stands for a failure, and what is made of it is a failure, too.
 *
 * Threading: each name by one thread.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"

#define DEPTH_MAX 64         /* of names and types within each other */
#define PARTS_MAX 512        /* that S_ can refer to */
#define BYTES_MAX (4u << 20) /* of all texts that are made */

/* What is read, and what S_ refers to. */
struct mangled {
    struct osc_str s;
    uint32_t i;
    unsigned depth;
    struct osc_arena arena; /* of the texts */
    struct osc_str parts[PARTS_MAX];
    uint32_t n_parts;
    /* read_type() and so on, which names need that are parts of them */
    struct osc_str (*read_type)(struct mangled *m);
    struct osc_str (*read_encoding)(struct mangled *m);
    struct osc_str (*read_expression)(struct mangled *m);
};

static const struct osc_str failure = {NULL, 0};

static inline char peek(const struct mangled *m, uint32_t ahead)
{
    if (m->i < m->s.len && m->s.len - m->i > ahead)
        return m->s.s[m->i + ahead];
    return '\0';
}

static inline bool skip_char(struct mangled *m, char c)
{
    if (peek(m, 0) != c)
        return false;
    m->i++;
    return true;
}

/* Skip the two letters of PAIR. */
static inline bool skip_pair(struct mangled *m, const char *pair)
{
    if (peek(m, 0) != pair[0] || peek(m, 1) != pair[1])
        return false;
    m->i += 2;
    return true;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline void skip_digits(struct mangled *m)
{
    while (is_digit(peek(m, 0)))
        m->i++;
}

/* A then B then C, any of which may be empty. */
static inline struct osc_str join(struct mangled *m, struct osc_str a, const char *b,
                                  struct osc_str c)
{
    const size_t middle = strlen(b), len = (size_t)a.len + middle + c.len;

    if (!a.s || !c.s || m->arena.total_bytes + len > BYTES_MAX)
        return failure;
    char *const text = osc_arena_alloc(&m->arena, len + 1);
    if (!text)
        return failure;
    memcpy(text, a.s, a.len);
    memcpy(text + a.len, b, middle);
    memcpy(text + a.len + middle, c.s, c.len);
    text[len] = '\0';
    return (struct osc_str){text, (uint32_t)len};
}

static inline struct osc_str append(struct mangled *m, struct osc_str a, const char *b)
{
    return join(m, a, b, OSC_STR(""));
}

/* Let S_ refer to TEXT, too. */
static inline struct osc_str add_part(struct mangled *m, struct osc_str text)
{
    if (!text.s || m->n_parts == PARTS_MAX)
        return failure;
    m->parts[m->n_parts++] = text;
    return text;
}

/* Read a number and the "_" behind it: 0 for "_" alone, else one more. */
static inline bool read_index(struct mangled *m, uint32_t base, uint32_t *n)
{
    *n = 0;
    if (skip_char(m, '_'))
        return true;
    for (; peek(m, 0) != '_'; m->i++) {
        const char c = peek(m, 0);
        const uint32_t digit = is_digit(c) ? (uint32_t)(c - '0') : (uint32_t)(c - 'A') + 10;

        if (digit >= base || *n > 100000)
            return false;
        *n = *n * base + digit;
    }
    m->i++;
    ++*n;
    return true;
}

/* Read a length and that many bytes. */
static inline struct osc_str read_word(struct mangled *m)
{
    uint32_t n = 0;

    while (is_digit(peek(m, 0)) && n <= m->s.len)
        n = n * 10 + (uint32_t)(m->s.s[m->i++] - '0');
    if (n == 0 || n > m->s.len - m->i)
        return failure;
    const struct osc_str word = {m->s.s + m->i, n};
    m->i += n;
    return osc_str_starts(word, OSC_STR("_GLOBAL__N_")) ? OSC_STR("(anonymous namespace)")
                                                        : word;
}
