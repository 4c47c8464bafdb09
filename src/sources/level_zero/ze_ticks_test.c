/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_ticks.h"

#include "support/unit.h"

#define MASK_32 ((UINT64_C(1) << 32) - 1)

TEST(a_reading_is_extended_to_the_time_nearest_to_what_is_expected)
{
    const uint64_t period = MASK_32 + 1;

    /* Expected and shown are far apart in low bits, because it has wrapped meanwhile. */
    assert_int_equal(osc_ze_nearest(5, MASK_32, 3 * period - 10), 3 * period + 5);
    assert_int_equal(osc_ze_nearest(MASK_32, MASK_32, 3 * period + 10), 3 * period - 1);
    assert_int_equal(osc_ze_nearest(7, MASK_32, 7), 7);
    assert_int_equal(osc_ze_nearest(100, UINT64_MAX, 5000), 100);
    for (uint64_t expected = 10 * period; expected < 12 * period; expected += period / 7) {
        for (int64_t off = -1000000; off <= 1000000; off += 333333) {
            const uint64_t real = expected + (uint64_t)off;

            assert_int_equal(osc_ze_nearest(real & MASK_32, MASK_32, expected), real);
        }
    }
}

TEST(ticks_advance_by_whole_seconds_and_parts_of_one)
{
    assert_int_equal(osc_ze_advance(100, 1000000000, 19200000), 19200100);
    assert_int_equal(osc_ze_advance(19200100, -1000000000, 19200000), 100);
    assert_int_equal(osc_ze_advance(0, INT64_C(3600) * 1000000000 + 500000000, 12500000),
                     UINT64_C(45006250000));
    assert_int_equal(osc_ze_advance(7, 123456789, 0), 7);
}

UNIT_MAIN("ze_ticks")
