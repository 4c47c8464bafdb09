/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(osc_status_text(OSC_OK), "done");
    assert_string_equal(osc_status_text(OSC_ECANCELED), "interrupted");
    assert_string_equal(osc_status_text((osc_status)1000), "unknown status");
}

static void fail_fills_the_error_and_returns_its_code(void **state)
{
    struct osc_err err = {0};

    (void)state;
    assert_int_equal(osc_fail(&err, OSC_EFORMAT, "%s: no trace", "a.json"), OSC_EFORMAT);
    assert_int_equal(err.code, OSC_EFORMAT);
    assert_true(err.offset == OSC_NO_OFFSET);
    assert_string_equal(err.message, "a.json: no trace");
    assert_int_equal(osc_fail_at(&err, OSC_ETRUNC, 77, "cut"), OSC_ETRUNC);
    assert_int_equal(err.offset, 77);
    assert_string_equal(err.message, "cut");
}

static void no_error_struct_is_no_trouble(void **state)
{
    (void)state;
    assert_int_equal(osc_fail(NULL, OSC_EIO, "%d", 1), OSC_EIO);
    assert_int_equal(osc_fail_at(NULL, OSC_EIO, 1, "%d", 1), OSC_EIO);
    osc_err_prefix(NULL, "rank %d", 1);
}

static void prefixes_stack_up_from_the_inside_out(void **state)
{
    struct osc_err err;

    (void)state;
    (void)osc_fail(&err, OSC_EIO, "cannot read");
    osc_err_prefix(&err, "rank %d", 3);
    osc_err_prefix(&err, "dir");
    assert_string_equal(err.message, "dir: rank 3: cannot read");
    assert_int_equal(err.code, OSC_EIO);
}

static void long_messages_are_cut_and_stay_terminated(void **state)
{
    struct osc_err err;
    char text[1000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)osc_fail(&err, OSC_EIO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    osc_err_prefix(&err, "rank 3");
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "rank 3: xxx", 11);
    osc_err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text),
        cmocka_unit_test(fail_fills_the_error_and_returns_its_code),
        cmocka_unit_test(no_error_struct_is_no_trouble),
        cmocka_unit_test(prefixes_stack_up_from_the_inside_out),
        cmocka_unit_test(long_messages_are_cut_and_stay_terminated),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
