/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/steps/outliers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200, RUNS = 20000 };

/* As texts, so that a failure shows which: "..!" has a third step that is far. */
static void assert_far(const int64_t *v, size_t n, const char *expected)
{
    bool is_far[MOST];
    char text[MOST + 1] = {0};

    assert_int_equal(osc_outliers_find(v, n, is_far, NULL), OSC_OK);
    for (size_t i = 0; i < n; i++)
        text[i] = is_far[i] ? '!' : '.';
    assert_string_equal(text, expected);
}

#define ASSERT_FAR(expected, ...)                         \
    do {                                                  \
        const int64_t v_[] = {__VA_ARGS__};               \
        assert_far(v_, sizeof v_ / sizeof *v_, expected); \
    } while (0)

static void steps_that_take_long_stand_out_from_three_on(void **state)
{
    (void)state;
    ASSERT_FAR("..", 100, 300);
    ASSERT_FAR("..!", 100, 101, 180);
    ASSERT_FAR("...", 100, 101, 124);
    ASSERT_FAR("..!.", 100, 100, 126, 100);
    /* A ResNet that waits for data, in milliseconds. */
    ASSERT_FAR("!...!.", 182306, 126183, 127181, 123079, 163461, 124198);
    ASSERT_FAR("!....!", 170134, 122520, 123217, 118625, 119738, 202617);
    /* A short one, too. */
    ASSERT_FAR("....!", 100, 101, 99, 100, 60);
}

static void steps_of_many_lengths_do_not(void **state)
{
    (void)state;
    ASSERT_FAR("......", 100, 120, 140, 160, 180, 200);
    ASSERT_FAR("........", 100, 140, 110, 130, 125, 90, 150, 160);
    ASSERT_FAR("...", 0, 0, 0);
}

static void a_loop_may_have_two_kinds_of_step(void **state)
{
    const int64_t v[] = {100, 301, 101, 300, 99, 298, 100, 302, 100, 299, 450, 101};
    bool is_far[12];
    struct osc_step_kinds kinds;

    (void)state;
    assert_int_equal(osc_outliers_find(v, 12, is_far, &kinds), OSC_OK);
    assert_int_equal(kinds.n[0], 6);
    assert_int_equal(kinds.n[1], 6);
    assert_int_equal(kinds.median_twice_ns[0], 200);
    assert_int_equal(kinds.median_twice_ns[1], 601);
    /* One of the longer kind is far from the others of its kind. */
    assert_far(v, 12, "..........!.");
    /* A few slow ones are no kind. */
    ASSERT_FAR("...!.....!..", 100, 101, 99, 300, 100, 100, 99, 101, 100, 310, 100, 100);
    assert_int_equal(osc_outliers_find(v, 4, is_far, &kinds), OSC_OK);
    assert_int_equal(kinds.n[0], 0);
}

static void lengths_of_decades_do_not_overflow(void **state)
{
    const int64_t long_ns = INT64_C(1782700000000000000);

    (void)state;
    ASSERT_FAR("...!", 100, 100, 101, long_ns);
    ASSERT_FAR("....", 0, 0, long_ns, long_ns);
}

static double next_unit(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Of random runs without a slow step at most one in a hundred has one that is marked, or two
 * kinds. Lengths vary by up to 8 %, normally or with a tail of long ones. */
static void few_healthy_runs_are_marked(void **state)
{
    uint64_t seed = 34;
    int n_marked = 0;

    (void)state;
    for (int run = 0; run < RUNS; run++) {
        const size_t n = 3 + (size_t)(next_unit(&seed) * next_unit(&seed) * (MOST - 3));
        const double sigma = 0.08 * next_unit(&seed);
        int64_t v[MOST];
        bool is_far[MOST];
        struct osc_step_kinds kinds;

        for (size_t i = 0; i < n; i++) {
            const double z =
                sqrt(-2 * log(next_unit(&seed))) * cos(6.283185307 * next_unit(&seed));
            v[i] = (int64_t)(1e8 * (run % 2 ? 1 + sigma * z : exp(sigma * z)));
        }
        assert_int_equal(osc_outliers_find(v, n, is_far, &kinds), OSC_OK);
        n_marked += memchr(is_far, true, n) != NULL || kinds.n[0] > 0;
    }
    print_message("# %d of %d healthy runs are marked\n", n_marked, RUNS);
    assert_true(n_marked > 0 && n_marked <= RUNS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_take_long_stand_out_from_three_on),
        cmocka_unit_test(steps_of_many_lengths_do_not),
        cmocka_unit_test(a_loop_may_have_two_kinds_of_step),
        cmocka_unit_test(lengths_of_decades_do_not_overflow),
        cmocka_unit_test(few_healthy_runs_are_marked),
    };
    return cmocka_run_group_tests_name("outliers", tests, NULL, NULL);
}
