/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_clock.h"

#include "base/mem.h"
#include "model/trace.h"
#include "support/unit.h"

__extension__ typedef __int128 wide;

/* The formula of docs/format.md, by division. */
static int64_t slow_ns(uint64_t x0, int64_t y0, uint64_t dx, uint64_t dy, uint64_t ticks)
{
    const wide d = (wide)(int64_t)(ticks - x0) * (wide)dy;
    wide q = d / (wide)dx;

    if (d % (wide)dx < 0)
        q--;
    return (int64_t)(q + y0);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 8;
}

TEST(multiplies_to_the_same_nanosecond_as_division)
{
    uint64_t seed = 1;

    for (unsigned i = 0; i < 200000; i++) {
        const uint64_t x0 = next_random(&seed) >> next_random(&seed) % 40;
        const uint64_t dx = 1 + (next_random(&seed) >> next_random(&seed) % 56);
        const uint64_t dy = next_random(&seed) >> (14 + next_random(&seed) % 40);
        const int64_t y0 = (int64_t)(next_random(&seed) >> 4);
        /* On the line, before and after it; another test covers the limits. */
        const uint64_t reach = (dx < UINT64_C(1) << 40 ? dx : UINT64_C(1) << 40) + 1;
        const uint64_t ticks = x0 + next_random(&seed) % (3 * reach) - reach;
        const struct osc_records_line l = osc_records_line(x0, y0, dx, dy);
        const int64_t expected = slow_ns(x0, y0, dx, dy, ticks);

        if (expected <= OSC_TIME_MAX_NS && expected >= -OSC_TIME_MAX_NS)
            assert_int_equal(osc_records_line_ns(&l, ticks), expected);
    }
}

TEST(cuts_times_at_the_limits)
{
    const struct osc_records_line l = osc_records_line(1000, 0, 1, 1000000);

    assert_int_equal(osc_records_line_ns(&l, INT64_MAX), OSC_TIME_MAX_NS);
    assert_int_equal(osc_records_line_ns(&l, (uint64_t)INT64_MIN + 2000), -OSC_TIME_MAX_NS);
}

static struct osc_clock_anchor anchor(uint64_t ticks, int64_t ns)
{
    return (struct osc_clock_anchor){.ticks = ticks, .monotonic_ns = ns};
}

TEST(goes_from_anchor_to_anchor_in_any_order)
{
    const struct osc_clock_anchor anchors[] = {anchor(4000, 20000), anchor(1000, 5000),
                                               anchor(2000, 6000), anchor(2000, 7000),
                                               anchor(3000, 100)};
    struct osc_records_clock c = {0};

    assert_int_equal(osc_records_clock_add(&c, anchors, 5), OSC_OK);
    assert_int_equal(osc_records_clock_sort(&c, 0), OSC_OK);
    assert_int_equal(c.n_anchors, 3); /* one occurs twice; the clock of another ran back */
    assert_int_equal(osc_records_clock_ns(&c, 1500), 5500);
    assert_int_equal(osc_records_clock_ns(&c, 3000), 13000);
    assert_int_equal(osc_records_clock_ns(&c, 999), 4999);
    assert_int_equal(osc_records_clock_ns(&c, 5000), 27000);
    assert_int_equal(osc_records_clock_ns(&c, 1999), 5999);
    osc_records_clock_fini(&c);
}

/* Ticks continue while a machine sleeps; the time of day is set; counters are reset. */
static const struct osc_clock_anchor stepping[] = {
    {.ticks = 1000, .monotonic_ns = 1000, .realtime_ns = 9000000, .boottime_ns = 1000},
    {.ticks = 2000, .monotonic_ns = 2000, .realtime_ns = 10000, .boottime_ns = 2000},
    {.ticks = 900000, .monotonic_ns = 2001, .realtime_ns = 8000000, .boottime_ns = 900000},
    {.ticks = 901000, .monotonic_ns = 3000, .realtime_ns = -5, .boottime_ns = 901000},
    {.ticks = 902000, .monotonic_ns = 3000, .realtime_ns = INT64_MAX, .boottime_ns = 902000},
    {.ticks = 10, .monotonic_ns = 4000, .realtime_ns = 0, .boottime_ns = 903000},
};

TEST(steps_of_other_clocks_change_no_time)
{
    struct osc_records_clock c = {0};

    assert_int_equal(osc_records_clock_add(&c, stepping, 5), OSC_OK);
    assert_int_equal(osc_records_clock_sort(&c, 0), OSC_OK);
    assert_int_equal(c.n_anchors, 5);
    assert_int_equal(osc_records_clock_ns(&c, 1500), 1500); /* the time of day was set */
    assert_int_equal(osc_records_clock_ns(&c, 450000), 2000);
    assert_int_equal(osc_records_clock_ns(&c, 900500), 2500); /* the machine slept in between */
    assert_int_equal(osc_records_clock_ns(&c, 901500), 3000);
    osc_records_clock_fini(&c);
}

/* Assert that times never decrease while ticks increase. */
static void check_order(const struct osc_clock_anchor *anchors, size_t n, uint64_t step)
{
    struct osc_records_clock c = {0};
    int64_t last = INT64_MIN;

    assert_int_equal(osc_records_clock_add(&c, anchors, n), OSC_OK);
    assert_int_equal(osc_records_clock_sort(&c, 0), OSC_OK);
    for (uint64_t i = 0; i < 2000; i++) {
        const int64_t ns = osc_records_clock_ns(&c, i * step);

        assert_true(ns >= last);
        last = ns;
    }
    osc_records_clock_fini(&c);
}

TEST(never_goes_back_whatever_the_anchors_say)
{
    struct osc_clock_anchor anchors[20];
    uint64_t seed = 7;

    for (size_t n = 1; n <= sizeof stepping / sizeof *stepping; n++)
        check_order(stepping, n, 499);
    for (int round = 0; round < 200; round++) {
        const int narrow = round % 40; /* from steps of a few ticks to any step */

        for (size_t i = 0; i < 20; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            anchors[i] = anchor(seed >> (2 + narrow), (int64_t)(seed * 31 >> (1 + narrow)));
        }
        check_order(anchors, 1 + (size_t)round % 20, (UINT64_MAX >> (2 + narrow)) / 2000);
    }
}

TEST(takes_the_stated_rate_where_one_anchor_is_all)
{
    const struct osc_clock_anchor one = anchor(1000, 5000);
    struct osc_records_clock c = {0}, none = {0};

    assert_int_equal(osc_records_clock_add(&c, &one, 1), OSC_OK);
    assert_int_equal(osc_records_clock_sort(&c, 2000000000), OSC_OK);
    assert_int_equal(osc_records_clock_ns(&c, 3001), 6000);
    osc_records_clock_fini(&c);
    assert_int_equal(osc_records_clock_sort(&none, 0), OSC_OK);
    assert_int_equal(osc_records_clock_ns(&none, 123), 123);
    osc_records_clock_fini(&none);
}

TEST(fits_a_device_through_its_narrowest_readings)
{
    struct osc_records_pair pairs[] = {{2000000, 5000000, 10}, {0, 1000000, 100000},
                                       {1000, 1001000, 20},    {1000000, 3000000, 70000},
                                       {1500000, 4000000, 12}, {1990000, 4980000, 900}};
    struct osc_records_clock c = {0};

    assert_int_equal(osc_records_clock_sort(&c, 0), OSC_OK);
    /* From (1000, 1001010) to (2000000, 5000005), the middles of the readings. */
    const struct osc_records_fit fit = osc_records_fit(&c, pairs, 6, 500000000);
    assert_int_equal(fit.line.x0, 1000);
    assert_int_equal(osc_records_line_ns(&fit.line, 1000), 1001010);
    assert_int_equal(osc_records_line_ns(&fit.line, 2000000), 5000005);
    assert_int_equal(fit.hz, 500000000);
    assert_int_equal(fit.drift_ppb, 248874);
    assert_int_equal(fit.width_ns, 20);
    osc_records_clock_fini(&c);
}

TEST(takes_the_rate_that_a_device_states_where_readings_cannot_tell)
{
    struct osc_records_pair near[] = {{1000, 1000, 10}, {1100, 1200, 10}};
    struct osc_records_clock c = {0};

    assert_int_equal(osc_records_clock_sort(&c, 0), OSC_OK);
    struct osc_records_fit fit = osc_records_fit(&c, near, 2, 1000000000);
    assert_int_equal(osc_records_line_ns(&fit.line, 2000), 2005);
    assert_int_equal(fit.drift_ppb, 0);
    fit = osc_records_fit(&c, near, 2, 0);
    assert_int_equal(osc_records_line_ns(&fit.line, 1200), 1405);
    assert_int_equal(fit.hz, 500000000);
    fit = osc_records_fit(&c, near, 1, 0);
    assert_int_equal(osc_records_line_ns(&fit.line, 1200), 1205);
    osc_records_clock_fini(&c);
}

TEST(says_when_memory_is_exhausted)
{
    const struct osc_clock_anchor anchors[] = {anchor(1, 1), anchor(2, 2)};
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_records_clock c = {0};

        osc_mem_fail_after(n);
        st = osc_records_clock_add(&c, anchors, 2);
        if (st == OSC_OK)
            st = osc_records_clock_sort(&c, 0);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_records_clock_fini(&c);
    }
}

UNIT_MAIN("records_clock")
