/* SPDX-License-Identifier: Apache-2.0 */
#include "render/fit.h"

#include "support/unit.h"

#define N 5

/* Fit the columns: a name, two numbers, a sum that is important, and a key that is vital. */
static void fit(size_t width, struct osc_fit_column *columns)
{
    const struct osc_fit_column all[N] = {
        {.width = 60, .least = {40, 32, 32, 12}, .importance = OSC_FIT_VITAL + 1},
        {.width = 10, .least = {10, 10, 10, 10}, .importance = 1},
        {.width = 10, .least = {10, 10, 10, 10}, .importance = 1},
        {.width = 14, .least = {14, 14, 14, 14}, .importance = OSC_FIT_IMPORTANT},
        {.width = 20, .least = {16, 8, 6, 6}, .importance = OSC_FIT_VITAL},
    };

    memcpy(columns, all, sizeof all);
    osc_fit(columns, N, width);
}

/* The widths of the columns, 0 for those that are left out. */
static void assert_widths(size_t width, size_t a, size_t b, size_t c, size_t d, size_t e)
{
    struct osc_fit_column columns[N];
    const size_t expected[N] = {a, b, c, d, e};

    fit(width, columns);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(columns[i].is_out ? 0 : columns[i].width, expected[i]);
}

TEST(narrows_names_then_leaves_out_the_last_of_the_least_important)
{
    assert_widths(200, 60, 10, 10, 14, 20);
    assert_widths(122, 60, 10, 10, 14, 20);
    assert_widths(110, 48, 10, 10, 14, 20);
    assert_widths(98, 40, 10, 10, 14, 16);
    assert_widths(97, 47, 10, 0, 14, 20);
    assert_widths(74, 40, 0, 0, 14, 16);
}

TEST(narrows_names_further_before_an_important_column_goes)
{
    assert_widths(73, 39, 0, 0, 14, 16);
    assert_widths(58, 32, 0, 0, 14, 8);
    assert_widths(57, 39, 0, 0, 0, 16);
}

TEST(leaves_out_all_else_before_a_vital_column)
{
    assert_widths(42, 32, 0, 0, 0, 8);
    assert_widths(41, 32, 0, 0, 0, 7);
    assert_widths(39, 31, 0, 0, 0, 6);
    assert_widths(20, 12, 0, 0, 0, 6);
    assert_widths(19, 19, 0, 0, 0, 0);
    assert_widths(10, 10, 0, 0, 0, 0);
    assert_widths(0, 0, 0, 0, 0, 0);
}

TEST(keeps_lines_within_the_width)
{
    for (size_t width = 1; width < 120; width++) {
        struct osc_fit_column columns[N];
        size_t total = 0;

        fit(width, columns);
        for (size_t i = 0; i < N; i++)
            total += columns[i].is_out ? 0 : columns[i].width + (total > 0 ? OSC_FIT_GAP : 0);
        assert_true(total <= width);
        assert_false(columns[0].is_out);
    }
}

UNIT_MAIN("fit")
