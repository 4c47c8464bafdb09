/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/cut_steps.h"

#include "analysis/table_columns.h"

void osc_cut_steps_add(struct osc_cut_steps *c, const struct osc_result *steps)
{
    for (uint64_t i = 0; i < steps->n_rows; i++) {
        if (!osc_result_get_bool(steps, i, osc_column_steps_kept) ||
            !osc_result_has(steps, i, osc_column_steps_annotation_ns))
            continue;
        c->measured_ns += osc_result_get_int(steps, i, osc_column_steps_total_ns);
        c->ranges_ns += osc_result_get_int(steps, i, osc_column_steps_annotation_ns);
    }
}

bool osc_cut_steps_is(const struct osc_cut_steps *c)
{
    return c->measured_ns < c->ranges_ns - c->measured_ns;
}

static int64_t narrowed(osc_wide ns)
{
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

void osc_cut_steps_set(struct osc_prose_facts *f, unsigned ranges, unsigned measured,
                       const struct osc_cut_steps *c)
{
    if (!osc_cut_steps_is(c))
        return;
    osc_prose_number(f, ranges, narrowed(c->ranges_ns));
    osc_prose_number(f, measured, narrowed(c->measured_ns));
}
