/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/signals.h"

#include "support/unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t n_dumps, n_toggles, n_crashes, n_host;

static void on_dump(void)
{
    n_dumps++;
}

static void on_toggle(void)
{
    n_toggles++;
}

static void on_crash(void)
{
    n_crashes++;
}

static void host_handler(int number)
{
    (void)number;
    n_host++;
}

static const struct osc_signals both = {.dump_signal = SIGUSR2,
                                        .toggle_signal = SIGUSR1,
                                        .dump = on_dump,
                                        .toggle = on_toggle,
                                        .crash = on_crash};

TEST(signals_are_heard_while_they_are_ours)
{
    struct sigaction now, fault;

    n_dumps = n_toggles = 0;
    sigaction(SIGSEGV, NULL, &fault);
    osc_signals_open(&both);
    raise(SIGUSR2);
    raise(SIGUSR1);
    raise(SIGUSR1);
    assert_int_equal(n_dumps, 1);
    assert_int_equal(n_toggles, 2);
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_equal(now.sa_handler, fault.sa_handler); /* has_crash is not set */
    osc_signals_close();
    sigaction(SIGUSR2, NULL, &now);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    osc_signals_close();
}

TEST(the_hosts_handlers_still_run)
{
    struct sigaction now;

    n_dumps = n_host = 0;
    signal(SIGUSR2, host_handler);
    osc_signals_open(&both);
    raise(SIGUSR2);
    assert_int_equal(n_dumps, 1);
    assert_int_equal(n_host, 1);
    signal(SIGUSR1, host_handler); /* replaces ours, and must stay */
    osc_signals_close();
    sigaction(SIGUSR1, NULL, &now);
    assert_ptr_equal(now.sa_handler, host_handler);
    sigaction(SIGUSR2, NULL, &now);
    assert_ptr_equal(now.sa_handler, host_handler);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
}

static void send(int number)
{
    kill(getpid(), number);
}

#if defined __x86_64__
/* If the signal is not fatal, the program continues after it. */
static void trap(int number)
{
    (void)number;
    __asm__ volatile("int3");
}
#endif

/* The exit status of a child that calls ACT with the fatal signal NUMBER. */
static int die(int number, bool is_caught, void (*act)(int))
{
    const struct rlimit no_core = {0, 0};
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct osc_signals fatal = both;

        setrlimit(RLIMIT_CORE, &no_core);
        signal(number, is_caught ? host_handler : SIG_DFL);
        fatal.has_crash = true;
        osc_signals_open(&fatal);
        act(number);
        _exit(n_crashes == 1 && n_host == 1 ? 7 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(fatal_signals_do_what_they_did)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    n_crashes = n_host = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int status = die(numbers[i], false, send);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        status = die(numbers[i], true, send);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
    }
}

#if defined __x86_64__
TEST(a_trap_kills_as_it_would_without_us)
{
    n_crashes = n_host = 0;
    int status = die(SIGTRAP, false, trap);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTRAP);
    status = die(SIGTRAP, true, trap);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}
#endif

UNIT_MAIN("signals")
