/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include <string.h>

#include "table/table_options.h"

const struct osc_table_def *const osc_tables[] = {
#define OSC_TABLE_LINE(name) &osc_table_##name,
    OSC_TABLE_LIST(OSC_TABLE_LINE)
#undef OSC_TABLE_LINE
        NULL};

const struct osc_table_def *osc_table_find(const char *name)
{
    for (size_t i = 0; osc_tables[i]; i++) {
        if (strcmp(osc_tables[i]->name, name) == 0)
            return osc_tables[i];
    }
    return NULL;
}

/* Whether NAME has a part, between underscores, that says that it is no exact sum. */
static bool is_mean(const char *name)
{
    static const char *const parts[] = {"avg", "mean", "median", "std"};

    for (const char *p = name; p; p = strchr(p, '_'), p = p ? p + 1 : NULL) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strcspn(p, "_") == strlen(parts[i]) &&
                memcmp(p, parts[i], strlen(parts[i])) == 0)
                return true;
    }
    return false;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t len = strlen(name), n = strlen(end);

    return len >= n && strcmp(name + len - n, end) == 0;
}

static bool is_misnamed(const struct osc_column *c)
{
    return c->type == OSC_TYPE_NUMBER && !is_mean(c->name) &&
           (ends_with(c->name, "_ns") || ends_with(c->name, "_bytes"));
}

/* Whether WORD, which may lack the number behind it, is a grouping of DEF. */
static bool has_grouping(const struct osc_table_def *def, const char *word)
{
    const size_t len = strlen(word);

    for (size_t i = 0; def->groupings && def->groupings[i]; i++) {
        if (strncmp(def->groupings[i], word, len) == 0 &&
            strchr(":", def->groupings[i][len]) != NULL)
            return true;
    }
    return false;
}

static osc_status check_columns(const struct osc_table_def *def, struct osc_err *err)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        const struct osc_column *const column = &def->columns[c];

        if (is_misnamed(column))
            return osc_fail(err, OSC_EINVAL,
                            "table %s: %s is no whole number, and its name not that of a mean",
                            def->name, column->name);
        if (def->groupings && column->grouping && !has_grouping(def, column->grouping))
            return osc_fail(err, OSC_EINVAL, "table %s: no grouping %s asks for %s", def->name,
                            column->grouping, column->name);
    }
    return OSC_OK;
}

static osc_status check_options(const struct osc_table_def *def, struct osc_err *err)
{
    for (size_t i = 0; def->options && def->options[i]; i++) {
        const struct osc_table_option *const own = def->options[i];

        if (osc_tables_option(own->name)->kind != own->kind)
            return osc_fail(err, OSC_EINVAL, "table %s: option %s is of another kind elsewhere",
                            def->name, own->name);
    }
    return OSC_OK;
}

osc_status osc_tables_check(struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; osc_tables[i] && st == OSC_OK; i++) {
        st = check_columns(osc_tables[i], err);
        if (st == OSC_OK)
            st = check_options(osc_tables[i], err);
    }
    return st;
}

/* --- options -------------------------------------------------------------------- */

/* The number of the first table that declares the option NAME; that of all tables: none does.
 */
static size_t first_with(const char *name)
{
    size_t i = 0;

    while (osc_tables[i] && !osc_table_option(osc_tables[i], name))
        i++;
    return i;
}

const struct osc_table_option *osc_tables_option(const char *name)
{
    const struct osc_table_def *const def = osc_tables[first_with(name)];

    return def ? osc_table_option(def, name) : NULL;
}

const struct osc_table_option *osc_tables_option_at(size_t i)
{
    for (size_t t = 0; osc_tables[t]; t++) {
        const struct osc_table_option *const *const own = osc_tables[t]->options;

        for (size_t k = 0; own && own[k]; k++) {
            if (first_with(own[k]->name) == t && i-- == 0)
                return own[k];
        }
    }
    return NULL;
}
