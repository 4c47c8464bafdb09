/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "opscope/record.h"
#include "support/recorded.h"

static struct recorded rec;

enum { BATCH = 40, BATCHES = 250 };

static void *record_little(void *arg)
{
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_instant((osc_name)(uintptr_t)arg);
    osc_end();
    return NULL;
}

static void lets_10000_threads_come_and_go(void **state)
{
    struct osc_losses lost;

    (void)state;
    assert_int_equal(recorded_begin(&rec, (uint64_t)256 << 20), OSC_OK);
    for (int i = 0; i < BATCHES; i++) {
        pthread_t threads[BATCH];

        for (int t = 0; t < BATCH; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, record_little, NULL), 0);
        for (int t = 0; t < BATCH; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
    }
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.n_threads, BATCH * BATCHES);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], BATCH * BATCHES);
    assert_int_equal(rec.all.n[OSC_RECORD_END], BATCH * BATCHES);
}

static void *begin_only(void *arg)
{
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_begin(OSC_SCOPE_PLAIN, 2);
    osc_end();
    return arg;
}

static void keeps_what_a_thread_recorded_that_ended_within_a_scope(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_create(&thread, NULL, begin_only, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, 2);
    assert_int_equal(rec.depth[1], 1);
}

static pthread_key_t key;

static void record_at_end(void *arg)
{
    (void)arg;
    osc_instant(7);
}

static void *end_late(void *arg)
{
    (void)arg;
    osc_instant(6);
    (void)pthread_setspecific(key, &key);
    return NULL;
}

static void records_in_destructors_of_other_libraries(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_key_create(&key, record_at_end), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_late, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_key_delete(key), 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
}

/* Threads that run through several recordings. */
static struct {
    pthread_barrier_t begins, ends;
    int n;
} rounds;

static void *record_rounds(void *arg)
{
    for (int i = 0; i < rounds.n; i++) {
        (void)pthread_barrier_wait(&rounds.begins);
        (void)record_little(arg);
        (void)pthread_barrier_wait(&rounds.ends);
    }
    return NULL;
}

static void keeps_threads_through_several_recordings(void **state)
{
    pthread_t threads[3];

    (void)state;
    rounds.n = 3;
    assert_int_equal(pthread_barrier_init(&rounds.begins, NULL, 4), 0);
    assert_int_equal(pthread_barrier_init(&rounds.ends, NULL, 4), 0);
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, record_rounds, NULL), 0);
    for (int i = 0; i < rounds.n; i++) {
        assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
        (void)pthread_barrier_wait(&rounds.begins);
        (void)pthread_barrier_wait(&rounds.ends);
        assert_int_equal(recorded_end(&rec), OSC_OK);
        assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 3);
        assert_int_equal(rec.n_threads, 3);
    }
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    (void)pthread_barrier_destroy(&rounds.begins);
    (void)pthread_barrier_destroy(&rounds.ends);
}

static uint32_t must_stop;

static void *record_always(void *arg)
{
    uint64_t *n = arg;

    /* relaxed: the join orders the rest. */
    for (; !__atomic_load_n(&must_stop, __ATOMIC_RELAXED); ++*n) {
        osc_begin(OSC_SCOPE_PLAIN, 1);
        osc_arg_text(1, "text", 4);
        osc_end();
    }
    return NULL;
}

static void stops_and_starts_beside_threads_that_record(void **state)
{
    pthread_t threads[3];
    uint64_t n[3] = {0};

    (void)state;
    __atomic_store_n(&must_stop, 0, __ATOMIC_RELAXED); /* relaxed: before the threads */
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, record_always, &n[t]), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
        for (int k = 0; k < 1000; k++)
            osc_instant(9);
        assert_int_equal(recorded_end(&rec), OSC_OK);
        assert_int_equal(rec.n_unfinished, 0);
        assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 1000);
    }
    __atomic_store_n(&must_stop, 1, __ATOMIC_RELAXED); /* relaxed: as above */
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    assert_true(n[0] + n[1] + n[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_10000_threads_come_and_go),
        cmocka_unit_test(keeps_what_a_thread_recorded_that_ended_within_a_scope),
        cmocka_unit_test(records_in_destructors_of_other_libraries),
        cmocka_unit_test(keeps_threads_through_several_recordings),
        cmocka_unit_test(stops_and_starts_beside_threads_that_record),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
