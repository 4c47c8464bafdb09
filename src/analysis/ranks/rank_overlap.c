/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `rank_overlap`: how much of each rank's communication runs while it computes.
 *
 * map() makes a row per kept step; finish() adds the mean of each rank in front of its steps.
 */
#include "analysis/table_registry.h"

#include "analysis/shared_options.h"
#include "analysis/step_rules.h"
#include "base/wide.h"
#include "derive/facts.h"

enum { RANK, SPAN, STEP, COMPUTATION, OVERLAPPING, COMMUNICATION, OTHER, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Rank that the row is about."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window of the rank, if there are several."),
    OSC_COLUMN(STEP, "step", STRING, NULL, FIRST, 0, OSC_RULE_STEPS,
               "`all`: the mean of the kept steps, that is their sum / their number, without "
               "the fraction; else the label of a kept step."),
    OSC_COLUMN(COMPUTATION, "computation_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which the rank computed and did not communicate: length of K in the "
               "step - overlapping_ns."),
    OSC_COLUMN(OVERLAPPING, "overlapping_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which it did both: length of K and C in the step."),
    OSC_COLUMN(COMMUNICATION, "communication_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which it communicated and did not compute: length of C in the step - "
               "overlapping_ns."),
    OSC_COLUMN(OTHER, "other_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_STEP_LENGTH,
               "Rest of the step: total_ns of `steps` - the three others."),
};

/* --- one trace -------------------------------------------------------------------------- */

/* Set OUT, which is empty, to the time in which an operator of the host ran that is no
 * collective. */
static osc_status find_operators(const struct osc_trace *t, struct osc_intervals *out)
{
    const struct osc_facts *const f = osc_trace_facts(t);

    for (uint32_t at = 0; at < f->order.n_rows; at++) {
        const osc_row row = {f->order.rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] == OSC_KIND_OPERATOR && osc_is_range(&f->classes, c, i) &&
            !osc_is_on_device(&f->classes, c, i) &&
            !(f->classes.names[c->name[i]] & OSC_NAME_COMM_HOST))
            osc_intervals_add(out, c->ts_ns[i], osc_row_end(c, i));
    }
    return osc_intervals_merge(out);
}

/* What is measured in each step. */
struct sets {
    const struct osc_intervals *computing, *communicating;
    struct osc_intervals operators, both; /* owned */
    struct osc_ruler rulers[3];           /* of computing, communicating, both */
};

static osc_status make_sets(const struct osc_trace *t, const struct osc_unions *u,
                            bool compat_tb, struct sets *s)
{
    osc_status st = OSC_OK;

    s->computing = &u->of[OSC_CLASS_KERNEL];
    s->communicating = &u->of[OSC_CLASS_COMMUNICATION];
    if (osc_intervals_length(s->computing) == 0) {
        if (!compat_tb)
            st = find_operators(t, &s->operators);
        s->computing = osc_intervals_length(&s->operators) > 0 ? &s->operators
                                                               : &u->of[OSC_CLASS_CPU_EXEC];
    }
    if (st == OSC_OK)
        st = osc_intervals_intersect(s->computing, s->communicating, &s->both);
    const struct osc_intervals *const of[3] = {s->computing, s->communicating, &s->both};
    for (int k = 0; k < 3 && st == OSC_OK; k++)
        st = osc_ruler_init(&s->rulers[k], of[k]);
    return st;
}

static void free_sets(struct sets *s)
{
    for (int k = 0; k < 3; k++)
        osc_ruler_fini(&s->rulers[k]);
    osc_intervals_fini(&s->operators);
    osc_intervals_fini(&s->both);
}

static void add_row(struct osc_result *out, struct osc_str label, const int64_t *ns)
{
    osc_result_row(out);
    osc_result_str(out, STEP, label);
    for (uint32_t k = COMPUTATION; k <= OTHER; k++)
        osc_result_int(out, k, ns[k]);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_unions compat = {0};
    const struct osc_step_rules rules = osc_step_rules_of(o);
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b;
    struct sets s = {0};
    const struct osc_facts *const f = osc_trace_facts(t);
    osc_status st = osc_breakdown_get(t, &rules, o->n_threads, &own, &b);

    if (st == OSC_OK && osc_is_compat_tb(o))
        st = osc_unions_make(t, &f->classes, &f->order, true, o->n_threads, &compat);
    if (st == OSC_OK)
        st = make_sets(t, osc_is_compat_tb(o) ? &compat : &f->unions, osc_is_compat_tb(o), &s);
    for (uint32_t i = 0; st == OSC_OK && i < b->n_steps; i++) {
        const struct osc_step_cost *const step = &b->steps[i];
        const struct osc_step *const of = b->is_whole ? &b->whole : &t->steps[i];
        int64_t ns[N_COLUMNS], length[3];

        if (!step->is_kept)
            continue;
        for (int k = 0; k < 3; k++)
            length[k] = osc_ruler_length(&s.rulers[k], step->start_ns, step->end_ns);
        ns[OVERLAPPING] = length[2];
        ns[COMPUTATION] = length[0] - length[2];
        ns[COMMUNICATION] = length[1] - length[2];
        ns[OTHER] = step->end_ns - step->start_ns - length[0] - ns[COMMUNICATION];
        add_row(out, of->row.v ? osc_trace_str(t, of->label) : OSC_STR("0"), ns);
    }
    if (st == OSC_OK && b->n_steps > 0 && b->n_kept == 0)
        osc_result_why_empty(out, osc_breakdown_why_none(true));
    free_sets(&s);
    osc_unions_fini(&compat);
    osc_breakdown_fini(&own);
    return st == OSC_OK ? out->status
                        : osc_fail(err, st, "rank_overlap: %s", osc_status_text(st));
}

/* Steps are those of the files that have steps. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    if (to->is_beside_steps)
        osc_result_empty(part);
    for (uint64_t i = 0; i < part->n_rows; i++) {
        osc_result_set_int(part, i, RANK, to->rank);
        osc_result_set_int(part, i, SPAN, to->span);
    }
    return part->status;
}

/* --- all of them ------------------------------------------------------------------------ */

/* Whether rows I and K of R have the same rank and span. */
static bool is_same_rank(const struct osc_result *r, uint64_t i, uint64_t k)
{
    return osc_result_get_int(r, i, RANK) == osc_result_get_int(r, k, RANK) &&
           osc_result_get_int(r, i, SPAN) == osc_result_get_int(r, k, SPAN);
}

static void put_place(struct osc_result *out, const struct osc_result *r, uint64_t i)
{
    osc_result_int(out, RANK, osc_result_get_int(r, i, RANK));
    osc_result_int(out, SPAN, osc_result_get_int(r, i, SPAN));
    if (osc_result_get_int(r, i, SPAN) != osc_result_get_int(r, 0, SPAN))
        osc_result_show(out, SPAN);
}

/* Append the rows [FIRST, END) of R, one rank and span, to OUT behind their mean. Returns
 * whether the rank communicated. */
static bool add_rank(struct osc_result *out, const struct osc_result *r, uint64_t first,
                     uint64_t end)
{
    osc_wide sums[N_COLUMNS] = {0};
    int64_t ns[N_COLUMNS];

    for (uint32_t k = COMPUTATION; k <= OTHER; k++) {
        for (uint64_t i = first; i < end; i++)
            sums[k] += osc_result_get_int(r, i, k);
        ns[k] = osc_wide_nearest(sums[k] / (osc_wide)(end - first));
    }
    add_row(out, OSC_STR("all"), ns);
    put_place(out, r, first);
    for (uint64_t i = first; i < end; i++) {
        for (uint32_t k = COMPUTATION; k <= OTHER; k++)
            ns[k] = osc_result_get_int(r, i, k);
        add_row(out, osc_result_get_str(r, i, STEP), ns);
        put_place(out, r, i);
    }
    return sums[OVERLAPPING] + sums[COMMUNICATION] > 0;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    struct osc_result out;
    bool any = false;

    (void)o;
    osc_result_init(&out, r->def);
    for (uint64_t first = 0, end; first < r->n_rows; first = end) {
        for (end = first + 1; end < r->n_rows && is_same_rank(r, first, end);)
            end++;
        any = add_rank(&out, r, first, end) || any;
    }
    if (r->n_rows == 0)
        osc_result_why_empty(&out, osc_breakdown_why_none(r->says_why_empty));
    else if (!any)
        osc_result_note(&out, "no communication in any step");
    const osc_status st = out.status;
    osc_result_fini(r);
    osc_result_move(r, &out);
    return st == OSC_OK ? st : osc_fail(err, st, "rank_overlap: %s", osc_status_text(st));
}

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_rank_overlap = {
    .name = "rank_overlap",
    .help = "How much of the communication of each rank runs while it computes.",
    .source = "steps and what runs in them; the distributed view of torch-tb-profiler.",
    .rules = OSC_RULE_OVERLAP,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_STEPS | OSC_FACT_UNIONS, .joins_ranks = true, .map = map,
             .place = place, .finish = finish),
};
