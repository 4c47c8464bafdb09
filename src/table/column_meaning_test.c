/* SPDX-License-Identifier: Apache-2.0 */
#include "table/column_meaning.h"

#include "support/unit.h"

enum {
    NAME,
    CALLS,
    HOST_TOTAL,
    DEVICE_SELF,
    HOST_SELF,
    MEAN,
    START,
    SIZE,
    SHARE,
    SECRET,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, 0, "name"),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, 0, "calls"),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", MIN, OSC_COLUMN_MOMENT, 0, "start"),
    OSC_COLUMN(HOST_TOTAL, "host_total_ns", INTEGER, "ns", SUM, 0, 0, "total"),
    OSC_COLUMN(DEVICE_SELF, "device_self_ns", INTEGER, "ns", SUM, 0, 0, "self"),
    OSC_COLUMN(HOST_SELF, "host_self_ns", INTEGER, "ns", SUM, 0, 0, "self"),
    OSC_COLUMN(MEAN, "mean_ns", NUMBER, "ns", FINISH, 0, 0, "mean"),
    OSC_COLUMN(SIZE, "increase_bytes", INTEGER, "bytes", SUM, 0, 0, "size"),
    OSC_COLUMN(SHARE, "busy_ratio", NUMBER, "ratio", FINISH, 0, 0, "share"),
    OSC_COLUMN(SECRET, "secret_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0, "secret"),
};

static struct osc_table_def def = {
    .name = "t", .columns = columns, .n_columns = N_COLUMNS, .sorted_by = HOST_SELF + 1};

TEST(a_word_means_a_column_by_what_it_holds)
{
    static const char *const meant[][2] = {
        {"time", "host_self_ns"},
        {"Duration", "host_self_ns"},
        {"count", "calls"},
        {"memory", "increase_bytes"},
        {"percent", "busy_ratio"},
        {"average", "mean_ns"},
        {"avg_time", "mean_ns"},
        {"self_cpu_time", "host_self_ns"},
        {"cpu total", "host_total_ns"},
        {"total-host-ns", "host_total_ns"},
        {"busy", "busy_ratio"},
    };

    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        const char *const found = osc_column_meant(&def, meant[i][0]);

        assert_non_null(found);
        assert_string_equal(found, meant[i][1]);
    }
}

TEST(without_an_order_the_first_time_that_is_no_moment_is_meant)
{
    def.sorted_by = 0;
    assert_string_equal(osc_column_meant(&def, "time"), "host_total_ns");
    def.sorted_by = HOST_SELF + 1;
}

TEST(the_host_is_meant_where_rows_are_sorted_by_devices)
{
    def.sorted_by = DEVICE_SELF + 1;
    assert_string_equal(osc_column_meant(&def, "time"), "host_self_ns");
    assert_string_equal(osc_column_meant(&def, "self gpu time"), "device_self_ns");
    def.sorted_by = HOST_SELF + 1;
}

TEST(other_words_mean_nothing)
{
    assert_null(osc_column_meant(&def, "nmae"));
    assert_null(osc_column_meant(&def, ""));
    assert_null(osc_column_meant(&def, "_"));
    assert_null(osc_column_meant(&def, "secret"));
    assert_null(osc_column_meant(&def, "self"));
    assert_null(osc_column_meant(&def, "a_b_c_d_e_f_g_h_i"));
}

UNIT_MAIN("column_meaning")
