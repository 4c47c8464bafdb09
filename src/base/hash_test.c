/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void the_hash_is_xxh3(void **state)
{
    (void)state;
    /* The value that the specification of XXH3 gives for no input. */
    assert_true(osc_hash("", 0, 0) == UINT64_C(0x2d06800538d394c2));
}

static void seed_and_bytes_and_length_change_the_hash(void **state)
{
    char text[300];

    (void)state;
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

static void neighbouring_keys_fall_far_apart(void **state)
{
    unsigned n_in[64] = {0};

    (void)state;
    for (uint64_t i = 0; i < 6400; i++)
        n_in[osc_hash_u64(i) % 64]++;
    for (unsigned i = 0; i < 64; i++)
        assert_in_range(n_in[i], 50, 160);
    assert_true(osc_hash_u64(0) == 0);
}

static void seeds_differ(void **state)
{
    (void)state;
    assert_true(osc_hash_seed() != osc_hash_seed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_xxh3),
        cmocka_unit_test(seed_and_bytes_and_length_change_the_hash),
        cmocka_unit_test(neighbouring_keys_fall_far_apart),
        cmocka_unit_test(seeds_differ),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
