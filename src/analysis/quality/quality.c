/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `quality`: everything that was skipped, repaired, dropped or is missing, counted by cause:
 * findings of the reader and of derive/, and data that a trace of PyTorch could have but does
 * not.
 */
#include <stdio.h>

#include "analysis/census.h"
#include "analysis/quality/quality_rows.h"
#include "analysis/quality/rank_findings.h"
#include "analysis/quality/sample_patterns.h"
#include "analysis/quality/sampled_names.h"
#include "analysis/quality/source_counts.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/remedies.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "derive/facts.h"

static const struct osc_column columns[OSC_QUALITY_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(OSC_QUALITY_SEVERITY, "severity", STRING, NULL, KEY, 0, OSC_RULE_QUALITY,
               "error: part of the input is lost. warning: numbers may be affected. info: "
               "something was not recorded."),
    OSC_COLUMN(OSC_QUALITY_CODE, "code", STRING, NULL, KEY, 0, OSC_RULE_QUALITY,
               "Cause of the finding, as a word that scripts can rely on."),
    OSC_COLUMN(OSC_QUALITY_COUNT, "count", INTEGER, NULL, SUM, 0, OSC_RULE_QUALITY,
               "Number of times it was found; 1 for what is missing from the recording."),
    OSC_COLUMN(OSC_QUALITY_FIRST_OFFSET, "first_offset", INTEGER, NULL, FIRST,
               OSC_COLUMN_OPTIONAL, OSC_RULE_QUALITY,
               "Byte of the input at which it was first found, counted from 0; in a compressed "
               "file, a byte of the contents."),
    OSC_COLUMN(OSC_QUALITY_FIRST_NS, "first_ns", INTEGER, "ns", MIN,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MOMENT, OSC_RULE_TIME | OSC_RULE_QUALITY,
               "Start of the first event that it concerns, from the origin."),
    OSC_COLUMN(OSC_QUALITY_LAST_NS, "last_ns", INTEGER, "ns", MAX,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MOMENT, OSC_RULE_TIME | OSC_RULE_QUALITY,
               "End of the range of time that it concerns, from the origin; missing if it "
               "concerns no range of time."),
    OSC_COLUMN(OSC_QUALITY_MESSAGE, "message", STRING, NULL, KEY,
               OSC_COLUMN_LONG | OSC_COLUMN_BELOW, OSC_RULE_QUALITY,
               "What happened, as a sentence."),
    OSC_COLUMN(OSC_QUALITY_REMEDY, "remedy", STRING, NULL, FIRST,
               OSC_COLUMN_LONG | OSC_COLUMN_BELOW, OSC_RULE_QUALITY,
               "What to change, often as the exact argument of the profiler."),
    OSC_COLUMN(OSC_QUALITY_RANK_OF_SEVERITY, "severity_order", INTEGER, NULL, FIRST,
               OSC_COLUMN_HIDDEN, 0, "2 error, 1 warning, 0 info."),
    OSC_RANK_COLUMNS(OSC_QUALITY_SHOWN, KEY),
};

static void add_row(const struct osc_trace *t, struct osc_result *out,
                    enum osc_finding_code code, const struct osc_finding *f,
                    struct osc_str message)
{
    osc_quality_begin(out, code, f->count, message);
    if (f->first_offset != OSC_NO_OFFSET) {
        osc_result_int(out, OSC_QUALITY_FIRST_OFFSET, (int64_t)f->first_offset);
        osc_result_show(out, OSC_QUALITY_FIRST_OFFSET);
    }
    if (f->first_ns != OSC_NO_TIME) {
        osc_result_int(out, OSC_QUALITY_FIRST_NS, f->first_ns - t->origin_ns);
        osc_result_show(out, OSC_QUALITY_FIRST_NS);
    }
    if (f->last_ns != OSC_NO_TIME) {
        osc_result_int(out, OSC_QUALITY_LAST_NS, f->last_ns - t->origin_ns);
        osc_result_show(out, OSC_QUALITY_LAST_NS);
    }
    if (osc_remedy(t, code)[0])
        osc_result_str(out, OSC_QUALITY_REMEDY, osc_str_c(osc_remedy(t, code)));
}

/* What rows of one trace say, if no other file makes the sentence. */
#define FACT_LIST(X)                                                           \
    X(finding, TEXT, 0)                                                        \
    X(is_unsure, FLAG, 0) /* it may be in a part that is missing */            \
    X(phase, TEXT, 0)     /* of events that were left out */                   \
    X(row, PHRASE,                                                             \
      "{phase?events of phase {phase}, which opscope does not know; left out|" \
      "{is_unsure?in the part that was read: }{finding}}")
OSC_PROSE(osc_quality_prose, FACT_LIST);

/* Add the row of F; PHASE: of an unknown one, or empty. */
static void say_row(const struct osc_trace *t, struct osc_result *out,
                    enum osc_finding_code code, const struct osc_finding *f,
                    struct osc_str phase)
{
    struct osc_prose_facts facts = {.prose = &osc_quality_prose};
    struct osc_strbuf text = {0};

    osc_prose_text(&facts, FACT_finding, osc_str_c(osc_finding_message(code)));
    osc_prose_flag(&facts, FACT_is_unsure, osc_remedy_is_unsure(t, code));
    if (phase.len > 0)
        osc_prose_text(&facts, FACT_phase, phase);
    osc_prose_say(&text, &facts, FACT_row);
    if (text.status == OSC_OK)
        add_row(t, out, code, f, osc_strbuf_str(&text));
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}

/* Add a row for each phase that was left out, and one for what has no phase. */
static void add_phases(const struct osc_trace *t, struct osc_result *out,
                       const struct osc_finding *all)
{
    struct osc_finding rest = *all;
    char text[8];

    for (unsigned i = 1; i < OSC_PHASES; i++) {
        const struct osc_finding *const f = &t->findings.phases[i];

        if (f->count == 0)
            continue;
        (void)snprintf(text, sizeof text, i > ' ' && i < 127 ? "%c" : "\\x%02x", i);
        say_row(t, out, OSC_FINDING_unknown_phase, f, osc_str_c(text));
        rest.count -= f->count < rest.count ? f->count : rest.count;
        if (rest.first_offset == f->first_offset)
            rest.first_offset = OSC_NO_OFFSET;
    }
    if (rest.count > 0)
        say_row(t, out, OSC_FINDING_unknown_phase, &rest, OSC_STR(""));
}

/* Whether the calls of modules in a whole program were recorded, if there were any. */
static bool has_asked_modules(const struct osc_trace *t, const struct osc_census *c)
{
    struct osc_str sources;

    return c->has_stacks && osc_trace_meta(t, "sources", &sources) &&
           osc_str_has(sources, OSC_STR("torch=stack"));
}

/* Device work of all kinds. */
static uint64_t count_works(const struct osc_census *c)
{
    return c->by_kind[OSC_KIND_KERNEL] + c->by_kind[OSC_KIND_MEMCPY] +
           c->by_kind[OSC_KIND_MEMSET];
}

/* Calls that always launch something. */
static struct osc_tally count_launches(const struct osc_trace *t)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    struct osc_tally tally = {0};

    for (size_t n = 0; n < f->links.n_calls; n++) {
        const osc_row row = {f->links.calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (f->classes.names[c->name[i]] & OSC_NAME_LAUNCH)
            osc_tally_add(&tally, c->ts_ns[i]);
    }
    return tally;
}

/* Whether some of T was not read: then it does not tell what was not recorded. */
static bool is_in_part(const struct osc_trace *t)
{
    return t->is_partial || osc_findings_say_cut(&t->findings);
}

/* Whether PyTorch recorded only the device: ProfilerActivity.CPU was not asked for. */
static bool lacks_host(const struct osc_trace *t, const struct osc_census *c)
{
    return t->producer == OSC_PRODUCER_KINETO && !t->is_selected && !is_in_part(t) &&
           count_works(c) > 0 && c->by_kind[OSC_KIND_OPERATOR] == 0 &&
           c->by_kind[OSC_KIND_PYTHON] == 0;
}

/* Whether CODE names data that a trace of PyTorch with census C lacks. */
static bool is_absent(const struct osc_trace *t, const struct osc_census *c,
                      enum osc_finding_code code)
{
    const bool has_device = c->by_kind[OSC_KIND_KERNEL] + c->by_kind[OSC_KIND_MEMCPY] +
                                c->by_kind[OSC_KIND_MEMSET] >
                            0;
    /* Without any of these, the machine or the program had no device to record. */
    const bool may_have_device = t->n_devices + c->by_kind[OSC_KIND_RUNTIME] +
                                     c->by_kind[OSC_KIND_DRIVER] + c->by_kind[OSC_KIND_SYNC] >
                                 0;
    const bool has_memory = c->by_kind[OSC_KIND_ALLOC] + c->by_kind[OSC_KIND_FREE] > 0;

    if (t->is_selected || t->is_partial)
        return osc_remedy_is_off(t, code);
    switch ((int)code) {
    case OSC_FINDING_no_shapes:
        return !c->has_shapes;
    case OSC_FINDING_no_stacks:
        return !c->has_stacks;
    case OSC_FINDING_no_memory:
        return !has_memory;
    case OSC_FINDING_no_modules:
        return !c->has_modules && !has_asked_modules(t, c);
    case OSC_FINDING_no_flops:
        return !osc_trace_flag(t, "with_flops", false);
    case OSC_FINDING_no_steps:
        return c->n_steps == 0;
    case OSC_FINDING_no_device:
        return may_have_device && !has_device && (is_in_part(t) || count_launches(t).n == 0);
    case OSC_FINDING_single_step:
        return c->n_steps == 1;
    default:
        return false;
    }
}

/* What the callback below needs: the rows are of CODE. */
struct counted {
    const struct osc_trace *t;
    struct osc_result *out;
    enum osc_finding_code code;
};

static void add_counted(void *data, struct osc_str message, const struct osc_finding *f)
{
    const struct counted *const c = data;

    add_row(c->t, c->out, c->code, f, message);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_finding none = {0, OSC_NO_OFFSET, OSC_NO_TIME, OSC_NO_TIME};
    const struct osc_finding once = {1, OSC_NO_OFFSET, OSC_NO_TIME, OSC_NO_TIME};
    struct osc_census census;
    const osc_status st = osc_census_add(t, &census);

    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));

    struct osc_findings found = t->findings;
    osc_findings_add_tally(&found, OSC_FINDING_no_duration, &census.no_duration);
    osc_findings_add_tally(&found, OSC_FINDING_clock_step, &census.clock_step);
    osc_findings_add_tally(&found, OSC_FINDING_outside_span, &census.outside_span);
    const struct osc_tally launches = count_launches(t);
    if (count_works(&census) == 0 && !t->is_selected && !is_in_part(t))
        osc_findings_add_tally(&found, OSC_FINDING_no_device_records, &launches);
    if (lacks_host(t, &census))
        osc_findings_add(&found, OSC_FINDING_no_operators, OSC_NO_OFFSET, OSC_NO_TIME);
    /* Without operators it is no trace of what could lack them. */
    const bool has_operators = census.by_kind[OSC_KIND_OPERATOR] > 0;
    for (int severity = OSC_ERROR; severity >= OSC_INFO; severity--) {
        for (int i = 0; i < OSC_FINDING_COUNT; i++) {
            const enum osc_finding_code code = (enum osc_finding_code)i;
            struct counted counted = {t, out, code};

            if ((int)osc_finding_severity(code) != severity ||
                (code == OSC_FINDING_no_operator && !has_operators))
                continue;
            if (code == OSC_FINDING_source_incomplete)
                osc_source_counts_each(t, &census, add_counted, &counted);
            else if (code == OSC_FINDING_sampled)
                osc_sampled_names_each(t, add_counted, &counted);
            else if (code == OSC_FINDING_sample_unused)
                osc_sample_patterns_each(t, add_counted, &counted);
            else if (found.by_code[code].count > 0 && code == OSC_FINDING_unknown_phase)
                add_phases(t, out, &found.by_code[code]);
            else if (found.by_code[code].count > 0)
                say_row(t, out, code, &found.by_code[code], OSC_STR(""));
            else if (code == OSC_FINDING_unaligned) /* place() decides whether it stays */
                say_row(t, out, code, &none, OSC_STR(""));
            else if (has_operators && is_absent(t, &census, code) &&
                     osc_remedy_is_there(t, code))
                say_row(t, out, code, &once, OSC_STR(""));
        }
    }
    /* What together() compares; one alone is like itself. */
    return o->n_traces == 1 ? out->status : osc_rank_map_calls(t, o, out, err);
}

/* Whether the trace is aligned with others, and is beside others that have steps, is known only
 * when all are known. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    const struct osc_str code = osc_str_c(osc_finding_code_text(OSC_FINDING_unaligned));
    const struct osc_str no_steps = osc_str_c(osc_finding_code_text(OSC_FINDING_no_steps));
    bool *const keep = osc_calloc(part->n_rows + 1, sizeof *keep);

    if (!keep)
        return OSC_ENOMEM;
    for (uint64_t i = 0; i < part->n_rows; i++) {
        int64_t n = osc_result_get_int(part, i, OSC_QUALITY_COUNT);

        if (osc_rank_is_part(part, i)) {
            keep[i] = true;
            continue;
        }
        if (osc_str_eq(osc_result_get_str(part, i, OSC_QUALITY_CODE), code))
            n += to->is_unaligned && !from->is_unaligned;
        osc_result_set_int(part, i, OSC_QUALITY_COUNT, n);
        keep[i] =
            n > 0 && !(to->is_beside_steps &&
                       osc_str_eq(osc_result_get_str(part, i, OSC_QUALITY_CODE), no_steps));
    }
    osc_result_keep(part, keep);
    osc_free(keep);
    return osc_rank_place(part, from, to);
}

/* Whether only some ranks or spans are asked for. */
static bool names_ranks(const struct osc_options *o)
{
    return o->view && (o->view->ranks || o->view->spans);
}

/* Add what the traces show together to the first block. */
static osc_status together(struct osc_result *const *blocks, uint32_t n,
                           const struct osc_options *o, struct osc_err *err)
{
    struct osc_rank_run run = {0};
    struct osc_result parts;

    osc_result_init(&parts, &osc_table_ranks);
    osc_status st = osc_rank_take(blocks, n, &parts);
    if (st == OSC_OK)
        st = osc_rank_run_open(&run, &parts);
    if (st == OSC_OK && run.n_files > 1)
        st = osc_rank_findings_add(blocks[0], &run, names_ranks(o));
    osc_rank_run_fini(&run);
    osc_result_fini(&parts);
    return st == OSC_OK ? st : osc_fail(err, st, "quality: %s", osc_status_text(st));
}

/* Merged rows are in the order of ranks: sort the most severe to the top again. */
static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    r->sorted_by = OSC_QUALITY_RANK_OF_SEVERITY + 1;
    if (r->n_rows == 0)
        osc_result_note(r, "nothing was skipped, repaired or found missing");
    return r->status;
}

/* See table_columns.h. */
const uint32_t osc_column_quality_severity = OSC_QUALITY_SEVERITY,
               osc_column_quality_code = OSC_QUALITY_CODE,
               osc_column_quality_count = OSC_QUALITY_COUNT,
               osc_column_quality_message = OSC_QUALITY_MESSAGE,
               osc_column_quality_remedy = OSC_QUALITY_REMEDY,
               osc_column_quality_rank_of_severity = OSC_QUALITY_RANK_OF_SEVERITY;

const struct osc_table_def osc_table_quality = {
    .name = "quality",
    .help = "What was skipped, repaired, dropped or is missing, by cause.",
    .source = "counts of the reader and of the searches for parents, launches and releases; "
              "what no event of the file has.",
    .rules = OSC_RULE_QUALITY,
    .columns = columns,
    .n_columns = OSC_QUALITY_SHOWN + OSC_RANK_HIDDEN,
    OSC_MAPS(.facts = OSC_FACT_FOREST | OSC_FACT_LINKS | OSC_FACT_ALLOCATIONS |
                      OSC_FACT_ARROWS | /* making these counts findings */
                      OSC_FACT_STEPS /* ranks may have different ones */,
             .map = map, .place = place, .together = together, .finish = finish),
};
