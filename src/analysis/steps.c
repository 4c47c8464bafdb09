/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `steps`: how long each step took with its device work, and what it spent its time
 * on (tensorboard-views.md, 2.8 and 3.2). All steps are rows; those that the tail
 * rule drops say so.
 */
#include "analysis/table_registry.h"

#include "analysis/growth.h"
#include "analysis/table_columns.h"
#include "base/mem.h"
#include "derive/facts.h"

enum {
    STEP,
    LABEL,
    PROCESS,
    THREAD,
    START,
    TOTAL,
    ANNOTATION,
    KEPT,
    KERNEL, /* and the other classes, in order of enum osc_class */
    OTHER = KERNEL + OSC_COST_OTHER,
    OUTLIER,
    GREW,
    GREW_ON,
    GREW_BY,
    NOTE,
    N_COLUMNS
};

#define COST(name, what)                                                                    \
    {                                                                                       \
        name, OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,                                     \
            what " Time that a class further to the left covers as well goes to that one "  \
                 "(as in the overview of torch-tb-profiler); the parts add up to total_ns." \
    }

static const struct osc_column columns[N_COLUMNS] = {
    [STEP] = {"step", OSC_TYPE_INTEGER, NULL, OSC_MERGE_KEY, 0,
              "Number of the step in order of start, from 0; selections leave it as it is."},
    [LABEL] = {"label", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0,
               "The number that the program gave it (ProfilerStep#N); 0 for a trace without "
               "steps, which counts as one step over all its operators."},
    [PROCESS] = {"process", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
                 "The process that announced it, if several did: member pid."},
    [THREAD] = {"thread", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0,
                "The thread that announced it; missing for a trace without steps."},
    [START] = {"start_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MIN, 0,
               "Its start, but not before the device work of the step before it was done; from "
               "the origin of all operands."},
    [TOTAL] = {"total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
               "From start_ns to the end of its annotation or of the last device work that was "
               "launched in it, whichever is later."},
    [ANNOTATION] = {"annotation_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
                    "Duration of its annotation on the host alone; missing for a trace without "
                    "steps."},
    [KEPT] = {"kept", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_FIRST, 0,
              "Whether averages count it. Steps at the end without device work are not kept, "
              "nor is the last one before them if it launched less than 0.8 times as much as "
              "the one before: not all of their work may have been recorded; "
              "torch-tb-profiler leaves out the same."},
    [KERNEL + OSC_CLASS_KERNEL] =
        COST("kernel_ns", "Some kernel ran that is no communication."),
    [KERNEL + OSC_CLASS_MEMCPY] = COST("memcpy_ns", "The device copied."),
    [KERNEL + OSC_CLASS_MEMSET] = COST("memset_ns", "The device set memory."),
    [KERNEL + OSC_CLASS_COMMUNICATION] =
        COST("communication_ns",
             "Some kernel of a communication library ran; for a rank without any, the host was "
             "in a collective."),
    [KERNEL + OSC_CLASS_RUNTIME] =
        COST("runtime_ns", "The host was in a call of the device runtime or driver."),
    [KERNEL + OSC_CLASS_DATALOADER] = COST("dataloader_ns", "The host waited for data."),
    [KERNEL + OSC_CLASS_CPU_EXEC] =
        COST("cpu_exec_ns", "The host was in any other operator or annotation."),
    [OTHER] = {"other_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0,
               "What is left of total_ns: nothing that was recorded ran."},
    [OUTLIER] = {"outlier", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0,
                 "Whether total_ns is further from the median of the kept steps than three "
                 "times the median of such distances (MAD); where that is 0, than a tenth of "
                 "the median of the steps."},
    [GREW] =
        {"grew", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
         "Of an outlier that took longer than the median step: the operator, or wait for data, "
         "whose time in this step exceeds "
         "its median over the kept steps the most. Its time on the host is that of its "
         "calls less that of the operators right inside of them, on the device that of the "
         "work that its own calls launched; steps without it count 0."},
    [GREW_ON] = {"grew_on", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
                 "Where its time grew: host or device."},
    [GREW_BY] = {"grew_by_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_FIRST, OSC_COLUMN_OPTIONAL,
                 "Its time in this step - its median over the kept steps, half a nanosecond "
                 "rounded up."},
    [NOTE] = {"note", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0,
              "Why it is not kept, or that it began late."},
};

static const char *note_of(const struct osc_trace *t, const struct osc_step_cost *s, uint32_t i)
{
    if (!s->is_kept && s->n_works == 0)
        return "not kept: no device work was recorded";
    if (!s->is_kept)
        return "not kept: device work at the end is probably missing";
    if (s->is_behind_device)
        return "began late: the device was still busy with earlier work";
    if (s->start_ns > t->steps[i].start_ns)
        return "began late: the step before was not over";
    return NULL;
}

static void add_row(const struct osc_trace *t, const struct osc_step_cost *s, uint32_t i,
                    const struct osc_growth *growth, struct osc_result *out)
{
    const struct osc_step *const step = &t->steps[i];
    const char *const note = note_of(t, s, i);

    osc_result_row(out);
    osc_result_int(out, STEP, step->ordinal);
    if (step->row.v != 0) {
        osc_result_str(out, LABEL, osc_trace_str(t, step->label));
        if (osc_trace_facts(t)->step_map.first) {
            osc_result_str(out, PROCESS, osc_trace_str(t, t->tracks[step->track.v].pid));
            osc_result_show(out, PROCESS);
        }
        osc_result_str(out, THREAD, osc_trace_str(t, t->tracks[step->track.v].tid));
        osc_result_int(out, ANNOTATION, step->end_ns - step->start_ns);
    } else {
        osc_result_str(out, LABEL, OSC_STR("0"));
    }
    osc_result_int(out, START, s->start_ns - t->origin_ns);
    osc_result_int(out, TOTAL, s->end_ns - s->start_ns);
    osc_result_bool(out, KEPT, s->is_kept);
    for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
        osc_result_int(out, KERNEL + k, s->cost_ns[k]);
    osc_result_bool(out, OUTLIER, s->is_outlier);
    if (growth->name.v != 0) {
        osc_result_str(out, GREW, osc_trace_str(t, growth->name));
        osc_result_str(out, GREW_ON, growth->is_device ? OSC_STR("device") : OSC_STR("host"));
        osc_result_int(out, GREW_BY, growth->half_ns / 2 + growth->half_ns % 2);
        for (uint32_t c = GREW; c <= GREW_BY; c++)
            osc_result_show(out, c);
    }
    if (note)
        osc_result_str(out, NOTE, osc_str_c(note));
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b;
    struct osc_growth *growth = NULL;
    osc_status st = osc_breakdown_get(t, o->compat_tb, o->n_threads, &own, &b);

    if (st == OSC_OK) {
        growth = osc_calloc((size_t)b->n_steps + 1, sizeof *growth);
        st = growth ? osc_growth_find(t, b, growth) : OSC_ENOMEM;
    }
    if (st != OSC_OK) {
        osc_free(growth);
        osc_breakdown_fini(&own);
        return osc_fail(err, st, "steps: %s", osc_status_text(st));
    }
    for (uint32_t i = 0; i < b->n_steps; i++)
        add_row(t, &b->steps[i], i, &growth[i], out);
    if (b->n_steps == 0)
        osc_result_note(out, "no steps, and no operators that could count as one");
    else if (t->steps[0].row.v == 0)
        osc_result_note(out, "no steps in the trace: all of it counts as one");
    if (b->n_kept < b->n_steps)
        osc_result_note(out, "%u of %u steps are not kept in averages (column note)",
                        b->n_steps - b->n_kept, b->n_steps);
    osc_free(growth);
    osc_breakdown_fini(&own);
    return out->status;
}

/* See table_columns.h. */
const uint32_t osc_column_steps_step = STEP, osc_column_steps_label = LABEL,
               osc_column_steps_total_ns = TOTAL, osc_column_steps_annotation_ns = ANNOTATION,
               osc_column_steps_kept = KEPT, osc_column_steps_outlier = OUTLIER,
               osc_column_steps_grew = GREW, osc_column_steps_grew_on = GREW_ON,
               osc_column_steps_grew_by_ns = GREW_BY;

const struct osc_table_def osc_table_steps = {
    .name = "steps",
    .help = "What each step spent its time on.",
    .source = "ranges ProfilerStep#N and what runs in them, by category; overview of "
              "torch-tb-profiler.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .facts = OSC_FACT_STEPS | OSC_FACT_UNIONS,
    .takes = OSC_TAKES_COMPAT,
    .map = map,
};
