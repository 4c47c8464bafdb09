/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `overview`: the average over the kept steps, and how the time divides into categories.
 */
#include "analysis/table_registry.h"

#include "analysis/step_rules.h"
#include "analysis/table_columns.h"
#include "derive/facts.h"

enum { CATEGORY, AVG, RATIO, GROSS, SUM, GROSS_SUM, STEPS_SUM, N_STEPS, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(CATEGORY, "category", STRING, NULL, KEY, 0,
               OSC_RULE_BREAKDOWN | OSC_RULE_COMMUNICATION,
               "step is the whole step. kernel, memcpy, memset, communication, runtime, "
               "dataloader, cpu_exec and other are its parts."),
    OSC_COLUMN(AVG, "avg_ns", NUMBER, "ns", FINISH, 0,
               OSC_RULE_BREAKDOWN | OSC_RULE_STEP_LENGTH,
               "Sum of the time of the category over the kept steps / number of kept steps; "
               "with --merge over those of all ranks and spans."),
    OSC_COLUMN(RATIO, "ratio", NUMBER, "ratio", FINISH, 0, OSC_RULE_BREAKDOWN,
               "avg_ns / avg_ns of the row step; missing if that is 0."),
    OSC_COLUMN(GROSS, "avg_gross_ns", NUMBER, "ns", FINISH, OSC_COLUMN_MINOR,
               OSC_RULE_BREAKDOWN | OSC_RULE_STEP_LENGTH,
               "Sum over the kept steps of the time in which something of the category ran, "
               "whatever else ran then / number of kept steps. Such times add up to more than "
               "the step. Missing for other, which is nothing."),
    OSC_COLUMN(SUM, "sum_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of the category in all kept steps."),
    OSC_COLUMN(GROSS_SUM, "gross_sum_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time in all kept steps in which something of the category ran."),
    OSC_COLUMN(STEPS_SUM, "steps_sum_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Length of all kept steps."),
    OSC_COLUMN(N_STEPS, "n_steps", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Number of kept steps."),
};

static const char *const class_names[OSC_COST_COUNT] = {
#define CLASS_NAME(name, text) text,
    OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
        "other",
};

static void add_row(struct osc_result *out, const char *category, int64_t sum_ns,
                    int64_t steps_ns, uint32_t n_steps)
{
    osc_result_row(out);
    osc_result_str(out, CATEGORY, osc_str_c(category));
    osc_result_int(out, SUM, sum_ns);
    osc_result_int(out, STEPS_SUM, steps_ns);
    osc_result_int(out, N_STEPS, n_steps);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    int64_t sums_ns[OSC_COST_COUNT] = {0}, steps_ns = 0;
    const struct osc_step_rules rules = osc_step_rules_of(o);
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b;
    const osc_status st = osc_breakdown_get(t, &rules, o->n_threads, &own, &b);

    if (st != OSC_OK)
        return osc_fail(err, st, "overview: %s", osc_status_text(st));
    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (!b->steps[i].is_kept)
            continue;
        steps_ns += b->steps[i].end_ns - b->steps[i].start_ns;
        for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
            sums_ns[k] += b->steps[i].cost_ns[k];
    }
    if (b->n_kept > 0) {
        add_row(out, "step", steps_ns, steps_ns, b->n_kept);
        osc_result_int(out, GROSS_SUM, steps_ns);
        for (uint32_t k = 0; k < OSC_COST_COUNT; k++) {
            add_row(out, class_names[k], sums_ns[k], steps_ns, b->n_kept);
            if (k < OSC_CLASS_COUNT)
                osc_result_int(out, GROSS_SUM, b->gross_ns[k]);
        }
    } else {
        osc_result_why_empty(out, osc_breakdown_why_none(b->n_steps > 0));
    }
    osc_breakdown_fini(&own);
    return out->status;
}

/* Steps are those of the files that have steps. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    if (to->is_beside_steps)
        osc_result_empty(part);
    return part->status;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double sum_ns = (double)osc_result_get_int(r, i, SUM);
        const double steps_ns = (double)osc_result_get_int(r, i, STEPS_SUM);
        const double n_steps = (double)osc_result_get_int(r, i, N_STEPS);

        osc_result_set_num(r, i, AVG, sum_ns / n_steps);
        if (osc_result_has(r, i, GROSS_SUM))
            osc_result_set_num(r, i, GROSS,
                               (double)osc_result_get_int(r, i, GROSS_SUM) / n_steps);
        if (steps_ns > 0)
            osc_result_set_num(r, i, RATIO, sum_ns / steps_ns);
    }
    return OSC_OK;
}

/* See table_columns.h. */
const uint32_t osc_column_overview_category = CATEGORY, osc_column_overview_avg_ns = AVG,
               osc_column_overview_ratio = RATIO;

static const struct osc_table_option *const options[] = {
    &osc_option_compat, &osc_option_priority, &osc_option_step_length, &osc_option_all_steps,
    NULL};

const struct osc_table_def osc_table_overview = {
    .name = "overview",
    .help = "The average step and its parts.",
    .source = "steps and what runs in them, by kind; overview of "
              "torch-tb-profiler.",
    .rules = OSC_RULE_BREAKDOWN,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_STEPS | OSC_FACT_UNIONS, .map = map, .place = place,
             .finish = finish),
};
