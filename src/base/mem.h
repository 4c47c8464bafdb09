/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - the only way to memory, and how much of it there may be.
 *
 * A thin layer over malloc, so that every block is counted, tests can make the
 * n-th allocation fail, and a limit can make all fail that would go beyond it. And
 * whole pages for columns: large, zeroed, aligned to 2 MiB where they are that
 * long, and asked to be huge, because a page fault for every 4 KiB costs more than
 * parsing the text that fills it.
 *
 *   held      blocks and pages handed out and not given back, with what malloc adds;
 *             no allocation brings it above the limit
 *   reserved  what will be needed later: it is not held yet, but whoever could do
 *             with less asks for osc_mem_room() first and leaves it alone
 *
 * An account has a limit of its own for a part of that: for a set of traces, for one
 * question. A thread pays from the account that it has entered, from the account's parents
 * and from that of the process; threads that it makes by base/thread.h do the same.
 *
 *   - A block is taken from the account that its thread has entered then, and given back
 *     to the one that a thread has entered when it frees it. Whoever frees what another
 *     account has paid for enters that one first; traces do so for what they own.
 *   - What outlives a question is no longer counted once the question ends, but for the
 *     process: osc_mem_account_end().
 *   - An account that is cancelled takes nothing any more: what allocates fails soon,
 *     osc_mem_reason() says why, and long work asks osc_mem_is_cancelled() between parts.
 *
 * Why so: docs/decisions/memory.md.
 *
 * Threading: thread-safe. osc_mem_fail_after() is for single-threaded tests and
 * counts over all threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Zeroed but for limit and parent, nothing is held. Those are set before it is used. */
struct osc_mem_account {
    struct osc_mem_account *parent; /* borrowed; pays too; NULL: the process alone */
    _Atomic size_t limit;           /* 0: none */
    _Atomic int64_t held, peak, reserved;
    _Atomic bool is_refused, is_cancelled;
};

/* Let this thread pay from A (NULL: the process alone) from now on; from what before. */
struct osc_mem_account *osc_mem_enter(struct osc_mem_account *a);
struct osc_mem_account *osc_mem_account_here(void);

/* Nobody pays from A any more: let its parents forget what it holds. */
void osc_mem_account_end(struct osc_mem_account *a);

/* Let A take nothing any more. Any thread. */
void osc_mem_cancel(struct osc_mem_account *a);

/* Whether A or one above it is cancelled; that which this thread has entered. */
bool osc_mem_account_is_cancelled(const struct osc_mem_account *a);
bool osc_mem_is_cancelled(void);

void *osc_malloc(size_t size) __attribute__((malloc, warn_unused_result));
void *osc_calloc(size_t n, size_t size) __attribute__((malloc, warn_unused_result));
void *osc_realloc(void *p, size_t size) __attribute__((warn_unused_result));
void osc_free(void *p);

/*
 * Make room for at least NEED elements of SIZE bytes in the array *P of *CAP
 * elements, doubling it, or by an eighth where there is no more. On failure the array
 * is as before.
 */
OSC_MUST_USE osc_status osc_grow(void *p_array, size_t *cap, size_t need, size_t size);

/* Zeroed pages of at least SIZE bytes (rounded up to pages), or NULL. */
void *osc_pages_alloc(size_t size) __attribute__((warn_unused_result));
void osc_pages_free(void *p, size_t size);

/*
 * Map SIZE bytes of the file FD; what is written to them stays in this process. Not
 * held: the kernel can drop and read them again, until they are written. Whoever cuts
 * the file short meanwhile ends us by SIGBUS.
 */
void *osc_pages_map(int fd, size_t size) __attribute__((warn_unused_result));
void osc_pages_unmap(void *p, size_t size);

/*
 * Count SIZE bytes that a library has or will have allocated by itself. False: the
 * limit does not allow it, and nothing was counted.
 */
OSC_MUST_USE bool osc_mem_take(size_t size);
void osc_mem_give(size_t size);

/* Bytes the process holds, and the most that ever were since osc_mem_forget_peak(). */
size_t osc_mem_held(void);
size_t osc_mem_peak(void);
void osc_mem_forget_peak(void);

/* Let the process hold no more than BYTES; at first there is no limit, which is SIZE_MAX. */
void osc_mem_set_limit(size_t bytes);

/* The least of the limits that hold for this thread. */
size_t osc_mem_limit(void);

/* Set SIZE bytes aside for what comes later, and take back what was set aside. */
void osc_mem_reserve(size_t size);
void osc_mem_unreserve(size_t size);

/* Bytes that this thread may take and that are not reserved; 0 once there are none. */
size_t osc_mem_room(void);

/*
 * ST, or instead of OSC_ENOMEM what was the cause: OSC_ECANCELED, or OSC_ELIMIT if a limit
 * that holds for this thread has refused something. For whoever tells users.
 */
osc_status osc_mem_reason(osc_status st);

/* What was refused until now is no cause of what fails later. */
void osc_mem_forget_refusals(void);

/* Let N more allocations succeed, then fail one and all after it; -1: never fail. */
void osc_mem_fail_after(long n);
