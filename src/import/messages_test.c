/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that programs print into the file that they write: before, between and behind events.
 */
#include "support/broken_text.h"

#define AT_LINE(ts) "{\"ph\":\"i\",\"ts\":" #ts "}"

/* Messages that were printed into the file cost nothing but themselves. */
TEST(reads_all_events_around_text)
{
    static const struct broken cases[] = {
        {"[" AT_LINE(1) ",\nSTAGE:2023-05-05 17:51:50 40158:40158 a.cpp:311] Warm Up\n" AT_LINE(
             2) ",\n" AT_LINE(3) "]",
         OSC_FINDING_corrupt, 3},
        {"[" AT_LINE(1) "\nWARNING: one, two\n," AT_LINE(2) "]", OSC_FINDING_corrupt, 2},
        {"[\n[W1124 12:00:00 a.cpp:12] it's late\n" AT_LINE(1) "]", OSC_FINDING_corrupt, 1},
        {"[" AT_LINE(1) ",\n[1124 12:00 no end\n" AT_LINE(2) "]", OSC_FINDING_corrupt, 2},
        {"[" AT_LINE(1) ",\n[2024-05-05 10:00:00] INFO x\n" AT_LINE(2) "]", OSC_FINDING_corrupt,
         2},
        {"[" AT_LINE(1) ",\n\"quoted\" words\n" AT_LINE(2) "]", OSC_FINDING_corrupt, 2},
        {"[" AT_LINE(1) ",\n{'loss': 2.5}\n" AT_LINE(2) "," AT_LINE(3) "]", OSC_FINDING_corrupt,
         3},
        {"[" AT_LINE(1) ",noise " AT_LINE(2) "," AT_LINE(3) "]", OSC_FINDING_corrupt, 3},
        {"[" AT_LINE(1) ",\nnoise\n{ \"ph\":\"i\",\"ts\":2}\n,{ \"ph\":\"i\",\"ts\":3}]",
         OSC_FINDING_corrupt, 3},
        {"[" AT_LINE(1) "\nlast words\n]", OSC_FINDING_corrupt, 1},
        {"{\"traceEvents\":[" AT_LINE(1) ",\nwords [ and {\n" AT_LINE(2) "]}",
         OSC_FINDING_corrupt, 2},
        {"WARNING: first\n[" AT_LINE(1) "]", OSC_FINDING_repaired_list, 1},
        {"[W1124 a.cpp] first\nsecond {x}\n\n{\"traceEvents\":[" AT_LINE(1) "," AT_LINE(2) "]}",
         OSC_FINDING_repaired_list, 2},
        {"," AT_LINE(1) "\n," AT_LINE(2), OSC_FINDING_repaired_list, 2},
        {AT_LINE(1) "\n" AT_LINE(2) "\n" AT_LINE(3) "\n", OSC_FINDING_repaired_list, 3},
        {AT_LINE(1) "\nwords\n" AT_LINE(2) "\n" AT_LINE(3), OSC_FINDING_repaired_list, 3},
        {"words\n" AT_LINE(1) ",\n" AT_LINE(2) "\n]", OSC_FINDING_repaired_list, 2},
        {"{\"args\":{\"ph\":1,\"a\":[{}]},\"ts\":1,\"ph\":\"i\"}", OSC_FINDING_repaired_list,
         1},
        {"{\"traceEvents\":{\"traceEvents\":[" AT_LINE(1) "," AT_LINE(2) "]}}",
         OSC_FINDING_repaired_list, 2},
        {"{\"a\":1,\"traceEvents\":{\"traceEvents\":[" AT_LINE(1) "],\"b\":2},\"c\":3}",
         OSC_FINDING_repaired_list, 1},
        {"{\"traceEvents\":[" AT_LINE(1) "],\"b\":1,\"traceEvents\":[" AT_LINE(2) "]}",
         OSC_FINDING_repaired_list, 2},
        {"{\"traceEvents\":[" AT_LINE(1) "]}\n{\"traceEvents\":[" AT_LINE(2) "]}\n",
         OSC_FINDING_repaired_list, 2},
        {"[" AT_LINE(1) "][" AT_LINE(2) "]", OSC_FINDING_repaired_list, 2},
        {"[" AT_LINE(1) AT_LINE(2) "," AT_LINE(3) "]", OSC_FINDING_repaired_list, 3},
        {"[" AT_LINE(1) ",\n" AT_LINE(2) "\n" AT_LINE(3) "]", OSC_FINDING_repaired_list, 3},
        {"[{\"ts\":1 \"ph\":\"i\"}," AT_LINE(2) "]", OSC_FINDING_repaired_list, 2},
        {"[{\"ph\":\"i\",\"args\":{\"a\":1 \"b\":2},\"ts\":1}]", OSC_FINDING_repaired_list, 1},
        {"[{\"ph\":\"i\",\"args\":{\"a\":1} \"ts\":1}]", OSC_FINDING_repaired_list, 1},
        {"{\"a\":1 \"traceEvents\":[" AT_LINE(1) "]}", OSC_FINDING_repaired_list, 1},
        {"{\"traceEvents\":[" AT_LINE(1) "] \"a\":1}", OSC_FINDING_repaired_list, 1},
    };

    assert_repaired(cases, sizeof cases / sizeof *cases);
}

TEST(says_where_a_list_lies_that_it_does_not_read)
{
    static const char *const deep[] = {
        "{\"a\":{\"traceEvents\":{\"traceEvents\":[" AT_LINE(1) "]}}}",
        "{\"before\":{\"traceEvents\":[" AT_LINE(1) "]},"
                                                    "\"after\":{\"traceEvents\":[" AT_LINE(
                                                        2) "]}}",
    };
    const struct osc_import_options o = {.n_threads = 1};

    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        struct osc_trace t = {0};
        struct osc_err err = {0};

        assert_int_equal(osc_import_memory(&t, "test", osc_str_c(deep[i]), &o, &err),
                         OSC_EFORMAT);
        assert_non_null(strstr(err.message, "\"traceEvents\" lies within other objects"));
    }
}

TEST(a_trace_in_a_member_is_not_part_of_the_trace)
{
    static const char *const texts[] = {
        "{\"baseline\":{\"traceEvents\":[" AT_LINE(1) "," AT_LINE(
            2) "]},"
               "\"traceEvents\":[" AT_LINE(3) "]}",
        "{\"traceEvents\":[" AT_LINE(3) "],"
                                        "\"baseline\":{\"traceEvents\":[" AT_LINE(
                                            1) "," AT_LINE(2) "]}}",
    };
    const struct osc_import_options o = {.n_threads = 1};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct osc_trace t = {0};
        struct osc_err err = {0};

        assert_int_equal(osc_import_memory(&t, "test", osc_str_c(texts[i]), &o, &err), OSC_OK);
        assert_int_equal(t.events.n_rows, 1);
        assert_int_equal(t.events.chunks[1]->ts_ns[0], 3000);
        for (unsigned code = 0; code < OSC_FINDING_COUNT; code++)
            assert_int_equal(t.findings.by_code[code].count, 0);
        osc_trace_fini(&t);
    }
}

UNIT_MAIN("messages")
