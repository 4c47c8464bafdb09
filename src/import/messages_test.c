/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that programs print into the file that they write: before, between and behind events.
 */
#include "base/mem.h"
#include "import/import.h"
#include "support/unit.h"

/* The expected number of events; CODE is counted once. */
struct broken {
    const char *json;
    enum osc_finding_code code;
    uint32_t n_rows;
};

static struct osc_trace load_in(const char *json, unsigned n_threads, uint32_t unit_bytes)
{
    const struct osc_import_options o = {.n_threads = n_threads, .unit_bytes = unit_bytes};
    struct osc_trace t = {0};

    assert_int_equal(osc_import_memory(&t, "test", osc_str_c(json), &o, NULL), OSC_OK);
    return t;
}

static struct osc_trace load(const char *json)
{
    return load_in(json, 1, 0);
}

static uint64_t count(const struct osc_trace *t, enum osc_finding_code code)
{
    return t->findings.by_code[code].count;
}

/* Check that T, of JSON, is the same if threads read pieces of the text. */
static void assert_same_in_pieces(const struct osc_trace *t, const char *json)
{
    for (uint32_t bytes = 1; bytes < 64; bytes += 7) {
        struct osc_trace other = load_in(json, 3, bytes);

        assert_int_equal(other.events.n_rows, t->events.n_rows);
        assert_int_equal(other.max_end_ns, t->max_end_ns);
        for (unsigned i = 0; i < OSC_FINDING_COUNT; i++)
            assert_memory_equal(&other.findings.by_code[i], &t->findings.by_code[i],
                                sizeof t->findings.by_code[i]);
        osc_trace_fini(&other);
    }
}

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
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_trace t = load(cases[i].json);

        if (t.events.n_rows != cases[i].n_rows || count(&t, cases[i].code) != 1)
            fail_msg("%s: %u rows, %s %llu times", cases[i].json, t.events.n_rows,
                     osc_finding_code_text(cases[i].code),
                     (unsigned long long)count(&t, cases[i].code));
        assert_same_in_pieces(&t, cases[i].json);
        osc_trace_fini(&t);
    }
}

UNIT_MAIN("messages")
