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
 * Why so: docs/decisions/memory.md.
 *
 * Threading: thread-safe. osc_mem_fail_after() is for single-threaded tests and
 * counts over all threads.
 */
#ifndef OSC_BASE_MEM_H
#define OSC_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

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

/* Bytes held, and the most that ever were since the last osc_mem_forget_peak(). */
size_t osc_mem_held(void);
size_t osc_mem_peak(void);
void osc_mem_forget_peak(void);

/* Let no more than BYTES be held; at first there is no limit, which is SIZE_MAX. */
void osc_mem_set_limit(size_t bytes);
size_t osc_mem_limit(void);

/* Set SIZE bytes aside for what comes later, and take back what was set aside. */
void osc_mem_reserve(size_t size);
void osc_mem_unreserve(size_t size);

/* Bytes that are neither held nor reserved; 0 once there are none. */
size_t osc_mem_room(void);

/*
 * ST, or OSC_ELIMIT instead of OSC_ENOMEM if the limit has refused something since it
 * was set. For whoever tells users.
 */
osc_status osc_mem_reason(osc_status st);

/* Let N more allocations succeed, then fail one and all after it; -1: never fail. */
void osc_mem_fail_after(long n);

#endif
