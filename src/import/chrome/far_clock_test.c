/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/far_clock.h"

#include "base/strbuf.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define FAR "13984392629999074"

static int64_t of(const char *text)
{
    return osc_far_clock(osc_str_c(text));
}

TEST(the_first_ranges_decide)
{
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":" FAR ".5,\"dur\":1}]"),
                     INT64_C(13984392629999074));
    assert_int_equal(
        of("{\"traceEvents\": [{\"ph\":\"M\",\"ts\":0},{\"ph\":\"B\",\"ts\":\"" FAR "\"}]}"),
        INT64_C(13984392629999074));
    assert_int_equal(of("[{\"ph\":\"i\",\"ts\":" FAR "},{\"ph\":\"X\",\"ts\":5,\"dur\":1}]"),
                     0);
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":1700000000000000,\"dur\":1}]"), 0);
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":-" FAR ",\"dur\":1}]"),
                     -INT64_C(13984392629999074));
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":1.3984392629999074e+16,\"dur\":1}]"),
                     INT64_C(13984392629999074));
    assert_int_equal(of("[{\"ph\":\"b\",\"ts\":1700000000000000000,\"id\":1}]"),
                     INT64_C(1700000000000000000));
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":1e30,\"dur\":1}]"), 0);
    assert_int_equal(of("[{\"ph\":\"X\",\"ts\":99999999999999999999,\"dur\":1}]"), 0);
    assert_int_equal(of(""), 0);
}

#define X(ts) "{\"ph\":\"X\",\"ts\":" ts ",\"dur\":1}"

TEST(one_far_time_among_others_is_a_mistake)
{
    assert_int_equal(of("[" X("9000000000000000000") "," X("1700000000000000") "," X(
                         "1700000000000001") "]"),
                     0);
    assert_int_equal(of("[" X("0") "," X(FAR) "," X("13984392629999075") "]"),
                     INT64_C(13984392629999074));
    assert_int_equal(of("[" X("1") "," X("1") "," X("1") "," X("1") "," X(FAR) "," X(FAR) "," X(
                         FAR) "," X(FAR) "," X(FAR) "]"),
                     0); /* eight are enough */
}

TEST(without_ranges_the_first_events_decide)
{
    assert_int_equal(of("[{\"ph\":\"M\",\"ts\":5},{\"ph\":\"O\",\"ts\":" FAR "},"
                        "{\"ph\":\"O\",\"ts\":0},{\"ph\":\"O\",\"ts\":" FAR "}]"),
                     INT64_C(13984392629999074));
    assert_int_equal(of("[{\"ph\":\"i\",\"ts\":7},{\"ph\":\"i\",\"ts\":" FAR "}]"), 0);
}

TEST(times_count_from_there_to_the_nanosecond)
{
    static const char text[] =
        "[{\"ph\":\"i\",\"name\":\"before\",\"ts\":13984392629999073.999},"
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":" FAR ".25,\"dur\":1.001},"
        "{\"ph\":\"X\",\"name\":\"b\",\"ts\":13984392630000074,\"dur\":2},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":0,\"args\":{\"name\":\"p\"}},"
        "{\"ph\":\"i\",\"name\":\"far\",\"ts\":5}]";
    const struct osc_import_options options = {.n_threads = 1};
    struct osc_trace t = {0};

    assert_int_equal(
        osc_import_memory(&t, "far", (struct osc_str){text, sizeof text - 1}, &options, NULL),
        OSC_OK);
    const struct osc_chunk *const c = t.events.chunks[1];
    assert_int_equal(c->n_rows, 3);
    assert_int_equal(c->ts_ns[0], -1);
    assert_int_equal(c->ts_ns[1], 250);
    assert_int_equal(c->dur_ns[1], 1001);
    assert_int_equal(c->ts_ns[2], 1000000);
    assert_int_equal(t.findings.by_code[OSC_FINDING_far_clock].count, 1);
    assert_int_equal(t.findings.by_code[OSC_FINDING_out_of_range].count, 1);
    osc_trace_fini(&t);
}

UNIT_MAIN("far_clock")
