/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/shapes.h"

#include "analysis/torch/flops.h"
#include "support/unit.h"

TEST(prints_sizes_as_python_does)
{
    static const char *const cases[][2] = {
        {"[[1,3,8,8],[4],[],[]]", "[[1, 3, 8, 8], [4], [], []]"},
        {" [ [ 1 , 3 ] , [[2],[3]] ] ", "[[1, 3], []]"},
        {"[]", "[]"},
        {"", "[]"},
        {"7", "[]"},
        {"[[2, null], true, \"a, b\"]", "[[2, None], True, \"a, b\"]"},
        {"[[1], [2", "[]"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_strbuf text = {0};

        osc_shapes_text(osc_str_c(cases[i][0]), &text);
        assert_string_equal(text.s, cases[i][1]);
        osc_strbuf_fini(&text);
    }
}

TEST(reads_one_element_of_a_list)
{
    const struct osc_str list = OSC_STR("[[2, 3], \"[1, -1]\", \"5\", \"\", \"a, [b]\", [x]]");
    struct osc_shape s;

    assert_true(osc_shapes_element(list, 0, &s));
    assert_int_equal(s.n_dims, 2);
    assert_int_equal(s.dims[1], 3);
    assert_true(osc_shapes_element(list, 1, &s));
    assert_int_equal(s.dims[1], -1);
    assert_true(osc_shapes_element(list, 2, &s));
    assert_int_equal(s.n_dims, 1);
    assert_int_equal(s.dims[0], 5);
    for (uint32_t i = 3; i < 8; i++)
        assert_false(osc_shapes_element(list, i, &s));
}

TEST(estimates_seven_operators)
{
    static const struct {
        const char *name, *dims, *inputs;
        uint64_t flops;
    } cases[] = {
        {"aten::mm", "[[4, 8], [8, 16]]", "", 1024},
        {"aten::addmm", "[[16], [4, 8], [8, 16]]", "", 1024},
        {"aten::addmm", "[[16], [4, 0], [0, 16]]", "", 0},
        {"aten::bmm", "[[3, 4, 8], [3, 8, 16]]", "", 3072},
        {"aten::baddbmm", "[[1], [3, 4, 8], [3, 8, 16]]", "", 3072},
        {"aten::mul", "[[3, 4], [4]]", "", 12},
        {"aten::add", "[[], [4]]", "", 0},
        {"aten::add", "[[], [4]]", "[\"Scalar\", \"float\"]", 0},
        {"aten::add", "[[], [4]]", "[\"\", \"float\"]", 0}, /* nested */
        {"aten::mul", "[[], [4]]", "[\"float\", \"float\"]", 1},
        {"aten::add_", "[[3], [4]]", "", 0},
        {"aten::mm", "[[4, 8]]", "", 0},
        {"aten::conv2d", "[[2,3,8,8],[4,3,3,3],[],[],[],[],[]]",
         "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"1\"]", 15552},
        {"aten::conv2d", "[[2,3,8,8],[4,3,3,3],[],[],[],[],[]]",
         "[\"\",\"\",\"\",\"[1, 1]\",\"same\",\"[1, 1]\",\"1\"]", 0},
        {"aten::conv2d", "[[2,3,8,8],[4,3,3,3],[],[],[],[],[]]",
         "[\"\",\"\",\"\",\"[0, 0]\",\"[0, 0]\",\"[1, 1]\",\"0\"]", 0},
        {"aten::conv2d", "[[2,3,8,8],[4,3,9223372036854775807,3],[],[],[],[],[]]",
         "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[9223372036854775807, 1]\",\"1\"]", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(osc_flops(osc_flops_rule(osc_str_c(cases[i].name)),
                                   osc_str_c(cases[i].dims), osc_str_c(cases[i].inputs)),
                         cases[i].flops);
}

UNIT_MAIN("shapes")
