/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/packet.h"

#include "base/mem.h"
#include "derive/derive.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace traces[2];
static struct osc_timeline timeline;
static struct osc_strbuf out;

static int end(void **state)
{
    (void)state;
    osc_timeline_fini(&timeline);
    osc_strbuf_fini(&out);
    osc_trace_fini(&traces[0]);
    osc_trace_fini(&traces[1]);
    return 0;
}

/* Two traces; the second one's clock is 1 ms behind the origin. */
static void load(const char *first, const char *second)
{
    const struct osc_trace *const both[] = {&traces[0], &traces[1]};

    assert_true(small_load(&traces[0], first));
    assert_true(small_load(&traces[1], second));
    traces[0].origin_ns = 0;
    traces[1].origin_ns = 1000000;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(osc_derive(&traces[i], OSC_FACT_ORDER | OSC_FACT_ALLOCATIONS, 1, NULL),
                         OSC_OK);
    assert_int_equal(osc_timeline_make(&timeline, both, 2, 1), OSC_OK);
}

static uint64_t number(size_t at, unsigned n_bytes)
{
    uint64_t v = 0;

    assert_true(at + n_bytes <= out.len);
    for (unsigned i = 0; i < n_bytes; i++)
        v |= (uint64_t)(uint8_t)out.s[at + i] << 8 * i;
    return v;
}

static uint64_t in_lane(unsigned i, unsigned at, unsigned n_bytes)
{
    return number(48 + (size_t)16 * i + at, n_bytes);
}

static uint64_t in_cell(unsigned i, unsigned at, unsigned n_bytes)
{
    return number(48 + (size_t)16 * number(20, 4) + (size_t)20 * i + at, n_bytes);
}

static void ask(const struct osc_packet_request *r)
{
    assert_int_equal(osc_packet_write(&timeline, r, &out), OSC_OK);
    assert_memory_equal(out.s, "OSCT", 4);
    assert_int_equal(number(4, 2), 1);
    assert_int_equal(out.len,
                     48 + 16 * number(20, 4) + 20 * number(24, 4) + 12 * number(40, 4));
}

TEST_WITH(tracks_names_and_events_are_numbered_over_all_traces, NULL, end)
{
    uint32_t part;
    osc_row row;

    load(OP("a", 1, 0, 10, "") OP("b", 1, 1, 2, "") KERNEL("k", 5, 1, 1),
         OP("b", 1, 1000, 1, "") OP("", 2, 1001, 1, ""));
    assert_int_equal(timeline.n_tracks, 4);
    assert_int_equal(timeline.tracks[0].n_lanes, 2);
    assert_int_equal(timeline.tracks[0].n_ranges, 2);
    assert_int_equal(timeline.parts[1].first_track, 2);
    assert_int_equal(timeline.parts[1].first_event, 3);
    assert_int_equal(timeline.from_ns, 0);
    assert_int_equal(timeline.to_ns, 10000);
    assert_int_equal(osc_timeline_names(&timeline), 4);
    assert_memory_equal(osc_timeline_name(&timeline, 1).s, "b", 1);
    assert_memory_equal(osc_timeline_name(&timeline, 3).s, "(no name)", 9);
    assert_true(osc_timeline_find(&timeline, 4, &part, &row));
    assert_int_equal(part, 1);
    assert_int_equal(small_number(row.v), 1);
    assert_false(osc_timeline_find(&timeline, 5, &part, &row));
}

TEST_WITH(exact_cells_are_in_units_from_the_start_of_the_window, NULL, end)
{
    const struct osc_packet_lanes tracks[] = {{0, 9}, {1, 9}};
    const struct osc_packet_request r = {.tracks = tracks,
                                         .n_tracks = 2,
                                         .from_ns = 500,
                                         .to_ns = 2500,
                                         .n_pixels = 1000,
                                         .is_exact = true,
                                         .number = 77};

    load(OP("a", 1, 0, 10, "") OP("b", 1, 1, 2, ""), OP("c", 1, 1001, 1, ""));
    ask(&r);
    assert_int_equal(number(6, 2), 1);
    assert_int_equal(number(8, 8), 500);
    assert_int_equal(number(16, 1), 0); /* 2 ns a pixel: units of 1 ns */
    assert_int_equal(number(17, 1), 1);
    assert_int_equal(number(20, 4), 3);
    assert_int_equal(number(24, 4), 3);
    assert_int_equal(number(28, 4), 77);
    assert_int_equal(number(32, 8), 2000);
    assert_int_equal(in_lane(1, 0, 4), 0);
    assert_int_equal(in_lane(1, 4, 2), 1);
    assert_int_equal(in_lane(2, 0, 4), 1);
    assert_int_equal(in_lane(2, 8, 4), 2);
    assert_int_equal((int32_t)in_cell(0, 0, 4), -500); /* a began before */
    assert_int_equal(in_cell(0, 4, 4), 10000);
    assert_int_equal(in_cell(1, 0, 4), 500);
    assert_int_equal(in_cell(1, 8, 4), 1);
    assert_int_equal(in_cell(2, 0, 4), 500); /* c, by the clock of the second trace */
    assert_int_equal(in_cell(2, 8, 4), 2);
    assert_int_equal(in_cell(2, 12, 4), 2);
    assert_int_equal(in_cell(2, 16, 2), 1);
    assert_int_equal(in_cell(2, 18, 1), 255);
    assert_int_equal(in_cell(2, 19, 1), OSC_KIND_OPERATOR);
}

/* The length of a cell is in units of 4 us here, its event lasts what it lasts. */
TEST_WITH(long_cells_have_the_durations_of_their_events, NULL, end)
{
    const struct osc_packet_lanes tracks[] = {{0, 9}};
    const struct osc_packet_request r = {.tracks = tracks,
                                         .n_tracks = 1,
                                         .from_ns = 0,
                                         .to_ns = INT64_C(1) << 30,
                                         .n_pixels = 1024};

    load(OP("a", 1, 1, 846954.001, "") OP("b", 1, 900000, 30000, ""), "");
    ask(&r);
    assert_int_equal(number(24, 4), 2);
    assert_int_equal(number(40, 4), 1); /* b is 28 buckets long */
    const size_t at = 48 + 16 * (size_t)number(20, 4) + 20 * (size_t)number(24, 4);
    assert_int_equal(out.len, at + 12);
    assert_int_equal(number(at, 4), in_cell(0, 8, 4));
    assert_int_equal(number(at + 4, 8), 846954001);
    assert_int_not_equal(in_cell(0, 4, 4) << number(16, 1), 846954001);
}

TEST_WITH(snapped_windows_have_buckets_of_a_power_of_two, NULL, end)
{
    const struct osc_packet_lanes tracks[] = {{0, 1}};
    const struct osc_packet_request r = {
        .tracks = tracks, .n_tracks = 1, .from_ns = 700, .to_ns = 12700, .n_pixels = 10};

    load(OP("a", 1, 1.1, 0.1, "") OP("b", 1, 1.3, 0.3, "") OP("c", 1, 2.1, 0.1, ""), "");
    ask(&r);
    assert_int_equal(number(6, 2), 0);
    assert_int_equal(number(17, 1), 10);    /* 1,200 ns a pixel: 1,024 */
    assert_int_equal(number(8, 8), 0);      /* 700 lies in the first bucket */
    assert_int_equal(number(32, 8), 13312); /* 13 of them */
    assert_int_equal(number(24, 4), 2);
    assert_int_equal(in_cell(0, 0, 4), 1100 >> 2); /* a and b */
    assert_int_equal(in_cell(0, 4, 4), (1600 >> 2) - (1100 >> 2));
    assert_int_equal(in_cell(0, 8, 4), 1); /* b is longer */
    assert_int_equal(in_cell(0, 16, 2), 2);
    assert_int_equal(in_cell(0, 18, 1), 400 * 255 / 1024);
    assert_int_equal(in_cell(1, 16, 2), 1);
}

TEST_WITH(long_ranges_are_cut_far_outside_of_the_window, NULL, end)
{
    const struct osc_packet_lanes tracks[] = {{0, 1}};
    const struct osc_packet_request r = {.tracks = tracks,
                                         .n_tracks = 1,
                                         .from_ns = INT64_C(50000000000),
                                         .to_ns = INT64_C(50000000100),
                                         .n_pixels = 100,
                                         .is_exact = true};

    load(OP("a", 1, 0, 100000000, ""), "");
    ask(&r);
    assert_int_equal((int32_t)in_cell(0, 0, 4), -(1 << 30));
    assert_int_equal(in_cell(0, 4, 4), (UINT32_C(1) << 31) + 100);
}

TEST_WITH(values_are_packed_like_cells, NULL, end)
{
    const uint32_t series[] = {1};
    const struct osc_packet_request r = {
        .series = series, .n_series = 1, .from_ns = 1000, .to_ns = 3000, .n_pixels = 2};
    float value;

    load("{'ph':'C','name':'c','pid':1,'tid':1,'ts':1,'args':{'x':7}},",
         "{'ph':'C','name':'c','pid':1,'tid':1,'ts':1002,'args':{'x':2.5}},");
    assert_int_equal(timeline.n_series, 2);
    assert_int_equal(osc_packet_write_series(&timeline, &r, &out), OSC_OK);
    assert_memory_equal(out.s, "OSCV", 4);
    assert_int_equal(number(20, 4), 1);
    assert_int_equal(number(24, 4), 1);
    assert_int_equal(in_lane(0, 0, 4), 1);
    assert_int_equal(in_lane(0, 12, 4), 1);
    assert_int_equal(number(64, 4), (2000 - 512) >> 1); /* the window grew to begin at 512 */
    memcpy(&value, out.s + 76, sizeof value);
    assert_true(value == 2.5F);
}

TEST_WITH(no_more_values_are_packed_than_cells, NULL, end)
{
    enum { SAMPLES = 1000, SERIES = OSC_PACKET_CELLS / SAMPLES + 1 };
    static uint32_t series[SERIES]; /* the first one over and over */
    const struct osc_packet_request r = {.series = series,
                                         .n_series = SERIES,
                                         .from_ns = 0,
                                         .to_ns = INT64_C(1000) * SAMPLES,
                                         .n_pixels = SAMPLES,
                                         .is_exact = true};
    struct osc_strbuf events = {0};

    for (int i = 0; i < SAMPLES; i++)
        osc_strbuf_addf(&events,
                        "{'ph':'C','name':'c','pid':1,'tid':1,'ts':%d,'args':{'x':%d}},", i, i);
    load(events.s, "");
    osc_strbuf_fini(&events);
    assert_int_equal(osc_packet_write_series(&timeline, &r, &out), OSC_OK);
    assert_int_equal(number(6, 2), 3);
    assert_int_equal(number(24, 4), OSC_PACKET_CELLS);
    assert_int_equal(in_lane(0, 12, 4), SAMPLES);
    assert_int_equal(in_lane(SERIES - 1, 12, 4), OSC_PACKET_CELLS % SAMPLES);
}

TEST_WITH(refuses_tracks_that_do_not_exist, NULL, end)
{
    const struct osc_packet_lanes tracks[] = {{9, 1}};
    const struct osc_packet_request r = {
        .tracks = tracks, .n_tracks = 1, .from_ns = 0, .to_ns = 10, .n_pixels = 10};

    load(OP("a", 1, 0, 1, ""), "");
    assert_int_equal(osc_packet_write(&timeline, &r, &out), OSC_EINVAL);
    const uint32_t none = 0;
    const struct osc_packet_request values = {
        .series = &none, .n_series = 1, .from_ns = 0, .to_ns = 10, .n_pixels = 10};
    assert_int_equal(osc_packet_write_series(&timeline, &values, &out), OSC_EINVAL);
}

UNIT_MAIN("timeline/packet")
