/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/usage.h"

#include "derive/derive.h"
#include "derive/facts.h"
#include "support/random_trace.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "timeline/series.h"

#define BLOCKS(name, ts, dur, correlation, blocks) \
    WORK("kernel", name, ts, dur, correlation, ",'blocks per SM':" #blocks)

static struct osc_trace trace;
static struct osc_all_series all;
static struct osc_usage usage;

static int end(void **state)
{
    (void)state;
    osc_usage_fini(&usage);
    osc_series_fini(&all);
    osc_trace_fini(&trace);
    return 0;
}

static void load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_ALLOCATIONS | OSC_FACT_LOADS, 1, NULL),
                     OSC_OK);
    assert_int_equal(osc_series_make(&trace, &all), OSC_OK);
}

struct found {
    struct osc_usage_cell v[4096];
    size_t n;
};

static struct found got, expected;

static bool collect(void *ctx, const struct osc_usage_cell *cell)
{
    struct found *const f = ctx;

    assert_true(f->n < sizeof f->v / sizeof *f->v);
    f->v[f->n++] = *cell;
    return true;
}

static void find(const struct osc_usage *s, int64_t from_ns, int64_t to_ns, uint32_t n_buckets)
{
    got.n = 0;
    osc_usage_find(s, &(struct osc_cell_window){from_ns, to_ns, n_buckets}, collect, &got);
}

static void assert_cell(size_t i, int64_t at_ns, double least, double most, double mean)
{
    assert_true(i < got.n);
    assert_int_equal(got.v[i].at_ns, at_ns);
    assert_true(got.v[i].least == least);
    assert_true(got.v[i].most == most);
    assert_true(got.v[i].mean == mean);
}

TEST_WITH(a_bucket_has_the_mean_of_its_time, NULL, end)
{
    load(WORK("kernel", "a", 10, 5, 1, "") WORK("kernel", "b", 30, 20, 2, ""));
    assert_int_equal(all.n, 1);
    assert_int_equal(all.v[0].sort, OSC_SERIES_UTILIZATION);
    find(&all.v[0].usage, 0, 60000, 6);
    assert_int_equal(got.n, 5);
    assert_cell(0, 0, 0, 0, 0);
    assert_cell(1, 10000, 0, 1, 0.5);
    assert_cell(2, 20000, 0, 0, 0);
    assert_cell(3, 30000, 1, 1, 1); /* for two buckets */
    assert_cell(4, 50000, 0, 0, 0);
}

TEST_WITH(nothing_runs_where_the_list_has_nothing, NULL, end)
{
    load(WORK("kernel", "a", 10, 5, 1, ""));
    find(&all.v[0].usage, -5000, 5000, 10);
    assert_int_equal(got.n, 1);
    assert_cell(0, -5000, 0, 0, 0);
    find(&all.v[0].usage, 20000, 30000, 10);
    assert_int_equal(got.n, 1);
    assert_cell(0, 20000, 0, 0, 0);
    find(&all.v[0].usage, 11000, 12000, 10);
    assert_int_equal(got.n, 1);
    assert_cell(0, 11000, 1, 1, 1);
}

TEST_WITH(blocks_of_kernels_that_run_together_are_summed_up_to_one, NULL, end)
{
    load(BLOCKS("a", 0, 10, 1, 0.5) BLOCKS("b", 5, 10, 2, 0.75));
    assert_int_equal(all.n, 2);
    assert_int_equal(all.v[1].sort, OSC_SERIES_SM_EFFICIENCY);
    assert_true(osc_str_eq(all.v[1].device, all.v[0].device));
    find(&all.v[1].usage, 0, 20000, 4);
    assert_int_equal(got.n, 4);
    assert_cell(0, 0, 0.5, 0.5, 0.5);
    assert_cell(1, 5000, 1, 1, 1);
    assert_cell(2, 10000, 0.75, 0.75, 0.75);
    assert_cell(3, 15000, 0, 0, 0);
    find(&all.v[1].usage, 0, 20000, 1);
    assert_int_equal(got.n, 1);
    assert_cell(0, 0, 0, 1, 0.5625);
}

TEST_WITH(only_devices_that_ran_a_kernel_have_shares, NULL, end)
{
    load(WORK("gpu_memcpy", "copy", 0, 10, 1, "") OP("a", 1, 0, 100, ""));
    assert_int_equal(all.n, 0);
}

/* --- every bucket, from the rule --------------------------------------------------------- */

static struct osc_fill fills[4000];
static struct osc_interval busy[4000];
static struct osc_device_load device;

static void make_random(size_t n)
{
    int64_t at_ns = (int64_t)below(2000) - 1000;

    for (size_t i = 0; i < n; i++) {
        at_ns += below(3) == 0 ? (int64_t)below(300) : 0; /* others touch */
        const int64_t end_ns = at_ns + 1 + (int64_t)below(below(20) == 0 ? 900 : 30);
        const uint64_t fill = below(4) == 0 ? OSC_FILL_ONE : OSC_FILL_ONE / (1 + below(5));

        fills[i] = (struct osc_fill){at_ns, end_ns, fill};
        at_ns = end_ns;
        busy[i] = (struct osc_interval){fills[i].start_ns, end_ns};
    }
    device =
        (struct osc_device_load){.busy = {.v = busy, .n = n}, .fills = fills, .n_fills = n};
}

static int64_t begin_of(const struct osc_cell_window *w, uint32_t k)
{
    const osc_wide width = w->to_ns - w->from_ns;

    return w->from_ns + (int64_t)((k * width + w->n_buckets - 1) / w->n_buckets);
}

/* The bucket from FROM_NS to TO_NS, entry by entry. */
static struct osc_usage_cell sum_slowly(bool are_fills, int64_t from_ns, int64_t to_ns)
{
    double least = 1, most = 0;
    osc_wide area = 0;
    int64_t covered_ns = 0;

    for (size_t i = 0; i < device.n_fills; i++) {
        const struct osc_fill *const f = &fills[i];
        const int64_t start_ns = f->start_ns > from_ns ? f->start_ns : from_ns;
        const int64_t end_ns = f->end_ns < to_ns ? f->end_ns : to_ns;
        const uint64_t fill = are_fills ? f->fill : OSC_FILL_ONE;
        const double value = (double)fill / (double)OSC_FILL_ONE;

        if (end_ns <= start_ns)
            continue;
        area += (osc_wide)fill * (end_ns - start_ns);
        covered_ns += end_ns - start_ns;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (covered_ns < to_ns - from_ns)
        least = 0;
    return (struct osc_usage_cell){
        from_ns, least, most, (double)area / (double)OSC_FILL_ONE / (double)(to_ns - from_ns)};
}

static void find_slowly(bool are_fills, const struct osc_cell_window *w)
{
    bool changed = true;
    double held = 0;

    expected.n = 0;
    for (uint32_t k = 0; k < w->n_buckets; k++) {
        const int64_t from_ns = begin_of(w, k), to_ns = begin_of(w, k + 1);

        if (from_ns == to_ns) /* narrower than a nanosecond */
            continue;
        const struct osc_usage_cell cell = sum_slowly(are_fills, from_ns, to_ns);
        const bool changes = cell.least != cell.most;

        if (changes || changed || cell.most != held)
            expected.v[expected.n++] = cell;
        changed = changes;
        held = cell.most;
    }
}

static void check_windows(bool are_fills)
{
    const size_t n = device.n_fills;
    const int64_t first_ns = n > 0 ? fills[0].start_ns : 0;
    const int64_t whole_ns = n > 0 ? fills[n - 1].end_ns - first_ns : 0;

    for (unsigned i = 0; i < 100; i++) {
        const int64_t from_ns = first_ns - 5 + (int64_t)below((uint32_t)whole_ns + 10);
        const struct osc_cell_window w = {
            from_ns, from_ns + 1 + (int64_t)below((uint32_t)(whole_ns >> below(12)) + 1),
            1 + below(300)};

        find(&usage, w.from_ns, w.to_ns, w.n_buckets);
        find_slowly(are_fills, &w);
        assert_int_equal(got.n, expected.n);
        for (size_t k = 0; k < got.n; k++)
            assert_cell(k, expected.v[k].at_ns, expected.v[k].least, expected.v[k].most,
                        expected.v[k].mean);
    }
}

TEST_WITH(cells_are_those_of_the_rule, NULL, end)
{
    for (unsigned round = 0; round < 12; round++) {
        make_random(round < 2 ? round : round < 6 ? 1 + below(40) : 1 + below(1500));
        assert_int_equal(osc_usage_of_fills(&device, &usage), OSC_OK);
        check_windows(true);
        osc_usage_fini(&usage);
        assert_int_equal(osc_usage_of_busy(&device, &usage), OSC_OK);
        check_windows(false);
        osc_usage_fini(&usage);
    }
}

UNIT_MAIN("timeline/usage")
