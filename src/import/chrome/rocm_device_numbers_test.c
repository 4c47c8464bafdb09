/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/rocm_device_numbers.h"

#include "base/strbuf.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;
static const char *told; /* the member opscope_devices; NULL: none */

static int end(void **state)
{
    (void)state;
    told = NULL;
    osc_trace_fini(&trace);
    return 0;
}

/*
 * The devices of queues, "hip:0 hip:1", in a trace with the properties of N_LISTED devices, a
 * memory record of each device of MEMORY, and work of each agent of AGENTS (digits).
 */
static const char *devices_of(unsigned n_listed, const char *memory, const char *agents)
{
    static char said[128];
    struct osc_strbuf text = {0};
    size_t n = 0;

    osc_trace_fini(&trace);
    osc_strbuf_addc(&text, '{');
    if (told)
        osc_strbuf_addf(&text, "\"%s\":%s,", OSC_DEVICES_MEMBER, told);
    osc_strbuf_adds(&text, "\"deviceProperties\":[");
    for (unsigned i = 0; i < n_listed; i++)
        osc_strbuf_addf(&text, "%s{\"id\":%u,\"name\":\"MI%u\"}", i > 0 ? "," : "", i, i);
    osc_strbuf_adds(&text,
                    "],\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\","
                    "\"name\":\"hipLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}");
    for (; *memory; memory++)
        osc_strbuf_addf(
            &text,
            ",{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":"
            "{\"Device Type\":6,\"Device Id\":%c,\"Addr\":1,\"Bytes\":8}}",
            *memory);
    for (; *agents; agents++)
        osc_strbuf_addf(&text,
                        ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":%c,\"tid\":0,"
                        "\"ts\":2,\"dur\":1,\"args\":{\"device\":%c}}",
                        *agents, *agents);
    osc_strbuf_adds(&text, "]}");
    assert_int_equal(osc_import_memory(&trace, "agents",
                                       (struct osc_str){text.s, (uint32_t)text.len},
                                       &(struct osc_import_options){.n_threads = 1}, NULL),
                     OSC_OK);
    osc_strbuf_fini(&text);
    said[0] = '\0';
    for (uint32_t i = 1; i < trace.n_tracks; i++) {
        const struct osc_str name = osc_trace_str(&trace, trace.tracks[i].device);

        if (name.len > 0)
            n += (size_t)snprintf(said + n, sizeof said - n, "%s%.*s", n > 0 ? " " : "",
                                  (int)name.len, name.s);
    }
    return said;
}

static bool is_unmatched(void)
{
    return trace.findings.by_code[OSC_FINDING_device_unmatched].count > 0;
}

TEST_WITH(the_only_device_is_the_only_agent_with_work, NULL, end)
{
    assert_string_equal(devices_of(1, "", "9"), "hip:0");
    assert_false(is_unmatched());
    assert_string_equal(osc_trace_str(&trace, trace.devices[0].name).s, "hip:0");
}

TEST_WITH(memory_records_tell_which_device_an_agent_is, NULL, end)
{
    assert_string_equal(devices_of(8, "0", "2"), "hip:0");
    assert_string_equal(devices_of(8, "3", "5"), "hip:3");
    assert_string_equal(devices_of(8, "5", "5"), "hip:5");
    assert_string_equal(devices_of(0, "01", "23"), "hip:0 hip:1");
    assert_false(is_unmatched());
}

TEST_WITH(all_agents_at_work_are_all_devices, NULL, end)
{
    assert_string_equal(devices_of(4, "", "2345"), "hip:0 hip:1 hip:2 hip:3");
    assert_string_equal(devices_of(4, "", "0"), "hip:0");
    assert_false(is_unmatched());
}

TEST_WITH(what_nothing_tells_stays_and_is_reported, NULL, end)
{
    assert_string_equal(devices_of(8, "", "2"), "hip:2");
    assert_true(is_unmatched());
    assert_string_equal(devices_of(0, "", "2"), "hip:2");
    assert_true(is_unmatched());
    /* More devices than agents allow. */
    assert_string_equal(devices_of(2, "", "24"), "hip:2 hip:4");
    assert_true(is_unmatched());
}

UNIT_MAIN("rocm_device_numbers")

/* A part of a trace lacks devices by which the number was told. */
TEST_WITH(a_part_says_how_its_devices_are_called, NULL, end)
{
    told = "[\"hip\",0]";
    assert_string_equal(devices_of(0, "0", "1"), "hip:1");
    told = "[\"hip\",2]";
    assert_string_equal(devices_of(8, "", "3"), "hip:1");
    assert_string_equal(devices_of(8, "", "1"), "hip:1"); /* no number of programs is below 0 */
    told = "[\"xpu\",0]";
    assert_string_equal(devices_of(0, "", "1"), "xpu:1");
    told = "[\"hip\",64]"; /* more than a machine has: as if it said nothing */
    assert_string_equal(devices_of(0, "0", "1"), "hip:0");
}
