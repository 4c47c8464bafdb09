/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host/handler.h"

#include "support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

static _Alignas(16) char alternate[64 << 10];
static bool was_seen;
static int kept;

static void look(int number)
{
    (void)number;
    errno = 77;
    was_seen = osc_handler_may_run();
    kept = errno;
}

static void raise_with(int flags)
{
    const struct sigaction action = {.sa_handler = look, .sa_flags = flags};

    was_seen = false;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(kept, 77);
}

static void *raise_each(void *arg)
{
    static const int flags[] = {0, SA_SIGINFO, SA_RESTART};

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        raise_with(flags[i]);
        assert_true(was_seen);
        assert_false(osc_handler_may_run());
    }
    return arg;
}

TEST(knows_a_handler_in_any_thread)
{
    pthread_t thread;

    (void)raise_each(NULL);
    assert_int_equal(pthread_create(&thread, NULL, raise_each, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(knows_a_handler_on_an_alternate_stack)
{
    const stack_t on = {.ss_sp = alternate, .ss_size = sizeof alternate};
    const stack_t off = {.ss_flags = SS_DISABLE};

    assert_int_equal(sigaltstack(&on, NULL), 0);
    raise_with(SA_ONSTACK);
    assert_true(was_seen);
    assert_int_equal(sigaltstack(&off, NULL), 0);
    assert_false(osc_handler_may_run());
}

TEST(takes_a_blocked_signal_for_a_handler_only_if_it_is_caught)
{
    const struct sigaction caught = {.sa_handler = look};
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigset_t some, before;

    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &some, &before), 0);
    assert_false(osc_handler_may_run());
    assert_int_equal(sigaction(SIGTERM, &ignored, NULL), 0);
    assert_false(osc_handler_may_run());
    assert_int_equal(sigaction(SIGTERM, &caught, NULL), 0);
    assert_true(osc_handler_may_run());
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

UNIT_MAIN("handler")
