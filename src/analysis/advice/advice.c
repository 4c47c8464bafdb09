/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `advice`: what could be changed, with the time at stake. That is a length of time within the
 * kept steps, so that rules can be compared, and never a promise.
 */
#include <string.h>

#include "analysis/remedies.h"
#include "analysis/shared_options.h"
#include "analysis/table_registry.h"
#include "base/mem.h"

#include "analysis/advice/advice_list.h"
#include "analysis/advice/program.h"
#include "analysis/advice/straggler.h"
#include "analysis/ranks/calls.h"
#include "analysis/ranks/rank_run.h"
#include "prose/phrase.h"
#include "table/question.h"

enum {
    IMPACT,
    SEVERITY,
    CODE,
    TITLE,
    TEXT,
    EVIDENCE,
    RATIO,
    COUNT,
    SUBJECT,
    GREW,
    KEPT,
    PART,
    WHOLE,
    PARTS,
    TRAITS,
    SELECT,
    WHEN,
    FROM,
    TO,
    ROWS,
    ASKED,
    IS_WORK,
#define FACT_NUMBER(name, kind, merge) FACT_##name,
    OSC_ADVICE_FACT_LIST(FACT_NUMBER) /* for the text */
    N_SHOWN,
    N_COLUMNS = N_SHOWN + OSC_RANK_HIDDEN
};

#define UNIT_NS    "ns"
#define UNIT_COUNT NULL
#define FACT_COLUMN(name, kind, merge)                                                \
    OSC_COLUMN(FACT_##name, #name, INTEGER, UNIT_##kind, merge, OSC_COLUMN_HIDDEN, 0, \
               "A number of the text."),

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(
        IMPACT, "impact_ns", INTEGER, "ns", SUM, 0,
        OSC_RULE_ADVICE | OSC_RULE_STEP_LENGTH | OSC_RULE_IDLE | OSC_RULE_HOST_ADVICE |
            OSC_RULE_SPLIT | OSC_RULE_THINNED | OSC_RULE_PRODUCTS,
        "Time at stake in all kept steps together: the time of what the rule is about, or "
        "the part of it that the rule names; not what following the advice will save. "
        "straggler: caused_wait_ns of table stragglers, of all other ranks together, at most "
        "the length of their kept steps."),
    OSC_COLUMN(SEVERITY, "severity", STRING, NULL, FINISH, 0, OSC_RULE_ADVICE,
               "warning: impact_ns is a tenth of the kept steps or more, or memory is nearly "
               "full or grows. info: otherwise."),
    OSC_COLUMN(CODE, "code", STRING, NULL, KEY, 0, OSC_RULE_ADVICE,
               "Rule that applies, as a word that scripts can rely on."),
    OSC_COLUMN(TITLE, "title", STRING, NULL, FIRST, 0, OSC_RULE_ADVICE,
               "The rule in a few words."),
    OSC_COLUMN(TEXT, "text", STRING, NULL, FINISH, OSC_COLUMN_LONG | OSC_COLUMN_BELOW,
               OSC_RULE_ADVICE,
               "What was measured, and what to change. Names of kernels are folded in it; "
               "subject has them as the file has them."),
    OSC_COLUMN(
        EVIDENCE, "evidence", STRING, NULL, FIRST, OSC_COLUMN_BELOW, OSC_RULE_ADVICE,
        "Shell command that prints the rows that the advice rests on, those with most time "
        "first; for launch_bound, unrecorded_idle, handover and late_start what ran in "
        "the gap before subject that has most of it. With --merge: the rows of all "
        "ranks and spans to which the rule applies."),
    OSC_COLUMN(
        RATIO, "ratio", NUMBER, "ratio", FINISH, 0, OSC_RULE_ADVICE,
        "What the rule measured. low_utilization: utilization_ratio of these devices. "
        "tensor_cores: time of the kernels it is about / time of all kernels of "
        "operators. memory_limit: peak / capacity. memory_growth: bytes that stay / bytes "
        "that were allocated. device_kernels: time in which kernels compute / length of the "
        "kept steps. slow_steps: what they exceed the median by / length of the kept "
        "steps. straggler: impact_ns / length of the kept steps of all other ranks, above 1 "
        "where they wait in several collectives at once. Others: "
        "impact_ns / length of the kept steps. With --merge: of the ranks and "
        "spans to which the rule applies."),
    OSC_COLUMN(COUNT, "count", INTEGER, NULL, SUM, 0, OSC_RULE_ADVICE,
               "Number of steps, ranges, devices, kernels, memory records, gaps, calls, "
               "operators or copies that the advice rests on."),
    OSC_COLUMN(
        SUBJECT, "subject", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_ADVICE,
        "What the advice is about: devices; the operator or work before which most of the "
        "time lies; the call, kernel, operator or Python function that took most time or was "
        "called "
        "most often; the slowest step, as --steps takes it. Missing where rows were "
        "merged."),
    OSC_COLUMN(GREW, "grew", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_ADVICE | OSC_RULE_OUTLIERS,
               "slow_steps: what grew most in the slowest step (grew in table steps). "
               "unrecorded_idle: the range that the program marked there. Others: the range "
               "around subject, or in which it was launched. Missing where rows were merged."),
    OSC_COLUMN(KEPT, "kept_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Length of the kept steps, without what they have in common."),
    OSC_COLUMN(PART, "part", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "ratio, above the line."),
    OSC_COLUMN(WHOLE, "whole", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "ratio, below the line."),
    OSC_COLUMN(PARTS, "parts", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Traces that the row was merged from."),
    OSC_COLUMN(TRAITS, "traits", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "What the text needs to know of device and program."),
    OSC_COLUMN(SELECT, "select", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Which rows evidence shows, whenever they run."),
    OSC_COLUMN(WHEN, "when", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Which of them, by the two next (enum osc_advice_when)."),
    OSC_COLUMN(FROM, "from_ns", INTEGER, "ns", FIRST, OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT, 0,
               "Begin of their time."),
    OSC_COLUMN(TO, "to_ns", INTEGER, "ns", FIRST, OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT, 0,
               "End of their time."),
    OSC_COLUMN(ROWS, "rows", STRING, NULL, JOIN, OSC_COLUMN_HIDDEN, 0,
               "All this of each rank: osc_advice_add_part()."),
    OSC_COLUMN(ASKED, "asked", STRING, NULL, FINISH, OSC_COLUMN_HIDDEN | OSC_COLUMN_QUESTION, 0,
               "Evidence as a question about all traces (table/question.h)."),
    OSC_COLUMN(IS_WORK, "is_work", BOOLEAN, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Whether subject is the name of device work."),
    OSC_ADVICE_FACT_LIST(FACT_COLUMN) OSC_RANK_COLUMNS(N_SHOWN, KEY),
};

static void set_text(struct osc_result *out, uint32_t column, struct osc_str text)
{
    if (text.len > 0)
        osc_result_str(out, column, text);
}

static osc_status add_row(const struct osc_advice_base *a, enum osc_advice_code code,
                          const struct osc_advice_item *item, struct osc_str traits,
                          const struct osc_options *o, struct osc_result *out)
{
    const struct osc_advice_asked of = {o->view, a->is_compat, 0};
    struct osc_strbuf evidence = {0};
    struct osc_advice_rows rows;

    osc_advice_find_rows(a, code, item, &rows);
    osc_advice_print(&evidence, code, a->t, &rows, &of);
    if (evidence.status != OSC_OK || rows.select.status != OSC_OK) {
        osc_strbuf_fini(&evidence);
        osc_strbuf_fini(&rows.select);
        return OSC_ENOMEM;
    }
    osc_result_row(out);
    osc_result_int(out, IMPACT, item->impact_ns);
    osc_result_str(out, CODE, osc_str_c(osc_advice_rules[code].code));
    osc_result_str(out, TITLE, osc_str_c(osc_advice_rules[code].title));
    osc_result_str(out, EVIDENCE, osc_strbuf_str(&evidence));
    osc_result_int(out, COUNT, item->count);
    set_text(out, SUBJECT, item->subject);
    set_text(out, GREW, item->grew);
    osc_result_int(out, KEPT, a->kept_ns);
    osc_result_int(out, PART, item->part);
    osc_result_int(out, WHOLE, item->whole);
    osc_result_int(out, PARTS, 1);
    osc_result_str(out, TRAITS, traits);
    osc_result_str(out, SELECT, osc_strbuf_str(&rows.select));
    osc_result_int(out, WHEN, rows.when);
    osc_result_int(out, FROM, rows.from_ns - a->t->origin_ns);
    osc_result_int(out, TO, rows.to_ns - a->t->origin_ns);
    osc_result_bool(out, IS_WORK, item->is_work);
#define ADD_FACT(name, kind, merge) osc_result_int(out, FACT_##name, item->facts.name);
    OSC_ADVICE_FACT_LIST(ADD_FACT)
    osc_strbuf_fini(&evidence);
    osc_strbuf_fini(&rows.select);
    return OSC_OK;
}

#define BUSY_WORDS " was probably busy with work from before the recording for "

/* What is said of a device that earlier work held. */
#define EARLIER_LIST(X)                                                                    \
    X(device, TEXT, 0)                                                                     \
    X(held, NS, 0)                                                                         \
    X(part, SHARE, 0)                                                                      \
    X(call, NAME, 0) /* that waited most of it */                                          \
    X(waited, NS, 0)                                                                       \
    X(earlier, PHRASE,                                                                     \
      "{device}" BUSY_WORDS "{held} ({part} of the step time): not counted{call?; {call} " \
      "waited for {waited}}")
OSC_PROSE(osc_earlier_prose, EARLIER_LIST);

/* Name the devices that earlier work held for much of the kept steps. */
static osc_status note_earlier(const struct osc_advice_base *a, struct osc_result *out)
{
    const struct osc_loads *const loads = &a->f->loads;
    const int64_t all_ns = a->kept_ns + osc_intervals_length(&a->left_out);
    osc_status st = OSC_OK;

    for (uint32_t d = 0; d < loads->n_devices && a->left_out.n > 0 && st == OSC_OK; d++) {
        struct osc_prose_facts facts = {.prose = &osc_earlier_prose};
        struct osc_earlier_sum sum;

        st = osc_advice_earlier(a, d, &sum);
        if (st != OSC_OK || sum.ns <= all_ns / OSC_ADVICE_MUCH)
            continue;
        osc_prose_text(&facts, FACT_device, osc_trace_str(a->t, loads->devices[d].name));
        osc_prose_number(&facts, FACT_held, sum.ns);
        osc_prose_share(&facts, FACT_part, sum.ns, all_ns);
        if (sum.call_ns > sum.ns / 2) {
            osc_prose_text(&facts, FACT_call, osc_trace_str(a->t, sum.call));
            osc_prose_number(&facts, FACT_waited, sum.call_ns);
        }
        osc_prose_say(&out->notes, &facts, FACT_earlier);
        osc_result_end_note(out);
    }
    return st;
}

static const char no_rule[] = "no rule applies";

/* Remove the note that no rule applies from R, which has rows. */
static osc_status drop_no_rule(struct osc_result *r)
{
    struct osc_strbuf kept = {0};
    const char *line = r->notes.len > 0 ? r->notes.s : "";

    while (*line) {
        const size_t n = (size_t)(strchrnul(line, '\n') - line);

        if (n != sizeof no_rule - 1 || memcmp(line, no_rule, n) != 0) {
            osc_strbuf_add(&kept, line, n);
            osc_strbuf_addc(&kept, '\n');
        }
        line += n + (line[n] != 0);
    }
    osc_strbuf_fini(&r->notes);
    r->notes = kept;
    return kept.status;
}

/* Name the rules that had no data. */
static void add_notes(const struct osc_advice_base *a, struct osc_result *out)
{
    if (a->b->n_kept == 0)
        osc_result_note(out, "%s: there is no step time",
                        osc_breakdown_why_none(a->b->n_steps > 0));
    else if (a->first_step > a->last_step && osc_steps_lie_outside(a->t))
        osc_result_note(out, "no step begins in what is selected: it counts as one");
    else if (a->first_step > a->last_step)
        osc_result_note(out, osc_remedy_is_there(a->t, OSC_FINDING_no_steps)
                                 ? "the program announced no steps: the trace counts as one "
                                   "(call step() of the profiler)"
                                 : "the trace has no steps: it counts as one");
    if (a->has_foreign)
        osc_result_note(out,
                        "a process is a device by its name or labels, and its records are "
                        "of a form that opscope does not know: neither rules about devices "
                        "nor those for programs without devices apply");
    else if (!a->has_works && a->f->links.n_calls > 0)
        osc_result_note(out, "calls of a device's runtime were recorded, but no device work: "
                             "neither rules about devices nor those for programs without "
                             "devices apply");
    else if (!a->has_works)
        osc_result_note(out, "no device work that opscope knows in the trace: rules about "
                             "devices do not apply");
    else if (a->t->n_devices == 0)
        osc_result_note(out, "the file does not say what its devices are: "
                             "rules about NCCL, Tensor Cores and memory do not apply");
    if (a->is_thinned)
        osc_result_note(out, "the file lacks many of the events that were recorded: what the "
                             "devices waited for is not known");
    else if (a->has_works && !a->has_host && !a->is_compat)
        osc_result_note(out, "nothing of the host was recorded: what the devices waited for is "
                             "not known");
    if (out->n_rows == 0 && a->b->n_kept > 0)
        osc_result_note(out, no_rule);
}

/* Whether an impact of NS is a tenth of KEPT_NS or more. */
static bool is_much(int64_t ns, int64_t kept_ns)
{
    return ns >= kept_ns / 10 + (kept_ns % 10 != 0);
}

/* Whether any advice of L is about much of KEPT_NS. */
static bool has_much(const struct osc_advice_list *l, int64_t kept_ns)
{
    for (unsigned k = 0; k < OSC_ADVICE_COUNT; k++) {
        if (l->of[k].applies && is_much(l->of[k].impact_ns, kept_ns))
            return true;
    }
    return false;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_advice_base a;
    struct osc_advice_list list = {0};
    struct osc_strbuf traits = {0};
    osc_status st = osc_advice_base_make(t, osc_is_compat_tb(o), o->n_threads, &a);

    if (st == OSC_OK && a.b->n_kept > 0)
        st = osc_advice_plugin_rules(&a, &list);
    if (st == OSC_OK && a.b->n_kept > 0 && !osc_is_compat_tb(o) && a.has_works)
        st = osc_advice_idle_rules(&a, &list);
    if (st == OSC_OK && a.b->n_kept > 0 && !osc_is_compat_tb(o))
        st = osc_advice_device_rules(&a, &list);
    if (st == OSC_OK && a.b->n_kept > 0 && !osc_is_compat_tb(o) && a.has_works)
        st = osc_advice_products(&a, &list);
    if (st == OSC_OK && a.split.steps)
        st = osc_advice_host_rules(&a, &list);
    if (st == OSC_OK && a.b->n_kept > 0 && !osc_is_compat_tb(o) && a.has_works &&
        !has_much(&list, a.kept_ns))
        st = osc_advice_device_kernels(&a, &list.of[OSC_ADVICE_DEVICE_KERNELS]);
    if (st == OSC_OK) {
        osc_program_traits(&a, &traits);
        st = traits.status;
    }
    for (unsigned k = 0; k < OSC_ADVICE_COUNT && st == OSC_OK; k++) {
        if (list.of[k].applies)
            st = add_row(&a, (enum osc_advice_code)k, &list.of[k],
                         (struct osc_str){traits.s, (uint32_t)traits.len}, o, out);
    }
    if (st == OSC_OK) {
        add_notes(&a, out);
        st = note_earlier(&a, out);
    }
    if (st == OSC_OK)
        st = out->status;
    osc_strbuf_fini(&traits);
    osc_advice_list_fini(&list);
    osc_advice_base_fini(&a);
    if (st != OSC_OK)
        return osc_fail(err, st, "advice: %s", osc_status_text(st));
    /* What together() compares; one alone waits for nobody, and the plugin compares nothing. */
    return osc_is_compat_tb(o) || o->n_traces == 1 ? st : osc_rank_map_work(t, o, out, err);
}

/* Leave only the part of its rank in PART. */
static osc_status keep_part(struct osc_result *part)
{
    bool *const keep = osc_calloc(part->n_rows + 1, sizeof *keep);

    if (!keep)
        return OSC_ENOMEM;
    for (uint64_t i = 0; i < part->n_rows; i++)
        keep[i] = osc_rank_is_part(part, i);
    osc_result_keep(part, keep);
    osc_strbuf_clear(&part->notes);
    osc_free(keep);
    return part->status;
}

/* Note the evidence of row I of the trace AT, which has the times of all traces now. */
static osc_status add_part(struct osc_result *part, uint64_t i, const struct osc_placing *at)
{
    struct osc_strbuf where = {0}, rows = {0};

    osc_advice_add_where(&where, osc_result_get_str(part, i, SELECT),
                         (enum osc_advice_when)osc_result_get_int(part, i, WHEN),
                         osc_result_get_int(part, i, FROM), osc_result_get_int(part, i, TO));
    osc_advice_add_part(&rows, at, osc_strbuf_str(&where));
    const osc_status st = where.status != OSC_OK ? where.status : rows.status;
    if (st == OSC_OK)
        osc_result_set_str(part, i, ROWS, osc_strbuf_str(&rows));
    osc_strbuf_fini(&where);
    osc_strbuf_fini(&rows);
    return st;
}

static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    osc_status st = OSC_OK;

    if (to->is_beside_steps) /* its stakes are shares of steps that it does not have */
        st = keep_part(part);
    for (uint64_t i = 0; i < part->n_rows && st == OSC_OK; i++) {
        if (osc_result_has(part, i, SELECT))
            st = add_part(part, i, to);
    }
    if (st == OSC_OK)
        st = osc_rank_place(part, from, to);
    return st == OSC_OK ? part->status : st;
}

struct osc_str osc_advice_earlier_note(const struct osc_result *r)
{
    struct osc_str rest = {r->notes.s, (uint32_t)r->notes.len};

    while (rest.len > 0) {
        const char *const end = memchr(rest.s, '\n', rest.len);
        const struct osc_str line = {rest.s, end ? (uint32_t)(end - rest.s) : rest.len};

        if (osc_str_has(line, OSC_STR(BUSY_WORDS)))
            return line;
        rest.s += line.len + (end != NULL);
        rest.len -= line.len + (end != NULL);
    }
    return (struct osc_str){0};
}

static enum osc_advice_code code_of(struct osc_str text)
{
    for (unsigned k = 0; k < OSC_ADVICE_COUNT; k++) {
        if (osc_str_eq(text, osc_str_c(osc_advice_rules[k].code)))
            return (enum osc_advice_code)k;
    }
    return OSC_ADVICE_COUNT;
}

/* Set the question of row I for all traces; it is the evidence of a row that was merged. */
static osc_status ask(struct osc_result *r, uint64_t i, enum osc_advice_code code,
                      const struct osc_options *o)
{
    const struct osc_str parts = osc_result_get_str(r, i, ROWS);
    const bool is_merged = osc_result_get_int(r, i, PARTS) != 1;
    struct osc_view view = o->view ? *o->view : (struct osc_view){0};
    const struct osc_advice_asked of = {&view, osc_is_compat_tb(o), 0};
    struct osc_strbuf where = {0}, q = {0}, text = {0};

    if (is_merged)
        osc_advice_join_parts(&where, parts, o->n_traces);
    else
        osc_strbuf_addstr(&where, osc_question_get(parts, "where"));
    if (!is_merged && parts.len > 0 && o->n_traces > 1) {
        view.ranks = osc_question_get(parts, "rank").s;
        view.spans = osc_question_get(parts, "span").s;
    }
    osc_advice_ask(&q, code, osc_strbuf_str(&where), &of);
    if (is_merged || code == OSC_ADVICE_STRAGGLER) {
        osc_question_print(&text, osc_strbuf_str(&q));
        osc_strbuf_addf(&text, " %s", o->operands);
        osc_result_set_str(r, i, EVIDENCE, osc_strbuf_str(&text));
    }
    osc_result_set_str(r, i, ASKED, osc_strbuf_str(&q));
    const osc_status st = where.status != OSC_OK ? where.status
                          : q.status != OSC_OK   ? q.status
                                                 : text.status;
    osc_strbuf_fini(&where);
    osc_strbuf_fini(&q);
    osc_strbuf_fini(&text);
    return st;
}

static osc_status finish_row(struct osc_result *r, uint64_t i, const struct osc_options *o)
{
    const enum osc_advice_code code = code_of(osc_result_get_str(r, i, CODE));
    struct osc_advice_numbers n = {.impact_ns = osc_result_get_int(r, i, IMPACT),
                                   .kept_ns = osc_result_get_int(r, i, KEPT),
                                   .part = osc_result_get_int(r, i, PART),
                                   .whole = osc_result_get_int(r, i, WHOLE),
                                   .count = osc_result_get_int(r, i, COUNT),
                                   .n_parts = osc_result_get_int(r, i, PARTS),
                                   .subject = osc_result_get_str(r, i, SUBJECT),
                                   .grew = osc_result_get_str(r, i, GREW),
                                   .is_work = osc_result_get_bool(r, i, IS_WORK),
                                   .traits = osc_result_get_str(r, i, TRAITS)};
    const bool is_serious = code == OSC_ADVICE_MEMORY_LIMIT ||
                            code == OSC_ADVICE_MEMORY_GROWTH || is_much(n.impact_ns, n.kept_ns);
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

#define GET_FACT(name, kind, merge) n.facts.name = osc_result_get_int(r, i, FACT_##name);
    OSC_ADVICE_FACT_LIST(GET_FACT)
    if (osc_advice_rules[code].text) {
        st = osc_advice_say(code, &n, &text);
        if (st == OSC_OK)
            osc_result_set_str(r, i, TEXT, (struct osc_str){text.s, (uint32_t)text.len});
    }
    osc_strbuf_fini(&text);
    osc_result_set_str(r, i, SEVERITY, is_serious ? OSC_STR("warning") : OSC_STR("info"));
    if (n.whole > 0)
        osc_result_set_num(r, i, RATIO, (double)n.part / (double)n.whole);
    if (n.n_parts != 1) {
        osc_result_set_missing(r, i, SUBJECT);
        osc_result_set_missing(r, i, GREW);
    }
    return st == OSC_OK && o->operands ? ask(r, i, code, o) : st;
}

/* Let the advice about communication in R know how long collectives waited for other ranks. */
static void set_waited(struct osc_result *r, struct osc_waited waited)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (code_of(osc_result_get_str(r, i, CODE)) != OSC_ADVICE_COMMUNICATION)
            continue;
        osc_result_set_int(r, i, FACT_waited_ns, waited.ns);
        osc_result_set_int(r, i, FACT_collectives_ns, waited.of_ns);
    }
}

/* Say in the advice about communication how much of it waits, and add to the block of the rank
 * that lets the others wait that it does. */
static osc_status together(struct osc_result *const *blocks, uint32_t n,
                           const struct osc_options *o, struct osc_err *err)
{
    struct osc_straggler s = {0};
    osc_status st = osc_straggler_find(&s, blocks, n, o, err);

    for (uint32_t b = 0; b < n && st == OSC_OK; b++)
        set_waited(blocks[b], s.waited[b]);
    if (st != OSC_OK || !s.block) {
        osc_straggler_fini(&s);
        return st;
    }
    struct osc_result *const r = s.block;
    osc_result_row(r);
    osc_result_int(r, IMPACT, s.impact_ns);
    osc_result_str(r, CODE, osc_str_c(osc_advice_rules[OSC_ADVICE_STRAGGLER].code));
    osc_result_str(r, TITLE, osc_str_c(osc_advice_rules[OSC_ADVICE_STRAGGLER].title));
    osc_result_str(r, TEXT, (struct osc_str){s.text.s, (uint32_t)s.text.len});
    osc_result_int(r, COUNT, s.n_last);
    set_text(r, SUBJECT, osc_straggler_operator(&s));
    osc_result_int(r, KEPT, s.kept_ns);
    osc_result_int(r, PART, s.impact_ns);
    osc_result_int(r, WHOLE, s.kept_ns);
    osc_result_int(r, PARTS, 1);
    st = r->status;
    osc_straggler_fini(&s);
    return st == OSC_OK ? st : osc_fail(err, st, "advice: %s", osc_status_text(st));
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    if (r->n_rows > 0 && drop_no_rule(r) != OSC_OK)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const bool is_known = code_of(osc_result_get_str(r, i, CODE)) < OSC_ADVICE_COUNT;
        const osc_status st = is_known ? finish_row(r, i, o) : OSC_EINVAL;

        if (st != OSC_OK)
            return osc_fail(err, st, "advice: %s", osc_status_text(st));
    }
    return r->status;
}

/* See table_columns.h. */
const uint32_t osc_column_advice_impact_ns = IMPACT, osc_column_advice_code = CODE,
               osc_column_advice_title = TITLE, osc_column_advice_text = TEXT;

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_advice = {
    .name = "advice",
    .help = "What could be changed, with the time at stake.",
    .source = "what ran in the kept steps; the recommendations of torch-tb-profiler, and rules "
              "like those of Nsight Systems and XProf.",
    .rules = OSC_RULE_ADVICE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = IMPACT + 1,
    .options = options,
    OSC_MAPS(.facts = OSC_CALLS_FACTS | OSC_FACT_LOADS, .map = map, .place = place,
             .together = together, .finish = finish),
};
