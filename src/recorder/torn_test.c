/* SPDX-License-Identifier: Apache-2.0 */
/* Recording calls that never return: their thread is cancelled, or jumps out of a handler. */

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "opscope/record.h"
#include "recorder/thread/writer.h"
#include "support/recorded.h"
#include "support/single_step.h"
#include "support/unit.h"

static struct recorded rec;

/* Leave the thread's writer as a handler does that jumps out of the slow path. */
static void *record_behind_a_jump(void *arg)
{
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_writer_self->epoch = 0;
    osc_writer_self->busy = 1;
    for (int i = 0; i < 3; i++)
        osc_instant(1);
    osc_end();
    return arg;
}

TEST(counts_what_a_thread_records_behind_a_jump)
{
    struct osc_losses lost;
    pthread_t thread;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(pthread_create(&thread, NULL, record_behind_a_jump, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    osc_losses_get(&lost);
    assert_int_equal(lost.nested, 4);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, 1);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT] + rec.all.n[OSC_RECORD_END], 0);
}

#if CAN_STEP

enum { HANGS_S = 200, CALLS_AFTER = 40, STEPS_MAX = 20000 };

/* What to do at which trap of the stepping thread. */
static struct {
    void (*deed)(void);
    volatile int n_left; /* traps before it */
    volatile bool is_done;
    volatile bool is_call; /* the stepping is in a call, not in step() itself */
} torn;

static void count_down(int signal, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;

    (void)signal, (void)info;
    if (torn.is_call && torn.n_left-- == 0) {
        torn.is_done = true;
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* no more traps */
        torn.deed();
    }
}

/* Start or stop single-stepping the following call. step() moves the stack, so it cannot be
 * unwound from there. */
static inline void tear(bool is_on)
{
    torn.is_call = is_on;
    step(is_on);
}

static void catch_traps(struct sigaction *before)
{
    const struct sigaction sa = {.sa_sigaction = count_down,
                                 .sa_flags = SA_SIGINFO | SA_NODEFER};

    assert_int_equal(sigaction(SIGTRAP, &sa, before), 0);
    (void)alarm(HANGS_S); /* kills a test that hangs */
}

static void let_traps_be(const struct sigaction *before)
{
    (void)alarm(0);
    assert_int_equal(sigaction(SIGTRAP, before, NULL), 0);
}

/* Fill the block, so that the next record needs another one. */
static void fill_block(uint64_t *n_made)
{
    const struct osc_writer *w = osc_writer_self;

    while (w->pos % OSC_BLOCK_BYTES != 0) {
        osc_instant(1);
        ++*n_made;
    }
}

/* --- cancelled ----------------------------------------------------------------------- */

static void cancel_myself(void)
{
    (void)pthread_cancel(pthread_self());
}

/* The task of one thread. */
struct life {
    bool is_first; /* tear the first call, which takes a writer; else the one that changes the
                      block */
    uint64_t n_made;
};

static void *record_and_be_cancelled(void *arg)
{
    struct life *life = arg;

    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (life->is_first)
        tear(true);
    osc_instant(1);
    tear(false);
    life->n_made++;
    fill_block(&life->n_made);
    if (!life->is_first)
        tear(true);
    osc_instant(1);
    tear(false);
    life->n_made++;
    return NULL;
}

/* Cancel a thread after N instructions of one of its calls; returns whether it was
 * cancelled. */
static bool cancel_after(int n, struct life *life)
{
    pthread_t thread;

    torn.is_done = false;
    torn.n_left = n;
    assert_int_equal(pthread_create(&thread, NULL, record_and_be_cancelled, life), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return torn.is_done;
}

TEST(goes_on_when_threads_are_cancelled_anywhere_in_a_call)
{
    struct life life = {0};
    struct sigaction before;
    uint64_t n_torn = 0;

    torn.deed = cancel_myself;
    catch_traps(&before);
    assert_int_equal(recorded_begin(&rec, (uint64_t)256 << 20), OSC_OK);
    osc_instant(1);
    life.n_made++;
    for (int is_first = 0; is_first < 2; is_first++) {
        life.is_first = is_first;
        for (int n = 0; n < STEPS_MAX && cancel_after(n, &life); n++)
            n_torn++;
    }
    assert_int_equal(osc_dump(), OSC_OK);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    let_traps_be(&before);
    /* Finished calls are recorded; unfinished ones may be. */
    assert_in_range(rec.all.n[OSC_RECORD_INSTANT], life.n_made, life.n_made + n_torn);
    print_message("%llu calls were torn off\n", (unsigned long long)n_torn);
}

/* --- left by a jump ------------------------------------------------------------------ */

static sigjmp_buf back;

static void jump_back(void)
{
    siglongjmp(back, 1);
}

/* Jump out of a call at instruction N; false: it ran to its end. */
__attribute__((noinline)) static bool leave_call(int n)
{
    torn.is_done = false;
    torn.n_left = n;
    if (sigsetjmp(back, 1) == 0) {
        tear(true);
        osc_instant(1);
        tear(false);
    }
    return torn.is_done;
}

/* The task of one thread. */
struct jump {
    int n; /* instructions before it */
    bool is_left;
    uint64_t n_made; /* calls that ran to their end */
};

static void *record_and_jump(void *arg)
{
    struct jump *jump = arg;

    osc_begin(OSC_SCOPE_PLAIN, 1);
    fill_block(&jump->n_made);
    jump->is_left = leave_call(jump->n);
    jump->n_made += !jump->is_left;
    for (int i = 0; i < CALLS_AFTER; i++)
        osc_instant(1);
    osc_end();
    jump->n_made += CALLS_AFTER + 1;
    return NULL;
}

TEST(counts_all_that_a_thread_records_after_a_jump_out_of_any_instruction)
{
    struct jump jump = {.is_left = true};
    uint64_t n_torn = 0, n_found;
    struct osc_losses lost;
    struct sigaction before;

    torn.deed = jump_back;
    catch_traps(&before);
    assert_int_equal(recorded_begin(&rec, (uint64_t)256 << 20), OSC_OK);
    for (; jump.is_left && jump.n < STEPS_MAX; jump.n++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, record_and_jump, &jump), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        n_torn += jump.is_left;
    }
    assert_int_equal(recorded_end(&rec), OSC_OK);
    let_traps_be(&before);
    osc_losses_get(&lost);
    n_found = rec.all.n[OSC_RECORD_INSTANT] + rec.all.n[OSC_RECORD_END] + lost.nested;
    assert_int_equal(rec.all.begins, jump.n);
    assert_in_range(n_found, jump.n_made, jump.n_made + n_torn);
    assert_true(lost.nested >= CALLS_AFTER);
    print_message("%llu calls were left, %llu records of later ones dropped and counted\n",
                  (unsigned long long)n_torn, (unsigned long long)lost.nested);
}

#endif

UNIT_MAIN("torn")
