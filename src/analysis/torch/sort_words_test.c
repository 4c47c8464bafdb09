/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shared_options.h"
#include "support/unit.h"
#include "table/row_sort.h"

enum { NAME, CALLS, TOTAL };

static const struct osc_column columns[] = {
    [NAME] = {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = ""},
    [CALLS] = {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = ""},
    [TOTAL] = {"total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = ""},
};
static const struct osc_table_def def = {
    .name = "t", .columns = columns, .n_columns = 3, .sort_words = &osc_torch_words};
static const struct osc_table_def of_devices = {.name = "t",
                                                .columns = columns,
                                                .n_columns = 3,
                                                .sort_words = &osc_torch_words_of_device_work};

/* Check which column and divisor TEXT means in T; -1: none. */
static void expect(const struct osc_table_def *t, const char *text, int column, int divisor)
{
    struct osc_sort_key key = {0};

    assert_int_equal(osc_sort_parse(t, text, &key, NULL), column < 0 ? OSC_EINVAL : OSC_OK);
    if (column < 0)
        return;
    assert_int_equal(key.column, column);
    assert_int_equal(key.divisor, divisor);
}

TEST(knows_the_keys_of_torch)
{
    expect(&def, "cpu_time_total", TOTAL, -1);
    expect(&def, "cpu_time", TOTAL, CALLS);
    expect(&def, "count", CALLS, -1);
    expect(&def, "key", NAME, -1);
    expect(&def, "cuda_time_total", -1, -1);
}

TEST(takes_time_of_devices_where_all_is_theirs)
{
    expect(&of_devices, "self_cuda_time_total", TOTAL, -1);
    expect(&of_devices, "xpu_time", TOTAL, CALLS);
    expect(&of_devices, "cpu_time_total", -1, -1);
}

TEST(takes_any_word_for_a_device)
{
    static const struct osc_column device[] = {
        {"device_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = ""}};
    static const struct osc_table_def t = {
        .name = "t", .columns = device, .n_columns = 1, .sort_words = &osc_torch_words};
    static const char *const keys[] = {"device_time_total", "cuda_time_total",
                                       "privateuse1_time_total", "npu_time_total",
                                       "tiny_time_total"};
    struct osc_sort_key key;
    struct osc_err err = {0};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(osc_sort_parse(&t, keys[i], &key, NULL), OSC_OK);
    assert_int_equal(osc_sort_parse(&t, "cup_time_total", &key, &err), OSC_EINVAL);
    assert_int_equal(osc_sort_parse(&t, "_time_total", &key, &err), OSC_EINVAL);
}

TEST(says_which_device_a_key_names)
{
    static const char *const any[] = {"self_cuda_time_total",
                                      "xpu_time",
                                      "-npu_memory_usage",
                                      "privateuse1_time_total",
                                      "device_time_total:asc",
                                      "cpu_time_total",
                                      "count",
                                      "cpu_ns",
                                      ""};
    static const char *const tiny[] = {"self_tiny_time_total", "-tiny_time",
                                       "tiny_time_total:asc", "self_tiny_memory_usage:desc"};
    struct osc_err err = {0};

    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        assert_int_equal(osc_sort_device(&def, any[i]).len, 0);
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++)
        assert_true(osc_str_eq(osc_sort_device(&def, tiny[i]), OSC_STR("tiny")));
    assert_int_equal(osc_sort_fail_device(&def, tiny[1], osc_sort_device(&def, tiny[1]), &err),
                     OSC_EINVAL);
    assert_string_equal(err.message,
                        "cannot sort t by 'tiny_time': no device is called 'tiny'; "
                        "did you mean 'device_time'?");
    (void)osc_sort_fail_device(&def, tiny[3], osc_sort_device(&def, tiny[3]), &err);
    assert_non_null(strstr(err.message, "did you mean 'self_device_memory_usage'?"));
}

UNIT_MAIN("sort_words")
