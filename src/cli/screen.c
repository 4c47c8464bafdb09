/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/page.h"
#include "cli/screen_read.h"
#include "render/symbol.h"
#include "render/units.h"
#include "table/sort.h"

#define TOP_ROWS   5
#define SLOW_ROWS  3
#define NAME_WIDTH 46 /* of operators and kernels */
#define BAR_WIDTH  24

/* --- what it is ------------------------------------------------------------- */

/* ", 3 threads" */
static void add_number_of(struct osc_strbuf *out, uint64_t n, const char *one, const char *many)
{
    osc_strbuf_adds(out, ", ");
    osc_page_add_count(out, n);
    osc_strbuf_addf(out, " %s", n == 1 ? one : many);
}

/* ", cuda:0" or ", 8 devices". */
static void add_devices(const struct osc_page *p, struct osc_strbuf *out)
{
    const struct osc_loaded *const l = p->s->loaded;

    if (osc_screen_info_count(p->s, "devices") != 1) {
        if (osc_screen_info_count(p->s, "devices") > 1)
            add_number_of(out, osc_screen_info_count(p->s, "devices"), "device", "devices");
        return;
    }
    for (uint32_t i = 0; i < l->n_traces; i++) {
        const struct osc_trace *const t = l->traces[i];

        for (uint32_t k = 1; k < t->n_tracks; k++) {
            if (t->tracks[k].n_events == 0 || t->tracks[k].device.v == 0)
                continue;
            osc_strbuf_adds(out, ", ");
            osc_utf8_append_terminal(out, osc_trace_str(t, t->tracks[k].device));
            return;
        }
    }
}

/* Which switches of the profiler were on. */
static void add_switches(const struct osc_page *p, struct osc_strbuf *out)
{
    static const char *const switches[][2] = {{"record_shapes", "shapes"},
                                              {"with_stack", "stacks"},
                                              {"profile_memory", "memory"},
                                              {"with_modules", "modules"},
                                              {"with_flops", "FLOPs"}};
    const char *sep = "; with ";

    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (!osc_screen_info_flag(p->s, switches[i][0]))
            continue;
        osc_strbuf_addf(out, "%s%s", sep, switches[i][1]);
        sep = ", ";
    }
}

static void put_head(struct osc_page *p)
{
    const struct osc_args *const args = p->s->args;
    const struct osc_str torch = osc_screen_info(p->s, "torch_version"),
                         producer = osc_screen_info(p->s, "producer");
    struct osc_strbuf text = {0};

    osc_utf8_append_terminal(&p->cell, osc_str_c(args->operands[0]));
    if (args->n_operands > 1)
        osc_strbuf_addf(&p->cell, " and %d more", args->n_operands - 1);
    if (p->has_colour)
        osc_strbuf_adds(p->out, "\x1b[1m");
    osc_page_cell(p, OSC_PAGE_WIDTH, false);
    if (p->has_colour)
        osc_strbuf_adds(p->out, "\x1b[0m");
    osc_page_end_line(p);

    if (torch.len > 0) {
        osc_strbuf_adds(&text, "PyTorch ");
        osc_utf8_append_terminal(&text, torch);
    } else {
        osc_strbuf_adds(&text, producer.len > 0 ? "PyTorch (Kineto)" : "Chrome trace");
    }
    if (osc_screen_info_count(p->s, "ranks") > 1)
        add_number_of(&text, osc_screen_info_count(p->s, "ranks"), "rank", "ranks");
    if (osc_screen_info_count(p->s, "spans") > 1)
        add_number_of(&text, osc_screen_info_count(p->s, "spans"), "span", "spans");
    add_devices(p, &text);
    add_number_of(&text, osc_screen_info_count(p->s, "threads"), "thread", "threads");
    add_number_of(&text, osc_screen_info_count(p->s, "events"), "event", "events");
    osc_strbuf_adds(&text, " in ");
    osc_units_time(&text, (double)osc_screen_info_count(p->s, "duration_ns"));
    add_switches(p, &text);
    osc_strbuf_adds(p->out, "  ");
    osc_page_wrapped(p, (struct osc_str){text.s, (uint32_t)text.len}, 2, 2, 3);
    osc_strbuf_fini(&text);
}

/* --- the average step ------------------------------------------------------- */

static void put_bar(struct osc_page *p, double ratio)
{
    const int halves = (int)lround(ratio * 2 * BAR_WIDTH);

    osc_strbuf_adds(p->out, "  ");
    for (int i = 0; i + 1 < halves; i += 2)
        osc_strbuf_adds(p->out, "\xe2\x96\x88");
    if (halves % 2 == 1)
        osc_strbuf_adds(p->out, "\xe2\x96\x8c");
}

/* The fastest and the slowest rank, where there are several. */
static void put_ranks(struct osc_page *p)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_RANKS);
    const struct osc_block *fast = NULL, *slow = NULL;
    double least = 0, most = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;
        const double ns =
            r->n_rows ? osc_result_get_num(r, 0, osc_screen_column(r, "avg_ns")) : 0;

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
    osc_strbuf_addf(p->out, "  fastest %s %d: ", are_spans ? "span" : "rank",
                    are_spans ? fast->span : fast->rank);
    osc_units_time(p->out, least);
    osc_strbuf_addf(p->out, ", slowest %s %d: ", are_spans ? "span" : "rank",
                    are_spans ? slow->span : slow->rank);
    osc_units_time(p->out, most);
    osc_page_end_line(p);
}

static void put_steps(struct osc_page *p)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_OVERVIEW);
    uint64_t n, n_kept;
    bool is_whole;

    if (r->n_rows == 0)
        return;
    osc_screen_count_steps(p->s, &n, &n_kept, &is_whole);
    osc_page_section(p, "STEP");
    osc_strbuf_adds(p->out, "  ");
    osc_units_time(p->out, osc_result_get_num(r, 0, osc_screen_column(r, "avg_ns")));
    if (is_whole)
        osc_strbuf_adds(p->out, ": no steps in the trace, all of it counts as one");
    else if (n == 1)
        osc_strbuf_adds(p->out, ": one step");
    else
        osc_strbuf_addf(p->out, ": the mean of %llu steps", (unsigned long long)n_kept);
    if (n > n_kept)
        osc_strbuf_addf(p->out, "; %llu cut off by the end of the recording",
                        (unsigned long long)(n - n_kept));
    osc_page_end_line(p);
    for (uint64_t i = 1; i < r->n_rows; i++) {
        const double ratio = osc_result_get_num(r, i, osc_screen_column(r, "ratio"));

        if (osc_result_get_num(r, i, osc_screen_column(r, "avg_ns")) <= 0)
            continue;
        osc_strbuf_adds(p->out, "  ");
        osc_strbuf_addstr(&p->cell, osc_screen_text(r, i, "category"));
        osc_page_cell(p, 14, false);
        osc_page_time(p, osc_result_get_num(r, i, osc_screen_column(r, "avg_ns")));
        osc_page_share(p, ratio);
        put_bar(p, ratio);
        osc_page_end_line(p);
    }
    put_ranks(p);
}

/* --- operators and kernels -------------------------------------------------- */

static void put_name(struct osc_page *p, struct osc_str name)
{
    osc_utf8_append_terminal(&p->cell, name);
    osc_page_cell(p, NAME_WIDTH, false);
}

/*
 * A kernel, folded. Of "void f<...>(a, b)" the beginning says more than the ends of its
 * parameters, which a cut in the middle would leave.
 */
static void put_symbol(struct osc_page *p, struct osc_str symbol)
{
    struct osc_strbuf folded = {0};

    osc_symbol_fold(&folded, symbol);
    const char *name = folded.s ? folded.s : "";
    const bool has_parameters = strchr(name, '(') != NULL;
    if (has_parameters && strncmp(name, "void ", 5) == 0)
        name += 5;
    const struct osc_str text = {name, (uint32_t)strlen(name)};
    if (has_parameters && osc_utf8_width(text) > NAME_WIDTH) {
        osc_strbuf_add(&p->cell, text.s, osc_page_prefix(text, NAME_WIDTH - 1));
        osc_strbuf_adds(&p->cell, "\xe2\x80\xa6");
    } else {
        osc_strbuf_addstr(&p->cell, text);
    }
    osc_page_cell(p, NAME_WIDTH, false);
    osc_strbuf_fini(&folded);
}

/* The rows of TABLE that have the most of COLUMN, and their shares of its sum. */
static void put_top(struct osc_page *p, enum osc_screen_table table, const char *title,
                    const char *by, const char *column_name)
{
    const struct osc_block *const b = &osc_screen_answer(p->s, table)->blocks[0];
    const struct osc_result *const r = &b->result;
    const uint32_t c = osc_screen_column(r, column_name), name = osc_screen_column(r, "name");
    double sum = 0;

    if (r->n_rows == 0)
        return;
    for (uint64_t i = 0; i < r->n_rows; i++)
        sum += (double)osc_result_get_int(r, i, c);
    osc_page_section(p, title);
    osc_strbuf_addf(&p->cell, "  %s", by);
    osc_page_cell(p, 2 + NAME_WIDTH - strlen(title), false);
    osc_page_text(p, "calls", 9, true);
    osc_page_text(p, "time", OSC_PAGE_TIME, true);
    osc_page_text(p, "share", OSC_PAGE_SHARE, true);
    osc_page_end_line(p);
    for (uint64_t k = 0; k < r->n_rows && k < TOP_ROWS; k++) {
        const uint64_t i = b->order ? b->order[k] : k;
        const int64_t ns = osc_result_get_int(r, i, c);

        osc_strbuf_adds(p->out, "  ");
        if ((r->def->columns[name].flags & OSC_COLUMN_SYMBOL) && !p->s->args->table.full_names)
            put_symbol(p, osc_result_get_str(r, i, name));
        else
            put_name(p, osc_result_get_str(r, i, name));
        osc_page_add_count(&p->cell,
                           (uint64_t)osc_result_get_int(r, i, osc_screen_column(r, "calls")));
        osc_page_cell(p, 9, true);
        osc_page_time(p, (double)ns);
        osc_page_share(p, sum > 0 ? (double)ns / sum : 0);
        osc_page_end_line(p);
    }
}

static void put_operators(struct osc_page *p)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_OPERATORS);
    bool has_worked = false;

    for (uint64_t i = 0; i < r->n_rows && !has_worked; i++)
        has_worked = osc_result_get_int(r, i, osc_screen_column(r, "device_self_ns")) > 0;
    if (has_worked)
        put_top(p, OSC_SCREEN_OPERATORS, "OPERATORS", "by their own device time",
                "device_self_ns");
    else
        put_top(p, OSC_SCREEN_OPERATORS, "OPERATORS", "by their own host time", "host_self_ns");
}

/* --- what stands out -------------------------------------------------------- */

static double median_of_kept(const struct osc_result *r)
{
    const uint32_t total = osc_screen_column(r, "total_ns"),
                   kept = osc_screen_column(r, "kept");
    struct osc_sort_key key = {.column = total, .divisor = -1, .ascending = true};
    uint32_t *order = NULL;
    uint64_t n = 0;
    double median = 0;

    if (osc_sort_rows(r, &key, &order) != OSC_OK)
        return 0;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_get_bool(r, order[i], kept))
            order[n++] = order[i];
    }
    if (n > 0)
        median = ((double)osc_result_get_int(r, order[(n - 1) / 2], total) +
                  (double)osc_result_get_int(r, order[n / 2], total)) /
                 2;
    osc_free(order);
    return median;
}

/* "step 5", behind its rank or span where there are several. */
static void put_step_name(struct osc_page *p, const struct osc_block *b, struct osc_str label)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);

    if (a->blocks[0].rank != a->blocks[a->n_blocks - 1].rank)
        osc_strbuf_addf(&p->cell, "rank %d ", b->rank);
    else if (a->n_blocks > 1)
        osc_strbuf_addf(&p->cell, "span %d ", b->span);
    osc_strbuf_adds(&p->cell, "step ");
    osc_utf8_append_terminal(&p->cell, label);
    osc_page_cell(p, 16, false);
}

static void put_outlier(struct osc_page *p, const struct osc_block *b, uint64_t i,
                        double median)
{
    const struct osc_result *const r = &b->result;
    const double ns = (double)osc_result_get_int(r, i, osc_screen_column(r, "total_ns"));

    osc_strbuf_adds(p->out, "  ");
    put_step_name(p, b, osc_screen_text(r, i, "label"));
    osc_page_time(p, ns);
    if (median > 0)
        osc_strbuf_addf(&p->cell, "%+.0f %%", (ns / median - 1) * 100);
    osc_page_cell(p, OSC_PAGE_SHARE, true);
    if (osc_result_has(r, i, osc_screen_column(r, "grew"))) {
        osc_strbuf_addf(p->out, "  %s ",
                        osc_str_eq(osc_screen_text(r, i, "grew_on"), OSC_STR("host"))
                            ? "host  "
                            : "device");
        osc_strbuf_addc(&p->cell, '+');
        osc_units_time(&p->cell, osc_result_get_num(r, i, osc_screen_column(r, "grew_by_ns")));
        osc_page_cell(p, OSC_PAGE_TIME - 1, false);
        osc_strbuf_addc(p->out, ' ');
        osc_utf8_append_terminal(&p->cell, osc_screen_text(r, i, "grew"));
        osc_page_cell(p, 21, false);
    }
    osc_page_end_line(p);
}

/* Steps that stand out, in order; the title comes with the first. */
static void put_outliers(struct osc_page *p)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);
    uint64_t n = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;
        const double median = median_of_kept(r);

        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (!osc_result_get_bool(r, i, osc_screen_column(r, "outlier")) || ++n > SLOW_ROWS)
                continue;
            if (n == 1) {
                osc_page_section(p, "STEPS THAT STAND OUT");
                osc_strbuf_adds(p->out, "  beyond 3 MAD of the median; what grew the most");
                osc_page_end_line(p);
            }
            put_outlier(p, &a->blocks[b], i, median);
        }
    }
    if (n > SLOW_ROWS) {
        osc_strbuf_addf(p->out, "  and %llu more", (unsigned long long)(n - SLOW_ROWS));
        osc_page_end_line(p);
    }
}

/* What was not recorded, what matters most first. */
static const char *const lacks[] = {"no_device", "no_steps",  "single_step", "no_shapes",
                                    "no_memory", "no_stacks", "no_modules",  "no_flops"};

static bool is_lack(struct osc_str code)
{
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        if (osc_str_eq(code, osc_str_c(lacks[i])))
            return true;
    }
    return false;
}

/* The first, which is the worst, of what was skipped or repaired. */
static void put_worst(struct osc_page *p)
{
    const struct osc_block *const b = &osc_screen_answer(p->s, OSC_SCREEN_QUALITY)->blocks[0];
    const struct osc_result *const r = &b->result;
    uint64_t worst = UINT64_MAX, n = 0;

    for (uint64_t k = 0; k < r->n_rows; k++) {
        const uint64_t i = b->order ? b->order[k] : k;

        if (is_lack(osc_screen_text(r, i, "code")))
            continue;
        worst = n++ == 0 ? i : worst;
    }
    osc_page_section(p, "QUALITY");
    osc_strbuf_adds(p->out, "  ");
    if (n == 0) {
        osc_strbuf_adds(p->out, "nothing was skipped or repaired");
        osc_page_end_line(p);
        return;
    }
    const struct osc_str severity = osc_screen_text(r, worst, "severity");
    struct osc_strbuf text = {0};
    osc_strbuf_addstr(&text, severity);
    osc_strbuf_adds(&text, ": ");
    if (osc_result_get_int(r, worst, osc_screen_column(r, "count")) > 1) {
        osc_page_add_count(
            &text, (uint64_t)osc_result_get_int(r, worst, osc_screen_column(r, "count")));
        osc_strbuf_adds(&text, " x ");
    }
    osc_strbuf_addstr(&text, osc_screen_text(r, worst, "message"));
    osc_strbuf_adds(&text, " (");
    osc_strbuf_addstr(&text, osc_screen_text(r, worst, "code"));
    osc_strbuf_adds(&text, ")");
    if (osc_result_has(r, worst, osc_screen_column(r, "remedy"))) {
        osc_strbuf_adds(&text, ": ");
        osc_strbuf_addstr(&text, osc_screen_text(r, worst, "remedy"));
    }
    if (n > 1)
        osc_strbuf_addf(&text, "; %llu more", (unsigned long long)(n - 1));
    osc_page_wrapped(p, (struct osc_str){text.s, (uint32_t)text.len}, 2, 9, 3);
    osc_strbuf_fini(&text);
}

/* What was not recorded, and what to write in the program to have it, as far as it fits. */
static void put_lacks(struct osc_page *p, unsigned n_reserved)
{
    const struct osc_result *const r = osc_screen_merged(p->s, OSC_SCREEN_QUALITY);
    struct osc_strbuf text = {0};
    bool has_title = false;

    for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++) {
        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (!osc_str_eq(osc_screen_text(r, i, "code"), osc_str_c(lacks[k])))
                continue;
            osc_strbuf_clear(&text);
            osc_strbuf_addstr(&text, osc_screen_text(r, i, "message"));
            osc_strbuf_adds(&text, ": ");
            osc_strbuf_addstr(&text, osc_screen_text(r, i, "remedy"));
            const struct osc_str line = {text.s, (uint32_t)text.len};
            if (p->n_lines + (has_title ? 0 : 2) + osc_page_count_lines(line, 4, 2) +
                    n_reserved >
                OSC_PAGE_LINES)
                continue;
            if (!has_title) {
                osc_page_section(p, "NOT RECORDED");
                osc_page_end_line(p);
                has_title = true;
            }
            osc_strbuf_adds(p->out, "  ");
            osc_page_wrapped(p, line, 4, 2, UINT32_MAX);
        }
    }
    osc_strbuf_fini(&text);
}

void osc_screen_write(const struct osc_screen *s, struct osc_strbuf *out)
{
    struct osc_page p = {.s = s, .out = out, .has_colour = s->has_colour};
    const unsigned n_reserved = 2 + osc_screen_count_command_lines(&p);

    put_head(&p);
    put_steps(&p);
    put_operators(&p);
    put_top(&p, OSC_SCREEN_KERNELS, "KERNELS", "by total time", "total_ns");
    put_outliers(&p);
    put_worst(&p);
    put_lacks(&p, n_reserved);
    osc_page_section(&p, "NEXT");
    osc_page_end_line(&p);
    osc_screen_put_commands(&p);
    osc_strbuf_fini(&p.cell);
}
