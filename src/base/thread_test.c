/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "support/unit.h"

#define N_ITEMS 1000

/* Each item writes only its own memory, without atomics: TSan would report a race. */
struct job {
    uint32_t n_calls[N_ITEMS];
    uint32_t input;
};

static void count_call(void *ctx, uint32_t i)
{
    struct job *const job = ctx;

    job->n_calls[i] += job->input;
}

TEST(calls_every_item_once_on_any_number_of_threads)
{
    static const unsigned n_threads[] = {0, 1, 2, 3, 8, 100, 100000};

    for (size_t t = 0; t < sizeof n_threads / sizeof n_threads[0]; t++) {
        struct job job = {.input = 1};

        osc_parallel(n_threads[t], N_ITEMS, count_call, &job);
        for (uint32_t i = 0; i < N_ITEMS; i++)
            assert_int_equal(job.n_calls[i], 1);
    }
}

TEST(no_items_are_no_calls)
{
    struct job job = {.input = 1};

    osc_parallel(4, 0, count_call, &job);
    assert_int_equal(job.n_calls[0], 0);
}

static void note_order(void *ctx, uint32_t i)
{
    uint32_t *const next = ctx;

    assert_int_equal(*next, i);
    (*next)++;
}

TEST(one_thread_takes_the_items_in_order)
{
    uint32_t next = 0;

    osc_parallel(1, 100, note_order, &next);
    assert_int_equal(next, 100);
}

static void run_inner(void *ctx, uint32_t i)
{
    struct job *const jobs = ctx;
    uint32_t next = 0;

    /* Items run in order, so they run on this thread. */
    osc_parallel(8, 50, note_order, &next);
    jobs[i].input = next;
    osc_parallel(8, N_ITEMS, count_call, &jobs[i]);
}

TEST(an_inner_call_runs_on_its_caller)
{
    static struct job jobs[20];

    osc_parallel(4, 20, run_inner, jobs);
    for (uint32_t j = 0; j < 20; j++) {
        for (uint32_t i = 0; i < N_ITEMS; i++)
            assert_int_equal(jobs[j].n_calls[i], 50);
    }
    /* After the nested call, threads are created again. */
    memset(jobs, 0, sizeof jobs);
    jobs[0].input = 2;
    osc_parallel(4, N_ITEMS, count_call, &jobs[0]);
    assert_int_equal(jobs[0].n_calls[N_ITEMS - 1], 2);
}

TEST(there_is_at_least_one_processor)
{
    assert_in_range(osc_cpu_count(), 1, 100000);
    assert_int_equal(osc_cpu_count(), osc_cpu_count());
}

UNIT_MAIN("thread")
