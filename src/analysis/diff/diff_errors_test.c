/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a comparison errs: random pairs of runs, of which nothing or one operator became
 * slower. docs/decisions/diff-significance.md has what larger numbers of pairs give.
 */
#include <math.h>

#include "analysis/call_logs.h"
#include "analysis/diff/change.h"
#include "analysis/table_registry.h"
#include "support/unit.h"

#ifndef N_PAIRS
#define N_PAIRS 40
#endif
enum { N_NAMES = 60, N_CALLS = 20 };

/* How times vary: the deviation of the logarithm of a call, of all calls of a step, and of all
 * calls of a name in a step. */
struct noise {
    const char *what;
    int n_large; /* names with N_CALLS calls a step; others have one */
    double of_calls, of_steps, of_names;
    bool is_mixed;   /* calls of a name take up to 100 times as long as others */
    bool has_spikes; /* one call in 50 takes 10 times as long */
};

static uint64_t seed;

/* A number in (0, 1), by splitmix64. */
static double uniform(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 12) + 0.5) / 0x1p52;
}

/* A number of the normal distribution with deviation 1, by Box and Muller. */
static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void add_work(struct osc_result *work, int name, uint32_t step, int64_t calls,
                     int64_t ns, const struct osc_call_logs *logs)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "aten::op%d", name);

    osc_result_row(work);
    osc_result_str(work, OSC_WORK_NAME, (struct osc_str){text, (uint32_t)len});
    osc_result_int(work, OSC_WORK_SPAN, 1);
    osc_result_int(work, OSC_WORK_STEP, step);
    osc_result_int(work, OSC_WORK_CALLS, calls);
    osc_result_int(work, OSC_WORK_TIME + OSC_TIME_HOST_SELF, ns);
    osc_result_int(work, OSC_WORK_LOG(OSC_TIME_HOST_SELF), logs->sum);
    osc_result_int(work, OSC_WORK_SQUARE(OSC_TIME_HOST_SELF), logs->squares);
}

/* Make a run of N_STEPS steps, in which the first name takes FACTOR times as long. */
static void make_run(const struct noise *z, uint32_t n_steps, double factor,
                     struct osc_result *steps, struct osc_result *work)
{
    osc_result_init(steps, osc_side_defs[OSC_SIDE_STEPS]);
    osc_result_init(work, osc_side_defs[OSC_SIDE_OPERATORS]);
    for (uint32_t step = 0; step < n_steps; step++) {
        const double of_step = z->of_steps * normal();
        int64_t total_ns = 0;

        for (int name = 0; name < N_NAMES; name++) {
            const double of_name = z->of_names * normal();
            const int n = name < z->n_large ? N_CALLS : 1;
            struct osc_call_logs logs = {0};
            int64_t sum_ns = 0;

            for (int k = 0; k < n; k++) {
                double ns = 20000 * exp(of_step + of_name + z->of_calls * normal());

                ns *= name == 0 ? factor : 1;
                ns *= z->is_mixed ? pow(100, (double)k / n) : 1;
                ns *= z->has_spikes && uniform() < 0.02 ? 10 : 1;
                sum_ns += llround(ns);
                osc_call_logs_add(&logs, llround(ns));
            }
            add_work(work, name, step, n, sum_ns, &logs);
            total_ns += sum_ns;
        }
        osc_result_row(steps);
        osc_result_int(steps, OSC_STEPS_SPAN, 1);
        osc_result_int(steps, OSC_STEPS_STEP, step);
        osc_result_int(steps, OSC_STEPS_PARTS, 1);
        osc_result_int(steps, OSC_STEPS_TOTAL, total_ns);
    }
    assert_int_equal(work->status, OSC_OK);
}

/* What was called significant. */
struct found {
    uint32_t names, pairs, first; /* rows, pairs with any, and pairs with the first name */
};

static void compare(const struct noise *z, uint32_t n_steps, double factor, struct found *f)
{
    struct osc_result steps[OSC_BOTH], work[OSC_BOTH], out;
    const struct osc_change_columns at =
        osc_change_columns(&osc_table_diff_operators, OSC_TIME_HOST_SELF);
    uint32_t n = 0;

    make_run(z, n_steps, 1, &steps[OSC_BASE], &work[OSC_BASE]);
    make_run(z, n_steps, factor, &steps[OSC_NEW], &work[OSC_NEW]);
    const struct osc_result *const base[] = {&steps[OSC_BASE], &work[OSC_BASE]};
    const struct osc_result *const new_[] = {&steps[OSC_NEW], &work[OSC_NEW]};
    osc_result_init(&out, &osc_table_diff_operators);
    assert_int_equal(osc_table_diff_operators.comparison->compare(
                         base, new_, &(struct osc_options){.n_threads = 1}, &out, NULL),
                     OSC_OK);
    for (uint64_t i = 0; i < out.n_rows; i++) {
        const bool is_found = osc_result_get_bool(&out, i, at.significant);

        n += is_found;
        f->first += i == 0 && is_found;
    }
    f->names += n;
    f->pairs += n > 0;
    osc_result_fini(&out);
    for (int s = 0; s < OSC_BOTH; s++) {
        osc_result_fini(&steps[s]);
        osc_result_fini(&work[s]);
    }
}

static struct found compare_pairs(const struct noise *z, uint32_t n_steps, double factor)
{
    struct found f = {0};

    seed = n_steps;
    for (int i = 0; i < N_PAIRS; i++)
        compare(z, n_steps, factor, &f);
    print_message("%-32s %2u steps, %.1f x: %5.2f %% of names, %5.1f %% of pairs, the first in "
                  "%5.1f %%\n",
                  z->what, n_steps, factor, 100.0 * f.names / N_PAIRS / N_NAMES,
                  100.0 * f.pairs / N_PAIRS, 100.0 * f.first / N_PAIRS);
    return f;
}

static const struct noise noises[] = {
    {.what = "calls", .n_large = 60, .of_calls = 0.3},
    {.what = "steps", .n_large = 4, .of_calls = 0.17, .of_steps = 0.12},
    {.what = "steps, many calls", .n_large = 60, .of_calls = 0.17, .of_steps = 0.12},
    {.what = "steps most", .n_large = 30, .of_calls = 0.05, .of_steps = 0.3},
    {"mixed calls", 30, .of_calls = 0.17, .of_steps = 0.12, .is_mixed = true},
    {"spikes", 30, .of_calls = 0.17, .of_steps = 0.05, .has_spikes = true},
    {.what = "names in steps", .n_large = 60, .of_calls = 0.17, .of_names = 0.12},
    {"names in steps, few", 4, .of_calls = 0.17, .of_steps = 0.05, .of_names = 0.12},
};

TEST(what_did_not_change_is_rarely_significant)
{
    static const uint32_t n_steps[] = {3, 5, 20};
    uint32_t n_pairs = 0, names = 0, pairs = 0;

    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        for (size_t k = 0; k < sizeof n_steps / sizeof *n_steps; k++) {
            const struct found f = compare_pairs(&noises[i], n_steps[k], 1);

            n_pairs += N_PAIRS;
            names += f.names;
            pairs += f.pairs;
        }
    }
    assert_true(names * 100 <= n_pairs * N_NAMES);
    assert_true(pairs * 50 <= n_pairs);
}

TEST(what_takes_three_times_as_long_is_significant)
{
    const struct found few = compare_pairs(&noises[1], 3, 3);
    const struct found all = compare_pairs(&noises[2], 3, 3);

    assert_true(few.first * 10 >= N_PAIRS * 7);
    assert_true(all.first * 10 >= N_PAIRS * 7);
}

UNIT_MAIN("diff_errors")
