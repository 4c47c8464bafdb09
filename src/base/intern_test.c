/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* Intern "op1" .. "op1000": ids 1 .. 1000, and the table grows six times. */
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

static void tells_names_apart_that_differ_after_a_nul(void **state)
{
    struct osc_arena arena = {0};
    struct osc_intern in = {.arena = &arena};
    osc_sid a, b;

    (void)state;
    assert_int_equal(osc_intern_add(&in, OSC_STR("x\0a"), &a), OSC_OK);
    assert_int_equal(osc_intern_add(&in, OSC_STR("x\0b"), &b), OSC_OK);
    assert_int_not_equal(a.v, b.v);
    osc_intern_fini(&in);
    osc_arena_fini(&arena);
}

/* Fail the first allocation, then the second, ... until the work gets done. */
static void keeps_its_ids_through_any_failed_allocation(void **state)
{
    osc_status st = OSC_ENOMEM;

    (void)state;
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_arena arena = {0};
        struct osc_intern in = {.arena = &arena};

        osc_mem_fail_after(n);
        st = add_ops(&in);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_int_equal(add_ops(&in), OSC_OK); /* still whole */
        assert_int_equal(in.n_entries, 1000);
        osc_intern_fini(&in);
        osc_arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_names_apart_that_differ_after_a_nul),
        cmocka_unit_test(keeps_its_ids_through_any_failed_allocation),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
