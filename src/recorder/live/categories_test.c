/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/categories.h"

#include "opscope/record.h"
#include "recorder/live/names.h"
#include "support/unit.h"

static uint64_t n_full;

static uint32_t find(const char *s)
{
    return osc_categories_find(s, strlen(s), &n_full);
}

static int level_of(uint32_t category)
{
    return osc_levels_[category] + 1;
}

TEST(levels_follow_the_last_rule)
{
    const uint32_t io = find("io"), net = find("net");

    assert_int_not_equal(io, 0);
    assert_int_not_equal(io, net);
    assert_int_equal(find("io"), io);
    assert_int_equal(level_of(io), 1);
    assert_int_equal(osc_categories_enable("io:3,-net"), OSC_OK);
    assert_int_equal(level_of(io), 3);
    assert_int_equal(level_of(net), 0);
    assert_int_equal(osc_categories_enable("-*,net"), OSC_OK);
    assert_int_equal(level_of(io), 0);
    assert_int_equal(level_of(net), 1);
    assert_int_equal(level_of(find("made later")), 0);
    assert_int_equal(osc_categories_enable("n*:2"), OSC_OK);
    assert_int_equal(level_of(net), 2);
    assert_int_equal(level_of(find("new")), 2);
    assert_int_equal(osc_categories_enable("net:5,-,x"), OSC_EINVAL);
    assert_int_equal(level_of(net), 2);
    assert_int_equal(osc_categories_enable("*"), OSC_OK);
    assert_int_equal(level_of(io), 1);
    assert_int_equal(level_of(0), 1);
}

TEST(names_are_those_of_their_category)
{
    const uint32_t io = osc_categories_name(find("io")), net = osc_categories_name(find("net"));
    uint64_t n_too_big = 0;
    size_t len;
    const uint32_t plain = osc_names_add("read", 4, &n_full, &n_too_big),
                   a = osc_names_add_in(io, "read", 4, &n_full),
                   b = osc_names_add_in(net, "read", 4, &n_full);

    assert_true(plain != a && a != b && plain != b);
    assert_int_equal(osc_names_add_in(io, "read", 4, &n_full), a);
    assert_memory_equal(osc_names_text(a, &len), "read", 4);
    assert_int_equal(len, 4);
    assert_memory_equal(osc_names_text(plain, &len), "read", 4);
    assert_int_equal(osc_categories_name(0), 0);
    assert_int_equal(osc_categories_name(OSC_CATEGORIES), 0);
}

TEST(there_is_an_end_of_categories)
{
    char text[16];
    uint32_t last = 0;

    n_full = 0;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(text, sizeof text, "c%d", i);
        last = find(text);
        assert_true(last < OSC_CATEGORIES);
    }
    assert_int_equal(last, 0);
    assert_true(n_full > 0);
    assert_int_not_equal(find("c0"), 0);
    assert_int_equal(osc_categories_enable("-*"), OSC_OK);
    assert_int_equal(level_of(0), 1);
    assert_int_equal(osc_categories_enable("*"), OSC_OK);
}

UNIT_MAIN("categories")
