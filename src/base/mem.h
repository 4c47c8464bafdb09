/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - all allocations, with a count and limits of memory.
 *
 * A thin layer over malloc that counts every block, lets tests make the n-th allocation fail,
 * and refuses allocations beyond a limit. It also maps whole pages for columns: large, zeroed,
 * aligned to 2 MiB if they are that long, and requested as huge pages, because a page fault
 * for every 4 KiB costs more than parsing the text that fills it.
 *
 *   held      blocks and pages handed out and not freed, with malloc's overhead; no
 *             allocation may bring it above the limit
 *   reserved  what will be needed later: it is not held yet, but code that can do with
 *             less memory asks osc_mem_room() first and leaves it alone
 *
 * An account has its own limit for a part of the memory: for a set of traces, or for one
 * question. A thread charges the account that it has entered, that account's parents and the
 * process; threads made by base/thread.h inherit the account.
 *
 *   - An allocation charges the account that the thread has entered at that time; a free
 *     credits the account that the freeing thread has entered. Code that frees blocks of
 *     another account enters that account first; traces do so for what they own.
 *   - Memory that outlives a question is counted only for the process after the question
 *     has ended: osc_mem_account_end().
 *   - A cancelled account refuses every allocation, so its work fails soon, and
 *     osc_mem_reason() gives the cause. Long loops also check osc_mem_is_cancelled().
 *
 * Why so: docs/decisions/memory.md.
 *
 * Threading: thread-safe. osc_mem_fail_after() is for single-threaded tests and counts over
 * all threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Zeroed, it holds nothing. Set parent and limit before it is used. */
struct osc_mem_account {
    struct osc_mem_account *parent; /* borrowed; is charged too; NULL: only the process */
    _Atomic size_t limit;           /* bytes; 0: no limit */
    _Atomic int64_t held, peak, reserved;
    _Atomic bool is_refused, is_cancelled;
};

/* Charge A from now on (NULL: only the process) in this thread; returns the previous
 * account. */
struct osc_mem_account *osc_mem_enter(struct osc_mem_account *a);
struct osc_mem_account *osc_mem_account_here(void);

/* A is not used any more: subtract what it still holds from its parents. */
void osc_mem_account_end(struct osc_mem_account *a);

/* Make every further allocation of A fail. May be called from any thread. */
void osc_mem_cancel(struct osc_mem_account *a);

/* Whether A or one of its parents is cancelled; osc_mem_is_cancelled(): the account that this
 * thread has entered. */
bool osc_mem_account_is_cancelled(const struct osc_mem_account *a);
bool osc_mem_is_cancelled(void);

void *osc_malloc(size_t size) __attribute__((malloc, warn_unused_result));
void *osc_calloc(size_t n, size_t size) __attribute__((malloc, warn_unused_result));
void *osc_realloc(void *p, size_t size) __attribute__((warn_unused_result));
void osc_free(void *p);

/*
 * Make room for at least NEED elements of SIZE bytes in the array *P of *CAP elements. It
 * doubles the array, or adds an eighth if memory is short. On failure the array is unchanged.
 */
OSC_MUST_USE osc_status osc_grow(void *p_array, size_t *cap, size_t need, size_t size);

/* Zeroed pages of at least SIZE bytes (rounded up to pages), or NULL. */
void *osc_pages_alloc(size_t size) __attribute__((warn_unused_result));
void osc_pages_free(void *p, size_t size);

/* Give back all pages of P, of SIZE bytes, behind the first KEPT bytes. Returns the bytes that
 * are left, for osc_pages_free(). */
size_t osc_pages_trim(void *p, size_t size, size_t kept);

/*
 * Count SIZE bytes that a library has allocated or will allocate by itself. False: a limit
 * does not allow it, and nothing was counted.
 */
OSC_MUST_USE bool osc_mem_take(size_t size);
void osc_mem_give(size_t size);

/* Bytes that the process holds. */
size_t osc_mem_held(void);

/* Limit the process to BYTES; the initial limit is SIZE_MAX, which is none. */
void osc_mem_set_limit(size_t bytes);

/* Reserve SIZE bytes for later; osc_mem_unreserve() gives them back. */
void osc_mem_reserve(size_t size);
void osc_mem_unreserve(size_t size);

/* Bytes that this thread may still allocate and that are not reserved; at least 0. */
size_t osc_mem_room(void);

/*
 * Replace OSC_ENOMEM by its cause: OSC_ECANCELED, or OSC_ELIMIT if a limit of this thread has
 * refused an allocation. Other ST are returned as they are. For messages to users.
 */
osc_status osc_mem_reason(osc_status st);

/* Forget earlier refusals: they do not explain later failures. */
void osc_mem_forget_refusals(void);

/* Let N more allocations succeed and fail all later ones; -1: never fail. */
void osc_mem_fail_after(long n);
