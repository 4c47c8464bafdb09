/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/welch.h"

#include <math.h>

#include "base/sort.h"

/* The continued fraction of the incomplete beta function, by Lentz's method (Numerical
 * Recipes, 6.4). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= 300; m++) {
        const double m2 = 2.0 * m;
        const double even = m * (b - m) * x / ((a + m2 - 1) * (a + m2));
        const double odd = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1));

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x)
{
    int sign;

    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log1p(-x));
    /* The fraction converges fast on this side of the mean only. */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Welch's test with at most MOST degrees of freedom. */
static double test(const struct osc_sample *a, const struct osc_sample *b, double most)
{
    const double va = a->variance / a->n, vb = b->variance / b->n, v = va + vb;
    const double delta = b->mean - a->mean;

    if (!(v > 0))
        return delta == 0 ? 1 : 0;
    const double t2 = delta * delta / v;
    const double df = fmin(v * v / (va * va / (a->n - 1) + vb * vb / (b->n - 1)), most);
    return beta(df / 2, 0.5, df / (df + t2));
}

double osc_welch_p(const struct osc_sample *a, const struct osc_sample *b)
{
    return test(a, b, (double)INFINITY);
}

double osc_welch_p_careful(const struct osc_sample *a, const struct osc_sample *b)
{
    return test(a, b, OSC_WELCH_FREEDOM_CAREFUL);
}

bool osc_sample_differs(const struct osc_sample *a, const struct osc_sample *b)
{
    return fabs(b->mean - a->mean) > sqrt((a->variance + b->variance) / 2);
}

double osc_parted_p(uint32_t n, uint32_t m)
{
    double ways = 1;

    for (uint32_t k = 1; k <= n; k++)
        ways *= ((double)m + k) / k;
    return 2 / ways;
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

double osc_welch_limit(double *p, size_t n)
{
    double limit = -1;

    osc_sort(p, n, sizeof *p, by_value);
    for (size_t k = 0; k < n; k++) {
        if (p[k] <= OSC_WELCH_LEVEL * (double)(k + 1) / (double)n)
            limit = p[k];
    }
    return limit;
}
