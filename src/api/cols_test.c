/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cols.h"

#include <unistd.h>

#include "codec/json.h"
#include "support/unit.h"

/* The second event lasts longer than a double can say. */
static const char text[] =
    "{\"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"one\",\"pid\":1,\"tid\":1,\"ts\":1,"
    "\"dur\":9},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"two\",\"pid\":1,\"tid\":1,\"ts\":10,"
    "\"dur\":9007199254740.993},"
    "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"x\",\"name\":\"one\",\"pid\":1,\"tid\":1,\"ts\":2}]}";

static char path[] = "/tmp/opscope-cols-XXXXXX";
static struct osc_frame *frame;
static struct osc_strbuf out;

/* Make the frame of the events of JSON. */
static int ask(const char *json)
{
    static const struct osc_question q = {.table = "events", .columns = "id,name,dur_ns,kind"};
    const char *const paths = path;
    const ssize_t len = (ssize_t)strlen(json);
    struct osc_set *set = NULL;

    memcpy(strrchr(path, '-') + 1, "XXXXXX", sizeof "XXXXXX");
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, json, (size_t)len) != len || close(fd) != 0 ||
        osc_set_open(&set, &paths, 1, NULL, NULL) != OSC_OK)
        return -1;
    const osc_status st = osc_ask(set, NULL, &q, &frame, NULL);
    osc_set_release(set);
    return st == OSC_OK ? 0 : -1;
}

static int set_up(void **state)
{
    (void)state;
    return ask(text);
}

static int set_up_functions(void **state)
{
    (void)state;
    return ask(
        "{\"traceEvents\": ["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void a::f<1, a::g<2> >(int)\",\"pid\":0,"
        "\"tid\":7,\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void a::f<1, a::h<2> >(int)\",\"pid\":0,"
        "\"tid\":7,\"ts\":3,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"plain\",\"pid\":0,"
        "\"tid\":7,\"ts\":5,\"dur\":1}]}");
}

static int tear_down(void **state)
{
    (void)state;
    osc_frame_release(frame);
    osc_strbuf_fini(&out);
    return unlink(path);
}

static void write_cols(uint64_t offset, uint64_t limit, bool has_numbers)
{
    const struct osc_cols cols = {
        .frame = frame, .offset = offset, .limit = limit, .has_numbers = has_numbers};

    osc_strbuf_clear(&out);
    assert_int_equal(osc_cols_write(&out, &cols), OSC_OK);
    assert_memory_equal(out.s, "osccols1", 8);
}

static uint32_t u32_at(size_t at)
{
    uint32_t v;

    assert_true(at + sizeof v <= out.len);
    memcpy(&v, out.s + at, sizeof v);
    return v;
}

static struct osc_str head(void)
{
    return (struct osc_str){out.s + 16, u32_at(8)};
}

/* The value of the member NAME of OBJECT. */
static struct osc_str member(struct osc_str object, const char *name)
{
    struct osc_str value = {0};

    assert_true(osc_json_member(object, name, &value));
    return value;
}

static size_t number(struct osc_str object, const char *name)
{
    int64_t v;

    assert_true(osc_json_int(member(object, name), &v));
    return (size_t)v;
}

/* Column I of the head. */
static struct osc_str column(size_t i)
{
    struct osc_str rest = member(head(), "columns"), value;

    do {
        assert_true(osc_json_next(&rest, &value));
    } while (i-- > 0);
    return value;
}

/* The text of row ROW of column I. */
static struct osc_str text_at(size_t i, size_t row)
{
    const size_t data = u32_at(12);
    const struct osc_str words = member(head(), "words");
    const uint32_t index = u32_at(data + number(column(i), "at") + 4 * row);
    const size_t offsets = data + number(words, "offsets") + (size_t)4 * index;

    assert_true(index < number(words, "n"));
    return (struct osc_str){out.s + data + number(words, "bytes") + u32_at(offsets),
                            u32_at(offsets + 4) - u32_at(offsets)};
}

static void assert_text(size_t i, size_t row, const char *expected)
{
    assert_true(osc_str_eq(text_at(i, row), osc_str_c(expected)));
}

TEST_WITH(arrays_begin_at_multiples_of_eight, set_up, tear_down)
{
    (void)state;
    for (uint64_t limit = 0; limit < 4; limit++) {
        write_cols(0, limit, false);
        assert_true(osc_json_check(head(), NULL));
        assert_int_equal(u32_at(12) % 8, 0);
        assert_int_equal(number(head(), "n"), limit);
        assert_int_equal(number(head(), "rows"), 3);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(number(column(i), "at") % 8, 0);
    }
}

TEST_WITH(words_are_shared_and_missing_values_are_marked, set_up, tear_down)
{
    (void)state;
    write_cols(0, 3, false);
    assert_text(1, 0, "one");
    assert_text(1, 1, "two");
    assert_text(1, 2, "one");
    assert_int_equal(number(member(head(), "words"), "n"), 5); /* "", 2 names, 2 kinds */
    const size_t missing = u32_at(12) + number(column(2), "missing");
    assert_memory_equal(out.s + missing, "\0\0\1", 3);
    assert_true(osc_str_eq(member(column(0), "missing"), OSC_STR("null")));
}

TEST_WITH(integers_are_doubles_only_if_they_are_exact, set_up, tear_down)
{
    int64_t big;

    (void)state;
    write_cols(0, 3, true);
    assert_true(osc_str_eq(member(column(0), "array"), OSC_STR("\"Float64Array\"")));
    assert_true(osc_str_eq(member(column(2), "array"), OSC_STR("\"BigInt64Array\"")));
    memcpy(&big, out.s + u32_at(12) + number(column(2), "at") + 8, sizeof big);
    assert_int_equal(big, INT64_C(9007199254740993));
    write_cols(0, 1, true); /* here all are */
    assert_true(osc_str_eq(member(column(2), "array"), OSC_STR("\"Float64Array\"")));
    write_cols(0, 3, false);
    assert_true(osc_str_eq(member(column(0), "array"), OSC_STR("\"BigInt64Array\"")));
}

TEST_WITH(windows_end_with_the_rows, set_up, tear_down)
{
    (void)state;
    write_cols(2, 10, false);
    assert_int_equal(number(head(), "n"), 1);
    assert_text(1, 0, "one");
    write_cols(UINT64_MAX, UINT64_MAX, false);
    assert_int_equal(number(head(), "n"), 0);
    assert_int_equal(number(head(), "offset"), 3);
}

/* They are told from all others of the column, also from those that are not in the window. */
TEST_WITH(names_of_functions_have_labels, set_up_functions, tear_down)
{
    static const char *const labels[] = {
        "{\"void a::f<1, a::g<2> >(int)\": \"a::f<..., a::g<...>>\"}",
        "{\"void a::f<1, a::h<2> >(int)\": \"a::f<..., a::h<...>>\"}"};

    (void)state;
    for (size_t row = 0; row < 2; row++) {
        write_cols(row, 1, false);
        assert_true(osc_json_check(head(), NULL));
        assert_true(osc_str_eq(member(column(1), "labels"), osc_str_c(labels[row])));
    }
    write_cols(2, 1, false);
    struct osc_str none;
    assert_false(osc_json_member(column(1), "labels", &none));
}

UNIT_MAIN("cols")
