/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/handler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/stack.h"

enum { SCAN_BYTES = 1 << 20, SIGNALS = 64 };

/* Whether a signal is blocked, and caught. */
static bool is_by_mask(void)
{
    sigset_t blocked;

    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0)
        return true;
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction action;

        if (sigismember(&blocked, i) == 1 && sigaction(i, NULL, &action) == 0 &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
            return true;
    }
    return false;
}

#if defined __x86_64__

/* Words of the frame: restorer, uc_flags, uc_link, uc_stack (3), the registers. */
enum { FRAME_LINK = 2, FRAME_SEGMENTS = 24, FRAME_WORDS = 25, PRIVILEGE_USER = 3 };

/* As the kernel has it, which libc does not tell. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

/* The distinct restorers of all signals; how many. */
static uint32_t get_restorers(uintptr_t out[SIGNALS])
{
    uint32_t n = 0;

    for (long i = 1; i <= SIGNALS; i++) {
        struct kernel_action action = {0};
        uint32_t at = 0;

        if (syscall(SYS_rt_sigaction, i, NULL, &action, sizeof action.mask) != 0 ||
            action.restorer == 0)
            continue;
        while (at < n && out[at] != action.restorer)
            at++;
        out[at] = action.restorer;
        n += at == n;
    }
    return n;
}

/* Whether a frame begins at WORD, which may be what sigaction() left there: handlers change
 * neither link nor code segment. */
OSC_STACK_READER static bool is_frame(const uintptr_t *word, const uintptr_t *restorers,
                                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (word[0] == restorers[i])
            return word[FRAME_LINK] == 0 &&
                   (word[FRAME_SEGMENTS] & PRIVILEGE_USER) == PRIVILEGE_USER;
    return false;
}

/* The first frame from FROM to END, or 0. */
OSC_STACK_READER static uintptr_t find_frame(uintptr_t from, uintptr_t end,
                                             const uintptr_t *restorers, uint32_t n)
{
    for (uintptr_t at = from; end - at >= FRAME_WORDS * sizeof at; at += sizeof at)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): within the bounds of the stack */
        if (is_frame((const uintptr_t *)at, restorers, n))
            return at;
    return 0;
}

static uintptr_t look(uintptr_t from)
{
    uintptr_t restorers[SIGNALS];
    stack_t other;

    if (sigaltstack(NULL, &other) == 0 && (other.ss_flags & SS_ONSTACK) != 0)
        return (uintptr_t)other.ss_sp + other.ss_size;

    const uint32_t n = get_restorers(restorers);
    const uintptr_t end = n > 0 ? osc_stack_end(from) : 0;

    if (n == 0)
        return 0;
    if (end == 0)
        return is_by_mask() ? UINTPTR_MAX : 0;

    const bool is_deep = end - from > SCAN_BYTES;
    const uintptr_t found = find_frame(from, is_deep ? from + SCAN_BYTES : end, restorers, n);

    return found == 0 && is_deep && is_by_mask() ? UINTPTR_MAX : found;
}

#else

static uintptr_t look(uintptr_t from)
{
    (void)from;
    return is_by_mask() ? UINTPTR_MAX : 0;
}

#endif

uintptr_t osc_handler_frame(void)
{
    const int kept = errno;
    const uintptr_t found = look((uintptr_t)__builtin_frame_address(0));

    errno = kept;
    return found;
}
