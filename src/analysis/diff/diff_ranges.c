/* SPDX-License-Identifier: Apache-2.0 */
/* `diff_ranges`: what each range of a program takes more or less in a new run than in a base.
 */
#include "analysis/diff/sides.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    NAME,
    KIND,
    PLACE,
    BASE_CALLS,
    NEW_CALLS,
    DELTA_CALLS,
    BASE,
    NEW,
    DELTA,
    MEAN_BASE,
    MEAN_NEW,
    RATIO,
    ORDER,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL, 0,
               "Name of the ranges, as in table ranges."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, KEY, 0, OSC_RULE_KINDS, "Kind of the ranges."),
    OSC_COLUMN(PLACE, "place", STRING, NULL, KEY, OSC_COLUMN_DEEP, 0,
               "Where they ran, as in table ranges."),
    OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, FIRST, 0, 0,
               "Number of ranges of the base run that have ended."),
    OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, FIRST, 0, 0, "The same of the new run."),
    OSC_COLUMN(DELTA_CALLS, "delta_calls", INTEGER, NULL, FIRST, OSC_COLUMN_DEEP, 0,
               "new_calls - base_calls."),
    OSC_COLUMN(BASE, "base_ns", INTEGER, "ns", FIRST, 0, 0,
               "Sum of the durations in the base run, over all its ranks."),
    OSC_COLUMN(NEW, "new_ns", INTEGER, "ns", FIRST, 0, 0, "The same of the new run."),
    OSC_COLUMN(DELTA, "delta_ns", INTEGER, "ns", FIRST, 0, 0, "new_ns - base_ns."),
    OSC_COLUMN(MEAN_BASE, "mean_base_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "base_ns / base_calls. Missing if only the new run has such ranges."),
    OSC_COLUMN(MEAN_NEW, "mean_new_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "The same of the new run."),
    OSC_COLUMN(RATIO, "delta_ratio", NUMBER, "ratio", FIRST, 0, 0,
               "delta_ns / base_ns. Missing if that is 0 in the base run."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "delta_ns without its sign."),
};

/* Rows of both runs by name, kind and place: number I of KEYS is that of all[I - 1]. */
struct pairs {
    struct osc_arena arena;
    struct osc_intern keys;
    struct osc_strbuf key; /* scratch */
    struct pair {
        uint64_t base, new_; /* row + 1; 0: the run has none */
    } * all;                 /* owned */
    size_t cap;
};

static void add_part(struct osc_strbuf *key, struct osc_str part)
{
    osc_strbuf_add(key, (const char *)&part.len, sizeof part.len);
    osc_strbuf_addstr(key, part);
}

/* Find the pair of row I of R, which is new and empty if no earlier row had its key. */
static osc_status find_pair(struct pairs *p, const struct osc_result *r, uint64_t i,
                            struct pair **pair)
{
    const uint32_t n = p->keys.n_entries;
    osc_sid id = {0};

    osc_strbuf_clear(&p->key);
    add_part(&p->key, osc_result_get_str(r, i, osc_column_ranges_name));
    add_part(&p->key, osc_result_get_str(r, i, osc_column_ranges_kind));
    add_part(&p->key, osc_result_get_str(r, i, osc_column_ranges_place));
    osc_status st = p->key.status;
    if (st == OSC_OK)
        st = osc_intern_add(&p->keys, (struct osc_str){p->key.s, (uint32_t)p->key.len}, &id);
    if (st == OSC_OK)
        st = osc_grow(&p->all, &p->cap, id.v, sizeof *p->all);
    if (st != OSC_OK)
        return st;
    *pair = &p->all[id.v - 1];
    if (id.v > n)
        **pair = (struct pair){0};
    return OSC_OK;
}

static osc_status add_rows(struct pairs *p, const struct osc_result *r, bool is_base)
{
    osc_status st = OSC_OK;
    struct pair *pair = NULL;

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        st = find_pair(p, r, i, &pair);
        if (st == OSC_OK && is_base)
            pair->base = i + 1;
        else if (st == OSC_OK)
            pair->new_ = i + 1;
    }
    return st;
}

/* The number in COLUMN of the row before ROW of R; 0 if there is none. */
static int64_t number_of(const struct osc_result *r, uint64_t row, uint32_t column)
{
    return row > 0 ? osc_result_get_int(r, row - 1, column) : 0;
}

static void add_row(struct osc_result *out, const struct osc_result *base,
                    const struct osc_result *new_, const struct pair *pair)
{
    const struct osc_result *const named = pair->base > 0 ? base : new_;
    const uint64_t row = (pair->base > 0 ? pair->base : pair->new_) - 1;
    const int64_t base_calls = number_of(base, pair->base, osc_column_ranges_calls);
    const int64_t new_calls = number_of(new_, pair->new_, osc_column_ranges_calls);
    const int64_t base_ns = number_of(base, pair->base, osc_column_ranges_total_ns);
    const int64_t new_ns = number_of(new_, pair->new_, osc_column_ranges_total_ns);

    osc_result_row(out);
    osc_result_str(out, NAME, osc_result_get_str(named, row, osc_column_ranges_name));
    osc_result_str(out, KIND, osc_result_get_str(named, row, osc_column_ranges_kind));
    osc_result_str(out, PLACE, osc_result_get_str(named, row, osc_column_ranges_place));
    osc_result_int(out, BASE_CALLS, base_calls);
    osc_result_int(out, NEW_CALLS, new_calls);
    osc_result_int(out, DELTA_CALLS, new_calls - base_calls);
    osc_result_int(out, BASE, base_ns);
    osc_result_int(out, NEW, new_ns);
    osc_result_int(out, DELTA, new_ns - base_ns); /* sums of durations are never negative */
    osc_result_int(out, ORDER, new_ns > base_ns ? new_ns - base_ns : base_ns - new_ns);
    if (base_calls > 0)
        osc_result_num(out, MEAN_BASE, (double)base_ns / (double)base_calls);
    if (new_calls > 0)
        osc_result_num(out, MEAN_NEW, (double)new_ns / (double)new_calls);
    if (base_ns > 0)
        osc_result_num(out, RATIO, (double)(new_ns - base_ns) / (double)base_ns);
}

static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct pairs p = {.keys = {.seed = osc_hash_seed()}};
    (void)o;
    p.keys.arena = &p.arena;
    osc_status st = add_rows(&p, base[0], true);

    if (st == OSC_OK)
        st = add_rows(&p, new_[0], false);
    for (uint32_t i = 0; i < p.keys.n_entries && st == OSC_OK; i++) {
        add_row(out, base[0], new_[0], &p.all[i]);
        st = out->status;
    }
    if (st == OSC_OK && out->n_rows == 0)
        osc_result_why_empty(out, "no ranges: neither run has an event with a duration");
    osc_intern_fini(&p.keys);
    osc_arena_fini(&p.arena);
    osc_strbuf_fini(&p.key);
    osc_free(p.all);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static bool is_alike(const struct osc_result *r, uint64_t row)
{
    return osc_result_get_int(r, row, ORDER) == 0 &&
           osc_result_get_int(r, row, DELTA_CALLS) == 0;
}

static const uint32_t sides[] = {OSC_SIDE_RANGES, OSC_SIDES};
static const struct osc_comparison comparison = {sides, compare, is_alike};

const struct osc_table_def osc_table_diff_ranges = {
    .name = "diff_ranges",
    .help = "What the ranges of each name, of any kind, take more or less in a new run than in "
            "a base run: scopes of programs, annotations, requests, operators, device work.",
    .source = "table ranges of both runs, summed over all ranks.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    .comparison = &comparison,
};
