/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx_emitted.h"

#include <string.h>

#include "support/record_double.h"
#include "support/unit.h"

static struct osc_nvtx_emitted parse(const char *s)
{
    return osc_nvtx_parse_emitted(s, strlen(s));
}

static void assert_sizes(const struct osc_nvtx_emitted *e, const char *wanted)
{
    assert_int_equal(e->sizes_len, strlen(wanted));
    assert_memory_equal(e->sizes, wanted, e->sizes_len);
}

TEST(an_operator_has_its_name_number_and_shapes)
{
    const struct osc_nvtx_emitted e = parse(
        "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3, 4]], input_op_ids = [(1,0)]");

    assert_int_equal(e.name_len, strlen("aten::mm"));
    assert_true(e.is_operator);
    assert_int_equal(e.sequence, 12);
    assert_sizes(&e, "[[2, 3], [3, 4]]");
}

TEST(all_but_the_name_may_be_missing)
{
    const struct osc_nvtx_emitted id = parse("aten::empty, op_id = 77"),
                                  number = parse("aten::mm, seq = 0");

    assert_int_equal(id.name_len, strlen("aten::empty"));
    assert_int_equal(id.sequence, -1);
    assert_null(id.sizes);
    assert_int_equal(number.name_len, strlen("aten::mm"));
    assert_int_equal(number.sequence, 0);
}

TEST(a_label_with_an_op_id_is_no_operator)
{
    const struct osc_nvtx_emitted e = parse("my label, op_id = 90");

    assert_int_equal(e.name_len, strlen("my label"));
    assert_false(e.is_operator);
}

TEST(names_of_programs_are_left_alone)
{
    static const char *const names[] = {"",
                                        "step",
                                        "step, 3",
                                        ", op_id = 3",
                                        "my step, seq = 3",
                                        "aten::mm",
                                        "aten::mm, seq = x",
                                        "aten::mm, seq = ",
                                        "aten::mm, op_id ="};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(parse(names[i]).name_len, 0);
}

TEST(shapes_that_do_not_end_are_none)
{
    assert_null(parse("aten::mm, op_id = 3, sizes = [[2, 3]").sizes);
    assert_null(parse("aten::mm, op_id = 3, sizes = 7").sizes);
}

TEST(nothing_beyond_the_length_is_read)
{
    static const char name[] = "aten::mm, seq = 12, op_id = 34, sizes = [[2]]";

    assert_int_equal(osc_nvtx_parse_emitted(name, strlen("aten::mm, seq = 1")).sequence, 1);
    assert_int_equal(osc_nvtx_parse_emitted(name, strlen("aten::mm")).name_len, 0);
    assert_null(osc_nvtx_parse_emitted(name, sizeof name - 2).sizes);
}

TEST(numbers_stop_before_they_overflow)
{
    assert_int_equal(parse("aten::mm, seq = 99999999999999999999, op_id = 3").sequence,
                     999999999999999999);
}

UNIT_MAIN("nvtx_emitted")
