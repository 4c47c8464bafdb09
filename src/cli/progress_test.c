/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include "base/utf8.h"
#include "cli/cli.h"
#include "support/said.h"
#include "support/unit.h"

/* The line about PATH on a terminal of WIDTH columns, one second in. */
static const char *line(const char *path, unsigned width, uint64_t done, uint64_t total)
{
    static char text[512];
    const struct osc_progress p = {.verb = "reading", .path = path, .width = width};
    struct osc_strbuf out = {0};

    osc_progress_write(&out, &p, done, total, INT64_C(1000000000));
    assert_int_equal(out.status, OSC_OK);
    snprintf(text, sizeof text, "%s", out.s);
    osc_strbuf_fini(&out);
    return text;
}

TEST(says_how_far_how_fast_and_how_long)
{
    assert_string_equal(line("a.json", 80, 1 << 20, 4 << 20),
                        "reading a.json: 1.00 MB of 4.00 MB, 1.00 MB/s, 3 s left");
    assert_string_equal(line("-", 80, 1 << 20, 0),
                        "reading standard input: 1.00 MB, 1.00 MB/s");
    assert_string_equal(line("a.json", 80, 0, 5), "reading a.json: 0 B of 5 B, 0 B/s");
}

TEST(stays_within_one_line)
{
    const char *const path = "runs/grün/2024-01-01/a-rather-long-name.pt.trace.json";

    assert_string_equal(line(path, 60, 1 << 20, 0),
                        "reading …rather-long-name.pt.trace.json: 1.00 MB, 1.00 MB/s");
    for (unsigned width = OSC_CLI_WIDTH_LEAST; width < 120; width++) {
        const struct osc_str text = osc_str_c(line(path, width, 1 << 20, 4 << 20));

        assert_true(osc_utf8_valid(text.s, text.len));
        assert_true(osc_utf8_width(text) < width);
    }
}

TEST(does_not_let_a_name_steer_the_terminal)
{
    assert_string_equal(line("a\x1b[2J\n", 80, 1, 0), "reading a\\x1b[2J\\x0a: 1 B, 1 B/s");
}

TEST(is_silent_where_there_is_no_terminal)
{
    struct osc_progress p;

    said_begin(); /* into a file */
    osc_progress_start(&p, "reading", "a.json");
    p.start_ns -= INT64_C(10000000000);
    const bool goes_on = osc_progress_tick(&p, 1, 2);
    osc_progress_stop(&p);
    assert_string_equal(said_end(), "");
    assert_true(goes_on);
}

UNIT_MAIN("progress")
