/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `headlines`: what each view of the viewer shows, in one sentence with its number.
 *
 * A sentence is about rows of other tables, all ranks and spans merged. Where several rows are
 * alike the first one is told, as those tables stand in order.
 */
#include "analysis/explain/headlines.h"

#include "analysis/diff/cut_steps.h"
#include "analysis/ranks/late.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/wide.h"
#include "derive/steps/outliers.h"
#include "names/labels.h"
#include "prose/phrase.h"
#include "table/question.h"
#include "table/table_options.h"

enum { VIEW, TEXT, EVIDENCE, HAS_DATA, ASKED, N_COLUMNS };

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
    OSC_COLUMN(ASKED, "asked", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN | OSC_COLUMN_QUESTION, 0,
               "Evidence as a question (table/question.h)."),
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

/* --- sentences -------------------------------------------------------------------------- */

/* What the sentences may say. */
#define FACT_LIST(X)                                                                      \
    X(time, NS, 0)     /* of a step, a track, an operator, module, kernels, or waiting */ \
    X(share, SHARE, 0) /* that the name has */                                            \
    X(name, QUOTED, 0) /* with most of it */                                              \
    X(has_steps, FLAG, 0)                                                                 \
    X(lies_outside, FLAG, 0) /* no step begins in what is selected */                     \
    X(n_selected, COUNT, 0)  /* steps, none of which is kept */                           \
    X(rest, SHARE, 0)        /* of the step in which nothing ran, if that is most */      \
    X(largest, SHARE, 0)     /* part of it, */                                            \
    X(part, TEXT, 0)         /* and its name */                                           \
    OSC_CUT_STEPS_LIST(X)                                                                 \
    X(n_first, COUNT, 0) /* steps of the first of two kinds, */                           \
    X(first_ns, NS, 0)   /* how long these are */                                         \
    X(n_second, COUNT, 0)                                                                 \
    X(second_ns, NS, 0)                                                                   \
    X(outlier, NAME, 0) /* the step that stands out most */                               \
    X(outlier_ns, NS, 0)                                                                  \
    X(events, COUNT, 0)                                                                   \
    X(tracks, COUNT, 0)                                                                   \
    X(kind, TEXT, 0)      /* of a track whose name says nothing alone */                  \
    X(device, NAME, 0)    /* of a queue, or of a peak of memory */                        \
    X(is_device, FLAG, 0) /* the time is that of devices */                               \
    X(forward, NS, 0)     /* of all modules, if backward is known */                      \
    X(backward, NS, 0)                                                                    \
    X(is_known, FLAG, 0) /* whether any kernel uses tensor cores */                       \
    X(cores, SHARE, 0)   /* of the kernel time that does, if some does */                 \
    X(unknown, SHARE, 0) /* of which that is not known */                                 \
    X(peak, BYTES, 0)                                                                     \
    X(capacity, BYTES, 0)                                                                 \
    X(at, NS, 0)                                                                          \
    X(blocks, COUNT, 0)                                                                   \
    X(late, TEXT, 0) /* the rank that lets the others wait */                             \
    X(ranks, COUNT, 0)                                                                    \
    X(rank, INTEGER, 0)                                                                   \
    X(findings, COUNT, 0)                                                                 \
    X(worst, TEXT, 0)                                                                     \
    /* and what they say, by view */                                                      \
    X(overview, PHRASE,                                                                   \
      "{time?{time} {has_steps?a step|count as one step, as {lies_outside?none "          \
      "begins in what is selected|there are no steps}}{rest?; no operator, runtime "      \
      "call or device work ran in {rest} of it}{largest?{rest?,|;} {largest} "            \
      "{rest?is|of it is} {part}}{ranges?; {cut}}{n_first?; two kinds of step: "          \
      "{n_first} of {first_ns}}{n_second? and {n_second} of {second_ns}}{outlier?; "      \
      "step {outlier} stands out with {outlier_ns}}|0 {n_selected?of {n_selected} "       \
      "selected steps are kept: the device work of the last steps may not all have "      \
      "been recorded, or they hold no operator|steps were measured}}.")                   \
    X(trace, PHRASE,                                                                      \
      "{events} {events|event|events} on {tracks} {tracks|track|tracks}{name?; "          \
      "{kind?{kind} }{name}{device? of {device}} is busy for {time} ({share})}.")         \
    X(operators, PHRASE,                                                                  \
      "{name?{name} takes {share} of the {is_device?device|host} time of operators "      \
      "by itself ({time})|0 operators took any time}.")                                   \
    X(kernels, PHRASE,                                                                    \
      "{name?Kernels run for {time}, {name} for {share} of it; "                          \
      "{is_known?{cores?{cores} of kernel time uses tensor cores|no kernel is known "     \
      "to use tensor cores}{unknown?, of {unknown} that is unknown}|whether they use "    \
      "tensor cores is unknown}|0 kernels were found}.")                                  \
    X(modules, PHRASE,                                                                    \
      "{name?{name} takes {share} of the {is_device?device|host} time of modules by "     \
      "itself ({time})|0 modules were found}{backward?; all of them {forward} "           \
      "forward and {backward} backward}.")                                                \
    X(memory, PHRASE,                                                                     \
      "{peak?Peak {peak}{capacity? of {capacity}} on {device} at {at}, with {blocks} "    \
      "{blocks|block|blocks} alive|0 peaks of memory are known}.")                        \
    X(distributed, PHRASE,                                                                \
      "{late?{late}|{rank?Of {ranks} {ranks|rank|ranks} none lets the others wait by "    \
      "far most: rank {rank} for {time}|0 collectives of several ranks can be "           \
      "compared}}.")                                                                      \
    X(quality, PHRASE,                                                                    \
      "{worst?{findings} {findings|finding|findings}; the worst: {worst}|0 findings: "    \
      "nothing was skipped or is missing}.")

OSC_PROSE(osc_headlines_prose, FACT_LIST);

/* Facts about a view, and texts that they borrow. */
struct story {
    struct osc_prose_facts facts;
    struct osc_strbuf text;   /* owned */
    struct osc_labels labels; /* owned */
    osc_status status;
};

/* Let FACT be what the text of S says. */
static void set_text(struct story *s, unsigned fact)
{
    if (s->text.status != OSC_OK)
        s->status = s->text.status;
    osc_prose_text(&s->facts, fact,
                   (struct osc_str){s->text.s ? s->text.s : "", (uint32_t)s->text.len});
}

/* Say the times of both kinds of STEPS, if there are two. */
static void look_at_kinds(struct story *s, const struct osc_result *steps)
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
        s->status = st;
    for (unsigned k = 0; k < 2 && kinds.n[k] > 0; k++) {
        osc_prose_number(&s->facts, k == 0 ? FACT_n_first : FACT_n_second, (int64_t)kinds.n[k]);
        osc_prose_number(&s->facts, k == 0 ? FACT_first_ns : FACT_second_ns,
                         kinds.median_twice_ns[k] / 2);
    }
    osc_free(v);
}

/* Say which step of STEPS stands out most, if one does. */
static void look_at_outliers(struct story *s, const struct osc_result *steps)
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
    osc_prose_text(&s->facts, FACT_outlier,
                   osc_result_get_str(steps, worst, osc_column_steps_label));
    osc_prose_number(&s->facts, FACT_outlier_ns,
                     osc_result_get_int(steps, worst, osc_column_steps_total_ns));
}

/* Say that less than half of STEPS was measured, if so. */
static void look_at_cut(struct story *s, const struct osc_result *steps)
{
    struct osc_cut_steps c = {0};

    osc_cut_steps_add(&c, steps);
    osc_cut_steps_set(&s->facts, FACT_ranges, FACT_measured, &c);
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

/* Whether R, the overview, is more than a length of time: there are STEPS, or parts of it
 * besides the rest. */
static bool has_parts(const struct osc_result *r, const struct osc_result *steps)
{
    uint32_t n = 0;

    for (uint64_t i = 1; i + 1 < r->n_rows; i++)
        n += osc_result_get_num(r, i, osc_column_overview_avg_ns) > 0;
    return r->n_rows > 0 && (n > 1 || has_steps(steps));
}

/* Say what the time of R, the overview, goes to most. The rest of it is no work: it is told as
 * what it is. */
static void look_at_largest(struct story *s, const struct osc_result *r)
{
    const uint64_t rest = r->n_rows - 1;
    const double rest_ns = osc_result_get_num(r, rest, osc_column_overview_avg_ns);
    uint64_t most = 1;

    for (uint64_t i = 2; i < rest; i++)
        if (osc_result_get_num(r, i, osc_column_overview_avg_ns) >
            osc_result_get_num(r, most, osc_column_overview_avg_ns))
            most = i;

    const double most_ns = osc_result_get_num(r, most, osc_column_overview_avg_ns);

    if (rest_ns > most_ns)
        osc_prose_real(&s->facts, FACT_rest,
                       osc_result_get_num(r, rest, osc_column_overview_ratio));
    if (most_ns <= 0)
        return;
    osc_prose_real(&s->facts, FACT_largest,
                   osc_result_get_num(r, most, osc_column_overview_ratio));
    osc_prose_text(&s->facts, FACT_part,
                   osc_result_get_str(r, most, osc_column_overview_category));
}

static bool look_at_overview(struct story *s, const struct osc_result *const *of,
                             const struct osc_options *o)
{
    const struct osc_result *const r = of[OVERVIEW], *const steps = of[STEPS];
    bool lie_outside = false;

    if (r->n_rows == 0) {
        if (steps->n_rows > 0)
            osc_prose_number(&s->facts, FACT_n_selected, (int64_t)steps->n_rows);
        return false;
    }
    for (uint64_t i = 0; i < steps->n_rows; i++)
        lie_outside |= osc_result_get_bool(steps, i, osc_column_steps_lie_outside);
    osc_prose_number(&s->facts, FACT_time,
                     (int64_t)(osc_result_get_num(r, 0, osc_column_overview_avg_ns) + 0.5));
    osc_prose_flag(&s->facts, FACT_has_steps, has_steps(steps));
    osc_prose_flag(&s->facts, FACT_lies_outside, lie_outside);
    look_at_largest(s, r);
    if (o->n_traces == 1) { /* else rows of steps are sums over ranks */
        look_at_cut(s, steps);
        look_at_kinds(s, steps);
        look_at_outliers(s, steps);
    }
    return has_parts(r, steps);
}

static bool look_at_trace(struct story *s, const struct osc_result *const *of,
                          const struct osc_options *o)
{
    const struct osc_result *const r = of[TRACKS];

    (void)o;
    osc_prose_number(&s->facts, FACT_events, (int64_t)sum_of(r, osc_column_tracks_events));
    osc_prose_number(&s->facts, FACT_tracks, (int64_t)r->n_rows);
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
    if (osc_str_is_number(name)) /* says nothing alone */
        osc_prose_text(&s->facts, FACT_kind, kind);
    osc_prose_text(&s->facts, FACT_name, name);
    if (osc_str_eq(kind, OSC_STR("queue")))
        osc_prose_text(&s->facts, FACT_device,
                       osc_result_get_str(r, busiest, osc_column_tracks_parent));
    osc_prose_number(&s->facts, FACT_time, busy_ns);
    osc_prose_share(&s->facts, FACT_share, busy_ns,
                    osc_result_get_int(r, busiest, osc_column_tracks_whole_ns));
    return true;
}

/* Say who of R, whose rows have times of their own, has most of them, on devices if there are
 * any. False: nobody has any. */
static bool look_at_own(struct story *s, const struct osc_result *r, uint32_t name,
                        uint32_t device_ns, uint32_t host_ns)
{
    const bool is_device = sum_of(r, device_ns) > 0;
    const uint32_t column = is_device ? device_ns : host_ns;
    const osc_wide whole = sum_of(r, column);

    if (whole <= 0)
        return false;
    const uint64_t most = row_of_most(r, column);
    osc_prose_text(&s->facts, FACT_name, osc_result_get_str(r, most, name));
    osc_prose_share(&s->facts, FACT_share, osc_result_get_int(r, most, column), whole);
    osc_prose_flag(&s->facts, FACT_is_device, is_device);
    osc_prose_number(&s->facts, FACT_time, osc_result_get_int(r, most, column));
    return true;
}

static bool look_at_operators(struct story *s, const struct osc_result *const *of,
                              const struct osc_options *o)
{
    (void)o;
    return look_at_own(s, of[OPERATORS], osc_column_operators_name,
                       osc_column_operators_device_self_ns, osc_column_operators_host_self_ns);
}

/* Say how much of the time of the outermost modules R is forward and backward, on devices if
 * that is known there. */
static void look_at_backward(struct story *s, const struct osc_result *r)
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
        osc_prose_number(&s->facts, FACT_forward, osc_wide_nearest(forward));
        osc_prose_number(&s->facts, FACT_backward, osc_wide_nearest(backward));
        return;
    }
}

static bool look_at_modules(struct story *s, const struct osc_result *const *of,
                            const struct osc_options *o)
{
    (void)o;
    look_at_backward(s, of[MODULES]);
    return look_at_own(s, of[MODULES], osc_column_modules_name,
                       osc_column_modules_device_self_ns, osc_column_modules_host_self_ns);
}

/* Say how much of WHOLE, the time of the kernels R, uses tensor cores, and of how much that is
 * not known. */
static void look_at_tensor_cores(struct story *s, const struct osc_result *r, osc_wide whole)
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
    osc_prose_flag(&s->facts, FACT_is_known, is_known);
    if (using_ns > 0)
        osc_prose_share(&s->facts, FACT_cores, using_ns, whole);
    if (unknown_ns > 0)
        osc_prose_share(&s->facts, FACT_unknown, unknown_ns, whole);
}

/* Name the kernel in row MOST of R as it is told from the others. */
static void name_kernel(struct story *s, const struct osc_result *r, uint64_t most)
{
    osc_status st = OSC_OK;
    osc_sid id;

    for (uint64_t i = 0; i <= r->n_rows && st == OSC_OK; i++)
        st = osc_labels_add(
            &s->labels,
            osc_result_get_str(r, i < r->n_rows ? i : most, osc_column_kernels_name), true,
            &id);
    if (st == OSC_OK)
        st = osc_labels_compose(&s->labels, OSC_LABELS_WIDTH, OSC_LABELS_WIDTH);
    if (st == OSC_OK)
        osc_prose_text(&s->facts, FACT_name, osc_labels_get(&s->labels, id));
    else
        s->status = st;
}

static bool look_at_kernels(struct story *s, const struct osc_result *const *of,
                            const struct osc_options *o)
{
    const struct osc_result *const r = of[KERNELS];
    const osc_wide whole = sum_of(r, osc_column_kernels_total_ns);

    (void)o;
    if (r->n_rows == 0)
        return false;
    const uint64_t most = row_of_most(r, osc_column_kernels_total_ns);
    osc_prose_number(&s->facts, FACT_time, osc_wide_nearest(whole));
    osc_prose_share(&s->facts, FACT_share,
                    osc_result_get_int(r, most, osc_column_kernels_total_ns), whole);
    name_kernel(s, r, most);
    look_at_tensor_cores(s, r, whole);
    return true;
}

static bool look_at_memory(struct story *s, const struct osc_result *const *of,
                           const struct osc_options *o)
{
    const struct osc_result *const r = of[PEAKS];

    (void)o;
    if (r->n_rows == 0)
        return false;
    const uint64_t most = row_of_most(r, osc_column_memory_peaks_peak_bytes);
    osc_prose_number(&s->facts, FACT_peak,
                     osc_result_get_int(r, most, osc_column_memory_peaks_peak_bytes));
    if (osc_result_has(r, most, osc_column_memory_peaks_capacity_bytes))
        osc_prose_number(&s->facts, FACT_capacity,
                         osc_result_get_int(r, most, osc_column_memory_peaks_capacity_bytes));
    osc_prose_text(&s->facts, FACT_device,
                   osc_result_get_str(r, most, osc_column_memory_peaks_device));
    osc_prose_number(&s->facts, FACT_at,
                     osc_result_get_int(r, most, osc_column_memory_peaks_peak_ns));
    osc_prose_number(&s->facts, FACT_blocks,
                     osc_result_get_int(r, most, osc_column_memory_peaks_live_count));
    return true;
}

static bool look_at_ranks(struct story *s, const struct osc_result *const *of,
                          const struct osc_options *o)
{
    const struct osc_result *const r = of[STRAGGLERS];
    uint64_t row;

    (void)o;
    if (r->n_rows == 0)
        return false;
    if (osc_late_find(r, &row)) {
        osc_late_say(r, row, false, &s->text);
        if (s->text.len > 0)
            s->text.s[0] = 'R';
        set_text(s, FACT_late);
        return true;
    }
    row = row_of_most(r, osc_column_stragglers_caused_wait_ns);
    osc_prose_number(&s->facts, FACT_ranks, (int64_t)r->n_rows);
    osc_prose_number(&s->facts, FACT_rank,
                     osc_result_get_int(r, row, osc_column_stragglers_rank));
    osc_prose_number(&s->facts, FACT_time,
                     osc_result_get_int(r, row, osc_column_stragglers_caused_wait_ns));
    return true;
}

static bool look_at_quality(struct story *s, const struct osc_result *const *of,
                            const struct osc_options *o)
{
    const struct osc_result *const r = of[QUALITY];

    (void)o;
    if (r->n_rows == 0)
        return true;
    osc_prose_number(&s->facts, FACT_findings, (int64_t)r->n_rows);
    osc_prose_text(&s->facts, FACT_worst,
                   osc_result_get_str(r, row_of_most(r, osc_column_quality_rank_of_severity),
                                      osc_column_quality_message));
    return true;
}

/* --- rows ------------------------------------------------------------------------------- */

static const struct view {
    const char *name;
    /* Set the facts of its sentence. Whether there is something to show. */
    bool (*look)(struct story *s, const struct osc_result *const *of,
                 const struct osc_options *o);
    unsigned sentence;
    unsigned table;             /* that the sentence is about, */
    const char *option, *value; /* and its option, or NULL; the value of a switch is NULL */
} views[] = {
    {"overview", look_at_overview, FACT_overview, OVERVIEW, "merge", NULL},
    {"trace", look_at_trace, FACT_trace, TRACKS, "sort", "busy_ns"},
    {"operators", look_at_operators, FACT_operators, OPERATORS, "merge", NULL},
    {"kernels", look_at_kernels, FACT_kernels, KERNELS, "merge", NULL},
    {"modules", look_at_modules, FACT_modules, MODULES, "merge", NULL},
    {"memory", look_at_memory, FACT_memory, PEAKS, NULL, NULL},
    {"distributed", look_at_ranks, FACT_distributed, STRAGGLERS, NULL, NULL},
    {"quality", look_at_quality, FACT_quality, QUALITY, "merge", NULL},
};
#define N_VIEWS (sizeof views / sizeof *views)

/* Append the sentence of V, and set whether there is something to show. */
static osc_status say(struct osc_strbuf *out, const struct view *v,
                      const struct osc_result *const *of, const struct osc_options *o,
                      bool *has_data)
{
    struct story s = {.facts = {.prose = &osc_headlines_prose}};

    *has_data = v->look(&s, of, o);
    osc_prose_say(out, &s.facts, v->sentence);
    osc_strbuf_fini(&s.text);
    osc_labels_fini(&s.labels);
    return s.status == OSC_OK ? out->status : s.status;
}

/* Make Q the question for the rows that the sentence of V is about. */
static void ask(struct osc_strbuf *q, const struct view *v, const struct osc_options *o)
{
    const struct osc_table_def *const def = tables[v->table];

    osc_question_begin(q, "table", def->name);
    if (v->option)
        osc_question_add(q, v->option, v->value);
    for (uint32_t i = 0; i < o->n_own; i++) {
        const char *const name = o->own[i].option->name, *const text = o->own[i].text;

        if (osc_table_option(def, name))
            osc_question_add(q, name, text[0] ? text : NULL);
    }
    osc_question_add_view(q, o->view, "ns");
}

/* Set the evidence of the last row of OUT, as a question and as a command. */
static osc_status add_evidence(struct osc_result *out, const struct view *v,
                               const struct osc_options *o)
{
    struct osc_strbuf q = {0}, text = {0};

    ask(&q, v, o);
    osc_question_print(&text, osc_strbuf_str(&q));
    osc_strbuf_addf(&text, " %s", o->operands);
    const osc_status st = q.status != OSC_OK ? q.status : text.status;
    if (st == OSC_OK) {
        osc_result_str(out, ASKED, osc_strbuf_str(&q));
        osc_result_str(out, EVIDENCE, osc_strbuf_str(&text));
    }
    osc_strbuf_fini(&q);
    osc_strbuf_fini(&text);
    return st;
}

static osc_status compose(const struct osc_result *const *of, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < N_VIEWS && st == OSC_OK; i++) {
        osc_result_row(out);
        osc_result_str(out, VIEW, osc_str_c(views[i].name));
        osc_strbuf_clear(&text);
        bool has_data;
        st = say(&text, &views[i], of, o, &has_data);
        osc_result_bool(out, HAS_DATA, has_data);
        if (st == OSC_OK)
            osc_result_str(out, TEXT, (struct osc_str){text.s, (uint32_t)text.len});
        if (st == OSC_OK && o->operands)
            st = add_evidence(out, &views[i], o);
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
