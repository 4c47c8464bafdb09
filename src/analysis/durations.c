/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `durations`: how long the ranges of each name took, as a histogram on a logarithmic axis.
 * Buckets are the same in every trace, so histograms of several traces can be added.
 */
#include "analysis/table_registry.h"

#include "analysis/range_name.h"
#include "analysis/range_place.h"
#include "analysis/sampled.h"
#include "analysis/shared_options.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "table/buckets.h"

enum { NAME, KIND, PLACE, FROM, TO, CALLS, TOTAL, CUMULATIVE, ORDER, N_COLUMNS };

/* Buckets of table/buckets.h in one row: eight to a power of two are more than one looks at. */
#define PER_ROW 2u

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL, OSC_RULE_NAMES,
               "Name of the ranges, as in table ranges."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, KEY, 0, OSC_RULE_KINDS,
               "Kind of the ranges, in the vocabulary of table events."),
    OSC_COLUMN(PLACE, "place", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_RANGES,
               OSC_RANGE_PLACE_HELP),
    OSC_COLUMN(FROM, "from_ns", INTEGER, "ns", KEY, 0, 0,
               "Shortest duration that counts here. From 16 ns on, four rows divide the time "
               "from one power of two to the next into equal parts."),
    OSC_COLUMN(TO, "to_ns", INTEGER, "ns", FIRST, 0, 0,
               "Shortest duration that counts in the next row: all here are below it."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, 0,
               "Number of ranges with such a duration."),
    OSC_COLUMN(TOTAL, "total_ns", INTEGER, "ns", SUM, 0, 0, "Sum of their durations."),
    OSC_COLUMN(CUMULATIVE, "cumulative_ratio", NUMBER, "ratio", FINISH, 0, 0,
               "Calls of this name, kind and place in this and all shorter rows / all its "
               "calls."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FINISH, OSC_COLUMN_HIDDEN, 0,
               "Rows from the end: names by their total time, then by duration."),
};

/* Ranges of one name, kind and place in one row. */
struct bar {
    uint32_t name; /* osc_range_name_of() */
    uint8_t kind;
    uint8_t place; /* enum osc_range_place */
    uint16_t row;  /* bucket / PER_ROW */
    int64_t n_calls;
    osc_wide total_ns;
};

struct bars {
    struct bar *v; /* owned; in the order of the file */
    size_t n, cap;
    struct osc_idmap at; /* name, place, kind and row -> index + 1 */
};

static osc_status add_range(struct bars *b, const struct osc_trace *t,
                            const struct osc_chunk *c, uint32_t i)
{
    const struct bar bar = {.name = osc_range_name_of(t, c, i),
                            .kind = c->kind[i],
                            .place = (uint8_t)osc_range_place_of(t, c, i),
                            .row = (uint16_t)(osc_bucket_of(c->dur_ns[i]) / PER_ROW)};
    uint32_t *const at =
        osc_idmap_put(&b->at, (uint64_t)bar.name << 32 | (uint64_t)bar.place << 24 |
                                  (uint64_t)bar.kind << 16 | bar.row);

    if (!at)
        return OSC_ENOMEM;
    if (*at == 0) {
        if (osc_grow(&b->v, &b->cap, b->n + 1, sizeof *b->v) != OSC_OK)
            return OSC_ENOMEM;
        b->v[b->n++] = bar;
        *at = (uint32_t)b->n;
    }
    const uint32_t calls = osc_sampled_calls(t, c, i);

    b->v[*at - 1].n_calls += calls;
    b->v[*at - 1].total_ns += (osc_wide)c->dur_ns[i] * calls;
    return OSC_OK;
}

/* Count the ranges called NAME, or all if it is none. */
static osc_status count_ranges(const struct osc_trace *t, const uint32_t *name, struct bars *b)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            if (osc_range_has_ended(t, c, i) && (!name || osc_range_has_name(t, c, i, *name)))
                st = add_range(b, t, c, i);
        }
    }
    return st;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const char *const asked = osc_option_text(o, &osc_option_name);
    const uint32_t name = asked ? osc_range_name_find(t, osc_str_c(asked)) : 0;
    struct bars b = {0};
    osc_status st = OSC_OK;

    if (!asked || name != 0)
        st = count_ranges(t, asked ? &name : NULL, &b);
    for (size_t i = 0; i < b.n && st == OSC_OK; i++) {
        const struct bar *const bar = &b.v[i];

        osc_result_row(out);
        osc_result_str(out, NAME, osc_range_name_text(t, bar->name));
        osc_result_str(out, KIND, osc_str_c(osc_kind_text((enum osc_kind)bar->kind)));
        osc_result_str(out, PLACE, osc_range_place_text((enum osc_range_place)bar->place));
        if (osc_range_place_matters((enum osc_range_place)bar->place, (enum osc_kind)bar->kind))
            osc_result_show(out, PLACE);
        osc_result_int(out, FROM, osc_bucket_start(bar->row * PER_ROW));
        osc_result_int(out, TO, osc_bucket_start((bar->row + 1u) * PER_ROW));
        osc_result_int(out, CALLS, bar->n_calls);
        osc_result_int(out, TOTAL, osc_wide_nearest(bar->total_ns));
    }
    if (st == OSC_OK && b.n == 0)
        osc_result_why_empty(out, asked ? "no range of that name has ended"
                                        : "no ranges: no event of the trace has a duration");
    osc_free(b.v);
    osc_idmap_fini(&b.at);
    if (st == OSC_OK)
        st = out->status;
    return st == OSC_OK ? st : osc_fail(err, st, "durations: %s", osc_status_text(st));
}

/* --- all traces --------------------------------------------------------------------------- */

/* All rows of one name, kind and place. */
struct histogram {
    int64_t n_calls;
    osc_wide total_ns;
};

struct row {
    uint64_t index;
    uint32_t histogram;
    int64_t from_ns;
};

struct rows {
    struct row *v;                /* owned; one for each row */
    struct histogram *histograms; /* owned; as many at most; by first row */
    uint32_t n_histograms;
    struct osc_idmap at; /* name, place and kind -> index + 1 */
};

static int by_time(const void *x, const void *y, void *ctx)
{
    const struct row *const a = x, *const b = y;
    const struct rows *const rows = ctx;
    const osc_wide s = rows->histograms[a->histogram].total_ns,
                   t = rows->histograms[b->histogram].total_ns;

    if (a->histogram == b->histogram)
        return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
    if (s != t)
        return s > t ? -1 : 1;
    return a->histogram < b->histogram ? -1 : 1;
}

static osc_status gather(const struct osc_result *r, struct rows *rows)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const enum osc_kind kind = osc_kind_of_text(osc_result_get_str(r, i, KIND));
        const enum osc_range_place place =
            osc_range_place_of_text(osc_result_get_str(r, i, PLACE));
        uint32_t *const at =
            osc_idmap_put(&rows->at, (uint64_t)osc_result_get_sid(r, i, NAME).v << 32 |
                                         (uint64_t)place << 8 | (uint64_t)kind);

        if (!at)
            return OSC_ENOMEM;
        if (*at == 0)
            *at = ++rows->n_histograms;
        rows->v[i] = (struct row){i, *at - 1, osc_result_get_int(r, i, FROM)};
        rows->histograms[*at - 1].n_calls += osc_result_get_int(r, i, CALLS);
        rows->histograms[*at - 1].total_ns += osc_result_get_int(r, i, TOTAL);
    }
    return OSC_OK;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    struct rows rows = {.v = osc_calloc(r->n_rows + 1, sizeof *rows.v),
                        .histograms = osc_calloc(r->n_rows + 1, sizeof *rows.histograms)};
    osc_status st = rows.v && rows.histograms ? gather(r, &rows) : OSC_ENOMEM;
    int64_t n_calls = 0;

    (void)o;
    if (st == OSC_OK)
        osc_sort_with(rows.v, r->n_rows, sizeof *rows.v, by_time, &rows);
    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        const struct row *const row = &rows.v[i];

        if (i == 0 || row->histogram != rows.v[i - 1].histogram)
            n_calls = 0;
        n_calls += osc_result_get_int(r, row->index, CALLS);
        osc_result_set_num(r, row->index, CUMULATIVE,
                           (double)n_calls / (double)rows.histograms[row->histogram].n_calls);
        osc_result_set_int(r, row->index, ORDER, (int64_t)(r->n_rows - i));
    }
    osc_free(rows.v);
    osc_free(rows.histograms);
    osc_idmap_fini(&rows.at);
    if (st == OSC_OK)
        st = r->status;
    return st == OSC_OK ? st : osc_fail(err, st, "durations: %s", osc_status_text(st));
}

/* Only device work has names of C++ functions. */
static bool is_symbol(const struct osc_result *r, uint64_t row)
{
    return osc_kind_is_device_work(osc_kind_of_text(osc_result_get_str(r, row, KIND)));
}

static const struct osc_table_option *const options[] = {&osc_option_name, NULL};

const struct osc_table_def osc_table_durations = {
    .name = "durations",
    .help = "How long the ranges of a name took: a histogram on a logarithmic axis.",
    .source = "ranges of the file that have ended, synchronous or not.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .sorted_by = ORDER + 1,
    .options = options,
    OSC_MAPS(.map = map, .finish = finish),
    .is_symbol = is_symbol,
};
