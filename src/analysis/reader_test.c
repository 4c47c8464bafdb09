/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of a made-up format, which knows builders alone (tests/support/lines_reader.h):
 * its trace gives the tables that any other does.
 */
#include "analysis/table_registry.h"

#include "support/lines_reader.h"
#include "support/small_table.h"
#include "support/unit.h"

static const char text[] = "thread main 1 7\n"
                           "device big fpga 2 1000 64\n"
                           "queue q big 3\n"
                           "step main 0 1000 5\n"
                           "operator main 100 200 my::op\n"
                           "runtime main 150 20 enqueue\n"
                           "kernel q 180 100 inner loop\n"
                           "launch main 150 q 180\n"
                           "kernel q 300 50 alone\n"
                           "memory main 160 big 4096 64 64\n"
                           "memory main 400 big 4096 -64 0\n"
                           "counter main 120 3 depth\n";

static void load(void)
{
    const struct osc_import_options options = {.n_threads = 1};
    struct osc_loading loading;
    struct osc_input in;

    osc_input_open_memory(&in, "made up", (struct osc_str){text, sizeof text - 1});
    assert_int_equal(lines_reader.probe(text, sizeof text - 1), 60);
    assert_int_equal(osc_loading_init(&loading, &trace), OSC_OK);
    struct osc_reading r = {.in = &in,
                            .loading = &loading,
                            .options = &options,
                            .n_threads = 1,
                            .block_bytes = 32}; /* most lines lie in two blocks */
    assert_int_equal(lines_reader.read(&r, NULL), OSC_OK);
    assert_int_equal(osc_trace_seal(&trace, &lines_reader, 1, NULL), OSC_OK);
    osc_loading_fini(&loading);
}

static void make(const struct osc_table_def *def)
{
    osc_result_fini(&result);
    small_make(def, &(struct osc_options){0});
}

static void assert_text(uint64_t row, const char *name, const char *expected)
{
    const struct osc_str got = osc_result_get_str(&result, row, column(name));

    assert_true(osc_str_eq(got, osc_str_c(expected)));
}

static int64_t whole(uint64_t row, const char *name)
{
    assert_true(osc_result_has(&result, row, column(name)));
    return osc_result_get_int(&result, row, column(name));
}

TEST_WITH(operators_have_the_kernels_that_arrows_lead_to, NULL, small_end)
{
    load();
    make(&osc_table_operators);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "name", "my::op");
    assert_int_equal(whole(0, "host_total_ns"), 200);
    assert_int_equal(whole(0, "device_total_ns"), 100);
    make(&osc_table_kernels);
    assert_int_equal(result.n_rows, 2);
    assert_text(0, "name", "inner loop");
    assert_int_equal(whole(0, "total_ns"), 100);
    make(&osc_table_flows);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "kind", "launch");
    assert_int_equal(whole(0, "from_id"), 2);
    assert_int_equal(whole(0, "to_id"), 3);
}

TEST_WITH(steps_counters_and_memory_are_what_the_reader_said, NULL, small_end)
{
    load();
    make(&osc_table_steps);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "label", "5");
    assert_int_equal(whole(0, "total_ns"), 1000);
    assert_int_equal(whole(0, "kernel_ns"), 150);
    make(&osc_table_memory_peaks);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "device", "fpga:2");
    assert_int_equal(whole(0, "peak_bytes"), 64);
    assert_int_equal(whole(0, "capacity_bytes"), 1000);
    make(&osc_table_memory_events);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "operator", "my::op");
    make(&osc_table_memory_live);
    assert_int_equal(result.n_rows, 1);
    assert_int_equal(whole(0, "bytes"), 64);
}

TEST_WITH(devices_and_tracks_have_their_names, NULL, small_end)
{
    load();
    make(&osc_table_devices);
    assert_int_equal(result.n_rows, 2); /* and its mark, which together() takes out */
    assert_text(0, "device", "fpga:2");
    assert_int_equal(whole(0, "memory_bytes"), 1000);
    assert_int_equal(whole(0, "sm_count"), 64);
    make(&osc_table_threads);
    assert_int_equal(result.n_rows, 1);
    assert_text(0, "name", "main");
    make(&osc_table_quality);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        const struct osc_str code = osc_result_get_str(&result, i, column("code"));

        assert_false(osc_str_eq(code, OSC_STR("corrupt")));
    }
}

/* No form has a phase or a category, and `events` shows the kind in its place. */
TEST_WITH(nothing_is_forged, NULL, small_end)
{
    load();
    for (uint32_t i = 0; i < trace.n_forms; i++) {
        assert_int_equal(trace.forms[i].chrome_ph, '\0');
        assert_int_equal(trace.forms[i].category.v, 0);
    }
}

UNIT_MAIN("reader")
