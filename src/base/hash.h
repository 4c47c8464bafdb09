/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - the hash function of all tables.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* XXH3, 64 bits. With a random seed a hostile file cannot choose collisions. */
uint64_t osc_hash(const void *p, size_t len, uint64_t seed);

/* 128 bits that tell contents apart. Zeroed, they are of nothing. */
struct osc_digest {
    uint64_t low, high;
};

/* XXH3, 128 bits, without a seed: the same everywhere. */
struct osc_digest osc_digest_of(const void *p, size_t len);

/* Mix one 64-bit key (the finalizer of MurmurHash3, public domain). */
static inline uint64_t osc_hash_u64(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* A seed, each time another, from a random number of the kernel, or from a time stamp if the
 * kernel has none. */
uint64_t osc_hash_seed(void);
