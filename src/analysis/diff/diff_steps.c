/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `diff_steps`: what the average step spends more or less in a new run than in a base run.
 */
#include "analysis/table_registry.h"

#include <math.h>

#include "analysis/diff/change.h"
#include "analysis/diff/cut_steps.h"
#include "base/mem.h"
#include "derive/breakdown.h"
#include "prose/phrase.h"

enum {
    NAME,
    BASE_CALLS,
    NEW_CALLS,
    DELTA_CALLS,
    BASE,
    NEW,
    DELTA,
    MEAN_BASE,
    MEAN_NEW,
    MEAN_DELTA,
    RATIO,
    SIGNIFICANT,
    P_VALUE,
    ORDER,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_BREAKDOWN | OSC_RULE_COMMUNICATION,
               "total is the whole step. kernel, memcpy, memset, communication, runtime, "
               "dataloader, cpu_exec and other are its parts."),
    OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_DIFF,
               "Number of kept steps of all processes of the base run."),
    OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_DIFF,
               "The same of the new run."),
    OSC_COLUMN(DELTA_CALLS, "delta_calls", INTEGER, NULL, FIRST, OSC_COLUMN_DEEP, 0,
               "new_calls - base_calls."),
    OSC_COLUMN(BASE, "base_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_BREAKDOWN | OSC_RULE_STEP_LENGTH,
               "Sum over the kept steps of all processes of the base run."),
    OSC_COLUMN(NEW, "new_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_BREAKDOWN | OSC_RULE_STEP_LENGTH, "The same of the new run."),
    OSC_COLUMN(DELTA, "delta_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "new_ns - base_ns."),
    OSC_COLUMN(MEAN_BASE, "mean_base_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,
               "Mean over the steps of the base run. Missing unless both runs have steps."),
    OSC_COLUMN(MEAN_NEW, "mean_new_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,
               "Mean over the steps of the new run."),
    OSC_COLUMN(MEAN_DELTA, "mean_delta_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,
               "mean_new_ns - mean_base_ns."),
    OSC_COLUMN(RATIO, "delta_ratio", NUMBER, "ratio", FIRST, 0, OSC_RULE_DIFF,
               "mean_delta_ns / mean_base_ns, or delta_ns / base_ns without steps. Missing if "
               "that is 0 in the base run."),
    OSC_COLUMN(SIGNIFICANT, "significant", BOOLEAN, NULL, FIRST, 0, OSC_RULE_DIFF,
               "Whether the change is larger than what steps differ by among themselves. "
               "Missing with fewer than 3 steps in either run."),
    OSC_COLUMN(P_VALUE, "p_value", NUMBER, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF,
               "Probability of such a difference between equal runs, by Welch's t-test over "
               "steps."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "The change without its sign; total comes first."),
};

static const char *const names[] = {
    "total",
#define CLASS_NAME(name, text) text,
    OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
        "other",
};

#define N_ROWS (OSC_COST_COUNT + 1u)

static const struct osc_change_columns at = {
    .name = NAME,
    .base_calls = BASE_CALLS,
    .new_calls = NEW_CALLS,
    .delta_calls = DELTA_CALLS,
    .base_ns = BASE,
    .new_ns = NEW,
    .delta_ns = DELTA,
    .mean_base_ns = MEAN_BASE,
    .mean_new_ns = MEAN_NEW,
    .mean_delta_ns = MEAN_DELTA,
    .mean_base_calls = UINT32_MAX,
    .mean_new_calls = UINT32_MAX,
    .delta_ratio = RATIO,
    .significant = SIGNIFICANT,
    .p_value = P_VALUE,
    .order = ORDER,
};

const struct osc_change_columns *osc_diff_steps_columns(void)
{
    return &at;
}

/* One side: its steps, and a sum and a sample for each row. */
struct side {
    struct osc_run_steps steps[1];
    int64_t calls, ranges_ns, sums_ns[N_ROWS];
    struct osc_sample samples[N_ROWS];
    double shortest, longest; /* of the steps of samples[0] */
};

static osc_status read_side(const struct osc_result *r, struct side *s)
{
    osc_status st = osc_run_steps_make(r, s->steps);
    double *const v = osc_calloc(s->steps->n_all + 1, sizeof *v);

    if (st == OSC_OK && !v)
        st = OSC_ENOMEM;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_has(r, i, OSC_STEPS_STEP))
            s->calls += osc_result_get_int(r, i, OSC_STEPS_PARTS);
        s->ranges_ns += osc_result_get_int(r, i, OSC_STEPS_RANGE);
        for (uint32_t k = 0; k < N_ROWS; k++)
            s->sums_ns[k] += osc_result_get_int(r, i, OSC_STEPS_TOTAL + k);
    }
    for (uint32_t k = 0; k < N_ROWS && st == OSC_OK; k++) {
        size_t n = 0;

        for (size_t i = 0; i < s->steps->n_all; i++) {
            const struct osc_run_step *const step = &s->steps->all[i];

            if (!step->is_left_out)
                v[n++] = (double)osc_result_get_int(r, step->row, OSC_STEPS_TOTAL + k) /
                         (double)step->parts;
        }
        s->samples[k] = osc_sample_of(v, n, s->steps->n);
        for (size_t i = 0; i < n && k == 0; i++) {
            s->shortest = i == 0 ? v[i] : fmin(s->shortest, v[i]);
            s->longest = fmax(s->longest, v[i]);
        }
    }
    osc_free(v);
    return st;
}

/* The probability that each step of one side is longer than all of the other by chance; 1: it
 * is not so. One step that is very long does not hide it. */
static double apart_p(const struct side *s)
{
    const struct side *const base = &s[OSC_BASE], *const new_ = &s[OSC_NEW];

    return base->longest < new_->shortest || new_->longest < base->shortest
               ? osc_parted_p(base->samples[0].n, new_->samples[0].n)
               : 1;
}

static struct osc_decision decide(const struct side *s, uint32_t k, double limit,
                                  const struct osc_run_steps *both)
{
    const struct osc_sample *const base = &s[OSC_BASE].samples[k];
    const struct osc_sample *const new_ = &s[OSC_NEW].samples[k];
    const bool is_tested = osc_steps_suffice(both);
    const double p = osc_change_p(base, new_, is_tested);

    if (p <= limit && osc_sample_differs(base, new_))
        return (struct osc_decision){true, p};
    const double of_order = is_tested && k == 0 ? apart_p(s) : 1;
    return of_order <= OSC_WELCH_LEVEL ? (struct osc_decision){true, of_order}
                                       : (struct osc_decision){false, p};
}

static void add_row(struct osc_result *out, const struct side *s, uint32_t k, double limit,
                    const struct osc_run_steps *both)
{
    const struct osc_sample *const base = &s[OSC_BASE].samples[k];
    const struct osc_sample *const new_ = &s[OSC_NEW].samples[k];
    const bool has_steps = osc_steps_are_known(both);
    const struct osc_decision d = decide(s, k, limit, both);

    osc_result_row(out);
    osc_result_str(out, NAME, osc_str_c(names[k]));
    osc_result_int(out, BASE_CALLS, s[OSC_BASE].calls);
    osc_result_int(out, NEW_CALLS, s[OSC_NEW].calls);
    osc_result_int(out, DELTA_CALLS, s[OSC_NEW].calls - s[OSC_BASE].calls);
    osc_result_int(out, BASE, s[OSC_BASE].sums_ns[k]);
    osc_result_int(out, NEW, s[OSC_NEW].sums_ns[k]);
    osc_result_int(out, DELTA, s[OSC_NEW].sums_ns[k] - s[OSC_BASE].sums_ns[k]);
    if (has_steps) {
        osc_result_num(out, MEAN_BASE, base->mean);
        osc_result_num(out, MEAN_NEW, new_->mean);
        osc_result_num(out, MEAN_DELTA, new_->mean - base->mean);
    }
    osc_change_set(out, &at,
                   &(struct osc_changed){
                       .base_ns = s[OSC_BASE].sums_ns[k],
                       .new_ns = s[OSC_NEW].sums_ns[k],
                       .base = *base,
                       .new_ = *new_,
                       .has_steps = has_steps,
                       .is_tested = osc_steps_suffice(both),
                       .is_significant = d.is_significant,
                       .p = d.p,
                   });
    if (k == 0)
        osc_result_int(out, ORDER, INT64_MAX);
}

#define FACT_LIST(X)                                                                       \
    OSC_CUT_STEPS_LIST(X)                                                                  \
    X(are_cut, PHRASE, "steps cannot be compared: {cut}")                                  \
    X(has_steps, FLAG, 0)                                                                  \
    X(base_ns, NS, 0)                                                                      \
    X(new_ns, NS, 0)                                                                       \
    X(growth, GROWTH, 0)                                                                   \
    X(is_tested, FLAG, 0)                                                                  \
    X(is_significant, FLAG, 0)                                                             \
    X(sentence, PHRASE,                                                                    \
      "{has_steps?a step|the run} takes {new_ns} instead of {base_ns}{growth? ({growth})}" \
      "{is_tested?{is_significant?, beyond noise|, within noise}}")
OSC_PROSE(osc_diff_steps_prose, FACT_LIST);

/* Note in one sentence what the whole step, or all of the run, took in both runs. */
static void note_whole(struct osc_result *out, const struct side *s, double limit,
                       const struct osc_run_steps *both)
{
    const struct osc_sample *const base = &s[OSC_BASE].samples[0];
    const struct osc_sample *const new_ = &s[OSC_NEW].samples[0];
    const bool has_steps = osc_steps_are_known(both), is_tested = osc_steps_suffice(both);
    const double base_ns = has_steps ? base->mean : (double)s[OSC_BASE].sums_ns[0];
    const double new_ns = has_steps ? new_->mean : (double)s[OSC_NEW].sums_ns[0];
    struct osc_prose_facts facts = {.prose = &osc_diff_steps_prose};

    osc_prose_flag(&facts, FACT_has_steps, has_steps);
    osc_prose_number(&facts, FACT_base_ns, (int64_t)(base_ns + 0.5));
    osc_prose_number(&facts, FACT_new_ns, (int64_t)(new_ns + 0.5));
    osc_prose_growth(&facts, FACT_growth, base_ns, new_ns);
    osc_prose_flag(&facts, FACT_is_tested, is_tested);
    osc_prose_flag(&facts, FACT_is_significant,
                   is_tested && decide(s, 0, limit, both).is_significant);
    osc_prose_say(&out->notes, &facts, FACT_sentence);
    osc_result_end_note(out);
}

/* Whether row K says anything. */
static bool is_row(const struct side *s, uint32_t k)
{
    return k == 0 || s[OSC_BASE].sums_ns[k] != 0 || s[OSC_NEW].sums_ns[k] != 0;
}

/* What was measured of the steps of S. */
static struct osc_cut_steps cut_of(const struct side *s)
{
    return (struct osc_cut_steps){.measured_ns = s->sums_ns[0], .ranges_ns = s->ranges_ns};
}

static bool is_cut(const struct side *s)
{
    const struct osc_cut_steps c = cut_of(s);

    return osc_cut_steps_is(&c);
}

/* Say which of the sides has steps that tell nothing. */
static void note_cut(struct osc_result *out, const struct side *s)
{
    const int of = is_cut(&s[OSC_NEW]) ? OSC_NEW : OSC_BASE;
    const struct osc_cut_steps c = cut_of(&s[of]);
    struct osc_prose_facts facts = {.prose = &osc_diff_steps_prose};
    struct osc_strbuf text = {0};

    osc_cut_steps_set(&facts, FACT_ranges, FACT_measured, &c);
    osc_prose_text(&facts, FACT_side, osc_str_c(of == OSC_NEW ? "new" : "base"));
    osc_prose_say(&text, &facts, FACT_are_cut);
    if (text.status == OSC_OK)
        osc_result_why_empty(out, text.s);
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}

/* Say that the run called WHICH, and no other, has no time that could be compared. */
static void note_none(struct osc_result *out, const char *which)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text,
                    "the times of the runs cannot be compared: %s has no kept steps, and no "
                    "operators or device work that could count as one",
                    which);
    if (text.status == OSC_OK)
        osc_result_why_empty(out, text.s);
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}

/* Add the rows and notes of both sides S, which have steps that can be compared. */
static void compare_sides(struct osc_result *out, const struct side *s)
{
    const struct osc_run_steps both[] = {*s[OSC_BASE].steps, *s[OSC_NEW].steps};
    const bool has_steps = osc_steps_are_known(both);
    double p[N_ROWS];
    size_t n = 0;

    for (uint32_t k = 0; k < N_ROWS; k++) {
        if (is_row(s, k))
            p[n++] = osc_change_p(&s[OSC_BASE].samples[k], &s[OSC_NEW].samples[k],
                                  osc_steps_suffice(both));
    }
    const double limit = osc_steps_suffice(both) ? osc_welch_limit(p, n) : -1;
    for (uint32_t k = 0; k < N_ROWS; k++) {
        if (is_row(s, k))
            add_row(out, s, k, limit, both);
    }
    for (uint32_t c = 0; c < 3; c++)
        osc_result_show(out, (has_steps ? MEAN_BASE : BASE) + c);
    note_whole(out, s, limit, both);
    osc_change_note_steps(out, both);
}

static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct side s[OSC_BOTH] = {0};
    osc_status st = read_side(base[0], &s[OSC_BASE]);

    (void)o;
    if (st == OSC_OK)
        st = read_side(new_[0], &s[OSC_NEW]);
    if (st == OSC_OK && base[0]->n_rows + new_[0]->n_rows == 0) {
        osc_result_why_empty(out,
                             "no kept steps in either run, and no operators or device work "
                             "that could count as one");
    } else if (st == OSC_OK && (base[0]->n_rows == 0 || new_[0]->n_rows == 0)) {
        note_none(out, new_[0]->n_rows == 0 ? "new" : "base");
        st = out->status;
    } else if (st == OSC_OK && (is_cut(&s[OSC_BASE]) || is_cut(&s[OSC_NEW]))) {
        note_cut(out, s);
        st = out->status;
    } else if (st == OSC_OK) {
        compare_sides(out, s);
        st = out->status;
    }
    for (int i = 0; i < OSC_BOTH; i++)
        osc_run_steps_fini(s[i].steps);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const uint32_t sides[] = {OSC_SIDE_STEPS, OSC_SIDES};
static bool is_alike(const struct osc_result *r, uint64_t row)
{
    return osc_result_get_int(r, row, ORDER) == 0;
}

const struct osc_table_def osc_table_diff_steps = {
    .name = "diff_steps",
    .help = "What the average step spends more or less in a new run than in a base run. The "
            "whole step comes first, then its parts by their change without its sign; parts "
            "that neither run has are left out.",
    .source = "table steps of both runs.",
    .rules = OSC_RULE_DIFF,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    OSC_COMPARES(.sides = sides, .compare = compare, .is_alike = is_alike),
};
