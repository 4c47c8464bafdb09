/* SPDX-License-Identifier: Apache-2.0 */
#include "render/fit.h"

#include "support/unit.h"

#define N 4

/* Fit the columns: a name, two numbers of another importance, and a short name. */
static void fit(size_t width, struct osc_fit_column *columns)
{
    const struct osc_fit_column all[N] = {
        {.width = 60, .least = 32, .importance = 9},
        {.width = 10, .least = 10, .importance = 1},
        {.width = 10, .least = 10, .importance = 1},
        {.width = 20, .least = 12, .importance = 5},
    };

    memcpy(columns, all, sizeof all);
    osc_fit(columns, N, width);
}

/* The widths of the columns, 0 for those that are left out. */
static void assert_widths(size_t width, size_t a, size_t b, size_t c, size_t d)
{
    struct osc_fit_column columns[N];
    const size_t expected[N] = {a, b, c, d};

    fit(width, columns);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(columns[i].is_out ? 0 : columns[i].width, expected[i]);
}

TEST(narrows_names_then_leaves_out_the_last_of_the_least_important)
{
    assert_widths(200, 60, 10, 10, 20);
    assert_widths(106, 60, 10, 10, 20);
    assert_widths(100, 54, 10, 10, 20);
    assert_widths(70, 32, 10, 10, 12);
    assert_widths(69, 35, 10, 0, 20);
    assert_widths(50, 32, 0, 0, 16);
    assert_widths(45, 45, 0, 0, 0);
    assert_widths(10, 10, 0, 0, 0);
    assert_widths(0, 0, 0, 0, 0);
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
