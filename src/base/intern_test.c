/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/mem.h"
#include "support/unit.h"

/* Intern "op1" .. "op1000": ids 1 .. 1000. The table grows six times. */
static osc_status add_ops(struct osc_intern *in)
{
    for (uint32_t i = 1; i <= 1000; i++) {
        char name[16];
        const int len = snprintf(name, sizeof name, "op%u", i);
        osc_sid id;
        const osc_status st = osc_intern_add(in, (struct osc_str){name, (uint32_t)len}, &id);
        if (st != OSC_OK)
            return st;
        assert_int_equal(id.v, i);
        assert_int_equal(osc_intern_str(in, id).len, len);
        assert_memory_equal(osc_intern_str(in, id).s, name, (size_t)len);
    }
    return OSC_OK;
}

TEST(tells_names_apart_that_differ_after_a_nul)
{
    struct osc_arena arena = {0};
    struct osc_intern in = {.arena = &arena};
    osc_sid a, b;

    assert_int_equal(osc_intern_add(&in, OSC_STR("x\0a"), &a), OSC_OK);
    assert_int_equal(osc_intern_add(&in, OSC_STR("x\0b"), &b), OSC_OK);
    assert_int_not_equal(a.v, b.v);
    osc_intern_fini(&in);
    osc_arena_fini(&arena);
}

/* Fail the first allocation, then the second, ... until the work succeeds. */
TEST(keeps_its_ids_through_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_arena arena = {0};
        struct osc_intern in = {.arena = &arena};

        osc_mem_fail_after(n);
        st = add_ops(&in);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_int_equal(add_ops(&in), OSC_OK); /* still consistent */
        assert_int_equal(in.n_entries, 1000);
        osc_intern_fini(&in);
        osc_arena_fini(&arena);
    }
}

UNIT_MAIN("intern")
