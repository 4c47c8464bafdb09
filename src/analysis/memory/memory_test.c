/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "derive/select.h"
#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

/* A record of THREAD: DEVICE is a number of c10::DeviceType, 0 the CPU. */
#define RECORD(thread, ts, device, address, bytes, total)                                  \
    "{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':" #thread ",'ts':" #ts              \
    ",'args':{'Device Type':" #device ",'Device Id':0,'Addr':" #address ",'Bytes':" #bytes \
    ",'Total Allocated':" #total ",'Total Reserved':4096}},"
#define MODULE(name, ts, dur) \
    RANGE("python_function", "nn.Module: " name, 1, ts, dur, "'Python module id':0")

/*
 * In step 5: a Linear whose aten::linear makes room by aten::empty, and frees what
 * was there before the recording. In step 6: the release, on another thread, outside
 * any operator; an allocation that stays; an address that is taken again.
 */
static const char events[] = STEP(5, 0, 100) STEP(6, 100, 100) MODULE("Linear_0", 10, 50)
    OP("aten::linear", 1, 20, 30, "") OP("aten::empty", 1, 25, 10, "")
        RECORD(1, 30, 0, 64, 512, 1512) RECORD(1, 40, 0, 65, -1000, 512)
            RECORD(2, 110, 0, 64, -512, 0) OP("aten::add", 1, 120, 20, "")
                RECORD(1, 125, 1, 64, 2048, 2048) RECORD(1, 126, 0, 70, 100, 100)
                    RECORD(1, 150, 0, 70, 200, 200);

static void run_on(const char *text, const struct osc_table_def *def,
                   const struct osc_options *o)
{
    small_end(NULL);
    small_table(def, o, text);
}

static void run(const struct osc_table_def *def, const struct osc_selection *s)
{
    const struct osc_options o = {.selection = s};

    run_on(events, def, &o);
}

static void assert_text(uint64_t row, const char *name, const char *expected)
{
    const struct osc_str s = osc_result_get_str(&result, row, column(name));

    assert_true(row < result.n_rows);
    assert_int_equal(s.len, strlen(expected));
    assert_memory_equal(s.s ? s.s : "", expected, s.len);
}

static void assert_whole(uint64_t row, const char *name, int64_t expected)
{
    assert_true(row < result.n_rows);
    assert_true(osc_result_has(&result, row, column(name)));
    assert_int_equal(osc_result_get_int(&result, row, column(name)), expected);
}

static void assert_missing(uint64_t row, const char *name)
{
    assert_true(row < result.n_rows);
    assert_false(osc_result_has(&result, row, column(name)));
}

static void assert_noted(const char *text)
{
    assert_non_null(result.notes.s);
    assert_non_null(strstr(result.notes.s, text));
}

/* One row of `memory`: total and own increase, allocations and bytes. */
static void assert_sums(uint64_t row, const char *device, const char *name, const int64_t v[6])
{
    static const char *const columns[] = {"increase_bytes", "self_increase_bytes",
                                          "alloc_count",    "self_alloc_count",
                                          "alloc_bytes",    "self_alloc_bytes"};

    assert_text(row, "device", device);
    assert_text(row, "name", name);
    for (int i = 0; i < 6; i++)
        assert_whole(row, columns[i], v[i]);
}

TEST_WITH(sums_by_operator_and_device_with_callees_and_the_rest, NULL, small_end)
{
    run(&osc_table_memory, NULL);
    assert_int_equal(result.n_rows, 5);
    assert_sums(0, "cpu", "aten::linear", (int64_t[]){-488, -1000, 1, 0, 512, 0});
    assert_sums(1, "cpu", "aten::empty", (int64_t[]){512, 512, 1, 1, 512, 512});
    assert_sums(2, "cpu", "aten::add", (int64_t[]){100, 100, 1, 1, 100, 100});
    assert_sums(3, "cpu", "(none)", (int64_t[]){-312, -312, 1, 1, 200, 200});
    assert_sums(4, "cuda:0", "aten::add", (int64_t[]){2048, 2048, 1, 1, 2048, 2048});
    assert_whole(0, "calls", 1);
    assert_missing(3, "calls");
}

TEST_WITH(a_range_counts_its_records_and_the_operators_they_lie_in, NULL, small_end)
{
    run(&osc_table_memory,
        &(struct osc_selection){
            .has_from = true, .from_ns = 35000, .has_to = true, .to_ns = 45000});
    assert_int_equal(result.n_rows, 1);
    assert_sums(0, "cpu", "aten::linear", (int64_t[]){-1000, -1000, 0, 0, 0, 0});
    assert_whole(0, "calls", 1); /* although it began before */

    run(&osc_table_memory, &(struct osc_selection){.steps = "6", .device = "cuda:0"});
    assert_int_equal(result.n_rows, 1);
    assert_sums(0, "cuda:0", "aten::add", (int64_t[]){2048, 2048, 1, 1, 2048, 2048});

    run(&osc_table_memory, &(struct osc_selection){.thread = "2"});
    assert_int_equal(result.n_rows, 1);
    assert_sums(0, "cpu", "(none)", (int64_t[]){-512, -512, 0, 0, 0, 0});
}

TEST_WITH(lists_each_allocation_with_its_release_and_its_context, NULL, small_end)
{
    run(&osc_table_memory_events, NULL);
    assert_int_equal(result.n_rows, 5);
    assert_text(0, "operator", "aten::linear (aten::empty)");
    assert_text(0, "module", "nn.Module: Linear_0");
    assert_whole(0, "step", 0);
    assert_whole(0, "bytes", 512);
    assert_whole(0, "alloc_ns", 30000);
    assert_whole(0, "free_ns", 110000);
    assert_whole(0, "dur_ns", 80000);
    assert_missing(0, "note");

    assert_text(1, "operator", "(none)"); /* who allocated it, nobody saw */
    assert_missing(1, "module");
    assert_whole(1, "bytes", 1000);
    assert_missing(1, "alloc_ns");
    assert_whole(1, "free_ns", 40000);

    assert_text(2, "device", "cuda:0"); /* not the block of the CPU at its address */
    assert_missing(2, "free_ns");
    assert_whole(3, "alloc_ns", 126000);
    assert_missing(3, "free_ns");
    assert_text(3, "note", "its address was allocated again, its release is not recorded");
    assert_missing(4, "note");
    assert_noted("2 allocations have no release");
    assert_noted("1 releases have no allocation");
}

TEST_WITH(a_range_keeps_both_ends_of_an_allocation, NULL, small_end)
{
    run(&osc_table_memory_events,
        &(struct osc_selection){
            .has_from = true, .from_ns = 100000, .has_to = true, .to_ns = 120000});
    assert_int_equal(result.n_rows, 1);
    assert_whole(0, "alloc_ns", 30000);
    assert_whole(0, "free_ns", 110000);
    assert_text(0, "operator", "aten::linear (aten::empty)");

    run(&osc_table_memory_events, &(struct osc_selection){.device = "xpu:0"});
    assert_int_equal(result.n_rows, 0);
    assert_noted("no memory records of xpu:0; there are some of cpu, cuda:0");
    run(&osc_table_memory_peaks, &(struct osc_selection){.device = "xpu:0"});
    assert_int_equal(result.n_rows, 0);
    assert_null(strstr(result.notes.s, "totals"));

    run(&osc_table_memory_events,
        &(struct osc_selection){.has_from = true, .from_ns = 1000000});
    assert_int_equal(result.n_rows, 0);
    assert_noted("no memory records in the selection");
}

TEST_WITH(says_what_is_alive_at_a_time, NULL, small_end)
{
    const struct osc_options at = *with_option(&osc_table_memory_live, "at", "110000");
    const struct osc_options later = *with_option(&osc_table_memory_live, "at", "149999");
    const struct osc_options end_of_time =
        *with_option(&osc_table_memory_live, "at", "9223372036854775807");

    run_on(events, &osc_table_memory_events, &at);
    assert_int_equal(result.n_rows, 0); /* its release is at that time */
    run_on(events, &osc_table_memory_events, &later);
    assert_int_equal(result.n_rows, 2);
    run_on(events, &osc_table_memory_events, &end_of_time);
    assert_int_equal(result.n_rows, 2);
    assert_whole(0, "bytes", 2048);
    assert_whole(1, "bytes", 200); /* the one before at its address is gone */

    run_on(events, &osc_table_memory_peaks, &later);
    assert_int_equal(result.n_rows, 2);
    assert_whole(0, "peak_bytes", 100);
    assert_whole(0, "peak_ns", 126000);
    assert_whole(0, "live_bytes", 100);
}

/* Before 150 us 100 bytes on the CPU, and 2,048 on the GPU, are alive. */
TEST_WITH(sums_what_is_alive_by_operator_module_or_size, NULL, small_end)
{
    const struct osc_options at = *with_option(&osc_table_memory_live, "at", "149999");
    const struct osc_options by_size = *grouped(&osc_table_memory_live, "size");
    const struct osc_options by_both = *grouped(&osc_table_memory_live, "op,module");

    run_on(events, &osc_table_memory_live, &at);
    assert_int_equal(result.n_rows, 2);
    assert_whole(0, "at_ns", 126000);
    assert_whole(0, "bytes", 100);
    assert_whole(0, "count", 1);
    assert_true(osc_result_get_num(&result, 0, column("ratio")) == 1.0);

    run_on(events, &osc_table_memory_live, &by_size);
    assert_missing(0, "operator");
    assert_whole(0, "at_ns", 30000); /* the peak */
    assert_whole(0, "block_bytes", 512);

    run_on(events, &osc_table_memory_live, &by_both);
    assert_int_equal(result.n_rows, 2);
    assert_text(0, "operator", "aten::linear (aten::empty)");
    assert_text(0, "module", "nn.Module: Linear_0");
    assert_missing(1, "module");
}

TEST_WITH(draws_every_record_device_after_device, NULL, small_end)
{
    static const int64_t totals[] = {1512, 512, 0, 100, 200, 2048};

    run(&osc_table_memory_curve, NULL);
    assert_int_equal(result.n_rows, 6);
    for (uint64_t i = 0; i < 6; i++) {
        assert_text(i, "device", i < 5 ? "cpu" : "cuda:0");
        assert_whole(i, "allocated_bytes", totals[i]);
        assert_whole(i, "reserved_bytes", 4096);
    }
    assert_whole(1, "time_ns", 40000);
}

TEST_WITH(finds_the_first_peak_and_who_held_it, NULL, small_end)
{
    run(&osc_table_memory_peaks, NULL);
    assert_int_equal(result.n_rows, 2);
    assert_text(0, "device", "cpu");
    assert_whole(0, "peak_bytes", 1512);
    assert_whole(0, "peak_ns", 30000);
    assert_whole(0, "live_bytes", 512); /* 1,000 are older than the recording */
    assert_whole(0, "live_count", 1);
    assert_text(
        0, "at_peak",
        "[{\"operator\": \"aten::linear (aten::empty)\", \"bytes\": 512, \"count\": 1}]");
    assert_missing(0, "capacity_bytes");
    assert_text(1, "device", "cuda:0");
    assert_whole(1, "peak_bytes", 2048);
}

TEST_WITH(says_what_old_records_lack, NULL, small_end)
{
    static const char old[] =
        OP("aten::empty", 1, 0, 9, "") "{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':1,'"
                                       "ts':2,'args':{'Device Type':0,"
                                       "'Device Id':-1,'Bytes':8}},";
    const struct osc_options o = {0};

    run_on(old, &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 1);
    run_on(old, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "operator", "aten::empty"); /* it has no parent */
    assert_noted("nothing is paired");
    run_on(old, &osc_table_memory_curve, &o);
    assert_int_equal(result.n_rows, 0);
    assert_noted("the records have no totals");
    run_on(old, &osc_table_memory_peaks, &o);
    assert_int_equal(result.n_rows, 0);
    assert_noted("the records have no totals");
    run_on(OP("aten::empty", 1, 0, 9, ""), &osc_table_memory, &o);
    assert_noted("profile_memory=True");
}

TEST_WITH(names_modules_by_their_attributes_where_these_were_recorded, NULL, small_end)
{
    const struct osc_options o = {0};

    run_on(RANGE("python_function", "nn.Module: Linear_0", 1, 10, 50,
                 "'Python module id':0,'Module path':'h.0.q'") RECORD(1, 30, 0, 64, 512, 1512),
           &osc_table_memory_events, &o);
    assert_text(0, "module", "h.0.q");
}

/* A hundred operators around each other, each with one allocation, ask for a module. */
TEST_WITH(finds_no_module_where_there_is_none, NULL, small_end)
{
    char text[32 * 1024] = "";
    const struct osc_options o = {0};

    for (int i = 0; i < 100; i++) {
        const size_t len = strlen(text);

        snprintf(text + len, sizeof text - len,
                 "{'ph':'X','cat':'cpu_op','name':'aten::op%d','pid':1,'tid':1,'ts':%d,"
                 "'dur':%d},{'ph':'i','name':'[memory]','pid':1,'tid':1,'ts':%d.5,'args':{"
                 "'Device Type':0,'Addr':%d,'Bytes':1,'Total Allocated':1}},",
                 i, i, 300 - 2 * i, i, i);
    }
    run_on(text, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 100);
    for (uint64_t i = 0; i < 100; i++)
        assert_missing(i, "module");
    assert_text(99, "operator", "aten::op99");

    run_on(text, &osc_table_memory_peaks, &o);
    assert_whole(0, "live_count", 1); /* the first of equal peaks */
}

/* Three allocations on CPU and GPU whose sum does not fit into 64 bits. */
TEST_WITH(sums_beyond_64_bits_are_the_nearest_that_fits, NULL, small_end)
{
    static const char huge[] =
        OP("a", 1, 0, 9, "") RECORD(1, 1, 0, 1, 4611686018427387903, 9223372036854775807)
            RECORD(1, 2, 0, 2, 4611686018427387903, 9223372036854775807)
                RECORD(1, 3, 0, 3, 4611686018427387903, -9223372036854775807)
                    RECORD(1, 4, 1, 3, -4611686018427387903, 1)
                        RECORD(1, 5, 1, 3, -4611686018427387903, 9223372036854775807)
                            RECORD(1, 6, 1, 3, -4611686018427387903, 0);
    const struct osc_options o = {0};
    const struct osc_options at = *with_option(&osc_table_memory_live, "at", "3000");

    run_on(huge, &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 2);
    assert_sums(0, "cpu", "a", (int64_t[]){INT64_MAX, INT64_MAX, 3, 3, INT64_MAX, INT64_MAX});
    assert_sums(1, "cuda:0", "a", (int64_t[]){INT64_MIN, INT64_MIN, 0, 0, 0, 0});
    run_on(huge, &osc_table_memory_peaks, &at);
    assert_whole(0, "peak_bytes", -INT64_MAX);
    assert_whole(0, "live_bytes", INT64_MAX);
    assert_whole(0, "live_count", 3);
    assert_text(0, "at_peak",
                "[{\"operator\": \"a\", \"bytes\": 9223372036854775807, \"count\": 3}]");
}

TEST_WITH(shows_totals_that_run_backwards_as_they_are, NULL, small_end)
{
    static const int64_t totals[] = {100, 50, -8, 50};
    const struct osc_options o = {0};

    run_on(RECORD(1, 1, 0, 1, 8, 100) RECORD(1, 2, 0, 2, 8, 50) RECORD(1, 3, 0, 3, 8, -8)
               RECORD(1, 4, 0, 4, 8, 50),
           &osc_table_memory_curve, &o);
    assert_int_equal(result.n_rows, 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_whole(i, "allocated_bytes", totals[i]);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_memory_gap].count, 3);
}

TEST_WITH(devices_of_any_type_have_rows_and_unknown_ones_a_note, NULL, small_end)
{
    static const char mixed[] = RECORD(1, 1, 99, 1, 8, 8) RECORD(1, 2, 12, 1, 16, 16)
        RECORD(1, 3, 999, 1, 32, 32) RECORD(1, 4, 999, 1, -32, 0) RECORD(1, 5, 12, 1, -16, 0);
    const struct osc_options o = {0};

    run_on(mixed, &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 3);
    assert_sums(0, "type99:0", "(none)", (int64_t[]){8, 8, 1, 1, 8, 8});
    assert_sums(1, "xpu:0", "(none)", (int64_t[]){0, 0, 1, 1, 16, 16});
    assert_sums(2, "unknown", "(none)", (int64_t[]){0, 0, 1, 1, 32, 32});
    run_on(mixed, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 4);
    assert_text(1, "device", "xpu:0");
    assert_whole(1, "dur_ns", 3000);
    for (uint64_t i = 2; i < 4; i++) {
        assert_text(i, "device", "unknown");
        assert_text(i, "note", "not paired: its device is unknown");
    }
}

TEST_WITH(the_word_of_a_backend_does_not_select_what_is_unknown, NULL, small_end)
{
    static const char mixed[] = RECORD(1, 1, 999, 1, 8, 8) RECORD(1, 2, 20, 1, 16, 16);
    const struct osc_selection word = {.device = "privateuse1"}, name = {.device = "unknown"};

    run_on(mixed, &osc_table_memory_events, &(struct osc_options){.selection = &word});
    assert_int_equal(result.n_rows, 0);
    run_on(mixed, &osc_table_memory_events, &(struct osc_options){.selection = &name});
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "device", "unknown");
}

/* Its number among the names is 0, whoever comes first. */
TEST_WITH(an_operator_without_a_name_holds_memory_too, NULL, small_end)
{
    const struct osc_options o = {0};

    run_on(OP("", 1, 0, 5, "") OP("a", 1, 10, 5, "") RECORD(1, 2, 0, 64, 8, 8)
               RECORD(1, 12, 0, 65, 4, 12),
           &osc_table_memory_peaks, &o);
    assert_text(0, "at_peak",
                "[{\"operator\": \"\", \"bytes\": 8, \"count\": 1}, "
                "{\"operator\": \"a\", \"bytes\": 4, \"count\": 1}]");
}

TEST_WITH(of_operators_that_hold_the_same_the_first_seen_comes_first, NULL, small_end)
{
    const struct osc_options o = {0};

    run_on(OP("a", 1, 0, 5, "") OP("", 1, 10, 5, "") RECORD(1, 2, 0, 64, 8, 8)
               RECORD(1, 12, 0, 65, 8, 16),
           &osc_table_memory_peaks, &o);
    assert_text(0, "at_peak",
                "[{\"operator\": \"a\", \"bytes\": 8, \"count\": 1}, "
                "{\"operator\": \"\", \"bytes\": 8, \"count\": 1}]");
}

TEST_WITH(two_processes_share_a_row_but_no_address, NULL, small_end)
{
    static const char two[] =
        RECORD(1, 1, 0, 64, 8, 8) "{'ph':'i','s':'t','name':'[memory]','pid':2,'tid':1,'ts':2,"
                                  "'args':{'Device Type':0,'Addr':64,'Bytes':-8,'Total "
                                  "Allocated':0}},";
    const struct osc_options o = {0};

    run_on(two, &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 1);
    assert_sums(0, "cpu", "(none)", (int64_t[]){0, 0, 1, 1, 8, 8});
    run_on(two, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 2);
    assert_text(0, "process", "1");
    assert_missing(0, "free_ns");
    assert_text(1, "process", "2");
    assert_missing(1, "alloc_ns");
    run_on(two, &osc_table_memory_peaks, &o);
    assert_int_equal(result.n_rows, 2);
}

/* A range that begins inside operators that call themselves, 500 deep. */
TEST_WITH(operators_around_a_range_are_calls_of_it_once_each, NULL, small_end)
{
    static char text[60000];
    size_t len = 0;

    for (int i = 0; i < 500; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "{'ph':'X','cat':'cpu_op','name':'%s','pid':1,'tid':1,'ts':%d,"
                                "'dur':%d},",
                                i % 2 ? "odd" : "even", i, 3000 - 2 * i);
    snprintf(text + len, sizeof text - len, "%s",
             RECORD(1, 1000, 0, 1, 8, 8) RECORD(1, 1001, 0, 2, 8, 16) OP("odd", 1, 1002, 9, "")
                 RECORD(1, 1003, 0, 3, 8, 24) OP("odd", 1, 1020, 9, ""));
    const struct osc_selection s = {.has_from = true, .from_ns = 700000};
    const struct osc_options o = {.selection = &s};
    run_on(text, &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 2);
    assert_sums(1, "cpu", "odd", (int64_t[]){6008, 24, 751, 3, 6008, 24});
    assert_whole(1, "calls", 252);
    assert_sums(0, "cpu", "even", (int64_t[]){6000, 0, 750, 0, 6000, 0});
    assert_whole(0, "calls", 250);

    /* The same by the one that looks at every call. */
    const struct osc_selection slow = {.has_from = true, .from_ns = 700000, .process = "1"};
    const struct osc_options all_ways = {.selection = &slow};
    run_on(text, &osc_table_memory, &all_ways);
    assert_whole(1, "calls", 252);
    assert_whole(0, "calls", 250);
}

/* Before they are sorted by size: the outer one first. */
TEST_WITH(rows_stand_in_order_of_their_records, NULL, small_end)
{
    const struct osc_options o = {0};

    run_on(OP("late", 1, 50, 10, "") RECORD(1, 51, 0, 1, 8, 8) OP("outer", 1, 0, 20, "")
               OP("inner", 1, 1, 10, "") RECORD(1, 2, 0, 2, 8, 8) RECORD(1, 15, 0, 3, 8, 16),
           &osc_table_memory, &o);
    assert_int_equal(result.n_rows, 3);
    assert_sums(0, "cpu", "outer", (int64_t[]){16, 8, 2, 1, 16, 8});
    assert_sums(1, "cpu", "inner", (int64_t[]){8, 8, 1, 1, 8, 8});
    assert_sums(2, "cpu", "late", (int64_t[]){8, 8, 1, 1, 8, 8});
}

/* Of those that began before the range, the first to begin is the last to end. */
TEST_WITH(allocations_of_all_devices_stand_in_order_of_time, NULL, small_end)
{
    static const char many[] = RECORD(1, 1, 0, 1, 8, 8) RECORD(1, 2, 0, 2, 8, 16)
        RECORD(1, 3, 1, 3, 8, 8) RECORD(1, 11, 12, 4, 8, 8) RECORD(1, 12, 0, 5, 8, 24)
            RECORD(1, 13, 99, 6, 8, 8) RECORD(1, 14, 1, 7, 8, 16) RECORD(1, 15, 12, 8, 8, 16)
                RECORD(1, 16, 0, 2, -8, 16) RECORD(1, 17, 0, 1, -8, 8)
                    RECORD(1, 18, 1, 3, -8, 8) RECORD(1, 19, 99, 9, 8, 16);
    static const int64_t micros[] = {1, 2, 3, 11, 12, 13, 14, 15, 19};
    const struct osc_selection s = {.has_from = true, .from_ns = 5000};
    const struct osc_options o = {.selection = &s};

    run_on(many, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 9);
    for (uint64_t i = 0; i < 9; i++)
        assert_whole(i, "alloc_ns", 1000 * (micros[i] - micros[0]));
}

/* An operator that uses STORAGES, a list without its brackets. */
#define USES(name, ts, dur, storages) OP(name, 1, ts, dur, "'Storages':[" storages "]")
#define ALLOC(ts, address, total)     RECORD(1, ts, 0, address, 8, total)
#define FREE(ts, address, total)      RECORD(1, ts, 0, address, -8, total)

/*
 * A step of training: a module with the parameter 1, whose gradient is at 2 later. The input 3
 * and the parameter make the activation 4; on the way there is 5. The backward function makes
 * 6 and the gradient. The optimizer keeps 7 and changes the parameter. Nothing uses 8.
 */
static const char training[] = USES("aten::empty", 0, 10, "1") ALLOC(1, 1, 8) USES(
    "aten::randn", 10, 10, "1") ALLOC(11, 3, 16) USES("aten::normal_", 12, 2, "1,-3")
    RANGE("python_function", "nn.Module: Linear_0", 1, 20, 20,
          "'Python module id':0,'Parameters':[1,0]") USES("aten::linear", 22, 10, "1,3,1")
        ALLOC(23, 5, 24) USES("aten::copy_", 24, 1, "1,-5,1") ALLOC(25, 4, 32) FREE(26, 5, 24)
            USES("MmBackward0", 50, 20, "2,4") ALLOC(51, 6, 32) USES("aten::mm", 52, 2, "1,4,6")
                ALLOC(55, 2, 40) USES("torch::autograd::AccumulateGrad", 72, 5, "2,2")
                    USES("aten::detach", 73, 1, "1,2") FREE(78, 6, 32) ALLOC(79, 8, 40)
                        USES("aten::zeros", 80, 5, "1") ALLOC(81, 7, 48)
                            USES("aten::add_", 86, 2, "1,-7,2")
                                USES("aten::add_", 89, 2, "1,-1,7")
                                    RANGE("python_function",
                                          "torch/optim/optimizer.py(9): _optimizer_step_code",
                                          1, 92, 2, "'Parameters':[1,2],'Optimizer state':[7]");

TEST_WITH(memory_has_categories_by_the_data_flow, NULL, small_end)
{
    static const char *const expected[] = {"parameter",  "input",           "temporary",
                                           "activation", "autograd_detail", "gradient",
                                           "",           "optimizer_state"};
    const struct osc_options o = {0};

    run_on(training, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 8);
    for (uint64_t i = 0; i < 8; i++) {
        if (*expected[i] != '\0')
            assert_text(i, "category", expected[i]);
        else
            assert_missing(i, "category");
    }
    run_on(training, &osc_table_memory_peaks, &o);
    assert_whole(0, "live_bytes", 48);
    assert_whole(0, "parameter_bytes", 8);
    assert_whole(0, "gradient_bytes", 8);
    assert_whole(0, "optimizer_state_bytes", 8);
    assert_whole(0, "activation_bytes", 8);
    assert_whole(0, "input_bytes", 8);
    assert_whole(0, "temporary_bytes", 0);
    assert_whole(0, "autograd_detail_bytes", 0);
    assert_whole(0, "uncategorized_bytes", 8);
    run_on(events, &osc_table_memory_events, &o);
    assert_false(osc_result_has(&result, 0, column("category")));
}

/* An operator of another thread begins before memory is allocated, and uses it afterwards:
 * nodes are ordered by their start, so what it changes is a version that begins before version
 * 0. */
TEST_WITH(an_allocation_is_version_0_also_after_its_first_use, NULL, small_end)
{
    static const char crossed[] = OP("aten::long", 2, 15, 60, "'Storages':[1]")
        OP("aten::use", 2, 40, 2, "'Storages':[0,4]") USES("aten::randn", 5, 5, "1")
            ALLOC(6, 3, 16) USES("aten::normal_", 7, 2, "1,-3")
                RANGE("python_function", "nn.Module: Linear_0", 1, 20, 20,
                      "'Python module id':0,'Parameters':[1,2]")
                    USES("aten::linear", 22, 10, "1,3,1") ALLOC(25, 4, 32)
                        USES("MmBackward0", 80, 10, "2,4") ALLOC(85, 2, 40);
    const struct osc_options late = *with_option(&osc_table_memory_live, "at", "50000");

    run_on(crossed, &osc_table_memory_events, &(struct osc_options){0});
    assert_int_equal(result.n_rows, 3);
    assert_text(1, "category", "activation"); /* the first of its versions */
    run_on(crossed, &osc_table_memory_events, &late);
    assert_missing(1, "category"); /* that of the version that the operator made */
}

/* What the lists may hold besides what the recorder writes. */
TEST_WITH(lists_of_storages_end_at_anything_else, NULL, small_end)
{
    static const char odd[] = USES("a", 0, 10, "") ALLOC(1, 1, 8) USES("b", 10, 5, "1,null,1")
        USES("c", 15, 5, "-1,1") USES("d", 20, 5, "3,1") USES("e", 25, 5, "1,1.5")
            USES("f", 30, 5, "1,99999999999999999999999,1") USES("g", 35, 5, "1,'1'")
                OP("h", 1, 40, 5, "'Storages':7,'Parameters':'[1]','Optimizer state':[[1]]");
    const struct osc_options o = {0};

    run_on(odd, &osc_table_memory_events, &o);
    assert_int_equal(result.n_rows, 1);
    assert_false(osc_result_has(&result, 0, column("category")));
}

/* The versions of the parameter, of the input and of what is released. */
TEST_WITH(versions_say_when_memory_changed, NULL, small_end)
{
    run_on(training, &osc_table_memory_versions, &(struct osc_options){0});
    assert_int_equal(result.n_rows, 10);
    assert_whole(0, "object", 1);
    assert_whole(0, "version", 0);
    assert_text(0, "operator", "aten::empty");
    assert_text(0, "device", "cpu");
    assert_whole(0, "start_ns", 1000);
    assert_whole(0, "end_ns", 89000);
    assert_whole(1, "object", 1);
    assert_whole(1, "version", 1);
    assert_text(1, "operator", "aten::add_");
    assert_text(1, "category", "parameter");
    assert_whole(1, "start_ns", 89000);
    assert_missing(1, "end_ns");
    assert_text(2, "category", "input");
    assert_whole(3, "bytes", 8);
    assert_whole(3, "end_ns", 26000);
    assert_text(3, "category", "temporary");
    run_on(events, &osc_table_memory_versions, &(struct osc_options){0});
    assert_int_equal(result.n_rows, 0);
}

#define TENSORS(storages, dims, strides, types)                                   \
    "'Storages':[" storages "],'Input Dims':[" dims "],'Input Strides':[" strides \
    "],'Input type':[" types "]"

/* Memory without a record is as large as the largest tensor in it. */
TEST_WITH(memory_from_before_is_as_large_as_its_tensors, NULL, small_end)
{
    static const char before[] =
        OP("a", 1, 0, 10, TENSORS("1,3,4", "[2,3],[]", "[1,8],[]", "'float','long int'"))
            OP("b", 1, 10, 5,
               TENSORS("1,3,5", "[2],[],[0],[3],[7]", "[1],[],[1],[2],[]",
                       "'float','Scalar','float','c10::complex<float>','int'"))
                OP("c", 1, 15, 5, TENSORS("1,6", "[]", "[]", "'float'")) ALLOC(21, 9, 8)
                    OP("d", 1, 22, 5,
                       TENSORS("1,6,7,9", "[[2],[3]],[4]", "[[1],[1]],[1]",
                               "'TensorList','Mystery'")) FREE(30, 4, 8)
                        RANGE("python_function", "nn.Module: Linear_0", 1, 40, 20,
                              "'Python module id':0,'Parameters':[6,0,8],"
                              "'Parameters bytes':[100,0,7],'Optimizer state':[7],"
                              "'Optimizer state bytes':[12]");
    static const int64_t bytes[] = {96, 8, 48, 100, 8, 12, 7};

    run_on(before, &osc_table_memory_versions, &(struct osc_options){0});
    assert_missing(0, "start_ns");
    assert_missing(0, "operator");
    assert_text(0, "device", "cpu");
    assert_int_equal(result.n_rows, 7);
    for (uint64_t i = 0; i < 7; i++)
        assert_whole(i, "bytes", bytes[i]);
}

TEST_WITH(survives_any_failed_allocation, NULL, small_end)
{
    static const struct osc_table_def *const defs[] = {
        &osc_table_memory, &osc_table_memory_events, &osc_table_memory_curve,
        &osc_table_memory_peaks, &osc_table_memory_versions};
    const struct osc_selection s = {.thread = "1"};
    const struct osc_options o = {.selection = &s};

    for (int d = 0; d < 5; d++) {
        for (int i = 0; i < 2; i++) {
            run_on(i ? training : events, defs[d], &o);
            const uint64_t n_rows = result.n_rows;
            small_table_survives(defs[d], &o);
            assert_int_equal(result.n_rows, n_rows);
        }
    }
}

UNIT_MAIN("memory")
