/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/torch_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/torch/averages_columns.h"
#include "analysis/torch/torch_cells.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "table/row_sort.h"

#define NUMBER_WIDTH     12
#define COLUMNS_MAX      24
#define NAME_WIDTH_MAX   55
#define SRC_WIDTH_MAX    75
#define SHAPES_WIDTH_MAX 80
#define ROWS_DEFAULT     100
#define FRAMES_OF_113    5

#define WIDTH_OPTION(word, what)                                                   \
    {                                                                              \
        .name = (word), .kind = OSC_OPTION_WHOLE, .argument = "N", .help = (what), \
        .expected = "not a number of characters", .is_of_text = true               \
    }

const struct osc_table_option osc_torch_header = {.name = "header",
                                                  .kind = OSC_OPTION_TEXT,
                                                  .argument = "TEXT",
                                                  .help = "print TEXT above the table",
                                                  .is_of_text = true};
const struct osc_table_option osc_torch_top_level = {
    .name = "top-level",
    .kind = OSC_OPTION_SWITCH,
    .help = "print only what no operator called (top_level_events_only)",
    .is_of_text = true};
const struct osc_table_option osc_torch_max_name_width =
    WIDTH_OPTION("max-name-width", "cut names after N characters (default: 55; 0: never)");
const struct osc_table_option osc_torch_max_src_width = WIDTH_OPTION(
    "max-src-width", "cut source lines after N characters (default: 75; 0: never)");
const struct osc_table_option osc_torch_max_shapes_width =
    WIDTH_OPTION("max-shapes-width", "cut shapes after N characters (default: 80; 0: never)");
const struct osc_table_option osc_torch_version = {
    .name = "torch",
    .kind = OSC_OPTION_WORD,
    .argument = "VERSION",
    .help = "print as torch 2.13 or, with its units, 1.13",
    .words = "1.13 2.13",
    .expected = "neither 1.13 nor 2.13",
    .is_of_text = true};

struct column {
    char title[48];
    size_t width;
    bool is_left;
};

/* A row ready to print. */
struct row {
    uint64_t index; /* in the result */
    struct osc_str name, shapes, dtypes;
    struct osc_str *frames;
    uint32_t n_frames;
    int64_t calls, flops;
    double self_cpu_us, cpu_us;
};

struct page {
    const struct osc_result *r;
    const struct osc_text_options *o;
    struct osc_strbuf *out;
    struct osc_arena arena; /* texts of rows */
    struct row *rows;       /* in the arena; in order of printing */
    size_t n_rows;
    struct column columns[COLUMNS_MAX];
    uint32_t n_columns, at; /* at: the next cell's column */
    struct osc_strbuf cell; /* scratch */
    char device[24];        /* "CUDA" */
    double cpu_total_us, device_total_us;
    unsigned flops_power;
    bool has_device_time, has_memory, has_device_memory, has_shapes, has_dtypes;
    bool has_stack, has_flops;
    bool is_top_level, is_113;                   /* as the options say */
    int32_t name_width, src_width, shapes_width; /* the largest; -1: any */
};

static bool is_shown(const struct osc_result *r, uint32_t column)
{
    return (r->shown >> column & 1u) != 0;
}

/* Copy S to the arena as it is shown. A NUL would end the text. */
static osc_status dup_clean(struct page *p, struct osc_str s, struct osc_str *out)
{
    osc_strbuf_clear(&p->cell);
    if (p->o->has_raw_names && !memchr(s.s, '\0', s.len))
        (void)osc_utf8_append_clean(&p->cell, s);
    else
        osc_utf8_append_terminal(&p->cell, s);
    out->s = osc_arena_dup(&p->arena, p->cell.s ? p->cell.s : "", p->cell.len);
    out->len = (uint32_t)p->cell.len;
    return out->s && p->cell.status == OSC_OK ? OSC_OK : OSC_ENOMEM;
}

/* Cut the next string off the JSON list REST, which opscope wrote. */
static bool next_frame(struct osc_str *rest, struct osc_str *raw)
{
    uint32_t i = 0;

    while (i < rest->len && rest->s[i] != '"')
        i++;
    if (i == rest->len)
        return false;

    const uint32_t start = ++i;
    while (i < rest->len && rest->s[i] != '"')
        i += rest->s[i] == '\\' ? 2 : 1;
    if (i >= rest->len)
        return false;
    *raw = (struct osc_str){rest->s + start, i - start};
    *rest = (struct osc_str){rest->s + i + 1, rest->len - i - 1};
    return true;
}

static osc_status read_frames(struct page *p, struct osc_str list, struct row *row)
{
    struct osc_strbuf text = {0};
    struct osc_str rest = list, raw;
    uint32_t n = 0;
    osc_status st = OSC_OK;

    while (next_frame(&rest, &raw))
        n++;
    if (n == 0)
        return OSC_OK;
    row->frames = osc_arena_calloc(&p->arena, n, sizeof *row->frames);
    if (!row->frames)
        return OSC_ENOMEM;
    rest = list;
    while (st == OSC_OK && next_frame(&rest, &raw)) {
        osc_strbuf_clear(&text);
        (void)osc_json_unescape(raw.s, raw.s + raw.len, &text);
        st = text.status;
        if (st == OSC_OK)
            st = dup_clean(p, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len},
                           &row->frames[row->n_frames++]);
    }
    osc_strbuf_fini(&text);
    return st;
}

static osc_status read_row(struct page *p, uint64_t i, struct row *row)
{
    const struct osc_result *r = p->r;
    osc_status st = OSC_OK;

    row->index = i;
    row->calls = osc_result_get_int(r, i, OSC_AVERAGES_CALLS);
    row->flops = osc_result_get_int(r, i, OSC_AVERAGES_FLOPS);
    row->self_cpu_us = osc_result_get_num(r, i, OSC_AVERAGES_SELF_CPU_US);
    row->cpu_us = osc_result_get_num(r, i, OSC_AVERAGES_CPU_US);
    st = dup_clean(p, osc_result_get_str(r, i, OSC_AVERAGES_NAME), &row->name);
    if (st == OSC_OK)
        st = dup_clean(p, osc_result_get_str(r, i, OSC_AVERAGES_INPUT_SHAPES), &row->shapes);
    if (st == OSC_OK)
        st = dup_clean(p, osc_result_get_str(r, i, OSC_AVERAGES_INPUT_DTYPES), &row->dtypes);
    if (st == OSC_OK)
        st = read_frames(p, osc_result_get_str(r, i, OSC_AVERAGES_STACK), row);
    return st;
}

/* An integer column in microseconds, as in torch. */
static double us_of(const struct page *p, const struct row *row, uint32_t column)
{
    if (column == OSC_AVERAGES_SELF_CPU_NS)
        return row->self_cpu_us;
    if (column == OSC_AVERAGES_CPU_NS)
        return row->cpu_us;
    return (double)osc_result_get_int(p->r, row->index, column) / 1000.0;
}

static double average_us(const struct page *p, const struct row *row, uint32_t column)
{
    return row->calls == 0 ? 0.0 : us_of(p, row, column) / (double)row->calls;
}

struct sorting {
    const struct page *page;
    struct osc_sort_key key;
};

/* The number by which a row is sorted; texts have none. */
static double sort_number(const struct sorting *s, const struct row *row)
{
    const struct osc_result *const r = s->page->r;
    const uint32_t column = s->key.column;
    double v;

    if (column >= OSC_AVERAGES_SELF_CPU_NS && column <= OSC_AVERAGES_DEVICE_NS)
        v = us_of(s->page, row, column);
    else if (r->def->columns[column].type == OSC_TYPE_NUMBER)
        v = osc_result_get_num(r, row->index, column);
    else
        v = (double)osc_result_get_int(r, row->index, column);

    return s->key.divisor >= 0 && row->calls > 0 ? v / (double)row->calls : v;
}

static int compare_rows(const void *pa, const void *pb, void *ctx)
{
    const struct sorting *s = ctx;
    const struct row *a = pa, *b = pb;
    const struct osc_result *r = s->page->r;
    const uint32_t column = s->key.column;
    int order = 0;

    switch (r->def->columns[column].type) {
    case OSC_TYPE_STRING:
        order = osc_str_cmp(osc_result_get_str(r, a->index, column),
                            osc_result_get_str(r, b->index, column));
        break;
    case OSC_TYPE_BOOLEAN:
        order = (int)osc_result_get_bool(r, a->index, column) -
                (int)osc_result_get_bool(r, b->index, column);
        break;
    case OSC_TYPE_INTEGER:
    case OSC_TYPE_NUMBER: {
        const double x = sort_number(s, a), y = sort_number(s, b);

        order = (x > y) - (x < y);
        break;
    }
    }
    if (!s->key.ascending)
        order = -order;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static osc_status read_rows(struct page *p, struct osc_err *err)
{
    struct sorting sorting = {.page = p};
    osc_status st = OSC_OK;

    if (p->o->sort) {
        st = osc_sort_parse(p->r->def, p->o->sort, &sorting.key, err);
        if (st != OSC_OK)
            return st;
    }
    p->rows = osc_arena_calloc(&p->arena, p->r->n_rows, sizeof *p->rows);
    if (!p->rows)
        return osc_fail(err, OSC_ENOMEM, "%s", osc_status_text(OSC_ENOMEM));
    for (; p->n_rows < p->r->n_rows && st == OSC_OK; p->n_rows++)
        st = read_row(p, p->n_rows, &p->rows[p->n_rows]);
    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));
    if (p->o->sort)
        osc_sort_with(p->rows, p->n_rows, sizeof *p->rows, compare_rows, &sorting);
    return OSC_OK;
}

/* Set the word for devices in titles: FAMILY in upper case. */
static void set_device(struct page *p, struct osc_str device)
{
    for (uint32_t k = 0; k < device.len && k + 1 < sizeof p->device; k++)
        p->device[k] = (char)toupper((unsigned char)device.s[k]);
}

/* Sum host time over all rows, and device time over rows of device work. */
static void sum_totals(struct page *p)
{
    int64_t min_flops = INT64_MAX;

    for (size_t i = 0; i < p->n_rows; i++) {
        const struct row *row = &p->rows[i];
        const int64_t self_ns =
            osc_result_get_int(p->r, row->index, OSC_AVERAGES_SELF_DEVICE_NS);
        const bool is_cpu = osc_str_eq(
            osc_result_get_str(p->r, row->index, OSC_AVERAGES_DEVICE_TYPE), OSC_STR("CPU"));
        const struct osc_str device = osc_result_get_str(p->r, row->index, OSC_AVERAGES_DEVICE);

        p->cpu_total_us += row->self_cpu_us;
        if (!is_cpu && !osc_result_get_bool(p->r, row->index, OSC_AVERAGES_IS_USER_ANNOTATION))
            p->device_total_us += (double)self_ns / 1000.0;
        p->has_device_time |= self_ns > 0;
        p->has_device_memory |=
            osc_result_get_int(p->r, row->index, OSC_AVERAGES_SELF_DEVICE_BYTES) > 0;
        p->has_shapes |= row->shapes.len > 0 && !osc_str_eq(row->shapes, OSC_STR("[]"));
        p->has_dtypes |= row->dtypes.len > 0;
        p->has_stack |= row->n_frames > 0;
        if (row->flops > 0 && row->flops < min_flops)
            min_flops = row->flops;
        if (p->device[0] == '\0')
            set_device(p, device);
    }
    p->has_memory = is_shown(p->r, OSC_AVERAGES_SELF_CPU_BYTES);
    p->has_device_memory &= p->has_memory && p->device[0] != '\0';
    p->has_flops = is_shown(p->r, OSC_AVERAGES_FLOPS) && min_flops < INT64_MAX;
    if (p->has_flops)
        p->flops_power = osc_torch_flops_power(min_flops);
}

/* Add a column with the title BEFORE, WORD (may be empty), AFTER. */
static void add_column(struct page *p, const char *before, const char *word, const char *after)
{
    struct column *c = &p->columns[p->n_columns++];

    *c = (struct column){.width = NUMBER_WIDTH};
    snprintf(c->title, sizeof c->title, "%s%s%s", before, word, after);
}

/* Make the last column as wide as its longest cell plus four, up to MAX (-1: no limit). */
static void widen(struct page *p, size_t longest, int32_t max)
{
    const size_t width = longest + 4;

    p->columns[p->n_columns - 1].width = max >= 0 && width > (size_t)max ? (size_t)max : width;
}

/* The value of a width option: 0 is torch's default. */
static int32_t max_width(const struct osc_options *o, const struct osc_table_option *option,
                         int32_t preset)
{
    const struct osc_option_value *const v = osc_option_get(o, option);

    if (!v)
        return preset;
    return v->number == 0 ? -1 : v->number > INT32_MAX ? INT32_MAX : (int32_t)v->number;
}

/* Add torch's columns, in its order, and those of dtypes, which it has not. */
static void add_columns(struct page *p)
{
    static const char *const units[] = {"FLOPs",  "KFLOPs", "MFLOPs",
                                        "GFLOPs", "TFLOPs", "PFLOPs"};
    size_t name = 0, shapes = 0, dtypes = 0, frame = 0;

    for (size_t i = 0; i < p->n_rows; i++) {
        const struct row *row = &p->rows[i];
        const size_t name_width = osc_utf8_width(row->name);

        const size_t dtypes_width = osc_utf8_width(row->dtypes);

        name = name_width > name ? name_width : name;
        dtypes = dtypes_width > dtypes ? dtypes_width : dtypes;
        shapes = row->shapes.len > shapes ? row->shapes.len : shapes;
        for (uint32_t k = 0; k < row->n_frames; k++) {
            const size_t frame_width = osc_utf8_width(row->frames[k]);

            frame = frame_width > frame ? frame_width : frame;
        }
    }
    add_column(p, "Name", "", "");
    widen(p, name, p->name_width);
    add_column(p, "Self CPU %", "", "");
    add_column(p, "Self CPU", "", "");
    add_column(p, "CPU total %", "", "");
    add_column(p, "CPU total", "", "");
    add_column(p, "CPU time avg", "", "");
    if (p->has_device_time) {
        add_column(p, "Self ", p->device, "");
        add_column(p, "Self ", p->device, " %");
        add_column(p, "", p->device, " total");
        add_column(p, "", p->device, " time avg");
    }
    if (p->has_memory) {
        add_column(p, "CPU Mem", "", "");
        add_column(p, "Self CPU Mem", "", "");
    }
    if (p->has_device_memory) {
        add_column(p, "", p->device, " Mem");
        add_column(p, "Self ", p->device, " Mem");
    }
    add_column(p, "# of Calls", "", "");
    if (p->has_shapes) {
        add_column(p, "Input Shapes", "", "");
        widen(p, shapes, p->shapes_width);
    }
    if (p->has_dtypes) {
        add_column(p, "Input Dtypes", "", "");
        widen(p, dtypes, p->shapes_width);
    }
    if (p->has_stack) {
        add_column(p, "Source Location", "", "");
        widen(p, frame, p->src_width);
        p->columns[p->n_columns - 1].is_left = true;
    }
    if (p->has_flops)
        add_column(p, "Total ", units[p->flops_power], "");
}

/* Write one cell, padded to its column; two blanks follow each column. */
static void put(struct page *p, struct osc_str s)
{
    const struct column *c = &p->columns[p->at++];
    const size_t width = osc_utf8_width(s);
    const size_t pad = width < c->width ? c->width - width : 0;

    if (!c->is_left)
        osc_strbuf_pad(p->out, ' ', pad);
    osc_strbuf_addstr(p->out, s);
    osc_strbuf_pad(p->out, ' ', (c->is_left ? pad : 0) + 2);
}

static void end_line(struct page *p)
{
    osc_strbuf_addc(p->out, '\n');
    p->at = 0;
}

static void put_separator(struct page *p)
{
    for (uint32_t i = 0; i < p->n_columns; i++) {
        osc_strbuf_pad(p->out, '-', p->columns[i].width);
        osc_strbuf_pad(p->out, ' ', 2);
    }
    osc_strbuf_addc(p->out, '\n');
}

static void put_head(struct page *p)
{
    const char *const header = osc_option_text(p->o->options, &osc_torch_header);
    size_t width = 2 * ((size_t)p->n_columns - 1);

    for (uint32_t i = 0; i < p->n_columns; i++)
        width += p->columns[i].width;
    if (header || p->o->block) {
        osc_strbuf_pad(p->out, '=', width);
        osc_strbuf_addf(p->out, "\n%s%s%s\n", header ? header : "",
                        header && p->o->block ? ", " : "", p->o->block ? p->o->block : "");
    }
    if (p->is_top_level) {
        osc_strbuf_pad(p->out, '=', width);
        osc_strbuf_adds(p->out, "\nThis report only display top-level ops statistics\n");
    }
    put_separator(p);
    for (uint32_t i = 0; i < p->n_columns; i++)
        put(p, osc_str_c(p->columns[i].title));
    end_line(p);
    put_separator(p);
}

/* The scratch buffer as a string. */
static struct osc_str scratch(const struct page *p)
{
    return (struct osc_str){p->cell.s ? p->cell.s : "", (uint32_t)p->cell.len};
}

static void put_path(struct page *p, struct osc_str path)
{
    size_t width = NUMBER_WIDTH;

    /* Cut paths to their own column, in whichever column they are printed. */
    for (uint32_t i = 0; i < p->n_columns; i++) {
        if (p->columns[i].is_left)
            width = p->columns[i].width;
    }
    osc_strbuf_clear(&p->cell);
    osc_torch_path(&p->cell, path, width);
    put(p, scratch(p));
}

static void put_times(struct page *p, const struct row *row)
{
    const bool is_async = osc_result_get_bool(p->r, row->index, OSC_AVERAGES_IS_ASYNC);
    /* A zero must not print as -0.000us after rounding. */
    const bool is_zero = osc_result_get_int(p->r, row->index, OSC_AVERAGES_SELF_CPU_NS) == 0;
    const double self_cpu_us = is_zero ? 0.0 : row->self_cpu_us;
    struct osc_torch_cell cell;

    put(p, osc_torch_share(&cell, self_cpu_us, p->cpu_total_us));
    put(p, osc_torch_time(&cell, self_cpu_us));
    put(p, is_async ? OSC_STR("0") : osc_torch_share(&cell, row->cpu_us, p->cpu_total_us));
    put(p, osc_torch_time(&cell, row->cpu_us));
    put(p, osc_torch_time(&cell, average_us(p, row, OSC_AVERAGES_CPU_NS)));
    if (p->has_device_time) {
        const double self_us = us_of(p, row, OSC_AVERAGES_SELF_DEVICE_NS);

        put(p, osc_torch_time(&cell, self_us));
        put(p, osc_torch_share(&cell, self_us, p->device_total_us));
        put(p, osc_torch_time(&cell, us_of(p, row, OSC_AVERAGES_DEVICE_NS)));
        put(p, osc_torch_time(&cell, average_us(p, row, OSC_AVERAGES_DEVICE_NS)));
    }
}

static void put_bytes(struct page *p, const struct row *row, uint32_t column)
{
    struct osc_torch_cell cell;

    put(p, osc_torch_memory(&cell, osc_result_get_int(p->r, row->index, column), p->is_113));
}

/* Write further frames in the last column; a blank line ends each row with frames. */
static void put_frames(struct page *p, const struct row *row)
{
    const uint32_t n =
        p->is_113 && row->n_frames > FRAMES_OF_113 ? FRAMES_OF_113 : row->n_frames;

    for (uint32_t k = 1; k < n; k++) {
        while (p->at + 1 < p->n_columns)
            put(p, OSC_STR(""));
        put_path(p, row->frames[k]);
        end_line(p);
    }
    while (p->at < p->n_columns)
        put(p, OSC_STR(""));
    end_line(p);
}

static void put_row(struct page *p, const struct row *row)
{
    struct osc_torch_cell cell;

    osc_strbuf_clear(&p->cell);
    osc_torch_name(&p->cell, row->name, p->name_width);
    put(p, scratch(p));
    put_times(p, row);
    if (p->has_memory) {
        put_bytes(p, row, OSC_AVERAGES_CPU_BYTES);
        put_bytes(p, row, OSC_AVERAGES_SELF_CPU_BYTES);
    }
    if (p->has_device_memory) {
        put_bytes(p, row, OSC_AVERAGES_DEVICE_BYTES);
        put_bytes(p, row, OSC_AVERAGES_SELF_DEVICE_BYTES);
    }
    put(p, (struct osc_str){cell.s, (uint32_t)snprintf(cell.s, sizeof cell.s, "%lld",
                                                       (long long)row->calls)});
    if (p->has_shapes)
        put(p, osc_torch_head(row->shapes, p->columns[p->at].width));
    if (p->has_dtypes)
        put(p, osc_torch_head(row->dtypes, p->columns[p->at].width));
    if (p->has_flops) /* before the source, whose title stands here: a defect of torch */
        put(p, osc_torch_flops(&cell, row->flops, p->flops_power));
    if (p->has_stack)
        put_path(p, row->n_frames > 0 ? row->frames[0] : OSC_STR(""));
    end_line(p);
    if (p->has_stack)
        put_frames(p, row);
}

static void put_rows(struct page *p)
{
    const int64_t wanted = p->o->limit == 0 ? ROWS_DEFAULT : p->o->limit;
    int64_t n = 0;

    for (size_t i = 0; i < p->n_rows && (wanted <= 0 || n < wanted); i++) {
        const struct row *row = &p->rows[i];

        if (p->is_top_level &&
            !osc_result_get_bool(p->r, row->index, OSC_AVERAGES_IS_TOP_LEVEL))
            continue;
        if (p->r->marks && !p->r->marks[row->index])
            continue;
        put_row(p, row);
        n++;
    }
}

static void put_foot(struct page *p)
{
    struct osc_torch_cell cell;

    put_separator(p);
    osc_strbuf_adds(p->out, "Self CPU time total: ");
    osc_strbuf_addstr(p->out, osc_torch_time(&cell, p->cpu_total_us));
    osc_strbuf_addc(p->out, '\n');
    if (p->has_device_time) {
        osc_strbuf_addf(p->out, "Self %s time total: ", p->device);
        osc_strbuf_addstr(p->out, osc_torch_time(&cell, p->device_total_us));
        osc_strbuf_addc(p->out, '\n');
    }
}

osc_status osc_torch_text(const struct osc_result *r, const struct osc_text_options *o,
                          struct osc_strbuf *out, struct osc_err *err)
{
    const struct osc_options *const own = o->options;
    const char *const version = osc_option_text(own, &osc_torch_version);
    struct page p = {
        .r = r,
        .o = o,
        .out = out,
        .is_top_level = osc_option_is_set(own, &osc_torch_top_level),
        .is_113 = version && strcmp(version, "1.13") == 0,
        .name_width = max_width(own, &osc_torch_max_name_width, NAME_WIDTH_MAX),
        .src_width = max_width(own, &osc_torch_max_src_width, SRC_WIDTH_MAX),
        .shapes_width = max_width(own, &osc_torch_max_shapes_width, SHAPES_WIDTH_MAX),
    };
    osc_status st = OSC_OK;

    if (r->n_rows == 0)
        return OSC_OK;
    st = read_rows(&p, err);
    if (st == OSC_OK) {
        sum_totals(&p);
        add_columns(&p);
        put_head(&p);
        put_rows(&p);
        put_foot(&p);
        st = out->status != OSC_OK ? out->status : p.cell.status;
        if (st != OSC_OK)
            osc_fail(err, st, "%s", osc_status_text(st));
    }
    osc_strbuf_fini(&p.cell);
    osc_arena_fini(&p.arena);
    return st;
}
