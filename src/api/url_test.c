/* SPDX-License-Identifier: Apache-2.0 */
#include "api/url.h"

#include "support/unit.h"

static struct osc_url url;
static struct osc_err err;

static osc_status read_target(const char *target)
{
    osc_url_fini(&url);
    return osc_url_read(&url, target, &err);
}

static int tear_down(void **state)
{
    (void)state;
    osc_url_fini(&url);
    return 0;
}

TEST_WITH(path_and_query_are_decoded, NULL, tear_down)
{
    (void)state;
    assert_int_equal(read_target("/a%2Fb+c?x=1%263&y&z=&a+b=c%2Bd+e&x=2"), OSC_OK);
    assert_string_equal(url.path, "/a/b+c");
    assert_int_equal(url.n_pairs, 5);
    assert_string_equal(url.pairs[0].value, "1&3");
    assert_null(url.pairs[1].value);
    assert_string_equal(url.pairs[2].value, "");
    assert_string_equal(url.pairs[3].name, "a b");
    assert_string_equal(url.pairs[3].value, "c+d e");
    assert_string_equal(osc_url_get(&url, "x"), "2");
    assert_string_equal(osc_url_get(&url, "y"), "");
    assert_null(osc_url_get(&url, "w"));
}

TEST_WITH(empty_pairs_and_fragments_are_nothing, NULL, tear_down)
{
    (void)state;
    assert_int_equal(read_target("/p?&&a=1&#b=2"), OSC_OK);
    assert_int_equal(url.n_pairs, 1);
    assert_int_equal(read_target("/"), OSC_OK);
    assert_int_equal(url.n_pairs, 0);
    assert_string_equal(url.path, "/");
    assert_int_equal(read_target("/?=v"), OSC_OK);
    assert_string_equal(url.pairs[0].name, "");
}

TEST_WITH(what_is_malformed_is_refused, NULL, tear_down)
{
    static const char *const wrong[] = {"",     "a",       "?a=1",  "/%",   "/%4",
                                        "/%g0", "/a?b=%0", "/a?%%", "/%00", "/a?b=c%00d"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_target(wrong[i]), OSC_EINVAL);
}

TEST_WITH(pairs_are_limited, NULL, tear_down)
{
    char target[4 * OSC_URL_PAIRS_MAX] = "/";

    (void)state;
    for (size_t i = 0; i < OSC_URL_PAIRS_MAX; i++)
        memcpy(target + 1 + 2 * i, i == 0 ? "?a" : "&a", 3);
    assert_int_equal(read_target(target), OSC_OK);
    assert_int_equal(url.n_pairs, OSC_URL_PAIRS_MAX);
    memcpy(target + 1 + (size_t)2 * OSC_URL_PAIRS_MAX, "&a", 3);
    assert_int_equal(read_target(target), OSC_EINVAL);
}

UNIT_MAIN("url")
