/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - run a loop on several threads.
 *
 * Threading: thread-safe; a nested call runs on its calling thread. All threads charge the
 * memory account of the caller (mem.h).
 */
#pragma once

#include <stdint.h>

/* Processors that this process may use (by affinity and cgroup quota), at least 1. */
unsigned osc_cpu_count(void);

/*
 * Call FN(CTX, i) for each i below N on up to N_THREADS threads (0: one per processor),
 * including the calling one, and return when all calls are done. Items are started in order.
 * If a thread cannot be created, fewer threads do the work.
 */
void osc_parallel(unsigned n_threads, uint32_t n, void (*fn)(void *ctx, uint32_t i), void *ctx);
