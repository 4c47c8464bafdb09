/* SPDX-License-Identifier: Apache-2.0 */
#include "table/sheet.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "table/column_meaning.h"
#include "table/nearest.h"

static const struct osc_column lead_columns[] = {
    {"rank", OSC_TYPE_INTEGER, NULL, OSC_MERGE_KEY, 0, .help = "Rank that the rows belong to.",
     .source =
         "the metadata of the file (distributedInfo.rank, then RANK and the like), or else "
         "its name, or else 0.",
     .rules = OSC_RULE_RANKS},
    {"span", OSC_TYPE_INTEGER, NULL, OSC_MERGE_KEY, 0,
     .help = "Recording window of the rank, counted from 1.",
     .source = "the numbers in the names of its files.", .rules = OSC_RULE_RANKS},
};

const struct osc_column *osc_sheet_find(const struct osc_table_def *def, const char *name,
                                        int32_t *index)
{
    const int c = osc_table_column(def, name);

    if (c >= 0 && !(def->columns[c].flags & OSC_COLUMN_HIDDEN)) {
        *index = c;
        return &def->columns[c];
    }
    for (int32_t i = 0; i < 2; i++) {
        if (strcmp(name, lead_columns[i].name) == 0) {
            *index = -1 - i;
            return &lead_columns[i];
        }
    }
    return NULL;
}

void osc_sheet_add_help(struct osc_strbuf *out, const struct osc_table_def *def,
                        const struct osc_column *column)
{
    osc_strbuf_adds(out, column->help);
    if (column->source || def->source)
        osc_strbuf_addf(out, " Source: %s", column->source ? column->source : def->source);
}

const char *osc_sheet_nearest(const struct osc_table_def *def, const char *name)
{
    struct osc_nearest near = {.word = name, .best = osc_column_meant(def, name)};

    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            osc_nearest_try(&near, def->columns[c].name);
    }
    return near.best;
}

osc_status osc_sheet_no_column(const struct osc_table_def *def, const char *name,
                               struct osc_err *err)
{
    const char *const nearest = osc_sheet_nearest(def, name);

    if (nearest)
        return osc_fail(err, OSC_EINVAL, "%s has no column '%s'; did you mean '%s'?", def->name,
                        name, nearest);
    return osc_fail(err, OSC_EINVAL,
                    "%s has no column '%s'; 'opscope table %s --list' names its columns",
                    def->name, name, def->name);
}

/* Whether GROUPING is one of the words of GROUP_BY: "A,B", or "A:N". */
static bool is_asked(const char *group_by, const char *grouping)
{
    while (group_by && grouping && *group_by) {
        const size_t len = strcspn(group_by, ",");

        if (memchr(group_by, '~', len))
            return false; /* a pattern is the last of them */
        if (strcspn(group_by, ":,") == strlen(grouping) &&
            strncmp(group_by, grouping, strlen(grouping)) == 0)
            return true;
        group_by += len + (group_by[len] == ',');
    }
    return false;
}

static void add_column(struct osc_sheet *s, const struct osc_sheet_choice *choice,
                       const struct osc_column *column, int32_t index)
{
    s->columns[s->n_columns++] =
        (struct osc_sheet_column){column, index, is_asked(choice->group_by, column->grouping)};
}

static osc_status choose_named(struct osc_sheet *s, const struct osc_sheet_choice *choice,
                               struct osc_err *err)
{
    const char *const list = choice->columns;
    size_t n = 1;

    for (const char *p = list; *p; p++)
        n += *p == ',';
    s->columns = osc_calloc(n, sizeof *s->columns);
    if (!s->columns)
        return osc_fail(err, OSC_ENOMEM, "out of memory");

    for (const char *p = list;; p++) {
        const size_t len = strcspn(p, ",");
        char name[64];
        int32_t index;

        snprintf(name, sizeof name, "%.*s", (int)len, p);
        const struct osc_column *column = osc_sheet_find(s->def, name, &index);
        if (!column)
            return osc_sheet_no_column(s->def, name, err);
        add_column(s, choice, column, index);
        p += len;
        if (!*p)
            return OSC_OK;
    }
}

osc_status osc_sheet_choose(struct osc_sheet *s, const struct osc_sheet_choice *choice,
                            struct osc_err *err)
{
    const struct osc_table_def *def = s->def;

    if (choice->columns)
        return choose_named(s, choice, err);

    s->columns = osc_calloc(def->n_columns + 2, sizeof *s->columns);
    if (!s->columns)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    if (choice->has_blocks) {
        add_column(s, choice, &lead_columns[0], OSC_SHEET_RANK);
        add_column(s, choice, &lead_columns[1], OSC_SHEET_SPAN);
    }
    for (uint32_t c = 0; c < def->n_columns; c++) {
        const unsigned flags = def->columns[c].flags;

        if (flags & OSC_COLUMN_HIDDEN)
            continue;
        if ((flags & OSC_COLUMN_OPTIONAL) && !(choice->shown >> c & 1))
            continue;
        if ((flags & OSC_COLUMN_DEEP) && !choice->is_machine && !(choice->shown >> c & 1)) {
            s->deep |= UINT64_C(1) << c;
            continue;
        }
        /* If the table has columns rank and span itself, show them once, in front. */
        if (choice->has_blocks && (strcmp(def->columns[c].name, "rank") == 0 ||
                                   strcmp(def->columns[c].name, "span") == 0))
            continue;
        add_column(s, choice, &def->columns[c], (int32_t)c);
    }
    return OSC_OK;
}

void osc_sheet_fini(struct osc_sheet *s)
{
    osc_free(s->columns);
    osc_strbuf_fini(&s->notes);
    *s = (struct osc_sheet){0};
}

struct osc_cell osc_rows_cell(const struct osc_rows *rows, uint64_t i,
                              const struct osc_sheet_column *column)
{
    struct osc_cell cell = {.type = column->column->type};

    if (column->index < 0) {
        cell.i = column->index == OSC_SHEET_RANK ? rows->rank : rows->span;
        cell.is_missing = cell.i == OSC_NO_RANK;
        return cell;
    }

    const uint32_t c = (uint32_t)column->index;
    const uint64_t row = rows->order ? rows->order[i] : i;
    cell.is_missing = !osc_result_has(rows->result, row, c);
    if (cell.is_missing)
        return cell;
    switch (cell.type) {
    case OSC_TYPE_STRING:
        cell.s = osc_result_get_str(rows->result, row, c);
        break;
    case OSC_TYPE_INTEGER:
        cell.i = osc_result_get_int(rows->result, row, c);
        break;
    case OSC_TYPE_NUMBER:
        cell.d = osc_result_get_num(rows->result, row, c);
        break;
    case OSC_TYPE_BOOLEAN:
        cell.i = osc_result_get_bool(rows->result, row, c);
        break;
    }
    return cell;
}

bool osc_rows_is_symbol(const struct osc_rows *rows, uint64_t i,
                        const struct osc_sheet_column *column)
{
    const struct osc_table_def *const def = rows->result->def;

    if (!(column->column->flags & OSC_COLUMN_SYMBOL))
        return false;
    return !def->is_symbol || def->is_symbol(rows->result, rows->order ? rows->order[i] : i);
}
