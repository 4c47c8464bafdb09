/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/thread_list.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"
#include "support/recorded.h"
#include "support/unit.h"

static struct recorded rec;

enum { BATCH = 40, BATCHES = 250, N_UNTOLD = 5000 };

static void *record_little(void *arg)
{
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_instant((osc_name)(uintptr_t)arg);
    osc_end();
    return NULL;
}

TEST(lets_10000_threads_come_and_go)
{
    struct osc_losses lost;

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

TEST(keeps_what_a_thread_recorded_that_ended_within_a_scope)
{
    pthread_t thread;

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

TEST(records_in_destructors_of_other_libraries)
{
    pthread_t thread;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_key_create(&key, record_at_end), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_late, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_key_delete(key), 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
}

static void *record_for_malloc(void *arg)
{
    const size_t before = mallinfo2().uordblks;

    osc_instant(1);
    *(bool *)arg = mallinfo2().uordblks == before;
    return NULL;
}

static void record_after_many_keys(void)
{
    pthread_key_t keys[40];
    pthread_t thread;
    bool is_good = false;

    for (int i = 0; i < 40; i++)
        (void)pthread_key_create(&keys[i], NULL);
    if (recorded_begin(&rec, 0) != OSC_OK ||
        pthread_create(&thread, NULL, record_for_malloc, &is_good) != 0 ||
        pthread_join(thread, NULL) != 0 || recorded_end(&rec) != OSC_OK)
        _exit(1);
    _exit(is_good ? 0 : 2);
}

/* Must run first: in a process that has not recorded yet. */
TEST(asks_for_no_memory_though_the_host_made_many_keys)
{
    int status = -1;
    const pid_t pid = fork();

    if (pid == 0)
        record_after_many_keys();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Wait until the flusher has taken blocks back: on a busy machine it comes late. */
static bool wait_for_blocks(void)
{
    for (int i = 0; i < 60000; i++) {
        if (!osc_blocks_are_few())
            return true;
        usleep(1000);
    }
    return false;
}

/* Record with fewer blocks than threads, none of which runs a destructor when it ends. */
static void record_in_threads_that_do_not_tell(void)
{
    struct osc_losses lost;

    for (int i = 0; i < 40; i++)
        (void)pthread_key_create(&(pthread_key_t){0}, NULL);
    if (recorded_begin(&rec, (uint64_t)8 << 20) != OSC_OK)
        _exit(1);
    for (int i = 0; i < N_UNTOLD; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, record_little, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            _exit(2);
        if (i % 32 == 0 && !wait_for_blocks())
            _exit(5);
    }
    osc_losses_get(&lost);
    _exit(recorded_end(&rec) != OSC_OK ? 3 : lost.full > 0 ? 4 : rec.all.begins != N_UNTOLD);
}

/* Like the first test. */
TEST(takes_back_the_blocks_of_threads_that_do_not_tell)
{
    int status = -1;
    const pid_t pid = fork();

    if (pid == 0)
        record_in_threads_that_do_not_tell();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Runs after our destructor: takes a writer like a record does, but usually not the block. */
static void take_at_end(void *arg)
{
    if (arg == &rec)
        osc_instant(7);
    else
        (void)osc_threads_writer();
}

static void *end_too_late(void *arg)
{
    (void)pthread_setspecific(key, arg);
    return NULL;
}

TEST(takes_back_what_threads_keep_that_record_too_late)
{
    struct osc_losses before, after;
    pthread_t thread;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_key_create(&key, take_at_end), 0);
    for (uint32_t i = 0; i < OSC_LIVE_THREADS + 10; i++) {
        void *const what = i % 1000 == 0 ? (void *)&rec : &key;

        assert_int_equal(pthread_create(&thread, NULL, end_too_late, what), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    osc_losses_get(&before);
    assert_int_equal(pthread_create(&thread, NULL, end_too_late, &rec), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    osc_losses_get(&after);
    assert_int_equal(after.full, before.full);
    assert_int_equal(pthread_key_delete(key), 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], OSC_LIVE_THREADS / 1000 + 2);
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

TEST(keeps_threads_through_several_recordings)
{
    pthread_t threads[3];

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
        if (*n % 64 == 0) /* or memory fills up if a sanitizer slows the flusher */
            (void)usleep(100);
    }
    return NULL;
}

TEST(stops_and_starts_beside_threads_that_record)
{
    pthread_t threads[3];
    uint64_t n[3] = {0};

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

UNIT_MAIN("thread_list")
