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
#include "cli/screen/screen_workers.h"
#include "model/kind.h"
#include "render/labels.h"
#include "render/units.h"

#define TOP_ROWS        5 /* of each list, if there is room */
#define HEAD_LINES      2 /* of each list: a blank one and the title */
#define CALLS_WIDTH     9
#define REPEATED        10                   /* calls of which a histogram tells something */
#define NAME_IN_COMMAND 40                   /* bytes */
#define SELF_WIDTH      (OSC_PAGE_SHARE + 3) /* the page has three columns to spare */

/* A list of the rows that have the largest values of a column. */
struct top {
    enum osc_screen_table table;
    const char *title, *by;
    bool is_left_out;
    uint32_t name, calls, most; /* columns of the table */
    uint32_t self;              /* column to show instead of shares of the sum; 0: none */
    uint32_t kind;              /* column that tells rows of one name apart; 0: none */
    bool is_owned;              /* rows of device work by operator, or by cause if none is */
    bool are_on_host;           /* rows that an operator has */
    bool are_ranges;            /* rows of ranges that are in no other list */
    bool are_functions;         /* rows of Python functions, those of one name as one */
    bool are_modules;           /* rows of parts of the model */
    bool are_workers;           /* rows of threads and devices, with shares of the recording */
    struct osc_top_row rows[TOP_ROWS]; /* the first ones */
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
    struct osc_strbuf text[TOP_ROWS];
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
    osc_sid ids[TOP_ROWS];
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

/* Append what part of the device time the operators own. */
static void add_owned(struct osc_page *p)
{
    const struct osc_screen_owners w = osc_screen_find_owners(p->s);

    osc_strbuf_adds(&p->cell, "  own ");
    if (w.own_ns > 0 && w.rest_ns > 0)
        osc_percent_add(&p->cell, w.own_ns / (w.own_ns + w.rest_ns), 1);
    else
        osc_strbuf_adds(&p->cell, w.own_ns > 0 ? "100 %" : "0 %");
    osc_strbuf_adds(&p->cell, " of ");
    osc_units_time(&p->cell, w.own_ns + w.rest_ns);
    osc_strbuf_adds(&p->cell, " on devices");
}

static void put_top_head(struct osc_page *p, const struct top *t)
{
    osc_page_section(p, t->title);
    if (t->is_owned)
        add_owned(p);
    else
        osc_strbuf_addf(&p->cell, "  %s", t->by);
    osc_page_cell(p, 2 + name_width(p) - strlen(t->title), false);
    osc_page_text(p, t->are_workers ? "events" : "calls", CALLS_WIDTH, true);
    osc_page_text(p, t->are_workers ? "busy" : "time", OSC_PAGE_TIME, true);
    if (t->self)
        osc_page_text(p, "self", SELF_WIDTH, true);
    else
        osc_page_text(p, "share", OSC_PAGE_SHARE, true);
    osc_page_end_line(p);
}

static void put_calls(struct osc_page *p, uint64_t n)
{
    if (n < 1000000)
        osc_page_add_count(&p->cell, n);
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
        if (t->n_rows < TOP_ROWS)
            t->rows[t->n_rows++] = row_of(&b->result, t, i);
    }
}

/* Whether row I of R, of `ranges`, is in no other list: marked by the program, or, if the trace
 * has neither marked ranges nor operators, anything but the work of devices and sums of it. */
static bool is_listed(const struct osc_result *r, uint64_t i, bool only_marked)
{
    const struct osc_str kind = osc_result_get_str(r, i, osc_column_ranges_kind);

    return only_marked ? osc_result_get_bool(r, i, osc_column_ranges_is_marked)
                       : osc_str_eq(osc_result_get_str(r, i, osc_column_ranges_place),
                                    OSC_STR("host")) &&
                             !osc_kind_is_device_work(osc_kind_of_text(kind));
}

static bool lists_only_marked(const struct osc_screen *s)
{
    return osc_screen_has_marked(s) || osc_screen_has_operators(s);
}

/* Find the ranges with the most time; their table is sorted. */
static void find_ranges(const struct osc_page *p, struct top *t)
{
    const struct osc_answer_block *const b = block_of(p, t);
    const bool only_marked = lists_only_marked(p->s);

    for (uint64_t k = 0; k < b->result.n_rows && t->n_rows < TOP_ROWS; k++) {
        const uint64_t i = b->order ? b->order[k] : k;

        if (is_listed(&b->result, i, only_marked))
            t->rows[t->n_rows++] = row_of(&b->result, t, i);
    }
}

/* Whether row I of R, of `ranges`, is a Python function. */
static bool is_function(const struct osc_result *r, uint64_t i)
{
    const struct osc_str kind = osc_result_get_str(r, i, osc_column_ranges_kind);

    return osc_str_eq(kind, OSC_STR("python")) || osc_str_eq(kind, OSC_STR("module"));
}

/* Find the functions with the most own time. Methods of several objects are one function. */
static osc_status find_functions(const struct osc_page *p, struct top *t)
{
    const struct osc_answer_block *const b = block_of(p, t);
    struct osc_intern names = {.arena = &t->arena, .seed = osc_hash_seed()};
    struct osc_top_row *rows = NULL; /* by id - 1 */
    size_t cap = 0, n = 0;
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < b->result.n_rows && st == OSC_OK; i++) {
        osc_sid id;

        if (!is_function(&b->result, i))
            continue;
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
    for (size_t k = 0; k < n && st == OSC_OK; k++) {
        if (rows[k].ns > 0)
            t->n_rows = osc_top_insert(t->rows, t->n_rows, TOP_ROWS, &rows[k]);
    }
    osc_free(rows);
    osc_intern_fini(&names);
    return st;
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
    if (t->are_workers)
        return osc_screen_find_workers(p->s, &t->arena, t->rows, TOP_ROWS, &t->n_rows,
                                       &(uint64_t){0});
    if (t->are_modules)
        return osc_screen_find_modules(p->s, &t->arena, t->rows, TOP_ROWS, &t->n_rows,
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

/* Print the rows of T. */
static void put_top(struct osc_page *p, const struct top *t)
{
    const struct osc_result *const r = &block_of(p, t)->result;
    struct names names = {0};

    if (t->n_rows == 0)
        return;
    if (compose_names(&names, p, t, r) != OSC_OK)
        p->out->status = OSC_ENOMEM;
    put_top_head(p, t);
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

/* Leave out rows, of the longest list first, and of equally long ones of the last, until the
 * N lists need at most N_LINES. */
static void shorten(struct top *tops, size_t n, unsigned n_lines)
{
    for (;;) {
        struct top *longest = &tops[0];
        unsigned needed = 0;

        for (size_t i = 0; i < n; i++) {
            needed += tops[i].n_rows > 0 ? HEAD_LINES + tops[i].n_rows : 0;
            longest = tops[i].n_rows >= longest->n_rows ? &tops[i] : longest;
        }
        if (needed <= n_lines)
            return;
        longest->n_rows--;
    }
}

void osc_screen_put_tops(struct osc_page *p, unsigned n_lines)
{
    const struct osc_screen_owners w = osc_screen_find_owners(p->s);
    const bool has_device_time = w.own_ns + w.rest_ns > 0;
    struct top tops[] = {
        /* Without operators KERNELS says it all. */
        {.table = OSC_SCREEN_OPERATORS,
         .title = "OPERATORS",
         .is_left_out = w.n_operators == 0 || !has_device_time,
         .is_owned = true,
         .name = osc_column_operators_name,
         .calls = osc_column_operators_calls,
         .most = osc_column_operators_device_self_ns},
        {.table = OSC_SCREEN_OPERATORS,
         .title = has_device_time ? "OPERATORS ON THE HOST" : "OPERATORS",
         .by = has_device_time ? "by their own time" : "by their own host time",
         .is_left_out = w.own_ns > 0,
         .are_on_host = true,
         .name = osc_column_operators_name,
         .calls = osc_column_operators_calls,
         .most = osc_column_operators_host_self_ns},
        {.table = OSC_SCREEN_KERNELS,
         .title = "KERNELS",
         .by = "by total time",
         .name = osc_column_kernels_name,
         .calls = osc_column_kernels_calls,
         .most = osc_column_kernels_total_ns},
        {.table = OSC_SCREEN_MODULES,
         .title = "MODULES",
         .by = osc_screen_modules_on_device(p->s) ? "by device time, forward and backward"
                                                  : "by host time, forward and backward",
         .name = osc_column_modules_name,
         .are_modules = true},
        {.table = OSC_SCREEN_RANGES,
         .title = "RANGES",
         .by = "by total time",
         .name = osc_column_ranges_name,
         .calls = osc_column_ranges_calls,
         .most = osc_column_ranges_total_ns,
         .are_ranges = true,
         .self = osc_column_ranges_self_ns,
         .kind = osc_column_ranges_kind},
        {.table = OSC_SCREEN_RANGES,
         .title = "PYTHON",
         .by = "functions by their own time",
         .name = osc_column_ranges_name,
         .calls = osc_column_ranges_calls,
         .most = osc_column_ranges_self_ns,
         .are_functions = true},
        {.table = OSC_SCREEN_TRACKS,
         .title = "WORKED",
         .by = "busy the longest, share of the recording",
         .name = osc_column_tracks_name,
         .are_workers = true},
    };
    const size_t n = sizeof tops / sizeof *tops;

    for (size_t i = 0; i < n; i++) {
        if (find(p, &tops[i]) != OSC_OK)
            p->out->status = OSC_ENOMEM;
    }
    shorten(tops, n, n_lines);
    for (size_t i = 0; i < n; i++) {
        put_top(p, &tops[i]);
        osc_arena_fini(&tops[i].arena);
    }
}

struct osc_str osc_screen_find_repeated(const struct osc_screen *s)
{
    const struct osc_answer_block *const b =
        &osc_screen_answer(s, OSC_SCREEN_RANGES)->blocks[0];
    const bool only_marked = lists_only_marked(s);
    unsigned n = 0;

    for (uint64_t k = 0; k < b->result.n_rows && n < TOP_ROWS; k++) {
        const uint64_t i = b->order ? b->order[k] : k;
        const struct osc_str name = osc_result_get_str(&b->result, i, osc_column_ranges_name);

        if (!is_listed(&b->result, i, only_marked))
            continue;
        if (osc_result_get_int(&b->result, i, osc_column_ranges_calls) >= REPEATED &&
            name.len > 0 && name.len <= NAME_IN_COMMAND)
            return name;
        n++;
    }
    return OSC_STR("");
}

bool osc_screen_has_marked(const struct osc_screen *s)
{
    const struct osc_result *const r = osc_screen_merged(s, OSC_SCREEN_RANGES);

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_get_bool(r, i, osc_column_ranges_is_marked))
            return true;
    }
    return false;
}
