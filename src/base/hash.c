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

uint64_t osc_hash_seed(void)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = osc_hash_u64((uint64_t)osc_clock_now_ns());
    return seed;
}
