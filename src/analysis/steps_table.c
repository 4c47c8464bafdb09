/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `steps`: how long each step took including its device work, and what it spent its time on.
 * All steps are rows; those that are not kept are marked.
 */
#include "analysis/table_registry.h"

#include <stdio.h>

#include "analysis/growth.h"
#include "analysis/shared_options.h"
#include "analysis/step_rules.h"
#include "analysis/table_columns.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "derive/facts.h"

enum {
    STEP,
    LABEL,
    PROCESS,
    PROCESS_NAME,
    THREAD,
    THREAD_NAME,
    START,
    TOTAL,
    ANNOTATION,
    KEPT,
    KERNEL, /* followed by the other classes, in the order of enum osc_class */
    OTHER = KERNEL + OSC_COST_OTHER,
    OUTLIER,
    GREW,
    GREW_ON,
    GREW_BY,
    GREW_RATIO,
    NOTE,
    IS_ITERATION,
    LIE_OUTSIDE,
    IS_OF_WORK,
    OF_PROCESS, /* the process, if several files of a rank and span have steps */
    N_COLUMNS
};

/* A class of the breakdown; time that several classes share goes to the first in the table. */
#define COST(kind, name, rules, what)                                                    \
    OSC_COLUMN(KERNEL + OSC_CLASS_##kind, name, INTEGER, "ns", SUM, 0, rules,            \
               what ". Time in which a class further to the left has an event too goes " \
                    "to that class; the parts add up to total_ns.")

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(STEP, "step", INTEGER, NULL, KEY, 0, OSC_RULE_STEPS,
               "Number of the step in order of start, from 0. Selections do not change it."),
    OSC_COLUMN(LABEL, "label", STRING, NULL, FIRST, 0, OSC_RULE_STEPS,
               "Number that the program gave the step, or of an iteration its number "
               "from 0. A trace without either, or a selection in which none begins, counts as "
               "one step, labelled 0."),
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_STEPS | OSC_RULE_NAMES,
               "Process that announced the step, if several of a rank and span did."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, OSC_COLUMN_MINOR,
               OSC_RULE_STEPS | OSC_RULE_NAMES,
               "Thread that announced the step; missing for a trace without steps."),
    OSC_COLUMN(THREAD_NAME, "thread_name", STRING, NULL, FIRST,
               OSC_COLUMN_DEEP | OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Name of that thread, from the metadata of the file."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", MIN, OSC_COLUMN_MOMENT | OSC_COLUMN_MINOR,
               OSC_RULE_STEP_LENGTH | OSC_RULE_TIME,
               "Start of the annotation, but not before the device work of the step before it "
               "was done; from the origin of all files."),
    OSC_COLUMN(TOTAL, "total_ns", INTEGER, "ns", SUM, 0, OSC_RULE_STEP_LENGTH,
               "Time from start_ns to the end of the annotation or of the last device work "
               "that was launched in it, whichever is later."),
    OSC_COLUMN(
        ANNOTATION, "annotation_ns", INTEGER, "ns", SUM, OSC_COLUMN_MINOR, OSC_RULE_STEPS,
        "Duration of the annotation on the host alone; missing for a trace without steps."),
    OSC_COLUMN(KEPT, "kept", BOOLEAN, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_STEP_LENGTH,
               "Whether averages count the step. Steps at the end whose device work may not "
               "all have been recorded, or that hold no operator, are not kept."),
    COST(KERNEL, "kernel_ns", OSC_RULE_BREAKDOWN | OSC_RULE_COMMUNICATION,
         "Time in which a kernel ran that is no communication"),
    COST(MEMCPY, "memcpy_ns", OSC_RULE_BREAKDOWN, "Time in which a device copied"),
    COST(MEMSET, "memset_ns", OSC_RULE_BREAKDOWN, "Time in which a device set memory"),
    COST(COMMUNICATION, "communication_ns", OSC_RULE_BREAKDOWN | OSC_RULE_COMMUNICATION,
         "Time in which a kernel of a communication library ran, or, in a trace without "
         "such kernels, in which the host was in a collective"),
    COST(RUNTIME, "runtime_ns", OSC_RULE_BREAKDOWN,
         "Time in which the host was in a call of the device runtime or driver"),
    COST(DATALOADER, "dataloader_ns", OSC_RULE_BREAKDOWN,
         "Time in which the host waited for data"),
    COST(CPU_EXEC, "cpu_exec_ns", OSC_RULE_BREAKDOWN,
         "Time in which the host was in any other operator or annotation"),
    OSC_COLUMN(OTHER, "other_ns", INTEGER, "ns", SUM, 0, OSC_RULE_BREAKDOWN,
               "Rest of total_ns: nothing of these classes ran. Python functions, modules and "
               "scopes are in no class."),
    OSC_COLUMN(
        OUTLIER, "outlier", BOOLEAN, NULL, OR, 0, OSC_RULE_OUTLIERS,
        "Whether |total_ns - median of the kept steps| is above eight times the median of "
        "such distances (MAD), and above a tenth of the median step: a fifth of fewer "
        "than 20 steps, a quarter of fewer than 8. Where a loop has two kinds of step, "
        "of those of its kind."),
    OSC_COLUMN(GREW, "grew", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_OUTLIERS,
               "For an outlier that took longer than the median step: the operator, or other "
               "range, whose time exceeds its median over the kept steps by most; "
               "other: the time in which nothing was recorded on the threads. Missing if "
               "that is less than a tenth of what the step took longer."),
    OSC_COLUMN(GREW_ON, "grew_on", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_OUTLIERS,
               "Where that time grew: host or device."),
    OSC_COLUMN(GREW_BY, "grew_by_ns", INTEGER, "ns", FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_OUTLIERS,
               "Its time in this step - its median over the kept steps, half a nanosecond "
               "rounded up."),
    OSC_COLUMN(GREW_RATIO, "grew_ratio", NUMBER, "ratio", FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_OUTLIERS, "grew_by_ns / (total_ns - median of the kept steps)."),
    OSC_COLUMN(
        NOTE, "note", STRING, NULL, FIRST, 0, OSC_RULE_STEP_LENGTH,
        "Why the step is not kept, or that it began late because the device was still busy."),
    OSC_COLUMN(IS_ITERATION, "is_iteration", BOOLEAN, NULL, OR, OSC_COLUMN_HIDDEN, 0,
               "Whether the program announced no step: it is an iteration."),
    OSC_COLUMN(
        LIE_OUTSIDE, "lie_outside", BOOLEAN, NULL, OR, OSC_COLUMN_HIDDEN, 0,
        "Of what counts as a step: whether the trace may have steps, of which none begins "
        "in what is selected."),
    OSC_COLUMN(IS_OF_WORK, "is_of_work", BOOLEAN, NULL, OR, OSC_COLUMN_HIDDEN, 0,
               "Of the same: whether it is the extent of device work, too."),
    OSC_COLUMN(OF_PROCESS, "of_process", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "Process that announced the step, if other files of its rank and span have "
               "steps, too."),
};

static const char *note_of(const struct osc_step *step, const struct osc_step_cost *s)
{
    if (s->is_tail && s->n_works == 0)
        return s->is_kept ? "kept by --all-steps: no device work that it launched was recorded"
                          : "not kept: no device work that it launched was recorded";
    if (s->is_tail)
        return s->is_kept ? "kept by --all-steps: device work at the end is probably missing"
                          : "not kept: device work at the end is probably missing";
    if (s->is_empty)
        return s->is_kept ? "kept by --all-steps: no operator was recorded in it"
                          : "not kept: no operator was recorded in it";
    if (s->is_behind_device)
        return "began late: the device was still busy with earlier work";
    if (s->start_ns > step->start_ns)
        return "began late: the step before was not over";
    return NULL;
}

/* Whether STEP, which counts as the step of T, is the extent of device work, too: that of the
 * plugin, which T has not, is none. */
static bool is_of_work(const struct osc_trace *t, const struct osc_step *step)
{
    return step == t->steps && osc_trace_facts(t)->step_map.is_of_work;
}

static void add_row(const struct osc_trace *t, const struct osc_step_cost *s,
                    const struct osc_step *step, const struct osc_growth *growth,
                    struct osc_result *out)
{
    const char *const note = note_of(step, s);

    osc_result_row(out);
    osc_result_int(out, STEP, step->ordinal);
    if (step->row.v != 0) {
        osc_result_str(out, LABEL, osc_trace_str(t, step->label));
        osc_result_str(out, PROCESS, osc_trace_str(t, t->tracks[step->track.v].pid));
        if (osc_trace_facts(t)->step_map.first) {
            osc_result_show(out, PROCESS);
            osc_result_show(out, PROCESS_NAME);
        }
        if (t->processes[t->tracks[step->track.v].process].name.v != 0)
            osc_result_str(
                out, PROCESS_NAME,
                osc_trace_str(t, t->processes[t->tracks[step->track.v].process].name));
        osc_result_str(out, THREAD, osc_trace_str(t, t->tracks[step->track.v].tid));
        if (t->tracks[step->track.v].name.v != 0)
            osc_result_str(out, THREAD_NAME, osc_trace_str(t, t->tracks[step->track.v].name));
        osc_result_bool(out, IS_ITERATION, t->has_iterations);
        osc_result_int(out, ANNOTATION, step->end_ns - step->start_ns);
    } else {
        osc_result_str(out, LABEL, OSC_STR("0"));
        osc_result_bool(out, LIE_OUTSIDE, osc_steps_lie_outside(t));
        osc_result_bool(out, IS_OF_WORK, is_of_work(t, step));
    }
    osc_result_int(out, START, s->start_ns - t->origin_ns);
    osc_result_int(out, TOTAL, s->end_ns - s->start_ns);
    osc_result_bool(out, KEPT, s->is_kept);
    for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
        osc_result_int(out, KERNEL + k, s->cost_ns[k]);
    osc_result_bool(out, OUTLIER, s->is_outlier);
    if (growth->name.v != 0 || growth->is_other) {
        osc_result_str(out, GREW, osc_growth_name(t, growth));
        osc_result_num(out, GREW_RATIO, (double)growth->half_ns / (double)growth->of_half_ns);
        osc_result_str(out, GREW_ON, growth->is_device ? OSC_STR("device") : OSC_STR("host"));
        osc_result_int(out, GREW_BY, growth->half_ns / 2 + growth->half_ns % 2);
        for (uint32_t c = GREW; c <= GREW_RATIO; c++)
            osc_result_show(out, c);
    }
    if (note)
        osc_result_str(out, NOTE, osc_str_c(note));
}

/* Say what counts as steps. */
static void note_iterations(const struct osc_trace *t, struct osc_result *out)
{
    const struct osc_row row = t->steps[0].row;
    const struct osc_str name =
        osc_row_name(t, osc_chunk_of(&t->events, row), osc_row_place(row));
    struct osc_strbuf text = {0};

    osc_utf8_append_terminal(&text, name);
    if (text.status == OSC_OK)
        osc_result_note(out,
                        "no steps in the trace: its %u iterations, the first of them '%s', "
                        "count as such",
                        t->n_steps, text.s ? text.s : "");
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_step_rules rules = osc_step_rules_of(o);
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b;
    struct osc_growth *growth = NULL;
    osc_status st = osc_breakdown_get(t, &rules, o->n_threads, &own, &b);

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
        add_row(t, &b->steps[i], b->is_whole ? &b->whole : &t->steps[i], &growth[i], out);
    if (b->n_steps == 0)
        osc_result_why_empty(out, osc_breakdown_why_none(false));
    else if (b->is_whole || t->steps[0].row.v == 0)
        osc_result_note(
            out, "%s: what counts as one is %s",
            osc_steps_lie_outside(t) ? "no step begins in what is selected"
                                     : "no steps in the trace",
            osc_breakdown_what_counts(is_of_work(t, b->is_whole ? &b->whole : t->steps)));
    else if (t->has_iterations)
        note_iterations(t, out);
    osc_free(growth);
    osc_breakdown_fini(&own);
    return out->status;
}

/* Keep the steps of a piece of a process apart that announced none: their numbers begin at 0 in
 * each. */
static void keep_apart(struct osc_result *part, uint32_t piece)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "#%u", piece);

    for (uint64_t i = 0; i < part->n_rows; i++)
        osc_result_set_str(part, i, OF_PROCESS, (struct osc_str){text, (uint32_t)len});
}

/* Steps are those of the files that have steps. Those of several processes stay apart. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    if (to->is_beside_steps)
        osc_result_empty(part);
    if (to->piece > 0 && !to->shares_steps)
        keep_apart(part, to->piece);
    if (to->shares_steps)
        osc_result_show(part, PROCESS);
    if (to->shares_steps)
        osc_result_show(part, PROCESS_NAME);
    for (uint64_t i = 0; i < part->n_rows; i++) {
        if (to->shares_steps)
            osc_result_set_str(part, i, OF_PROCESS, osc_result_get_str(part, i, PROCESS));
        else if (!(part->shown >> PROCESS & 1))
            osc_result_set_missing(part, i, PROCESS);
        if (!(part->shown >> PROCESS & 1))
            osc_result_set_missing(part, i, PROCESS_NAME);
    }
    return part->status;
}

/* Say how many steps are not kept, of all files. */
static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    uint64_t n_left_out = 0;

    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++)
        n_left_out += !osc_result_get_bool(r, i, KEPT);
    if (n_left_out > 0)
        osc_result_note(r, "%llu of %llu steps are not kept in averages (column note)",
                        (unsigned long long)n_left_out, (unsigned long long)r->n_rows);
    return r->status;
}

/* See table_columns.h. */
const uint32_t osc_column_steps_step = STEP, osc_column_steps_label = LABEL,
               osc_column_steps_thread = THREAD, osc_column_steps_total_ns = TOTAL,
               osc_column_steps_annotation_ns = ANNOTATION, osc_column_steps_kept = KEPT,
               osc_column_steps_is_iteration = IS_ITERATION,
               osc_column_steps_lie_outside = LIE_OUTSIDE,
               osc_column_steps_is_of_work = IS_OF_WORK, osc_column_steps_note = NOTE,
               osc_column_steps_outlier = OUTLIER, osc_column_steps_grew = GREW,
               osc_column_steps_grew_on = GREW_ON, osc_column_steps_grew_by_ns = GREW_BY,
               osc_column_steps_grew_ratio = GREW_RATIO;

static const struct osc_table_option *const options[] = {
    &osc_option_compat, &osc_option_priority, &osc_option_step_length, &osc_option_all_steps,
    NULL};

const struct osc_table_def osc_table_steps = {
    .name = "steps",
    .help = "What each step spent its time on.",
    .source = "steps and what runs in them, by kind; overview of "
              "torch-tb-profiler.",
    .rules = OSC_RULE_STEPS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words_of_device_work,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_FOREST | OSC_FACT_STEPS | OSC_FACT_UNIONS, .map = map,
             .place = place, .finish = finish),
};
