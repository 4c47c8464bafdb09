/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `step_explain`: what each step spent more or less than the median of the kept steps, on the
 * categories of its time, on operators, and on the work of devices.
 */
#include "analysis/table_registry.h"

#include "analysis/step_sums.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/breakdown.h"
#include "derive/facts.h"

enum {
    STEP,
    KIND,
    NAME,
    NS,
    MEDIAN,
    DELTA,
    CALLS,
    MEDIAN_CALLS,
    MEDIAN_TWICE,
    MEDIAN_CALLS_TWICE,
    ORDER,
    OF_PROCESS,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(STEP, "step", INTEGER, NULL, KEY, 0, OSC_RULE_STEPS,
               "Number of the step in order of start, from 0, as in steps."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, KEY, 0, 0,
               "category: the whole step, or a part of its time (see overview); operator: an "
               "operator, or another range of the host; kernel, memcpy or memset: work of a "
               "device."),
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL, OSC_RULE_NAMES,
               "Its name; of all of them that were in the step or are in the median one."),
    OSC_COLUMN(NS, "ns", INTEGER, "ns", SUM, 0,
               OSC_RULE_STEP_LENGTH | OSC_RULE_BREAKDOWN | OSC_RULE_FOREST | OSC_RULE_LINKS,
               "Its time in the step. Of an operator the durations of its calls that start in "
               "the step - those of operators inside them; of other ranges, on the thread of "
               "the step, the self time; of device work the durations of what the step "
               "launched."),
    OSC_COLUMN(MEDIAN, "median_ns", NUMBER, "ns", FINISH, 0, OSC_RULE_OUTLIERS,
               "Median of ns over the kept steps; steps without it count as 0. With --merge "
               "the sum of the medians of all ranks and spans that have the row."),
    OSC_COLUMN(DELTA, "mean_delta_ns", NUMBER, "ns", FINISH, 0, OSC_RULE_OUTLIERS,
               "ns - median_ns. Rows are sorted by its absolute value."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, OSC_COLUMN_MINOR, 0,
               "How often it ran in the step; missing for categories."),
    OSC_COLUMN(MEDIAN_CALLS, "median_calls", NUMBER, NULL, FINISH, OSC_COLUMN_MINOR, 0,
               "Median of calls over the kept steps, like median_ns."),
    OSC_COLUMN(MEDIAN_TWICE, "median_twice_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Twice median_ns."),
    OSC_COLUMN(MEDIAN_CALLS_TWICE, "median_calls_twice", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN,
               0, "Twice median_calls."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FINISH, OSC_COLUMN_HIDDEN, 0,
               "Twice the absolute value of mean_delta_ns."),
    OSC_COLUMN(OF_PROCESS, "of_process", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "Process that announced the step, if other files of its rank and span have "
               "steps, too."),
};

static const char *const class_names[OSC_COST_COUNT] = {
#define CLASS_NAME(name, text) text,
    OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
        "other",
};

/* What makes the rows of a trace. */
struct explain {
    const struct osc_trace *t;
    const struct osc_breakdown *b;
    int64_t *v; /* owned; one value for each step */
    struct osc_result *out;
};

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* Twice the median of V[0, N) with N_ZEROS zeroes added; sorts V. 0: there is none. */
static int64_t median_twice(int64_t *v, size_t n, size_t n_zeros)
{
    const size_t all = n + n_zeros;
    int64_t middle[2] = {0};
    size_t n_negative = 0;

    if (all == 0)
        return 0;
    osc_sort(v, n, sizeof *v, by_value);
    while (n_negative < n && v[n_negative] < 0)
        n_negative++;
    for (int i = 0; i < 2; i++) {
        const size_t k = i == 0 ? (all - 1) / 2 : all / 2;

        if (k < n_negative)
            middle[i] = v[k];
        else if (k >= n_negative + n_zeros)
            middle[i] = v[k - n_zeros];
    }
    return middle[0] + middle[1];
}

static void add_row(const struct explain *e, uint32_t step, const char *kind,
                    struct osc_str name, int64_t ns, int64_t twice_ns)
{
    const struct osc_step *const s = e->b->is_whole ? &e->b->whole : &e->t->steps[step];

    osc_result_row(e->out);
    osc_result_int(e->out, STEP, s->ordinal);
    osc_result_str(e->out, KIND, osc_str_c(kind));
    osc_result_str(e->out, NAME, name);
    osc_result_int(e->out, NS, ns);
    osc_result_int(e->out, MEDIAN_TWICE, twice_ns);
    if (s->row.v != 0)
        osc_result_str(e->out, OF_PROCESS, osc_trace_str(e->t, e->t->tracks[s->track.v].pid));
}

/* The time of category K of a step; OSC_COST_COUNT: all of it. */
static int64_t cost_of(const struct osc_step_cost *s, uint32_t k)
{
    return k == OSC_COST_COUNT ? s->end_ns - s->start_ns : s->cost_ns[k];
}

static void add_category(const struct explain *e, uint32_t k)
{
    size_t n = 0;

    for (uint32_t i = 0; i < e->b->n_steps; i++) {
        if (e->b->steps[i].is_kept)
            e->v[n++] = cost_of(&e->b->steps[i], k);
    }
    const int64_t twice_ns = median_twice(e->v, n, 0);
    for (uint32_t i = 0; i < e->b->n_steps; i++)
        add_row(e, i, "category", osc_str_c(k == OSC_COST_COUNT ? "step" : class_names[k]),
                cost_of(&e->b->steps[i], k), twice_ns);
}

/* By the first row of the name, which is in FIRST_ROW of all its sums; then by step. */
static int by_name(const void *x, const void *y)
{
    const struct osc_step_sum *const a = x, *const b = y;

    if (a->first_row != b->first_row)
        return a->first_row < b->first_row ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Sort the sums with names by name and step. Each row has one name. */
static osc_status sort_sums(struct osc_step_sums *s)
{
    const size_t n_names = osc_strings_bound(&s->t->strings) + (size_t)1;
    const size_t bytes = n_names * sizeof(uint32_t);
    uint32_t *const first = osc_pages_alloc(bytes); /* by name: its first row + 1 */

    if (!first)
        return OSC_ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t *const at = &first[s->all[i].name];

        if (*at == 0 || s->all[i].first_row < *at - 1)
            *at = s->all[i].first_row + 1;
    }
    for (size_t i = 0; i < s->n; i++)
        s->all[i].first_row = first[s->all[i].name] - 1;
    osc_pages_free(first, bytes);
    osc_sort(s->all, s->n, sizeof *s->all, by_name);
    return OSC_OK;
}

/* Twice the medians over the kept steps of one name, which has the N sums SUMS. */
struct medians {
    int64_t ns, calls;
};

static struct medians medians_of(const struct explain *e, const struct osc_step_sum *sums,
                                 size_t n)
{
    struct medians m = {0};

    for (int what = 0; what < 2; what++) {
        size_t n_kept = 0;

        for (size_t i = 0; i < n; i++) {
            if (e->b->steps[sums[i].step - 1].is_kept)
                e->v[n_kept++] =
                    what == 0 ? sums[i].ns[OSC_STEP_HOST] : sums[i].n_calls[OSC_STEP_HOST];
        }
        *(what == 0 ? &m.ns : &m.calls) = median_twice(e->v, n_kept, e->b->n_kept - n_kept);
    }
    return m;
}

static void add_named(const struct explain *e, uint32_t step, const char *kind,
                      const struct osc_step_sum *sum, struct medians m)
{
    const bool is_here = sum->step == step + 1;

    add_row(e, step, kind, osc_trace_str(e->t, (osc_sid){sum->name}),
            is_here ? sum->ns[OSC_STEP_HOST] : 0, m.ns);
    osc_result_int(e->out, CALLS, is_here ? sum->n_calls[OSC_STEP_HOST] : 0);
    osc_result_int(e->out, MEDIAN_CALLS_TWICE, m.calls);
}

/* Add the rows of one name, which has the N sums SUMS, one for each step that has it: of these
 * steps, and of all others if the median one has it. */
static void add_name(const struct explain *e, const char *kind, const struct osc_step_sum *sums,
                     size_t n)
{
    const struct medians m = medians_of(e, sums, n);
    size_t at = 0;

    if (m.ns == 0 && m.calls == 0) {
        for (size_t i = 0; i < n; i++)
            add_named(e, sums[i].step - 1, kind, &sums[i], m);
        return;
    }
    for (uint32_t i = 0; i < e->b->n_steps; i++) {
        add_named(e, i, kind, &sums[at], m);
        at += sums[at].step == i + 1 && at + 1 < n;
    }
}

static osc_status add_names(const struct explain *e, const char *kind, struct osc_step_sums *s)
{
    const osc_status st = sort_sums(s);

    for (size_t i = 0, n; i < s->n && st == OSC_OK; i += n) {
        for (n = 1; i + n < s->n && s->all[i + n].name == s->all[i].name; n++)
            ;
        if (s->all[i].name != 0)
            add_name(e, kind, &s->all[i], n);
    }
    return st;
}

static osc_status add_operators(const struct explain *e)
{
    struct osc_step_sums s = {.t = e->t, .f = osc_trace_facts(e->t)};
    osc_status st = osc_step_sums_host(&s);

    if (st == OSC_OK)
        st = add_names(e, "operator", &s);
    osc_step_sums_fini(&s);
    return st;
}

static osc_status add_works(const struct explain *e, enum osc_kind kind)
{
    struct osc_step_sums s = {.t = e->t, .f = osc_trace_facts(e->t)};
    osc_status st = OSC_OK;

    for (size_t n = 0; n < s.f->links.n_works && st == OSC_OK; n++) {
        const osc_row row = {s.f->links.works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&e->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] == kind && c->step[i] != 0)
            st = osc_step_sums_add(&s, c, i, OSC_STEP_HOST, c->dur_ns[i]);
    }
    if (st == OSC_OK)
        st = add_names(e, osc_kind_text(kind), &s);
    osc_step_sums_fini(&s);
    return st;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    static const enum osc_kind works[] = {OSC_KIND_KERNEL, OSC_KIND_MEMCPY, OSC_KIND_MEMSET};
    struct osc_breakdown own = {0};
    struct explain e = {.t = t, .out = out};
    osc_status st = osc_breakdown_get(t, &(struct osc_step_rules){0}, o->n_threads, &own, &e.b);

    if (st == OSC_OK) {
        e.v = osc_malloc(((size_t)e.b->n_steps + 1) * sizeof *e.v);
        st = e.v ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK && e.b->n_kept == 0)
        osc_result_why_empty(out, osc_breakdown_why_none(e.b->n_steps > 0));
    if (st == OSC_OK && e.b->n_kept > 0) {
        add_category(&e, OSC_COST_COUNT);
        for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
            add_category(&e, k);
        st = add_operators(&e);
        for (size_t k = 0; k < sizeof works / sizeof *works && st == OSC_OK; k++)
            st = add_works(&e, works[k]);
    }
    if (st == OSC_OK && e.b->n_kept == 1)
        osc_result_note(out, "one step is kept: it is the median");
    osc_free(e.v);
    osc_breakdown_fini(&own);
    if (st == OSC_OK)
        st = out->status;
    return st == OSC_OK ? st : osc_fail(err, st, "step_explain: %s", osc_status_text(st));
}

/* Steps are those of the files that have steps. Those of several processes stay apart. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    if (to->is_beside_steps)
        osc_result_empty(part);
    for (uint64_t i = 0; i < part->n_rows && !to->shares_steps; i++)
        osc_result_set_missing(part, i, OF_PROCESS);
    return part->status;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t twice_ns = osc_result_get_int(r, i, MEDIAN_TWICE);
        const int64_t delta_ns = 2 * osc_result_get_int(r, i, NS) - twice_ns;

        osc_result_set_num(r, i, MEDIAN, (double)twice_ns / 2);
        osc_result_set_num(r, i, DELTA, (double)delta_ns / 2);
        osc_result_set_int(r, i, ORDER, delta_ns < 0 ? -delta_ns : delta_ns);
        if (osc_result_has(r, i, CALLS))
            osc_result_set_num(r, i, MEDIAN_CALLS,
                               (double)osc_result_get_int(r, i, MEDIAN_CALLS_TWICE) / 2);
    }
    return r->status;
}

/* Only device work has names of C++ functions. */
static bool is_symbol(const struct osc_result *r, uint64_t row)
{
    return osc_kind_is_device_work(osc_kind_of_text(osc_result_get_str(r, row, KIND)));
}

const struct osc_table_def osc_table_step_explain = {
    .name = "step_explain",
    .help = "What each step spent more or less than the median step.",
    .source = "steps, and the ranges and the device work in them.",
    .rules = OSC_RULE_STEPS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    OSC_MAPS(.facts = OSC_FACT_FOREST | OSC_FACT_STEPS | OSC_FACT_UNIONS | OSC_FACT_LINKS,
             .map = map, .place = place, .finish = finish),
    .is_symbol = is_symbol,
};
