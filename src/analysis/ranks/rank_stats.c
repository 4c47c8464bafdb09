/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `rank_stats`: how the average step and its parts differ between ranks.
 */
#include "analysis/table_registry.h"

#include <math.h>

#include "analysis/ranks/calls.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "derive/facts.h"

enum {
    STATISTIC,
    RANKS,
    AVG_STEP,
    KERNEL, /* followed by the other classes, in the order of enum osc_class */
    OTHER = KERNEL + OSC_COST_OTHER,
    N_SHOWN
};
enum { N_NUMBERS = N_SHOWN - AVG_STEP };

#define PART(column, name)                                               \
    OSC_COLUMN(column, name, NUMBER, "ns", FIRST, 0, OSC_RULE_BREAKDOWN, \
               "min, mean, max or std of the column `" name              \
               "` of table ranks: over the ranks that have steps, each " \
               "with the mean of all steps of its spans.")
#define COST(name, text) PART(KERNEL + OSC_CLASS_##name, "avg_" text "_ns"),

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(
        STATISTIC, "statistic", STRING, NULL, FIRST, 0, 0,
        "min, mean or max; std: the standard deviation, square root of the mean of (value - "
        "mean) * (value - mean)."),
    OSC_COLUMN(RANKS, "ranks", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Number of ranks that have steps, each once however many spans it has."),
    PART(AVG_STEP, "avg_step_ns"),
    OSC_CLASS_LIST(COST) PART(OTHER, "avg_other_ns"),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

struct sample {
    double v[N_NUMBERS];
};

/* The averages of all ranks with steps; returns their number. */
static size_t list(const struct osc_rank_run *run, struct sample *samples)
{
    size_t n = 0;

    for (size_t first = 0, end; first < run->n_files; first = end) {
        struct osc_rank_average average;

        for (end = first + 1; end < run->n_files; end++) /* of all its spans */
            if (run->files[end].rank != run->files[first].rank)
                break;
        osc_rank_average_of(run, first, end, &average);
        if (average.n_steps == 0)
            continue;
        samples[n].v[0] = average.step_ns;
        for (int k = 0; k < OSC_COST_COUNT; k++)
            samples[n].v[1 + k] = average.cost_ns[k];
        n++;
    }
    return n;
}

static void add_row(struct osc_result *out, const char *statistic, size_t n, const double *v)
{
    osc_result_row(out);
    osc_result_str(out, STATISTIC, osc_str_c(statistic));
    osc_result_int(out, RANKS, (int64_t)n);
    for (uint32_t k = 0; k < N_NUMBERS; k++)
        osc_result_num(out, AVG_STEP + k, v[k]);
}

/* Of number K of the N samples: the statistics, in order of the rows. */
static void measure(const struct sample *samples, size_t n, size_t k, double *of)
{
    double least = samples[0].v[k], most = samples[0].v[k];
    long double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        least = samples[i].v[k] < least ? samples[i].v[k] : least;
        most = samples[i].v[k] > most ? samples[i].v[k] : most;
        sum += (long double)samples[i].v[k];
    }
    const long double mean = sum / (long double)n;
    for (size_t i = 0; i < n; i++) {
        const long double far = (long double)samples[i].v[k] - mean;

        squares += far * far;
    }
    of[0] = least;
    of[1] = (double)mean;
    of[2] = most;
    of[3] = sqrt((double)(squares / (long double)n));
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    static const char *const statistics[] = {"min", "mean", "max", "std"};
    enum { N = sizeof statistics / sizeof *statistics };
    struct sample *const samples = osc_calloc(run->n_files + 1, sizeof *samples);
    double rows[N][N_NUMBERS];
    size_t n = 0;

    (void)o;
    if (!samples)
        return OSC_ENOMEM;
    n = list(run, samples);
    for (size_t k = 0; k < N_NUMBERS && n > 0; k++) {
        double of[N];

        measure(samples, n, k, of);
        for (size_t i = 0; i < N; i++)
            rows[i][k] = of[i];
    }
    for (size_t i = 0; i < N && n > 0; i++)
        add_row(out, statistics[i], n, rows[i]);
    osc_free(samples);
    return OSC_OK;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {STATISTIC, "no rank has kept steps", fill};

    return osc_rank_finish(r, o, &table, err);
}

static const struct osc_table_option *const options[] = {
    &osc_option_priority, &osc_option_step_length, &osc_option_all_steps, NULL};

const struct osc_table_def osc_table_rank_stats = {
    .name = "rank_stats",
    .help = "How the average step and its parts differ between ranks: least, mean, most and "
            "standard deviation.",
    .source = "steps of all ranks.",
    .rules = OSC_RULE_STEP_LENGTH,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    .options = options,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map,
             .place = osc_rank_place, .finish = finish),
};
