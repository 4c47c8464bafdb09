/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_top.h"

#include <string.h>

#include "analysis/advice/split_names.h"
#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "cli/screen/page.h"
#include "cli/screen/screen_modules.h"
#include "cli/screen/screen_points.h"
#include "cli/screen/screen_ranges.h"
#include "cli/screen/screen_workers.h"
#include "names/labels.h"
#include "prose/units.h"

#define LEAST_ROWS  2 /* of lists whose rows tell something together */
#define CALLS_WIDTH 9
#define SELF_WIDTH  (OSC_PAGE_SHARE + 3) /* the page has three columns to spare */

/* A list of the rows that have the largest values of a column. */
struct top {
    enum osc_screen_table table;
    const char *title, *by;
    bool is_left_out;
    unsigned keeps;             /* rows that it gives away last where space is short */
    uint32_t name, calls, most; /* columns of the table */
    const char *heads[3];       /* of its columns of numbers; NULL: calls, time, and share */
    uint32_t self;              /* column to show instead of shares of the sum; 0: none */
    uint32_t kind;              /* column that tells rows of one name apart; 0: none */
    bool is_owned;              /* rows of device work by operator, or by cause if none is */
    bool are_kernels;           /* rows with shares of the time in kernels alone */
    bool are_on_host;           /* rows that an operator has */
    bool are_ranges;            /* rows of ranges that are in no other list */
    bool are_functions;         /* rows of Python functions, those of one name as one */
    bool are_modules;           /* rows of parts of the model */
    bool are_workers;           /* rows of threads and devices, with shares of the recording */
    bool are_points;            /* rows of what has no duration, with their first time */
    struct osc_top_row rows[OSC_TOP_ROWS]; /* the first ones */
    unsigned n_rows;
    double sum_ns;          /* of all rows */
    struct osc_arena arena; /* owned; names of functions and modules */
};

/* The columns left for a name in a line with numbers. */
static size_t name_width(const struct osc_page *p)
{
    return p->width - 34;
}

/* The names in a list, as they are shown. */
struct names {
    struct osc_strbuf text[OSC_TOP_ROWS];
    unsigned n;
};

/* Append the kind to the name of ROW of T if other rows have the same. */
static void add_kind(struct names *names, const struct top *t, const struct osc_result *r,
                     unsigned row)
{
    for (unsigned k = 0; k < names->n && t->kind; k++) {
        if (k == row || !osc_str_eq(t->rows[k].name, t->rows[row].name))
            continue;
        osc_strbuf_adds(&names->text[row], " (");
        osc_strbuf_addstr(&names->text[row], osc_result_get_str(r, t->rows[row].row, t->kind));
        osc_strbuf_addc(&names->text[row], ')');
        return;
    }
}

/* Write the names of T so that they fit and no two of them read alike. */
static osc_status compose_names(struct names *names, const struct osc_page *p,
                                const struct top *t, const struct osc_result *r)
{
    const bool are_symbols = (r->def->columns[t->name].flags & OSC_COLUMN_SYMBOL) && !t->kind &&
                             !t->are_functions && !p->s->args->request.text.full_names;
    struct osc_labels labels = {0};
    osc_sid ids[OSC_TOP_ROWS];
    osc_status st = OSC_OK;

    names->n = t->n_rows;
    for (unsigned k = 0; k < names->n && st == OSC_OK; k++) {
        osc_strbuf_addstr(&names->text[k], t->rows[k].name);
        add_kind(names, t, r, k);
        st = names->text[k].status;
        if (st == OSC_OK)
            st = osc_labels_add(&labels,
                                (struct osc_str){names->text[k].s ? names->text[k].s : "",
                                                 (uint32_t)names->text[k].len},
                                are_symbols, &ids[k]);
    }
    if (st == OSC_OK)
        st = osc_labels_compose(&labels, name_width(p), name_width(p));
    for (unsigned k = 0; k < names->n && st == OSC_OK; k++) {
        osc_strbuf_clear(&names->text[k]);
        osc_strbuf_addstr(&names->text[k], osc_labels_get(&labels, ids[k]));
    }
    osc_labels_fini(&labels);
    return st;
}

/* Write what part of the device time the operators own into the cell, which is WIDTH wide. */
static void add_owned(struct osc_page *p, size_t width)
{
    const struct osc_screen_owners w = osc_screen_find_owners(p->s);
    struct osc_strbuf share = {0}, of = {0};

    if (w.own_ns > 0 && w.rest_ns > 0)
        osc_percent_add(&share, w.own_ns / (w.own_ns + w.rest_ns), 1);
    else
        osc_strbuf_adds(&share, w.own_ns > 0 ? "100 %" : "0 %");
    osc_strbuf_adds(&of, " of ");
    osc_units_time(&of, w.own_ns + w.rest_ns);
    osc_strbuf_adds(&of, " on devices");
    osc_strbuf_adds(&p->cell, strlen("  own ") + share.len <= width ? "  own " : "  ");
    osc_strbuf_add(&p->cell, share.s, share.len);
    if (p->cell.len + of.len <= width)
        osc_strbuf_add(&p->cell, of.s, of.len);
    if (share.status != OSC_OK || of.status != OSC_OK)
        p->out->status = OSC_ENOMEM;
    osc_strbuf_fini(&share);
    osc_strbuf_fini(&of);
}

/* Write what shares of kernels are of, those of operators count copies, too, as far as that
 * fits into the cell, which is WIDTH wide. */
static void add_base(struct osc_page *p, const struct top *t, size_t width)
{
    static const char what[] = " in kernels";

    osc_strbuf_adds(&p->cell, "  of ");
    osc_units_time(&p->cell, t->sum_ns);
    if (p->cell.len + sizeof what - 1 <= width)
        osc_strbuf_adds(&p->cell, what);
    else if (p->cell.len > width)
        osc_strbuf_clear(&p->cell);
}

static void put_top_head(struct osc_page *p, const struct top *t, bool is_below)
{
    const size_t width = 2 + name_width(p) - strlen(t->title);

    if (is_below)
        osc_page_title(p, t->title);
    else
        osc_page_section(p, t->title);
    if (t->is_owned)
        add_owned(p, width);
    else if (t->are_kernels)
        add_base(p, t, width);
    else
        osc_strbuf_addf(&p->cell, "  %s", t->by);
    osc_page_cell(p, width, false);
    osc_page_text(p, t->heads[0] ? t->heads[0] : "calls", CALLS_WIDTH, true);
    osc_page_text(p, t->heads[1] ? t->heads[1] : "time", OSC_PAGE_TIME, true);
    osc_page_text(p, t->heads[2] ? t->heads[2] : "share", t->self ? SELF_WIDTH : OSC_PAGE_SHARE,
                  true);
    osc_page_end_line(p);
}

static void put_calls(struct osc_page *p, uint64_t n)
{
    if (n < 1000000)
        osc_strbuf_add_count(&p->cell, n);
    else
        osc_strbuf_addf(&p->cell, "%.1f M", (double)n / 1e6);
    osc_page_cell(p, CALLS_WIDTH, true);
}

/* The table of T, merged. */
static const struct osc_answer_block *block_of(const struct osc_page *p, const struct top *t)
{
    return &osc_screen_answer(p->s, t->table)->blocks[0];
}

static struct osc_top_row row_of(const struct osc_result *r, const struct top *t, uint64_t i)
{
    return (struct osc_top_row){.row = i,
                                .name = osc_result_get_str(r, i, t->name),
                                .calls = osc_result_get_int(r, i, t->calls),
                                .ns = osc_result_get_int(r, i, t->most)};
}

/* Whether row I of R, of the table of T, is one of T. */
static bool has_row(const struct top *t, const struct osc_result *r, uint64_t i)
{
    if (t->is_owned) /* what operators launched nothing of is listed by host time, if at all */
        return osc_result_get_int(r, i, t->most) > 0;
    return !t->are_on_host || !osc_result_has(r, i, osc_column_operators_rest);
}

/* Find the first rows of T; its table is sorted. */
static void find_rows(const struct osc_page *p, struct top *t)
{
    const struct osc_answer_block *const b = block_of(p, t);

    for (uint64_t k = 0; k < b->result.n_rows; k++) {
        const uint64_t i = b->order ? b->order[k] : k;

        if (!has_row(t, &b->result, i))
            continue;
        t->sum_ns += (double)osc_result_get_int(&b->result, i, t->most);
        if (t->n_rows < OSC_TOP_ROWS)
            t->rows[t->n_rows++] = row_of(&b->result, t, i);
    }
}

/* Whether row I of R, of `ranges`, is a Python function. */
static bool is_python(const struct osc_result *r, uint64_t i)
{
    return osc_str_eq(osc_result_get_str(r, i, osc_column_ranges_kind), OSC_STR("python"));
}

/* The same, or a module, which is a function where a program of Python calls it. */
static bool is_function(const struct osc_result *r, uint64_t i)
{
    return is_python(r, i) ||
           osc_str_eq(osc_result_get_str(r, i, osc_column_ranges_kind), OSC_STR("module"));
}

/* Whether Python functions spent own time in steps. */
static bool has_functions_in_steps(const struct osc_result *r)
{
    for (uint64_t i = 0; i < r->n_rows; i++)
        if (is_python(r, i) && osc_result_get_int(r, i, osc_column_ranges_step_self_ns) > 0)
            return true;
    return false;
}

/* Find the functions with the most own time, in steps where they have any: what a program
 * imports and prepares before them is long, and no step waits for it. Methods of several
 * objects are one function. Modules alone may be those of another language, and have a list of
 * their own. */
static osc_status find_functions(const struct osc_page *p, struct top *t)
{
    const struct osc_answer_block *const b = block_of(p, t);
    struct osc_intern names = {.arena = &t->arena, .seed = osc_hash_seed()};
    struct osc_top_row *rows = NULL; /* by id - 1 */
    size_t cap = 0, n = 0;
    bool has_python = false;
    osc_status st = OSC_OK;

    if (has_functions_in_steps(&b->result)) {
        t->by = "functions by their own time in steps";
        t->calls = osc_column_ranges_step_calls;
        t->most = osc_column_ranges_step_self_ns;
    }
    for (uint64_t i = 0; i < b->result.n_rows && st == OSC_OK; i++) {
        osc_sid id;

        if (!is_function(&b->result, i))
            continue;
        has_python |= is_python(&b->result, i);
        const struct osc_top_row row = row_of(&b->result, t, i);
        st = osc_intern_add(&names, osc_split_without_address(row.name), &id);
        if (st == OSC_OK)
            st = osc_grow(&rows, &cap, n + 1, sizeof *rows);
        if (st != OSC_OK || id.v == 0)
            continue;
        t->sum_ns += (double)row.ns;
        if (id.v > n) {
            rows[n++] = row;
            rows[n - 1].name = osc_intern_str(&names, id);
            continue;
        }
        rows[id.v - 1].calls += row.calls;
        rows[id.v - 1].ns += row.ns;
    }
    for (size_t k = 0; k < n && st == OSC_OK && has_python; k++) {
        if (rows[k].ns > 0)
            t->n_rows = osc_top_insert(t->rows, t->n_rows, OSC_TOP_ROWS, &rows[k]);
    }
    osc_free(rows);
    osc_intern_fini(&names);
    return st;
}

/* Find the ranges, and say if the time of some is not the sum of their durations. */
static void find_ranges(const struct osc_page *p, struct top *t)
{
    const struct osc_result *const r = &block_of(p, t)->result;
    unsigned n_alone;

    t->n_rows = osc_screen_find_ranges(p->s, t->rows, OSC_TOP_ROWS, &n_alone);
    t->keeps = n_alone > t->keeps ? n_alone : t->keeps;
    for (unsigned k = 0; k < t->n_rows; k++) {
        if (t->rows[k].ns < osc_result_get_int(r, t->rows[k].row, t->most))
            t->by = "by time, calls in each other once";
    }
}

static osc_status find(const struct osc_page *p, struct top *t)
{
    if (t->is_left_out)
        return OSC_OK;
    if (t->are_functions)
        return find_functions(p, t);
    if (t->are_ranges) {
        find_ranges(p, t);
        return OSC_OK;
    }
    if (t->are_workers && osc_screen_has_operators(p->s))
        return OSC_OK; /* the head of the page says it in a line */
    if (t->are_workers) {
        const osc_status st = osc_screen_find_workers(p->s, &t->arena, t->rows, OSC_TOP_ROWS,
                                                      &t->n_rows, &(uint64_t){0});
        if (t->n_rows > 0 && t->rows[0].is_device)
            t->by = "a device first, share of the recording";
        return st;
    }
    if (t->are_points)
        return osc_screen_find_points(p->s, &t->arena, t->rows, OSC_TOP_ROWS, &t->n_rows);
    if (t->are_modules)
        return osc_screen_find_modules(p->s, &t->arena, t->rows, OSC_TOP_ROWS, &t->n_rows,
                                       &t->sum_ns);
    find_rows(p, t);
    return OSC_OK;
}

/* Print what row K of T has in the last column: its own time, or its share of the column's
 * sum, or of the recording. */
static void put_last(struct osc_page *p, const struct top *t, unsigned k)
{
    const struct osc_result *const r = &block_of(p, t)->result;
    const struct osc_top_row *const row = &t->rows[k];

    if (t->are_workers) {
        osc_page_share(p, row->ratio);
    } else if (!t->self) {
        osc_page_share(p, t->sum_ns > 0 ? (double)row->ns / t->sum_ns : 0);
    } else {
        if (osc_result_has(r, row->row, t->self))
            osc_units_time(&p->cell, (double)osc_result_get_int(r, row->row, t->self));
        osc_page_cell(p, SELF_WIDTH, true);
    }
}

/* Print the rows of T, below a blank line unless it is BELOW another list. */
static void put_top(struct osc_page *p, const struct top *t, bool is_below)
{
    const struct osc_result *const r = &block_of(p, t)->result;
    struct names names = {0};

    if (t->n_rows == 0)
        return;
    if (compose_names(&names, p, t, r) != OSC_OK)
        p->out->status = OSC_ENOMEM;
    put_top_head(p, t, is_below);
    for (unsigned k = 0; k < names.n; k++) {
        const int64_t ns = t->rows[k].ns;

        osc_strbuf_adds(p->out, "  ");
        osc_strbuf_addstr(&p->cell, (struct osc_str){names.text[k].s ? names.text[k].s : "",
                                                     (uint32_t)names.text[k].len});
        osc_page_cell(p, name_width(p), false);
        put_calls(p, (uint64_t)t->rows[k].calls);
        osc_page_time(p, (double)ns);
        put_last(p, t, k);
        osc_page_end_line(p);
        p->out->status = p->out->status == OSC_OK ? names.text[k].status : p->out->status;
        osc_strbuf_fini(&names.text[k]);
    }
}

/* The lines that the N lists need. */
static unsigned count_lines(const struct top *tops, size_t n, bool is_dense)
{
    unsigned n_lines = 0;

    for (size_t i = 0; i < n; i++) {
        if (tops[i].n_rows > 0)
            n_lines += 1 + (is_dense && n_lines > 0 ? 0u : 1u) + tops[i].n_rows;
    }
    return n_lines;
}

/* What gives rows away when nothing before it has any left. */
enum phase { WHAT_KEEPS_NONE, WHAT_IS_NOT_KEPT, FUNCTIONS, ALL_BUT_RANGES, ALL, N_PHASES };

/* The rows that T does not give away in PHASE. */
static unsigned floor_of(const struct top *t, enum phase phase)
{
    switch (phase) {
    case WHAT_KEEPS_NONE:
        return t->keeps == 0 ? 0 : OSC_TOP_ROWS;
    case WHAT_IS_NOT_KEPT:
        return t->keeps;
    case FUNCTIONS:
        return t->are_functions ? 0 : t->keeps;
    case ALL_BUT_RANGES:
        return t->are_ranges ? t->keeps : 1;
    case ALL:
    case N_PHASES:
        break;
    }
    return 0;
}

/* The list that gives a row away: the longest that can, and of equally long ones the last. */
static struct top *find_giver(struct top *tops, size_t n)
{
    struct top *giver = NULL;

    for (enum phase phase = WHAT_KEEPS_NONE; phase < N_PHASES && !giver; phase++) {
        for (size_t i = 0; i < n; i++) {
            if (tops[i].n_rows > floor_of(&tops[i], phase) &&
                (!giver || tops[i].n_rows >= giver->n_rows))
                giver = &tops[i];
        }
    }
    return giver;
}

/* Let the N lists need at most N_LINES: leave out the blank lines between them, then rows.
 * Returns whether the blank lines are left out. */
static bool shorten(struct top *tops, size_t n, unsigned n_lines)
{
    const bool is_dense = count_lines(tops, n, false) > n_lines;

    while (count_lines(tops, n, is_dense) > n_lines)
        find_giver(tops, n)->n_rows--;
    return is_dense;
}

/* The lists, in the order in which they are printed. */
enum { N_TOPS = 8 };

/* Describe the lists of operators: their device work, or else their time on the host. */
static void describe_operators(const struct osc_page *p, struct top *tops)
{
    const struct osc_screen_owners w = osc_screen_find_owners(p->s);
    const bool has_device_time = w.own_ns + w.rest_ns > 0;

    /* Without operators KERNELS says it all. */
    tops[0] = (struct top){.table = OSC_SCREEN_OPERATORS,
                           .title = "OPERATORS",
                           .is_left_out = w.n_operators == 0 || !has_device_time,
                           .is_owned = true,
                           .keeps = LEAST_ROWS,
                           .name = osc_column_operators_name,
                           .calls = osc_column_operators_calls,
                           .most = osc_column_operators_device_self_ns};
    tops[1] = (struct top){.table = OSC_SCREEN_OPERATORS,
                           .title = has_device_time ? "ON THE HOST" : "OPERATORS",
                           .by = has_device_time ? "operators by their own time"
                                                 : "by their own host time",
                           .is_left_out = w.own_ns > 0,
                           .are_on_host = true,
                           .keeps = LEAST_ROWS,
                           .name = osc_column_operators_name,
                           .calls = osc_column_operators_calls,
                           .most = osc_column_operators_host_self_ns};
}

/* Describe the other lists. */
static void describe_others(const struct osc_page *p, struct top *tops)
{
    tops[0] = (struct top){.table = OSC_SCREEN_KERNELS,
                           .title = "KERNELS",
                           .are_kernels = true,
                           .name = osc_column_kernels_name,
                           .calls = osc_column_kernels_calls,
                           .keeps = LEAST_ROWS,
                           .most = osc_column_kernels_total_ns};
    tops[1] = (struct top){.table = OSC_SCREEN_RANGES,
                           .title = "RANGES",
                           .by = "by total time",
                           .name = osc_column_ranges_name,
                           .calls = osc_column_ranges_calls,
                           .most = osc_column_ranges_total_ns,
                           .are_ranges = true,
                           .keeps = LEAST_ROWS,
                           .heads = {NULL, NULL, "self"},
                           .self = osc_column_ranges_self_ns,
                           .kind = osc_column_ranges_kind};
    tops[2] = (struct top){.table = OSC_SCREEN_POINTS,
                           .title = "EVENTS",
                           .by = "without a duration, by number",
                           .name = osc_column_points_name,
                           .heads = {"events", "first", "last"},
                           .self = osc_column_points_last_ns,
                           .keeps = LEAST_ROWS,
                           .are_points = true};
    tops[3] = (struct top){.table = OSC_SCREEN_TRACKS,
                           .title = "WORKED",
                           .by = "busy the longest, share of the recording",
                           .name = osc_column_tracks_name,
                           .heads = {"events", "busy", NULL},
                           .keeps = LEAST_ROWS,
                           .are_workers = true};
    tops[4] = (struct top){.table = OSC_SCREEN_RANGES,
                           .title = "PYTHON",
                           .by = "functions by their own time",
                           .name = osc_column_ranges_name,
                           .calls = osc_column_ranges_calls,
                           .most = osc_column_ranges_self_ns,
                           .keeps = LEAST_ROWS,
                           .are_functions = true};
    tops[5] = (struct top){.table = OSC_SCREEN_MODULES,
                           .title = "MODULES",
                           .by = osc_screen_modules_on_device(p->s)
                                     ? "by device time, forward and backward"
                                     : "by host time, forward and backward",
                           .name = osc_column_modules_name,
                           .are_modules = true};
}

void osc_screen_put_tops(struct osc_page *p, unsigned n_lines)
{
    struct top tops[N_TOPS];
    const size_t n = N_TOPS;

    describe_operators(p, tops);
    describe_others(p, tops + 2);
    for (size_t i = 0; i < n; i++) {
        if (find(p, &tops[i]) != OSC_OK)
            p->out->status = OSC_ENOMEM;
    }
    const bool is_dense = shorten(tops, n, n_lines);
    const unsigned first_line = p->n_lines;
    for (size_t i = 0; i < n; i++) {
        if (tops[i].are_ranges) /* those that other lists have give way first */
            tops[i].n_rows = osc_screen_find_ranges(p->s, tops[i].rows, tops[i].n_rows, NULL);
        put_top(p, &tops[i], is_dense && p->n_lines > first_line);
        osc_arena_fini(&tops[i].arena);
    }
}
