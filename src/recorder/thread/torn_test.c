/* SPDX-License-Identifier: Apache-2.0 */
/* Recording calls that never return: their thread is cancelled, or jumps out of a handler. */
#include "recorder/thread/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "opscope/record.h"
#include "support/recorded.h"
#include "support/single_step.h"

static struct recorded rec;

static uint64_t n_nested(void)
{
    struct osc_losses lost;

    osc_losses_get(&lost);
    return lost.nested;
}

static void goes_on_where_no_mark_is_any_more(void **state)
{
    static uint32_t place; /* where one was */

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    struct osc_writer *w = osc_writer_self;

    w->epoch = 0;
    w->busy = OSC_BUSY_ALONE;
    osc_instant(1);
    assert_int_equal(n_nested(), 1);
    w->busy = (uintptr_t)&place;
    osc_instant(1);
    assert_int_equal(n_nested(), 1);
    assert_int_equal(w->busy, 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
    assert_int_equal(rec.all.lost[OSC_LOSS_NESTED], 1);
}

#if CAN_STEP

enum { HANGS_S = 200, CALLS_AFTER = 40, STEPS_MAX = 20000 };

/* What happens at which trap of the thread that steps. */
static struct {
    void (*deed)(void);
    volatile int n_left; /* traps before it */
    volatile bool is_done;
    volatile bool is_call; /* a call is being stepped through, and not step() itself */
} torn;

static void count_down(int signal)
{
    (void)signal;
    if (torn.is_call && torn.n_left-- == 0) {
        torn.is_done = true;
        torn.deed();
    }
}

/* Step through the call that follows, or no more. step() moves the stack, which nobody could
 * unwind from there. */
static inline void tear(bool is_on)
{
    torn.is_call = is_on;
    step(is_on);
}

static void catch_traps(struct sigaction *before)
{
    const struct sigaction sa = {.sa_handler = count_down, .sa_flags = SA_NODEFER};

    assert_int_equal(sigaction(SIGTRAP, &sa, before), 0);
    (void)alarm(HANGS_S); /* what spins is killed */
}

static void let_traps_be(const struct sigaction *before)
{
    (void)alarm(0);
    assert_int_equal(sigaction(SIGTRAP, before, NULL), 0);
}

/* So that the next record needs another block. */
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

/* What one thread does. */
struct life {
    bool is_first; /* the call to be torn: the first one, which takes a writer; else the one
                      that changes the block */
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

/* A thread that is cancelled in one of its calls, after N instructions; whether it was. */
static bool cancel_after(int n, struct life *life)
{
    pthread_t thread;

    torn.is_done = false;
    torn.n_left = n;
    assert_int_equal(pthread_create(&thread, NULL, record_and_be_cancelled, life), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return torn.is_done;
}

static void goes_on_when_threads_are_cancelled_anywhere_in_a_call(void **state)
{
    struct life life = {0};
    struct sigaction before;
    uint64_t n_torn = 0;

    (void)state;
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
    /* What was finished is there; what was not may be. */
    assert_in_range(rec.all.n[OSC_RECORD_INSTANT], life.n_made, life.n_made + n_torn);
    print_message("%llu calls were torn off\n", (unsigned long long)n_torn);
}

/* --- left by a jump ------------------------------------------------------------------ */

static sigjmp_buf back;

/* What programs do between records: use the stack. */
__attribute__((noinline)) static void work(void)
{
    char used[4000];

    memset(used, 1, sizeof used);
    __asm__ volatile("" ::"r"(used) : "memory");
}

static void jump_back(void)
{
    siglongjmp(back, 1);
}

/* A call from far down the stack. */
__attribute__((noinline)) static void record_deep(uint64_t *n_made)
{
    char far_down[1000];

    __asm__ volatile("" ::"r"(far_down) : "memory");
    tear(true);
    osc_instant(1);
    tear(false);
    ++*n_made;
}

/* One call, which is left at some instruction; false: it went through. */
static bool leave_call(int n, uint64_t *n_made)
{
    torn.is_done = false;
    torn.n_left = n;
    if (sigsetjmp(back, 1) == 0)
        record_deep(n_made);
    return torn.is_done;
}

static void records_again_after_a_jump_out_of_any_instruction(void **state)
{
    uint64_t n_made = 0, n_torn = 0;
    struct osc_losses lost, were;
    struct sigaction before;

    (void)state;
    torn.deed = jump_back;
    catch_traps(&before);
    assert_int_equal(recorded_begin(&rec, (uint64_t)256 << 20), OSC_OK);
    osc_instant(1);
    n_made++;
    for (bool is_left = true; is_left && n_torn < STEPS_MAX;) {
        fill_block(&n_made);
        is_left = leave_call((int)n_torn, &n_made);
        n_torn += is_left;
        work();
        for (int i = 0; i < CALLS_AFTER; i++, n_made++)
            osc_instant(1);
        osc_losses_get(&were);
        osc_instant(1);
        n_made++;
        osc_losses_get(&lost);
        assert_int_equal(lost.nested, were.nested);
    }
    assert_int_equal(recorded_end(&rec), OSC_OK);
    let_traps_be(&before);
    assert_in_range(rec.all.n[OSC_RECORD_INSTANT] + lost.nested, n_made, n_made + n_torn);
    print_message("%llu calls were left, %llu records of later ones dropped and counted\n",
                  (unsigned long long)n_torn, (unsigned long long)lost.nested);
}

/* --- still there --------------------------------------------------------------------- */

static uint64_t n_handled;

static void record_at_trap(int signal)
{
    (void)signal;
    osc_instant(2);
    n_handled++;
}

/* What is above the interrupted call is not always later: a handler's stack may lie there. */
static void takes_no_handler_on_another_stack_for_a_later_call(void **state)
{
    static const struct sigaction sa = {.sa_handler = record_at_trap, .sa_flags = SA_ONSTACK};
    char stack[64 << 10];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t before;
    struct sigaction action_before;
    struct osc_losses lost;
    uint64_t n_made = 0;

    (void)state;
    assert_int_equal(sigaltstack(&other, &before), 0);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(sigaction(SIGTRAP, &sa, &action_before), 0);
    for (int i = 0; i < 20; i++) {
        osc_instant(1);
        n_made++;
        fill_block(&n_made);
        record_deep(&n_made);
    }
    assert_int_equal(sigaction(SIGTRAP, &action_before, NULL), 0);
    assert_int_equal(sigaltstack(&before, NULL), 0);
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.n_unfinished, 0);
    assert_true(lost.nested > 0);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT] + lost.nested, n_made + n_handled);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_where_no_mark_is_any_more),
#if CAN_STEP
        cmocka_unit_test(goes_on_when_threads_are_cancelled_anywhere_in_a_call),
        cmocka_unit_test(records_again_after_a_jump_out_of_any_instruction),
        cmocka_unit_test(takes_no_handler_on_another_stack_for_a_later_call),
#endif
    };

    return cmocka_run_group_tests_name("torn", tests, NULL, NULL);
}
