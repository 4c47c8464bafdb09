/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idmap.h"

#include <stdbool.h>

#include "base/hash.h"
#include "base/mem.h"
#include "support/unit.h"

/* Consecutive keys, keys far apart, and special values. */
static uint64_t nth_key(uint32_t i)
{
    return i == 0 ? 0 : i == 1 ? UINT64_MAX : i % 2 ? i : osc_hash_u64(i);
}

static bool put_all(struct osc_idmap *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *const place = osc_idmap_put(m, nth_key(i));
        if (!place)
            return false;
        *place = i + 1;
    }
    return true;
}

TEST(an_empty_map_has_no_key)
{
    struct osc_idmap m = {0};

    assert_int_equal(osc_idmap_get(&m, 0), 0);
    osc_idmap_fini(&m);
}

TEST(finds_every_key_again)
{
    struct osc_idmap m = {0};

    /* Enough for slots that are whole pages. */
    assert_true(put_all(&m, 200000));
    assert_int_equal(m.n_used, 200000);
    for (uint32_t i = 0; i < 200000; i++)
        assert_int_equal(osc_idmap_get(&m, nth_key(i)), i + 1);
    assert_int_equal(osc_idmap_get(&m, 200002), 0);
    osc_idmap_fini(&m);
    assert_int_equal(osc_mem_held(), 0);
}

TEST(a_value_set_back_to_zero_hides_no_other_key)
{
    struct osc_idmap m = {0};

    assert_true(put_all(&m, 1000));
    for (uint32_t i = 0; i < 1000; i += 2)
        *osc_idmap_put(&m, nth_key(i)) = 0;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(osc_idmap_get(&m, nth_key(i)), i % 2 ? i + 1 : 0);
    assert_int_equal(m.n_used, 1000);
    osc_idmap_fini(&m);
}

TEST(stays_whole_through_any_failed_allocation)
{
    bool is_done = false;

    for (long n = 0; !is_done; n++) {
        struct osc_idmap m = {0};

        osc_mem_fail_after(n);
        is_done = put_all(&m, 1000);
        osc_mem_fail_after(-1);
        const uint32_t n_used = m.n_used;
        for (uint32_t i = 0; i < 1000; i++)
            assert_int_equal(osc_idmap_get(&m, nth_key(i)), i < n_used ? i + 1 : 0);
        assert_true(put_all(&m, 1000));
        assert_int_equal(m.n_used, 1000);
        osc_idmap_fini(&m);
    }
}

UNIT_MAIN("idmap")
