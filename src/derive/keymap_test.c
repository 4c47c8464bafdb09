/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/keymap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

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

static void any_keys_are_found_again(void **state)
{
    static int64_t dense[5000], far[5000], clusters[5000];

    (void)state;
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

static void few_keys_take_little(void **state)
{
    struct osc_keyrange range = {0};
    struct osc_keymap m;
    const size_t before = osc_mem_held();

    (void)state;
    osc_keyrange_add(&range, 5);
    osc_keymap_init(&m, &range);
    assert_non_null(osc_keymap_put(&m, 5));
    assert_true(osc_mem_held() - before <= 256);
    osc_keymap_fini(&m);
    assert_int_equal(osc_mem_held(), before);
}

/* Keys that share no page take pages only as long as that is worth it. */
static void scattered_keys_do_not_blow_it_up(void **state)
{
    static int64_t keys[40000];

    (void)state;
    for (int i = 0; i < 40000; i++)
        keys[i] = (int64_t)i * OSC_KEYMAP_PAGE;
    check(keys, 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_keys_are_found_again),
        cmocka_unit_test(few_keys_take_little),
        cmocka_unit_test(scattered_keys_do_not_blow_it_up),
    };
    return cmocka_run_group_tests_name("keymap", tests, NULL, NULL);
}
