/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/shift.h"

#include "base/mem.h"
#include "support/unit.h"

#define LETTERS 64

/* The shift of OWN, whose signatures are letters, in REF. */
static int64_t shift_of(const char *ref, const char *own)
{
    uint64_t r[LETTERS], o[LETTERS];
    size_t n_ref = 0, n_own = 0;
    int64_t shift = 99;

    for (; ref[n_ref]; n_ref++)
        r[n_ref] = (uint64_t)ref[n_ref];
    for (; own[n_own]; n_own++)
        o[n_own] = (uint64_t)own[n_own];
    assert_int_equal(osc_rank_shift(r, n_ref, o, n_own, &shift), OSC_OK);
    return shift;
}

TEST(a_list_that_begins_later_is_found)
{
    assert_int_equal(shift_of("abcdefgh", "defgh"), 3);
    assert_int_equal(shift_of("defgh", "abcdefgh"), -3);
    assert_int_equal(shift_of("abcabcabc", "cabcabc"), 2);
    assert_int_equal(shift_of("abcdefgh", "abcdefg"), 0);
}

TEST(the_longer_part_counts_if_one_is_lost_between)
{
    assert_int_equal(shift_of("abcdefgh", "abdefgh"), 1);
    assert_int_equal(shift_of("abcdefgh", "abcdefh"), 0);
}

TEST(of_equal_runs_the_nearest_counts)
{
    assert_int_equal(shift_of("aaaaaaaa", "aaaaa"), 0);
    assert_int_equal(shift_of("aaxaa", "xxaa"), 1);
    assert_int_equal(shift_of("bab", "qa"), 0);
    assert_int_equal(shift_of("aqa", "xax"), 1);
}

TEST(nothing_in_common_is_no_shift)
{
    assert_int_equal(shift_of("abc", "xyz"), 0);
    assert_int_equal(shift_of("", "xyz"), 0);
    assert_int_equal(shift_of("abc", ""), 0);
}

static uint64_t seed = 12345;

static uint64_t next_number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static int64_t size_of(int64_t v)
{
    return v < 0 ? -v : v;
}

/* The length of the run that begins at REF and OWN. */
static size_t run_length(const uint64_t *ref, size_t n_ref, const uint64_t *own, size_t n_own)
{
    size_t len = 0;

    while (len < n_ref && len < n_own && ref[len] == own[len])
        len++;
    return len;
}

/* The shift by the definition: the length of a run for each pair of places. */
static int64_t shift_slowly(const uint64_t *ref, size_t n_ref, const uint64_t *own,
                            size_t n_own)
{
    size_t longest = 0;
    int64_t best = 0;

    for (size_t j = 0; j < n_ref; j++)
        for (size_t i = 0; i < n_own; i++) {
            const int64_t by = (int64_t)j - (int64_t)i;
            const size_t len = run_length(ref + j, n_ref - j, own + i, n_own - i);
            const bool is_nearer =
                size_of(by) < size_of(best) || (size_of(by) == size_of(best) && by > best);

            if (len > longest || (len > 0 && len == longest && is_nearer))
                best = by;
            longest = len > longest ? len : longest;
        }
    return best;
}

TEST(random_lists_are_as_the_definition_says)
{
    for (int round = 0; round < 2000; round++) {
        uint64_t ref[12], own[12];
        const size_t n_ref = next_number() % 12, n_own = next_number() % 12;
        int64_t shift = 0;

        for (size_t i = 0; i < n_ref; i++)
            ref[i] = next_number() % 3;
        for (size_t i = 0; i < n_own; i++)
            own[i] = next_number() % 3;
        assert_int_equal(osc_rank_shift(ref, n_ref, own, n_own, &shift), OSC_OK);
        assert_int_equal(shift, shift_slowly(ref, n_ref, own, n_own));
    }
}

TEST(memory_that_runs_out_is_a_status)
{
    const uint64_t v[] = {1, 2, 3};
    int64_t shift;

    for (long n = 0; n < 4; n++) {
        osc_mem_fail_after(n);
        const osc_status st = osc_rank_shift(v, 3, v, 3, &shift);
        osc_mem_fail_after(-1);
        assert_int_equal(st, OSC_ENOMEM);
    }
}

UNIT_MAIN("shift")
