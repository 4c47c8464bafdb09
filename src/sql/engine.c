/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/regex.h"

/* SQLite operations between two calls of is_canceled. */
#define STEPS_PER_QUESTION 20000

/*
 * Pure functions of their arguments: none reads a file or a clock, loads code, draws a random
 * number or reveals anything about the library.
 */
const char *const osc_sql_functions[] = {
    "ns", "us", "ms", "s", "kib", "mib", "gib",
    /* texts */
    "like", "glob", "regexp", "instr", "substr", "substring", "length", "lower", "upper",
    "trim", "ltrim", "rtrim", "replace", "printf", "format", "char", "unicode", "hex", "quote",
    /* numbers */
    "abs", "round", "ceil", "ceiling", "floor", "trunc", "mod", "sign", "sqrt", "exp", "ln",
    "log", "log10", "log2", "pow", "power", "min", "max",
    /* choices and types */
    "coalesce", "ifnull", "nullif", "iif", "typeof", "likely", "unlikely", "likelihood",
    /* arguments of events */
    "->", "->>", "json_extract", "json_type", "json_valid", "json_array_length",
    /* for whole queries */
    "count", "sum", "total", "avg", "group_concat", "row_number", "rank", "dense_rank",
    "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
    "nth_value", NULL};

static const struct unit {
    const char *name;
    sqlite3_int64 factor;
} units[] = {
    {"ns", 1},        {"us", 1000},     {"ms", 1000000},  {"s", 1000000000},
    {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
};

bool osc_sql_is_unit(struct osc_str word)
{
    bool is_one = false;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        is_one |= osc_str_eq(word, osc_str_c(units[i].name));
    return is_one;
}

/* NAME(X) is X times its factor: an integer if that is exact. */
static void apply_unit(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    const struct unit *const unit = sqlite3_user_data(ctx);
    char text[48];
    sqlite3_int64 product;
    double real;

    (void)n;
    switch (sqlite3_value_numeric_type(args[0])) {
    case SQLITE_NULL:
        return;
    case SQLITE_INTEGER:
        if (__builtin_mul_overflow(sqlite3_value_int64(args[0]), unit->factor, &product))
            sqlite3_result_error(ctx, "integer overflow", -1);
        else
            sqlite3_result_int64(ctx, product);
        return;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(args[0]) * (double)unit->factor;
        if (fabs(real) < 9007199254740992.0 && trunc(real) == real)
            sqlite3_result_int64(ctx, (sqlite3_int64)real);
        else
            sqlite3_result_double(ctx, real);
        return;
    default:
        snprintf(text, sizeof text, "%s() takes a number", unit->name);
        sqlite3_result_error(ctx, text, -1);
    }
}

static int ask_whether_to_stop(void *ctx)
{
    return osc_sql_is_stopped(ctx);
}

static void close_regex(void *r)
{
    osc_regex_close(r);
}

/* X REGEXP PATTERN. SQLite keeps the compiled pattern as long as it is a constant. */
static void apply_regexp(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    struct osc_regex *r = sqlite3_get_auxdata(ctx, 0);
    const bool is_known = r != NULL;
    struct osc_err err = {0};

    (void)n;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL ||
        sqlite3_value_type(args[1]) == SQLITE_NULL)
        return;
    if (!r) {
        const char *const s = (const char *)sqlite3_value_text(args[0]);
        const struct osc_str pattern = {s ? s : "", (uint32_t)sqlite3_value_bytes(args[0])};

        if (osc_regex_open(&r, pattern, false, &err) != OSC_OK) {
            sqlite3_result_error(ctx, err.message, -1);
            return;
        }
    }
    const char *const s = (const char *)sqlite3_value_text(args[1]);
    const struct osc_str text = {s ? s : "", (uint32_t)sqlite3_value_bytes(args[1])};
    sqlite3_result_int(ctx, osc_regex_has(r, text));
    if (ask_whether_to_stop(sqlite3_user_data(ctx))) /* a row may take as long as many do */
        sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
    if (!is_known)
        sqlite3_set_auxdata(ctx, 0, r, close_regex);
}

static bool is_function(const char *name)
{
    for (size_t i = 0; osc_sql_functions[i]; i++) {
        if (strcasecmp(osc_sql_functions[i], name) == 0)
            return true;
    }
    return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
                     const char *trigger)
{
    struct osc_sql *const sql = ctx;

    (void)database;
    (void)trigger;
    if (sql->is_declaring)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
        if (sql->n_selects++ == 0 || sql->has_subqueries)
            return SQLITE_OK;
        sql->has_refused_subquery = true;
        return SQLITE_DENY;
    case SQLITE_READ:
        /* Apart from the schema, there are only the tables that were added. */
        return a && strncasecmp(a, "sqlite_", 7) != 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        if (is_function(b))
            return SQLITE_OK;
        snprintf(sql->refused_function, sizeof sql->refused_function, "%s", b);
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static void set_limits(sqlite3 *db)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 17 << 20}, /* a string in a trace has at most 16 MiB */
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},       {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 20},       {SQLITE_LIMIT_VDBE_OP, 100000},
        {SQLITE_LIMIT_FUNCTION_ARG, 100},         {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, {SQLITE_LIMIT_VARIABLE_NUMBER, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 0},          {SQLITE_LIMIT_WORKER_THREADS, 0},
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].what, limits[i].most);
    /* "name" is always a column and never a string, so that a misspelt column is an error. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
}

osc_status osc_sql_open(struct osc_sql *sql, bool (*is_canceled)(void))
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_PRIVATECACHE;

    *sql = (struct osc_sql){.is_canceled = is_canceled};
    if (sqlite3_open_v2(":memory:", &sql->db, flags, NULL) != SQLITE_OK) {
        osc_sql_close(sql);
        return OSC_ENOMEM;
    }
    set_limits(sql->db);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        union { /* SQLite's pointers to user data are not const */
            const struct unit *from;
            void *to;
        } unit = {&units[i]};

        if (sqlite3_create_function_v2(sql->db, units[i].name, 1,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                       unit.to, apply_unit, NULL, NULL, NULL) != SQLITE_OK) {
            osc_sql_close(sql);
            return OSC_ENOMEM;
        }
    }
    if (sqlite3_create_function_v2(sql->db, "regexp", 2,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, sql,
                                   apply_regexp, NULL, NULL, NULL) != SQLITE_OK) {
        osc_sql_close(sql);
        return OSC_ENOMEM;
    }
    sqlite3_set_authorizer(sql->db, authorize, sql);
    sqlite3_progress_handler(sql->db, STEPS_PER_QUESTION, ask_whether_to_stop, sql);
    return OSC_OK;
}

bool osc_sql_is_stopped(const struct osc_sql *sql)
{
    return sql->is_canceled && sql->is_canceled();
}

void osc_sql_close(struct osc_sql *sql)
{
    sqlite3_close_v2(sql->db);
    *sql = (struct osc_sql){0};
}
