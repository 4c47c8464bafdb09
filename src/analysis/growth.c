/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/growth.h"

#include "analysis/step_sums.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/facts.h"

static int by_name(const void *x, const void *y)
{
    const struct osc_step_sum *const a = x, *const b = y;

    return a->name != b->name ? (a->name > b->name) - (a->name < b->name)
                              : (a->step > b->step) - (a->step < b->step);
}

static int by_value(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* The element K, from 0, of the sorted V[0, N) with N_ZEROS zeroes added. */
static int64_t kth(const int64_t *v, size_t n, size_t n_zeros, size_t k)
{
    size_t n_negative = 0;

    while (n_negative < n && v[n_negative] < 0)
        n_negative++;
    if (k < n_negative)
        return v[k];
    return k < n_negative + n_zeros ? 0 : v[k - n_zeros];
}

/* Whether the step is an outlier longer than the median; short outliers need no
 * explanation. */
static bool is_slow(const struct osc_breakdown *b, uint32_t step)
{
    const struct osc_step_cost *const s = &b->steps[step];

    return s->is_outlier && 2 * (s->end_ns - s->start_ns) > b->median_twice_ns;
}

/* Compare the N sums of one name with the best so far in each outlier of B. V has room for
 * N. */
static void try_name(const struct osc_step_sum *sums, size_t n, const struct osc_breakdown *b,
                     int64_t *v, struct osc_growth *growth, uint32_t *first_rows)
{
    uint32_t first_row = UINT32_MAX; /* of the name */

    for (size_t i = 0; i < n; i++)
        first_row = sums[i].first_row < first_row ? sums[i].first_row : first_row;
    for (int side = 0; side < OSC_STEP_SIDES; side++) {
        size_t n_kept = 0;

        for (size_t i = 0; i < n; i++) {
            if (b->steps[sums[i].step - 1].is_kept)
                v[n_kept++] = sums[i].ns[side];
        }
        const size_t n_zeros = b->n_kept - n_kept;
        osc_sort(v, n_kept, sizeof *v, by_value);
        const int64_t median_twice = kth(v, n_kept, n_zeros, (b->n_kept - 1) / 2) +
                                     kth(v, n_kept, n_zeros, b->n_kept / 2);
        for (size_t i = 0; i < n; i++) {
            const uint32_t step = sums[i].step - 1;
            const int64_t half_ns = 2 * sums[i].ns[side] - median_twice;
            struct osc_growth *const best = &growth[step];
            const bool is_first = half_ns == best->half_ns && side == (int)best->is_device &&
                                  first_row < first_rows[step];

            if (half_ns <= 0 || sums[i].name == 0 || !is_slow(b, step))
                continue;
            if (half_ns > best->half_ns || is_first ||
                (half_ns == best->half_ns && side < (int)best->is_device)) {
                *best = (struct osc_growth){.name = {sums[i].name},
                                            .half_ns = half_ns,
                                            .is_device = side == OSC_STEP_DEVICE,
                                            .is_in_other = sums[i].is_in_other};
                first_rows[step] = first_row;
            }
        }
    }
}

static osc_status try_names(struct osc_step_sums *s, const struct osc_breakdown *b,
                            struct osc_growth *growth)
{
    int64_t *const v = osc_malloc((s->n + 1) * sizeof *v);
    uint32_t *const first_rows = osc_calloc((size_t)b->n_steps + 1, sizeof *first_rows);
    const osc_status st = v && first_rows ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK && s->n > 0) {
        osc_sort(s->all, s->n, sizeof *s->all, by_name);
        for (size_t i = 0, n; i < s->n; i += n) {
            for (n = 1; i + n < s->n && s->all[i + n].name == s->all[i].name; n++)
                ;
            try_name(&s->all[i], n, b, v, growth, first_rows);
        }
    }
    osc_free(v);
    osc_free(first_rows);
    return st;
}

struct osc_str osc_growth_name(const struct osc_trace *t, const struct osc_growth *g)
{
    return g->is_other ? OSC_STR("other") : osc_trace_str(t, g->name);
}

/* Compare the time in which nothing was recorded with the best in each outlier of B; drop what
 * explains less than a tenth. */
static osc_status try_other(const struct osc_breakdown *b, struct osc_growth *growth)
{
    int64_t *const v = osc_malloc(((size_t)b->n_steps + 1) * sizeof *v);
    size_t n = 0;

    if (!v)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].is_kept)
            v[n++] = b->steps[i].cost_ns[OSC_COST_OTHER];
    }
    osc_sort(v, n, sizeof *v, by_value);
    const int64_t median_twice = n > 0 ? v[(n - 1) / 2] + v[n / 2] : 0;
    osc_free(v);
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct osc_step_cost *const s = &b->steps[i];
        const int64_t half_ns = 2 * s->cost_ns[OSC_COST_OTHER] - median_twice;
        const int64_t of_half_ns = 2 * (s->end_ns - s->start_ns) - b->median_twice_ns;

        if (!is_slow(b, i))
            continue;
        /* What was recorded in that time is not among what was not. */
        if (half_ns - (growth[i].is_in_other ? growth[i].half_ns : 0) > growth[i].half_ns)
            growth[i] = (struct osc_growth){.half_ns = half_ns, .is_other = true};
        if (growth[i].half_ns < of_half_ns / 10 + (of_half_ns % 10 != 0))
            growth[i] = (struct osc_growth){0};
        growth[i].of_half_ns = of_half_ns;
    }
    return OSC_OK;
}

osc_status osc_growth_find(const struct osc_trace *t, const struct osc_breakdown *b,
                           struct osc_growth *growth)
{
    struct osc_step_sums s = {.t = t, .f = osc_trace_facts(t)};
    bool has_slow_steps = false;

    for (uint32_t i = 0; i < b->n_steps; i++)
        has_slow_steps |= is_slow(b, i);
    if (!has_slow_steps)
        return OSC_OK;
    osc_status st = osc_step_sums_host(&s);
    if (st == OSC_OK)
        st = osc_step_sums_device(&s);
    if (st == OSC_OK)
        st = try_names(&s, b, growth);
    if (st == OSC_OK)
        st = try_other(b, growth);
    osc_step_sums_fini(&s);
    return st;
}
