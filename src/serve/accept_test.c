/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accept.h"

#include "support/unit.h"

TEST(a_coding_that_is_named_is_taken)
{
    (void)state;
    assert_true(osc_accept_takes("gzip", "gzip"));
    assert_true(osc_accept_takes("br, gzip", "gzip"));
    assert_true(osc_accept_takes("deflate,\tGZIP ;q=0.5 , br", "gzip"));
    assert_true(osc_accept_takes("gzip;q=1.0, br;q=0.001", "br"));
    assert_true(osc_accept_takes("identity;q=0, *;q=0.1", "br"));
}

TEST(a_coding_of_weight_0_or_of_another_name_is_not)
{
    static const char *const others[] = {
        "",       "identity",  "xgzip",           "gzipx",
        "x-gzip", "gzip;q=0",  "gzip; q=0.000",   "*, gzip;q=0",
        "*;q=0",  "br;x=gzip", "gzip ; Q=0 , br", "gzip;q=0;x=1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(osc_accept_takes(others[i], "gzip"));
    assert_false(osc_accept_takes(NULL, "gzip"));
}

UNIT_MAIN("accept")
