/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `collectives`: collectives by rank and name.
 */
#include "analysis/table_registry.h"

#include "analysis/ranks/calls.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "derive/facts.h"

enum {
    RANK,
    SPAN,
    NAME,
    CALLS,
    TOTAL_BYTES,
    LATENCY,
    TRANSFER,
    MEAN_BYTES,
    MEAN_LATENCY,
    MEAN_TRANSFER,
    N_SHOWN
};

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Rank that the row is about."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window of the rank, if there are several."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, 0,
               "Name of the collective."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, FIRST, 0, 0,
               "Number of collectives of the name."),
    OSC_COLUMN(TOTAL_BYTES, "total_bytes", INTEGER, "bytes", FIRST, 0, 0,
               "Sum of what this rank put in: elements of all inputs * size of an element. "
               "Missing if it is not known of each call; with --compat tb such calls count as "
               "0 bytes."),
    OSC_COLUMN(LATENCY, "total_latency_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which a collective of the name ran on this rank, counted once where "
               "they overlap."),
    OSC_COLUMN(TRANSFER, "data_transfer_ns", INTEGER, "ns", FIRST, 0, 0,
               "The part of it in which data moved: of each range of a collective the length "
               "of the shortest counterpart on any rank, at its end."),
    OSC_COLUMN(MEAN_BYTES, "mean_bytes", NUMBER, "bytes", FIRST, OSC_COLUMN_DEEP, 0,
               "total_bytes / calls."),
    OSC_COLUMN(MEAN_LATENCY, "mean_latency_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "total_latency_ns / calls."),
    OSC_COLUMN(MEAN_TRANSFER, "mean_data_transfer_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "data_transfer_ns / calls."),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

/* A call of a rank; calls of one name together, names in order of their first call. */
struct entry {
    uint32_t name, file, call;
    uint32_t first; /* place of the first call of the name */
};

static int by_name(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int by_first(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return by_name(a, b);
}

/* Append the row of the calls V[0, N), all of one name. */
static osc_status add_row(const struct osc_rank_run *run, const struct entry *v, size_t n,
                          bool compat_tb, struct osc_result *out)
{
    struct osc_rank_times times = {0};
    struct osc_rank_moved moved;
    osc_wide bytes = 0;
    bool is_known = true;

    for (size_t k = 0; k < n; k++) {
        const struct osc_rank_file *const f = &run->files[v[k].file];
        const struct osc_rank_call *const c = &f->part.calls[v[k].call];

        is_known = is_known && (c->in_bytes >= 0 || compat_tb);
        bytes += c->in_bytes >= 0 ? c->in_bytes : 0;
        osc_rank_times_add(&times, f, v[k].call);
    }
    const osc_status st = osc_rank_times_end(&times, &moved);
    const int64_t all_ns = moved.all_ns, real_ns = moved.real_ns;

    osc_result_row(out);
    osc_result_int(out, RANK, run->files[v->file].rank);
    osc_result_int(out, SPAN, run->files[v->file].span);
    osc_result_str(out, NAME, osc_rank_text(&run->words, v->name));
    osc_result_int(out, CALLS, (int64_t)n);
    osc_result_int(out, LATENCY, all_ns);
    osc_result_int(out, TRANSFER, real_ns);
    osc_result_num(out, MEAN_LATENCY, (double)all_ns / (double)n);
    osc_result_num(out, MEAN_TRANSFER, (double)real_ns / (double)n);
    if (is_known) {
        osc_result_int(out, TOTAL_BYTES, osc_wide_nearest(bytes));
        osc_result_num(out, MEAN_BYTES, (double)bytes / (double)n);
    }
    return st;
}

/* Append the rows of the files [FIRST, END), one rank and span. */
static osc_status add_rank(const struct osc_rank_run *run, size_t first, size_t end,
                           bool compat_tb, struct osc_result *out)
{
    osc_status st = OSC_OK;
    size_t n = 0;

    for (size_t f = first; f < end; f++)
        n += run->files[f].part.n_calls;
    struct entry *const v = osc_calloc(n + 1, sizeof *v);
    if (!v)
        return OSC_ENOMEM;
    n = 0;
    for (size_t f = first; f < end; f++) {
        for (size_t k = 0; k < run->files[f].part.n_calls; k++, n++)
            v[n] = (struct entry){run->files[f].part.calls[k].name, (uint32_t)f, (uint32_t)k,
                                  (uint32_t)n};
    }
    osc_sort(v, n, sizeof *v, by_name);
    for (size_t k = 1; k < n; k++) {
        if (v[k].name == v[k - 1].name)
            v[k].first = v[k - 1].first;
    }
    osc_sort(v, n, sizeof *v, by_first);
    for (size_t k = 0, next; k < n && st == OSC_OK; k = next) {
        for (next = k + 1; next < n && v[next].name == v[k].name;)
            next++;
        st = add_row(run, &v[k], next - k, compat_tb, out);
    }
    osc_free(v);
    return st;
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    osc_status st = OSC_OK;

    for (size_t first = 0, end; first < run->n_files && st == OSC_OK; first = end) {
        end = osc_rank_group_end(run, first);
        st = add_rank(run, first, end, osc_is_compat_tb(o), out);
    }
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {SPAN, "no collectives were recorded", fill};

    return osc_rank_finish(r, o, &table, err);
}

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_collectives = {
    .name = "collectives",
    .help = "What each rank sent by collectives of each name, and how long they took.",
    .source = "collectives of all ranks, matched; the distributed view of torch-tb-profiler.",
    .rules = OSC_RULE_COLLECTIVES,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    .options = options,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map,
             .place = osc_rank_place, .finish = finish),
};
