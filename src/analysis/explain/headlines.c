/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `headlines`: what each view of the viewer shows, in one sentence with its number.
 *
 * A sentence is about rows of other tables, all ranks and spans merged. Where several rows are
 * alike the first one is told, as those tables stand in order.
 */
#include "analysis/table_registry.h"

#include "analysis/ranks/late.h"
#include "analysis/table_columns.h"
#include "analysis/words.h"
#include "base/percent.h"
#include "base/wide.h"

enum { VIEW, TEXT, EVIDENCE, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(VIEW, "view", STRING, NULL, FIRST, 0, 0,
               "View of the viewer that the sentence stands on: overview, trace, operators, "
               "kernels, modules, memory, distributed or quality."),
    OSC_COLUMN(TEXT, "text", STRING, NULL, FIRST, 0, 0,
               "The sentence, with its number: the average step and its largest part; the "
               "busiest track; the operator, kernel and module with most time of its own, on "
               "devices if there is any; the largest peak of memory; the rank that lets the "
               "others wait most; the worst finding."),
    OSC_COLUMN(EVIDENCE, "evidence", STRING, NULL, FIRST, 0, 0,
               "Command that prints the rows that the sentence is about."),
};

/* The tables that sentences are about. */
enum { OVERVIEW, STEPS, TRACKS, OPERATORS, KERNELS, MODULES, PEAKS, STRAGGLERS, QUALITY, N_OF };

static const struct osc_table_def *const tables[N_OF + 1] = {
    [OVERVIEW] = &osc_table_overview,  [STEPS] = &osc_table_steps,
    [TRACKS] = &osc_table_tracks,      [OPERATORS] = &osc_table_operators,
    [KERNELS] = &osc_table_kernels,    [MODULES] = &osc_table_modules,
    [PEAKS] = &osc_table_memory_peaks, [STRAGGLERS] = &osc_table_stragglers,
    [QUALITY] = &osc_table_quality,
};

static osc_wide sum_of(const struct osc_result *r, uint32_t column)
{
    osc_wide sum = 0;

    for (uint64_t i = 0; i < r->n_rows; i++)
        sum += osc_result_get_int(r, i, column);
    return sum;
}

/* The first row of R, which has some, with the most in COLUMN. */
static uint64_t row_of_most(const struct osc_result *r, uint32_t column)
{
    uint64_t most = 0;

    for (uint64_t i = 1; i < r->n_rows; i++)
        if (osc_result_get_int(r, i, column) > osc_result_get_int(r, most, column))
            most = i;
    return most;
}

static void add_share(struct osc_strbuf *out, osc_wide part, osc_wide whole)
{
    osc_percent_add(out, whole > 0 ? (double)part / (double)whole : 0, 1);
}

/* --- sentences -------------------------------------------------------------------------- */

/* Append which step of STEPS stands out most, if one does. */
static void add_outlier(struct osc_strbuf *out, const struct osc_result *steps)
{
    uint64_t n = 0, worst = 0;

    for (uint64_t i = 0; i < steps->n_rows; i++) {
        if (!osc_result_get_bool(steps, i, osc_column_steps_outlier))
            continue;
        if (n++ == 0 || osc_result_get_int(steps, i, osc_column_steps_total_ns) >
                            osc_result_get_int(steps, worst, osc_column_steps_total_ns))
            worst = i;
    }
    if (n == 0)
        return;
    osc_strbuf_adds(out, "; step ");
    osc_words_name(out, osc_result_get_str(steps, worst, osc_column_steps_label));
    osc_strbuf_adds(out, " stands out with ");
    osc_words_time(out, osc_result_get_int(steps, worst, osc_column_steps_total_ns));
}

/* Append why no step was measured: STEPS has none, or only the last ones of a recording, which
 * a selection may consist of. */
static void add_why_none(struct osc_strbuf *out, const struct osc_result *steps)
{
    if (steps->n_rows == 0)
        osc_strbuf_adds(out, "0 steps were measured");
    else
        osc_strbuf_addf(out,
                        "0 of %llu selected steps are kept: the device work of the last steps "
                        "may not all have been recorded",
                        (unsigned long long)steps->n_rows);
}

static void say_overview(struct osc_strbuf *out, const struct osc_result *const *of,
                         const struct osc_options *o)
{
    const struct osc_result *const r = of[OVERVIEW];
    uint64_t largest = 1;

    if (r->n_rows == 0) {
        add_why_none(out, of[STEPS]);
        return;
    }
    for (uint64_t i = 2; i < r->n_rows; i++)
        if (osc_result_get_num(r, i, osc_column_overview_avg_ns) >
            osc_result_get_num(r, largest, osc_column_overview_avg_ns))
            largest = i;
    osc_words_time(out, (int64_t)(osc_result_get_num(r, 0, osc_column_overview_avg_ns) + 0.5));
    osc_strbuf_adds(out, " a step; ");
    osc_percent_add(out, osc_result_get_num(r, largest, osc_column_overview_ratio), 1);
    osc_strbuf_adds(out, " of it is ");
    osc_strbuf_addstr(out, osc_result_get_str(r, largest, osc_column_overview_category));
    if (o->n_traces == 1) /* else rows of steps are sums over ranks */
        add_outlier(out, of[STEPS]);
}

static void say_trace(struct osc_strbuf *out, const struct osc_result *const *of,
                      const struct osc_options *o)
{
    const struct osc_result *const r = of[TRACKS];

    (void)o;
    osc_strbuf_addf(out, "%lld events on %llu track%s",
                    (long long)sum_of(r, osc_column_tracks_events),
                    (unsigned long long)r->n_rows, r->n_rows == 1 ? "" : "s");
    if (r->n_rows == 0)
        return;
    const uint64_t busiest = row_of_most(r, osc_column_tracks_busy_ns);
    const int64_t busy_ns = osc_result_get_int(r, busiest, osc_column_tracks_busy_ns);

    if (busy_ns <= 0)
        return;
    osc_strbuf_adds(out, "; ");
    osc_words_name(out, osc_result_has(r, busiest, osc_column_tracks_name)
                            ? osc_result_get_str(r, busiest, osc_column_tracks_name)
                            : osc_result_get_str(r, busiest, osc_column_tracks_thread));
    if (osc_str_eq(osc_result_get_str(r, busiest, osc_column_tracks_kind), OSC_STR("queue"))) {
        osc_strbuf_adds(out, " of ");
        osc_words_name(out, osc_result_get_str(r, busiest, osc_column_tracks_parent));
    }
    osc_strbuf_adds(out, " is busy for ");
    osc_words_time(out, busy_ns);
    osc_strbuf_adds(out, " (");
    add_share(out, busy_ns, osc_result_get_int(r, busiest, osc_column_tracks_whole_ns));
    osc_strbuf_addc(out, ')');
}

/* A table whose rows have times of their own. */
struct own {
    uint32_t name, device_ns, host_ns;
    const char *none; /* the sentence if there is no time */
    const char *what; /* these rows are, as in "the device time of operators" */
};

static void say_own(struct osc_strbuf *out, const struct osc_result *r, const struct own *own)
{
    const bool is_device = sum_of(r, own->device_ns) > 0;
    const uint32_t column = is_device ? own->device_ns : own->host_ns;
    const osc_wide whole = sum_of(r, column);

    if (whole <= 0) {
        osc_strbuf_adds(out, own->none);
        return;
    }
    const uint64_t most = row_of_most(r, column);
    osc_words_name(out, osc_result_get_str(r, most, own->name));
    osc_strbuf_adds(out, " takes ");
    add_share(out, osc_result_get_int(r, most, column), whole);
    osc_strbuf_addf(out, " of the %s time of %s by itself (", is_device ? "device" : "host",
                    own->what);
    osc_words_time(out, osc_result_get_int(r, most, column));
    osc_strbuf_addc(out, ')');
}

static void say_operators(struct osc_strbuf *out, const struct osc_result *const *of,
                          const struct osc_options *o)
{
    const struct own own = {osc_column_operators_name, osc_column_operators_device_self_ns,
                            osc_column_operators_host_self_ns, "0 operators took any time",
                            "operators"};

    (void)o;
    say_own(out, of[OPERATORS], &own);
}

/* Append how much of the time of the outermost modules R is forward and backward, on devices if
 * that is known there. */
static void add_backward(struct osc_strbuf *out, const struct osc_result *r)
{
    const uint32_t columns_of[][2] = {
        {osc_column_modules_device_total_ns, osc_column_modules_backward_device_ns},
        {osc_column_modules_host_total_ns, osc_column_modules_backward_host_ns}};

    for (int where = 0; where < 2; where++) {
        osc_wide forward = 0, backward = 0;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (osc_result_get_int(r, i, osc_column_modules_depth) != 0)
                continue;
            forward += osc_result_get_int(r, i, columns_of[where][0]);
            backward += osc_result_get_int(r, i, columns_of[where][1]);
        }
        if (backward <= 0)
            continue;
        osc_strbuf_adds(out, "; all of them ");
        osc_words_time(out, osc_wide_nearest(forward));
        osc_strbuf_adds(out, " forward and ");
        osc_words_time(out, osc_wide_nearest(backward));
        osc_strbuf_adds(out, " backward");
        return;
    }
}

static void say_modules(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct own own = {osc_column_modules_name, osc_column_modules_device_self_ns,
                            osc_column_modules_host_self_ns, "0 modules were recorded",
                            "modules"};

    (void)o;
    say_own(out, of[MODULES], &own);
    add_backward(out, of[MODULES]);
}

/* Append how much of WHOLE, the time of the kernels R, uses tensor cores. */
static void add_tensor_cores(struct osc_strbuf *out, const struct osc_result *r, osc_wide whole)
{
    osc_wide using_ns = 0;
    bool is_known = false;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        is_known = is_known || osc_result_has(r, i, osc_column_kernels_tensor_cores);
        if (osc_result_get_bool(r, i, osc_column_kernels_tensor_cores))
            using_ns += osc_result_get_int(r, i, osc_column_kernels_total_ns);
    }
    if (using_ns > 0) {
        add_share(out, using_ns, whole);
        osc_strbuf_adds(out, " of kernel time uses tensor cores");
    } else {
        osc_strbuf_adds(out, is_known ? "no kernel is known to use tensor cores"
                                      : "nothing is known of tensor cores");
    }
}

static void say_kernels(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct osc_result *const r = of[KERNELS];
    const osc_wide whole = sum_of(r, osc_column_kernels_total_ns);

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 kernels were recorded");
        return;
    }
    const uint64_t most = row_of_most(r, osc_column_kernels_total_ns);
    osc_strbuf_adds(out, "Kernels run for ");
    osc_words_time(out, osc_wide_nearest(whole));
    osc_strbuf_adds(out, ", ");
    osc_words_symbol(out, osc_result_get_str(r, most, osc_column_kernels_name), false);
    osc_strbuf_adds(out, " for ");
    add_share(out, osc_result_get_int(r, most, osc_column_kernels_total_ns), whole);
    osc_strbuf_adds(out, " of it; ");
    add_tensor_cores(out, r, whole);
}

static void say_memory(struct osc_strbuf *out, const struct osc_result *const *of,
                       const struct osc_options *o)
{
    const struct osc_result *const r = of[PEAKS];

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 peaks of memory are known");
        return;
    }
    const uint64_t most = row_of_most(r, osc_column_memory_peaks_peak_bytes);
    osc_strbuf_adds(out, "Peak ");
    osc_words_bytes(out, osc_result_get_int(r, most, osc_column_memory_peaks_peak_bytes));
    if (osc_result_has(r, most, osc_column_memory_peaks_capacity_bytes)) {
        osc_strbuf_adds(out, " of ");
        osc_words_bytes(out,
                        osc_result_get_int(r, most, osc_column_memory_peaks_capacity_bytes));
    }
    osc_strbuf_adds(out, " on ");
    osc_words_name(out, osc_result_get_str(r, most, osc_column_memory_peaks_device));
    osc_strbuf_adds(out, " at ");
    osc_words_time(out, osc_result_get_int(r, most, osc_column_memory_peaks_peak_ns));
    const int64_t n = osc_result_get_int(r, most, osc_column_memory_peaks_live_count);
    osc_strbuf_addf(out, ", with %lld block%s alive", (long long)n, n == 1 ? "" : "s");
}

static void say_distributed(struct osc_strbuf *out, const struct osc_result *const *of,
                            const struct osc_options *o)
{
    const struct osc_result *const r = of[STRAGGLERS];
    uint64_t row;

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 collectives of several ranks can be compared");
        return;
    }
    if (osc_late_find(r, &row)) {
        osc_late_say(r, row, false, out);
        if (out->len > 0)
            out->s[0] = 'R';
        return;
    }
    row = row_of_most(r, osc_column_stragglers_caused_wait_ns);
    osc_strbuf_addf(out, "Of %llu rank%s none lets the others wait by far most: rank %lld for ",
                    (unsigned long long)r->n_rows, r->n_rows == 1 ? "" : "s",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_rank));
    osc_words_time(out, osc_result_get_int(r, row, osc_column_stragglers_caused_wait_ns));
}

static void say_quality(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct osc_result *const r = of[QUALITY];

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 findings: nothing was skipped or is missing");
        return;
    }
    osc_strbuf_addf(out, "%llu finding%s; the worst: ", (unsigned long long)r->n_rows,
                    r->n_rows == 1 ? "" : "s");
    osc_strbuf_addstr(out,
                      osc_result_get_str(r, row_of_most(r, osc_column_quality_rank_of_severity),
                                         osc_column_quality_message));
}

/* --- rows ------------------------------------------------------------------------------- */

static const struct view {
    const char *name;
    void (*say)(struct osc_strbuf *out, const struct osc_result *const *of,
                const struct osc_options *o);
    unsigned table;      /* that the sentence is about, */
    const char *options; /* and its options */
} views[] = {
    {"overview", say_overview, OVERVIEW, " --merge"},
    {"trace", say_trace, TRACKS, " --sort busy_ns"},
    {"operators", say_operators, OPERATORS, " --merge"},
    {"kernels", say_kernels, KERNELS, " --merge"},
    {"modules", say_modules, MODULES, " --merge"},
    {"memory", say_memory, PEAKS, ""},
    {"distributed", say_distributed, STRAGGLERS, ""},
    {"quality", say_quality, QUALITY, " --merge"},
};

/* Append the command that prints the rows that the sentence of V is about. */
static void add_evidence(struct osc_strbuf *out, const struct view *v,
                         const struct osc_options *o)
{
    const struct osc_table_def *const def = tables[v->table];

    osc_strbuf_addf(out, "opscope table %s%s", def->name, v->options);
    if ((def->takes & OSC_TAKES_PRIORITY) && o->priority)
        osc_strbuf_addf(out, " --priority %s", o->priority);
    if ((def->takes & OSC_TAKES_STEPS) && o->by_annotation)
        osc_strbuf_adds(out, " --step-length annotation");
    if ((def->takes & OSC_TAKES_STEPS) && o->all_steps)
        osc_strbuf_adds(out, " --all-steps");
    osc_strbuf_addf(out, "%s %s", o->selected ? o->selected : "", o->operands);
}

static osc_status compose(const struct osc_result *const *of, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < sizeof views / sizeof *views && st == OSC_OK; i++) {
        osc_result_row(out);
        osc_result_str(out, VIEW, osc_str_c(views[i].name));
        osc_strbuf_clear(&text);
        views[i].say(&text, of, o);
        osc_strbuf_addc(&text, '.');
        st = text.status;
        if (st == OSC_OK)
            osc_result_str(out, TEXT, (struct osc_str){text.s, (uint32_t)text.len});
        if (st != OSC_OK || !o->operands)
            continue;
        osc_strbuf_clear(&text);
        add_evidence(&text, &views[i], o);
        st = text.status;
        if (st == OSC_OK)
            osc_result_str(out, EVIDENCE, (struct osc_str){text.s, (uint32_t)text.len});
    }
    osc_strbuf_fini(&text);
    st = st == OSC_OK ? out->status : st;
    return st == OSC_OK ? st : osc_fail(err, st, "headlines: %s", osc_status_text(st));
}

static const struct osc_composition composition = {tables, compose};

const struct osc_table_def osc_table_headlines = {
    .name = "headlines",
    .help = "What each view of the viewer shows, in one sentence with its number.",
    .source = "the tables that the evidence names, all ranks and spans merged.",
    .rules = OSC_RULE_STEP_LENGTH | OSC_RULE_BREAKDOWN | OSC_RULE_OUTLIERS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .takes = OSC_TAKES_STEPS | OSC_TAKES_PRIORITY,
    .joins_ranks = true,
    .composition = &composition,
};
