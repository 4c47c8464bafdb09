/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `rank_wait`: how much of each rank's collectives moved data, and how much waited for others.
 */
#include "analysis/table_registry.h"

#include "analysis/ranks/calls.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "derive/facts.h"

enum { RANK, SPAN, STEP, TRANSFER, SYNCHRONIZING, N_SHOWN };

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Rank that the row is about."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window of the rank, if there are several."),
    OSC_COLUMN(STEP, "step", STRING, NULL, FIRST, 0, OSC_RULE_STEPS,
               "`all`: the mean of the kept steps that have collectives, without the fraction; "
               "else the label of one of these steps. Missing: collectives that do not lie "
               "within one kept step."),
    OSC_COLUMN(TRANSFER, "data_transfer_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which a collective moved data: of each range of a collective the "
               "length of the shortest counterpart on any rank, at its end; together, counted "
               "once where they overlap."),
    OSC_COLUMN(SYNCHRONIZING, "synchronizing_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which it waited for other ranks: length of all ranges of collectives "
               "together - data_transfer_ns."),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

static void add_row(struct osc_result *out, const struct osc_rank_file *f,
                    const struct osc_rank_moved *s)
{
    osc_result_row(out);
    osc_result_int(out, RANK, f->rank);
    osc_result_int(out, SPAN, f->span);
    osc_result_int(out, TRANSFER, s->real_ns);
    osc_result_int(out, SYNCHRONIZING, s->all_ns - s->real_ns);
}

/* Calls by step; those in no step come last. */
struct by_step {
    uint32_t *order; /* owned */
    size_t *first;   /* owned; by step; of the calls in no step at n_steps */
};

static osc_status sort_by_step(const struct osc_rank_file *f, struct by_step *b)
{
    const size_t n_steps = f->part.n_steps;

    b->order = osc_calloc(f->part.n_calls + 1, sizeof *b->order);
    b->first = osc_calloc(n_steps + 3, sizeof *b->first);
    if (!b->order || !b->first)
        return OSC_ENOMEM;
    for (size_t i = 0; i < f->part.n_calls; i++) {
        const uint32_t step = f->part.calls[i].step;

        b->first[(step && !f->is_beside ? step - 1 : n_steps) + 2]++;
    }
    for (size_t k = 1; k < n_steps + 3; k++)
        b->first[k] += b->first[k - 1];
    for (size_t i = 0; i < f->part.n_calls; i++) {
        const uint32_t step = f->part.calls[i].step;

        b->order[b->first[(step && !f->is_beside ? step - 1 : n_steps) + 1]++] = (uint32_t)i;
    }
    return OSC_OK;
}

/* Append the rows of the steps of F to OUT, and add them to ALL. */
static osc_status add_steps(const struct osc_rank_run *run, const struct osc_rank_file *f,
                            struct osc_result *out, struct osc_rank_moved *all, uint64_t *n_all)
{
    struct by_step b = {0};
    osc_status st = sort_by_step(f, &b);

    for (size_t k = 0; k <= f->part.n_steps && st == OSC_OK; k++) {
        const size_t n = b.first[k + 1] - b.first[k];
        struct osc_rank_moved s;

        if (n == 0)
            continue;
        st = osc_rank_measure(f, b.order + b.first[k], n, &s);
        if (st != OSC_OK)
            break;
        add_row(out, f, &s);
        if (k == f->part.n_steps)
            continue;
        osc_result_str(out, STEP, osc_rank_text(&run->words, f->part.steps[k].label));
        all->all_ns += s.all_ns;
        all->real_ns += s.real_ns;
        (*n_all)++;
    }
    osc_free(b.order);
    osc_free(b.first);
    return st;
}

/* Append the rows of the files [FIRST, END), one rank and span. */
static osc_status add_rank(const struct osc_rank_run *run, size_t first, size_t end,
                           struct osc_result *out)
{
    const uint64_t at = out->n_rows;
    struct osc_rank_moved all = {0};
    uint64_t n = 0;
    osc_status st = OSC_OK;

    add_row(out, &run->files[first], &all);
    osc_result_str(out, STEP, OSC_STR("all"));
    for (size_t f = first; f < end && st == OSC_OK; f++)
        st = add_steps(run, &run->files[f], out, &all, &n);
    if (st != OSC_OK || out->status != OSC_OK)
        return st;
    if (n == 0) {
        osc_result_set_missing(out, at, TRANSFER);
        osc_result_set_missing(out, at, SYNCHRONIZING);
        return st;
    }
    const int64_t real_ns = all.real_ns / (int64_t)n;
    osc_result_set_int(out, at, TRANSFER, real_ns);
    osc_result_set_int(out, at, SYNCHRONIZING, (all.all_ns - all.real_ns) / (int64_t)n);
    return st;
}

/* Whether any of the files [FIRST, END) has collectives. */
static bool has_calls(const struct osc_rank_run *run, size_t first, size_t end)
{
    for (size_t f = first; f < end; f++) {
        if (run->files[f].part.n_calls > 0)
            return true;
    }
    return false;
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    osc_status st = OSC_OK;

    (void)o;
    for (size_t first = 0, end; first < run->n_files && st == OSC_OK; first = end) {
        end = osc_rank_group_end(run, first);
        if (has_calls(run, first, end))
            st = add_rank(run, first, end, out);
    }
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {SPAN, "no collectives were recorded", fill};

    return osc_rank_finish(r, o, &table, err);
}

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_rank_wait = {
    .name = "rank_wait",
    .help = "How much of the collectives of each rank moved data, and how much waited.",
    .source = "collectives of all ranks, matched; the distributed view of torch-tb-profiler.",
    .rules = OSC_RULE_COLLECTIVES,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    .options = options,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map,
             .place = osc_rank_place, .finish = finish),
};
