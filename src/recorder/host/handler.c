/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host/handler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recorder/thread/stack.h"

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

/* Words of the frame: restorer, uc_flags, uc_link, uc_stack (3), registers (32), uc_sigmask. */
enum {
    FRAME_LINK = 2,
    FRAME_SEGMENTS = 24,
    FRAME_MASK = 38,
    FRAME_WORDS = 39,
    PRIVILEGE_USER = 3,
    PAGE_BYTES = 4096
};

/* As the kernel has it, which libc does not tell. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

/* What the frames of handlers have to show. */
struct marks {
    uintptr_t restorers[SIGNALS]; /* distinct ones */
    uint32_t n_restorers;
    bool may_block_none; /* some handler runs, or ran, with SA_NODEFER */
    uint64_t blocked;    /* now, of what was ever caught; a bit a signal, from 1 on */
};

static void get_marks(struct marks *out)
{
    uint64_t blocked = 0, caught = 0;

    *out = (struct marks){0};
    (void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    for (long i = 1; i <= SIGNALS; i++) {
        struct kernel_action action = {0};
        uint32_t at = 0;

        if (syscall(SYS_rt_sigaction, i, NULL, &action, sizeof action.mask) != 0 ||
            action.restorer == 0)
            continue;
        caught |= 1ULL << (i - 1);
        out->may_block_none |= (action.flags & (unsigned long)SA_NODEFER) != 0;
        while (at < out->n_restorers && out->restorers[at] != action.restorer)
            at++;
        out->restorers[at] = action.restorer;
        out->n_restorers += at == out->n_restorers;
    }
    out->blocked = blocked & caught;
}

/* Whether the frame of a handler that still runs begins at WORD. What else begins with a
 * restorer is what sigaction() left: handlers change neither link nor code segment. */
static bool is_frame(const uintptr_t *word, const struct marks *marks)
{
    uint32_t i = 0;

    while (i < marks->n_restorers && word[0] != marks->restorers[i])
        i++;
    return i < marks->n_restorers && word[FRAME_LINK] == 0 &&
           (word[FRAME_SEGMENTS] & PRIVILEGE_USER) == PRIVILEGE_USER &&
           (marks->may_block_none || (marks->blocked & ~word[FRAME_MASK]) != 0);
}

/* Copy what lies from AT on, up to END and in one page; how much that was. 0: nothing is there
 * now; negative: it is not to be known. What follows the stack in its mapping may be another
 * thread's, which may unmap it meanwhile: then a copy fails, and a load would be the end. */
static ssize_t copy_page(uintptr_t *out, uintptr_t at, uintptr_t end)
{
    const uintptr_t page_end = (at | (PAGE_BYTES - 1)) + 1;
    const size_t len = (page_end < end ? page_end : end) - at;
    const struct iovec to = {out, len};
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): read by the kernel */
    const struct iovec from = {(void *)at, len};
    const ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

    return n < 0 && errno == EFAULT ? 0 : n;
}

/* The first frame from FROM to END, or 0; UINTPTR_MAX if the stack cannot be copied. */
static uintptr_t find_frame(uintptr_t from, uintptr_t end, const struct marks *marks)
{
    uintptr_t words[FRAME_WORDS - 1 + PAGE_BYTES / sizeof(uintptr_t)];
    size_t n = 0, kept;

    for (uintptr_t at = from; at < end; at = (at | (PAGE_BYTES - 1)) + 1) {
        const ssize_t len = copy_page(words + n, at, end);

        if (len <= 0)
            return len == 0 ? 0 : UINTPTR_MAX;
        const uintptr_t first = at - n * sizeof *words;
        n += (size_t)len / sizeof *words;
        for (size_t i = 0; i + FRAME_WORDS <= n; i++)
            if (is_frame(words + i, marks))
                return first + i * sizeof *words;
        /* A frame may begin in one page and end in the next. */
        kept = n < FRAME_WORDS ? n : FRAME_WORDS - 1;
        memmove(words, words + n - kept, kept * sizeof *words);
        n = kept;
    }
    return 0;
}

static uintptr_t look(uintptr_t from)
{
    struct marks marks;
    stack_t other;

    if (sigaltstack(NULL, &other) == 0 && (other.ss_flags & SS_ONSTACK) != 0)
        return (uintptr_t)other.ss_sp + other.ss_size;

    get_marks(&marks);
    const uintptr_t end = marks.n_restorers > 0 ? osc_stack_end(from) : 0;

    if (marks.n_restorers == 0)
        return 0;
    if (end == 0)
        return is_by_mask() ? UINTPTR_MAX : 0;

    const bool is_deep = end - from > SCAN_BYTES;
    const uintptr_t found = find_frame(from, is_deep ? from + SCAN_BYTES : end, &marks);

    if (found == UINTPTR_MAX || (found == 0 && is_deep))
        return is_by_mask() ? UINTPTR_MAX : 0;
    return found;
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
