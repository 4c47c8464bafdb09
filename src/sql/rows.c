/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/rows.h"

#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

struct table {
    sqlite3_vtab base; /* first: SQLite's view of it */
    const struct osc_sql_rows *source;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_int64 row;
};

static const struct osc_sql_rows *source_of(const sqlite3_vtab_cursor *cursor)
{
    return ((const struct table *)(const void *)cursor->pVtab)->source;
}

/* TEXT makes '5' = 5 true, as users of labels expect. */
static const char *type_of(const struct osc_column *c)
{
    switch (c->type) {
    case OSC_TYPE_STRING:
        return "TEXT";
    case OSC_TYPE_NUMBER:
        return "REAL";
    case OSC_TYPE_INTEGER:
    case OSC_TYPE_BOOLEAN:
        break;
    }
    return "INTEGER";
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                   sqlite3_vtab **vtab, char **message)
{
    const struct osc_sql_rows *const source = aux;
    struct osc_strbuf sql = {0};
    int rc = SQLITE_NOMEM;

    (void)argc;
    (void)argv;
    (void)message;
    osc_strbuf_adds(&sql, "CREATE TABLE x(");
    for (int i = 0; i < source->n_columns; i++) {
        const struct osc_column *const c = source->columns[i].column;

        osc_strbuf_addf(&sql, "%s\"%s\" %s", i > 0 ? ", " : "", c->name, type_of(c));
    }
    osc_strbuf_addc(&sql, ')');

    struct table *const t = sqlite3_malloc(sizeof *t);
    if (t && sql.status == OSC_OK) {
        source->sql->is_declaring = true;
        rc = sqlite3_declare_vtab(db, sql.s);
        source->sql->is_declaring = false;
    }
    osc_strbuf_fini(&sql);
    if (rc != SQLITE_OK) {
        sqlite3_free(t);
        return rc;
    }
    *t = (struct table){.source = source};
    *vtab = &t->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct osc_rows *const rows =
        ((const struct table *)(const void *)vtab)->source->rows;

    /* Every row is visited: SQLite evaluates the conditions itself. */
    info->estimatedRows = rows ? (sqlite3_int64)rows->n_rows : OSC_BATCH_ROWS;
    info->estimatedCost = (double)info->estimatedRows;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct cursor *const c = sqlite3_malloc(sizeof *c);

    (void)vtab;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct cursor){0};
    *cursor = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *cursor, int index, const char *name, int argc,
                         sqlite3_value **argv)
{
    (void)index;
    (void)name;
    (void)argc;
    (void)argv;
    ((struct cursor *)(void *)cursor)->row = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)(void *)cursor)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
    const struct osc_rows *const rows = source_of(cursor)->rows;

    return !rows || ((struct cursor *)(void *)cursor)->row >= (sqlite3_int64)rows->n_rows;
}

static int read_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
    *row = ((struct cursor *)(void *)cursor)->row;
    return SQLITE_OK;
}

static int read_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    const struct osc_sql_rows *const source = source_of(cursor);
    const uint64_t row = (uint64_t)((struct cursor *)(void *)cursor)->row;
    const struct osc_cell cell = osc_rows_cell(source->rows, row, &source->columns[column]);

    if (cell.is_missing)
        return SQLITE_OK;
    switch (cell.type) {
    case OSC_TYPE_STRING:
        /* Thousands of functions of a text may be one operation after another in a row. */
        if (osc_sql_is_stopped(source->sql))
            return SQLITE_INTERRUPT;
        /* The rows do not change while a statement runs. */
        sqlite3_result_text(ctx, cell.s.s, (int)cell.s.len, SQLITE_STATIC);
        break;
    case OSC_TYPE_INTEGER:
    case OSC_TYPE_BOOLEAN:
        sqlite3_result_int64(ctx, cell.i);
        break;
    case OSC_TYPE_NUMBER:
        sqlite3_result_double(ctx, cell.d);
        break;
    }
    return SQLITE_OK;
}

/* Without xCreate the table exists without being created, and is read-only. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xDisconnect = disconnect,
    .xBestIndex = best_index,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = rewind_cursor,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = read_column,
    .xRowid = read_rowid,
};

osc_status osc_sql_rows_add(struct osc_sql_rows *s, struct osc_sql *sql,
                            const struct osc_table_def *def)
{
    static const char *const leads[] = {"rank", "span"};

    *s = (struct osc_sql_rows){.def = def, .sql = sql};
    s->columns = osc_calloc((size_t)def->n_columns + 2, sizeof *s->columns);
    if (!s->columns)
        return OSC_ENOMEM;
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            s->columns[s->n_columns++] =
                (struct osc_sheet_column){.column = &def->columns[c], .index = (int32_t)c};
    }
    for (size_t i = 0; i < 2; i++) {
        int32_t index;
        const struct osc_column *const column = osc_sheet_find(def, leads[i], &index);

        if (column && index < 0)
            s->columns[s->n_columns++] =
                (struct osc_sheet_column){.column = column, .index = index};
    }
    return sqlite3_create_module_v2(sql->db, def->name, &module, s, NULL) == SQLITE_OK
               ? OSC_OK
               : OSC_ENOMEM;
}

void osc_sql_rows_fini(struct osc_sql_rows *s)
{
    osc_free(s->columns);
    *s = (struct osc_sql_rows){0};
}
