/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdbool.h>

#include "base/mem.h"
#include "support/unit.h"

/* Sizes from 0 to beyond the largest block, in an order that mixes them. */
static size_t nth_size(uint32_t i)
{
    return i % 97 == 0 ? (size_t)i * 3000 : i * 7919 % 500;
}

static bool fill(struct osc_arena *a, unsigned char *p[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i] = osc_arena_alloc(a, nth_size(i));
        if (!p[i])
            return false;
        memset(p[i], (int)(i % 251), nth_size(i));
    }
    return true;
}

TEST(gives_aligned_memory_that_does_not_overlap)
{
    struct osc_arena a = {0};
    unsigned char *p[1000];

    assert_true(fill(&a, p, 1000));
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        for (size_t j = 0; j < nth_size(i); j++)
            assert_int_equal(p[i][j], i % 251);
    }
    osc_arena_fini(&a);
    assert_null(a.head);
    assert_int_equal(a.total_bytes, 0);
}

TEST(dup_copies_any_bytes_and_adds_a_nul)
{
    struct osc_arena a = {0};

    char *const empty = osc_arena_dup(&a, NULL, 0);
    char *const nul = osc_arena_dup(&a, "a\0b", 3);
    assert_string_equal(empty, "");
    assert_memory_equal(nul, "a\0b", 4);
    /* Not aligned, so that short names lie close together. */
    assert_ptr_equal(nul, empty + 1);
    for (uint32_t i = 0; i < 10000; i++) {
        const char *const s = osc_arena_dup(&a, "aten::linear", 12);
        assert_string_equal(s, "aten::linear");
    }
    assert_true(a.total_bytes < 300000);
    osc_arena_fini(&a);
}

TEST(calloc_zeroes_and_refuses_what_overflows)
{
    struct osc_arena a = {0};
    static const char zeroes[800];

    memset(osc_arena_alloc(&a, 1000), 1, 1000);
    assert_memory_equal(osc_arena_calloc(&a, 100, 8), zeroes, 800);
    assert_non_null(osc_arena_calloc(&a, 0, 8));
    assert_non_null(osc_arena_calloc(&a, 8, 0));
    assert_null(osc_arena_calloc(&a, SIZE_MAX / 2, 3));
    assert_null(osc_arena_calloc(&a, SIZE_MAX, 1));
    assert_null(osc_arena_alloc(&a, SIZE_MAX));
    assert_null(osc_arena_dup(&a, "", SIZE_MAX));
    osc_arena_fini(&a);
}

TEST(a_large_piece_leaves_the_rest_of_the_block_in_use)
{
    struct osc_arena a = {0};

    char *const first = osc_arena_alloc(&a, 16);
    assert_non_null(osc_arena_alloc(&a, 5 << 20));
    assert_ptr_equal(osc_arena_alloc(&a, 16), first + 16);
    osc_arena_fini(&a);
}

TEST(stays_usable_through_any_failed_allocation)
{
    bool is_done = false;

    for (long n = 0; !is_done; n++) {
        struct osc_arena a = {0};
        unsigned char *p[200];

        osc_mem_fail_after(n);
        is_done = fill(&a, p, 200);
        osc_mem_fail_after(-1);
        assert_true(fill(&a, p, 200));
        osc_arena_fini(&a);
    }
}

UNIT_MAIN("arena")
