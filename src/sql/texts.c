/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/texts.h"

#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Between two questions whether to stop. */
#define STEPS_PER_QUESTION (1u << 16)

/* The work of one call of a function. */
struct work {
    const struct osc_sql *sql;
    uint32_t n_steps;
    bool is_stopped;
};

static struct work begin(sqlite3_context *ctx)
{
    return (struct work){.sql = sqlite3_user_data(ctx)};
}

/* Count a step. False: stop. */
static bool go_on(struct work *w)
{
    if (++w->n_steps % STEPS_PER_QUESTION == 0)
        w->is_stopped = osc_sql_is_stopped(w->sql);
    return !w->is_stopped;
}

/* Take V as text, or as bytes if it is a blob. False: it is NULL, or there is no memory, which
 * CTX is told. */
static bool take_text(sqlite3_context *ctx, sqlite3_value *v, struct osc_str *to)
{
    if (sqlite3_value_type(v) == SQLITE_NULL)
        return false;
    const char *const s = (const char *)sqlite3_value_text(v);
    const int len = sqlite3_value_bytes(v);
    if (!s && len > 0)
        sqlite3_result_error_nomem(ctx);
    *to = (struct osc_str){s ? s : "", s ? (uint32_t)len : 0};
    return s || len == 0;
}

/* Take V as text up to its first NUL, as LIKE and GLOB do. */
static bool take_c_text(sqlite3_context *ctx, sqlite3_value *v, struct osc_str *to)
{
    if (!take_text(ctx, v, to))
        return false;
    to->len = (uint32_t)strnlen(to->s, to->len);
    return true;
}

/* --- characters ------------------------------------------------------------------ */

static bool is_continued(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Read a character at *P, which moves behind it; 0: END is reached. What is not UTF-8 is read
 * as SQLite reads it. */
static uint32_t read_char(const unsigned char **p, const unsigned char *end)
{
    if (*p == end)
        return 0;
    uint32_t c = *(*p)++;
    if (c < 0xc0)
        return c;
    c &= c < 0xe0 ? 0x1fu : c < 0xf0 ? 0x0fu : c < 0xf8 ? 0x07u : c < 0xfc ? 3u : c < 0xfe;
    while (*p < end && is_continued(**p))
        c = (c << 6) + (0x3fu & *(*p)++);
    return c < 0x80 || (c & 0xfffff800u) == 0xd800 || (c & 0xfffffffeu) == 0xfffe ? 0xfffd : c;
}

static uint32_t lower(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* --- LIKE and GLOB --------------------------------------------------------------- */

/* What characters of a pattern mean; 0: none does. */
struct dialect {
    uint32_t many, one, set, escape;
    bool is_case_blind;
};

/* A place in a pattern or in a text. */
struct reader {
    const unsigned char *at, *end;
};

static struct reader reader_of(struct osc_str s)
{
    const unsigned char *const at = (const void *)s.s;

    return (struct reader){at, at + s.len};
}

/* Read a set of GLOB behind its "[". *HAS: whether it has C. False: it does not end. */
static bool read_set(struct reader *p, uint32_t c, bool *has)
{
    uint32_t before = 0, k = read_char(&p->at, p->end);
    const bool is_inverted = k == '^';

    *has = false;
    if (is_inverted)
        k = read_char(&p->at, p->end);
    if (k == ']') { /* at the begin it is a character */
        *has = c == ']';
        k = read_char(&p->at, p->end);
    }
    for (; k != 0 && k != ']'; k = read_char(&p->at, p->end)) {
        if (k == '-' && p->at < p->end && *p->at != ']' && before > 0) {
            k = read_char(&p->at, p->end);
            *has = *has || (c >= before && c <= k);
            before = 0;
        } else {
            *has = *has || c == k;
            before = k;
        }
    }
    *has = *has != is_inverted;
    return k != 0;
}

/* Match the item K of the pattern, whose rest is P, with the next character of TEXT. */
static bool match_one(const struct dialect *d, uint32_t k, struct reader *p,
                      struct reader *text)
{
    const uint32_t c = read_char(&text->at, text->end);
    bool has;

    if (c == 0)
        return false;
    if (k == d->set && d->set)
        return read_set(p, c, &has) && has;
    if (k == d->escape && d->escape)
        k = read_char(&p->at, p->end);
    else if (k == d->one && d->one)
        return true;
    return c == k || (d->is_case_blind && lower(c) == lower(k));
}

/*
 * Whether TEXT is like PATTERN. If it is not, the last wild card takes one character more;
 * those before it need not, because what is between them was found as early as possible.
 */
static bool is_like(struct work *w, const struct dialect *d, struct reader pattern,
                    struct reader text)
{
    struct reader wild = {NULL, NULL}, from = text; /* behind the wild card, and its text */

    while (go_on(w)) {
        struct reader p = pattern;
        const uint32_t k = read_char(&p.at, p.end);

        if (k == d->many && d->many) {
            wild = pattern = p;
            from = text;
            if (p.at == p.end)
                return true;
            continue;
        }
        if (k == 0 && text.at == text.end)
            return true;
        if (k != 0 && match_one(d, k, &p, &text)) {
            pattern = p;
            continue;
        }
        if (!wild.at || read_char(&from.at, from.end) == 0)
            return false;
        pattern = wild;
        text = from;
    }
    return false;
}

static void apply_like(sqlite3_context *ctx, int n, sqlite3_value **args,
                       const struct dialect *d)
{
    sqlite3 *const db = sqlite3_context_db_handle(ctx);
    struct work w = begin(ctx);
    struct osc_str pattern, text;

    (void)n;
    if (!take_c_text(ctx, args[0], &pattern) || !take_c_text(ctx, args[1], &text))
        return;
    if (sqlite3_value_bytes(args[0]) >
        sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)) {
        sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
        return;
    }
    const bool is = is_like(&w, d, reader_of(pattern), reader_of(text));
    if (w.is_stopped)
        sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
    else
        sqlite3_result_int(ctx, is);
}

static void like(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    struct dialect d = {.many = '%', .one = '_', .is_case_blind = true};
    struct osc_str escape;

    if (n == 3) {
        if (!take_c_text(ctx, args[2], &escape))
            return;
        struct reader r = reader_of(escape);
        d.escape = read_char(&r.at, r.end);
        if (d.escape == 0 || r.at != r.end) {
            sqlite3_result_error(ctx, "ESCAPE expression must be a single character", -1);
            return;
        }
        d.many = d.escape == d.many ? 0 : d.many;
        d.one = d.escape == d.one ? 0 : d.one;
    }
    apply_like(ctx, n, args, &d);
}

static void glob(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    static const struct dialect d = {.many = '*', .one = '?', .set = '['};

    apply_like(ctx, n, args, &d);
}

/* --- parts ----------------------------------------------------------------------- */

/* The first NEEDLE in TEXT from AT on; NULL: none. glibc's memmem() is linear. */
static const char *find(struct osc_str text, size_t at, struct osc_str needle)
{
    return memmem(text.s + at, text.len - at, needle.s, needle.len);
}

/* The number of the first character of X at which Y is; of the byte, if both are blobs. */
static void instr(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    const bool is_bytes = sqlite3_value_type(args[0]) == SQLITE_BLOB &&
                          sqlite3_value_type(args[1]) == SQLITE_BLOB;
    struct osc_str x, y;
    int at = 1;

    (void)n;
    if (!take_text(ctx, args[0], &x) || !take_text(ctx, args[1], &y))
        return;
    const char *const found = find(x, 0, y);
    const size_t before = found ? (size_t)(found - x.s) : 0;
    /* A text is looked at where characters begin. */
    const bool is_there =
        found && (is_bytes || before == 0 || !is_continued((unsigned char)*found));
    for (size_t i = 1; i <= before && is_there; i++)
        at += is_bytes || !is_continued((unsigned char)x.s[i]);
    sqlite3_result_int(ctx, is_there ? at : 0);
}

/* How long TEXT is once each OLD is NEW. */
static uint64_t replaced_bytes(struct osc_str text, struct osc_str old, struct osc_str new)
{
    uint64_t n = text.len;

    for (const char *p = find(text, 0, old); p;
         p = find(text, (size_t)(p - text.s) + old.len, old))
        n += (uint64_t) new.len - old.len;
    return n;
}

static void replace(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    struct osc_str text, old, new;

    (void)n;
    if (!take_text(ctx, args[0], &text) || !take_text(ctx, args[1], &old))
        return;
    if (old.len == 0 || old.s[0] == '\0') {
        sqlite3_result_value(ctx, args[0]);
        return;
    }
    if (!take_text(ctx, args[2], &new))
        return;
    const uint64_t len = replaced_bytes(text, old, new);
    if (len >
        (uint64_t)sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1)) {
        sqlite3_result_error_toobig(ctx);
        return;
    }
    char *const out = osc_malloc(len + 1);
    if (!out) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    char *to = out;
    for (size_t at = 0; at < text.len;) {
        const char *const p = find(text, at, old);
        const size_t before = p ? (size_t)(p - text.s) - at : text.len - at;

        memcpy(to, text.s + at, before);
        to += before;
        at += before;
        if (p) {
            memcpy(to, new.s, new.len);
            to += new.len;
            at += old.len;
        }
    }
    sqlite3_result_text64(ctx, out, len, osc_free, SQLITE_UTF8);
}

/* --- trim ------------------------------------------------------------------------ */

enum { LEFT = 1, RIGHT = 2 };

/* The character of SET with which TEXT begins, or ends; its length, or 0. */
static uint32_t find_char(struct work *w, struct osc_str text, struct osc_str set, bool is_left)
{
    for (uint32_t i = 0, len; i < set.len && set.s[i] && go_on(w); i += len) {
        len = 1;
        if ((unsigned char)set.s[i] >= 0xc0)
            while (i + len < set.len && is_continued((unsigned char)set.s[i + len]))
                len++;
        if (len <= text.len &&
            memcmp(is_left ? text.s : text.s + text.len - len, set.s + i, len) == 0)
            return len;
    }
    return 0;
}

static void trim_sides(sqlite3_context *ctx, int n, sqlite3_value **args, int sides)
{
    struct work w = begin(ctx);
    struct osc_str text, set = OSC_STR(" ");
    uint32_t len;

    if (!take_text(ctx, args[0], &text) || (n == 2 && !take_text(ctx, args[1], &set)))
        return;
    while (sides & LEFT && (len = find_char(&w, text, set, true)) > 0) {
        text.s += len;
        text.len -= len;
    }
    while (sides & RIGHT && (len = find_char(&w, text, set, false)) > 0)
        text.len -= len;
    if (w.is_stopped)
        sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
    else
        sqlite3_result_text(ctx, text.s, (int)text.len, SQLITE_TRANSIENT);
}

static void trim(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    trim_sides(ctx, n, args, LEFT | RIGHT);
}

static void ltrim(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    trim_sides(ctx, n, args, LEFT);
}

static void rtrim(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    trim_sides(ctx, n, args, RIGHT);
}

osc_status osc_sql_texts_add(struct osc_sql *sql)
{
    static const struct {
        const char *name;
        int n_args;
        void (*apply)(sqlite3_context *ctx, int n, sqlite3_value **args);
    } functions[] = {{"like", 2, like},   {"like", 3, like},       {"glob", 2, glob},
                     {"instr", 2, instr}, {"replace", 3, replace}, {"trim", 1, trim},
                     {"trim", 2, trim},   {"ltrim", 1, ltrim},     {"ltrim", 2, ltrim},
                     {"rtrim", 1, rtrim}, {"rtrim", 2, rtrim}};
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sizeof functions / sizeof *functions && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function_v2(sql->db, functions[i].name, functions[i].n_args,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                        sql, functions[i].apply, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OSC_OK : OSC_ENOMEM;
}
