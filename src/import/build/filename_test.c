/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/filename.h"

#include "import/build/reader.h"
#include "support/unit.h"

static void assert_str(struct osc_str s, const char *expected)
{
    assert_int_equal(s.len, strlen(expected));
    assert_memory_equal(s.s ? s.s : "", expected, s.len);
}

/* RANK -1: the name has no rank. */
static void assert_parses(const char *name, bool is_logdir, const char *worker,
                          const char *number, int rank)
{
    const struct osc_filename f = osc_filename_parse(name);

    assert_int_equal(f.is_logdir, is_logdir);
    assert_str(f.worker, worker);
    assert_str(f.number, number);
    assert_int_equal(f.has_rank ? f.rank : -1, rank);
}

TEST(takes_the_names_of_a_log_directory_apart)
{
    assert_parses("worker0.1623143089861.pt.trace.json.gz", true, "worker0", "1623143089861",
                  0);
    assert_parses("worker0.pt.trace.json", true, "worker0", "", 0);
    assert_parses("a/b/ip-172-31-22-142_14545.1618682202565.pt.trace.json", true,
                  "ip-172-31-22-142_14545", "1618682202565", -1);
    assert_parses("a.b.c.pt.trace.json", true, "a.b.c", "", -1);
    assert_parses("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", true,
                  "rank-0.Apr_03_18_51_38", "1102", 0);
    assert_parses("w.12.34.pt.trace.json", true, "w.12", "34", -1);
    assert_parses(".pt.trace.json", true, "", "", -1);
    assert_parses("trace.json", false, "", "", -1);
}

TEST(takes_recordings_and_their_parts_apart)
{
    assert_parses("a/run.osc", false, "run", "", -1);
    assert_parses("run.12.osc", false, "run", "12", -1);
    assert_parses("vm.10.1796022498.0.osc", false, "vm.10.1796022498.0", "", -1);
    assert_parses("a.b.10.1796022498.0.2.osc", false, "a.b.10.1796022498.0", "2", -1);
    assert_parses("vm.10.99.0.osc", false, "vm.10.99", "0", -1);
    assert_parses("host-rank3.2.osc.gz", false, "host-rank3", "2", 3);
    assert_true(osc_filename_parse("run.osc").is_recording);
    assert_ptr_equal(osc_filename_parse("run.osc").reader, &osc_reader_records);
    assert_false(osc_filename_parse("run.json").is_recording);
}

TEST(guesses_the_rank_from_what_people_write)
{
    assert_parses("trace_rank12.json.gz", false, "", "", 12);
    assert_parses("sampled_rank-1.json", false, "", "", 1);
    assert_parses("rank_3.json.zst", false, "", "", 3);
    assert_parses("host_1.1760000000000000001.pt.trace.json.gz", true, "host_1",
                  "1760000000000000001", 1);
    assert_parses("trace_12345.json", false, "", "", -1);
    assert_parses("ranking.json", false, "", "", -1);
    assert_parses("rank99999999999.json", false, "", "", -1);
}

TEST(guesses_the_rank_from_the_worker_and_the_directory)
{
    assert_parses("worker12_step_3.pt.trace.json", true, "worker12_step_3", "", 12);
    assert_parses("worker12.json", false, "", "", -1);
    assert_parses("fit-perf_logs-3.17.pt.trace.json", true, "fit-perf_logs-3", "17", 3);
    assert_parses("resnet-50.pt.trace.json", true, "resnet-50", "", -1);
    assert_parses("logs/rank_7/host_4711.1.pt.trace.json", true, "host_4711", "1", 7);
    assert_parses("logs/rank-7//trace.json", false, "", "", 7);
    assert_parses("rank7/rank_3.json", false, "", "", 3);
    assert_parses("rank7/host_3.pt.trace.json", true, "host_3", "", 7);
    assert_parses("run_x/attempt_1/5/trace.json", false, "", "", 5);
    assert_parses("5/trace.json", false, "", "", -1);
    assert_parses("rank_7x/trace.json", false, "", "", -1);
    assert_parses("rank/trace.json", false, "", "", -1);
}

TEST(knows_files_of_traces_by_their_end)
{
    assert_non_null(osc_filename_parse("a.json").reader);
    assert_non_null(osc_filename_parse("a.json.gz").reader);
    assert_non_null(osc_filename_parse("a.json.zst").reader);
    assert_null(osc_filename_parse("x.pt.trace.json.bz2").reader);
    assert_null(osc_filename_parse("a.gz").reader);
    assert_str(osc_filename_parse("b/a.pt.trace.json.gz").stem, "b/a.pt.trace");
    assert_str(osc_filename_parse("b/a.2.osc").stem, "b/a.2");
    assert_str(osc_filename_parse("b/a.gz").stem, "b/a");
}

TEST(orders_spans_by_number_and_not_by_text)
{
    assert_true(osc_filename_compare_numbers(OSC_STR("9"), OSC_STR("10")) < 0);
    assert_true(osc_filename_compare_numbers(OSC_STR(""), OSC_STR("0")) < 0);
    assert_int_equal(osc_filename_compare_numbers(OSC_STR("12"), OSC_STR("12")), 0);
}

UNIT_MAIN("filename")
