/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/median.h"

#include "support/unit.h"

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

TEST(it_is_the_middle_one_or_the_mean_of_two)
{
    assert_true(osc_median((int64_t[]){3, 1, 2}, 3, 0) == 2);
    assert_true(osc_median((int64_t[]){4, 1, 2, 3}, 4, 0) == 2.5);
    assert_true(osc_median((int64_t[]){7}, 1, 0) == 7);
    assert_true(osc_median(NULL, 0, 0) == 0);
    assert_true(osc_median((int64_t[]){-3, -4}, 2, 0) == -3.5);
}

TEST(zeros_need_not_be_there)
{
    assert_true(osc_median((int64_t[]){8, 6}, 2, 1) == 6);
    assert_true(osc_median((int64_t[]){8, 6}, 2, 2) == 3);
    assert_true(osc_median((int64_t[]){8, 6}, 2, 3) == 0);
    assert_true(osc_median(NULL, 0, 5) == 0);
}

TEST(selecting_agrees_with_sorting)
{
    unsigned seed = 3;

    for (int round = 0; round < 300; round++) {
        int64_t v[64], sorted[64];
        const size_t n = 1 + (size_t)rand_r(&seed) % 64, k = (size_t)rand_r(&seed) % n;
        const int range = 1 + rand_r(&seed) % 50;

        for (size_t i = 0; i < n; i++)
            v[i] = round % 3 == 0 ? (int64_t)i : rand_r(&seed) % range;
        memcpy(sorted, v, sizeof v);
        qsort(sorted, n, sizeof *sorted, by_value);
        assert_int_equal(osc_select_kth(v, n, k), sorted[k]);
    }
}

UNIT_MAIN("median")
