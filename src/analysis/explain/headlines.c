/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `headlines`: what each view of the viewer shows, in one sentence with its number.
 *
 * A sentence is about rows of other tables, all ranks and spans merged. Where several rows are
 * alike the first one is told, as those tables stand in order.
 */
#include "analysis/diff/cut_steps.h"
#include "analysis/ranks/late.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/shell.h"
#include "base/wide.h"
#include "derive/steps/outliers.h"
#include "names/labels.h"
#include "prose/words.h"
#include "table/table_options.h"

enum { VIEW, TEXT, EVIDENCE, HAS_DATA, N_COLUMNS };

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
    OSC_COLUMN(
        HAS_DATA, "has_data", BOOLEAN, NULL, FIRST, 0, 0,
        "Whether the view has something to show; of overview: whether there are steps, or "
        "several parts of the time besides the rest of it."),
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

/* Append the times of both kinds of STEPS, if there are two. */
static void add_kinds(struct osc_strbuf *out, const struct osc_result *steps)
{
    int64_t *const v = osc_malloc((size_t)(steps->n_rows + 1) * sizeof *v);
    osc_status st = v ? OSC_OK : OSC_ENOMEM;
    struct osc_step_kinds kinds = {.n = {0}};
    size_t n = 0;

    for (uint64_t i = 0; st == OSC_OK && i < steps->n_rows; i++)
        if (osc_result_get_bool(steps, i, osc_column_steps_kept))
            v[n++] = osc_result_get_int(steps, i, osc_column_steps_total_ns);
    if (st == OSC_OK)
        st = osc_outliers_find(v, n, NULL, &kinds);
    if (st != OSC_OK)
        out->status = st;
    for (size_t k = 0; k < 2 && kinds.n[k] > 0; k++) {
        osc_strbuf_adds(out, k == 0 ? "; two kinds of step: " : " and ");
        osc_strbuf_add_count(out, kinds.n[k]);
        osc_strbuf_adds(out, " of ");
        osc_words_time(out, kinds.median_twice_ns[k] / 2);
    }
    osc_free(v);
}

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

/* Append that less than half of STEPS was measured, if so. */
static void add_cut(struct osc_strbuf *out, const struct osc_result *steps)
{
    struct osc_cut_steps c = {0};

    osc_cut_steps_add(&c, steps);
    if (!osc_cut_steps_is(&c))
        return;
    osc_strbuf_adds(out, "; ");
    osc_cut_steps_say(&c, "the kept steps", out);
}

/* Append why no step was measured: STEPS has none, or only the last ones of a recording, which
 * a selection may consist of. */
static void add_why_none(struct osc_strbuf *out, const struct osc_result *steps)
{
    if (steps->n_rows == 0) {
        osc_strbuf_adds(out, "0 steps were measured");
        return;
    }
    osc_strbuf_adds(out, "0 of ");
    osc_strbuf_add_count(out, steps->n_rows);
    osc_strbuf_adds(out, " selected steps are kept: the device work of the last steps may not "
                         "all have been recorded, or they hold no operator");
}

/* Whether the program told any of STEPS: without, a trace counts as one. */
static bool has_steps(const struct osc_result *steps)
{
    for (uint64_t i = 0; i < steps->n_rows; i++)
        if (osc_result_get_str(steps, i, osc_column_steps_thread).len > 0 ||
            osc_result_get_int(steps, i, osc_column_steps_step) != 0)
            return true;
    return false;
}

/* Append that STEPS are none, and one is counted instead. */
static void add_whole(struct osc_strbuf *out, const struct osc_result *steps)
{
    bool lie_outside = false;

    for (uint64_t i = 0; i < steps->n_rows; i++)
        lie_outside |= osc_result_get_bool(steps, i, osc_column_steps_lie_outside);
    osc_strbuf_adds(out, lie_outside ? " count as one step, as none begins in what is selected"
                                     : " count as one step, as there are no steps");
}

/* Whether R, the overview, is more than a length of time: there are STEPS, or parts of it
 * besides the rest. */
static bool has_parts(const struct osc_result *r, const struct osc_result *steps)
{
    uint32_t n = 0;

    for (uint64_t i = 1; i + 1 < r->n_rows; i++)
        n += osc_result_get_num(r, i, osc_column_overview_avg_ns) > 0;
    return r->n_rows > 0 && (n > 1 || has_steps(steps));
}

/* Append what the time of R, the overview, goes to most. The rest of it is no work: it is told
 * as what it is. */
static void add_largest(struct osc_strbuf *out, const struct osc_result *r)
{
    const uint64_t rest = r->n_rows - 1;
    const double rest_ns = osc_result_get_num(r, rest, osc_column_overview_avg_ns);
    uint64_t most = 1;

    for (uint64_t i = 2; i < rest; i++)
        if (osc_result_get_num(r, i, osc_column_overview_avg_ns) >
            osc_result_get_num(r, most, osc_column_overview_avg_ns))
            most = i;

    const double most_ns = osc_result_get_num(r, most, osc_column_overview_avg_ns);

    if (rest_ns > most_ns) {
        osc_strbuf_adds(out, "; no operator, runtime call or device work ran in ");
        osc_percent_add(out, osc_result_get_num(r, rest, osc_column_overview_ratio), 1);
        osc_strbuf_adds(out, " of it");
    }
    if (most_ns <= 0)
        return;
    osc_strbuf_adds(out, rest_ns > most_ns ? ", " : "; ");
    osc_percent_add(out, osc_result_get_num(r, most, osc_column_overview_ratio), 1);
    osc_strbuf_adds(out, rest_ns > most_ns ? " is " : " of it is ");
    osc_strbuf_addstr(out, osc_result_get_str(r, most, osc_column_overview_category));
}

static bool say_overview(struct osc_strbuf *out, const struct osc_result *const *of,
                         const struct osc_options *o)
{
    const struct osc_result *const r = of[OVERVIEW];

    if (r->n_rows == 0) {
        add_why_none(out, of[STEPS]);
        return false;
    }
    osc_words_time(out, (int64_t)(osc_result_get_num(r, 0, osc_column_overview_avg_ns) + 0.5));
    if (has_steps(of[STEPS]))
        osc_strbuf_adds(out, " a step");
    else
        add_whole(out, of[STEPS]);
    add_largest(out, r);
    if (o->n_traces == 1) { /* else rows of steps are sums over ranks */
        add_cut(out, of[STEPS]);
        add_kinds(out, of[STEPS]);
        add_outlier(out, of[STEPS]);
    }
    return has_parts(r, of[STEPS]);
}

static bool say_trace(struct osc_strbuf *out, const struct osc_result *const *of,
                      const struct osc_options *o)
{
    const struct osc_result *const r = of[TRACKS];

    (void)o;
    osc_words_count(out, (int64_t)sum_of(r, osc_column_tracks_events), "event");
    osc_strbuf_adds(out, " on ");
    osc_words_count(out, (int64_t)r->n_rows, "track");
    if (r->n_rows == 0)
        return false;
    const uint64_t busiest = row_of_most(r, osc_column_tracks_busy_ns);
    const int64_t busy_ns = osc_result_get_int(r, busiest, osc_column_tracks_busy_ns);

    if (busy_ns <= 0)
        return true;
    const struct osc_str kind = osc_result_get_str(r, busiest, osc_column_tracks_kind);
    const struct osc_str name = osc_result_has(r, busiest, osc_column_tracks_name)
                                    ? osc_result_get_str(r, busiest, osc_column_tracks_name)
                                    : osc_result_get_str(r, busiest, osc_column_tracks_thread);
    osc_strbuf_adds(out, "; ");
    if (osc_str_is_number(name)) { /* says nothing alone */
        osc_strbuf_addstr(out, kind);
        osc_strbuf_addc(out, ' ');
    }
    osc_words_quoted(out, name);
    if (osc_str_eq(kind, OSC_STR("queue"))) {
        osc_strbuf_adds(out, " of ");
        osc_words_name(out, osc_result_get_str(r, busiest, osc_column_tracks_parent));
    }
    osc_strbuf_adds(out, " is busy for ");
    osc_words_time(out, busy_ns);
    osc_strbuf_adds(out, " (");
    add_share(out, busy_ns, osc_result_get_int(r, busiest, osc_column_tracks_whole_ns));
    osc_strbuf_addc(out, ')');
    return true;
}

/* A table whose rows have times of their own. */
struct own {
    uint32_t name, device_ns, host_ns;
    const char *none; /* the sentence if there is no time */
    const char *what; /* these rows are, as in "the device time of operators" */
};

static bool say_own(struct osc_strbuf *out, const struct osc_result *r, const struct own *own)
{
    const bool is_device = sum_of(r, own->device_ns) > 0;
    const uint32_t column = is_device ? own->device_ns : own->host_ns;
    const osc_wide whole = sum_of(r, column);

    if (whole <= 0) {
        osc_strbuf_adds(out, own->none);
        return false;
    }
    const uint64_t most = row_of_most(r, column);
    osc_words_quoted(out, osc_result_get_str(r, most, own->name));
    osc_strbuf_adds(out, " takes ");
    add_share(out, osc_result_get_int(r, most, column), whole);
    osc_strbuf_addf(out, " of the %s time of %s by itself (", is_device ? "device" : "host",
                    own->what);
    osc_words_time(out, osc_result_get_int(r, most, column));
    osc_strbuf_addc(out, ')');
    return true;
}

static bool say_operators(struct osc_strbuf *out, const struct osc_result *const *of,
                          const struct osc_options *o)
{
    const struct own own = {osc_column_operators_name, osc_column_operators_device_self_ns,
                            osc_column_operators_host_self_ns, "0 operators took any time",
                            "operators"};

    (void)o;
    return say_own(out, of[OPERATORS], &own);
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

static bool say_modules(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct own own = {osc_column_modules_name, osc_column_modules_device_self_ns,
                            osc_column_modules_host_self_ns, "0 modules were found", "modules"};

    (void)o;
    const bool has_any = say_own(out, of[MODULES], &own);
    add_backward(out, of[MODULES]);
    return has_any;
}

/* Append how much of WHOLE, the time of the kernels R, uses tensor cores, and of how much that
 * is not known. */
static void add_tensor_cores(struct osc_strbuf *out, const struct osc_result *r, osc_wide whole)
{
    osc_wide using_ns = 0, unknown_ns = 0;
    bool is_known = false;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        const osc_wide ns = osc_result_get_int(r, i, osc_column_kernels_total_ns);

        if (!osc_result_has(r, i, osc_column_kernels_tensor_cores))
            unknown_ns += ns;
        else if (osc_result_get_bool(r, i, osc_column_kernels_tensor_cores))
            using_ns += ns;
        is_known = is_known || osc_result_has(r, i, osc_column_kernels_tensor_cores);
    }
    if (!is_known) {
        osc_strbuf_adds(out, "whether they use tensor cores is unknown");
        return;
    }
    if (using_ns > 0) {
        add_share(out, using_ns, whole);
        osc_strbuf_adds(out, " of kernel time uses tensor cores");
    } else {
        osc_strbuf_adds(out, "no kernel is known to use tensor cores");
    }
    if (unknown_ns > 0) {
        osc_strbuf_adds(out, ", of ");
        add_share(out, unknown_ns, whole);
        osc_strbuf_adds(out, " that is unknown");
    }
}

/* Append NAME of a kernel, as it is told from the others of R, which are in COLUMN. */
static void add_symbol(struct osc_strbuf *out, const struct osc_result *r, uint32_t column,
                       struct osc_str name)
{
    struct osc_labels labels = {0};
    osc_status st = OSC_OK;
    osc_sid id;

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++)
        st = osc_labels_add(&labels, osc_result_get_str(r, i, column), true, &id);
    if (st == OSC_OK)
        st = osc_labels_add(&labels, name, true, &id);
    if (st == OSC_OK)
        st = osc_labels_compose(&labels, OSC_LABELS_WIDTH, OSC_LABELS_WIDTH);
    if (st == OSC_OK)
        osc_words_quoted(out, osc_labels_get(&labels, id));
    else
        out->status = st;
    osc_labels_fini(&labels);
}

static bool say_kernels(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct osc_result *const r = of[KERNELS];
    const osc_wide whole = sum_of(r, osc_column_kernels_total_ns);

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 kernels were found");
        return false;
    }
    const uint64_t most = row_of_most(r, osc_column_kernels_total_ns);
    osc_strbuf_adds(out, "Kernels run for ");
    osc_words_time(out, osc_wide_nearest(whole));
    osc_strbuf_adds(out, ", ");
    add_symbol(out, r, osc_column_kernels_name,
               osc_result_get_str(r, most, osc_column_kernels_name));
    osc_strbuf_adds(out, " for ");
    add_share(out, osc_result_get_int(r, most, osc_column_kernels_total_ns), whole);
    osc_strbuf_adds(out, " of it; ");
    add_tensor_cores(out, r, whole);
    return true;
}

static bool say_memory(struct osc_strbuf *out, const struct osc_result *const *of,
                       const struct osc_options *o)
{
    const struct osc_result *const r = of[PEAKS];

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 peaks of memory are known");
        return false;
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
    osc_strbuf_adds(out, ", with ");
    osc_words_count(out, osc_result_get_int(r, most, osc_column_memory_peaks_live_count),
                    "block");
    osc_strbuf_adds(out, " alive");
    return true;
}

static bool say_distributed(struct osc_strbuf *out, const struct osc_result *const *of,
                            const struct osc_options *o)
{
    const struct osc_result *const r = of[STRAGGLERS];
    uint64_t row;

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 collectives of several ranks can be compared");
        return false;
    }
    if (osc_late_find(r, &row)) {
        osc_late_say(r, row, false, out);
        if (out->len > 0)
            out->s[0] = 'R';
        return true;
    }
    row = row_of_most(r, osc_column_stragglers_caused_wait_ns);
    osc_strbuf_adds(out, "Of ");
    osc_words_count(out, (int64_t)r->n_rows, "rank");
    osc_strbuf_addf(out, " none lets the others wait by far most: rank %lld for ",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_rank));
    osc_words_time(out, osc_result_get_int(r, row, osc_column_stragglers_caused_wait_ns));
    return true;
}

static bool say_quality(struct osc_strbuf *out, const struct osc_result *const *of,
                        const struct osc_options *o)
{
    const struct osc_result *const r = of[QUALITY];

    (void)o;
    if (r->n_rows == 0) {
        osc_strbuf_adds(out, "0 findings: nothing was skipped or is missing");
        return true;
    }
    osc_words_count(out, (int64_t)r->n_rows, "finding");
    osc_strbuf_adds(out, "; the worst: ");
    osc_strbuf_addstr(out,
                      osc_result_get_str(r, row_of_most(r, osc_column_quality_rank_of_severity),
                                         osc_column_quality_message));
    return true;
}

/* --- rows ------------------------------------------------------------------------------- */

static const struct view {
    const char *name;
    /* Append its sentence. Whether there is something to show. */
    bool (*say)(struct osc_strbuf *out, const struct osc_result *const *of,
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
    for (uint32_t i = 0; i < o->n_own; i++) {
        const char *const name = o->own[i].option->name, *const text = o->own[i].text;

        if (!osc_table_option(def, name))
            continue;
        osc_strbuf_addf(out, " --%s%s", name, text[0] ? " " : "");
        if (text[0])
            osc_shell_add_word(out, text);
    }
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
        const bool has_data = views[i].say(&text, of, o);
        osc_result_bool(out, HAS_DATA, has_data);
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

static const struct osc_table_option *const options[] = {
    &osc_option_priority, &osc_option_step_length, &osc_option_all_steps, NULL};

const struct osc_table_def osc_table_headlines = {
    .name = "headlines",
    .help = "What each view of the viewer shows, in one sentence with its number.",
    .source = "the tables that the evidence names, all ranks and spans merged.",
    .rules = OSC_RULE_STEP_LENGTH | OSC_RULE_BREAKDOWN | OSC_RULE_OUTLIERS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .options = options,
    OSC_COMPOSES(.tables = tables, .compose = compose),
};
