/* SPDX-License-Identifier: Apache-2.0 */
/*
 * welch.h - whether two samples of steps differ by more than their steps do among themselves.
 *
 * Welch's t-test, two-sided: t = (mean2 - mean1) / sqrt(var1 / n1 + var2 / n2), with the
 * degrees of freedom of Welch and Satterthwaite. Many names are tested at the same time, so
 * levels follow Benjamini and Hochberg: of all that are called different, at most one in a
 * hundred is expected to be equal.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_WELCH_LEVEL           0.01
#define OSC_WELCH_STEPS_MIN       3u  /* on each side, or nothing is said */
#define OSC_WELCH_FREEDOM_CAREFUL 4.0 /* those of three steps on each side */

/* Mean and variance (of a sample: n - 1) of N values. */
struct osc_sample {
    uint32_t n;
    double mean, variance;
};

/* The probability of a difference at least this large between samples of the same steps. */
double osc_welch_p(const struct osc_sample *a, const struct osc_sample *b);

/* The same with no more than OSC_WELCH_FREEDOM_CAREFUL degrees of freedom. */
double osc_welch_p_careful(const struct osc_sample *a, const struct osc_sample *b);

/* Whether the means differ by more than the usual difference between steps, the root of the
 * mean of both variances. */
bool osc_sample_differs(const struct osc_sample *a, const struct osc_sample *b);

/* How often the steps of both sides, N and M, dealt out anew, part as they do: all of one side
 * on one hand. Fisher's permutation test, two-sided: 2 of the ways to choose N among all. */
double osc_parted_p(uint32_t n, uint32_t m);

/*
 * The largest of the N probabilities at P that still counts as a difference, by Benjamini and
 * Hochberg; negative if none does. P is sorted.
 */
double osc_welch_limit(double *p, size_t n);
