/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_ids.h"

#include "derive/derive.h"
#include "export/export.h"
#include "opscope/record.h"
#include "support/loaded_recording.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct small_recording rec;
static struct osc_trace trace;
static char text[16384];
static size_t n_text;

static osc_status take(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    assert_in_range(len, 0, sizeof text - n_text - 1);
    memcpy(text + n_text, s, len);
    n_text += len;
    text[n_text] = '\0';
    return OSC_OK;
}

/* Export the trace to TEXT. */
static void export(void)
{
    struct osc_trace *const traces[] = {&trace};
    const struct osc_export x = {.traces = traces, .n_traces = 1, .sink = {.write = take}};
    const struct osc_exporter *const e = osc_exporter_find("json");
    struct osc_err err = {0};
    uint32_t facts;

    n_text = 0;
    assert_int_equal(e->facts(&x, &facts, &err), OSC_OK);
    assert_int_equal(osc_derive(&trace, facts, 1, &err), OSC_OK);
    assert_int_equal(e->write(&x, &err), OSC_OK);
    osc_trace_fini(&trace);
}

static void begin(enum osc_scope_kind kind, const char *name, uint64_t ticks)
{
    recording_add(&rec, OSC_RECORD_BEGIN + kind, recording_name(&rec, name), ticks, NULL, 0);
}

static void add_int(const char *key, uint64_t value)
{
    recording_add(&rec, OSC_RECORD_ARG_I64, recording_name(&rec, key), value, NULL, 0);
}

static void load(void)
{
    recording_flush(&rec);
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
}

static void assert_args(const char *name, const char *args)
{
    char wanted[64];
    const char *at;

    (void)snprintf(wanted, sizeof wanted, "\"name\":\"%s\"", name);
    at = strstr(text, wanted);
    assert_non_null(at);
    at = strstr(at, "\"args\":");
    assert_non_null(at);
    assert_memory_equal(at + 7, args, strlen(args));
}

TEST(events_of_recordings_get_the_numbers_of_kineto)
{
    recording_begin(&rec);
    begin(OSC_SCOPE_PYTHON, "outer", 100);
    begin(OSC_SCOPE_OPERATOR, "op", 110);
    add_int("Sequence number", 7);
    begin(OSC_SCOPE_PYTHON, "inner", 120);
    for (uint64_t i = 0; i < 3; i++)
        recording_add(&rec, OSC_RECORD_END, 0, 130 + i, NULL, 0);
    begin(OSC_SCOPE_OPERATOR, "backward", 140);
    add_int("Sequence number", 7);
    add_int("Fwd thread id", 1);
    recording_add(&rec, OSC_RECORD_END, 0, 150, NULL, 0);
    begin(OSC_SCOPE_OPERATOR, "numbered", 160);
    add_int("Sequence number", 8);
    add_int("Record function id", 17);
    recording_add(&rec, OSC_RECORD_END, 0, 170, NULL, 0);
    load();
    export();
    assert_args("numbered", "{\"Sequence number\":8,\"Record function id\":17,"
                            "\"External id\":5,\"Fwd thread id\":0,\"Ev Idx\":4}}");
    assert_args("outer", "{\"Python id\":1,\"Python parent id\":null,\"Python thread\":0,"
                         "\"Ev Idx\":0}}");
    assert_args("op", "{\"Sequence number\":7,\"External id\":2,\"Fwd thread id\":0,"
                      "\"Record function id\":0,\"Ev Idx\":1}}");
    assert_args("inner", "{\"Python id\":3,\"Python parent id\":1,\"Python thread\":0,"
                         "\"Ev Idx\":2}}");
    assert_args("backward", "{\"Sequence number\":7,\"Fwd thread id\":1,\"External id\":4,"
                            "\"Record function id\":0,\"Ev Idx\":3}}");
}

TEST(a_label_that_outlasts_a_call_does_not_hide_it)
{
    recording_begin(&rec);
    begin(OSC_SCOPE_PYTHON, "work", 100);
    begin(OSC_SCOPE_PYTHON, "enter", 110);
    begin(OSC_SCOPE_ANNOTATION, "label", 120);
    begin(OSC_SCOPE_PYTHON, "inner", 130);
    recording_add(&rec, OSC_RECORD_END, 0, 140, NULL, 0);
    begin(OSC_SCOPE_PYTHON, "next", 160);
    recording_add(&rec, OSC_RECORD_END, 0, 170, NULL, 0);
    recording_add(&rec, OSC_RECORD_END, 0, 180, NULL, 0); /* label */
    recording_add(&rec, OSC_RECORD_END, 0, 150, NULL, 0); /* enter */
    recording_add(&rec, OSC_RECORD_END, 0, 190, NULL, 0);
    load();
    export();
    assert_args("inner", "{\"Python id\":4,\"Python parent id\":2,");
    assert_args("next", "{\"Python id\":5,\"Python parent id\":1,");
}

/* Record the call NAME, which launches work with the number I, from TICKS on. */
static void launch(const char *name, uint64_t i, uint64_t ticks)
{
    const uint64_t correlation[] = {i, 0};

    begin(OSC_SCOPE_RUNTIME, name, ticks);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, ticks + 1, correlation, 2);
    recording_add(&rec, OSC_RECORD_END, 0, ticks + 2, NULL, 0);
}

/* Record the work NAME with the number I on queue 3. */
static void work(const char *name, uint64_t i)
{
    const uint64_t words[] = {3, i, 0, 0, 500 + 10 * i, 505 + 10 * i, 0, 0};

    recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, name), 900, words, 8);
}

TEST(launches_and_their_work_have_the_id_of_their_operator)
{
    static const uint64_t device[] = {1, 0, 0, 0}, queue[] = {3, 1};

    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_DEVICE, recording_name(&rec, "npu"), 90, device, 4);
    recording_add(&rec, OSC_RECORD_QUEUE, recording_name(&rec, "q"), 95, queue, 2);
    begin(OSC_SCOPE_OPERATOR, "outer", 100);
    begin(OSC_SCOPE_OPERATOR, "inner", 110);
    recording_add(&rec, OSC_RECORD_END, 0, 120, NULL, 0);
    launch("launch", 7, 130);
    recording_add(&rec, OSC_RECORD_END, 0, 140, NULL, 0);
    launch("outside", 8, 160);
    work("add", 7);
    work("fill", 8);
    load();
    export();
    assert_args("launch", "{\"correlation\":7,\"External id\":1}}");
    assert_args("outside", "{\"correlation\":8,\"External id\":0}}");
    assert_args("add", "{\"device\":0,\"device family\":\"npu\",\"stream\":3,"
                       "\"correlation\":7,\"External id\":1}}");
    assert_args("fill", "{\"device\":0,\"device family\":\"npu\",\"stream\":3,"
                        "\"correlation\":8,\"External id\":0}}");
}

static void add_metadata(const char *key, const char *value)
{
    recording_add(&rec, OSC_RECORD_METADATA, recording_name(&rec, key),
                  recording_name(&rec, value), NULL, 0);
}

TEST(options_of_recordings_are_told_as_kineto_tells_them)
{
    recording_begin(&rec);
    add_metadata("with_stack", "0");
    add_metadata("record_shapes", "1");
    add_metadata("mine", "0");
    load();
    export();
    assert_null(strstr(text, "with_stack"));
    assert_non_null(strstr(text, "\n\"record_shapes\": 1,\n"));
    assert_non_null(strstr(text, "\n\"mine\": \"0\",\n"));
}

TEST(members_of_other_files_stay_as_they_are)
{
    static const char file[] = "{\"with_stack\":0,\"record_shapes\":\"1\",\"traceEvents\":[]}";
    static const struct osc_import_options defaults;

    memset(&trace, 0, sizeof trace);
    assert_int_equal(osc_import_memory(&trace, "t", osc_str_c(file), &defaults, NULL), OSC_OK);
    export();
    assert_non_null(strstr(text, "\n\"with_stack\": 0,\n\"record_shapes\": \"1\",\n"));
}

TEST(events_of_other_files_stay_as_they_are)
{
    assert_true(small_load(&trace, OP("aten::mm", 1, 1, 50, "'Sequence number':7")));
    export();
    assert_args("aten::mm", "{\"Sequence number\":7}}");
}

UNIT_MAIN("chrome_ids")
