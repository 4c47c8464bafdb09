/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "support/peak.h"
#include "support/unit.h"

TEST(zero_bytes_are_no_failure)
{
    void *const a = osc_malloc(0);
    void *const b = osc_calloc(0, 8);
    void *c = osc_malloc(8);

    c = osc_realloc(c, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    osc_free(a);
    osc_free(b);
    osc_free(c);
    osc_free(NULL);
}

TEST(fails_the_nth_allocation_and_all_after_it)
{
    void *p[4];

    osc_mem_fail_after(2);
    p[0] = osc_malloc(1);
    p[1] = osc_pages_alloc(1);
    p[2] = osc_calloc(1, 1);
    p[3] = osc_realloc(p[0], 100);
    assert_null(osc_pages_alloc(1));
    osc_mem_fail_after(-1);
    assert_non_null(p[0]);
    assert_non_null(p[1]);
    assert_null(p[2]);
    assert_null(p[3]);
    osc_free(p[0]);
    osc_pages_free(p[1], 1);
}

TEST(grow_keeps_the_elements)
{
    uint32_t *a = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(osc_grow(&a, &cap, i + 1, sizeof *a), OSC_OK);
        assert_true(cap > i);
        a[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(a[i], i);
    assert_true(cap < 4000);
    osc_free(a);
}

TEST(grow_refuses_more_than_memory_can_hold)
{
    uint64_t *a = NULL;
    size_t cap = 0;

    assert_int_equal(osc_grow(&a, &cap, SIZE_MAX / 8 + 2, sizeof *a), OSC_ENOMEM);
    assert_int_equal(osc_grow(&a, &cap, SIZE_MAX, sizeof *a), OSC_ENOMEM);
    assert_null(a);
    assert_int_equal(cap, 0);
}

TEST(grows_by_less_where_twice_as_much_is_too_much)
{
    const size_t before = osc_mem_held();
    char *a = NULL;
    size_t cap = 0;

    assert_int_equal(osc_grow(&a, &cap, 1 << 20, 1), OSC_OK);
    assert_int_equal(cap, 1 << 20);
    memset(a, 7, cap);
    osc_mem_set_limit(before + ((size_t)3 << 19));
    assert_int_equal(osc_grow(&a, &cap, (1 << 20) + 8, 1), OSC_OK);
    assert_int_equal(cap, ((1 << 20) + 8) / 8 * 9);
    assert_int_equal(a[(1 << 20) - 1], 7);
    assert_int_equal(osc_grow(&a, &cap, 3 << 19, 1), OSC_ENOMEM);
    assert_int_equal(cap, ((1 << 20) + 8) / 8 * 9);
    osc_mem_set_limit(SIZE_MAX);
    osc_free(a);
    assert_int_equal(osc_mem_held(), before);
}

TEST(a_failed_grow_leaves_the_array_as_it_was)
{
    char *a = NULL;
    size_t cap = 0;

    assert_int_equal(osc_grow(&a, &cap, 1, 1), OSC_OK);
    char *const old = a;
    const size_t old_cap = cap;
    osc_mem_fail_after(0);
    assert_int_equal(osc_grow(&a, &cap, cap + 1, 1), OSC_ENOMEM);
    osc_mem_fail_after(-1);
    assert_ptr_equal(a, old);
    assert_int_equal(cap, old_cap);
    osc_free(a);
}

TEST(pages_are_zeroed_aligned_and_counted)
{
    static const size_t sizes[] = {0, 1, 4096, 4097, 1 << 20, 2 << 20, (2 << 20) + 1, 7 << 20};
    const size_t before = osc_mem_held();

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = sizes[i];
        char *const p = osc_pages_alloc(size);

        assert_non_null(p);
        assert_true(osc_mem_held() >= before + size);
        if (size >= 2 << 20)
            assert_int_equal((uintptr_t)p % (2 << 20), 0);
        for (size_t j = 0; j < size; j += 512)
            assert_int_equal(p[j], 0);
        memset(p, 1, size);
        osc_pages_free(p, size);
        assert_int_equal(osc_mem_held(), before);
    }
    osc_pages_free(NULL, 5);
}

TEST(pages_behind_what_is_used_are_given_back)
{
    const size_t before = osc_mem_held(), page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = 16 * page;
    char *const p = osc_pages_alloc(size);

    assert_non_null(p);
    memset(p, 1, size);
    assert_int_equal(osc_pages_trim(p, size, size), size);
    assert_int_equal(osc_pages_trim(p, size, size - 1), size);
    assert_int_equal(osc_pages_trim(p, size, page + 1), 2 * page);
    assert_int_equal(osc_mem_held(), before + 2 * page);
    assert_int_equal(p[2 * page - 1], 1);
    osc_pages_free(p, 2 * page);
    assert_int_equal(osc_mem_held(), before);
}

static atomic_bool is_over;

static void *use_pages(void *arg)
{
    /* relaxed: it only ends the loop. */
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        osc_pages_free(osc_pages_alloc(1), 1);
    return arg;
}

TEST(a_child_of_a_fork_has_pages_whatever_other_threads_were_doing)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, use_pages, NULL), 0);
    for (int i = 0; i < 200; i++) {
        const pid_t child = fork();
        int status = -1;

        if (child == 0) {
            (void)alarm(60); /* ends a child that would wait for ever */
            osc_pages_free(osc_pages_alloc(1), 1);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    /* relaxed: as above */
    atomic_store_explicit(&is_over, true, memory_order_relaxed);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(refuses_pages_beyond_any_address_space)
{
    const size_t before = osc_mem_held();

    assert_null(osc_pages_alloc(SIZE_MAX));
    assert_null(osc_pages_alloc(SIZE_MAX - (2 << 20)));
    assert_null(osc_pages_alloc(PTRDIFF_MAX / 2));
    assert_int_equal(osc_mem_held(), before);
}

TEST(every_block_counts_until_it_is_freed)
{
    const size_t before = osc_mem_held();
    void *p = osc_malloc(1000);

    assert_in_range(osc_mem_held() - before, 1000, 1100);
    p = osc_realloc(p, 5000000);
    assert_in_range(osc_mem_held() - before, 5000000, 5010000);
    p = osc_realloc(p, 10);
    assert_in_range(osc_mem_held() - before, 10, 10000);
    osc_free(p);
    assert_int_equal(osc_mem_held(), before);
    p = osc_calloc(1000, 1000);
    assert_in_range(osc_mem_held() - before, 1000000, 1010000);
    osc_free(p);
    osc_free(NULL);
    assert_int_equal(osc_mem_held(), before);
    assert_true(osc_mem_take(77));
    assert_int_equal(osc_mem_held(), before + 77);
    osc_mem_give(77);
}

TEST(an_account_knows_its_peak)
{
    struct peak peak;

    peak_begin(&peak);
    osc_free(osc_malloc(1000000));
    osc_free(osc_malloc(2000000));
    osc_free(osc_malloc(1000000));
    assert_in_range(peak_end(&peak), 2000000, 2010000);
}

TEST(nothing_is_given_beyond_the_limit)
{
    const size_t before = osc_mem_held();
    void *p;

    osc_mem_set_limit(before + 100000);
    assert_int_equal(osc_mem_room(), 100000);
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ENOMEM);
    p = osc_malloc(60000);
    assert_non_null(p);
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ENOMEM);
    assert_null(osc_malloc(60000));
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ELIMIT);
    assert_int_equal(osc_mem_reason(OSC_OK), OSC_OK);
    assert_null(osc_calloc(60, 1000));
    assert_null(osc_pages_alloc(60000));
    assert_null(osc_malloc(SIZE_MAX - 10));
    assert_null(osc_realloc(p, 200000));
    assert_false(osc_mem_take(60000));
    assert_in_range(osc_mem_held() - before, 60000, 70000);
    p = osc_realloc(p, 90000); /* charges only the increase */
    assert_non_null(p);
    osc_free(p);
    assert_int_equal(osc_mem_held(), before);
    osc_mem_set_limit(SIZE_MAX);
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ENOMEM);
}

TEST(what_is_reserved_can_be_had_but_is_no_room)
{
    const size_t before = osc_mem_held();

    osc_mem_set_limit(before + 100000);
    assert_int_equal(osc_mem_room(), 100000);
    osc_mem_reserve(70000);
    assert_int_equal(osc_mem_room(), 30000);
    void *const p = osc_malloc(90000);
    assert_non_null(p);
    assert_int_equal(osc_mem_room(), 0);
    osc_mem_unreserve(70000);
    assert_in_range(osc_mem_room(), 1, 10000);
    osc_free(p);
    osc_mem_set_limit(SIZE_MAX);
}

static int64_t held_by(struct osc_mem_account *a)
{
    return atomic_load_explicit(&a->held, memory_order_relaxed);
}

TEST(an_account_has_a_limit_of_its_own)
{
    struct osc_mem_account set = {.limit = 100000}, question = {.limit = 50000, .parent = &set};

    assert_null(osc_mem_enter(&question));
    void *const p = osc_malloc(40000);
    assert_non_null(p);
    assert_null(osc_malloc(40000));
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ELIMIT);
    assert_in_range(osc_mem_room(), 1, 10000);
    assert_ptr_equal(osc_mem_enter(&set), &question);
    /* The set has refused nothing; it has what the question leaves. */
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ENOMEM);
    void *const q = osc_malloc(40000);
    assert_non_null(q);
    assert_null(osc_malloc(40000));
    (void)osc_mem_enter(NULL);
    void *const r = osc_malloc(400000);
    assert_non_null(r);
    (void)osc_mem_enter(&set);
    osc_free(q);
    (void)osc_mem_enter(&question);
    osc_free(p);
    (void)osc_mem_enter(NULL);
    osc_free(r);
    assert_int_equal(held_by(&question), 0);
    assert_int_equal(held_by(&set), 0);
}

TEST(what_outlives_a_question_is_not_counted_for_the_set)
{
    struct osc_mem_account set = {.limit = 100000}, question = {.parent = &set};
    const size_t before = osc_mem_held();

    (void)osc_mem_enter(&question);
    void *const answer = osc_malloc(40000);
    (void)osc_mem_enter(NULL);
    assert_non_null(answer);
    assert_true(held_by(&set) >= 40000);
    osc_mem_account_end(&question);
    assert_int_equal(held_by(&set), 0);
    assert_true(osc_mem_held() >= before + 40000);
    osc_free(answer);
    assert_int_equal(held_by(&set), 0);
    assert_int_equal(osc_mem_held(), before);
}

TEST(a_cancelled_account_takes_nothing)
{
    struct osc_mem_account set = {.limit = 0}, question = {.parent = &set};

    (void)osc_mem_enter(&question);
    void *const p = osc_malloc(10);
    assert_non_null(p);
    assert_false(osc_mem_is_cancelled());
    osc_mem_cancel(&question);
    assert_true(osc_mem_is_cancelled());
    assert_null(osc_malloc(10));
    assert_null(osc_pages_alloc(10));
    assert_int_equal(osc_mem_reason(OSC_ENOMEM), OSC_ECANCELED);
    osc_free(p);
    (void)osc_mem_enter(&set);
    assert_false(osc_mem_is_cancelled());
    (void)osc_mem_enter(NULL);
    assert_int_equal(held_by(&set), 0);
}

static void take_some(void *ctx, uint32_t i)
{
    void **const blocks = ctx;

    blocks[i] = osc_malloc(1000);
}

TEST(threads_pay_from_the_account_of_who_made_them)
{
    struct osc_mem_account question = {.limit = 0};
    void *blocks[64];

    (void)osc_mem_enter(&question);
    osc_parallel(4, 64, take_some, blocks);
    assert_true(held_by(&question) >= 64000);
    for (int i = 0; i < 64; i++) {
        assert_non_null(blocks[i]);
        osc_free(blocks[i]);
    }
    (void)osc_mem_enter(NULL);
    assert_int_equal(held_by(&question), 0);
}

UNIT_MAIN("mem")
