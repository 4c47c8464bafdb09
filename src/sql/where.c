/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/where.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "sql/engine.h"
#include "sql/rows.h"
#include "sql/texts.h"
#include "table/column_meaning.h"
#include "table/nearest.h"

#define SHOWN_BYTES 80 /* of the expression in a message */

/* At most so many operations of SQLite are made of a byte of an expression. */
#define OPERATIONS_PER_BYTE 4

struct osc_where {
    const char *expr; /* borrowed */
    struct osc_sql sql;
    struct osc_sql_rows rows;
    sqlite3_stmt *statement; /* owned; gives the rowids of the selected rows */
};

/* Write "--where 'EXPR': "; a long EXPR is cut. */
static void add_name(const struct osc_where *w, char *out, size_t size)
{
    const size_t len = strlen(w->expr);

    snprintf(out, size, "--where '%.*s%s'", (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES),
             w->expr, len > SHOWN_BYTES ? "..." : "");
}

/* Fail: there is no column NAME, which may be "table.column" in SQLite's message. */
static osc_status no_column(const struct osc_where *w, const char *name, struct osc_err *err)
{
    const char *const dot = strrchr(name, '.');
    struct osc_nearest near = {.word = dot ? dot + 1 : name};
    char what[128], quoted[80];

    near.best = osc_column_meant(w->rows.def, near.word);
    add_name(w, what, sizeof what);
    for (int i = 0; i < w->rows.n_columns; i++)
        osc_nearest_try(&near, w->rows.columns[i].column->name);
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "%s: %s has no column '%s'; did you mean '%s'?", what,
                        w->rows.def->name, name, near.best);
    snprintf(quoted, sizeof quoted, "\"%.70s\"", name);
    if (strstr(w->expr, quoted))
        return osc_fail(err, OSC_EINVAL,
                        "%s: %s has no column '%s'; write text in single quotes", what,
                        w->rows.def->name, name);
    return osc_fail(err, OSC_EINVAL,
                    "%s: %s has no column '%s'; 'opscope table %s --list' names its columns",
                    what, w->rows.def->name, name, w->rows.def->name);
}

static osc_status no_function(const struct osc_where *w, const char *name, struct osc_err *err)
{
    struct osc_nearest near = {.word = name};
    char what[128];

    add_name(w, what, sizeof what);
    for (size_t i = 0; osc_sql_functions[i]; i++)
        osc_nearest_try(&near, osc_sql_functions[i]);
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "%s: unknown function %s(); did you mean %s()?", what,
                        name, near.best);
    return osc_fail(err, OSC_EINVAL, "%s: function %s() cannot be used here", what, name);
}

/*
 * Whether the statement is longer than a limit. SQLite reports too many operations as a lack of
 * memory: it is one if an allocation was refused, or if the expression is so short that it
 * cannot have as many operations.
 */
static bool is_too_long(const struct osc_where *w)
{
    const int failure = sqlite3_errcode(w->sql.db);
    const int most = sqlite3_limit(w->sql.db, SQLITE_LIMIT_VDBE_OP, -1);

    return failure == SQLITE_TOOBIG ||
           (failure == SQLITE_NOMEM && osc_mem_reason(OSC_ENOMEM) == OSC_ENOMEM &&
            strlen(w->expr) > (size_t)most / OPERATIONS_PER_BYTE);
}

/* The length of the number in EXPR that ends before AT, but for blanks; moves *AT to it. */
static int number_before(const char *expr, const char **at)
{
    const char *end = *at;

    while (end > expr && end[-1] == ' ')
        end--;
    for (*at = end; *at > expr && strchr("0123456789.", (*at)[-1]);)
        --*at;
    return (int)(end - *at);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Where the text or name in quotes, or the comment, that begins at P ends; P if none does. */
static const char *skip_quoted(const char *p)
{
    const char *end = NULL;

    if (*p == '\'' || *p == '"' || *p == '`')
        end = strchr(p + 1, *p);
    else if (*p == '[')
        end = strchr(p + 1, ']');
    else if (p[0] == '-' && p[1] == '-')
        end = strchrnul(p, '\n') - 1;
    else if (p[0] == '/' && p[1] == '*' && (end = strstr(p + 2, "*/")) != NULL)
        end++;
    else
        return p;
    return end ? end + 1 : p + strlen(p);
}

/*
 * Explain a number with a unit behind it: 1ms, of which MESSAGE says that it is no token, and
 * 1 ms, whose unit is an error to it. False: it is something else.
 */
static bool add_unit_hint(const struct osc_where *w, const char *message, struct osc_err *err)
{
    static const char no_token[] = "unrecognized token: \"", near[] = "near \"";
    const char *number = NULL, *unit = NULL, *blank = "";
    int n = 0, n_unit = 0;
    char what[128];

    if (strncmp(message, no_token, sizeof no_token - 1) == 0) {
        number = message + sizeof no_token - 1;
        n = (int)strspn(number, "0123456789.");
        unit = number + n;
        n_unit = (int)strcspn(unit, "\"");
    } else if (strncmp(message, near, sizeof near - 1) == 0) {
        blank = " ";
        unit = message + sizeof near - 1;
        n_unit = (int)strcspn(unit, "\"");
    }
    if (!unit || !osc_sql_is_unit((struct osc_str){unit, (uint32_t)n_unit}))
        return false;
    for (const char *at = w->expr; !number && *at;) {
        const char *before = at, *const end = skip_quoted(at);

        if (end == at && strncmp(at, unit, (size_t)n_unit) == 0 && !is_word(at[n_unit]) &&
            (n = number_before(w->expr, &before)) > 0)
            number = before;
        at = end == at ? at + 1 : end;
    }
    if (n == 0)
        return false;
    add_name(w, what, sizeof what);
    (void)osc_fail(err, OSC_EINVAL, "%s: %.*s%s%.*s is no number; write %.*s(%.*s)", what, n,
                   number, blank, n_unit, unit, n_unit, unit, n, number);
    return true;
}

/* Explain why statement SQL, in which the expression ends before byte END, was not
 * prepared. */
static osc_status explain(const struct osc_where *w, size_t end, struct osc_err *err)
{
    static const char no_such_column[] = "no such column: ";
    static const char no_such_function[] = "no such function: ";
    const char *const message = sqlite3_errmsg(w->sql.db);
    const int offset = sqlite3_error_offset(w->sql.db);
    char what[128];

    add_name(w, what, sizeof what);
    if (is_too_long(w))
        return osc_fail(err, OSC_EINVAL, "%s: the expression is too long", what);
    if (sqlite3_errcode(w->sql.db) == SQLITE_NOMEM)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    if (strncmp(message, no_such_column, sizeof no_such_column - 1) == 0)
        return no_column(w, message + sizeof no_such_column - 1, err);
    if (strncmp(message, no_such_function, sizeof no_such_function - 1) == 0)
        return no_function(w, message + sizeof no_such_function - 1, err);
    if (w->sql.refused_function[0])
        return no_function(w, w->sql.refused_function, err);
    if (w->sql.has_refused_subquery)
        return osc_fail(err, OSC_EINVAL,
                        "%s: queries are not allowed; the expression sees one row", what);
    if (strcmp(message, "incomplete input") == 0 || (offset >= 0 && (size_t)offset >= end))
        return osc_fail(err, OSC_EINVAL, "%s: the expression is incomplete", what);
    if (add_unit_hint(w, message, err))
        return OSC_EINVAL;
    /* An unterminated string continues into the line after the expression. */
    const size_t len = strcspn(message, "\n");
    /* A name such as aten::mm. */
    const bool is_bare = strcmp(message, "unrecognized token: \":\"") == 0;
    return osc_fail(err, OSC_EINVAL, "%s: %.*s%s%s", what, (int)(len < 100 ? len : 100),
                    message, message[len] ? "\"" : "",
                    is_bare ? "; write text in single quotes" : "");
}

/* Whether WORD is a column of W's table whose name is a word of SQL, such as group. */
static bool is_reserved_column(const struct osc_where *w, struct osc_str word)
{
    if (!sqlite3_keyword_check(word.s, (int)word.len))
        return false;
    for (int i = 0; i < w->rows.n_columns; i++) {
        if (osc_str_eq_case(word, osc_str_c(w->rows.columns[i].column->name)))
            return true;
    }
    return false;
}

/* Append the expression of W; columns whose names are words of SQL are put in quotes. */
static void add_expr(const struct osc_where *w, struct osc_strbuf *out)
{
    for (const char *p = w->expr, *end; *p; p = end) {
        end = skip_quoted(p);
        if (end == p && !is_word(*p))
            end = p + 1;
        while (end == p || (is_word(*p) && is_word(*end)))
            end++;
        const struct osc_str word = {p, (uint32_t)(end - p)};
        const bool is_reserved = is_word(*p) && is_reserved_column(w, word);
        osc_strbuf_adds(out, is_reserved ? "\"" : "");
        osc_strbuf_addstr(out, word);
        osc_strbuf_adds(out, is_reserved ? "\"" : "");
    }
}

/* Compile HEAD, the expression, TAIL into *STATEMENT. */
static osc_status prepare(struct osc_where *w, const char *head, const char *tail,
                          sqlite3_stmt **statement, struct osc_err *err)
{
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

    /* On a line of its own, so that a comment in it does not hide what follows. */
    osc_strbuf_addf(&text, "SELECT rowid FROM \"%s\" WHERE %s\n", w->rows.def->name, head);
    add_expr(w, &text);
    const size_t end = text.len;
    osc_strbuf_addf(&text, "\n%s", tail);
    w->sql.n_selects = 0;
    w->sql.has_refused_subquery = false;
    w->sql.refused_function[0] = '\0';
    if (text.status != OSC_OK)
        st = osc_fail(err, text.status, "out of memory");
    else if (sqlite3_prepare_v2(w->sql.db, text.s, -1, statement, NULL) != SQLITE_OK)
        st = explain(w, end, err);
    osc_strbuf_fini(&text);
    return st;
}

osc_status osc_where_open(struct osc_where **where, const struct osc_table_def *def,
                          const char *expr, bool (*is_canceled)(void), struct osc_err *err)
{
    struct osc_where *const w = osc_calloc(1, sizeof *w);
    sqlite3_stmt *other = NULL;

    *where = NULL;
    if (!w)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    w->expr = expr;
    osc_status st = osc_sql_open(&w->sql, is_canceled);
    if (st == OSC_OK)
        st = osc_sql_texts_add(&w->sql);
    if (st == OSC_OK)
        st = osc_sql_rows_add(&w->rows, &w->sql, def);
    if (st != OSC_OK)
        st = osc_fail(err, st, "out of memory");
    if (st == OSC_OK)
        st = prepare(w, "(", ")", &w->statement, err);
    /*
     * An expression that is also valid between CASE WHEN and THEN is a single expression: it
     * cannot close the brackets and continue.
     */
    if (st == OSC_OK)
        st = prepare(w, "CASE WHEN", "THEN 1 END", &other, err);
    sqlite3_finalize(other);
    if (st == OSC_OK)
        *where = w;
    else
        osc_where_close(w);
    return st;
}

void osc_where_close(struct osc_where *w)
{
    if (!w)
        return;
    sqlite3_finalize(w->statement);
    osc_sql_close(&w->sql);
    osc_sql_rows_fini(&w->rows);
    osc_free(w);
}

osc_status osc_where_keep(void *ctx, const struct osc_rows *rows, bool *keep,
                          struct osc_err *err)
{
    struct osc_where *const w = ctx;
    char what[128];
    osc_status st = OSC_OK;
    int rc;

    if (rows->n_rows == 0)
        return OSC_OK;
    if (osc_sql_is_stopped(&w->sql))
        return OSC_ECANCELED; /* a small batch ends before SQLite calls is_canceled */
    memset(keep, 0, rows->n_rows * sizeof *keep);
    w->rows.rows = rows;
    while ((rc = sqlite3_step(w->statement)) == SQLITE_ROW)
        keep[sqlite3_column_int64(w->statement, 0)] = true;
    if (rc == SQLITE_INTERRUPT) {
        st = osc_fail(err, OSC_ECANCELED, "interrupted");
    } else if (rc == SQLITE_NOMEM) {
        st = osc_fail(err, OSC_ENOMEM, "out of memory");
    } else if (rc != SQLITE_DONE) {
        add_name(w, what, sizeof what);
        st = osc_fail(err, OSC_EINVAL, "%s: %.100s", what, sqlite3_errmsg(w->sql.db));
    }
    sqlite3_reset(w->statement);
    w->rows.rows = NULL;
    return st;
}
