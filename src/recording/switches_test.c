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
    struct osc_switch_rule rule;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(osc_switch_levels.read(cases[i].item, strlen(cases[i].item), &rule));
        assert_string_equal(rule.pattern, cases[i].pattern);
        assert_int_equal(rule.value, cases[i].level);
    }
    assert_false(osc_switch_levels.read("", 0, &rule));
    assert_false(osc_switch_levels.read("-", 1, &rule));
    assert_false(osc_switch_levels.read(":3", 2, &rule));
    assert_false(osc_switch_levels.read("io:128", 6, &rule));
    assert_false(osc_switch_levels.read("io:x", 4, &rule));
    assert_false(osc_switch_levels.read("io:", 3, &rule));
    assert_false(osc_switch_levels.read(
        "a name of sixty-four bytes, which is one more than a pattern has", 64, &rule));
}

TEST(items_have_numbers_or_rates)
{
    struct osc_switch_rule rule;

    assert_true(osc_switch_samples.read("a=b=100", 7, &rule));
    assert_string_equal(rule.pattern, "a=b");
    assert_int_equal(rule.value, 100);
    assert_int_equal(rule.per_second, 0);
    assert_true(osc_switch_samples.read("lex*=5000/s", 11, &rule));
    assert_string_equal(rule.pattern, "lex*");
    assert_int_equal(rule.value, 0);
    assert_int_equal(rule.per_second, 5000);

    static const char *const wrong[] = {"",      "a",     "a=",    "=5",
                                        "a=0",   "a=0/s", "a=/s",  "a=65537",
                                        "a=1.5", "a=-1",  "a=5/m", "a=5000000000/s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(osc_switch_samples.read(wrong[i], strlen(wrong[i]), &rule));
}

/* The value for NAME by RULES; -1: there is none. */
static int value_of(const struct osc_switch_rules *rules, const char *name)
{
    const struct osc_switch_rule *const rule = osc_switch_rules_find(rules, name, strlen(name));

    return rule ? (int)rule->value : -1;
}

TEST(the_last_rule_that_matches_holds)
{
    static const struct osc_switch_rules none;
    struct osc_switch_rules rules, next;

    assert_int_equal(osc_switch_rules_add(&none, &osc_switch_levels, "io:3,i*:2", &rules),
                     OSC_OK);
    assert_int_equal(value_of(&rules, "io"), 2);
    assert_int_equal(value_of(&rules, "i"), 2);
    assert_int_equal(value_of(&rules, "io2"), 2);
    assert_int_equal(value_of(&rules, ""), -1);
    assert_int_equal(value_of(&rules, "net"), -1);
    assert_int_equal(osc_switch_rules_add(&rules, &osc_switch_levels, "io:5", &next), OSC_OK);
    assert_int_equal(next.n, 2);
    assert_int_equal(value_of(&next, "io"), 5);
    assert_int_equal(value_of(&next, "io2"), 2);
    assert_int_equal(osc_switch_rules_add(&next, &osc_switch_levels, "-*,net", &rules), OSC_OK);
    assert_int_equal(rules.n, 2);
    assert_int_equal(value_of(&rules, ""), 0);
    assert_int_equal(value_of(&rules, "net"), 1);
    assert_int_equal(value_of(&rules, "nets"), 0);
    assert_int_equal(osc_switch_rules_add(&rules, &osc_switch_levels, "io,-", &next),
                     OSC_EINVAL);
}

UNIT_MAIN("switches")
