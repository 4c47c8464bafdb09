/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ranks`: each rank, its average step, and how its clock differs.
 */
#include "analysis/table_registry.h"

#include "analysis/ranks/calls.h"
#include "analysis/ranks/clocks.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "derive/facts.h"

enum {
    RANK,
    SPAN,
    WORKER,
    HOST,
    DEVICE,
    DEVICE_NAME,
    STEPS,
    AVG_STEP,
    KERNEL, /* followed by the other classes, in the order of enum osc_class */
    OTHER = KERNEL + OSC_COST_OTHER,
    COLLECTIVES,
    OFFSET,
    ERROR,
    DRIFT,
    ANCHORS,
    COMPONENT,
    N_SHOWN
};

#define COST(kind, name, rules, what)                                                  \
    OSC_COLUMN(KERNEL + OSC_CLASS_##kind, name, NUMBER, "ns", FIRST, OSC_COLUMN_MINOR, \
               OSC_RULE_BREAKDOWN | (rules),                                           \
               "Mean over the kept steps of the time in which " what ".")

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Rank that the row is about."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window of the rank, if there are several."),
    OSC_COLUMN(WORKER, "worker", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_RANKS,
               "Name of the worker: in WORKER.NUMBER.pt.trace.json what stands before the "
               "number."),
    OSC_COLUMN(HOST, "host", STRING, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Machine on which it ran: `host_name` in the metadata."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Device that it used; of several the first in the file."),
    OSC_COLUMN(DEVICE_NAME, "device_name", STRING, NULL, FIRST, OSC_COLUMN_MINOR,
               OSC_RULE_DEVICES, "Product name of that device."),
    OSC_COLUMN(STEPS, "steps", INTEGER, NULL, FIRST, 0, OSC_RULE_STEP_LENGTH,
               "Number of kept steps."),
    OSC_COLUMN(AVG_STEP, "avg_step_ns", NUMBER, "ns", FIRST, 0, OSC_RULE_STEP_LENGTH,
               "Sum of total_ns of the kept steps / steps."),
    COST(KERNEL, "avg_kernel_ns", OSC_RULE_COMMUNICATION,
         "a kernel ran that is no communication"),
    COST(MEMCPY, "avg_memcpy_ns", 0, "a device copied"),
    COST(MEMSET, "avg_memset_ns", 0, "a device set memory"),
    OSC_COLUMN(KERNEL + OSC_CLASS_COMMUNICATION, "avg_communication_ns", NUMBER, "ns", FIRST, 0,
               OSC_RULE_BREAKDOWN | OSC_RULE_COMMUNICATION,
               "Mean over the kept steps of the time in which it communicated."),
    COST(RUNTIME, "avg_runtime_ns", 0,
         "the host was in a call of the device runtime or driver"),
    COST(DATALOADER, "avg_dataloader_ns", 0, "the host waited for data"),
    COST(CPU_EXEC, "avg_cpu_exec_ns", 0, "the host was in any other operator or annotation"),
    OSC_COLUMN(OTHER, "avg_other_ns", NUMBER, "ns", FIRST, OSC_COLUMN_MINOR, OSC_RULE_BREAKDOWN,
               "Mean over the kept steps of the rest."),
    OSC_COLUMN(COLLECTIVES, "collectives", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR,
               OSC_RULE_COLLECTIVES, "Number of collectives, in and out of steps."),
    OSC_COLUMN(OFFSET, "clock_offset_ns", INTEGER, "ns", FIRST, OSC_COLUMN_OPTIONAL, 0,
               "What the clock of the rank shows - what the median clock shows, at the first "
               "collective by which clocks are compared. Missing if it cannot be compared with "
               "any other. Only tables about collectives of several ranks correct it."),
    OSC_COLUMN(ERROR, "clock_error_ns", INTEGER, "ns", FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Median distance of the ends of its collectives from those of the others, on "
               "the common clock. Missing with fewer than three collectives."),
    OSC_COLUMN(DRIFT, "clock_drift_ppm", NUMBER, "ppm", FIRST, OSC_COLUMN_OPTIONAL, 0,
               "By how much the clock gains on the median clock, in microseconds in a second; "
               "0 if nothing is seen beside the noise."),
    OSC_COLUMN(ANCHORS, "clock_anchors", INTEGER, NULL, FIRST,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR, 0,
               "Number of collectives by which the clock was compared."),
    OSC_COLUMN(COMPONENT, "clock_group", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Number, from 0, of the ranks whose clocks can be compared with each other, if "
               "not all can."),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

static void add_word(struct osc_result *out, uint32_t column, const struct osc_rank_run *run,
                     uint32_t word)
{
    if (word && !osc_result_has(out, out->n_rows - 1, column))
        osc_result_str(out, column, osc_rank_text(&run->words, word));
}

/* Add the steps of the files [FIRST, END), one rank, to the last row of OUT. */
static void add_steps(struct osc_result *out, const struct osc_rank_run *run, size_t first,
                      size_t end)
{
    struct osc_rank_average average;
    uint64_t n_calls = 0;

    osc_rank_average_of(run, first, end, &average);
    for (size_t f = first; f < end; f++)
        n_calls += run->files[f].part.n_calls;
    osc_result_int(out, STEPS, (int64_t)average.n_steps);
    osc_result_int(out, COLLECTIVES, (int64_t)n_calls);
    if (average.n_steps == 0)
        return;
    osc_result_num(out, AVG_STEP, average.step_ns);
    for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
        osc_result_num(out, KERNEL + k, average.cost_ns[k]);
}

/* Add what is known of the clock of the files [FIRST, END): that of the file with the most
 * anchors. */
static void add_clock(struct osc_result *out, const struct osc_rank_clock *clocks, size_t first,
                      size_t end)
{
    const struct osc_rank_clock *c = &clocks[first];

    for (size_t f = first + 1; f < end; f++)
        c = clocks[f].n_anchors > c->n_anchors ? &clocks[f] : c;
    osc_result_int(out, COMPONENT, c->component);
    if (c->n_anchors == 0)
        return;
    osc_result_int(out, OFFSET, c->offset_ns);
    osc_result_num(out, DRIFT, (double)c->drift_ppb / 1000);
    osc_result_int(out, ANCHORS, c->n_anchors);
    if (c->n_anchors >= 3)
        osc_result_int(out, ERROR, c->error_ns);
    osc_result_show(out, OFFSET);
    osc_result_show(out, ERROR);
    osc_result_show(out, DRIFT);
    osc_result_show(out, ANCHORS);
}

static void add_rank(struct osc_result *out, const struct osc_rank_run *run,
                     const struct osc_rank_clock *clocks, size_t first, size_t end)
{
    osc_result_row(out);
    if (out->status != OSC_OK)
        return;
    osc_result_int(out, RANK, run->files[first].rank);
    osc_result_int(out, SPAN, run->files[first].span);
    for (size_t f = first; f < end; f++) {
        const struct osc_rank_part *const p = &run->files[f].part;

        add_word(out, WORKER, run, p->worker);
        add_word(out, HOST, run, p->host);
        if (!osc_result_has(out, out->n_rows - 1, DEVICE))
            add_word(out, DEVICE_NAME, run, p->device_name);
        add_word(out, DEVICE, run, p->device);
    }
    add_steps(out, run, first, end);
    add_clock(out, clocks, first, end);
}

/* Tell ranks whose clocks cannot be compared, and two files of a rank. */
static void add_notes(struct osc_result *out, const struct osc_rank_run *run,
                      uint32_t n_components, uint64_t n_alone, uint64_t n_shared)
{
    if (n_components > 1 && n_alone < n_components) {
        osc_result_show(out, COMPONENT);
        osc_result_note(out,
                        "the clocks of %u groups of ranks cannot be compared: no collective "
                        "that all ranks leave together is common to them (column clock_group)",
                        n_components);
    } else if (run->n_files > 1 && n_alone == n_components) {
        osc_result_note(out, "clocks are not compared: no collective that all ranks leave "
                             "together was recorded on several of them");
    }
    if (n_shared > 0)
        osc_result_note(out, "%llu %s several files of a recording window",
                        (unsigned long long)n_shared,
                        n_shared == 1 ? "rank has" : "ranks have");
}

/* Tell ranks that have steps of which none is kept, as a selection may consist of the last. */
static void note_unkept(struct osc_result *out, const struct osc_rank_run *run)
{
    uint64_t n = 0, n_ranks = 0;

    for (size_t first = 0, end; first < run->n_files; first = end) {
        struct osc_rank_average average;
        bool is_marked = false;

        end = osc_rank_group_end(run, first);
        osc_rank_average_of(run, first, end, &average);
        for (size_t f = first; f < end; f++)
            is_marked |= run->files[f].part.n_marked > 0 && !run->files[f].is_beside;
        n += is_marked && average.n_steps == 0;
        n_ranks++;
    }
    if (n > 0 && n == n_ranks)
        osc_result_note(out, "%s", osc_breakdown_why_none(true));
    else if (n > 0)
        osc_result_note(out, "of %llu of %llu ranks %s", (unsigned long long)n,
                        (unsigned long long)n_ranks, osc_breakdown_why_none(true));
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    struct osc_rank_clock *const clocks = osc_calloc(run->n_files + 1, sizeof *clocks);
    uint32_t n_components = 0;
    uint64_t n_alone = 0, n_shared = 0;
    const osc_status st = clocks ? osc_rank_clocks_fit(run, clocks, &n_components) : OSC_ENOMEM;

    (void)o;
    for (size_t first = 0, end; first < run->n_files && st == OSC_OK; first = end) {
        end = osc_rank_group_end(run, first);
        n_shared += end - first > 1;
        add_rank(out, run, clocks, first, end);
    }
    for (size_t f = 0; f < run->n_files && st == OSC_OK; f++)
        n_alone += clocks[f].n_anchors == 0;
    if (st == OSC_OK)
        add_notes(out, run, n_components, n_alone, n_shared);
    if (st == OSC_OK)
        note_unkept(out, run);
    osc_free(clocks);
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {SPAN, NULL, fill};

    return osc_rank_finish(r, o, &table, err);
}

static const struct osc_table_option *const options[] = {
    &osc_option_priority, &osc_option_step_length, &osc_option_all_steps, NULL};

const struct osc_table_def osc_table_ranks = {
    .name = "ranks",
    .help = "Each rank: where it runs, its average step, and how its clock differs.",
    .source = "steps and collectives of each rank, and the metadata of its files.",
    .rules = OSC_RULE_CLOCKS,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    .options = options,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map,
             .place = osc_rank_place, .finish = finish),
};
