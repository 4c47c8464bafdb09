/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/welch.h"

#include <math.h>

#include "support/unit.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* By Simpson's rule over the density of Student's distribution. */
TEST(probabilities_are_those_of_others)
{
    const struct osc_sample a = {5, 10, 4}, b = {7, 13, 9}, c = {3, 10, 0};

    assert_true(is_near(osc_welch_p(&a, &b), 0.06452314622315669));
    assert_true(is_near(osc_welch_p(&b, &a), osc_welch_p(&a, &b)));
    assert_true(is_near(osc_welch_p(&c, &b), 0.03824518382399944));
}

TEST(equal_and_certain_samples)
{
    const struct osc_sample a = {4, 10, 0}, b = {4, 10, 0}, c = {4, 11, 0};

    assert_true(osc_welch_p(&a, &b) == 1);
    assert_true(osc_welch_p(&a, &c) == 0);
    assert_true(osc_sample_differs(&a, &c));
    assert_false(osc_sample_differs(&a, &b));
}

TEST(a_difference_within_the_usual_one_is_none)
{
    const struct osc_sample a = {1000, 100, 100}, b = {1000, 105, 100};

    assert_true(osc_welch_p(&a, &b) < 1e-20);
    assert_false(osc_sample_differs(&a, &b));
}

TEST(limits_follow_the_number_of_tests)
{
    double none[] = {0.5, 0.02, 0.9}, one[] = {0.5, 0.003, 0.9}, all[] = {0.01, 0.009, 0.008};

    assert_true(osc_welch_limit(none, 3) < 0);
    assert_true(osc_welch_limit(one, 3) == 0.003);
    assert_true(osc_welch_limit(all, 3) == 0.01);
    assert_true(osc_welch_limit(NULL, 0) < 0);
}

UNIT_MAIN("welch")
