/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "support/unit.h"

TEST(the_hash_is_xxh3)
{
    /* The value that the XXH3 specification gives for empty input. */
    assert_true(osc_hash("", 0, 0) == UINT64_C(0x2d06800538d394c2));
}

TEST(seed_and_bytes_and_length_change_the_hash)
{
    char text[300];

    memset(text, 'x', sizeof text);
    for (size_t len = 1; len <= sizeof text; len++) {
        const uint64_t h = osc_hash(text, len, 1);

        assert_true(h == osc_hash(text, len, 1));
        assert_true(h != osc_hash(text, len, 2));
        assert_true(h != osc_hash(text, len - 1, 1));
        text[len / 2] = 'y';
        assert_true(h != osc_hash(text, len, 1));
        text[len / 2] = 'x';
    }
}

TEST(neighbouring_keys_fall_far_apart)
{
    unsigned n_in[64] = {0};

    for (uint64_t i = 0; i < 6400; i++)
        n_in[osc_hash_u64(i) % 64]++;
    for (unsigned i = 0; i < 64; i++)
        assert_in_range(n_in[i], 50, 160);
    assert_true(osc_hash_u64(0) == 0);
}

TEST(seeds_differ)
{
    assert_true(osc_hash_seed() != osc_hash_seed());
}

UNIT_MAIN("hash")
