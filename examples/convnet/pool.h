/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - an allocator that keeps freed blocks, as those of tensor libraries do.
 *
 * Sizes are rounded up to powers of two; a freed block waits for the next allocation
 * of its size. Every allocation and release is recorded with the totals of the pool.
 *
 * Threading: thread-safe.
 */
#ifndef EXAMPLE_POOL_H
#define EXAMPLE_POOL_H

#include <stddef.h>

/* Allocate BYTES, aligned to 64 and not cleared. Ends the program if there is no memory. */
void *pool_alloc(size_t bytes);

/* Free a block from pool_alloc(); P may be NULL. */
void pool_free(void *p);

/* Give all free blocks back to the system. No block may be in use. */
void pool_fini(void);

#endif
