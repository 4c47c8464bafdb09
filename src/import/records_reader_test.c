/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_reader.h"

#include "base/mem.h"
#include "import/import.h"
#include "opscope/source.h"
#include "support/loaded_recording.h"
#include "support/unit.h"

static struct small_recording rec;

#define WORDS(...)           (const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__} / 8
#define ADD(kind, id, ticks) recording_add(&rec, (kind), (id), (ticks), NULL, 0)
#define BEGIN(kind, name, ticks) \
    ADD(OSC_RECORD_BEGIN + OSC_SCOPE_##kind, recording_name(&rec, name), ticks)
#define END(ticks)      ADD(OSC_RECORD_END, 0, ticks)
#define ARG(key, value) ADD(OSC_RECORD_ARG_I64, recording_name(&rec, key), (uint64_t)(value))

static osc_status load(struct osc_trace *t, const struct osc_import_options *o)
{
    struct osc_err err = {0};

    memset(t, 0, sizeof *t);
    return osc_import_memory(
        t, "rec", (struct osc_str){(const char *)rec.bytes, (uint32_t)rec.n_bytes}, o, &err);
}

static struct osc_trace trace;

static void load_all(void)
{
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
}

static const struct osc_chunk *chunk(void)
{
    assert_int_equal(trace.events.n_chunks, 2);
    return trace.events.chunks[1];
}

static void assert_range(uint32_t i, const char *name, enum osc_kind kind, int64_t start,
                         int64_t dur)
{
    const struct osc_str got = osc_row_name(&trace, chunk(), i);

    assert_true(i < chunk()->n_rows);
    assert_int_equal(got.len, strlen(name));
    assert_memory_equal(got.s, name, got.len);
    assert_int_equal(chunk()->kind[i], kind);
    assert_int_equal(chunk()->ts_ns[i], start);
    assert_int_equal(chunk()->dur_ns[i], dur);
}

static int64_t arg_int(uint32_t i, const char *key)
{
    const struct osc_form *f = osc_row_form(&trace, chunk(), i);

    for (uint32_t k = 0; k < f->n_slots; k++)
        if (osc_str_eq(osc_trace_str(&trace, f->slots[k].key), osc_str_c(key)))
            return osc_row_slot(&trace, chunk(), i, k).i;
    return -1;
}

/* The argument KEY of row I; empty: it has none. */
static struct osc_str arg_text(uint32_t i, const char *key)
{
    const struct osc_form *f = osc_row_form(&trace, chunk(), i);

    for (uint32_t k = 0; k < f->n_slots; k++)
        if (osc_str_eq(osc_trace_str(&trace, f->slots[k].key), osc_str_c(key)))
            return osc_trace_str(&trace, osc_row_slot(&trace, chunk(), i, k).sid);
    return OSC_STR("");
}

static void assert_stack(uint32_t i, const char *stack)
{
    const struct osc_str got = arg_text(i, "Call stack");

    assert_int_equal(got.len, strlen(stack));
    assert_memory_equal(got.s, stack, got.len);
}

static bool has_arg(uint32_t i, enum osc_arg_key key)
{
    struct osc_arg arg;

    return osc_row_arg(&trace, chunk(), i, key, &arg);
}

static uint64_t n_found(enum osc_finding_code code)
{
    return trace.findings.by_code[code].count;
}

TEST(scopes_nest_and_have_the_kinds_of_the_recorder)
{
    static const char *const names[] = {"plain",  "operator", "annotation",    "module",
                                        "call",   "driver",   "communication", "data",
                                        "adjust", "function", "overhead"};
    static const enum osc_kind kinds[] = {
        OSC_KIND_SCOPE,     OSC_KIND_OPERATOR, OSC_KIND_ANNOTATION,    OSC_KIND_MODULE,
        OSC_KIND_RUNTIME,   OSC_KIND_DRIVER,   OSC_KIND_COMMUNICATION, OSC_KIND_DATALOADER,
        OSC_KIND_OPTIMIZER, OSC_KIND_PYTHON,   OSC_KIND_OVERHEAD};

    recording_begin(&rec);
    for (uint32_t k = 0; k < OSC_SCOPE_KIND_COUNT; k++)
        ADD(OSC_RECORD_BEGIN + k, recording_name(&rec, names[k]), 100 + k);
    for (uint32_t k = 0; k < OSC_SCOPE_KIND_COUNT; k++)
        END(200 + k);
    recording_flush(&rec);
    load_all();
    for (uint32_t k = 0; k < OSC_SCOPE_KIND_COUNT; k++)
        assert_range(k, names[k], kinds[k], 100 + k, 110 - 2 * (int64_t)k);
    osc_trace_fini(&trace);
}

/* With and without arguments that wait for the end of a scope. */
TEST(scopes_may_end_many_rows_behind_their_begin)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "outer", 100);
    BEGIN(PLAIN, "inner", 110);
    recording_fill(&rec, 120);
    END(100000);
    BEGIN(PLAIN, "backwards", 100100);
    END(100050);
    ARG("late", 1);
    END(100200);
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_chunks, 3);
    assert_int_equal(trace.events.chunks[1]->dur_ns[0], 100100);
    assert_int_equal(trace.events.chunks[1]->dur_ns[1], 99890);
    assert_int_equal(trace.events.chunks[1]->max_end_ns, 100200);
    assert_int_equal(trace.events.chunks[2]->dur_ns[RECORDING_FILL + 2 - OSC_CHUNK_ROWS], 0);
    assert_int_equal(n_found(OSC_FINDING_negative_duration), 1);
    assert_int_equal(n_found(OSC_FINDING_open_range), 0);
    osc_trace_fini(&trace);
}

/* The first chunk of rows is full, and there is no memory for the begin that follows. */
TEST(an_end_whose_begin_found_no_memory_ends_no_other_scope)
{
    const struct osc_import_options o = {.n_threads = 1, .reserve = {.event_bytes = 1 << 10}};

    recording_begin(&rec);
    BEGIN(PLAIN, "before", 10);
    BEGIN(PLAIN, "child", 11);
    END(12);
    ARG("late", 1);
    END(13);
    BEGIN(PLAIN, "outer", 100);
    const uint32_t name = recording_name(&rec, "inner");
    for (uint32_t i = 0; i < OSC_CHUNK_ROWS; i++) {
        if (rec.n_slots + 2 > OSC_BLOCK_SLOTS)
            recording_flush(&rec);
        ADD(OSC_RECORD_BEGIN + OSC_SCOPE_PLAIN, name, 101 + i);
        END(101 + i);
    }
    END(100000);
    recording_flush(&rec);
    recording_end(&rec);
    osc_mem_set_limit(osc_mem_held() + ((size_t)33 << 20));
    assert_int_equal(load(&trace, &o), OSC_ELIMIT);
    osc_mem_set_limit(SIZE_MAX);
    assert_int_equal(trace.events.n_rows, OSC_CHUNK_ROWS);
    assert_int_equal(chunk()->dur_ns[0], 3);
    assert_int_equal(chunk()->dur_ns[2], OSC_NO_DUR);
    assert_int_equal(chunk()->dur_ns[3], 0);
    osc_trace_fini(&trace);
}

TEST(arguments_go_to_the_record_before_or_to_the_innermost_scope)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "outer", 100);
    ARG("a", 1);
    BEGIN(PLAIN, "inner", 200);
    ARG("b", 2);
    recording_flush(&rec); /* a block may end anywhere */
    ARG("c", 3);
    END(300);
    ARG("d", 4);
    ADD(OSC_RECORD_INSTANT, recording_name(&rec, "now"), 400);
    ARG("e", 5);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, 410, WORDS(77, 0));
    END(500);
    ARG("nobody's", 6);
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 4); /* with the launching call */
    assert_range(0, "outer", OSC_KIND_SCOPE, 100, 400);
    assert_int_equal(arg_int(0, "a"), 1);
    assert_int_equal(arg_int(0, "d"), 4);
    assert_int_equal(arg_int(0, "correlation"), 77);
    assert_int_equal(arg_int(0, "e"), -1);
    assert_int_equal(arg_int(1, "b"), 2);
    assert_int_equal(arg_int(1, "c"), 3);
    assert_int_equal(arg_int(2, "e"), 5);
    osc_trace_fini(&trace);
}

TEST(functions_of_python_that_torch_runs_in_have_what_called_them)
{
    recording_begin(&rec);
    BEGIN(PYTHON, "main", 100);
    ARG("torch thread", 1);
    BEGIN(OPERATOR, "op", 110);
    BEGIN(PYTHON, "f", 120);
    BEGIN(PYTHON, "f", 130);
    END(140);
    END(150);
    END(160);
    BEGIN(PYTHON, "f", 170);
    BEGIN(PYTHON, "g", 180);
    END(190);
    END(200);
    END(210);
    BEGIN(PYTHON, "other", 220);
    END(230);
    recording_flush(&rec);
    load_all();
    assert_range(0, "main", OSC_KIND_PYTHON, 100, 110);
    assert_stack(0, "");
    assert_stack(1, ""); /* has its own stack */
    assert_stack(2, "main;");
    assert_stack(3, "f;main;");
    assert_stack(4, "main;");
    assert_range(5, "g", OSC_KIND_PYTHON, 180, 10);
    assert_stack(5, "f;main;");
    assert_stack(6, "");
    osc_trace_fini(&trace);
}

TEST(what_has_returned_calls_nothing_though_a_range_in_it_goes_on)
{
    recording_begin(&rec);
    BEGIN(PYTHON, "main", 100);
    ARG("torch thread", 1);
    BEGIN(PYTHON, "enter", 110);
    BEGIN(PYTHON, "builtin", 120);
    BEGIN(ANNOTATION, "label", 130);
    ARG("Python returned", 1); /* builtin */
    ARG("Python returned", 1); /* enter */
    BEGIN(PYTHON, "f", 140);
    END(150);
    END(160);
    END(121);
    END(122);
    BEGIN(PYTHON, "g", 170);
    END(180);
    END(190);
    recording_flush(&rec);
    load_all();
    assert_stack(2, "enter;main;");
    assert_int_equal(arg_int(3, "Python returned"), -1);
    assert_range(4, "f", OSC_KIND_PYTHON, 140, 10);
    assert_stack(4, "main;");
    assert_stack(5, "main;");
    osc_trace_fini(&trace);
}

TEST(scopes_of_python_without_torch_have_no_stack)
{
    recording_begin(&rec);
    BEGIN(PYTHON, "main", 100);
    BEGIN(PYTHON, "f", 110);
    END(120);
    END(130);
    recording_flush(&rec);
    load_all();
    assert_stack(1, "");
    osc_trace_fini(&trace);
}

TEST(long_stacks_hold_what_is_innermost)
{
    static char name[3000];

    memset(name, 'n', sizeof name - 1);
    recording_begin(&rec);
    BEGIN(PYTHON, "main", 100);
    ARG("torch thread", 1);
    const uint32_t id = recording_name(&rec, name);
    for (uint64_t i = 0; i < 100; i++)
        ADD(OSC_RECORD_BEGIN + OSC_SCOPE_PYTHON, id, 101 + i);
    for (uint64_t i = 0; i < 101; i++)
        END(300 + i);
    recording_flush(&rec);
    load_all();
    assert_int_equal(arg_text(2, "Call stack").len, sizeof name + 5);
    assert_int_equal(arg_text(100, "Call stack").len,
                     OSC_RECORDS_CALLERS_BYTES / sizeof name * sizeof name);
    osc_trace_fini(&trace);
}

TEST(what_torch_says_of_a_range_is_not_of_the_memory_before_it)
{
    recording_begin(&rec);
    BEGIN(ANNOTATION, "label", 100);
    ARG("torch thread", 1);
    recording_add(&rec, OSC_RECORD_ALLOC, 0, 110, WORDS(0x1000, 64));
    ARG("Sequence number", 5);
    ARG("mine", 6);
    ADD(OSC_RECORD_ARG_BOOL, recording_name(&rec, "Is asynchronous"), 1);
    END(120);
    recording_flush(&rec);
    load_all();
    assert_range(0, "label", OSC_KIND_ANNOTATION, 100, 20);
    assert_int_equal(arg_int(0, "Sequence number"), 5);
    assert_int_equal(arg_int(0, "mine"), -1);
    assert_true(has_arg(0, OSC_ARG_KEY_IS_ASYNC) && !has_arg(1, OSC_ARG_KEY_IS_ASYNC));
    assert_int_equal(arg_int(1, "mine"), 6);
    osc_trace_fini(&trace);
}

TEST(what_is_open_at_the_end_keeps_its_arguments_and_has_no_duration)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "outer", 100);
    BEGIN(PLAIN, "inner", 200);
    END(300);
    ARG("late", 1);
    recording_flush(&rec);
    load_all();
    assert_range(0, "outer", OSC_KIND_SCOPE, 100, OSC_NO_DUR);
    assert_int_equal(arg_int(0, "late"), 1);
    assert_int_equal(n_found(OSC_FINDING_open_range), 1);
    osc_trace_fini(&trace);
}

TEST(calls_of_python_may_be_open_at_the_end)
{
    recording_begin(&rec);
    BEGIN(PYTHON, "threading.py(1002): _bootstrap", 100);
    BEGIN(PYTHON, "<built-in function _exit>", 200);
    recording_flush(&rec);
    load_all();
    assert_range(1, "<built-in function _exit>", OSC_KIND_PYTHON, 200, OSC_NO_DUR);
    assert_int_equal(n_found(OSC_FINDING_open_range), 0);
    osc_trace_fini(&trace);
}

TEST(what_is_open_at_the_end_ends_when_a_fact_says)
{
    recording_begin(&rec);
    BEGIN(OPERATOR, "outer", 100);
    BEGIN(OPERATOR, "inner", 200);
    ADD(OSC_RECORD_METADATA, recording_name(&rec, "open_scopes_end_ticks"),
        recording_name(&rec, "700"));
    recording_flush(&rec);
    load_all();
    assert_range(0, "outer", OSC_KIND_OPERATOR, 100, 600);
    assert_range(1, "inner", OSC_KIND_OPERATOR, 200, 500);
    assert_int_equal(n_found(OSC_FINDING_open_range), 0);
    assert_int_equal(trace.n_metas, 1); /* the base of times */
    osc_trace_fini(&trace);
}

TEST(a_lost_chunk_costs_its_records_and_the_scopes_open_across_it)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "across", 100);
    recording_flush(&rec);
    const size_t at = rec.n_bytes;
    BEGIN(PLAIN, "lost", 200);
    END(300);
    recording_flush(&rec);
    rec.bytes[at + sizeof(struct osc_wire_header)] ^= 4;
    END(400);
    BEGIN(PLAIN, "behind", 500);
    END(600);
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 2);
    assert_range(0, "across", OSC_KIND_SCOPE, 100, OSC_NO_DUR);
    assert_range(1, "behind", OSC_KIND_SCOPE, 500, 100);
    assert_int_equal(n_found(OSC_FINDING_corrupt), 1);
    assert_int_equal(n_found(OSC_FINDING_lost_records), 2);
    assert_int_equal(n_found(OSC_FINDING_unmatched_end), 1);
    osc_trace_fini(&trace);
}

TEST(what_is_lost_may_have_reported)
{
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        recording_begin(&rec);
        ADD(OSC_RECORD_METADATA, recording_name(&rec, "sources"),
            recording_name(&rec, "torch"));
        recording_flush(&rec);
        const size_t at = rec.n_bytes;
        BEGIN(PLAIN, "lost", 200);
        recording_flush(&rec);
        rec.bytes[at + sizeof(struct osc_wire_header)] ^= is_lost ? 4 : 0;
        load_all();
        assert_int_equal(n_found(OSC_FINDING_source_missing), !is_lost);
        assert_int_equal(n_found(OSC_FINDING_lost_records), is_lost);
        osc_trace_fini(&trace);
    }
}

TEST(ends_of_ranges_that_began_in_a_pause_are_expected)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_ASYNC_END, recording_name(&rec, "r"), 90, WORDS(4, 0));
    ADD(OSC_RECORD_PAUSE, 0, 100);
    ADD(OSC_RECORD_RESUME, 0, 200);
    recording_add(&rec, OSC_RECORD_ASYNC_END, recording_name(&rec, "r"), 210, WORDS(5, 0));
    recording_flush(&rec);
    load_all();
    assert_int_equal(n_found(OSC_FINDING_unmatched_end), 1);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_unmatched_end].first_ns, 90);
    osc_trace_fini(&trace);
}

/* How many ends count that have no begin: one asynchronous, one of a scope. KEY and VALUE are
 * of a fact. */
static uint64_t n_unmatched(const char *key, const char *value)
{
    recording_begin(&rec);
    ADD(OSC_RECORD_METADATA, recording_name(&rec, key), recording_name(&rec, value));
    recording_add(&rec, OSC_RECORD_ASYNC_END, recording_name(&rec, "r"), 90, WORDS(4, 0));
    END(100);
    recording_flush(&rec);
    load_all();
    const uint64_t n = n_found(OSC_FINDING_unmatched_end);

    osc_trace_fini(&trace);
    return n;
}

TEST(ends_of_ranges_that_began_before_the_recording_are_expected)
{
    assert_int_equal(n_unmatched("start", "early"), 2);
    assert_int_equal(n_unmatched("start", "late"), 0);
    assert_int_equal(n_unmatched("mode", "flight"), 1); /* which has begins of open scopes */
    assert_int_equal(n_unmatched("mode", "schedule"), 1);
}

TEST(scopes_that_end_out_of_order_have_their_own_ends)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "outer", 100);
    BEGIN(PLAIN, "first", 200);
    BEGIN(PLAIN, "second", 300);
    ADD(OSC_RECORD_END_OF, 200, 400); /* first, in which second is open */
    BEGIN(PLAIN, "third", 500);
    END(600);
    ADD(OSC_RECORD_END_OF, 300, 700); /* second, which is the innermost */
    ADD(OSC_RECORD_END_OF, 77, 800);  /* began before the recording */
    END(900);
    recording_flush(&rec);
    load_all();
    assert_range(0, "outer", OSC_KIND_SCOPE, 100, 800);
    assert_range(1, "first", OSC_KIND_SCOPE, 200, 200);
    assert_range(2, "second", OSC_KIND_SCOPE, 300, 400);
    assert_range(3, "third", OSC_KIND_SCOPE, 500, 100);
    assert_int_equal(n_found(OSC_FINDING_misplaced_end), 1);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_misplaced_end].first_ns, 400);
    assert_int_equal(n_found(OSC_FINDING_unmatched_end), 0);
    osc_trace_fini(&trace);
}

/* How many ends are misplaced of N scopes, open at once, and the one around them. Each of them
 * ends in a scope of its own. */
static uint64_t n_misplaced_of(uint32_t n)
{
    recording_begin(&rec);
    const uint32_t name = recording_name(&rec, "a");

    ADD(OSC_RECORD_BEGIN, name, 100);
    for (uint32_t i = 0; i < n; i++)
        ADD(OSC_RECORD_BEGIN, name, 1000 + i);
    ADD(OSC_RECORD_END_OF, 100, 100000);
    recording_flush(&rec);
    for (uint32_t i = 0; i < n; i++) { /* from the middle on */
        ADD(OSC_RECORD_BEGIN, name, 200000 + 3 * i);
        ADD(OSC_RECORD_END_OF, 1000 + (i + n / 2) % n, 200001 + 3 * i);
        END(200002 + 3 * i);
    }
    recording_flush(&rec);
    load_all();
    const uint64_t n_found_here = n_found(OSC_FINDING_misplaced_end);

    assert_int_equal(trace.events.n_rows, 2 * n + 1);
    assert_int_equal(n_found(OSC_FINDING_open_range), 0);
    assert_int_equal(n_found(OSC_FINDING_unmatched_end), 0);
    assert_range(0, "a", OSC_KIND_SCOPE, 100, 99900);
    osc_trace_fini(&trace);
    return n_found_here;
}

TEST(ends_are_found_however_many_scopes_are_open)
{
    assert_int_equal(n_misplaced_of(100), 101);
    assert_int_equal(n_misplaced_of(300), 301);
}

TEST(scopes_that_end_on_another_thread_have_their_own_ends)
{
    recording_begin(&rec);
    rec.block.thread = 2; /* read first */
    rec.block.seq = 1;
    BEGIN(PLAIN, "worker", 250);
    ADD(OSC_RECORD_END_OF, 200, 300);
    END(350);
    recording_flush(&rec);
    rec.block.thread = 1;
    rec.block.seq = 2;
    BEGIN(PLAIN, "outer", 100);
    BEGIN(PLAIN, "moved", 200);
    ADD(OSC_RECORD_END_OF, 100, 400);
    recording_flush(&rec);
    load_all();
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t start = chunk()->ts_ns[i];

        assert_int_equal(chunk()->dur_ns[i], start == 100 ? 300 : 100);
    }
    assert_int_equal(n_found(OSC_FINDING_crossed_thread), 1); /* outer waited for moved alone */
    assert_int_equal(n_found(OSC_FINDING_open_range), 0);
    osc_trace_fini(&trace);
}

TEST(segments_of_a_thread_are_read_by_block_and_not_as_they_stand)
{
    recording_begin(&rec);
    rec.block.seq = 2;
    END(300);
    recording_flush(&rec);
    rec.block.seq = 1;
    BEGIN(PLAIN, "waited", 100);
    recording_flush(&rec);
    load_all();
    assert_range(0, "waited", OSC_KIND_SCOPE, 100, 200);
    assert_int_equal(n_found(OSC_FINDING_unmatched_end), 0);
    osc_trace_fini(&trace);
}

TEST(sums_of_memory_never_fall_below_zero)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_FREE, 0, 100, WORDS(4096, 30));
    recording_add(&rec, OSC_RECORD_ALLOC, 0, 200, WORDS(8192, 50));
    recording_add(&rec, OSC_RECORD_ALLOC_TOTAL, 0, 300, WORDS(16384, 10, 1000, UINT64_MAX));
    recording_flush(&rec);
    load_all();
    assert_range(0, "[memory]", OSC_KIND_FREE, 100, OSC_NO_DUR);
    assert_int_equal(arg_int(0, "Total Allocated"), 0);
    assert_int_equal(arg_int(0, "Bytes"), -30);
    assert_int_equal(arg_int(1, "Total Allocated"), 50);
    assert_int_equal(arg_int(2, "Total Allocated"), 1000);
    assert_int_equal(arg_int(2, "Total Reserved"), -1);
    osc_trace_fini(&trace);
}

TEST(a_total_that_the_allocator_tells_is_kept_below_zero)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_FREE_TOTAL, 0, 100,
                  WORDS(4096, 30, (uint64_t)-30, (uint64_t)-40));
    recording_flush(&rec);
    load_all();
    assert_int_equal(arg_int(0, "Total Allocated"), -30);
    assert_int_equal(arg_int(0, "Total Reserved"), -40);
    osc_trace_fini(&trace);
}

TEST(an_instant_of_that_name_is_a_failed_allocation)
{
    recording_begin(&rec);
    ADD(OSC_RECORD_INSTANT, recording_name(&rec, "[OutOfMemory]"), 100);
    ADD(OSC_RECORD_INSTANT, recording_name(&rec, "[memory]"), 200);
    recording_flush(&rec);
    load_all();
    assert_range(0, "[OutOfMemory]", OSC_KIND_OOM, 100, OSC_NO_DUR);
    assert_range(1, "[memory]", OSC_KIND_INSTANT, 200, OSC_NO_DUR);
    osc_trace_fini(&trace);
}

TEST(a_fact_in_json_is_no_string)
{
    recording_begin(&rec);
    ADD(OSC_RECORD_METADATA, recording_name(&rec, "text"), recording_name(&rec, "[a"));
    ADD(OSC_RECORD_METADATA, recording_name(&rec, "list"), recording_name(&rec, "[1]"));
    recording_flush(&rec);
    load_all();
    for (uint32_t i = 0; i < trace.n_metas; i++) {
        const struct osc_str key = osc_trace_str(&trace, trace.metas[i].key);

        if (osc_str_eq(key, OSC_STR("text")) || osc_str_eq(key, OSC_STR("list")))
            assert_int_equal(trace.metas[i].is_string, osc_str_eq(key, OSC_STR("text")));
    }
    osc_trace_fini(&trace);
}

TEST(losses_are_counted_with_the_first_time)
{
    const struct osc_wire_thread thread = {.ordinal = 1, .lost = {[OSC_LOSS_NESTED] = 7}};

    recording_begin(&rec);
    ADD(OSC_RECORD_INSTANT, recording_name(&rec, "i"), 50);
    ADD(OSC_RECORD_LOST, OSC_LOSS_NESTED, 100);
    ADD(OSC_RECORD_LOST, OSC_LOSS_NESTED, 200);
    recording_flush(&rec);
    recording_chunk(&rec, OSC_CHUNK_THREADS, &thread, sizeof thread, 1);
    load_all();
    assert_int_equal(n_found(OSC_FINDING_dropped_nested), 7);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_dropped_nested].first_ns, 100);
    assert_int_equal(n_found(OSC_FINDING_dropped_full), 0);
    assert_int_equal(n_found(OSC_FINDING_killed), 0);
    osc_trace_fini(&trace);
}

TEST(a_file_without_an_end_was_killed)
{
    recording_begin(&rec);
    ADD(OSC_RECORD_INSTANT, 99, 50);
    recording_flush(&rec);
    recording_load(&rec, &trace, NULL);
    assert_int_equal(n_found(OSC_FINDING_killed), 1);
    assert_int_equal(n_found(OSC_FINDING_lost_name), 1);
    assert_range(0, "name 99", OSC_KIND_INSTANT, 50, OSC_NO_DUR);
    osc_trace_fini(&trace);
}

TEST(a_launch_is_a_call_of_the_scope_around_it)
{
    recording_begin(&rec);
    BEGIN(OPERATOR, "op", 100);
    BEGIN(PLAIN, "inner", 110);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, 120, WORDS(9, 0));
    ARG("a", 1); /* belongs to the scope, not to the launch */
    END(130);
    BEGIN(DRIVER, "call", 140);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, 150, WORDS(10, 0));
    END(160);
    END(200);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, 300, WORDS(11, 0));
    for (uint64_t i = 9; i < 12; i++)
        recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "kernel"), 400,
                      WORDS(3, i, 150, 155, 400 + i, 410 + i, 0, 0));
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 3 + 2 + 3);
    assert_range(1, "inner", OSC_KIND_SCOPE, 110, 20);
    assert_int_equal(arg_int(1, "a"), 1);
    assert_range(3, "launch", OSC_KIND_RUNTIME, 120, 0);
    assert_int_equal(arg_int(3, "correlation"), 9);
    assert_range(4, "launch", OSC_KIND_RUNTIME, 300, 0);
    osc_trace_fini(&trace);
}

TEST(each_launch_of_one_call_is_linked_to_its_work)
{
    recording_begin(&rec);
    BEGIN(OPERATOR, "op", 100);
    BEGIN(RUNTIME, "call", 110);
    for (uint64_t i = 9; i < 12; i++)
        recording_add(&rec, OSC_RECORD_LAUNCH, 0, 120 + i, WORDS(i, 0));
    END(160);
    END(200);
    for (uint64_t i = 9; i < 12; i++)
        recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "kernel"), 400,
                      WORDS(3, i, 150, 155, 400 + i, 410 + i, 0, 0));
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 2 + 2 + 3);
    assert_range(0, "op", OSC_KIND_OPERATOR, 100, 100);
    assert_int_equal(arg_int(0, "correlation"), -1);
    assert_range(1, "call", OSC_KIND_RUNTIME, 110, 50);
    assert_int_equal(arg_int(1, "correlation"), 9);
    assert_range(2, "launch", OSC_KIND_RUNTIME, 130, 0);
    assert_int_equal(arg_int(2, "correlation"), 10);
    assert_range(3, "launch", OSC_KIND_RUNTIME, 131, 0);
    assert_int_equal(arg_int(3, "correlation"), 11);
    osc_trace_fini(&trace);
}

TEST(a_step_that_nothing_ends_may_be_none)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, 90, WORDS(0, OSC_STEP_IF_ENDED));
    recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, 150, WORDS(1, OSC_STEP_IF_ENDED));
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 1);
    assert_range(0, "ProfilerStep#0", OSC_KIND_STEP, 90, 60);
    osc_trace_fini(&trace);
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, 90, WORDS(1, 0));
    recording_flush(&rec);
    load_all();
    assert_int_equal(trace.events.n_rows, 1);
    osc_trace_fini(&trace);
}

static void record_everything(void)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, 90, WORDS(1, 0));
    BEGIN(OPERATOR, "op", 100);
    ARG("a", 1);
    BEGIN(RUNTIME, "launch", 120);
    recording_add(&rec, OSC_RECORD_LAUNCH, 0, 130, WORDS(9, 0));
    END(140);
    ARG("b", 2);
    recording_add(&rec, OSC_RECORD_ALLOC, 0, 150, WORDS(4096, 30));
    ARG("c", 3);
    END(200);
    recording_add(&rec, OSC_RECORD_DEVICE, recording_name(&rec, "npu"), 210,
                  WORDS(1, 0, 1 << 20, 0));
    recording_add(&rec, OSC_RECORD_QUEUE, recording_name(&rec, "q"), 220, WORDS(3, 1));
    recording_add(&rec, OSC_RECORD_DEVICE_CLOCK, 1, 230, WORDS(230, 2));
    recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "kernel"), 300,
                  WORDS(3, 9, 150, 155, 160, 190, 64, 0));
    recording_add(&rec, OSC_RECORD_ASYNC_BEGIN, recording_name(&rec, "r"), 310, WORDS(5, 0));
    recording_add(&rec, OSC_RECORD_ASYNC_END, recording_name(&rec, "r"), 320, WORDS(5, 0));
    recording_add(&rec, OSC_RECORD_FLOW_BEGIN, 0, 330, WORDS(6, 0));
    ADD(OSC_RECORD_STEP_END, 0, 400);
    ADD(OSC_RECORD_METADATA, recording_name(&rec, "k"), recording_name(&rec, "v"));
    recording_flush(&rec);
    recording_end(&rec);
}

TEST(says_so_whenever_an_allocation_fails)
{
    static const struct osc_import_options one = {.n_threads = 1};
    osc_status st = OSC_ENOMEM;

    record_everything();
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = load(&trace, &one);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        if (st == OSC_OK)
            assert_int_equal(trace.events.n_rows, 7);
        osc_trace_fini(&trace);
    }
}

TEST(a_newer_version_is_refused)
{
    static const struct osc_import_options defaults;
    struct osc_file_header h;

    recording_begin(&rec);
    recording_end(&rec);
    memcpy(&h, rec.bytes, sizeof h);
    h.version = OSC_FILE_VERSION + 1;
    osc_file_header_seal(&h);
    memcpy(rec.bytes, &h, sizeof h);
    assert_int_equal(load(&trace, &defaults), OSC_EFORMAT);
    osc_trace_fini(&trace);
}

TEST(devices_are_typed_and_say_what_they_can_do)
{
    recording_begin(&rec);
    BEGIN(PLAIN, "host", 90);
    recording_add(&rec, OSC_RECORD_DEVICE, recording_name(&rec, "fpga"), 100,
                  WORDS(1, 2, 1 << 20, 0));
    recording_add(&rec, OSC_RECORD_QUEUE, recording_name(&rec, "q"), 110, WORDS(3, 1));
    ADD(OSC_RECORD_METADATA, recording_name(&rec, "device_limits.1"),
        recording_name(&rec, "64 9 0 1024 -1 65536 x 7"));
    recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "wait"), 300,
                  WORDS(3 | (uint64_t)OSC_WORK_SYNC << 32, 0, 0, 0, 160, 190, 0, 0));
    recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "exchange"), 300,
                  WORDS(3 | (uint64_t)OSC_WORK_COMMUNICATION << 32, 0, 0, 0, 200, 210, 0, 0));
    END(400);
    recording_flush(&rec);
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
    assert_int_equal(trace.n_devices, 1);
    const struct osc_device *const d = &trace.devices[0];
    assert_true(osc_str_eq(osc_trace_str(&trace, d->name), OSC_STR("fpga:2")));
    assert_true(osc_str_eq(osc_trace_str(&trace, d->family), OSC_STR("fpga")));
    assert_int_equal(d->limits.memory_bytes, 1 << 20);
    assert_int_equal(d->limits.n_units, 64);
    assert_int_equal(d->limits.major, 9);
    assert_int_equal(d->limits.minor, 0);
    assert_int_equal(d->limits.threads_per_block, 1024);
    assert_int_equal(d->limits.threads_per_unit, -1);
    assert_int_equal(d->limits.registers_per_unit, 65536);
    assert_int_equal(d->limits.shared_bytes_per_block, -1);
    assert_int_equal(d->limits.shared_bytes_per_unit, 7);
    assert_int_equal(d->limits.simd_width, -1);
    struct osc_str value;
    assert_false(osc_trace_meta(&trace, "device_limits.1", &value));
    assert_true(osc_trace_meta(&trace, "deviceProperties", &value));
    const struct osc_chunk *const c = trace.events.chunks[1];
    assert_int_equal(c->kind[1], OSC_KIND_SYNC);
    assert_int_equal(c->kind[2], OSC_KIND_KERNEL);
    assert_true(osc_row_form(&trace, c, 2)->known[OSC_ARG_KEY_COLLECTIVE_NAME] >= 0);
    osc_trace_fini(&trace);
}

UNIT_MAIN("records_reader")
