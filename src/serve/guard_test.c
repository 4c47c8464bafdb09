/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/guard.h"

#include "support/unit.h"

static const char *const names[] = {"proxy.example", "fe80::1"};
static struct osc_guard guard = {.names = names, .n_names = 2, .cookie = "opscope_6006"};

TEST(hosts_are_names_of_this_server)
{
    static const char *const good[] = {"localhost",       "localhost:6006", "127.0.0.1:1",
                                       "127.255.255.255", "[::1]",          "[::1]:80",
                                       "PROXY.example:1", "[FE80::1]:6006"};
    static const char *const bad[] = {"",
                                      "evil.com",
                                      "localhost.evil.com",
                                      "127.0.0.1.evil.com",
                                      "127.0.0",
                                      "127.0.0.0.1",
                                      "127.0.0.",
                                      "127..0.1",
                                      "127.0.0.x",
                                      "127.0.0.1:x",
                                      "127.0.0.0001",
                                      "127.0.0.256",
                                      "[::1",
                                      "[::1]x",
                                      "::1",
                                      "localhost:80:80",
                                      ":6006",
                                      "proxy.example.",
                                      "localhost/",
                                      " localhost"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(osc_guard_knows_host(&guard, good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(osc_guard_knows_host(&guard, bad[i]));
}

TEST(pages_of_other_sites_are_refused)
{
    struct osc_guard_headers h = {.host = "localhost:6006"};

    (void)state;
    assert_null(osc_guard_refusal(&guard, &h, false));
    h.origin = "http://localhost:6006";
    assert_null(osc_guard_refusal(&guard, &h, false));
    h.origin = "http://localhost:6007";
    assert_non_null(osc_guard_refusal(&guard, &h, false));
    h.origin = "null";
    assert_non_null(osc_guard_refusal(&guard, &h, false));
    h.origin = NULL;
    h.fetch_site = "same-origin";
    assert_null(osc_guard_refusal(&guard, &h, false));
    h.fetch_site = "none";
    assert_null(osc_guard_refusal(&guard, &h, false));
    h.fetch_site = "same-site"; /* http://localhost:8888 */
    assert_non_null(osc_guard_refusal(&guard, &h, false));
    assert_non_null(osc_guard_refusal(&guard, &h, true));
    h.fetch_site = "cross-site";
    assert_non_null(osc_guard_refusal(&guard, &h, true));
    h.fetch_mode = "navigate";
    h.fetch_dest = "document";
    assert_null(osc_guard_refusal(&guard, &h, true));
    assert_non_null(osc_guard_refusal(&guard, &h, false));
    h.fetch_dest = "iframe";
    assert_non_null(osc_guard_refusal(&guard, &h, true));
    h = (struct osc_guard_headers){.host = NULL};
    assert_non_null(osc_guard_refusal(&guard, &h, true));
}

TEST(tokens_differ_and_are_compared_whole)
{
    struct osc_guard other = guard;

    (void)state;
    assert_int_equal(osc_guard_make_token(&guard), OSC_OK);
    assert_int_equal(osc_guard_make_token(&other), OSC_OK);
    assert_int_equal(strlen(guard.token), 32);
    assert_string_not_equal(guard.token, other.token);
    assert_true(osc_guard_is_token(&guard, guard.token, 32));
    assert_false(osc_guard_is_token(&guard, guard.token, 31));
    assert_false(osc_guard_is_token(&guard, other.token, 32));
    assert_false(osc_guard_is_token(&guard, "", 0));
}

TEST(cookies_have_the_token_under_the_name)
{
    char text[200];

    (void)state;
    assert_int_equal(osc_guard_make_token(&guard), OSC_OK);
    snprintf(text, sizeof text, "a=1; opscope_6006=%s; b", guard.token);
    assert_true(osc_guard_has_cookie(&guard, text));
    snprintf(text, sizeof text, "opscope_6007=%s; opscope_6006=x;opscope_6006=%s", guard.token,
             guard.token);
    assert_true(osc_guard_has_cookie(&guard, text));
    snprintf(text, sizeof text, "opscope_6007=%s; xopscope_6006=%s", guard.token, guard.token);
    assert_false(osc_guard_has_cookie(&guard, text));
    assert_false(osc_guard_has_cookie(&guard, NULL));
    assert_false(osc_guard_has_cookie(&guard, ";;= ;opscope_6006"));
}

TEST(a_proxy_decides_about_hosts_alone)
{
    struct osc_guard behind = {.is_behind_proxy = true};
    struct osc_guard_headers h = {.host = "tb.example:8080"};

    (void)state;
    assert_non_null(osc_guard_refusal(&guard, &h, false));
    assert_null(osc_guard_refusal(&behind, &h, false));
    h.origin = "https://tb.example:8080";
    assert_null(osc_guard_refusal(&behind, &h, false));
    h.origin = "http://other.example:8080";
    assert_non_null(osc_guard_refusal(&behind, &h, false));
    h.origin = NULL;
    h.fetch_site = "cross-site";
    assert_non_null(osc_guard_refusal(&behind, &h, false));
    h.host = NULL;
    assert_non_null(osc_guard_refusal(&behind, &h, false));
}

/* Assert what is left of the address BEFORE, the token or another one, AFTER. */
static void assert_rest(const char *before, bool is_right, const char *after,
                        const char *expected)
{
    struct osc_strbuf target = {0}, rest = {0};
    bool right;

    osc_strbuf_addf(&target, "%s%s%s", before, is_right ? guard.token : "x", after);
    assert_true(osc_guard_take_token(&guard, target.s, &right, &rest));
    assert_int_equal(right, is_right);
    assert_string_equal(rest.s, expected);
    osc_strbuf_fini(&target);
    osc_strbuf_fini(&rest);
}

TEST(the_token_leaves_the_address)
{
    struct osc_strbuf rest = {0};
    bool right;

    (void)state;
    assert_int_equal(osc_guard_make_token(&guard), OSC_OK);
    assert_rest("/?token=", true, "", "/");
    assert_rest("/p?a=1&token=", true, "&b", "/p?a=1&b");
    assert_rest("/p?token=", true, "&a=1", "/p?a=1");
    assert_rest("/p?token=", false, "&a=1", "/p?a=1");
    assert_false(osc_guard_take_token(&guard, "/p?a=1", &right, &rest));
    assert_false(osc_guard_take_token(&guard, "/p", &right, &rest));
    osc_strbuf_fini(&rest);
}

UNIT_MAIN("guard")
