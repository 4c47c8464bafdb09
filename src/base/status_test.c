/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include "support/unit.h"

TEST(every_code_has_a_text)
{
    assert_string_equal(osc_status_text(OSC_OK), "done");
    assert_string_equal(osc_status_text(OSC_ECANCELED), "interrupted");
    assert_string_equal(osc_status_text((osc_status)1000), "unknown status");
}

TEST(fail_fills_the_error_and_returns_its_code)
{
    struct osc_err err = {0};

    assert_int_equal(osc_fail(&err, OSC_EFORMAT, "%s: no trace", "a.json"), OSC_EFORMAT);
    assert_int_equal(err.code, OSC_EFORMAT);
    assert_true(err.offset == OSC_NO_OFFSET);
    assert_string_equal(err.message, "a.json: no trace");
    assert_int_equal(osc_fail_at(&err, OSC_ETRUNC, 77, "cut"), OSC_ETRUNC);
    assert_int_equal(err.offset, 77);
    assert_string_equal(err.message, "cut");
}

TEST(no_error_struct_is_no_trouble)
{
    assert_int_equal(osc_fail(NULL, OSC_EIO, "%d", 1), OSC_EIO);
    assert_int_equal(osc_fail_at(NULL, OSC_EIO, 1, "%d", 1), OSC_EIO);
    osc_err_prefix(NULL, "rank %d", 1);
}

TEST(prefixes_stack_up_from_the_inside_out)
{
    struct osc_err err;

    (void)osc_fail(&err, OSC_EIO, "cannot read");
    osc_err_prefix(&err, "rank %d", 3);
    osc_err_prefix(&err, "dir");
    assert_string_equal(err.message, "dir: rank 3: cannot read");
    assert_int_equal(err.code, OSC_EIO);
}

TEST(long_messages_are_cut_and_stay_terminated)
{
    struct osc_err err;
    char text[1000];

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

UNIT_MAIN("status")
