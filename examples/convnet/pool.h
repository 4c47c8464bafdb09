/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - an allocator that keeps what is freed, as those of tensor libraries do.
 *
 * Sizes are rounded up to powers of two; a freed block waits for the next allocation
 * of its size. Every allocation and release is recorded with the totals of the pool.
 *
 * Threading: thread-safe.
 */
#ifndef EXAMPLE_POOL_H
#define EXAMPLE_POOL_H

#include <stddef.h>

/* BYTES at a multiple of 64, not cleared. Ends the program if there are none. */
void *pool_alloc(size_t bytes);

/* Give back what pool_alloc() returned; NULL is fine. */
void pool_free(void *p);

/* Free all that waits. Nothing may be in use any more. */
void pool_fini(void);

#endif
