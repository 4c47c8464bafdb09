/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/sampling.h"

#include <time.h>

#include "recorder/live/names.h"
#include "support/unit.h"

enum { CALLS = 200000 };

static uint32_t name_of(const char *s)
{
    uint64_t n_full = 0, n_too_big = 0;
    const uint32_t name = osc_names_add(s, strlen(s), &n_full, &n_too_big);

    assert_int_not_equal(name, 0);
    return name;
}

/* What became of CALLS calls of NAME on thread INDEX. */
struct taken {
    uint32_t n, most;
    uint64_t n_calls;
};

static struct taken take(uint32_t index, uint32_t name)
{
    struct taken t = {0};

    for (int i = 0; i < CALLS; i++) {
        uint32_t n_calls;

        if (!osc_sampling_take(index, 1, name, &n_calls))
            continue;
        t.n++;
        t.n_calls += n_calls;
        t.most = n_calls > t.most ? n_calls : t.most;
    }
    return t;
}

TEST(nothing_is_sampled_without_rules)
{
    assert_int_equal(osc_sampling_set(""), OSC_OK);
    assert_false(osc_sampling_is_on());
    assert_int_equal(take(0, name_of("a")).n, CALLS);
}

TEST(one_in_n_is_taken_and_stands_for_the_others)
{
    const uint32_t a = name_of("a"), b = name_of("b");

    assert_int_equal(osc_sampling_set("a=100"), OSC_OK);
    assert_true(osc_sampling_is_on());
    assert_int_not_equal(osc_sampling_key(), 0);
    const struct taken t = take(3, a);

    assert_in_range(t.n, CALLS / 110, CALLS / 90);
    assert_in_range(t.n_calls, CALLS - 200, CALLS);
    assert_true(t.most < 200);
    assert_int_equal(take(3, b).n, CALLS);
    assert_int_equal(take(3, 0).n, CALLS);
}

TEST(gaps_are_not_all_alike)
{
    const uint32_t name = name_of("gaps");
    uint32_t seen[200] = {0}, n_calls, n_kinds = 0;

    assert_int_equal(osc_sampling_set("gaps=100"), OSC_OK);
    for (int i = 0; i < CALLS; i++)
        if (osc_sampling_take(0, 1, name, &n_calls))
            seen[n_calls]++;
    for (uint32_t i = 1; i < 200; i++)
        n_kinds += seen[i] > 0;
    assert_true(n_kinds > 190);
}

TEST(later_rules_win_and_end)
{
    const uint32_t a = name_of("later"), b = name_of("late");

    assert_int_equal(osc_sampling_set("late*=10,later=1000"), OSC_OK);
    assert_in_range(take(1, a).n, CALLS / 1300, CALLS / 800);
    assert_in_range(take(1, b).n, CALLS / 11, CALLS / 9);
    assert_int_equal(osc_sampling_set("later=1"), OSC_OK);
    assert_int_equal(take(1, a).n, CALLS);
    assert_in_range(take(1, b).n, CALLS / 11, CALLS / 9);
    assert_int_equal(osc_sampling_set("*=1"), OSC_OK);
    assert_false(osc_sampling_is_on());
    assert_int_equal(take(1, b).n, CALLS);
}

TEST(a_wrong_list_changes_nothing)
{
    char many[1200] = "";

    assert_int_equal(osc_sampling_set("*=1,wrong=10"), OSC_OK);
    assert_int_equal(osc_sampling_set("right=10,wrong"), OSC_EINVAL);
    for (int i = 0; i < 70; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), "n%d=10,", i);
    assert_int_equal(osc_sampling_set(many), OSC_ELIMIT);
    assert_int_equal(take(2, name_of("right")).n, CALLS);
    assert_in_range(take(2, name_of("wrong")).n, CALLS / 11, CALLS / 9);
}

/* However fast the machine is, a thread that calls without pause for 200 ms records far fewer
 * than it calls; one that calls ten times does not. */
TEST(a_rate_holds_for_a_thread)
{
    const uint32_t name = name_of("hot");
    struct timespec from, now;
    uint64_t n_taken = 0, n_calls = 0, n_said = 0;
    uint32_t said;

    assert_int_equal(osc_sampling_set("*=1,hot=10000/s"), OSC_OK);
    for (int i = 0; i < 10; i++)
        assert_true(osc_sampling_take(5, 1, name, &said) && said == 1);
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        for (int i = 0; i < 1000; i++) {
            n_calls++;
            if (osc_sampling_take(4, 1, name, &said)) {
                n_taken++;
                n_said += said;
            }
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 200000000);
    assert_true(n_taken > 100);
    assert_true(n_taken < n_calls / 10);
    assert_in_range(n_said, n_calls - 131072, n_calls);
    assert_int_equal(osc_sampling_set("*=1"), OSC_OK);
}

/* Of more names than a thread counts, no call is lost. */
TEST(more_names_than_a_thread_counts_are_recorded)
{
    enum { NAMES = 200, EACH = 1000, LEFT = 2 * OSC_SAMPLING_NAMES * 10 };
    char text[16];
    uint32_t n_calls;
    uint64_t sum = 0;

    assert_int_equal(osc_sampling_set("*=10"), OSC_OK);
    for (int k = 0; k < EACH; k++)
        for (int i = 0; i < NAMES; i++) {
            (void)snprintf(text, sizeof text, "many%d", i);
            if (osc_sampling_take(0, 1, name_of(text), &n_calls))
                sum += n_calls;
        }
    assert_in_range(sum, NAMES * EACH - LEFT, NAMES * EACH);
    assert_int_equal(osc_sampling_set("*=1"), OSC_OK);
}

/* Another thread, or another recording, does not count what the one before left. */
TEST(what_an_owner_left_out_is_not_of_the_next)
{
    const uint32_t name = name_of("owned");
    uint32_t n_calls;

    assert_int_equal(osc_sampling_set("owned=1000"), OSC_OK);
    for (uint64_t owner = 2; owner < 50; owner++) {
        uint64_t sum = 0;

        for (int i = 0; i < 300; i++)
            if (osc_sampling_take(0, owner, name, &n_calls))
                sum += n_calls;
        assert_in_range(sum, 1, 300);
    }
    assert_int_equal(osc_sampling_set("*=1"), OSC_OK);
}

TEST(what_is_no_name_is_taken)
{
    uint32_t n_calls;

    assert_int_equal(osc_sampling_set("hot=10"), OSC_OK);
    assert_true(osc_sampling_take(0, 1, UINT32_C(0x10000000), &n_calls));
    assert_true(osc_sampling_take(0, 1, name_of("hot") + 1, &n_calls));
    assert_int_equal(osc_sampling_set("*=1"), OSC_OK);
}

UNIT_MAIN("sampling")
