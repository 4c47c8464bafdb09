/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h - a table as it will be shown: its columns, and access to its rows.
 *
 * Renderers receive a sheet first and then runs of rows, each of one rank and span. They read
 * cells through osc_rows_cell() and do not see batches, sort orders, or where the leading
 * columns rank and span come from.
 *
 * Threading: not locked; read-only once filled.
 */
#pragma once

#include "table/table.h"

/* Indexes of the leading columns, which are not in any definition. */
#define OSC_SHEET_RANK (-1)
#define OSC_SHEET_SPAN (-2)

/* The missing rank or span of rows that combine several. */
#define OSC_NO_RANK INT32_MIN

struct osc_sheet_column {
    const struct osc_column *column;
    int32_t index; /* in the definition, or one of the indexes above */
    bool is_asked; /* rows are grouped by it, as --group-by says */
};

struct osc_sheet {
    const struct osc_table_def *def;
    struct osc_sheet_column *columns; /* owned */
    uint32_t n_columns;
    uint64_t deep; /* bits of the columns that text does not show, though the table has them */
    const struct osc_str *sources; /* borrowed: the files of the rows */
    uint32_t n_sources;
    const char *torch_version; /* borrowed; NULL: unknown */
    struct osc_strbuf notes;   /* one per line */
    uint64_t n_more;           /* rows cut by the limit; set after the last row */
    uint64_t n_alike;          /* rows of two runs left out as they do not differ; the same */
};

/* What determines the columns of a sheet. */
struct osc_sheet_choice {
    const char *columns;  /* "A,B" as given, or NULL */
    const char *group_by; /* the same */
    uint64_t shown;       /* bits of the optional columns that have data */
    bool has_blocks;      /* rows have several ranks or spans: show rank and span first */
    bool is_machine;      /* show deep columns too */
};

/* Set the columns of S, whose def is set. OSC_EINVAL: unknown names; the message suggests the
 * nearest. */
OSC_MUST_USE osc_status osc_sheet_choose(struct osc_sheet *s,
                                         const struct osc_sheet_choice *choice,
                                         struct osc_err *err);
void osc_sheet_fini(struct osc_sheet *s);

/* The column NAME, as users write it: of DEF, or rank or span; NULL: not found. */
const struct osc_column *osc_sheet_find(const struct osc_table_def *def, const char *name,
                                        int32_t *index);

/* Append the help of COLUMN of DEF, then "Source: " and its source or that of DEF. */
void osc_sheet_add_help(struct osc_strbuf *out, const struct osc_table_def *def,
                        const struct osc_column *column);

/* The column of DEF that NAME, which is none, may mean, by what it holds or by its letters;
 * NULL: none. */
const char *osc_sheet_nearest(const struct osc_table_def *def, const char *name);

/* Fail with OSC_EINVAL: DEF has no column NAME; the message suggests the nearest. */
osc_status osc_sheet_no_column(const struct osc_table_def *def, const char *name,
                               struct osc_err *err);

/* A run of rows of one rank and span. */
struct osc_rows {
    const struct osc_result *result;
    const uint32_t *order; /* NULL: the order of the result */
    uint64_t n_rows;
    int32_t rank, span;
};

struct osc_cell {
    bool is_missing;
    enum osc_type type;
    int64_t i; /* INTEGER, and BOOLEAN as 0 or 1 */
    double d;  /* NUMBER */
    struct osc_str s;
};

struct osc_cell osc_rows_cell(const struct osc_rows *rows, uint64_t i,
                              const struct osc_sheet_column *column);

/* Whether the cell is the name of a kernel, which text shortens. */
bool osc_rows_is_symbol(const struct osc_rows *rows, uint64_t i,
                        const struct osc_sheet_column *column);
