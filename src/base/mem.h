/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - the only way to memory.
 *
 * A thin layer over malloc, so that tests can make the n-th allocation fail, and
 * whole pages for columns: large, zeroed, aligned to 2 MiB where they are that
 * long, and asked to be huge, because a page fault for every 4 KiB costs more
 * than parsing the text that fills it.
 *
 * Threading: thread-safe. osc_mem_fail_after() is for single-threaded tests and
 * counts over all threads.
 */
#ifndef OSC_BASE_MEM_H
#define OSC_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

void *osc_malloc(size_t size) __attribute__((malloc, warn_unused_result));
void *osc_calloc(size_t n, size_t size) __attribute__((malloc, warn_unused_result));
void *osc_realloc(void *p, size_t size) __attribute__((warn_unused_result));
void osc_free(void *p);

/*
 * Make room for at least NEED elements of SIZE bytes in the array *P of *CAP
 * elements, doubling it. On failure the array is as before.
 */
OSC_MUST_USE osc_status osc_grow(void *p_array, size_t *cap, size_t need, size_t size);

/* Zeroed pages of at least SIZE bytes (rounded up to pages), or NULL. */
void *osc_pages_alloc(size_t size) __attribute__((warn_unused_result));
void osc_pages_free(void *p, size_t size);

/* Bytes handed out by osc_pages_alloc and not given back. */
size_t osc_pages_held(void);

/*
 * Count BYTES more, or fewer, as held by what grows with the input but is no pages:
 * arenas, interning tables. osc_mem_held() is the sum of these and of the pages,
 * for limits.
 */
void osc_mem_hold(size_t bytes);
void osc_mem_release(size_t bytes);
size_t osc_mem_held(void);

/* Let N more allocations succeed, then fail one and all after it; -1: never fail. */
void osc_mem_fail_after(long n);

#endif
