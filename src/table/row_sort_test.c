/* SPDX-License-Identifier: Apache-2.0 */
#include "table/row_sort.h"

#include <math.h>

#include "base/mem.h"
#include "support/unit.h"

enum { NAME, CALLS, CPU, RATIO, OK };

static const struct osc_column columns[] = {
    {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = ""},
    {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = ""},
    {"cpu_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = ""},
    {"busy_ratio", OSC_TYPE_NUMBER, "ratio", OSC_MERGE_FINISH, 0, .help = ""},
    {"ok", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0, .help = ""},
};

static const struct osc_sort_word others[] = {
    {"mean", "cpu_ns", "calls"}, {"mean", "busy_ratio", NULL},
    {"far", "away_ns", NULL},    {"share", "busy_ratio", "parts"},
    {"share", "cpu_ns", NULL},   {"on_any", "calls", NULL},
    {NULL, NULL, NULL}};

static struct osc_str device_of(struct osc_str word)
{
    return osc_str_starts(word, OSC_STR("on_")) ? (struct osc_str){word.s + 3, word.len - 3}
                                                : OSC_STR("");
}

static bool is_any(struct osc_str device)
{
    return device.len == 0 || osc_str_eq(device, OSC_STR("any"));
}

static const struct osc_sort_words words = {others, "any", device_of, is_any};
static const struct osc_table_def def = {
    .name = "t", .columns = columns, .n_columns = 5, .sort_words = &words};

static void fill(struct osc_result *r)
{
    static const struct {
        const char *name;
        int64_t calls, cpu;
        double ratio;
    } rows[] = {
        {"b", 3, 30, 0.5}, {"a", 1, 20, (double)NAN}, {"d", 2, 30, 0.25}, {"c", 3, 30, 0.75}};

    osc_result_init(r, &def);
    for (size_t i = 0; i < 4; i++) {
        osc_result_row(r);
        osc_result_str(r, NAME, osc_str_c(rows[i].name));
        osc_result_int(r, CALLS, rows[i].calls);
        osc_result_int(r, CPU, rows[i].cpu);
        osc_result_num(r, RATIO, rows[i].ratio);
    }
    assert_int_equal(r->status, OSC_OK);
}

/* The names of the rows when sorted by TEXT. */
static const char *sorted(const char *text)
{
    static char names[8];
    struct osc_result r;
    struct osc_sort_key key;
    uint32_t *order;

    fill(&r);
    assert_int_equal(osc_sort_parse(&def, text, &key, NULL), OSC_OK);
    assert_int_equal(osc_sort_rows(&r, &key, &order), OSC_OK);
    for (size_t i = 0; i < 4; i++)
        names[i] = osc_result_get_str(&r, order[i], NAME).s[0];
    osc_free(order);
    osc_result_fini(&r);
    return names;
}

TEST(keeps_the_order_of_equal_rows_both_ways)
{
    assert_string_equal(sorted("cpu_ns"), "bdca");
    assert_string_equal(sorted("-cpu_ns"), "bdca");
    assert_string_equal(sorted("cpu_ns:desc"), "bdca");
    assert_string_equal(sorted("cpu_ns:asc"), "abdc");
    assert_string_equal(sorted("name:asc"), "abcd");
    assert_string_equal(sorted("ok"), "badc");
}

TEST(puts_what_is_missing_last)
{
    assert_string_equal(sorted("busy_ratio"), "cbda");
    assert_string_equal(sorted("busy_ratio:asc"), "dbca");
}

TEST(tells_whether_any_row_has_a_value)
{
    static const char *const texts[] = {"busy_ratio", "mean", "name", "ok"};
    struct osc_sort_key key;
    struct osc_result r;

    fill(&r);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(osc_sort_parse(&def, texts[i], &key, NULL), OSC_OK);
        assert_int_equal(osc_sort_has_any(&r, &key), i < 3);
    }
    osc_result_fini(&r);
    osc_result_init(&r, &def);
    osc_result_row(&r);
    osc_result_num(&r, RATIO, (double)NAN);
    assert_int_equal(osc_sort_parse(&def, "busy_ratio", &key, NULL), OSC_OK);
    assert_false(osc_sort_has_any(&r, &key));
    osc_result_fini(&r);
}

TEST(knows_other_words_for_columns)
{
    struct osc_sort_key key;
    struct osc_err err = {0};

    assert_string_equal(sorted("mean"), "adbc"); /* 20/1, 30/2, 30/3, 30/3 */
    assert_string_equal(sorted("share"), "bdca");
    assert_string_equal(sorted("on_tiny"), "bcda");
    assert_int_equal(osc_sort_parse(&def, "far", &key, &err), OSC_EINVAL);
    assert_int_equal(osc_sort_parse(&def, "maen", &key, &err), OSC_EINVAL);
    assert_string_equal(err.message, "cannot sort t by 'maen'; did you mean 'mean'?");
}

TEST(says_which_device_a_word_names)
{
    struct osc_err err = {0};

    assert_int_equal(osc_sort_device(&def, "on_any:asc").len, 0);
    assert_int_equal(osc_sort_device(&def, "cpu_ns").len, 0);
    assert_true(osc_str_eq(osc_sort_device(&def, "-on_tiny"), OSC_STR("tiny")));
    (void)osc_sort_fail_device(&def, "-on_tiny", osc_sort_device(&def, "-on_tiny"), &err);
    assert_string_equal(err.message, "cannot sort t by 'on_tiny': no device is called 'tiny'; "
                                     "did you mean 'on_any'?");
}

TEST(names_the_nearest_key_for_a_wrong_one)
{
    struct osc_sort_key key;
    struct osc_err err = {0};

    assert_int_equal(osc_sort_parse(&def, "cpu_sn", &key, &err), OSC_EINVAL);
    assert_string_equal(err.message, "cannot sort t by 'cpu_sn'; did you mean 'cpu_ns'?");
    assert_int_equal(osc_sort_parse(&def, "cuda_time_total", &key, &err), OSC_EINVAL);
    assert_int_equal(osc_sort_parse(&def, "cpu_ns:up", &key, &err), OSC_EINVAL);
    assert_int_equal(osc_sort_parse(&def, "-cpu_ns:asc", &key, &err), OSC_EINVAL);
}

UNIT_MAIN("row_sort")
