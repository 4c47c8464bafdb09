/* SPDX-License-Identifier: Apache-2.0 */
/* What opscope/trace.h says without a trace: the tables that there are, and operations of
 * calls. */
#include "analysis/table_registry.h"
#include "analysis/torch/flops.h"
#include "codec/json.h"
#include "opscope/trace.h"
#include "table/sheet.h"

static const struct osc_table_def nothing = {.name = NULL};

/* Table I of those that compare two sets, or of those that a single one answers; its name and
 * help are NULL if there are not so many. */
static const struct osc_table_def *catalog_table(size_t i, bool compares)
{
    for (size_t k = 0; osc_tables[k]; k++) {
        if ((osc_tables[k]->comparison != NULL) == compares && i-- == 0)
            return osc_tables[k];
    }
    return &nothing;
}

const char *osc_catalog_name(size_t i)
{
    return catalog_table(i, false)->name;
}

const char *osc_catalog_help(size_t i)
{
    return catalog_table(i, false)->help;
}

const char *osc_catalog_comparison_name(size_t i)
{
    return catalog_table(i, true)->name;
}

const char *osc_catalog_comparison_help(size_t i)
{
    return catalog_table(i, true)->help;
}

const char *osc_catalog_nearest(const char *table, const char *column)
{
    const struct osc_table_def *const def = osc_table_find(table);

    return def ? osc_sheet_nearest(def, column) : NULL;
}

uint64_t osc_operator_flops(const char *name, const char *args)
{
    const enum osc_flops_rule rule = osc_flops_rule(osc_str_c(name));
    const struct osc_str all = osc_str_c(args);
    struct osc_str dims = OSC_STR(""), inputs = OSC_STR("");

    if (rule == OSC_FLOPS_NONE)
        return 0;
    (void)osc_json_member(all, "Input Dims", &dims);
    (void)osc_json_member(all, osc_flops_reads_types(rule) ? "Input type" : "Concrete Inputs",
                          &inputs);
    return osc_flops(rule, dims, inputs);
}
