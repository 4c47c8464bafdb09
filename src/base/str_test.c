/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "support/unit.h"

static const struct osc_str none = {0};

TEST(a_nul_is_a_byte_like_any_other)
{
    assert_int_equal(OSC_STR("a\0b").len, 3);
    assert_false(osc_str_eq(OSC_STR("a\0b"), OSC_STR("a\0c")));
    assert_true(osc_str_eq(OSC_STR("a\0b"), OSC_STR("a\0b")));
    assert_true(osc_str_has(OSC_STR("a\0b"), OSC_STR("\0b")));
    assert_true(osc_str_ends(OSC_STR("a\0b"), OSC_STR("\0b")));
}

TEST(zeroed_memory_is_the_empty_string)
{
    assert_true(osc_str_eq(none, OSC_STR("")));
    assert_int_equal(osc_str_cmp(none, OSC_STR("")), 0);
    assert_true(osc_str_cmp(none, OSC_STR("a")) < 0);
    assert_true(osc_str_has(none, none));
}

TEST(finds_its_start_end_and_middle)
{
    const struct osc_str s = OSC_STR("aten::add_");

    assert_true(osc_str_starts(s, OSC_STR("aten::")));
    assert_true(osc_str_starts(s, OSC_STR("")));
    assert_false(osc_str_starts(OSC_STR("aten"), OSC_STR("aten::")));
    assert_true(osc_str_ends(s, OSC_STR("_")));
    assert_false(osc_str_ends(OSC_STR("_"), OSC_STR("add_")));
    assert_true(osc_str_has(s, OSC_STR("::")));
    assert_false(osc_str_has(s, OSC_STR("mul")));
}

TEST(tells_numbers)
{
    assert_true(osc_str_is_number(OSC_STR("251")));
    assert_true(osc_str_is_number(OSC_STR("-1")));
    assert_false(osc_str_is_number(OSC_STR("")));
    assert_false(osc_str_is_number(OSC_STR("-")));
    assert_false(osc_str_is_number(OSC_STR("1a")));
    assert_false(osc_str_is_number(OSC_STR("+1")));
}

TEST(orders_by_bytes_and_the_shorter_first)
{
    assert_true(osc_str_cmp(OSC_STR("a"), OSC_STR("b")) < 0);
    assert_true(osc_str_cmp(OSC_STR("b"), OSC_STR("a")) > 0);
    assert_true(osc_str_cmp(OSC_STR("a"), OSC_STR("aa")) < 0);
    assert_true(osc_str_cmp(OSC_STR("\xff"), OSC_STR("a")) > 0);
    assert_int_equal(osc_str_cmp(osc_str_c("same"), OSC_STR("same")), 0);
}

UNIT_MAIN("str")
