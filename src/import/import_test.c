/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "support/broken_text.h"
#include "support/peak.h"
#include "support/unit.h"

static void assert_name(const struct osc_trace *t, uint32_t row, const char *expected)
{
    const struct osc_str name = osc_row_name(t, t->events.chunks[1], row);

    assert_int_equal(name.len, strlen(expected));
    assert_memory_equal(name.s, expected, name.len);
}

TEST(rounds_start_and_end_half_up_and_subtracts)
{
    /* 1000.5 ns -> 1001; end 1000.5 + 1000.4 = 2000.9 -> 2001 */
    struct osc_trace t = load("[{\"ph\":\"X\",\"ts\":1.0005,\"dur\":1.0004},"
                              "{\"ph\":\"X\",\"ts\":-0.0005,\"dur\":1e-3}]");
    const struct osc_chunk *c = t.events.chunks[1];

    assert_int_equal(c->ts_ns[0], 1001);
    assert_int_equal(c->dur_ns[0], 1000);
    assert_int_equal(c->ts_ns[1], 0);
    assert_int_equal(c->dur_ns[1], 1);
    osc_trace_fini(&t);
    t = load("[{\"ph\":\"X\",\"ts\":\"1712195495891788.750\",\"dur\":\"2\"}]");
    assert_int_equal(t.events.chunks[1]->ts_ns[0], 1712195495891788750);
    assert_int_equal(t.events.chunks[1]->dur_ns[0], 2000);
    osc_trace_fini(&t);
}

TEST(reads_names_with_bare_quotation_marks_whole)
{
    struct osc_trace t = load("{\"traceEvents\": [\n"
                              "  {\n    \"ph\": \"X\",\n    \"cat\": \"user_annotation\",\n"
                              "    \"name\": \"a \"quoted\" label\",\n    \"pid\": 1,\n"
                              "    \"tid\": 1,\n    \"ts\": 1,\n    \"dur\": 2\n  },\n"
                              "  {\n    \"ph\": \"X\",\n    \"cat\": \"user_annotation\",\n"
                              "    \"name\": \"x\", \"y\",\n    \"pid\": 1,\n"
                              "    \"tid\": 1,\n    \"ts\": 1,\n    \"dur\": 2\n  },\n"
                              "  {\"ph\": \"i\", \"name\": \"b \"c\" d\", \"ts\": 3}]}");

    assert_int_equal(t.events.n_rows, 3);
    assert_name(&t, 0, "a \"quoted\" label");
    assert_name(&t, 1, "x\", \"y");
    assert_name(&t, 2, "b \"c\" d");
    assert_int_equal(count(&t, OSC_FINDING_repaired_name), 3);
    assert_int_equal(count(&t, OSC_FINDING_corrupt), 0);
    osc_trace_fini(&t);
}

TEST(keeps_every_argument_with_its_type)
{
    struct osc_trace t = load("[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"id\":9,\"args\":{\"a\":1,"
                              "\"b\":-5000000000,\"c\":0.5,\"d\":\"s\",\"e\":[1,{\"x\":2}],"
                              "\"f\":true,\"g\":null,\"h\":18446744073709551615}}]");
    const struct osc_chunk *c = t.events.chunks[1];
    const struct osc_form *f = osc_row_form(&t, c, 0);
    static const enum osc_arg_type types[] = {OSC_ARG_INT32,  OSC_ARG_INT32,  OSC_ARG_INT64,
                                              OSC_ARG_DOUBLE, OSC_ARG_STRING, OSC_ARG_TEXT,
                                              OSC_ARG_TRUE,   OSC_ARG_NULL,   OSC_ARG_NUMTEXT};

    assert_int_equal(f->n_slots, 9);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(f->slots[i].type, types[i]);
    assert_true(f->slots[0].is_member);
    assert_int_equal(osc_row_slot(&t, c, 0, 2).i, -5000000000);
    assert_true(osc_row_slot(&t, c, 0, 3).d == 0.5);
    const struct osc_str text = osc_trace_str(&t, osc_row_slot(&t, c, 0, 5).sid);
    assert_int_equal(text.len, 11);
    assert_memory_equal(text.s, "[1,{\"x\":2}]", 11);
    osc_trace_fini(&t);
}

TEST(pairs_begins_with_ends_in_order_of_the_file)
{
    struct osc_trace t = load("[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},"
                              "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,"
                              "\"args\":{\"x\":1}},"
                              "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":3,"
                              "\"args\":{\"x\":2,\"y\":3}},"
                              "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
                              "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":6},"
                              "{\"ph\":\"B\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":7}]");
    const struct osc_chunk *c = t.events.chunks[1];

    assert_int_equal(t.events.n_rows, 3);
    assert_int_equal(c->dur_ns[0], 4000);
    assert_int_equal(c->dur_ns[1], 1000);
    assert_true(c->dur_ns[2] == OSC_NO_DUR);
    assert_int_equal(osc_row_form(&t, c, 1)->n_slots, 2);
    assert_int_equal(osc_row_slot(&t, c, 1, 0).i, 2);
    assert_int_equal(osc_row_slot(&t, c, 1, 1).i, 3);
    assert_int_equal(count(&t, OSC_FINDING_unmatched_end), 1);
    assert_int_equal(count(&t, OSC_FINDING_open_range), 1);
    osc_trace_fini(&t);
}

TEST(keeps_differences_of_times_within_64_bits)
{
    struct osc_trace t = load("[{\"ph\":\"B\",\"ts\":-4611686018427387.903},"
                              "{\"ph\":\"E\",\"ts\":4611686018427387.903},"
                              "{\"ph\":\"i\",\"ts\":4611686018427387.904},"
                              "{\"ph\":\"i\",\"ts\":-4611686018427387.904}]");

    assert_int_equal(t.events.n_rows, 1);
    assert_true(t.events.chunks[1]->dur_ns[0] == INT64_MAX - 1);
    assert_true(t.max_end_ns - t.min_ts_ns == INT64_MAX - 1);
    assert_int_equal(count(&t, OSC_FINDING_out_of_range), 2);
    osc_trace_fini(&t);
}

TEST(reads_the_rest_of_what_is_broken_in_part)
{
    static const struct broken cases[] = {
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"t", OSC_FINDING_truncated, 1},
        {"[{\"ph\":\"i\",\"ts\":1},\n", OSC_FINDING_unclosed_list, 1},
        {"[{\"ph\":\"i\",\"ts\":1}", OSC_FINDING_unclosed_list, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1},", OSC_FINDING_truncated, 1},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":oops \"i\"},{\"ph\":\"i\",\"ts\":2}]",
         OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1},,{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1}],{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1,{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 1},
        {"[{\"ph\":\"i\",\"ts\":1},[{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1},[ [{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1}]],{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1}],[{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1}] } ,\n{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1}]},\"a\":3},{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_wrong_type,
         2},
        {"[{\"ph\":\"i\",\"ts\":1}]]", OSC_FINDING_corrupt, 1},
        {"[{\"ph\":\"i\",\"ts\":1}]}", OSC_FINDING_corrupt, 1},
        {"[{\"ph\":\"i\",\"ts\":1}],", OSC_FINDING_corrupt, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]}}", OSC_FINDING_corrupt, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]]}", OSC_FINDING_corrupt, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}],[{\"ph\":\"i\",\"ts\":2}]}",
         OSC_FINDING_corrupt, 2},
        {"[{\"ph\":\"i\",\"ts\":1},null,{\"ph\":\"i\",\"ts\":2}]", OSC_FINDING_wrong_type, 2},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"ts\":null}]", OSC_FINDING_wrong_type, 1},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":[]}]", OSC_FINDING_wrong_type,
         2},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"ts\":1e30}]", OSC_FINDING_out_of_range, 1},
        {"[{\"ph\":\"X\",\"ts\":1,\"dur\":-2}]", OSC_FINDING_negative_duration, 1},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"Q\",\"ts\":1}]", OSC_FINDING_unknown_phase, 1},
        {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"\xff\"}]", OSC_FINDING_not_utf8, 1},
        {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"\\ud800\"}]", OSC_FINDING_not_utf8, 1},
        {"[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":2}]",
         OSC_FINDING_unmatched_end, 1},
        {"[{\"ph\":\"b\",\"id\":1,\"ts\":1}]", OSC_FINDING_unmatched_begin, 1},
        {"{\"samples\":[{\"sf\":1}],\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]}",
         OSC_FINDING_call_samples, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1,\"sf\":1}],\"stackFrames\":{\"1\":{}}}",
         OSC_FINDING_event_stacks, 1},
        {"[{\"ph\":\"i\",\"ts\":1}] and more", OSC_FINDING_corrupt, 1},
        {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]} and more", OSC_FINDING_corrupt, 1},
    };

    assert_repaired(cases, sizeof cases / sizeof *cases);
}

#define ARGS(x)   "{\"ph\":\"i\",\"ts\":1,\"args\":{" x "}}"
#define AT(ts)    "{\"ph\":\"i\",\"ts\":" #ts "}"
#define BROKEN(x) AT(7) "," ARGS(x) "," AT(8) "," AT(9)

/* A missing bracket or quotation mark costs only its own event and is counted where that
 * begins. */
TEST(a_lost_bracket_of_arguments_takes_one_event)
{
    static const char *const lists[] = {
        BROKEN("\"a\":[1,2,\"b\":[{\"c\":1}, {\"c\":2}],\"e\":{}"),
        BROKEN("\"a\":1,2],\"b\":[{\"c\":1}, {\"c\":2}],\"e\":{}"),
        BROKEN("\"b\":[{\"c\":1}, {\"c\":2},\"e\":{}"),
        BROKEN("\"b\":[\"c\":1}, {\"c\":2}],\"e\":{}"),
        BROKEN("\"b\":{x\",\"c\":\"y\""),
        BROKEN("\"b\":[x\",\"c\":\"y\""),
        BROKEN("\"b\":[\"x,\"c\":1]"),
        BROKEN("\"b\":x\",\"c\":[\"y\"]"),
        AT(7) ","
              "{\"ph\":\"i\",\"ts\":1,\"args\":{\"b\":[{\"c\":1},\n" AT(8) "," AT(9),
        AT(7) ","
              "{\"ph\":\"i\",\"ts\":1,\"args\":{\"b\":[{\"c\":1},\n{ \"ph\" : \"i\",\"ts\":8}"
              "," AT(9),
        AT(7) ","
              "{\"ph\":\"i\",\"ts\":1,\"args\":{\"b\":1},\n" AT(8) "," AT(9),
    };

    for (size_t i = 0; i < 2 * sizeof lists / sizeof *lists; i++) {
        const bool is_bare = i % 2 == 0;
        char json[512];

        snprintf(json, sizeof json, "%s%s]%s", is_bare ? "[" : "{\"traceEvents\":[",
                 lists[i / 2], is_bare ? "" : ",\"schemaVersion\":1}");
        struct osc_trace t = load(json);
        const struct osc_finding *const f = &t.findings.by_code[OSC_FINDING_corrupt];
        const uint64_t offset = (uint64_t)(strstr(json, "},{") + 2 - json);
        uint32_t n_good = 0;

        for (uint32_t r = 0; r < t.events.n_rows; r++)
            n_good += t.events.chunks[1]->ts_ns[r] >= 7000;
        if (n_good != 3 || f->count == 0 || f->first_offset != offset)
            fail_msg("%s: %u events, corrupt %llu times, first at %llu, not %llu", json, n_good,
                     (unsigned long long)f->count, (unsigned long long)f->first_offset,
                     (unsigned long long)offset);
        assert_same_in_pieces(&t, json);
        osc_trace_fini(&t);
    }
}

/* An object that begins with a phase is not an event if no bracket is missing. */
TEST(reads_arguments_that_look_like_members_of_events)
{
    static const char json[] =
        "[" ARGS("\"ph\":\"X\",\"a\":{\"ph\":\"X\"},\"b\":[{\"ph\":1}]") "]";
    struct osc_trace t = load(json);

    assert_int_equal(t.events.n_rows, 1);
    assert_int_equal(count(&t, OSC_FINDING_corrupt), 0);
    osc_trace_fini(&t);
}

#define OBJECT(x) "{\"traceEvents\":[" x "],\"displayTimeUnit\":\"ms\"}"

TEST(reads_all_documents_of_a_file_or_counts_them)
{
    static const struct {
        const char *json;
        uint32_t n_rows, n_corrupt, n_left_out;
    } cases[] = {
        {OBJECT(AT(1)) OBJECT(AT(2) "," AT(3)), 3, 0, 0},
        {OBJECT(AT(1)) "\n" OBJECT(AT(2)) "\n" OBJECT(AT(3)) "\n", 3, 0, 0},
        {"[" AT(1) "][" AT(2) "]", 2, 0, 0},
        {"[" AT(1) "," AT(2) "]\n[" AT(3) "]\n" OBJECT(AT(4)) "[" AT(5) "]", 5, 0, 0},
        {"[" AT(1) ",{\"ph\":\"i\",\"args\":{\"a\":[1}]\n[" AT(2) "," AT(3) "]", 3, 1, 0},
        {OBJECT(AT(1)) "{\"a\":1}{\"b\":2}" OBJECT(AT(2)), 2, 0, 2},
        {"{\"a\":1}" OBJECT(AT(1)), 1, 0, 1},
        {OBJECT(AT(1)) AT(2) "\n" AT(3), 3, 0, 0},
        {OBJECT(AT(1)) "\nstage: done\n[1124 12:00] at exit\n" OBJECT(AT(2)), 2, 1, 0},
        {OBJECT(AT(1)) "[" AT(2) "] and more", 2, 1, 0},
        {OBJECT(AT(1)) "[" AT(2), 2, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_trace t = load(cases[i].json);
        struct osc_str value;

        if (t.events.n_rows != cases[i].n_rows ||
            count(&t, OSC_FINDING_corrupt) != cases[i].n_corrupt ||
            count(&t, OSC_FINDING_wrong_type) != cases[i].n_left_out)
            fail_msg("%s: %u rows, corrupt %llu times, wrong_type %llu times", cases[i].json,
                     t.events.n_rows, (unsigned long long)count(&t, OSC_FINDING_corrupt),
                     (unsigned long long)count(&t, OSC_FINDING_wrong_type));
        assert_false(osc_trace_meta(&t, "b", &value) || osc_trace_meta(&t, "ts", &value));
        assert_same_in_pieces(&t, cases[i].json);
        osc_trace_fini(&t);
    }
    struct osc_trace t = load(OBJECT(AT(1)) "\n{\"a\":1}");
    assert_int_equal(t.findings.by_code[OSC_FINDING_wrong_type].first_offset,
                     strlen(OBJECT(AT(1)) "\n"));
    osc_trace_fini(&t);
}

TEST(reads_the_events_of_lists_within_the_list)
{
    static const char json[] =
        "{\"traceEvents\":[[{\"ph\":\"i\",\"ts\":1}],[{\"ph\":\"i\",\"ts\":2}]],\"a\":[[]]}";
    struct osc_trace t = load(json);
    struct osc_str value;

    assert_int_equal(t.events.n_rows, 2);
    assert_int_equal(count(&t, OSC_FINDING_corrupt), 3);
    assert_true(osc_trace_meta(&t, "a", &value));
    assert_same_in_pieces(&t, json);
    osc_trace_fini(&t);
}

TEST(ends_the_list_where_the_keys_behind_it_begin)
{
    static const char *const ends[] = {
        "],\"a\":1}",
        "\n] , \"a\" : 1 }",
        "],\"a\":1}}",
        "]],\"a\":1}",
        "]},\"traceName\":\"n\",\"a\":1}",
        "]],\"traceName\":\"n\",\"a\":1}",
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct osc_str value;
        char json[128];

        snprintf(json, sizeof json, "{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}%s", ends[i]);
        struct osc_trace t = load(json);
        assert_int_equal(t.events.n_rows, 1);
        assert_int_equal(count(&t, OSC_FINDING_truncated), 0);
        if (!osc_trace_meta(&t, "a", &value) ||
            (i < 2) != (count(&t, OSC_FINDING_corrupt) == 0))
            fail_msg("%s", ends[i]);
        assert_same_in_pieces(&t, json);
        osc_trace_fini(&t);
    }
}

TEST(finds_the_events_behind_a_broken_member)
{
    struct osc_trace t = load("{\"a\":[1},\"b\":2,\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]}");
    struct osc_str value;

    assert_int_equal(t.events.n_rows, 1);
    assert_true(osc_trace_meta(&t, "b", &value));
    assert_true(count(&t, OSC_FINDING_corrupt) > 0);
    osc_trace_fini(&t);
}

TEST(says_what_was_expected_where_nothing_can_be_read)
{
    static const char *const inputs[] = {
        "", " \n", "hello", "{\"a\": 1}", "{", "[1, 2]", "{\"traceEvents\": 7}"};
    const struct osc_import_options o = {.n_threads = 1};

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct osc_trace t = {0};
        struct osc_err err = {0};

        assert_int_equal(osc_import_memory(&t, "x.json", osc_str_c(inputs[i]), &o, &err),
                         OSC_EFORMAT);
        assert_ptr_equal(strstr(err.message, "x.json: "), err.message);
        assert_non_null(strstr(err.message, "expected"));
        assert_int_equal(t.n_tracks, 0);
    }
}

#if OSC_WITH_GZIP && OSC_WITH_ZSTD

TEST(says_what_is_wrong_with_what_is_compressed)
{
    static const struct {
        const char *bytes;
        uint32_t len;
        osc_status status;
        const char *message;
    } cases[] = {
        {"\x1f\x8b\x08\0\0", 5, OSC_ETRUNC,
         "t: gzip member 1: the end of the input at compressed byte 5, before any event; "
         "copy the file again, or let the program finish writing it"},
        {"\x1f\x8b\x08\0\0\0\0\0\0\3\x7\0\0\0\0\0\0\0\0", 19, OSC_EFORMAT,
         "a damaged block at compressed byte"},
        {"\x28\xb5\x2f\xfd\0\xa8\1\0\0\0\0\0\0", 13, OSC_ELIMIT,
         "compress it again without --long"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct osc_str bytes = {cases[i].bytes, cases[i].len};

        for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
            const struct osc_import_options o = {.n_threads = n_threads};
            struct osc_trace t = {0};
            struct osc_err err = {0};

            assert_int_equal(osc_import_memory(&t, "t", bytes, &o, &err), cases[i].status);
            if (!strstr(err.message, cases[i].message) || !strchr(err.message, ';'))
                fail_msg("\"%s\"", err.message);
            assert_false(t.is_partial);
        }
    }
}

#endif

TEST(refuses_what_is_no_file)
{
    static const char *const paths[] = {"/", "/dev/null", "/nowhere/at/all.json"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct osc_import_options o = {0};
        struct osc_trace t = {0};
        struct osc_err err = {0};

        assert_int_not_equal(osc_import_path(&t, paths[i], &o, &err), OSC_OK);
        assert_ptr_equal(strstr(err.message, paths[i]), err.message);
    }
}

/* Append N events of several layouts to B. */
static void make_events(struct osc_strbuf *b, uint32_t n)
{
    osc_strbuf_adds(b, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            osc_strbuf_adds(b, ",\n");
        if (i % 7 == 3)
            osc_strbuf_addf(b,
                            "  {\"ph\": \"s\", \"id\": %u, \"pid\": 3, \"tid\": 4, \"ts\": %u,"
                            " \"cat\": \"ac2g\", \"name\": \"ac2g\"}",
                            i, i);
        else
            osc_strbuf_addf(b,
                            "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op%u\","
                            " \"pid\": 3, \"tid\": \"%u\",\n    \"ts\": %u.%03u, \"dur\": %u,\n"
                            "    \"args\": {\"External id\": %lld, \"f\": %u.5, \"s\": "
                            "\"v\\n%u\", \"Input Dims\": [[%u, 2], []]}\n  }",
                            i % 50, i % 3, i, i % 1000, i % 9, (long long)i * i * i, i, i % 11,
                            i % 13);
    }
    osc_strbuf_adds(b, "\n], \"traceName\": \"t\"}");
    assert_int_equal(b->status, OSC_OK);
}

TEST(gives_the_same_trace_with_any_threads_units_and_blocks)
{
    static const struct osc_import_options ways[] = {
        {.n_threads = 1},
        {.n_threads = 1, .kernel = "plain"},
        {.n_threads = 2, .unit_bytes = 5000},
        {.n_threads = 4, .unit_bytes = 777, .block_bytes = 333},
        {.n_threads = 1, .block_bytes = 1},
        {.n_threads = 3, .unit_bytes = 100000, .kernel = "none"},
    };
    const struct osc_import_options slow = {.n_threads = 1, .kernel = "none"};
    struct osc_strbuf b = {0};
    struct osc_trace t = {0};

    make_events(&b, 3000);
    const struct osc_str text = {b.s, (uint32_t)b.len};
    assert_int_equal(osc_import_memory(&t, "t", text, &slow, NULL), OSC_OK);
    const uint64_t expected = fingerprint(&t);
    osc_trace_fini(&t);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(osc_import_memory(&t, "t", text, &ways[i], NULL), OSC_OK);
        assert_true(fingerprint(&t) == expected);
        osc_trace_fini(&t);
    }
    osc_strbuf_fini(&b);
}

/* A thread that begins within a list does not know of which sort it is. */
TEST(tells_a_list_without_an_end_in_any_unit)
{
    static const struct {
        const char *head;
        enum osc_finding_code code;
    } cases[] = {
        {"[", OSC_FINDING_unclosed_list},
        {"{\"traceEvents\":[", OSC_FINDING_truncated},
    };
    const struct osc_import_options o = {.n_threads = 2, .unit_bytes = 200};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_strbuf b = {0};
        struct osc_trace t = {0};

        osc_strbuf_adds(&b, cases[i].head);
        for (unsigned k = 0; k < 100; k++)
            osc_strbuf_addf(&b, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1},\n", k);
        assert_int_equal(osc_import_memory(&t, "test", osc_str_c(b.s), &o, NULL), OSC_OK);
        assert_int_equal(t.events.n_rows, 100);
        assert_int_equal(count(&t, cases[i].code), 1);
        assert_int_equal(count(&t, OSC_FINDING_unclosed_list) +
                             count(&t, OSC_FINDING_truncated) + count(&t, OSC_FINDING_corrupt),
                         1);
        osc_trace_fini(&t);
        osc_strbuf_fini(&b);
    }
}

/* Each bracket of one event in turn is left out or replaced by the other kind. */
TEST(loses_one_event_to_one_wrong_bracket)
{
    static const char event[] = "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1,"
                                "\"args\":{\"a\":[[1,2],[],{\"b\":[3]}],\"c\":{}}}";
    static const char brackets[] = "[]{}", others[] = "{}[]";
    const struct osc_import_options slow = {.n_threads = 1, .kernel = "none"};
    const struct osc_import_options fast = {.n_threads = 2, .unit_bytes = 200};
    const char *from;
    size_t start = 0, end = 0;
    struct osc_strbuf b = {0};

    osc_strbuf_adds(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < 8; i++) {
        start = i == 4 ? b.len + 1 : start;
        osc_strbuf_adds(&b, i > 0 ? "," : "");
        osc_strbuf_addf(&b, event, i);
        end = i == 4 ? b.len : end;
    }
    osc_strbuf_adds(&b, "],\"traceName\":\"t\"}");
    assert_int_equal(b.status, OSC_OK);
    for (size_t i = start; i < end; i++) {
        for (int k = 0; (from = strchr(brackets, b.s[i])) && k < 2; k++) {
            struct osc_strbuf broken = {0};
            struct osc_trace t = {0};
            struct osc_str name;

            osc_strbuf_add(&broken, b.s, i);
            osc_strbuf_add(&broken, others + (from - brackets), (size_t)k);
            osc_strbuf_adds(&broken, b.s + i + 1);
            const struct osc_str text = {broken.s, (uint32_t)broken.len};
            assert_int_equal(osc_import_memory(&t, "t", text, &slow, NULL), OSC_OK);
            const uint64_t expected = fingerprint(&t);
            const uint64_t n =
                count(&t, OSC_FINDING_corrupt) + count(&t, OSC_FINDING_wrong_type);
            if (t.events.n_rows != 7 || !osc_trace_meta(&t, "traceName", &name) || n == 0)
                fail_msg("%s: %u rows", broken.s, t.events.n_rows);
            osc_trace_fini(&t);
            assert_int_equal(osc_import_memory(&t, "t", text, &fast, NULL), OSC_OK);
            assert_true(fingerprint(&t) == expected);
            osc_trace_fini(&t);
            osc_strbuf_fini(&broken);
        }
    }
    osc_strbuf_fini(&b);
}

/* Values nested deeper than the fast path reads, as deep as allowed, and deeper. */
TEST(keeps_the_event_whatever_the_depth)
{
    static const uint32_t depths[] = {1, 62, 63, 64, 65, 128, 10000, 10001, 100000};

    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct osc_strbuf b = {0};

        osc_strbuf_addc(&b, '[');
        for (unsigned k = 0; k < 3; k++) {
            osc_strbuf_adds(&b, k > 0 ? "," : "");
            osc_strbuf_adds(&b, "{\"ph\":\"i\",\"ts\":1,\"args\":{\"a\":");
            for (uint32_t d = 0; d < depths[i]; d++)
                osc_strbuf_adds(&b, d % 3 == 1 ? "{\"x\":" : "[");
            for (uint32_t d = depths[i]; d-- > 0;)
                osc_strbuf_addc(&b, d % 3 == 1 ? '}' : ']');
            osc_strbuf_adds(&b, ",\"b\":1}}");
        }
        osc_strbuf_addc(&b, ']');
        assert_int_equal(b.status, OSC_OK);
        struct osc_trace t = load(b.s);
        const bool is_kept = depths[i] <= 10000;
        assert_int_equal(t.events.n_rows, 3);
        assert_int_equal(count(&t, OSC_FINDING_too_deep), is_kept ? 0 : 3);
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(osc_row_form(&t, t.events.chunks[1], k)->n_slots, 1 + is_kept);
        osc_trace_fini(&t);
        osc_strbuf_fini(&b);
    }
}

/* Text of N bytes around the limit, as a name and as a list, wherever blocks end. */
TEST(cuts_at_the_same_place_whatever_the_blocks)
{
    static const uint32_t block_bytes[] = {300000, 32 << 20};

    for (uint32_t n = 16 << 20; n < (16 << 20) + 2; n++) {
        const uint32_t is_cut = n > 16 << 20;
        struct osc_strbuf b = {0};

        osc_strbuf_adds(&b, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"x\",\"args\":{\"a\":[2]}},"
                            "{\"ph\":\"i\",\"ts\":1,\"name\":\"");
        osc_strbuf_pad(&b, 'x', n);
        osc_strbuf_adds(&b, "\",\"args\":{\"a\":[");
        osc_strbuf_pad(&b, ' ', n - 2);
        osc_strbuf_adds(&b, "]}},{\"ph\":\"i\",\"ts\":2}]");
        assert_int_equal(b.status, OSC_OK);
        for (size_t i = 0; i < sizeof block_bytes / sizeof *block_bytes; i++) {
            const struct osc_import_options o = {.n_threads = 1, .block_bytes = block_bytes[i]};
            struct osc_trace t = {0};

            assert_int_equal(
                osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, NULL),
                OSC_OK);
            assert_int_equal(t.events.n_rows, 3);
            assert_int_equal(osc_row_name(&t, t.events.chunks[1], 1).len,
                             is_cut ? 16u << 20 : n);
            assert_int_equal(osc_row_form(&t, t.events.chunks[1], 1)->n_slots, !is_cut);
            assert_int_equal(count(&t, OSC_FINDING_too_long), 2 * is_cut);
            osc_trace_fini(&t);
        }
        osc_strbuf_fini(&b);
    }
}

TEST(cuts_a_string_that_is_too_long_and_keeps_the_event)
{
    const struct osc_import_options o = {.n_threads = 1};
    struct osc_strbuf b = {0};
    struct osc_trace t = {0};

    osc_strbuf_adds(&b, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"");
    osc_strbuf_pad(&b, 'x', (size_t)40 << 20);
    osc_strbuf_adds(&b, "\"},{\"ph\":\"i\",\"ts\":2}]");
    assert_int_equal(b.status, OSC_OK);
    assert_int_equal(
        osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, NULL), OSC_OK);
    assert_int_equal(t.events.n_rows, 2);
    assert_int_equal(osc_row_name(&t, t.events.chunks[1], 0).len, 16u << 20);
    assert_int_equal(count(&t, OSC_FINDING_too_long), 1);
    osc_trace_fini(&t);
    osc_strbuf_fini(&b);
}

/* Blocks end between a backslash and the quotation mark that it escapes. */
TEST(finds_the_end_of_a_long_string_of_escapes)
{
    for (uint32_t odd = 0; odd < 2; odd++) {
        const struct osc_import_options o = {.n_threads = 1, .block_bytes = 1 << 20};
        struct osc_strbuf b = {0};
        struct osc_trace t = {0};

        osc_strbuf_adds(&b, odd ? "[{\"ph\":\"i\",\"ts\":1,\"name\":\""
                                : " [{\"ph\":\"i\",\"ts\":1,\"name\":\"");
        for (uint32_t i = 0; i < 10 << 20; i++)
            osc_strbuf_add(&b, "\\\"", 2);
        osc_strbuf_adds(&b, "\"},{\"ph\":\"i\",\"ts\":2}]");
        assert_int_equal(b.status, OSC_OK);
        assert_int_equal(
            osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, NULL),
            OSC_OK);
        assert_int_equal(t.events.n_rows, 2);
        assert_int_equal(count(&t, OSC_FINDING_too_long), 1);
        assert_int_equal(count(&t, OSC_FINDING_truncated), 0);
        osc_trace_fini(&t);
        osc_strbuf_fini(&b);
    }
}

/* Each of these tokens seems to extend to the line break, hundreds of KiB away. */
TEST(gets_past_a_line_of_broken_tokens_soon)
{
    static const char *const tokens[] = {"{\"name\":\"a},", "{\"a\":[[},"};
    static const char *const ends[] = {"\n\"},", "\"\n},"};

    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const struct osc_import_options o = {.n_threads = 1};
        struct osc_strbuf b = {0};
        struct osc_trace t = {0};

        osc_strbuf_adds(&b, "[");
        for (uint32_t k = 0; k < 100000; k++)
            osc_strbuf_adds(&b, tokens[i]);
        osc_strbuf_adds(&b, ends[i]);
        osc_strbuf_adds(&b, "{\"ph\":\"i\",\"ts\":1},{\"ph\":\"i\",\"ts\":2}]");
        assert_int_equal(b.status, OSC_OK);
        assert_int_equal(
            osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, NULL),
            OSC_OK);
        assert_true(t.events.n_rows > 0);
        assert_true(count(&t, OSC_FINDING_corrupt) > 0);
        osc_trace_fini(&t);
        osc_strbuf_fini(&b);
    }
}

TEST(a_scout_keeps_neither_arguments_nor_what_they_hold)
{
    const char *const text = "[{\"ph\":\"X\",\"name\":\"ProfilerStep#3\",\"ts\":1,\"dur\":9,"
                             "\"args\":{\"a\":\"long\"}},"
                             "{\"ph\":\"X\",\"name\":\"op\",\"ts\":0,\"dur\":9,\"args\":{\"b\":"
                             "\"longer\",\"c\":[1]}},"
                             "{\"ph\":\"X\",\"name\":\"ProfilerStep#4\",\"ts\":12,\"dur\":9,"
                             "\"args\":{\"a\":\"longest\"}}]";
    const struct osc_import_options o = {.n_threads = 1,
                                         .keep = {.is_on = true, .is_scout = true}};
    struct osc_trace t = {0};

    assert_int_equal(osc_import_memory(&t, "t", osc_str_c(text), &o, NULL), OSC_OK);
    assert_int_equal(t.events.n_rows, 2);
    assert_int_equal(t.origin_ns, 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(osc_row_form(&t, t.events.chunks[1], i)->n_slots, 0);
    assert_int_equal(t.events.chunks[1]->ts_ns[1], 12000);
    assert_int_equal(osc_strings_find(&t.strings, OSC_STR("long")).v, 0);
    assert_int_equal(osc_strings_find(&t.strings, OSC_STR("longer")).v, 0);
    assert_int_equal(osc_strings_find(&t.strings, OSC_STR("longest")).v, 0);
    osc_trace_fini(&t);
}

/* The calls that tell the family may lie outside of the times that are read. */
TEST(names_a_device_the_same_when_a_part_is_read)
{
    static const struct {
        const char *category, *call, *operator, * device;
    } cases[] = {{"cuda_runtime", "hipLaunchKernel", "cuDNN", "hip:2"},
                 {"cuda_runtime", "cudaLaunchKernel", "f", "cuda:2"},
                 {"xpu_runtime", "urEnqueueKernelLaunch", "cuDNN", "xpu:2"},
                 {"privateuse1_runtime", "aclrtLaunchKernel", "f", "npu:2"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int is_on = 0; is_on < 2; is_on++) {
            const struct osc_import_options o = {.n_threads = 1,
                                                 .keep = {.is_on = is_on != 0,
                                                          .from_ns = 4000,
                                                          .host_to_ns = INT64_MAX,
                                                          .device_to_ns = INT64_MAX}};
            struct osc_trace t = {0};
            char json[512];

            snprintf(
                json, sizeof json,
                "[{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":1,"
                "\"dur\":1},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,"
                "\"tid\":1,\"ts\":2,\"dur\":1},{\"ph\":\"X\",\"cat\":\"kernel\","
                "\"name\":\"k\",\"pid\":2,\"tid\":7,\"ts\":5,\"dur\":1,"
                "\"args\":{\"device\":2}}]",
                cases[i].category, cases[i].call, cases[i].operator);
            assert_int_equal(osc_import_memory(&t, "t", osc_str_c(json), &o, NULL), OSC_OK);
            assert_int_equal(t.events.n_rows, is_on ? 1 : 3);
            const struct osc_chunk *const k = t.events.chunks[1];
            const struct osc_track *const queue = &t.tracks[k->track[k->n_rows - 1]];
            assert_true(
                osc_str_eq(osc_trace_str(&t, queue->device), osc_str_c(cases[i].device)));
            osc_trace_fini(&t);
        }
    }
}

/* Fail the first allocation, then the second, ... until loading succeeds. */
TEST(survives_any_failed_allocation)
{
    const struct osc_import_options o = {.n_threads = 1};
    osc_status st = OSC_ENOMEM;
    struct osc_strbuf b = {0};

    make_events(&b, 100);
    osc_strbuf_adds(&b, " ");
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_trace t = {0};
        struct osc_err err = {0};

        osc_mem_fail_after(n);
        st = osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, &err);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        if (st == OSC_OK)
            assert_int_equal(t.events.n_rows, 86);
        osc_trace_fini(&t);
        assert_true(n < 100000);
    }
    osc_strbuf_fini(&b);
}

/* Thousands of small files may be open at once. */
TEST(a_short_file_takes_little_memory)
{
    struct peak peak;
    struct osc_trace t;

    peak_begin(&peak);
    const size_t before = osc_mem_held();
    t = load("[{\"ph\":\"X\",\"name\":\"work\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]");
    assert_true(osc_mem_held() - before < 128 << 10);
    osc_trace_fini(&t);
    assert_int_equal(osc_mem_held(), before);
    assert_true(peak_end(&peak) < 4 << 20);
}

UNIT_MAIN("import")
