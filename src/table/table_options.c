/* SPDX-License-Identifier: Apache-2.0 */
#include "table/table_options.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "table/nearest.h"
#include "table/row_groups.h"

const struct osc_table_option *osc_table_option(const struct osc_table_def *def,
                                                const char *name)
{
    for (size_t i = 0; def->options && def->options[i]; i++) {
        if (strcmp(def->options[i]->name, name) == 0)
            return def->options[i];
    }
    return NULL;
}

void osc_options_set(struct osc_options *o, const struct osc_table_def *def,
                     const struct osc_option_value *v)
{
    const struct osc_table_option *const own = osc_table_option(def, v->option->name);
    uint32_t i = 0;

    if (!own)
        return;
    while (i < o->n_own && o->own[i].option != own)
        i++;
    if (i == OSC_OWN_OPTIONS_MAX)
        return;
    o->n_own += i == o->n_own;
    o->own[i] = (struct osc_option_value){own, v->text, v->number};
}

/* The grouping of DEF that the LEN bytes at WORD ask for, the first KEY of them without a
 * number; -1: there is none. */
static int find_grouping(const struct osc_table_def *def, const char *word, size_t key,
                         size_t len)
{
    for (int i = 0; def->groupings && def->groupings[i] && i < 32; i++) {
        const char *const name = def->groupings[i];

        if (strcspn(name, ":") == key && memcmp(name, word, key) == 0 &&
            (name[key] == ':') == (key < len))
            return i;
    }
    return -1;
}

static osc_status wrong_grouping(const struct osc_table_def *def, const char *text,
                                 struct osc_err *err)
{
    struct osc_nearest near = {.word = text};

    for (size_t i = 0; def->groupings && def->groupings[i]; i++)
        osc_nearest_try(&near, def->groupings[i]);
    if (!near.best && def->groupings)
        near.best = def->groupings[0];
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "%s cannot be grouped by '%s'; did you mean '%s'?",
                        def->name, text, near.best);
    if (osc_pattern_column(def) >= 0)
        return osc_fail(err, OSC_EINVAL,
                        "%s cannot be grouped by '%s', only by a pattern: 'name~conv'",
                        def->name, text);
    return osc_fail(err, OSC_EINVAL, "%s cannot be grouped", def->name);
}

osc_status osc_options_group(struct osc_options *o, const struct osc_table_def *def,
                             const char *group_by, struct osc_err *err)
{
    const char *p = group_by;
    bool has_more = p != NULL;
    char number[24];
    int64_t n;

    o->group_by = group_by;
    while (has_more) {
        if (strncmp(p, "name~", 5) == 0 && osc_pattern_column(def) >= 0) {
            o->pattern = p + 5; /* the rest, whatever it contains */
            return osc_pattern_check(o->pattern, err);
        }
        const size_t len = strcspn(p, ","), key = strcspn(p, ":,");
        const int i = find_grouping(def, p, key, len);

        if (i < 0)
            return wrong_grouping(def, group_by, err);
        o->groups |= UINT32_C(1) << i;
        if (key < len) {
            snprintf(number, sizeof number, "%.*s", (int)(len - key - 1), p + key + 1);
            if (!osc_parse_whole(number, 1, UINT32_MAX, &n))
                return osc_fail(err, OSC_EINVAL,
                                "--group-by: '%s' is not a number of stack entries", number);
            o->group_number = (uint32_t)n;
        }
        has_more = p[len] == ',';
        p += len + has_more;
    }
    return OSC_OK;
}
