/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/keymap.h"

#include "base/mem.h"
#include "support/unit.h"

/* Put each of KEYS with a value of its own, and find all of them again. */
static void check(const int64_t *keys, uint32_t n)
{
    struct osc_keyrange range = {0};
    struct osc_keymap m;

    for (uint32_t i = 0; i < n; i++)
        osc_keyrange_add(&range, keys[i]);
    osc_keymap_init(&m, &range);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *const place = osc_keymap_put(&m, keys[i]);

        assert_non_null(place);
        assert_int_equal(*place, 0);
        *place = i + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(osc_keymap_get(&m, keys[i]), i + 1);
    assert_int_equal(osc_keymap_get(&m, keys[0] - 1), 0);
    osc_keymap_fini(&m);
}

TEST(any_keys_are_found_again)
{
    static int64_t dense[5000], far[5000], clusters[5000];

    for (int i = 0; i < 5000; i++) {
        dense[i] = 1000000 + i;
        far[i] = (int64_t)i << 40;
        clusters[i] = 1000000 * (i / 500) + i;
    }
    check(dense, 5000);
    check(far, 5000);
    check(clusters, 5000);
    check((const int64_t[]){INT64_MIN + 1, INT64_MAX, 0, -1}, 4);
}

TEST(few_keys_take_little)
{
    struct osc_keyrange range = {0};
    struct osc_keymap m;
    const size_t before = osc_mem_held();

    osc_keyrange_add(&range, 5);
    osc_keymap_init(&m, &range);
    assert_non_null(osc_keymap_put(&m, 5));
    assert_true(osc_mem_held() - before <= 256);
    osc_keymap_fini(&m);
    assert_int_equal(osc_mem_held(), before);
}

/* Keys that share no page take pages only as long as that is worth it. */
TEST(scattered_keys_do_not_blow_it_up)
{
    static int64_t keys[40000];

    for (int i = 0; i < 40000; i++)
        keys[i] = (int64_t)i * OSC_KEYMAP_PAGE;
    check(keys, 40000);
}

UNIT_MAIN("keymap")
