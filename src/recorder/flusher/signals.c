/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

enum { N_FATAL = sizeof fatal / sizeof *fatal, DUMP = N_FATAL, TOGGLE, N_HANDLERS };

static struct {
    struct osc_signals signals;
    bool is_open;
    uint32_t n_crashes;
    struct {
        int number; /* 0: not installed */
        struct sigaction old;
    } handlers[N_HANDLERS];
} installed;

/* Run the handler that the host had. */
static void run_old(const struct sigaction *old, int number, siginfo_t *info, void *context)
{
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(number, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(number);
}

static void handle_request(int number, siginfo_t *info, void *context)
{
    const int saved = errno;

    for (int i = DUMP; i <= TOGGLE; i++) {
        if (installed.handlers[i].number != number)
            continue;
        if (i == DUMP)
            installed.signals.dump();
        else
            installed.signals.toggle();
        run_old(&installed.handlers[i].old, number, info, context);
    }
    errno = saved;
}

/* Whether the signal of INFO does not recur by itself when the handler returns: it was sent, or
 * the program continues after the instruction or the call that raised it. */
static bool comes_once(int number, const siginfo_t *info)
{
    return info->si_code <= 0 || number == SIGTRAP || number == SIGSYS;
}

static void handle_crash(int number, siginfo_t *info, void *context)
{
    const int saved = errno;

    (void)context;
    /* relaxed: the first thread handles it; others wait for the end of the process. */
    if (__atomic_fetch_add(&installed.n_crashes, 1, __ATOMIC_RELAXED) == 0)
        installed.signals.crash();
    for (int i = 0; i < N_FATAL; i++)
        if (installed.handlers[i].number == number)
            sigaction(number, &installed.handlers[i].old, NULL);
    /* A signal that is sent here arrives when this handler returns. */
    if (comes_once(number, info))
        (void)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
    errno = saved;
}

static void install(int i, int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

    action.sa_sigaction = handler;
    sigemptyset(&action.sa_mask);
    if (number && sigaction(number, NULL, &installed.handlers[i].old) == 0 &&
        sigaction(number, &action, NULL) == 0)
        installed.handlers[i].number = number;
}

void osc_signals_open(const struct osc_signals *signals)
{
    memset(&installed, 0, sizeof installed);
    installed.signals = *signals;
    installed.is_open = true;
    install(DUMP, signals->dump_signal, handle_request);
    install(TOGGLE, signals->toggle_signal, handle_request);
    for (int i = 0; signals->has_crash && i < N_FATAL; i++)
        install(i, fatal[i], handle_crash);
}

void osc_signals_close(void)
{
    if (!installed.is_open)
        return;
    for (int i = 0; i < N_HANDLERS; i++) {
        const int number = installed.handlers[i].number;
        struct sigaction now;

        if (number && sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            (now.sa_sigaction == handle_request || now.sa_sigaction == handle_crash))
            sigaction(number, &installed.handlers[i].old, NULL);
        installed.handlers[i].number = 0;
    }
    installed.is_open = false;
}
