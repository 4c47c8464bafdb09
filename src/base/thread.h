/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - a few threads for a moment.
 *
 * Threading: thread-safe; calls may nest, the inner one then runs on its caller. All of
 * the threads pay for memory from the account of the caller (mem.h).
 */
#pragma once

#include <stdint.h>

/* Processors this process may run on (affinity and cgroup quota), at least 1. */
unsigned osc_cpu_count(void);

/*
 * Call FN(CTX, i) for every i below N, on up to N_THREADS threads (0: as many as
 * there are processors), the calling one included. Returns when all are done.
 * Items are taken in order. If a thread cannot be made, fewer do the work.
 */
void osc_parallel(unsigned n_threads, uint32_t n, void (*fn)(void *ctx, uint32_t i), void *ctx);
