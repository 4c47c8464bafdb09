/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scope.h"

#include "analysis/table_registry.h"

static bool has_groupings(const struct osc_table_def *def)
{
    return def->groupings && def->groupings[0];
}

static bool has_own_text(const struct osc_table_def *def)
{
    return def->text != NULL;
}

static bool has_symbols(const struct osc_table_def *def)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].flags & OSC_COLUMN_SYMBOL)
            return true;
    }
    return false;
}

static bool takes_compat(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_COMPAT) != 0;
}

static bool takes_no_python(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_NO_PYTHON) != 0;
}

static bool takes_at(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_AT) != 0;
}

enum form {
    FORM_ANY,
    FORM_TEXT,    /* what programs read is whole and has no decoration */
    FORM_OWN_TEXT /* that of the table alone, which --columns replaces */
};

/* Options that are not here are for every table in every form. */
static const struct scope {
    bool (*has)(const struct osc_table_def *def); /* NULL: every table */
    enum form form;
} scopes[OSC_OPTION_COUNT] = {
    [OSC_OPTION_GROUP_BY] = {has_groupings, FORM_ANY},
    [OSC_OPTION_NO_PYTHON] = {takes_no_python, FORM_ANY},
    [OSC_OPTION_AT] = {takes_at, FORM_ANY},
    [OSC_OPTION_COMPAT] = {takes_compat, FORM_ANY},
    [OSC_OPTION_FULL_NAMES] = {has_symbols, FORM_TEXT},
    [OSC_OPTION_HEADER] = {has_own_text, FORM_OWN_TEXT},
    [OSC_OPTION_TOP_LEVEL] = {has_own_text, FORM_OWN_TEXT},
    [OSC_OPTION_MAX_NAME_WIDTH] = {has_own_text, FORM_OWN_TEXT},
    [OSC_OPTION_MAX_SRC_WIDTH] = {has_own_text, FORM_OWN_TEXT},
    [OSC_OPTION_MAX_SHAPES_WIDTH] = {has_own_text, FORM_OWN_TEXT},
    [OSC_OPTION_TORCH] = {has_own_text, FORM_OWN_TEXT},
};

bool osc_scope_is_all(enum osc_option_id id)
{
    return !scopes[id].has;
}

bool osc_scope_is_own_text(enum osc_option_id id)
{
    return scopes[id].form == FORM_OWN_TEXT;
}

bool osc_scope_has(enum osc_option_id id, const struct osc_table_def *def)
{
    return !scopes[id].has || scopes[id].has(def);
}

void osc_scope_add_tables(struct osc_strbuf *out, enum osc_option_id id)
{
    const char *last = NULL;
    uint32_t n = 0;

    /* One behind: the last comes after "and". */
    for (size_t i = 0; osc_tables[i]; i++) {
        if (!osc_scope_has(id, osc_tables[i]))
            continue;
        if (last)
            osc_strbuf_addf(out, "%s%s", n++ > 0 ? ", " : "", last);
        last = osc_tables[i]->name;
    }
    if (last)
        osc_strbuf_addf(out, "%s%s", n > 0 ? " and " : "", last);
}

static int refuse_table(enum osc_option_id id, const struct osc_table_def *def)
{
    struct osc_strbuf names = {0};
    int failed = OSC_EXIT_MISUSED;

    osc_scope_add_tables(&names, id);
    if (names.status == OSC_OK)
        failed = osc_cli_misuse("--%s does nothing for %s, only for %s", osc_options[id].name,
                                def->name, names.s);
    else
        failed = osc_cli_fail(names.status, &(struct osc_err){0});
    osc_strbuf_fini(&names);
    return failed;
}

int osc_scope_check(const struct osc_args *args, const struct osc_table_def *def)
{
    for (int i = 0; i < OSC_OPTION_COUNT; i++) {
        const enum osc_option_id id = (enum osc_option_id)i;

        if (!(args->given & UINT64_C(1) << i))
            continue;
        if (!osc_scope_has(id, def))
            return refuse_table(id, def);
        if (scopes[id].form != FORM_ANY && args->renderer->is_machine)
            return osc_cli_misuse("--%s does nothing in %s, only in text", osc_options[id].name,
                                  args->renderer->name);
        if (osc_scope_is_own_text(id) && args->columns)
            return osc_cli_misuse("--%s does nothing with --columns, only for the text of %s "
                                  "as a whole",
                                  osc_options[id].name, def->name);
    }
    return OSC_EXIT_DONE;
}
