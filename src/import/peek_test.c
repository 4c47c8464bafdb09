/* SPDX-License-Identifier: Apache-2.0 */
#include "import/peek.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/unit.h"

static char path[] = "/tmp/opscope-peek-XXXXXX.json";

static void assert_begins(const char *text, size_t len, bool is_trace)
{
    memset(path + sizeof "/tmp/opscope-peek-" - 1, 'X', 6);
    const int fd = mkstemps(path, (int)strlen(".json"));

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    close(fd);
    assert_int_equal(osc_import_begins_like_trace(path), is_trace);
    assert_int_equal(unlink(path), 0);
}

static void assert_text(const char *text, bool is_trace)
{
    assert_begins(text, strlen(text), is_trace);
}

TEST(tells_traces_from_other_json)
{
    assert_text("{\"traceEvents\": []}", true);
    assert_text(" \n\t[{\"name\": \"a\", \"ph\": \"X\"}]", true);
    assert_text("\xef\xbb\xbf{\"traceEvents\": [", true);
    assert_text("{\"schemaVersion\": 1, \"deviceProperties\": [", true);
    assert_text("{\"schemaVersion\": 1}", false);
    assert_text("{\"model\": \"resnet\", \"lr\": 0.1}", false);
    assert_text("[1, 2, 3]", false);
}

TEST(leaves_what_is_no_json_to_the_reader)
{
    assert_text("<html>502 Bad Gateway</html>", true);
    assert_text("\"traceEvents\"", true);
    assert_text("  ", true);
    assert_text("", true);
}

#if OSC_WITH_GZIP
TEST(looks_into_compressed_text)
{
    /* {"traceEvents": []} and {"lr": 1}, by gzip -n */
    static const char trace[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\x2a\x29\x4a\x4c"
        "\x4e\x75\x2d\x4b\xcd\x2b\x29\x56\xb2\x52\x88\x8e\xad\x05\x00\xd7"
        "\xde\x51\xaf\x13\x00\x00\x00";
    static const char other[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\xca\x29\x52\xb2"
        "\x52\x30\xac\x05\x00\xa4\x8e\x63\xd1\x09\x00\x00\x00";

    assert_begins(trace, sizeof trace - 1, true);
    assert_begins(other, sizeof other - 1, false);
    assert_begins("\x1f\x8b\x08\x00\x00\x00", 6, true); /* reading it reports why it is none */
}
#endif

TEST(leaves_what_cannot_be_read_to_the_reader)
{
    assert_true(osc_import_begins_like_trace("/nowhere/at/all.json"));
    assert_true(osc_import_begins_like_trace("/tmp"));
}

UNIT_MAIN("peek")
