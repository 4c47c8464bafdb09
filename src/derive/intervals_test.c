/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/intervals.h"

#include "base/mem.h"
#include "support/unit.h"

#define SET(s, ...) \
    fill(s, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)
#define IS(s, ...) is(s, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)

/* Pairs of start and end. */
static void fill(struct osc_intervals *s, const int64_t *v, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        osc_intervals_add(s, v[i], v[i + 1]);
    assert_int_equal(osc_intervals_merge(s), OSC_OK);
}

static void is(struct osc_intervals *s, const int64_t *v, size_t n)
{
    assert_int_equal(s->n, n / 2);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(s->v[i].start_ns, v[2 * i]);
        assert_int_equal(s->v[i].end_ns, v[2 * i + 1]);
    }
    osc_intervals_fini(s);
}

/* The lists of the plugin's own test_ranges.py. */
TEST(merging_joins_what_overlaps_or_touches)
{
    struct osc_intervals s = {0};

    SET(&s, 1, 3, 5, 9, 9, 10, 2, 4, 20, 30, 21, 22);
    IS(&s, 1, 4, 5, 10, 20, 30);
    SET(&s, 5, 6, 4, 5, 3, 4, 2, 3, 1, 2);
    IS(&s, 1, 6);
    SET(&s, 7, 8);
    IS(&s, 7, 8);
}

TEST(a_search_finds_the_same_from_anywhere)
{
    struct osc_intervals s = {0};

    for (size_t n = 0; n < 40; n++) {
        for (int64_t at = -5; at < 10 * (int64_t)n + 5; at++) {
            const size_t found = at <= 0 ? 0 : ((size_t)at + 4) / 10;

            for (size_t from = 0; from <= n + 1; from++) {
                size_t hint = from;

                assert_int_equal(osc_intervals_find(&s, at, &hint), found < n ? found : n);
                assert_int_equal(hint, found < n ? found : n);
            }
        }
        osc_intervals_add(&s, 10 * (int64_t)n, 10 * (int64_t)n + 5);
    }
    osc_intervals_fini(&s);
}

TEST(an_intersection_covers_what_both_cover)
{
    struct osc_intervals a = {0}, b = {0}, out = {0};

    SET(&a, 0, 10, 20, 30, 40, 50);
    SET(&b, 5, 25, 28, 45, 50, 60);
    assert_int_equal(osc_intervals_intersect(&a, &b, &out), OSC_OK);
    IS(&out, 5, 10, 20, 25, 28, 30, 40, 45);
    osc_intervals_fini(&a);
    osc_intervals_fini(&b);
}

TEST(a_difference_covers_what_only_the_first_covers)
{
    struct osc_intervals a = {0}, b = {0}, out = {0};

    SET(&a, 0, 10, 20, 30, 40, 50, 60, 70);
    SET(&b, 2, 3, 5, 25, 28, 45, 60, 70);
    assert_int_equal(osc_intervals_subtract(&a, &b, &out), OSC_OK);
    IS(&out, 0, 2, 3, 5, 25, 28, 45, 50);
    osc_intervals_fini(&a);
    osc_intervals_fini(&b);
}

TEST(a_ruler_measures_any_window)
{
    struct osc_intervals s = {0};
    struct osc_ruler r;

    SET(&s, 0, 10, 20, 50, 60, 61);
    assert_int_equal(osc_intervals_length(&s), 41);
    assert_int_equal(osc_ruler_init(&r, &s), OSC_OK);
    assert_int_equal(osc_ruler_length(&r, 5, 25), 10);
    assert_int_equal(osc_ruler_length(&r, 25, 30), 5);
    assert_int_equal(osc_ruler_length(&r, 30, 100), 21);
    assert_int_equal(osc_ruler_length(&r, 100, 200), 0);
    assert_int_equal(osc_ruler_length(&r, -5, 100), 41);
    assert_int_equal(osc_ruler_length(&r, 30, 5), 0);
    osc_ruler_fini(&r);
    osc_intervals_fini(&s);
}

/* U(A) + U(B) = U(A or B) + U(A and B), and A = (A minus B) or (A and B). */
TEST(lengths_add_up_on_random_sets)
{
    unsigned seed = 1;

    for (int round = 0; round < 500; round++) {
        struct osc_intervals a = {0}, b = {0}, both = {0}, any = {0}, only = {0};

        for (int i = 0; i < 20; i++) {
            const int64_t x = rand_r(&seed) % 100, y = rand_r(&seed) % 100;

            osc_intervals_add(&a, x, x + rand_r(&seed) % 9);
            osc_intervals_add(&b, y, y + rand_r(&seed) % 9);
        }
        assert_int_equal(osc_intervals_merge(&a), OSC_OK);
        assert_int_equal(osc_intervals_merge(&b), OSC_OK);
        osc_intervals_concat(&any, &a);
        osc_intervals_concat(&any, &b);
        assert_int_equal(osc_intervals_merge(&any), OSC_OK);
        assert_int_equal(osc_intervals_intersect(&a, &b, &both), OSC_OK);
        assert_int_equal(osc_intervals_subtract(&a, &b, &only), OSC_OK);
        assert_int_equal(osc_intervals_length(&a) + osc_intervals_length(&b),
                         osc_intervals_length(&any) + osc_intervals_length(&both));
        assert_int_equal(osc_intervals_length(&a),
                         osc_intervals_length(&only) + osc_intervals_length(&both));
        osc_intervals_fini(&a);
        osc_intervals_fini(&b);
        osc_intervals_fini(&both);
        osc_intervals_fini(&any);
        osc_intervals_fini(&only);
    }
}

TEST(a_failed_allocation_is_told_at_the_end)
{
    struct osc_intervals s = {0};

    osc_mem_fail_after(0);
    osc_intervals_add(&s, 1, 2);
    osc_mem_fail_after(-1);
    osc_intervals_add(&s, 3, 4);
    assert_int_equal(osc_intervals_merge(&s), OSC_ENOMEM);
    assert_int_equal(s.n, 0);
    osc_intervals_fini(&s);
}

TEST(a_ruler_measures_more_than_it_has_marks_for)
{
    struct osc_intervals s = {0};
    struct osc_ruler r;

    for (int64_t i = 0; i < 200; i++)
        osc_intervals_add(&s, 10 * i, 10 * i + 1 + i % 3);
    assert_int_equal(osc_ruler_init(&r, &s), OSC_OK);
    int64_t sum_ns = 0;
    for (int64_t i = 0; i < 200; i++) {
        assert_int_equal(osc_ruler_length(&r, 0, 10 * i), sum_ns);
        assert_int_equal(osc_ruler_length(&r, 0, 10 * i + 1), sum_ns + 1);
        sum_ns += 1 + i % 3;
    }
    assert_int_equal(osc_ruler_length(&r, 0, 5000), sum_ns);
    osc_ruler_fini(&r);
    osc_intervals_fini(&s);
}

UNIT_MAIN("intervals")
