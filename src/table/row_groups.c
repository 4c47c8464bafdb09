/* SPDX-License-Identifier: Apache-2.0 */
#include "table/row_groups.h"

#include <string.h>

#include "base/mem.h"
#include "base/regex.h"
#include "table/merge.h"

int osc_pattern_column(const struct osc_table_def *def)
{
    const int c = osc_table_column(def, "name");
    const bool is_merged = def->mapping || (def->comparison && def->comparison->has_patterns);

    return c >= 0 && is_merged && def->columns[c].merge == OSC_MERGE_KEY &&
                   def->columns[c].type == OSC_TYPE_STRING
               ? c
               : -1;
}

osc_status osc_pattern_check(const char *pattern, struct osc_err *err)
{
    struct osc_regex *regex;

    /* It matches everywhere, and the label of all would be nothing. */
    if (!*pattern)
        return osc_fail(err, OSC_EINVAL,
                        "a pattern is missing behind name~, as in 'name~conv'");
    const osc_status st = osc_regex_open(&regex, osc_str_c(pattern), false, err);

    if (st == OSC_OK)
        osc_regex_close(regex);
    return st;
}

osc_status osc_rows_regroup(struct osc_result *r)
{
    const uint32_t sorted_by = r->sorted_by;
    struct osc_merger merger;
    struct osc_result merged;

    osc_merger_init(&merger, r->def);
    osc_result_init(&merged, r->def);
    osc_status st = osc_merger_add(&merger, r, 0);
    if (st == OSC_OK)
        st = osc_merger_result(&merger, &merged);
    if (st == OSC_OK) {
        const struct osc_table_def *const def = r->def;

        osc_result_fini(r);
        osc_result_init(r, def);
        osc_result_move(r, &merged);
        r->sorted_by = sorted_by;
    }
    osc_result_fini(&merged);
    osc_merger_fini(&merger);
    return st;
}

/* Give the rows of R that REGEX finds their label. */
static osc_status label_rows(struct osc_result *r, struct osc_regex *regex,
                             struct osc_str pattern)
{
    const uint32_t column = (uint32_t)osc_pattern_column(r->def);
    struct osc_regex_span spans[OSC_REGEX_GROUPS_MAX + 1];
    struct osc_strbuf label = {0};
    osc_status st = osc_regex_prepare(regex);

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        const struct osc_str name = osc_result_get_str(r, i, column);

        if (!osc_result_has(r, i, column) || !osc_regex_find(regex, name, spans))
            continue;
        osc_strbuf_clear(&label);
        osc_regex_label(regex, pattern, name, spans, &label);
        st = label.status;
        if (st == OSC_OK)
            osc_result_set_str(r, i, column, (struct osc_str){label.s, (uint32_t)label.len});
    }
    osc_strbuf_fini(&label);
    if (st == OSC_OK && osc_mem_is_cancelled())
        st = OSC_ECANCELED;
    return st == OSC_OK ? r->status : st;
}

osc_status osc_rows_group(struct osc_result *r, const char *pattern, struct osc_err *err)
{
    struct osc_regex *regex;
    osc_status st = osc_regex_open(&regex, osc_str_c(pattern), false, err);

    if (st != OSC_OK)
        return st;
    st = label_rows(r, regex, osc_str_c(pattern));
    if (st == OSC_OK)
        st = osc_rows_regroup(r);
    osc_regex_close(regex);
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}
