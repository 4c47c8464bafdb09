/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/bundles.h"

#include "base/mem.h"
#include "derive/derive.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;
static struct osc_timeline timeline;
static struct osc_bundles found;

static int end(void **state)
{
    (void)state;
    osc_timeline_fini(&timeline);
    osc_trace_fini(&trace);
    return 0;
}

static void load(const char *events)
{
    const struct osc_trace *const one[] = {&trace};

    assert_true(small_load(&trace, events));
    trace.origin_ns = 0;
    assert_int_equal(
        osc_derive(&trace, OSC_FACT_ORDER | OSC_FACT_LINKS | OSC_FACT_ALLOCATIONS, 1, NULL),
        OSC_OK);
    assert_int_equal(osc_timeline_make(&timeline, one, 1, 1), OSC_OK);
}

/* Find the arrows between the tracks 0 to N in a window. */
static void find(uint32_t n, int64_t from_ns, int64_t to_ns)
{
    static const uint32_t all[] = {0, 1, 2, 3};
    const struct osc_bundle_window w = {all, n, from_ns, to_ns};

    assert_true(n <= timeline.n_tracks);
    assert_int_equal(osc_bundles_find(&timeline, &w, &found), OSC_OK);
}

/* N launches, 10 us apart, whose kernels begin DELAY us later. */
static void load_launches(unsigned n, unsigned delay)
{
    struct osc_strbuf events = {0};

    for (unsigned i = 0; i < n; i++)
        osc_strbuf_addf(
            &events,
            "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
            "\"tid\":1,\"ts\":%u,\"dur\":1,\"args\":{\"correlation\":%u}},"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%u,"
            "\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%u}},",
            i * 10, i + 1, i * 10 + delay, i + 1);
    events.s[--events.len] = '\0'; /* the last comma */
    load(events.s);
    osc_strbuf_fini(&events);
}

static uint64_t count(void)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < found.n; i++)
        n += found.v[i].n;
    return n;
}

TEST_WITH(arrows_lead_from_calls_to_their_work, NULL, end)
{
    load_launches(3, 4);
    find(2, 0, 100000);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.v[1].from_event, 2);
    assert_int_equal(found.v[1].to_event, 3);
    assert_int_equal(found.v[1].from_ns, 10000);
    assert_int_equal(found.v[1].to_ns, 14000);
    assert_int_equal(found.v[1].from_track, 0);
    assert_int_equal(found.v[1].to_track, 1);
    assert_int_equal(found.v[1].n, 1);
    assert_int_equal(found.v[1].kind, OSC_WINDOW_LAUNCH);
}

TEST_WITH(one_start_in_the_window_is_enough, NULL, end)
{
    load_launches(3, 4);
    find(2, 10001, 20000); /* the call of the second one is before it */
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].to_event, 3);
    find(2, 20000, 20001); /* the kernel of the third one is behind it */
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].to_event, 5);
    find(2, 15000, 20000);
    assert_int_equal(found.n, 0);
}

TEST_WITH(both_ends_are_on_tracks_that_are_asked_for, NULL, end)
{
    load_launches(3, 4);
    find(1, 0, 100000);
    assert_int_equal(found.n, 0);
}

TEST_WITH(many_arrows_are_bundled_and_none_is_lost, NULL, end)
{
    load_launches(501, 4);
    find(2, 0, 10000000);
    assert_true(found.n > 20 && found.n <= OSC_BUNDLES_MAX);
    assert_int_equal(count(), 501);
    assert_int_equal(found.n_left_out, 0);
    find(2, 0, 5000000);
    assert_int_equal(found.n, 500);
    assert_int_equal(found.v[0].n, 1);
}

TEST_WITH(starts_outside_the_window_share_a_bucket, NULL, end)
{
    load_launches(504, 100);
    find(2, 20000, 6000000);
    /* The calls of 502 are in the window, and of 2 more only the kernels. */
    assert_int_equal(count(), 502 + 2);
    assert_true(found.n <= OSC_BUNDLES_MAX);
    for (uint32_t i = 0; i < found.n; i++)
        if (found.v[i].from_ns < 20000)
            assert_true(found.v[i].to_ns >= 100000 && found.v[i].to_ns < 120000);
}

/* How many arrows lead from the ranges of thread 1 in GROUP to those of thread 2. */
static uint32_t from_group(enum osc_lane_group group)
{
    struct osc_bundle_window w = {NULL, 0, 0, 1000000};
    uint32_t tracks[2];

    for (uint32_t i = 0; i < timeline.n_tracks; i++) {
        const struct osc_timeline_track *const track = &timeline.tracks[i];

        if (track->group == (track->track == 1 ? group : OSC_LANE_RANGES) && w.n_tracks < 2)
            tracks[w.n_tracks++] = i;
    }
    w.tracks = tracks;
    assert_int_equal(w.n_tracks, 2);
    assert_int_equal(osc_bundles_find(&timeline, &w, &found), OSC_OK);
    return found.n;
}

TEST_WITH(an_arrow_from_a_frame_is_not_where_there_are_no_frames, NULL, end)
{
    load("{'ph':'X','cat':'python_function','name':'f','pid':1,'tid':1,'ts':0,'dur':10},"
         "{'ph':'s','cat':'mine','name':'x','id':1,'pid':1,'tid':1,'ts':0},"
         "{'ph':'f','bp':'e','cat':'mine','name':'x','id':1,'pid':1,'tid':2,'ts':20}," OP(
             "a", 1, 12, 2, "") OP("b", 2, 20, 10, ""));
    assert_int_equal(from_group(OSC_LANE_RANGES), 1);
    assert_int_equal(from_group(OSC_LANE_NO_FRAMES), 0);
}

TEST_WITH(other_arrows_of_the_file_are_there, NULL, end)
{
    load(OP("a", 1, 0, 10, "") OP(
        "b", 2, 20, 10,
        "") "{'ph':'s','cat':'mine','name':'x','id':1,'pid':1,'tid':1,'ts':0},"
            "{'ph':'f','bp':'e','cat':'mine','name':'x','id':1,'pid':1,'tid':2,'ts':20},");
    find(2, 0, 1000000);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].from_event, 0);
    assert_int_equal(found.v[0].to_event, 1);
    assert_int_equal(found.v[0].kind, OSC_WINDOW_OTHER);
    find(1, 0, 1000000);
    assert_int_equal(found.n, 0);
}

TEST_WITH(any_allocation_may_fail, NULL, end)
{
    static const uint32_t all[] = {0, 1};
    const struct osc_bundle_window w = {all, 2, 0, 10000000};
    osc_status st = OSC_ENOMEM;

    load_launches(501, 4);
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_bundles_find(&timeline, &w, &found);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(count(), 501);
}

UNIT_MAIN("bundles")
