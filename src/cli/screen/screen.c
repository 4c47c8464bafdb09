/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen.h"

#include <math.h>
#include <string.h>

#include "analysis/advice/advice_list.h"
#include "analysis/diff/cut_steps.h"
#include "analysis/remedies.h"
#include "analysis/table_columns.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "cli/screen/page.h"
#include "cli/screen/screen_late.h"
#include "cli/screen/screen_read.h"
#include "cli/screen/screen_top.h"
#include "cli/screen/screen_workers.h"
#include "derive/breakdown.h"
#include "model/producer.h"
#include "names/elide.h"
#include "prose/phrase.h"
#include "prose/units.h"

/* Rows of each section. With titles, blank lines and the limited hints, the page always leaves
 * LIST_LINES for lists and three lines for commands. */
#define STEP_ROWS  6
#define SLOW_ROWS  2
#define LIST_LINES 12
#define BUSY_NAMES 4
#define BUSY_WIDTH 40 /* no name is cut where it has room: its end tells it apart */
#define BUSY_REST  34 /* what a line with one of them has besides */
#define NEXT_LINES 5  /* a blank line, the title, three commands */

static int bar_width(const struct osc_page *p)
{
    return (int)p->width - 56;
}

/* Print TEXT from COLUMN of a line that has begun; further lines are indented by two more. */
static void put_text(struct osc_page *p, const struct osc_strbuf *text, size_t column,
                     unsigned max_lines)
{
    if (text->status != OSC_OK)
        p->out->status = text->status;
    osc_page_wrapped(p, (struct osc_str){text->s ? text->s : "", (uint32_t)text->len}, 2,
                     column, max_lines);
}

/* --- sentences -------------------------------------------------------------- */

/* What they may say. */
/* clang-format off */
#define FACT_LIST(X)                                                                         \
    X(torch, CLEAN, 0) X(program, TEXT, 0) X(format, CLEAN, 0) /* who wrote the trace */     \
    X(ranks, COUNT, 0) X(spans, COUNT, 0) X(devices, COUNT, 0) /* if there are several */    \
    X(device, CLEAN, 0) X(threads, COUNT, 0) X(events, COUNT, 0) X(duration, TIME, 0)        \
    X(switches, TEXT, 0) /* of the profiler */                                               \
    X(mean, TIME, 0) X(n, INTEGER, 0) X(n_kept, COUNT, 0) /* steps */                        \
    X(n_left, INTEGER, 0) /* of them at the end */                                           \
    X(iterates, FLAG, 0) /* they are iterations */                                           \
    OSC_CUT_STEPS_LIST(X)                                                                    \
    X(n_whole, INTEGER, 0) X(n_files, INTEGER, 0) /* traces that count as one step */        \
    X(are_whole, FLAG, 0) /* all do */                                                       \
    X(are_outside, FLAG, 0) /* as no step begins in what is selected */                      \
    X(counts, TEXT, 0) X(note, TEXT, 0) /* what counts as the step, and what of it */        \
    X(are_spans, FLAG, 0) X(fast, INTEGER, 0) X(fast_time, TIME, 0) X(slow, INTEGER, 0)      \
    X(slow_time, TIME, 0) /* ranks or spans */                                               \
    X(rank, INTEGER, 0) X(span, INTEGER, 0) /* of a finding, if there are several */         \
    X(severity, TEXT, 0) X(count, COUNT, 0) X(message, TEXT, 0) X(code, TEXT, 0)             \
    X(remedy, TEXT, 0) X(title, TEXT, 0) X(late, INTEGER, 0) X(stake, TIME, 0)               \
    X(n_more, INTEGER, 0) /* findings */ \
    X(what, TEXT, 0) X(is_next, FLAG, 0) /* lacks, behind others, */ \
    X(flag, TEXT, 0) /* of the profiler although it was on; */ \
    X(n_lack, INTEGER, 0) /* files, if not all; */ \
    X(lacks, TEXT, 0) X(is_unsure, FLAG, 0) /* it may be in a part that is missing */ \
    /* and lines of the page */ \
    X(trace_line, PHRASE,  \
      "{torch?PyTorch {torch}|{program?{program}|{format} trace}}{ranks?, {ranks} "  \
      "ranks}{spans?, {spans} spans}{device?, {device}}{devices?, {devices} "  \
      "devices}, {threads} {threads|thread|threads}, {events} {events|event|events} "  \
      "in {duration}{switches?; with {switches}}")  \
    X(ranks_line, PHRASE,  \
      "fastest {are_spans?span|rank} {fast}: {fast_time}, slowest "  \
      "{are_spans?span|rank} {slow}: {slow_time}")  \
    X(step_line, PHRASE,  \
      "{mean}: {are_whole?{are_outside?no step begins in what is selected|no steps "  \
      "in the {n|trace|traces}}; {n||of each }{counts}{note?; {note}}|{n_kept|one "  \
      "{n||whole }{iterates?iteration|step}|the mean of {n_kept} "  \
      "{iterates?iterations (no steps in the trace)|steps}}}{n_left?; {n_left} more "  \
      "at the end {n_left|is|are} left out: table steps says why}{ranges?; "  \
      "{cut}}{n_whole?; {are_outside?in {n_whole} of {n_files} files no step begins "  \
      "in what is selected: {n_whole|it counts as one|they count as one "  \
      "each}|{n_whole} of {n_files} files {n_whole|has no steps and counts as "  \
      "one|have no steps and count as one each}}}")  \
    X(worst_line, PHRASE,  \
      "{severity}: {count?{count} x }{message} ({code}){remedy?: {remedy}}{n_more?; "  \
      "{n_more} more}")  \
    X(advice_line, PHRASE,  \
      "{rank?rank {rank}: }{span?span {span}: }{title}{late?, much of it for rank "  \
      "{late}}{stake?, {stake} at stake}{n_more?; {n_more} more}")  \
    X(note_line, PHRASE,  \
      "{rank?rank {rank}: }{span?span {span}: }{message}") \
    X(lack, PHRASE,  \
      "{is_next?, }{what}{flag? ({flag} was on)}{n_lack? (in {n_lack} of {n_files} "  \
      "files)}")  \
    X(lacks_line, PHRASE, "{lacks}{is_unsure?; " OSC_REMEDY_UNSURE "}")

/* clang-format on */
OSC_PROSE(osc_screen_prose, FACT_LIST);

/* Facts for a sentence, and the text that one of them borrows. */
struct story {
    struct osc_prose_facts facts;
    struct osc_strbuf text; /* owned */
};

/* Let FACT be the text of S, if there is one. */
static void set_text(struct story *s, unsigned fact)
{
    if (s->text.len > 0)
        osc_prose_text(&s->facts, fact, (struct osc_str){s->text.s, (uint32_t)s->text.len});
}

/* Print SENTENCE, of S, in at most MOST_LINES from COLUMN of a line that has begun, and end S.
 */
static void put_sentence(struct osc_page *p, unsigned sentence, struct story *s,
                         unsigned most_lines, size_t column)
{
    struct osc_strbuf text = {.status = s->text.status};

    osc_strbuf_adds(p->out, "  ");
    osc_prose_say(&text, &s->facts, sentence);
    put_text(p, &text, column, most_lines);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&s->text);
}

/* --- the trace -------------------------------------------------------------- */

/* Say how many devices there are, or which one. */
static void look_at_devices(const struct osc_page *p, struct story *s)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_TRACKS);
    const uint64_t n = osc_screen_info_count(p->s, "devices");

    if (n > 1)
        osc_prose_number(&s->facts, FACT_devices, (int64_t)n);
    for (uint32_t b = 0; b < a->n_blocks && n == 1; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (!osc_str_eq(osc_result_get_str(r, i, osc_column_tracks_kind), OSC_STR("queue")))
                continue;
            osc_prose_text(&s->facts, FACT_device,
                           osc_result_get_str(r, i, osc_column_tracks_parent));
            return;
        }
    }
}

/* Whether `quality` reports CODE as missing in every file. */
static bool all_lack(const struct osc_page *p, const char *code)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_QUALITY);

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(r, i, osc_column_quality_code), osc_str_c(code)))
            return osc_result_get_int(r, i, osc_column_quality_count) >=
                   (int64_t)p->s->n_traces;
    }
    return false;
}

/* Append the switches of the profiler that were on and had an effect. */
static void add_switches(const struct osc_page *p, struct osc_strbuf *out)
{
    static const char *const switches[][3] = {{"record_shapes", "shapes", "no_shapes"},
                                              {"with_stack", "stacks", "no_stacks"},
                                              {"profile_memory", "memory", "no_memory"},
                                              {"with_modules", "modules", "no_modules"},
                                              {"with_flops", "FLOPs", "no_flops"}};
    const char *sep = "";

    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (!osc_screen_info_flag(p->s, switches[i][0]) || all_lack(p, switches[i][2]))
            continue;
        osc_strbuf_addf(out, "%s%s", sep, switches[i][1]);
        sep = ", ";
    }
}

/* Print who worked in one line, as many as fit; without operators there is room for a list. */
static void put_busy(struct osc_page *p)
{
    struct osc_top_row rows[BUSY_NAMES];
    struct osc_arena arena = {0};
    struct osc_strbuf line = {0}, text = {0};
    const size_t room = p->width - BUSY_REST, width = room < BUSY_WIDTH ? room : BUSY_WIDTH;
    uint64_t n_all = 0;
    unsigned n = 0;

    if (!osc_screen_has_operators(p->s))
        return;
    if (osc_screen_find_workers(p->s, &arena, rows, BUSY_NAMES, &n, &n_all) != OSC_OK)
        p->out->status = OSC_ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        struct osc_strbuf name = {0};

        osc_strbuf_clear(&text);
        osc_utf8_append_terminal(&name, rows[i].name);
        osc_elide(&text, (struct osc_str){name.s ? name.s : "", (uint32_t)name.len}, width,
                  NULL);
        osc_strbuf_addc(&text, ' ');
        osc_percent_add(&text, rows[i].ratio, 1);
        osc_strbuf_fini(&name);
        if (osc_page_columns((struct osc_str){line.s ? line.s : "", (uint32_t)line.len}) +
                osc_page_columns((struct osc_str){text.s ? text.s : "", (uint32_t)text.len}) +
                sizeof "  , ; 100 more" >
            p->width)
            break;
        osc_strbuf_adds(&line, i == 0 ? "busy: " : ", ");
        osc_strbuf_add(&line, text.s ? text.s : "", text.len);
        n_all--;
    }
    if (n_all > 0)
        osc_strbuf_addf(&line, "; %llu more", (unsigned long long)n_all);
    if (n > 0) {
        osc_strbuf_adds(p->out, "  ");
        put_text(p, &line, 2, 1);
    }
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&line);
    osc_arena_fini(&arena);
}

static void put_head(struct osc_page *p)
{
    const struct osc_args *const args = p->s->args;
    const struct osc_str torch = osc_screen_info(p->s, "torch_version"),
                         producer = osc_screen_info(p->s, "producer"),
                         format = osc_screen_info(p->s, "format");
    struct story s = {.facts = {.prose = &osc_screen_prose}};

    osc_utf8_append_terminal(&p->cell, osc_str_c(args->operands[0]));
    if (args->n_operands > 1)
        osc_strbuf_addf(&p->cell, " and %d more", args->n_operands - 1);
    const struct osc_str path = {p->cell.s ? p->cell.s : "", (uint32_t)p->cell.len};
    const size_t columns = osc_page_columns(path);
    if (p->has_colour)
        osc_strbuf_adds(p->out, "\x1b[1m");
    osc_page_cell(p, columns < p->width ? columns : p->width, false);
    if (p->has_colour)
        osc_strbuf_adds(p->out, "\x1b[0m");
    osc_page_end_line(p);

    if (torch.len > 0)
        osc_prose_text(&s.facts, FACT_torch, torch);
    else if (producer.len > 0 || osc_str_eq(format, OSC_STR("chrome")))
        osc_prose_text(&s.facts, FACT_program, osc_str_c(osc_producer_title_of(producer)));
    osc_prose_text(&s.facts, FACT_format, format);
    for (int k = 0; k < 2; k++) {
        const uint64_t n = osc_screen_info_count(p->s, k == 0 ? "ranks" : "spans");

        if (n > 1)
            osc_prose_number(&s.facts, k == 0 ? FACT_ranks : FACT_spans, (int64_t)n);
    }
    look_at_devices(p, &s);
    osc_prose_number(&s.facts, FACT_threads, (int64_t)osc_screen_info_count(p->s, "threads"));
    osc_prose_number(&s.facts, FACT_events, (int64_t)osc_screen_info_count(p->s, "events"));
    osc_prose_real(&s.facts, FACT_duration, (double)osc_screen_info_count(p->s, "duration_ns"));
    add_switches(p, &s.text);
    set_text(&s, FACT_switches);
    put_sentence(p, FACT_trace_line, &s, 2, 2);
    put_busy(p);
}

/* --- the average step ------------------------------------------------------- */

static void put_bar(struct osc_page *p, double ratio)
{
    const int halves = (int)lround(ratio * 2 * bar_width(p));

    osc_strbuf_adds(p->out, "  ");
    for (int i = 0; i + 1 < halves; i += 2)
        osc_strbuf_adds(p->out, "\xe2\x96\x88");
    if (halves % 2 == 1)
        osc_strbuf_adds(p->out, "\xe2\x96\x8c");
}

/* Print the fastest and the slowest rank if there are several. */
static void put_ranks(struct osc_page *p)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_RANKS);
    const struct osc_answer_block *fast = NULL, *slow = NULL;
    double least = 0, most = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;
        const double ns = r->n_rows ? osc_result_get_num(r, 0, osc_column_overview_avg_ns) : 0;

        if (r->n_rows > 0 && (!fast || ns < least)) {
            fast = &a->blocks[b];
            least = ns;
        }
        if (r->n_rows > 0 && (!slow || ns > most)) {
            slow = &a->blocks[b];
            most = ns;
        }
    }
    if (!fast || fast == slow)
        return;
    const bool are_spans = fast->rank == slow->rank;
    struct story s = {.facts = {.prose = &osc_screen_prose}};
    osc_prose_flag(&s.facts, FACT_are_spans, are_spans);
    osc_prose_number(&s.facts, FACT_fast, are_spans ? fast->span : fast->rank);
    osc_prose_number(&s.facts, FACT_slow, are_spans ? slow->span : slow->rank);
    osc_prose_real(&s.facts, FACT_fast_time, least);
    osc_prose_real(&s.facts, FACT_slow_time, most);
    put_sentence(p, FACT_ranks_line, &s, 1, 2);
}

/* Whether row I of R, of `overview`, is one of its N longest parts. */
static bool is_long(const struct osc_result *r, uint64_t i, uint64_t n)
{
    const double ns = osc_result_get_num(r, i, osc_column_overview_avg_ns);
    uint64_t n_longer = 0;

    for (uint64_t k = 1; k < r->n_rows; k++) {
        const double other = osc_result_get_num(r, k, osc_column_overview_avg_ns);
        n_longer += other > ns || (k < i && other >= ns);
    }
    return ns > 0 && n_longer < n;
}

/* Print that none of N steps is kept, if there are some: a selection may consist of the last
 * ones. */
static void put_why_no_step(struct osc_page *p, uint64_t n)
{
    if (n == 0)
        return;
    osc_page_section(p, "STEP");
    osc_strbuf_adds(p->out, "  ");
    osc_page_wrapped(p, osc_str_c(osc_breakdown_why_none(true)), 2, strlen("STEP") + 2, 4);
}

/* Say that less than half of the steps was measured, if so. */
static void look_at_cut(const struct osc_page *p, struct story *s)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);
    struct osc_cut_steps c = {0};

    for (uint32_t b = 0; b < a->n_blocks; b++)
        osc_cut_steps_add(&c, &a->blocks[b].result);
    osc_cut_steps_set(&s->facts, FACT_ranges, FACT_measured, &c);
}

/* Say of N_WHOLE traces, which count as one step each, what that step is, if no other one has
 * any; and if there is one trace alone, also that it begins late. */
static void look_at_whole(const struct osc_page *p, uint64_t n, uint64_t n_whole,
                          struct story *s)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);
    uint64_t n_outside;
    bool has_work;

    if (n_whole == 0)
        return;
    osc_screen_look_at_whole(p->s, &n_outside, &has_work);
    osc_prose_flag(&s->facts, FACT_are_outside, n_outside > 0);
    osc_prose_flag(&s->facts, FACT_are_whole, n_whole == n);
    if (n_whole < n)
        osc_prose_number(&s->facts, FACT_n_whole, (int64_t)n_whole);
    osc_prose_number(&s->facts, FACT_n_files, p->s->n_traces);
    osc_prose_text(&s->facts, FACT_counts, osc_str_c(osc_breakdown_what_counts(has_work)));
    for (uint32_t b = 0; b < a->n_blocks && n == 1; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        if (r->n_rows > 0 && osc_result_has(r, 0, osc_column_steps_note))
            osc_prose_text(&s->facts, FACT_note,
                           osc_result_get_str(r, 0, osc_column_steps_note));
    }
}

static void put_steps(struct osc_page *p)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_OVERVIEW);
    struct story s = {.facts = {.prose = &osc_screen_prose}};
    uint64_t n, n_kept, n_whole;

    osc_screen_count_steps(p->s, &n, &n_kept, &n_whole);
    if (r->n_rows == 0) {
        put_why_no_step(p, n);
        return;
    }
    const bool iterates = osc_screen_has_iterations(p->s);
    const char *const title = iterates ? "ITERATION" : "STEP";
    osc_page_section(p, title);
    osc_prose_real(&s.facts, FACT_mean, osc_result_get_num(r, 0, osc_column_overview_avg_ns));
    osc_prose_number(&s.facts, FACT_n, (int64_t)n);
    osc_prose_number(&s.facts, FACT_n_kept, (int64_t)n_kept);
    osc_prose_flag(&s.facts, FACT_iterates, iterates);
    if (n > n_kept)
        osc_prose_number(&s.facts, FACT_n_left, (int64_t)(n - n_kept));
    look_at_cut(p, &s);
    look_at_whole(p, n, n_whole, &s);
    put_sentence(p, FACT_step_line, &s, 4, strlen(title) + 2);
    /* One of the lines is that of the ranks. */
    const bool has_ranks = osc_screen_answer(p->s, OSC_SCREEN_RANKS)->n_blocks > 1;
    for (uint64_t i = 1; i < r->n_rows; i++) {
        const double ratio = osc_result_get_num(r, i, osc_column_overview_ratio);

        if (!is_long(r, i, STEP_ROWS - has_ranks))
            continue;
        osc_strbuf_adds(p->out, "  ");
        osc_strbuf_addstr(&p->cell, osc_result_get_str(r, i, osc_column_overview_category));
        osc_page_cell(p, 14, false);
        osc_page_time(p, osc_result_get_num(r, i, osc_column_overview_avg_ns));
        osc_page_share(p, ratio);
        put_bar(p, ratio);
        osc_page_end_line(p);
    }
    put_ranks(p);
}

/* --- what stands out -------------------------------------------------------- */

/* Say whose rank or span the finding of block B of A is, if there are several. */
static void set_owner(struct story *s, const struct osc_answer *a,
                      const struct osc_answer_block *b)
{
    if (osc_screen_has_ranks(a))
        osc_prose_number(&s->facts, FACT_rank, b->rank);
    else if (a->n_blocks > 1)
        osc_prose_number(&s->facts, FACT_span, b->span);
}

/* Print "step 5", preceded by its rank or span if there are several. */
static void put_step_name(struct osc_page *p, const struct osc_answer_block *b, uint64_t row)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);

    if (osc_screen_has_ranks(a))
        osc_strbuf_addf(&p->cell, "rank %d ", b->rank);
    else if (a->n_blocks > 1)
        osc_strbuf_addf(&p->cell, "span %d ", b->span);
    osc_strbuf_adds(&p->cell, "step ");
    osc_screen_add_step(&b->result, row, &p->cell);
    osc_page_cell(p, 16, false);
}

enum { GREW_SHARE = 7 };

static void put_outlier(struct osc_page *p, const struct osc_outlier *o)
{
    const struct osc_answer_block *const b = o->block;
    const struct osc_result *const r = &b->result;
    const double ns = (double)osc_result_get_int(r, o->row, osc_column_steps_total_ns);

    osc_strbuf_adds(p->out, "  ");
    put_step_name(p, b, o->row);
    osc_page_time(p, ns);
    if (o->median_ns > 0 && ns / o->median_ns < 100)
        osc_strbuf_addf(&p->cell, "%+.0f %%", (ns / o->median_ns - 1) * 100);
    else if (o->median_ns > 0)
        osc_strbuf_adds(&p->cell, "> 100 x");
    osc_page_cell(p, OSC_PAGE_SHARE, true);
    if (osc_result_has(r, o->row, osc_column_steps_grew)) {
        if (p->width < 72) {
            osc_page_end_line(p);
            osc_strbuf_adds(p->out, "  ");
        }
        osc_strbuf_addf(
            p->out, "  %s ",
            osc_str_eq(osc_result_get_str(r, o->row, osc_column_steps_grew_on), OSC_STR("host"))
                ? "host  "
                : "device");
        osc_strbuf_addc(&p->cell, '+');
        osc_units_time(&p->cell,
                       (double)osc_result_get_int(r, o->row, osc_column_steps_grew_by_ns));
        osc_page_cell(p, OSC_PAGE_TIME - 1, false);
        osc_percent_add(&p->cell, osc_result_get_num(r, o->row, osc_column_steps_grew_ratio),
                        0);
        osc_strbuf_addc(&p->cell, ' ');
        osc_page_cell(p, GREW_SHARE, true);
        const struct osc_str grew = osc_result_get_str(r, o->row, osc_column_steps_grew);
        const size_t room = (p->width < 72 ? p->width - 23 : p->width - 58) - GREW_SHARE;
        osc_utf8_append_terminal(&p->cell, grew);
        if (osc_str_eq(grew, OSC_STR("other")))
            osc_strbuf_adds(&p->cell, room < sizeof "other: nothing recorded on the thread"
                                          ? ": no calls"
                                          : ": nothing recorded on the thread");
        osc_page_cell(p, room, false);
    }
    osc_page_end_line(p);
}

/* Print the steps that stand out the most. */
static void put_outliers(struct osc_page *p)
{
    struct osc_outlier found[SLOW_ROWS];
    struct osc_strbuf text = {0};
    const uint64_t n = osc_screen_outliers(p->s, found, SLOW_ROWS);

    if (n == 0)
        return;
    osc_page_section(p, "STEPS THAT STAND OUT");
    osc_strbuf_adds(p->out, "  ");
    if (n > SLOW_ROWS) {
        osc_strbuf_addf(&text, "%d of ", SLOW_ROWS);
        osc_strbuf_add_count(&text, n);
        osc_strbuf_addc(&text, ' ');
    }
    osc_strbuf_adds(&text, "far from the median; what grew, its share");
    put_text(p, &text, 22, 1);
    osc_strbuf_fini(&text);
    for (uint64_t i = 0; i < n && i < SLOW_ROWS; i++)
        put_outlier(p, &found[i]);
}

/* Data that may be missing, the most important first, the profiler's argument for it, and the
 * line of `info` that tells whether it was on. */
static const struct {
    const char *code, *what, *flag;
} lacks[] = {
    {"no_device", "device work", NULL},
    {"no_operators", "operators (ProfilerActivity.CPU)", NULL},
    {"no_steps", "steps (schedule=... and prof.step())", NULL},
    {"single_step", "a second step", NULL},
    {"no_shapes", "shapes (record_shapes=True)", "record_shapes"},
    {"no_memory", "memory (profile_memory=True)", "profile_memory"},
    {"no_stacks", "call stacks (with_stack=True)", "with_stack"},
    {"no_modules", "modules (with_modules=True)", "with_modules"},
    {"no_flops", "FLOPs (with_flops=True)", "with_flops"},
};
#define N_LACKS (sizeof lacks / sizeof *lacks)

/* Enough for the longest finding with its remedy, and for all that may be missing, on a
 * terminal of 60 columns: what somebody should do is never cut. */
#define WORST_LINES 8
#define LACKS_LINES 6

/* The index of CODE in lacks; N_LACKS: none. */
static size_t lack_of(struct osc_str code)
{
    size_t i = 0;

    while (i < N_LACKS && !osc_str_eq(code, osc_str_c(lacks[i].code)))
        i++;
    return i;
}

/* Append REMEDY, with the operand in place of TRACE if there is one alone. */
static void add_remedy(const struct osc_page *p, struct osc_strbuf *out, struct osc_str remedy)
{
    static const char word[] = " TRACE ";
    const size_t len = sizeof word - 1;
    const struct osc_args *const args = p->s->args;
    const char *const at = remedy.len > 0 ? memmem(remedy.s, remedy.len, word, len) : NULL;

    if (!at || args->n_operands != 1) {
        osc_strbuf_addstr(out, remedy);
        return;
    }
    osc_strbuf_add(out, remedy.s, (size_t)(at - remedy.s) + 1);
    osc_operands_add_trace(out, args->operands[0]);
    osc_strbuf_add(out, at + len - 1, remedy.len - (size_t)(at - remedy.s) - (len - 1));
}

/* Print the first, which is the worst, finding about skipped or repaired data. */
static void put_worst(struct osc_page *p)
{
    const struct osc_answer_block *const b =
        &osc_screen_answer(p->s, OSC_SCREEN_QUALITY)->blocks[0];
    const struct osc_result *const r = &b->result;
    uint64_t worst = UINT64_MAX, n = 0;

    for (uint64_t k = 0; k < r->n_rows; k++) {
        const uint64_t i = b->order ? b->order[k] : k;

        if (lack_of(osc_result_get_str(r, i, osc_column_quality_code)) < N_LACKS)
            continue;
        worst = n++ == 0 ? i : worst;
    }
    osc_page_section(p, "QUALITY");
    if (n == 0) {
        osc_strbuf_adds(p->out, "  nothing was skipped or repaired");
        osc_page_end_line(p);
        return;
    }
    const int64_t count = osc_result_get_int(r, worst, osc_column_quality_count);
    struct story s = {.facts = {.prose = &osc_screen_prose}};
    osc_prose_text(&s.facts, FACT_severity,
                   osc_result_get_str(r, worst, osc_column_quality_severity));
    if (count > 1)
        osc_prose_number(&s.facts, FACT_count, count);
    osc_prose_text(&s.facts, FACT_message,
                   osc_result_get_str(r, worst, osc_column_quality_message));
    osc_prose_text(&s.facts, FACT_code, osc_result_get_str(r, worst, osc_column_quality_code));
    if (osc_result_has(r, worst, osc_column_quality_remedy)) {
        add_remedy(p, &s.text, osc_result_get_str(r, worst, osc_column_quality_remedy));
        set_text(&s, FACT_remedy);
    }
    if (n > 1)
        osc_prose_number(&s.facts, FACT_n_more, (int64_t)n - 1);
    put_sentence(p, FACT_worst_line, &s, WORST_LINES, 9);
}

/* Print the advice with the most time at stake, of any rank. */
static void put_advice(struct osc_page *p)
{
    const struct osc_answer_block *of;
    uint64_t row;
    struct story s = {.facts = {.prose = &osc_screen_prose}};
    const uint64_t n = osc_screen_advice(p->s, &of, &row);

    if (n == 0)
        return;
    const struct osc_result *const r = &of->result;
    const int64_t impact_ns = osc_result_get_int(r, row, osc_column_advice_impact_ns),
                  late = osc_screen_late_rank(p->s);
    osc_page_title(p, "ADVICE");
    set_owner(&s, osc_screen_answer(p->s, OSC_SCREEN_ADVICE), of);
    osc_prose_text(&s.facts, FACT_title, osc_result_get_str(r, row, osc_column_advice_title));
    if (osc_str_eq(osc_result_get_str(r, row, osc_column_advice_code),
                   OSC_STR("communication")) &&
        late >= 0)
        osc_prose_number(&s.facts, FACT_late, late);
    if (impact_ns > 0)
        osc_prose_real(&s.facts, FACT_stake, (double)impact_ns);
    if (n > 1)
        osc_prose_number(&s.facts, FACT_n_more, (int64_t)n - 1);
    put_sentence(p, FACT_advice_line, &s, 1, 8);
}

/* Print that a device was busy with what has no record, which no line above counts. */
static void put_earlier(struct osc_page *p)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_ADVICE);
    const struct osc_answer_block *of = NULL;
    struct osc_str note = {0};
    struct story s = {.facts = {.prose = &osc_screen_prose}};

    for (uint32_t b = 0; b < a->n_blocks && note.len == 0; b++) {
        of = &a->blocks[b];
        note = osc_advice_earlier_note(&of->result);
    }
    if (note.len == 0)
        return;
    osc_page_title(p, "NOTE");
    set_owner(&s, a, of);
    osc_prose_text(&s.facts, FACT_message, note);
    put_sentence(p, FACT_note_line, &s, 3, 6);
}

/* Append what the rows of `quality` say is lacking; IS_UNSURE: what may lie in a part of a file
 * that is missing, else the rest. */
static void add_lacking(const struct osc_page *p, struct osc_strbuf *out, bool is_unsure)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_QUALITY);
    const bool is_ours = osc_str_eq(osc_screen_info(p->s, "producer"), OSC_STR("opscope"));
    const bool is_one = !is_ours && p->s->n_traces == 1; /* others may have other switches */

    for (size_t k = 0; k < N_LACKS; k++) {
        /* What `opscope run` records depends on no argument in the program. */
        const bool was_on =
            is_one && lacks[k].flag && osc_screen_info_flag(p->s, lacks[k].flag);
        const size_t len = is_ours || was_on || is_unsure ? strcspn(lacks[k].what, "(")
                                                          : strlen(lacks[k].what);
        const struct osc_str what = {lacks[k].what,
                                     (uint32_t)(len - (lacks[k].what[len - 1] == ' '))};

        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (lack_of(osc_result_get_str(r, i, osc_column_quality_code)) != k ||
                is_unsure != osc_str_eq(osc_result_get_str(r, i, osc_column_quality_remedy),
                                        OSC_STR(OSC_REMEDY_UNSURE)))
                continue;
            struct osc_prose_facts facts = {.prose = &osc_screen_prose};
            const int64_t n = osc_result_get_int(r, i, osc_column_quality_count);

            osc_prose_flag(&facts, FACT_is_next, out->len > 0);
            osc_prose_text(&facts, FACT_what, what);
            if (was_on && !is_unsure)
                osc_prose_text(&facts, FACT_flag, osc_str_c(lacks[k].flag));
            osc_prose_number(&facts, FACT_n_files, p->s->n_traces);
            if (n < p->s->n_traces)
                osc_prose_number(&facts, FACT_n_lack, n);
            osc_prose_say(out, &facts, FACT_lack);
        }
    }
}

/* Print the data that was not recorded, and what may be in a part of a file that is missing;
 * `info` says how to record it. */
static void put_not_recorded(struct osc_page *p)
{
    for (int is_unsure = 0; is_unsure < 2; is_unsure++) {
        const char *const title = is_unsure ? "MISSING" : "NOT RECORDED";
        struct story s = {.facts = {.prose = &osc_screen_prose}};

        add_lacking(p, &s.text, is_unsure);
        if (s.text.len == 0)
            continue;
        osc_page_title(p, title);
        set_text(&s, FACT_lacks);
        osc_prose_flag(&s.facts, FACT_is_unsure, is_unsure);
        put_sentence(p, FACT_lacks_line, &s, LACKS_LINES, strlen(title) + 2);
    }
}

/* Print what is below the lists, but for the commands. */
static void put_findings(struct osc_page *p)
{
    put_outliers(p);
    put_worst(p);
    osc_screen_put_late(p);
    put_advice(p);
    put_earlier(p);
    put_not_recorded(p);
}

static void put_next(struct osc_page *p)
{
    osc_page_section(p, "NEXT");
    osc_page_end_line(p);
    osc_screen_put_commands(p);
}

/* The number of lines that PUT prints. */
static unsigned count_lines(const struct osc_page *p, void (*put)(struct osc_page *))
{
    struct osc_strbuf out = {0};
    struct osc_page page = {.s = p->s, .out = &out, .width = p->width};

    put(&page);
    if (out.status != OSC_OK)
        p->out->status = out.status;
    osc_strbuf_fini(&out);
    osc_strbuf_fini(&page.cell);
    return page.n_lines;
}

/* The lines that the lists may take: all that is left, and LIST_LINES even if long paths in
 * commands want them. */
static unsigned list_lines(const struct osc_page *p)
{
    const unsigned used = p->n_lines + count_lines(p, put_findings);
    const unsigned next = count_lines(p, put_next);
    const unsigned most =
        used + NEXT_LINES < OSC_PAGE_LINES ? OSC_PAGE_LINES - used - NEXT_LINES : 0;
    const unsigned left = used + next < OSC_PAGE_LINES ? OSC_PAGE_LINES - used - next : 0;
    const unsigned least = most < LIST_LINES ? most : LIST_LINES;

    return left > least ? left : least;
}

void osc_screen_write(const struct osc_screen *s, struct osc_strbuf *out)
{
    const size_t wanted = s->width > 0 ? s->width : OSC_PAGE_WIDTH,
                 width = wanted < OSC_PAGE_WIDTH_MOST ? wanted : OSC_PAGE_WIDTH_MOST;
    struct osc_page page = {.s = s,
                            .out = out,
                            .width =
                                width > OSC_PAGE_WIDTH_LEAST ? width : OSC_PAGE_WIDTH_LEAST,
                            .has_colour = s->has_colour},
                    *const p = &page;

    put_head(p);
    put_steps(p);
    osc_screen_put_tops(p, list_lines(p));
    put_findings(p);
    put_next(p);
    osc_strbuf_fini(&page.cell);
}
