/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include "base/mem.h"
#include "support/peak.h"
#include "support/unit.h"

#define MOST 3000u

/* Longer than the unit in which elements are moved. */
struct item {
    uint32_t key;
    char text[100];
    uint32_t number;
};

static struct item items[MOST];

static int compare(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* A permutation of 0 .. N-1; N is not a multiple of 7919. */
static void fill(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t key = (uint32_t)((uint64_t)i * 7919 % n);

        items[i] = (struct item){.key = key, .number = key + 1};
        memset(items[i].text, (int)(key & 127), sizeof items[i].text);
    }
}

static void check(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(items[i].key, i);
        assert_int_equal(items[i].number, i + 1);
        assert_int_equal(items[i].text[0], i & 127);
        assert_int_equal(items[i].text[99], i & 127);
    }
}

TEST(sorts_with_room_and_without)
{
    for (uint32_t n = 0; n <= MOST; n = n < 70 ? n + 1 : n * 2 - 1) {
        fill(n);
        osc_sort(items, n, sizeof *items, compare);
        check(n);

        osc_mem_set_limit(osc_mem_held());
        fill(n);
        osc_sort(items, n, sizeof *items, compare);
        osc_mem_set_limit(SIZE_MAX);
        check(n);
    }
    osc_sort(NULL, 0, sizeof *items, compare);
}

static int compare_times(const void *a, const void *b, void *ctx)
{
    return *(const int *)ctx * compare(a, b);
}

TEST(the_comparison_gets_its_context)
{
    int sign = -1;

    for (int k = 0; k < 2; k++) {
        fill(MOST);
        osc_mem_set_limit(k == 0 ? SIZE_MAX : osc_mem_held());
        osc_sort_with(items, MOST, sizeof *items, compare_times, &sign);
        osc_mem_set_limit(SIZE_MAX);
        for (uint32_t i = 0; i < MOST; i++)
            assert_int_equal(items[i].key, MOST - 1 - i);
    }
}

TEST(counts_what_the_library_takes)
{
    const size_t before = osc_mem_held();
    struct peak peak;

    fill(MOST);
    peak_begin(&peak);
    osc_sort(items, MOST, sizeof *items, compare);
    assert_int_equal(peak_end(&peak), sizeof items);
    assert_int_equal(osc_mem_held(), before);
}

TEST(equal_elements_all_stay)
{
    uint64_t sum = 0;

    fill(MOST);
    for (uint32_t i = 0; i < MOST; i++)
        items[i].key %= 3;
    osc_mem_set_limit(osc_mem_held());
    osc_sort(items, MOST, sizeof *items, compare);
    osc_mem_set_limit(SIZE_MAX);
    for (uint32_t i = 0; i < MOST; i++) {
        assert_int_equal(items[i].key, i / (MOST / 3));
        sum += items[i].number;
    }
    assert_int_equal(sum, (uint64_t)MOST * (MOST + 1) / 2);
}

UNIT_MAIN("sort")
