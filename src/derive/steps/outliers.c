/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/steps/outliers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

/* With fewer steps their median and noise are not known; kinds need more of them. */
enum { ENOUGH = 3, ENOUGH_FOR_KINDS = 8, FEW = 8, SOME = 20 };

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* Twice the median of the N sorted values V; N is not 0. */
static int64_t median_twice(const int64_t *v, size_t n)
{
    return v[(n - 1) / 2] + v[n / 2];
}

/* Which part of the median a step must differ by, of N. */
static int64_t least_part(size_t n)
{
    return n < FEW ? 4 : n < SOME ? 5 : 10;
}

/* Lengths of one kind. To be exact, the median is doubled, and the MAD four times as large. */
struct usual {
    size_t n;
    int64_t median_twice, mad_four;
};

/* The same of the N sorted values V; ROOM has place for them. */
static struct usual usual_of(const int64_t *v, size_t n, int64_t *room)
{
    struct usual u = {.n = n};

    if (n == 0)
        return u;
    u.median_twice = median_twice(v, n);
    for (size_t i = 0; i < n; i++)
        room[i] = llabs(2 * v[i] - u.median_twice);
    osc_sort(room, n, sizeof *room, by_value);
    u.mad_four = median_twice(room, n);
    return u;
}

/* Whether LENGTH is far from what is usual. */
static bool is_far_from(const struct usual *u, int64_t length)
{
    const int64_t twice = llabs(2 * length - u->median_twice);
    /* More than 8 MAD, as a quotient: a product may not fit. */
    const bool is_beyond =
        twice / 4 > u->mad_four || (twice / 4 == u->mad_four && twice % 4 != 0);

    return u->n >= ENOUGH && is_beyond && twice > u->median_twice / least_part(u->n);
}

/* How many of the N sorted values V are of the shorter kind; N: there is one kind. */
static size_t find_kinds(const int64_t *v, size_t n)
{
    const size_t least = (n + 2) / 3;
    size_t at = least;

    if (n < ENOUGH_FOR_KINDS)
        return n;
    for (size_t i = least; i <= n - least; i++)
        if (v[i] - v[i - 1] > v[at] - v[at - 1])
            at = i;

    const int64_t gap = v[at] - v[at - 1];
    const int64_t apart_twice = median_twice(v + at, n - at) - median_twice(v, at);

    return gap > v[at - 1] / 4 && 4 * gap >= apart_twice ? at : n;
}

osc_status osc_outliers_find(const int64_t *length_ns, size_t n, bool *is_far,
                             struct osc_step_kinds *kinds)
{
    if (kinds)
        *kinds = (struct osc_step_kinds){.n = {0}};
    if (n == 0)
        return OSC_OK;

    int64_t *const v = osc_calloc(n, 2 * sizeof *v);
    if (!v)
        return OSC_ENOMEM;
    memcpy(v, length_ns, n * sizeof *v);
    osc_sort(v, n, sizeof *v, by_value);

    const size_t n_short = find_kinds(v, n);
    const struct usual both[] = {usual_of(v, n_short, v + n),
                                 usual_of(v + n_short, n - n_short, v + n)};

    for (size_t i = 0; i < n && is_far; i++)
        is_far[i] = is_far_from(&both[length_ns[i] > v[n_short - 1]], length_ns[i]);
    if (kinds)
        kinds->all_median_twice_ns = median_twice(v, n);
    for (size_t k = 0; k < 2 && kinds && n_short < n; k++) {
        kinds->n[k] = both[k].n;
        kinds->median_twice_ns[k] = both[k].median_twice;
    }
    osc_free(v);
    return OSC_OK;
}
