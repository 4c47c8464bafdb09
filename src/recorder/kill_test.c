/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of finished calls survive kill -9. A child records from two threads and counts
 * finished calls in memory that it shares with us; we kill it at a random time and count the
 * records in the recording. OPSCOPE_TEST_KILLS is the number of rounds, 20 by default.
 */

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "opscope/record.h"
#include "support/recorded.h"
#include "support/unit.h"

enum { N_THREADS = 2, FIRST_ID = 100 };

/* Shared with the child. */
struct finished {
    uint64_t n[N_THREADS]; /* calls that each thread has finished */
    uint32_t has_begun;
    struct recorded rec;
};

static struct finished *finished;

/* The calls that each thread repeats: records of one slot, with words, with text; all carry its
 * id. */
static void call(uint64_t i, osc_name id)
{
    static const char text[] = "shapes of some length";

    switch (i % 4) {
    case 0:
        osc_begin(OSC_SCOPE_PLAIN, id);
        break;
    case 1:
        osc_arg_text(id, text, sizeof text);
        break;
    case 2:
        osc_counter_i64(id, (int64_t)i);
        break;
    default:
        osc_end();
    }
}

static void *record_until_killed(void *arg)
{
    const uint32_t me = (uint32_t)(uintptr_t)arg;

    for (uint64_t i = 0;; i++) {
        call(i, FIRST_ID + me);
        /* release: the record is written before it is counted. */
        __atomic_store_n(&finished->n[me], i + 1, __ATOMIC_RELEASE);
        if (i % 1000 == 0)
            (void)usleep(1000); /* let the disk keep up */
    }
    return NULL;
}

static void be_child(void)
{
    pthread_t t;

    if (recorded_begin(&finished->rec, (uint64_t)256 << 20) != OSC_OK)
        _exit(1);
    for (uintptr_t i = 1; i < N_THREADS; i++)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the thread */
        if (pthread_create(&t, NULL, record_until_killed, (void *)i) != 0)
            _exit(1);
    __atomic_store_n(&finished->has_begun, 1, __ATOMIC_RELEASE);
    (void)record_until_killed(NULL);
}

/* Records that each thread has in the file and in the live directory. */
static uint64_t found[N_THREADS];
static uint32_t thread_of[N_THREADS];

static void see(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    (void)ctx;
    if (r->id >= FIRST_ID && r->id < FIRST_ID + N_THREADS) {
        found[r->id - FIRST_ID]++;
        thread_of[r->id - FIRST_ID] = thread;
    } else if (r->kind == OSC_RECORD_END) {
        for (int i = 0; i < N_THREADS; i++)
            found[i] += thread_of[i] == thread;
    }
}

static void kill_one(void)
{
    const pid_t pid = fork();
    int status = 0;

    assert_true(pid >= 0);
    if (pid == 0)
        be_child();
    while (!__atomic_load_n(&finished->has_begun, __ATOMIC_ACQUIRE))
        (void)usleep(1000);
    (void)usleep((useconds_t)(rand() % 150000));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

TEST(loses_nothing_that_a_call_had_finished_to_kill_9)
{
    const char *given = getenv("OPSCOPE_TEST_KILLS");
    const int n = given ? atoi(given) : 20;
    uint64_t all = 0;

    srand((unsigned)time(NULL));
    for (int i = 0; i < n; i++) {
        memset(finished, 0, sizeof *finished);
        memset(found, 0, sizeof found);
        memset(thread_of, 0, sizeof thread_of);
        kill_one();
        struct recorded *rec = &finished->rec;

        rec->look = see;
        recorded_read(rec);
        recorded_remove(rec->dir);
        for (int cause = 0; cause < OSC_LOSS_COUNT; cause++)
            assert_int_equal(rec->all.lost[cause], 0);
        for (int t = 0; t < N_THREADS; t++) {
            assert_in_range(found[t], finished->n[t], finished->n[t] + 1);
            all += found[t];
        }
    }
    print_message("%d kills, %llu records, none lost\n", n, (unsigned long long)all);
}

static int share(void **state)
{
    (void)state;
    finished =
        mmap(NULL, sizeof *finished, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return finished == MAP_FAILED ? -1 : 0;
}

int main(void)
{
    return unit_run("kill", share, NULL);
}
