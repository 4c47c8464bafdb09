/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/switches.h"

#include "support/unit.h"

TEST(lists_have_items_between_commas)
{
    const char *list = " io, ,net:2 ,,-debug  ", *item;
    static const char *const items[] = {"io", "net:2", "-debug"};
    size_t len, n = 0;

    while (osc_switch_next(&list, &item, &len)) {
        assert_true(n < 3);
        assert_int_equal(len, strlen(items[n]));
        assert_memory_equal(item, items[n], len);
        n++;
    }
    assert_int_equal(n, 3);
}

TEST(items_have_levels)
{
    static const struct {
        const char *item, *pattern;
        int level;
    } cases[] = {
        {"io", "io", 1},
        {"io:0", "io", 0},
        {"io:127", "io", 127},
        {"-io", "io", 0},
        {"dnnl::run:3", "dnnl::run", 3},
        {"a::b", "a::b", 1},
        {"*", "*", 1},
        {"-*", "*", 0},
        {"io*:2", "io*", 2},
        {"-io:2", "io:2", 0},
    };
    struct osc_switch_level rule;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(osc_switch_read_level(cases[i].item, strlen(cases[i].item), &rule));
        assert_string_equal(rule.pattern.text, cases[i].pattern);
        assert_int_equal(rule.level, cases[i].level);
    }
    assert_false(osc_switch_is_level("", 0));
    assert_false(osc_switch_is_level("-", 1));
    assert_false(osc_switch_is_level(":3", 2));
    assert_false(osc_switch_is_level("io:128", 6));
    assert_false(osc_switch_is_level("io:x", 4));
    assert_false(osc_switch_is_level("io:", 3));
    assert_false(osc_switch_is_level(
        "a name of sixty-four bytes, which is one more than a pattern has", 64));
}

TEST(items_have_numbers_or_rates)
{
    struct osc_switch_sampled rule;

    assert_true(osc_switch_read_sampled("a=b=100", 7, &rule));
    assert_string_equal(rule.pattern.text, "a=b");
    assert_int_equal(rule.n, 100);
    assert_int_equal(rule.per_second, 0);
    assert_true(osc_switch_read_sampled("lex*=5000/s", 11, &rule));
    assert_string_equal(rule.pattern.text, "lex*");
    assert_int_equal(rule.n, 0);
    assert_int_equal(rule.per_second, 5000);

    static const char *const wrong[] = {"",      "a",     "a=",    "=5",
                                        "a=0",   "a=0/s", "a=/s",  "a=65537",
                                        "a=1.5", "a=-1",  "a=5/m", "a=5000000000/s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(osc_switch_is_sampled(wrong[i], strlen(wrong[i])));
}

TEST(patterns_match_names_and_beginnings)
{
    const struct osc_switch_pattern all = {"*"}, io = {"io"}, begin = {"io*"};

    assert_true(osc_switch_is_all(&all));
    assert_false(osc_switch_is_all(&begin));
    assert_true(osc_switch_matches(&all, "", 0));
    assert_true(osc_switch_matches(&io, "io", 2));
    assert_false(osc_switch_matches(&io, "io2", 3));
    assert_false(osc_switch_matches(&io, "i", 1));
    assert_true(osc_switch_matches(&begin, "io", 2));
    assert_true(osc_switch_matches(&begin, "io2", 3));
    assert_false(osc_switch_matches(&begin, "i", 1));
}

UNIT_MAIN("switches")
