/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/random.h>

#include "base/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t osc_hash(const void *p, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, len, seed);
}

struct osc_digest osc_digest_of(const void *p, size_t len)
{
    const XXH128_hash_t hash = XXH3_128bits(p, len);

    return (struct osc_digest){hash.low64, hash.high64};
}

/* A trace has dozens of tables, so the kernel is asked once for each thread. */
static _Thread_local uint64_t last_seed;

uint64_t osc_hash_seed(void)
{
    uint64_t seed = last_seed;

    if (seed == 0 && getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)osc_clock_now_ns();
    last_seed = osc_hash_u64(seed + UINT64_C(0x9e3779b97f4a7c15));
    return last_seed;
}
