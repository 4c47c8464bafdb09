/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/cells.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/wide.h"
#include "derive/facts.h"
#include "support/random_trace.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;
static struct osc_lanes lanes;
static struct osc_pyramid pyramid;

static int end(void **state)
{
    (void)state;
    osc_pyramid_fini(&pyramid);
    osc_lanes_fini(&lanes);
    osc_trace_fini(&trace);
    return 0;
}

static void prepare(unsigned n_threads)
{
    assert_int_equal(osc_derive(&trace, OSC_FACT_FOREST, n_threads, NULL), OSC_OK);
    assert_int_equal(osc_lanes_make(&trace, n_threads, &lanes), OSC_OK);
    assert_int_equal(osc_pyramid_make(&trace, &lanes, n_threads, &pyramid), OSC_OK);
}

static void load(const char *events)
{
    assert_true(small_load(&trace, events));
    prepare(1);
}

static void load_text(const struct osc_strbuf *text)
{
    const struct osc_import_options o = {.n_threads = 1};

    assert_int_equal(text->status, OSC_OK);
    assert_int_equal(osc_import_memory(&trace, "random",
                                       (struct osc_str){text->s, (uint32_t)text->len}, &o,
                                       NULL),
                     OSC_OK);
    prepare(2);
}

static const struct osc_lane *lane_of(int number)
{
    for (uint32_t k = 0; k < lanes.n; k++)
        for (uint32_t i = 0; i < lanes.v[k].n; i++)
            if (small_number(lanes.rows[lanes.v[k].first + i]) == number)
                return &lanes.v[k];
    return NULL;
}

static void assert_lane(int number, enum osc_lane_group group, unsigned depth)
{
    const struct osc_lane *const l = lane_of(number);

    assert_non_null(l);
    assert_int_equal(l->group, group);
    assert_int_equal(l->depth, depth);
    assert_false(l->overlaps);
}

TEST_WITH(nested_ranges_lie_below_each_other, NULL, end)
{
    load(OP("a", 1, 0, 100, "") OP("b", 1, 0, 40, "") OP("c", 1, 10, 30, "")
             OP("d", 1, 40, 60, "") OP("e", 2, 50, 1, ""));
    assert_lane(0, OSC_LANE_RANGES, 0);
    assert_lane(1, OSC_LANE_RANGES, 1);
    assert_lane(2, OSC_LANE_RANGES, 2);
    assert_lane(3, OSC_LANE_RANGES, 1);
    assert_lane(4, OSC_LANE_RANGES, 0);
}

TEST_WITH(ranges_that_overlap_in_part_take_free_lanes, NULL, end)
{
    load(KERNEL("a", 0, 10, 1) KERNEL("b", 5, 10, 2) KERNEL("c", 11, 9, 3)
             KERNEL("d", 16, 2, 4));
    assert_lane(0, OSC_LANE_RANGES, 0);
    assert_lane(1, OSC_LANE_RANGES, 1);
    assert_lane(2, OSC_LANE_RANGES, 0); /* free again */
    assert_lane(3, OSC_LANE_RANGES, 1); /* c contains it */
}

TEST_WITH(instants_and_asynchronous_ranges_have_lanes_of_their_own, NULL, end)
{
    load(OP("a", 1, 0, 10,
            "") "{'ph':'i','cat':'x','name':'i','pid':1,'tid':1,'ts':5},"
                "{'ph':'b','cat':'x','name':'s','id':1,'pid':1,'tid':1,'ts':2},"
                "{'ph':'e','cat':'x','name':'s','id':1,'pid':1,'tid':1,'ts':20}," MEMORY(
                    1, 3, 64) "{'ph':'C','name':'c','pid':1,'tid':1,'ts':1,'args':{'v':1}},");
    assert_lane(0, OSC_LANE_RANGES, 0);
    assert_lane(1, OSC_LANE_INSTANTS, 0);
    assert_lane(2, OSC_LANE_ASYNC, 0);
    assert_null(lane_of(3));
    assert_null(lane_of(4));
    assert_int_equal(lanes.n, 3);
}

TEST_WITH(more_ranges_at_a_time_than_lanes_share_the_last_one, NULL, end)
{
    struct osc_strbuf b = {0};

    osc_strbuf_adds(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < 300; i++)
        osc_strbuf_addf(&b,
                        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
                        "\"ts\":%u,\"dur\":1000},",
                        i);
    osc_strbuf_adds(&b, "{}]}");
    load_text(&b);
    assert_int_equal(lanes.n, OSC_LANES_MAX);
    for (uint32_t k = 0; k + 1 < lanes.n; k++)
        assert_false(lanes.v[k].overlaps);
    assert_true(lanes.v[lanes.n - 1].overlaps);
    assert_int_equal(lanes.v[lanes.n - 1].n, 300 - OSC_LANES_MAX + 1);
    osc_strbuf_fini(&b);
}

/* --- every cell, from the rule ---------------------------------------------------------- */

struct found {
    struct osc_lane_cell v[4096];
    size_t n;
};

static bool collect(void *ctx, const struct osc_lane_cell *cell)
{
    struct found *const f = ctx;

    assert_true(f->n < sizeof f->v / sizeof *f->v);
    f->v[f->n++] = *cell;
    return true;
}

/* The cells of lane K in W, one range after the other. */
static void find_slowly(uint32_t k, const struct osc_cell_window *w, struct found *f)
{
    const osc_wide width = (osc_wide)w->to_ns - w->from_ns;
    osc_wide last = -1; /* the bucket of the last cell, if further ranges may share it */

    f->n = 0;
    for (uint32_t i = 0; i < lanes.v[k].n; i++) {
        const uint32_t row = lanes.rows[lanes.v[k].first + i];
        const int64_t start_ns = osc_lane_start(&trace, row);
        const int64_t end_ns = osc_lane_end(&trace, row);
        const osc_wide bucket = ((osc_wide)start_ns - w->from_ns) * w->n_buckets / width;
        const bool is_long = ((osc_wide)end_ns - start_ns) * w->n_buckets >= width;

        if (start_ns >= w->to_ns || (start_ns < w->from_ns && end_ns <= w->from_ns))
            continue;
        if (start_ns < w->from_ns || is_long || bucket != last) {
            f->v[f->n++] = (struct osc_lane_cell){start_ns, end_ns, end_ns - start_ns, row, 1};
            last = start_ns < w->from_ns || is_long ? -1 : bucket;
            continue;
        }
        struct osc_lane_cell *const c = &f->v[f->n - 1];
        if (end_ns - start_ns > osc_lane_end(&trace, c->row) - osc_lane_start(&trace, c->row))
            c->row = row;
        c->end_ns = end_ns;
        c->busy_ns += end_ns - start_ns;
        c->n++;
    }
}

static void assert_same(const struct found *got, const struct found *expected)
{
    assert_int_equal(got->n, expected->n);
    for (size_t i = 0; i < got->n; i++) {
        assert_int_equal(got->v[i].start_ns, expected->v[i].start_ns);
        assert_int_equal(got->v[i].end_ns, expected->v[i].end_ns);
        assert_int_equal(got->v[i].busy_ns, expected->v[i].busy_ns);
        assert_int_equal(got->v[i].row, expected->v[i].row);
        assert_int_equal(got->v[i].n, expected->v[i].n);
    }
}

static void check_windows(unsigned n_windows)
{
    static struct found got, expected;
    const int64_t whole_ns = trace.max_end_ns - trace.min_ts_ns + 2;

    for (unsigned i = 0; i < n_windows; i++) {
        const int64_t width_ns = 1 + (int64_t)below((uint32_t)(whole_ns >> below(16)) + 1);
        const int64_t from_ns = trace.min_ts_ns - 10 + (int64_t)below((uint32_t)whole_ns);
        const struct osc_cell_window w = {from_ns, from_ns + width_ns, 1 + below(400)};

        for (uint32_t k = 0; k < lanes.n; k++) {
            got.n = 0;
            osc_cells_find(&pyramid, k, &w, collect, &got);
            find_slowly(k, &w, &expected);
            assert_same(&got, &expected);
        }
    }
}

/* Ranges of many lengths that follow each other, and some inside of others. */
static void add_ranges(struct osc_strbuf *b, unsigned tid, unsigned n)
{
    uint32_t at = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint32_t dur = below(4) ? below(20) : below(3) ? 0 : below(3000);

        osc_strbuf_addf(b,
                        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,"
                        "\"tid\":%u,\"ts\":%u.%03u,\"dur\":%u.%03u},",
                        tid, at / 1000, at % 1000, dur / 1000, dur % 1000);
        at += below(3) ? dur + below(30) : below(dur + 1);
    }
}

TEST_WITH(cells_are_those_of_the_rule, NULL, end)
{
    for (unsigned round = 0; round < 12 / UNIT_SLOWNESS; round++) {
        struct osc_strbuf b = {0};

        osc_strbuf_adds(&b, "{\"traceEvents\":[");
        for (unsigned tid = 1; tid < 4; tid++)
            add_ranges(&b, tid, 1 + below(round < 4 ? 60 : 4000));
        osc_strbuf_adds(&b, "{}]}");
        load_text(&b);
        check_windows(200);
        osc_strbuf_fini(&b);
        end(NULL);
    }
}

/* The ranges of all lanes but those that repeat others. */
static unsigned count_once(void)
{
    unsigned n = 0;

    for (uint32_t k = 0; k < lanes.n; k++)
        n += lanes.v[k].group < OSC_LANE_NO_FRAMES ? lanes.v[k].n : 0;
    return n;
}

/* Each range has one lane; in a lane no two overlap, and proper nesting gives the depth. */
TEST_WITH(lanes_of_random_traces_hold_every_range_once, NULL, end)
{
    for (unsigned round = 0; round < 200 / UNIT_SLOWNESS; round++) {
        struct osc_strbuf text = {0}, name = {0};
        unsigned n_expected = 0;

        make_trace(round, &text, &name);
        load_text(&text);
        for (uint32_t k = 1; k < trace.events.n_chunks; k++)
            for (uint32_t i = 0; i < trace.events.chunks[k]->n_rows; i++) {
                const uint8_t kind = trace.events.chunks[k]->kind[i];
                n_expected +=
                    kind != OSC_KIND_ALLOC && kind != OSC_KIND_FREE && kind != OSC_KIND_COUNTER;
            }
        assert_int_equal(count_once(), n_expected);
        for (uint32_t k = 0; k < lanes.n; k++)
            for (uint32_t i = 1; i < lanes.v[k].n; i++) {
                const uint32_t *const row = &lanes.rows[lanes.v[k].first + i];
                assert_true(osc_lane_end(&trace, row[-1]) <= osc_lane_start(&trace, row[0]));
            }
        osc_strbuf_fini(&text);
        osc_strbuf_fini(&name);
        end(NULL);
    }
}

/* The ranges of the lanes of GROUP as "DEPTH: numbers" lines. */
static void assert_group(enum osc_lane_group group, const char *expected)
{
    char text[1024] = "";
    size_t len = 0;

    for (uint32_t k = 0; k < lanes.n; k++) {
        if (lanes.v[k].group != group)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%d:", lanes.v[k].depth);
        for (uint32_t i = 0; i < lanes.v[k].n; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, " %d",
                                    small_number(lanes.rows[lanes.v[k].first + i]));
        len += (size_t)snprintf(text + len, sizeof text - len, "\n");
    }
    assert_string_equal(text, expected);
}

#define FRAME(ts, dur) RANGE("python_function", "f.py(1): f", 1, ts, dur, "")

TEST_WITH(without_frames_ranges_nest_otherwise, NULL, end)
{
    load(FRAME(0, 100) OP("a", 1, 10, 80, "") FRAME(20, 40) OP("b", 1, 30, 20, "")
             OP("c", 2, 0, 10, ""));
    assert_group(OSC_LANE_NO_FRAMES, "0: 1\n1: 3\n");
    assert_int_equal(lanes.packing.n_packed, 0);
}

/* Work of CAT on queue QUEUE. */
static void add_work(struct osc_strbuf *b, const char *cat, unsigned queue, unsigned ts,
                     unsigned dur)
{
    osc_strbuf_addf(b,
                    "{'ph':'X','cat':'%s','name':'w','pid':0,'tid':%u,'ts':%u,'dur':%u,"
                    "'args':{'device':0,'stream':%u}},",
                    cat, queue, ts, dur, queue);
}

static void load_queues(unsigned n_queues, unsigned busy)
{
    struct osc_strbuf text = {0};

    add_work(&text, "kernel", 7, 0, busy);
    for (unsigned i = 0; i < n_queues; i++)
        add_work(&text, i % 2 ? "gpu_memcpy" : "kernel", 20 + i, 10 * (i / 2), 12);
    load(text.s);
    osc_strbuf_fini(&text);
}

TEST_WITH(sparse_queues_are_packed_by_kind, NULL, end)
{
    load_queues(13, 1000);
    assert_int_equal(lanes.packing.n_packed, 13);
    /* Kernels are 1, 3, ..., every 10 us for 12; copies are 2, 4, ... */
    assert_group(OSC_LANE_PACKED, "0: 1 5 9 13\n1: 3 7 11\n2: 2 6 10\n3: 4 8 12\n");
}

TEST_WITH(few_queues_and_equal_ones_stand_alone, NULL, end)
{
    load_queues(12, 1000);
    assert_int_equal(lanes.packing.n_packed, 0);
    end(NULL);
    load_queues(11, 12); /* twelve have a twelfth each */
    assert_int_equal(lanes.packing.n_packed, 0);
    end(NULL);
    load_queues(12, 12); /* thirteen have less */
    assert_int_equal(lanes.packing.n_packed, 13);
}

UNIT_MAIN("timeline/cells")
