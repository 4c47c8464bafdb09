/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include "support/unit.h"

TEST(times_are_whole_nanoseconds)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"0", 0},
                {"250", 250},
                {"250ns", 250},
                {"10us", 10000},
                {"0.001us", 1},
                {"1.5ms", 1500000},
                {"2s", 2000000000},
                {"1.000000001s", 1000000001},
                {"9223372036854775807", INT64_MAX},
                {"43458933000ns", INT64_C(43458933000)},
                {"9223372036854775807ns", INT64_MAX},
                {"9000000000.5us", INT64_C(9000000000500)},
                {"900000000s", INT64_C(900000000000000000)}};
    static const char *const bad[] = {"",
                                      "s",
                                      "1.s",
                                      ".5s",
                                      "1.0005us",
                                      "-1",
                                      "1 s",
                                      "1e3",
                                      "0x10",
                                      "1.0000000001s",
                                      "1.5",
                                      "1sec",
                                      "0.5ns",
                                      "1us ",
                                      "9223372036854775808",
                                      "+1us",
                                      "1,5ms",
                                      "99999999999s",
                                      "9223372036854775808ns",
                                      "9223372036854775.808us"};
    int64_t ns;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(osc_parse_time(good[i].text, &ns));
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(osc_parse_time(bad[i], &ns));
}

TEST(sizes_are_bytes_or_have_a_unit)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"1", 1},
                {"67108864", 67108864},
                {"1k", 1024},
                {"512M", UINT64_C(512) << 20},
                {"1.5GiB", UINT64_C(3) << 29},
                {"8gb", UINT64_C(8) << 30},
                {"2T", UINT64_C(2) << 40}};
    static const char *const bad[] = {"",   "0",   "8 G", "8X",  "G",         "8GiBs",
                                      "-1", "8iB", "1.G", "8G ", "99999999T", "0.0001K",
                                      "8B", "8 B", "1e9", "∞"};
    uint64_t bytes;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(osc_parse_size(good[i].text, &bytes));
        assert_true(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(osc_parse_size(bad[i], &bytes));
}

UNIT_MAIN("parse")
