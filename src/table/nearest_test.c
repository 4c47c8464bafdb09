/* SPDX-License-Identifier: Apache-2.0 */
#include "table/nearest.h"

#include "support/unit.h"

static const char *nearest(const char *word)
{
    static const char *const names[] = {"info",     "quality", "events", "threads",
                                        "averages", "kernels", "steps",  "overview"};
    struct osc_nearest n = {.word = word};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        osc_nearest_try(&n, names[i]);
    return n.best;
}

TEST(counts_a_transposition_as_one_edit)
{
    assert_int_equal(osc_edit_distance("kernels", "kenrels"), 1);
    assert_int_equal(osc_edit_distance("ca", "abc"), 3);
    assert_int_equal(osc_edit_distance("", "abc"), 3);
    assert_int_equal(osc_edit_distance("Steps", "steps"), 0);
    assert_int_equal(osc_edit_distance("saturday", "sunday"), 3);
}

TEST(finds_the_name_that_was_meant)
{
    assert_string_equal(nearest("kernel"), "kernels");
    assert_string_equal(nearest("avreages"), "averages");
    assert_string_equal(nearest("thraeds"), "threads");
    assert_string_equal(nearest("over"), "overview");
    assert_string_equal(nearest("inof"), "info");
    assert_string_equal(nearest("ste"), "steps");
}

TEST(finds_the_name_of_which_a_part_was_meant)
{
    static const char *const names[] = {"calls", "total_ns", "mean_ns", "mean_occupancy_ratio"};
    static const char *const meant[][2] = {
        {"totl", "total_ns"}, {"occupancy", "mean_occupancy_ratio"}, {"meen", "mean_ns"}};

    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        struct osc_nearest n = {.word = meant[i][0]};

        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            osc_nearest_try(&n, names[k]);
        assert_non_null(n.best);
        assert_string_equal(n.best, meant[i][1]);
    }
}

TEST(proposes_nothing_for_a_word_that_is_far_from_all)
{
    assert_null(nearest("trace.json"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(nearest("a word that is longer than any word that a name of a table could "
                        "be taken for"));
}

UNIT_MAIN("nearest")
