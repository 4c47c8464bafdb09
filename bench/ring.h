/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the floor of a recorder: one record of 32 bytes with the processor's counter,
 * in a ring of 1 MiB of the thread's own, and its head published. A begin and an end of
 * that are L-pair, which what we record with is measured by.
 *
 * Threading: each thread has a ring.
 */
#ifndef OSC_BENCH_RING_H
#define OSC_BENCH_RING_H

#include <stdatomic.h>
#include <stdint.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "bench.h"

struct bench_record {
    uint64_t ts;
    uint32_t id, kind;
    uint64_t a, b;
};

#define BENCH_RING_RECORDS ((1u << 20) / sizeof(struct bench_record))

struct bench_ring {
    _Atomic uint64_t head;
    char pad[56];
    struct bench_record *records; /* BENCH_RING_RECORDS of them */
    uint64_t mask;
};

static inline uint64_t bench_ticks(void)
{
#if defined __x86_64__
    return __rdtsc();
#else
    return (uint64_t)(bench_wall_s() * 1e9);
#endif
}

/* A record with the time TS and A behind. */
static inline void bench_put_at(struct bench_ring *ring, uint64_t ts, uint32_t id,
                                uint32_t kind, uint64_t a)
{
    /* Relaxed: only this thread writes it. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    struct bench_record *const r = &ring->records[head & ring->mask];

    r->ts = ts;
    r->id = id;
    r->kind = kind;
    r->a = a;
    r->b = kind;
    /* Release, as if a reader could drain at any time. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

static inline void bench_put(struct bench_ring *ring, uint32_t id, uint32_t kind)
{
    bench_put_at(ring, bench_ticks(), id, kind, id);
}

/* The ring that this thread's records go to; made by bench_ring_open(). */
static _Thread_local struct bench_ring *bench_ring_self
    __attribute__((tls_model("initial-exec")));

static inline void bench_ring_open(void)
{
    static _Thread_local struct bench_ring ring;

    ring.records = calloc(BENCH_RING_RECORDS, sizeof *ring.records);
    ring.mask = BENCH_RING_RECORDS - 1;
    if (!ring.records)
        abort();
    bench_ring_self = &ring;
}

/* L-pair: a begin and an end in the ring, N times. Seconds of the processor. */
static inline double bench_ring_pairs(uint32_t n)
{
    const double start = bench_cpu_s();

    for (uint32_t i = 0; i < n; i++) {
        bench_put(bench_ring_self, 1, 1);
        bench_put(bench_ring_self, 1, 2);
    }
    return bench_cpu_s() - start;
}

#endif
