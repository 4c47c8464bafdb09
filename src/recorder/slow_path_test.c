/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/slow_path.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"
#include "recorder/session.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/thread_list.h"
#include "support/recorded.h"
#include "support/unit.h"

static struct recorded rec;

/* A thread that the test holds in the slow path: like osc_slow_reserve(), but it halts after it
 * has checked whether recording is on. */
static struct {
    pthread_barrier_t is_in;
    uint32_t may_go, is_out;
    bool got_block;
} slow;

static void *record_slowly(void *arg)
{
    struct osc_writer *w = osc_threads_writer();
    enum osc_loss why;
    const uint64_t generation = osc_session_enter(&why);

    (void)pthread_barrier_wait(&slow.is_in);
    if (arg)
        /* acquire: pairs with the release of the test */
        while (!__atomic_load_n(&slow.may_go, __ATOMIC_ACQUIRE))
            (void)usleep(1000);
    else
        (void)usleep(100000);
    osc_threads_enter(w, generation);
    struct osc_block *b = osc_blocks_take(w->ordinal, w->tid);

    slow.got_block = b != NULL;
    osc_losses_add(OSC_LOSS_FULL, 1);
    if (b)
        osc_blocks_fill(b, 0);
    /* release: pairs with the acquire of the test, and of osc_threads_stop(). */
    __atomic_store_n(&slow.is_out, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

static pthread_t begin_slowly(void *halt)
{
    pthread_t thread;

    slow.may_go = slow.is_out = 0;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_barrier_init(&slow.is_in, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, record_slowly, halt), 0);
    (void)pthread_barrier_wait(&slow.is_in);
    return thread;
}

static void join_slow(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&slow.is_in), 0);
}

TEST(stops_only_when_a_thread_is_out_of_its_first_record)
{
    const pthread_t thread = begin_slowly(NULL);

    assert_int_equal(recorded_end(&rec), OSC_OK);
    /* acquire: as above */
    assert_int_equal(__atomic_load_n(&slow.is_out, __ATOMIC_ACQUIRE), 1);
    join_slow(thread);
    assert_true(slow.got_block);
}

TEST(lets_a_thread_wake_up_in_a_recording_that_is_over)
{
    for (int is_again = 0; is_again < 2; is_again++) {
        const pthread_t thread = begin_slowly(&slow);

        assert_int_equal(recorded_end(&rec), OSC_OK);
        if (is_again)
            assert_int_equal(recorded_begin(&rec, 1 << 20), OSC_OK);
        /* release: as above */
        __atomic_store_n(&slow.may_go, 1, __ATOMIC_RELEASE);
        join_slow(thread);
        if (is_again)
            assert_int_equal(recorded_end(&rec), OSC_OK);
        else
            assert_false(slow.got_block);
    }
}

static void *cancel_and_record(void *arg)
{
    static char name[2 << 20]; /* makes the log of names grow */

    memset(name, 'n', sizeof name);
    (void)pthread_cancel(pthread_self());
    osc_instant(osc_name_of(name, sizeof name));
    *(bool *)arg = true;
    pthread_testcancel();
    return NULL;
}

/* Runs in a child, which is armed until it records. */
static void cancel_in_child(void)
{
    pthread_t thread;
    bool is_through_call = false;
    struct osc_losses lost;

    if (pthread_create(&thread, NULL, cancel_and_record, &is_through_call) != 0 ||
        pthread_join(thread, NULL) != 0)
        _exit(1);
    osc_instant(1);
    osc_losses_get(&lost);
    (void)osc_stop();
    _exit(!is_through_call ? 2 : lost.late + lost.full > 0 ? 3 : 0);
}

TEST(is_not_cancelled_within_a_call)
{
    int status = -1;

    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    const pid_t pid = fork();
    if (pid == 0)
        cancel_in_child();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
}

enum { CROWD = 700, CROWD_TRIES = 5 }; /* more threads than blocks at the begin */
static pthread_barrier_t crowd;

static void *record_in_crowd(void *arg)
{
    (void)pthread_barrier_wait(&crowd);
    osc_instant(1);
    (void)pthread_barrier_wait(&crowd); /* until then each has its block */
    return arg;
}

/* How many records of threads that begin at once are lost. */
static uint64_t lost_in_crowd(void)
{
    static pthread_t threads[CROWD];
    struct osc_losses lost;
    pthread_attr_t small;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0);
    assert_int_equal(pthread_barrier_init(&crowd, NULL, CROWD), 0);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], &small, record_in_crowd, NULL), 0);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&crowd), 0);
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT] + lost.full, CROWD);
    return lost.full;
}

/* Without a processor for the flusher, a thread does not wait for ever: so several tries. */
TEST(loses_nothing_when_many_threads_begin_at_once)
{
    uint64_t n_lost = 1;

    for (int i = 0; i < CROWD_TRIES && n_lost > 0; i++)
        n_lost = lost_in_crowd();
    assert_int_equal(n_lost, 0);
}

UNIT_MAIN("slow_path")
