/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host/handler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "recorder/thread/stack.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static _Alignas(16) char alternate[64 << 10];
static uintptr_t seen;
static int kept;

static void look(int number)
{
    (void)number;
    errno = 77;
    seen = osc_handler_frame();
    kept = errno;
}

static void raise_with(unsigned flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = look;
    action.sa_flags = (int)flags;
    seen = 0;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(kept, 77);
}

/* Is it between this function and the handler that it was seen from? */
static void expect_seen_on_this_stack(void)
{
    assert_int_not_equal(seen, 0);
#if defined __x86_64__
    assert_true(seen < (uintptr_t)__builtin_frame_address(0));
#endif
}

/* A hole that nobody writes to may still have what a handler left: wipe it. */
static void wipe_what_handlers_left(void)
{
    volatile char hole[64 << 10];

    for (size_t i = 0; i < sizeof hole; i++)
        hole[i] = 0;
}

static void expect_none_here(void)
{
    wipe_what_handlers_left();
    assert_int_equal(osc_handler_frame(), 0);
}

static void *raise_each(void *arg)
{
    static const unsigned flags[] = {
        0,
        SA_SIGINFO,
#if defined __x86_64__
        SA_RESETHAND,
        SA_NODEFER,
        SA_RESETHAND | SA_NODEFER,
#endif
        SA_RESTART
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        raise_with(flags[i]);
        expect_seen_on_this_stack();
        expect_none_here();
    }
    return arg;
}

static void knows_a_handler_whatever_its_flags_are(void **state)
{
    (void)state;
    (void)raise_each(NULL);
}

static void knows_a_handler_on_the_stack_of_any_thread(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, raise_each, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void knows_a_handler_on_an_alternate_stack(void **state)
{
    const unsigned flags[] = {0, SS_AUTODISARM};
    const stack_t off = {.ss_flags = SS_DISABLE};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const stack_t on = {
            .ss_sp = alternate, .ss_size = sizeof alternate, .ss_flags = (int)flags[i]};

        if (sigaltstack(&on, NULL) != 0)
            continue; /* emulators know no SS_AUTODISARM */
        raise_with(SA_ONSTACK);
        assert_true(seen > (uintptr_t)alternate);
#if defined __x86_64__
        raise_with(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
        assert_true(seen > (uintptr_t)alternate);
        assert_true(seen <= (uintptr_t)alternate + sizeof alternate);
#endif
        assert_int_equal(sigaltstack(&off, NULL), 0);
        expect_none_here();
    }
}

#if defined __x86_64__

static void sees_none_where_signals_that_are_caught_are_blocked(void **state)
{
    const struct sigaction action = {.sa_handler = look};
    sigset_t some, before;

    (void)state;
    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGTERM);
    (void)sigaddset(&some, SIGUSR1);
    assert_int_equal(sigaction(SIGTERM, &action, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &some, &before), 0);
    expect_none_here();
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static void nothing(int number)
{
    (void)number;
}

/* All of P is needed, says this to the compiler: it would make an array smaller. */
static void keep(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Not to be kept elsewhere by a sanitizer: the frame shall lie below the hole. */
OSC_STACK_READER static __attribute__((noinline)) int raise_below(void)
{
    char hole[8 << 10];

    keep(hole);
    const int result = raise(SIGUSR2);
    keep(hole);
    return result;
}

/* Where the frame that raise_below() left lies in a buffer that nobody wrote to. */
OSC_STACK_READER static __attribute__((noinline)) uintptr_t look_around_a_hole(void)
{
    char hole[32 << 10];

    keep(hole);
    const uintptr_t found = osc_handler_frame();
    keep(hole);
    return found;
}

static void take_no_defer_from(int number)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};

    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void knows_what_a_handler_left_in_a_hole(void **state)
{
    const struct sigaction action = {.sa_handler = nothing};
    const struct sigaction without = {.sa_handler = nothing, .sa_flags = SA_NODEFER};

    (void)state;
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction other;

        if (sigaction(i, NULL, &other) == 0 && (other.sa_flags & SA_NODEFER) != 0)
            take_no_defer_from(i);
    }
    wipe_what_handlers_left();
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    assert_int_equal(raise_below(), 0);
    assert_int_equal(look_around_a_hole(), 0);
    assert_int_equal(sigaction(SIGUSR2, &without, NULL), 0);
    assert_int_not_equal(look_around_a_hole(), 0);
    take_no_defer_from(SIGUSR2);
}

static __attribute__((noinline)) int look_below(volatile char *around, size_t kilobytes)
{
    volatile char hole[1 << 10];

    hole[0] = around[0];
    if (kilobytes > 0)
        return look_below(hole, kilobytes - 1) + hole[0];
    look(0);
    return hole[0];
}

static void look_far_below(int number)
{
    volatile char nothing = 0;

    (void)number;
    (void)look_below(&nothing, 1536);
}

static ucontext_t outside, coroutine;

static void look_in_coroutine(void)
{
    wipe_what_handlers_left();
    look(0);
}

static void raise_in_coroutine(void)
{
    raise_with(0);
}

static void run_coroutine(unsigned char *stack, size_t len, void (*body)(void))
{
    assert_int_equal(getcontext(&coroutine), 0);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = len;
    coroutine.uc_link = &outside;
    makecontext(&coroutine, body, 0);
    assert_int_equal(swapcontext(&outside, &coroutine), 0);
}

/* Half a mapping, as far as its file goes, is the stack of a coroutine; to load from the rest
 * is an error, as it is to load from what somebody else has unmapped meanwhile. */
static void loads_nothing_that_may_not_be_there(void **state)
{
    enum { STACK_BYTES = 256 << 10 };
    const struct sigaction action = {.sa_handler = look};
    const int fd = memfd_create("stack", 0);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, STACK_BYTES), 0);
    unsigned char *const stack =
        mmap(NULL, (size_t)2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(stack != MAP_FAILED);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    run_coroutine(stack, STACK_BYTES, look_in_coroutine);
    assert_true(seen == 0);
    run_coroutine(stack, STACK_BYTES, raise_in_coroutine);
    assert_true(seen > (uintptr_t)stack && seen < (uintptr_t)stack + STACK_BYTES);

    assert_int_equal(munmap(stack, (size_t)2 * STACK_BYTES), 0);
    close(fd);
}

/* By its mask, since nobody looks so far. */
static void knows_a_handler_more_than_a_mebibyte_above(void **state)
{
    const struct sigaction action = {.sa_handler = look_far_below};

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(seen == UINTPTR_MAX);
    look_far_below(0);
    assert_true(seen == 0);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_handler_whatever_its_flags_are),
        cmocka_unit_test(knows_a_handler_on_the_stack_of_any_thread),
        cmocka_unit_test(knows_a_handler_on_an_alternate_stack),
#if defined __x86_64__
        cmocka_unit_test(knows_what_a_handler_left_in_a_hole),
        cmocka_unit_test(sees_none_where_signals_that_are_caught_are_blocked),
        cmocka_unit_test(loads_nothing_that_may_not_be_there),
        cmocka_unit_test(knows_a_handler_more_than_a_mebibyte_above),
#endif
    };
    return cmocka_run_group_tests_name("handler", tests, NULL, NULL);
}
