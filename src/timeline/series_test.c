/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/series.h"

#include "base/strbuf.h"
#include "base/wide.h"
#include "derive/derive.h"
#include "support/random_trace.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define COUNTER(name, tid, ts, args) \
    "{'ph':'C','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts ",'args':{" args "}},"
#define RECORD(device, ts, totals)                                                            \
    "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,'tid':1,'ts':" #ts \
    ",'args':{'Device Type':1,'Device Id':" #device ",'Addr':1,'Bytes':8" totals "}},"

static struct osc_trace trace;
static struct osc_all_series all;

static int end(void **state)
{
    (void)state;
    osc_series_fini(&all);
    osc_trace_fini(&trace);
    return 0;
}

static void prepare(void)
{
    assert_int_equal(osc_derive(&trace, OSC_FACT_ALLOCATIONS, 1, NULL), OSC_OK);
    assert_int_equal(osc_series_make(&trace, &all), OSC_OK);
}

static void load(const char *events)
{
    assert_true(small_load(&trace, events));
    prepare();
}

static void assert_sample(const struct osc_series *s, uint32_t i, int64_t at_ns, double value)
{
    assert_true(i < s->n);
    assert_int_equal(s->samples[i].at_ns, at_ns);
    assert_true(s->samples[i].value == value);
}

TEST_WITH(each_value_of_a_counter_has_a_series, NULL, end)
{
    load(COUNTER("c", 1, 5, "'x':1,'y':2") COUNTER("c", 1, 3, "'x':4") COUNTER(
        "c", 2, 1, "'x':7") COUNTER("c", 1, 5, "'x':8") COUNTER("c", 1, 6, "'x':'none'"));
    assert_int_equal(all.n, 3);
    assert_int_equal(all.v[0].n, 3);
    assert_sample(&all.v[0], 0, 3000, 4);
    assert_sample(&all.v[0], 1, 5000, 1); /* of one time: in the order of the file */
    assert_sample(&all.v[0], 2, 5000, 8);
    assert_int_equal(all.v[1].n, 1);
    assert_sample(&all.v[1], 0, 5000, 2);
    assert_sample(&all.v[2], 0, 1000, 7);
}

TEST_WITH(each_device_has_a_series_of_each_total, NULL, end)
{
    load(RECORD(0, 1, ",'Total Allocated':8,'Total Reserved':64")
             RECORD(1, 2, ",'Total Allocated':9,'Total Reserved':0") RECORD(0, 3, "")
                 RECORD(0, 4, ",'Total Allocated':4,'Total Reserved':64"));
    assert_int_equal(all.n, 3);
    assert_int_equal(all.v[0].sort, OSC_SERIES_ALLOCATED);
    assert_true(osc_str_eq(all.v[0].device, OSC_STR("cuda:0")));
    assert_int_equal(all.v[0].n, 2);
    assert_sample(&all.v[0], 1, 4000, 4);
    assert_int_equal(all.v[1].sort, OSC_SERIES_RESERVED);
    assert_int_equal(all.v[1].n, 2);
    assert_int_equal(all.v[2].sort, OSC_SERIES_ALLOCATED);
    assert_true(osc_str_eq(all.v[2].device, OSC_STR("cuda:1")));
}

/* --- every bucket, from the rule --------------------------------------------------------- */

struct found {
    struct osc_series_cell v[1024];
    size_t n;
};

static bool collect(void *ctx, const struct osc_series_cell *cell)
{
    struct found *const f = ctx;

    assert_true(f->n < sizeof f->v / sizeof *f->v);
    f->v[f->n++] = *cell;
    return true;
}

static void find_slowly(const struct osc_series *s, const struct osc_cell_window *w,
                        struct found *f)
{
    osc_wide last = -1;

    f->n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct osc_sample *const x = &s->samples[i];
        const osc_wide bucket =
            ((osc_wide)x->at_ns - w->from_ns) * w->n_buckets / (w->to_ns - w->from_ns);
        struct osc_series_cell *const c = f->n > 0 ? &f->v[f->n - 1] : NULL;

        if (x->at_ns >= w->to_ns)
            continue;
        if (x->at_ns < w->from_ns)
            f->n = 0; /* only the last of them counts */
        if (x->at_ns < w->from_ns || bucket != last) {
            f->v[f->n++] = (struct osc_series_cell){x->at_ns, x->value, x->value, x->value};
            last = x->at_ns < w->from_ns ? -1 : bucket;
            continue;
        }
        c->least = x->value < c->least ? x->value : c->least;
        c->most = x->value > c->most ? x->value : c->most;
        c->value = x->value;
    }
}

static void check_windows(void)
{
    static struct found got, expected;
    const struct osc_series *const s = &all.v[0];
    const int64_t first_ns = s->samples[0].at_ns,
                  whole_ns = s->samples[s->n - 1].at_ns - first_ns;

    for (unsigned i = 0; i < 300; i++) {
        const int64_t from_ns = first_ns - 5 + (int64_t)below((uint32_t)whole_ns + 10);
        const struct osc_cell_window w = {
            from_ns, from_ns + 1 + (int64_t)below((uint32_t)(whole_ns >> below(12)) + 1),
            1 + below(300)};

        got.n = 0;
        osc_series_find(s, &w, collect, &got);
        find_slowly(s, &w, &expected);
        assert_int_equal(got.n, expected.n);
        for (size_t k = 0; k < got.n; k++) {
            assert_int_equal(got.v[k].at_ns, expected.v[k].at_ns);
            assert_true(got.v[k].least == expected.v[k].least);
            assert_true(got.v[k].most == expected.v[k].most);
            assert_true(got.v[k].value == expected.v[k].value);
        }
    }
}

TEST_WITH(cells_are_those_of_the_rule, NULL, end)
{
    const struct osc_import_options o = {.n_threads = 1};

    for (unsigned round = 0; round < 10; round++) {
        struct osc_strbuf b = {0};

        osc_strbuf_adds(&b, "{\"traceEvents\":[");
        for (unsigned i = 0, at = 0, n = 2 + below(round < 3 ? 40 : 6000); i < n; i++) {
            at += below(4) ? below(30) : below(3000);
            osc_strbuf_addf(&b,
                            "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":%u.%03u,"
                            "\"args\":{\"x\":%u}},",
                            at / 1000, at % 1000, below(1000));
        }
        osc_strbuf_adds(&b, "{}]}");
        assert_int_equal(osc_import_memory(&trace, "random",
                                           (struct osc_str){b.s, (uint32_t)b.len}, &o, NULL),
                         OSC_OK);
        prepare();
        check_windows();
        osc_strbuf_fini(&b);
        end(NULL);
    }
}

UNIT_MAIN("timeline/series")
