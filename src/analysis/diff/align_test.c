/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/align.h"

#include <time.h>

#include "base/mem.h"
#include "support/unit.h"

#define MOST 200000

static uint64_t a[MOST], b[MOST];
static uint32_t to[MOST];

static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Align the letters of X and Y; the pairs as "x0-y0 x1-y1". */
static void assert_aligned(const char *x, const char *y, const char *expected)
{
    const struct osc_sequence sa = {a, (uint32_t)strlen(x)}, sb = {b, (uint32_t)strlen(y)};
    char found[200] = "";

    for (uint32_t i = 0; i < sa.n; i++)
        a[i] = (unsigned char)x[i];
    for (uint32_t i = 0; i < sb.n; i++)
        b[i] = (unsigned char)y[i];
    assert_int_equal(osc_align(&sa, &sb, to), OSC_OK);
    for (uint32_t i = 0; i < sa.n; i++) {
        if (to[i] != OSC_ALIGN_NONE)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%u-%u",
                     *found ? " " : "", i, to[i]);
    }
    assert_string_equal(found, expected);
}

TEST(what_is_inserted_or_missing_costs_only_itself)
{
    assert_aligned("abc", "abc", "0-0 1-1 2-2");
    assert_aligned("abc", "axbc", "0-0 1-2 2-3");
    assert_aligned("abxc", "abc", "0-0 1-1 3-2");
    assert_aligned("", "abc", "");
    assert_aligned("abc", "", "");
    assert_aligned("abc", "xyz", "");
}

/* The length of a longest common subsequence, by the book. */
static uint32_t longest_common(uint32_t n, uint32_t m)
{
    static uint32_t length[65][65];

    for (uint32_t i = 1; i <= n; i++) {
        for (uint32_t k = 1; k <= m; k++) {
            const uint32_t up = length[i - 1][k], left = length[i][k - 1];

            length[i][k] = a[i - 1] == b[k - 1] ? length[i - 1][k - 1] + 1
                           : up > left          ? up
                                                : left;
        }
    }
    return length[n][m];
}

/* Check that TO ascends and joins equal values; returns how many. */
static uint32_t check(uint32_t n, uint32_t m)
{
    uint32_t n_found = 0, next = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (to[i] == OSC_ALIGN_NONE)
            continue;
        assert_true(to[i] < m && to[i] >= next);
        assert_true(a[i] == b[to[i]]);
        next = to[i] + 1;
        n_found++;
    }
    return n_found;
}

TEST(short_sequences_lose_nothing)
{
    for (int round = 0; round < 5000; round++) {
        const uint32_t n = below(64), m = below(64), kinds = 1 + below(20);
        const struct osc_sequence sa = {a, n}, sb = {b, m};

        for (uint32_t i = 0; i < n; i++)
            a[i] = below(kinds);
        for (uint32_t i = 0; i < m; i++)
            b[i] = below(kinds);
        assert_int_equal(osc_align(&sa, &sb, to), OSC_OK);
        assert_int_equal(check(n, m), longest_common(n, m));
    }
}

/* Few values, none in common order: what takes longest. It must not take minutes. */
TEST(long_sequences_take_no_square_of_time)
{
    const struct osc_sequence sa = {a, MOST}, sb = {b, MOST};
    const clock_t from = clock();

    for (uint32_t kinds = 2; kinds < 2000000; kinds *= 100) {
        for (uint32_t i = 0; i < MOST; i++) {
            a[i] = below(kinds);
            b[i] = below(kinds);
        }
        assert_int_equal(osc_align(&sa, &sb, to), OSC_OK);
        (void)check(MOST, MOST);
    }
    assert_true((double)(clock() - from) / CLOCKS_PER_SEC < 20 * UNIT_SLOWNESS);
}

/* Equal but for some that are inserted here and there. */
TEST(long_sequences_lose_nothing_by_a_few_edits)
{
    const struct osc_sequence sa = {a, MOST}, sb = {b, MOST};
    uint32_t n_inserted = 0, k = 0;

    for (uint32_t i = 0; i < MOST; i++)
        a[i] = below(7);
    for (uint32_t i = 0; i < MOST; i++) {
        if (i % 2000 == 999) {
            b[i] = 99;
            n_inserted++;
        } else {
            b[i] = a[k++];
        }
    }
    assert_int_equal(osc_align(&sa, &sb, to), OSC_OK);
    assert_int_equal(check(MOST, MOST), MOST - n_inserted);
}

TEST(survives_any_failed_allocation)
{
    const struct osc_sequence sa = {a, 1000}, sb = {b, 1000};
    osc_status st = OSC_ENOMEM;

    for (uint32_t i = 0; i < 1000; i++) {
        a[i] = below(900);
        b[i] = below(900);
    }
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_align(&sa, &sb, to);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
}

UNIT_MAIN("align")
