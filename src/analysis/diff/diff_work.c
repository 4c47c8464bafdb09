/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `diff_operators` and `diff_kernels`: what changed from one run to another, by name.
 */
#include "analysis/table_registry.h"

#include <math.h>

#include "analysis/diff/change.h"
#include "base/mem.h"

/* What rows can be grouped by. */
enum { BY_SHAPE };

enum {
    NAME,
    SHAPE,
    BASE_CALLS,
    NEW_CALLS,
    DELTA_CALLS,
    MEAN_BASE_CALLS,
    MEAN_NEW_CALLS,
    TIMES /* six for each time, then those below */
};
enum { BASE, NEW, DELTA, MEAN_BASE, MEAN_NEW, MEAN_DELTA, PER_TIME };
enum { RATIO, SIGNIFICANT, P_VALUE, ORDER, BEHIND_TIMES };

#define N_COLUMNS(n_times)  (TIMES + (n_times)*PER_TIME + BEHIND_TIMES)
#define AT(n_times, column) (TIMES + (n_times)*PER_TIME + (column))

#define TIME_COLUMNS(k, time, meaning)                                                        \
    OSC_COLUMN(TIMES + (k)*PER_TIME + BASE, "base_" time "_ns", INTEGER, "ns", FIRST,         \
               OSC_COLUMN_DEEP, OSC_RULE_DIFF, meaning ", over all of the base run."),        \
        OSC_COLUMN(TIMES + (k)*PER_TIME + NEW, "new_" time "_ns", INTEGER, "ns", FIRST,       \
                   OSC_COLUMN_DEEP, OSC_RULE_DIFF, meaning ", over all of the new run."),     \
        OSC_COLUMN(TIMES + (k)*PER_TIME + DELTA, "delta_" time "_ns", INTEGER, "ns", FIRST,   \
                   OSC_COLUMN_DEEP, OSC_RULE_DIFF, "new_" time "_ns - base_" time "_ns."),    \
        OSC_COLUMN(TIMES + (k)*PER_TIME + MEAN_BASE, "mean_base_" time "_ns", NUMBER, "ns",   \
                   FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,                                     \
                   "The same per step of the base run: mean over its steps. Missing unless "  \
                   "both runs have steps."),                                                  \
        OSC_COLUMN(TIMES + (k)*PER_TIME + MEAN_NEW, "mean_new_" time "_ns", NUMBER, "ns",     \
                   FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,                                     \
                   "The same per step of the new run."),                                      \
        OSC_COLUMN(TIMES + (k)*PER_TIME + MEAN_DELTA, "mean_delta_" time "_ns", NUMBER, "ns", \
                   FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,                                     \
                   "mean_new_" time "_ns - mean_base_" time "_ns.")

#define FIRST_COLUMNS(what, name_flags)                                                      \
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, name_flags, OSC_RULE_NAMES, what),           \
        OSC_COLUMN(SHAPE, "input_shape", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,          \
                   "Shapes of the arguments. Present with --group-by shape.",                \
                   .grouping = "shape"),                                                     \
        OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,      \
                   "Number of calls in the base run."),                                      \
        OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,        \
                   "Number of calls in the new run."),                                       \
        OSC_COLUMN(DELTA_CALLS, "delta_calls", INTEGER, NULL, FIRST, OSC_COLUMN_DEEP, 0,     \
                   "new_calls - base_calls."),                                               \
        OSC_COLUMN(MEAN_BASE_CALLS, "mean_base_calls", NUMBER, NULL, FIRST, OSC_COLUMN_DEEP, \
                   OSC_RULE_DIFF,                                                            \
                   "Calls per step of the base run. Missing unless both runs have steps."),  \
        OSC_COLUMN(MEAN_NEW_CALLS, "mean_new_calls", NUMBER, NULL, FIRST, OSC_COLUMN_DEEP,   \
                   OSC_RULE_DIFF, "Calls per step of the new run.")

#define LAST_COLUMNS(n, time)                                                                 \
    OSC_COLUMN(AT(n, RATIO), "delta_ratio", NUMBER, "ratio", FIRST, 0, OSC_RULE_DIFF,         \
               "Change of " time " / its value in the base run; per step if both runs have "  \
               "steps. Missing if that value is 0."),                                         \
        OSC_COLUMN(AT(n, SIGNIFICANT), "significant", BOOLEAN, NULL, FIRST, 0, OSC_RULE_DIFF, \
                   "Whether that change is larger than what steps differ by among "           \
                   "themselves. Missing with fewer than 3 steps in either run."),             \
        OSC_COLUMN(AT(n, P_VALUE), "p_value", NUMBER, NULL, FIRST, OSC_COLUMN_DEEP,           \
                   OSC_RULE_DIFF,                                                             \
                   "Probability of such a difference between equal runs, by the test that "   \
                   "decided."),                                                               \
        OSC_COLUMN(AT(n, ORDER), "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,         \
                   "The change without its sign.")

static const struct osc_column operator_columns[N_COLUMNS(OSC_WORK_TIMES)] = {
    FIRST_COLUMNS("Name of the operator.", 0),
    TIME_COLUMNS(OSC_TIME_DEVICE_SELF, "device_self", "Device time of its own launches"),
    TIME_COLUMNS(OSC_TIME_HOST_SELF, "host_self", "Host time without that of operators inside"),
    TIME_COLUMNS(OSC_TIME_DEVICE_TOTAL, "device_total",
                 "Device time of its launches and of those of operators inside"),
    TIME_COLUMNS(OSC_TIME_HOST_TOTAL, "host_total", "Host time"),
    LAST_COLUMNS(OSC_WORK_TIMES,
                 "device_self_ns, or of host_self_ns where no operator launched "
                 "device work,"),
};

static const struct osc_column kernel_columns[N_COLUMNS(1)] = {
    FIRST_COLUMNS("Name of the kernel as the file has it.", OSC_COLUMN_SYMBOL),
    TIME_COLUMNS(0, "total", "Sum of the durations"),
    LAST_COLUMNS(1, "total_ns"),
};

static uint32_t times_of(const struct osc_table_def *def)
{
    return def == &osc_table_diff_kernels ? 1 : OSC_WORK_TIMES;
}

struct osc_change_columns osc_change_columns(const struct osc_table_def *def, uint32_t time)
{
    const uint32_t n = times_of(def), at = TIMES + time * PER_TIME;

    return (struct osc_change_columns){
        .name = NAME,
        .base_calls = BASE_CALLS,
        .new_calls = NEW_CALLS,
        .delta_calls = DELTA_CALLS,
        .base_ns = at + BASE,
        .new_ns = at + NEW,
        .delta_ns = at + DELTA,
        .mean_base_ns = at + MEAN_BASE,
        .mean_new_ns = at + MEAN_NEW,
        .mean_delta_ns = at + MEAN_DELTA,
        .mean_base_calls = MEAN_BASE_CALLS,
        .mean_new_calls = MEAN_NEW_CALLS,
        .delta_ratio = AT(n, RATIO),
        .significant = AT(n, SIGNIFICANT),
        .p_value = AT(n, P_VALUE),
        .order = AT(n, ORDER),
    };
}

uint32_t osc_change_time(const struct osc_result *r)
{
    const uint32_t column = TIMES + OSC_TIME_DEVICE_SELF * PER_TIME;

    if (r->def == &osc_table_diff_kernels)
        return 0;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_get_int(r, i, column + BASE) > 0 ||
            osc_result_get_int(r, i, column + NEW) > 0)
            return OSC_TIME_DEVICE_SELF;
    }
    return OSC_TIME_HOST_SELF;
}

/* The time to sort by: of devices where any worked, else of the host. */
static uint32_t choose_time(const struct osc_joined_sides *j, uint32_t n_times)
{
    if (n_times == 1)
        return 0;
    for (size_t i = 0; i < j->n; i++) {
        if (j->pairs[i].times_ns[OSC_BASE][OSC_TIME_DEVICE_SELF] > 0 ||
            j->pairs[i].times_ns[OSC_NEW][OSC_TIME_DEVICE_SELF] > 0)
            return OSC_TIME_DEVICE_SELF;
    }
    return OSC_TIME_HOST_SELF;
}

static void add_times(struct osc_result *out, const struct osc_pair *p, uint32_t k,
                      bool has_steps)
{
    const uint32_t at = TIMES + k * PER_TIME;
    const int64_t base_ns = p->times_ns[OSC_BASE][k], new_ns = p->times_ns[OSC_NEW][k];
    const double base = p->samples[OSC_BASE][k].mean, new_ = p->samples[OSC_NEW][k].mean;

    osc_result_int(out, at + BASE, base_ns);
    osc_result_int(out, at + NEW, new_ns);
    osc_result_int(out, at + DELTA, new_ns - base_ns);
    if (!has_steps)
        return;
    osc_result_num(out, at + MEAN_BASE, base);
    osc_result_num(out, at + MEAN_NEW, new_);
    osc_result_num(out, at + MEAN_DELTA, new_ - base);
}

/* The p of the calls of P; 1 unless both sides have time TIME in each step. */
static double call_p(const struct osc_pair *p, uint32_t time)
{
    if (p->step_logs[OSC_BASE][time].n == 0 || p->step_logs[OSC_NEW][time].n == 0)
        return 1;
    return osc_welch_p(&p->call_logs[OSC_BASE][time], &p->call_logs[OSC_NEW][time]);
}

/* What all rows of a table have in common. */
struct comparing {
    const struct osc_joined_sides *j;
    uint32_t n_times, time;
    bool has_steps, is_tested, by_shape;
    double limit, call_limit; /* of p, of the test over steps and of that over calls */
    double *of_calls;         /* p of the calls of each pair, if anything is tested */
    double usual[OSC_BOTH];   /* the median variance of the steps of names whose calls differ */
};

/* Whether the calls of pair I differ, and their steps as well; and the larger p of both. */
static struct osc_decision test_calls(const struct comparing *c, size_t i)
{
    const struct osc_pair *const p = &c->j->pairs[i];
    const uint32_t k = c->time;
    const struct osc_sample *const calls[] = {&p->call_logs[OSC_BASE][k],
                                              &p->call_logs[OSC_NEW][k]};
    struct osc_sample steps[] = {p->step_logs[OSC_BASE][k], p->step_logs[OSC_NEW][k]};

    if (!c->is_tested || c->of_calls[i] > c->call_limit)
        return (struct osc_decision){.p = 1};
    /* Three steps are alike by chance more often than the steps of many names are. */
    for (int s = 0; s < OSC_BOTH; s++)
        steps[s].variance = fmax(steps[s].variance, c->usual[s]);
    const double of_steps = osc_welch_p_careful(&steps[0], &steps[1]);
    const bool is_longer = calls[1]->mean > calls[0]->mean;
    return (struct osc_decision){
        .is_significant =
            of_steps <= OSC_WELCH_LEVEL && (steps[1].mean > steps[0].mean) == is_longer &&
            (p->samples[OSC_NEW][k].mean > p->samples[OSC_BASE][k].mean) == is_longer,
        .p = fmax(c->of_calls[i], of_steps),
    };
}

/* The probability that pair P is in each step of one side and in none of the other by chance;
 * 1: it is not so. Spreads of times do not touch it. */
static double presence_p(const struct osc_pair *p, uint32_t time)
{
    const struct osc_sample *const base = &p->samples[OSC_BASE][time];
    const struct osc_sample *const new_ = &p->samples[OSC_NEW][time];
    const bool is_new = base->mean == 0 && p->step_logs[OSC_NEW][time].n > 0;
    const bool is_gone = new_->mean == 0 && p->step_logs[OSC_BASE][time].n > 0;

    return is_new || is_gone ? osc_parted_p(base->n, new_->n) : 1;
}

static struct osc_decision decide(const struct comparing *c, size_t i)
{
    const struct osc_pair *const p = &c->j->pairs[i];
    const struct osc_sample *const base = &p->samples[OSC_BASE][c->time];
    const struct osc_sample *const new_ = &p->samples[OSC_NEW][c->time];
    const struct osc_decision of_steps = {.p = osc_change_p(base, new_, c->is_tested)};

    const bool differs = osc_sample_differs(base, new_);
    if (differs && of_steps.p <= c->limit)
        return (struct osc_decision){true, of_steps.p};
    const double of_presence = c->is_tested ? presence_p(p, c->time) : 1;
    if (of_presence <= OSC_WELCH_LEVEL)
        return (struct osc_decision){true, of_presence};
    if (!differs)
        return of_steps;
    const struct osc_decision of_calls = test_calls(c, i);
    return of_calls.is_significant ? of_calls : of_steps;
}

static void add_row(struct osc_result *out, const struct comparing *c, size_t i)
{
    const struct osc_pair *const p = &c->j->pairs[i];
    const struct osc_change_columns at = osc_change_columns(out->def, c->time);
    const struct osc_sample *const base = &p->samples[OSC_BASE][c->time];
    const struct osc_sample *const new_ = &p->samples[OSC_NEW][c->time];
    const struct osc_decision d = decide(c, i);

    osc_result_row(out);
    osc_result_str(out, NAME, p->name);
    if (c->by_shape)
        osc_result_str(out, SHAPE, p->shape);
    osc_result_int(out, BASE_CALLS, p->calls[OSC_BASE]);
    osc_result_int(out, NEW_CALLS, p->calls[OSC_NEW]);
    osc_result_int(out, DELTA_CALLS, p->calls[OSC_NEW] - p->calls[OSC_BASE]);
    if (c->has_steps) {
        osc_result_num(out, MEAN_BASE_CALLS, p->calls_a_step[OSC_BASE]);
        osc_result_num(out, MEAN_NEW_CALLS, p->calls_a_step[OSC_NEW]);
    }
    for (uint32_t k = 0; k < c->n_times; k++)
        add_times(out, p, k, c->has_steps);
    osc_change_set(out, &at,
                   &(struct osc_changed){
                       .base_ns = p->times_ns[OSC_BASE][c->time],
                       .new_ns = p->times_ns[OSC_NEW][c->time],
                       .base = *base,
                       .new_ = *new_,
                       .has_steps = c->has_steps,
                       .is_tested = c->is_tested,
                       .is_significant = d.is_significant,
                       .p = d.p,
                   });
}

/* Find the limits of p under which a change is significant. */
static osc_status find_limits(struct comparing *c)
{
    const size_t n = c->j->n;

    c->limit = c->call_limit = -1;
    if (!c->is_tested)
        return OSC_OK;
    double *const room = osc_calloc(n + 1, sizeof *room);
    c->of_calls = osc_calloc(n + 1, sizeof *c->of_calls);
    if (!room || !c->of_calls) {
        osc_free(room);
        return OSC_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        room[i] = osc_change_p(&c->j->pairs[i].samples[OSC_BASE][c->time],
                               &c->j->pairs[i].samples[OSC_NEW][c->time], true);
    c->limit = osc_welch_limit(room, n);
    for (size_t i = 0; i < n; i++)
        room[i] = c->of_calls[i] = call_p(&c->j->pairs[i], c->time);
    c->call_limit = osc_welch_limit(room, n);
    for (int s = 0; s < OSC_BOTH; s++) {
        size_t n_chosen = 0;

        for (size_t i = 0; i < n; i++) {
            if (c->of_calls[i] <= c->call_limit)
                room[n_chosen++] = c->j->pairs[i].step_logs[s][c->time].variance;
        }
        c->usual[s] = n_chosen > 0 ? osc_median_of(room, n_chosen) : 0;
    }
    osc_free(room);
    return OSC_OK;
}

/* The digests of both sides are those of steps and of work. */
static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    const struct osc_result *const steps[] = {base[0], new_[0]}, *const work[] = {base[1],
                                                                                  new_[1]};
    struct osc_joined_sides j;
    osc_status st = osc_join_sides(steps, work, &j);
    struct comparing c = {.j = &j,
                          .n_times = times_of(out->def),
                          .has_steps = osc_steps_are_known(j.steps),
                          .is_tested = osc_steps_suffice(j.steps),
                          .by_shape = osc_is_grouped(o, BY_SHAPE)};

    if (st == OSC_OK) {
        c.time = choose_time(&j, c.n_times);
        st = find_limits(&c);
    }
    if (st == OSC_OK) {
        const uint32_t at = TIMES + c.time * PER_TIME + (c.has_steps ? MEAN_BASE : BASE);

        for (size_t i = 0; i < j.n; i++)
            add_row(out, &c, i);
        if (c.by_shape)
            osc_result_show(out, SHAPE);
        for (uint32_t k = 0; k < PER_TIME / 2; k++)
            osc_result_show(out, at + k);
        if (j.n == 0)
            osc_result_why_empty(out, out->def == &osc_table_diff_kernels
                                          ? "no kernels in either run"
                                          : "no operators in either run");
        else
            osc_change_note_steps(out, j.steps);
        st = out->status;
    }
    osc_free(c.of_calls);
    osc_joined_sides_fini(&j);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const uint32_t operator_sides[] = {OSC_SIDE_STEPS, OSC_SIDE_OPERATORS, OSC_SIDES};
static const uint32_t kernel_sides[] = {OSC_SIDE_STEPS, OSC_SIDE_KERNELS, OSC_SIDES};
static bool is_alike(const struct osc_result *r, uint64_t row)
{
    if (osc_result_get_int(r, row, r->def->n_columns - BEHIND_TIMES + ORDER) != 0)
        return false;
    return osc_result_has(r, row, MEAN_BASE_CALLS)
               ? osc_result_get_num(r, row, MEAN_BASE_CALLS) ==
                     osc_result_get_num(r, row, MEAN_NEW_CALLS)
               : osc_result_get_int(r, row, DELTA_CALLS) == 0;
}

static const char *const groupings[] = {[BY_SHAPE] = "shape", NULL};

const struct osc_table_def osc_table_diff_operators = {
    .name = "diff_operators",
    .help =
        "What each operator takes more or less in a new run than in a base run. Sorted by "
        "the change of device_self_ns, or of host_self_ns where no operator launched device "
        "work, without its sign: per step if both runs have steps.",
    .source = "table operators of both runs, by step.",
    .rules = OSC_RULE_DIFF | OSC_RULE_OPERATORS,
    .columns = operator_columns,
    .n_columns = N_COLUMNS(OSC_WORK_TIMES),
    .sorted_by = AT(OSC_WORK_TIMES, ORDER) + 1,
    .groupings = groupings,
    OSC_COMPARES(.sides = operator_sides, .compare = compare, .is_alike = is_alike,
                 .has_patterns = true),
};

const struct osc_table_def osc_table_diff_kernels = {
    .name = "diff_kernels",
    .help =
        "What each kernel takes more or less in a new run than in a base run. Sorted by the "
        "change of total_ns without its sign: per step if both runs have steps.",
    .source = "table kernels of both runs, by step.",
    .rules = OSC_RULE_DIFF,
    .columns = kernel_columns,
    .n_columns = N_COLUMNS(1),
    .sorted_by = AT(1, ORDER) + 1,
    OSC_COMPARES(.sides = kernel_sides, .compare = compare, .is_alike = is_alike,
                 .has_patterns = true),
};
