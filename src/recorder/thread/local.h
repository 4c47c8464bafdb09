/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.h - operations that are atomic with respect to the thread's own signal handlers.
 *
 * Memory that only one thread uses needs no bus lock, which is most of the cost of an atomic
 * instruction. But a handler of that thread may run between any two instructions, so reading,
 * testing and writing must be one instruction.
 *
 * Threading: *AT belongs to the calling thread and its signal handlers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Set *AT to NEXT if it equals *OLD. *OLD receives the former value of *AT in any case; a
 * caller that continues with *OLD saves a copy. */
static inline bool osc_local_swap(uintptr_t *at, uintptr_t *old, uintptr_t next)
{
#if defined __x86_64__
    bool is_done;

    __asm__ volatile("cmpxchgq %3, %0"
                     : "+m"(*at), "=@ccz"(is_done), "+a"(*old)
                     : "r"(next)
                     : "memory");
    return is_done;
#else
    /* relaxed: there is no partner on another thread. */
    return __atomic_compare_exchange_n(at, old, next, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

/* Add N to *AT, which other threads may read at any time. */
static inline void osc_local_add(uint64_t *at, uint64_t n)
{
#if defined __x86_64__
    __asm__ volatile("addq %1, %0" : "+m"(*at) : "er"(n) : "memory", "cc");
#else
    /* relaxed: an independent number. */
    __atomic_add_fetch(at, n, __ATOMIC_RELAXED);
#endif
}
