/* SPDX-License-Identifier: Apache-2.0 */
/* `diff_ranges`: what each range of a program takes more or less in a new run than in a base.
 */
#include "analysis/diff/sides.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "table/row_groups.h"

enum {
    NAME,
    KIND,
    PLACE,
    BASE_CALLS,
    NEW_CALLS,
    DELTA_CALLS,
    BASE,
    NEW,
    DELTA,
    MEAN_BASE,
    MEAN_NEW,
    RATIO,
    ORDER,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL, 0,
               "Name of the ranges, as in table ranges."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, KEY, 0, OSC_RULE_KINDS, "Kind of the ranges."),
    OSC_COLUMN(PLACE, "place", STRING, NULL, KEY, OSC_COLUMN_DEEP, 0,
               "Where they ran, as in table ranges."),
    OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, SUM, 0, 0,
               "Number of ranges of the base run that have ended."),
    OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, SUM, 0, 0, "The same of the new run."),
    OSC_COLUMN(DELTA_CALLS, "delta_calls", INTEGER, NULL, FINISH, OSC_COLUMN_DEEP, 0,
               "new_calls - base_calls."),
    OSC_COLUMN(BASE, "base_ns", INTEGER, "ns", SUM, 0, 0,
               "Sum of the durations in the base run, over all its ranks."),
    OSC_COLUMN(NEW, "new_ns", INTEGER, "ns", SUM, 0, 0, "The same of the new run."),
    OSC_COLUMN(DELTA, "delta_ns", INTEGER, "ns", FINISH, 0, 0, "new_ns - base_ns."),
    OSC_COLUMN(MEAN_BASE, "mean_base_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP, 0,
               "base_ns / base_calls. Missing if only the new run has such ranges."),
    OSC_COLUMN(MEAN_NEW, "mean_new_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP, 0,
               "new_ns / new_calls. Missing if only the base run has such ranges."),
    OSC_COLUMN(RATIO, "delta_ratio", NUMBER, "ratio", FINISH, 0, 0,
               "delta_ns / base_ns. Missing if that is 0 in the base run."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FINISH, OSC_COLUMN_HIDDEN, 0,
               "delta_ns without its sign."),
};

/* Append the rows of R, a digest, with its calls and times, and nothing of the other run. */
static void add_rows(struct osc_result *out, const struct osc_result *r, bool is_base)
{
    for (uint64_t i = 0; i < r->n_rows && out->status == OSC_OK; i++) {
        const int64_t calls = osc_result_get_int(r, i, osc_column_ranges_calls);
        const int64_t ns = osc_result_get_int(r, i, osc_column_ranges_total_ns);

        osc_result_row(out);
        osc_result_str(out, NAME, osc_result_get_str(r, i, osc_column_ranges_name));
        osc_result_str(out, KIND, osc_result_get_str(r, i, osc_column_ranges_kind));
        osc_result_str(out, PLACE, osc_result_get_str(r, i, osc_column_ranges_place));
        osc_result_int(out, BASE_CALLS, is_base ? calls : 0);
        osc_result_int(out, NEW_CALLS, is_base ? 0 : calls);
        osc_result_int(out, BASE, is_base ? ns : 0);
        osc_result_int(out, NEW, is_base ? 0 : ns);
    }
}

/* Fill the columns that follow from both runs. */
static void set_changes(struct osc_result *r)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t base_calls = osc_result_get_int(r, i, BASE_CALLS);
        const int64_t new_calls = osc_result_get_int(r, i, NEW_CALLS);
        const int64_t base_ns = osc_result_get_int(r, i, BASE);
        const int64_t new_ns = osc_result_get_int(r, i, NEW);
        const int64_t delta_ns = new_ns - base_ns; /* sums of durations are never negative */

        osc_result_set_int(r, i, DELTA_CALLS, new_calls - base_calls);
        osc_result_set_int(r, i, DELTA, delta_ns);
        osc_result_set_int(r, i, ORDER, delta_ns < 0 ? -delta_ns : delta_ns);
        if (base_calls > 0)
            osc_result_set_num(r, i, MEAN_BASE, (double)base_ns / (double)base_calls);
        if (new_calls > 0)
            osc_result_set_num(r, i, MEAN_NEW, (double)new_ns / (double)new_calls);
        if (base_ns > 0)
            osc_result_set_num(r, i, RATIO, (double)delta_ns / (double)base_ns);
    }
}

/* The rows of both runs, of which those with the same key are one. */
static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    (void)o;
    add_rows(out, base[0], true);
    add_rows(out, new_[0], false);
    if (out->status == OSC_OK && out->n_rows == 0)
        osc_result_why_empty(out, "no ranges: neither run has an event with a duration");
    osc_status st = out->status == OSC_OK ? osc_rows_regroup(out) : out->status;
    if (st == OSC_OK) {
        set_changes(out);
        st = out->status;
    }
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static bool is_alike(const struct osc_result *r, uint64_t row)
{
    return osc_result_get_int(r, row, ORDER) == 0 &&
           osc_result_get_int(r, row, DELTA_CALLS) == 0;
}

static const uint32_t sides[] = {OSC_SIDE_RANGES, OSC_SIDES};

const struct osc_table_def osc_table_diff_ranges = {
    .name = "diff_ranges",
    .help = "What the ranges of each name, of any kind, take more or less in a new run than in "
            "a base run: scopes of programs, annotations, requests, operators, device work.",
    .source = "table ranges of both runs, summed over all ranks.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    OSC_COMPARES(.sides = sides, .compare = compare, .is_alike = is_alike,
                 .has_patterns = true),
};
