/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/copies.h"

#include "import/import.h"
#include "opscope/source.h"
#include "support/loaded_recording.h"
#include "support/unit.h"

static struct small_recording rec;
static struct osc_trace trace;

#define WORDS(...) (const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__} / 8
#define BEGIN(kind, name, ticks)                                                         \
    recording_add(&rec, OSC_RECORD_BEGIN + OSC_SCOPE_##kind, recording_name(&rec, name), \
                  ticks, NULL, 0)
#define END(ticks)       recording_add(&rec, OSC_RECORD_END, 0, ticks, NULL, 0)
#define STEP(n, ticks)   recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, ticks, WORDS(n, 0))
#define LAUNCH(n, ticks) recording_add(&rec, OSC_RECORD_LAUNCH, 0, ticks, WORDS(n, 0))

/* Work of KIND on QUEUE that launch N started. */
static void work(uint64_t kind, uint64_t queue, uint64_t n, uint64_t start, uint64_t end)
{
    recording_add(&rec, OSC_RECORD_WORK, recording_name(&rec, "kernel"), 9000,
                  WORDS(kind << 32 | queue, n, 0, 0, start, end, 0, 0));
}

static void begin(void)
{
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_DEVICE, recording_name(&rec, "npu"), 1, WORDS(1, 0, 0, 0));
    for (uint64_t q = 3; q < 5; q++)
        recording_add(&rec, OSC_RECORD_QUEUE, recording_name(&rec, "q"), 2, WORDS(q, 1));
}

static void end(void)
{
    recording_flush(&rec);
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
}

static bool is_called(const struct osc_chunk *c, uint32_t i, const char *name)
{
    return osc_str_eq(osc_row_name(&trace, c, i), osc_str_c(name));
}

/* The id of the range NAME of the host; 0: it has none. */
static int64_t id_of(const char *name)
{
    int64_t id = 0;

    for (uint32_t k = 1; k < trace.events.n_chunks; k++) {
        const struct osc_chunk *const c = trace.events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++)
            if (is_called(c, i, name) && !osc_row_form(&trace, c, i)->is_device)
                (void)osc_row_arg_int(&trace, c, i, OSC_ARG_KEY_EXTERNAL_ID, &id);
    }
    return id;
}

/* NAME has N copies, which last as WANTED, start and end, and have its id. */
static void assert_copies(const char *name, size_t n, const int64_t (*wanted)[2])
{
    const int64_t expected = id_of(name);
    size_t found = 0;

    assert_true((expected != 0) == (n > 0));
    for (uint32_t k = 1; k < trace.events.n_chunks; k++) {
        const struct osc_chunk *const c = trace.events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            int64_t id = 0;

            if (!is_called(c, i, name) || !osc_row_form(&trace, c, i)->is_device)
                continue;
            assert_true(found < n);
            assert_int_equal(c->kind[i], OSC_KIND_ANNOTATION);
            assert_int_equal(c->ts_ns[i], wanted[found][0]);
            assert_int_equal(osc_row_end(c, i), wanted[found][1]);
            assert_true(osc_row_arg_int(&trace, c, i, OSC_ARG_KEY_EXTERNAL_ID, &id));
            assert_int_equal(id, expected);
            found++;
        }
    }
    assert_int_equal(found, n);
}

TEST(work_belongs_to_the_innermost_range_of_its_launch)
{
    begin();
    BEGIN(ANNOTATION, "outer", 100);
    LAUNCH(1, 110);
    BEGIN(ANNOTATION, "inner", 120);
    recording_flush(&rec); /* the rest comes in another segment */
    BEGIN(OPERATOR, "op", 130);
    LAUNCH(2, 140);
    LAUNCH(3, 150);
    END(160);
    END(170);
    LAUNCH(4, 180);
    END(190);
    LAUNCH(5, 200);
    work(OSC_WORK_KERNEL, 3, 1, 1000, 1010);
    work(OSC_WORK_KERNEL, 3, 3, 1040, 1050);
    work(OSC_WORK_MEMCPY, 3, 2, 1020, 1070);
    work(OSC_WORK_MEMSET, 4, 2, 1005, 1006);
    work(OSC_WORK_SYNC, 4, 2, 1000, 2000);
    work(OSC_WORK_KERNEL, 3, 4, 1080, 1090);
    work(OSC_WORK_KERNEL, 3, 5, 1100, 1110);
    end();
    assert_copies("outer", 1, (const int64_t[][2]){{1000, 1090}});
    assert_copies("inner", 2, (const int64_t[][2]){{1005, 1006}, {1020, 1070}});
    assert_copies("op", 0, NULL);
    osc_trace_fini(&trace);
}

TEST(what_has_ended_out_of_order_has_no_more_work)
{
    begin();
    BEGIN(ANNOTATION, "outer", 100);
    BEGIN(ANNOTATION, "inner", 110);
    BEGIN(OPERATOR, "op", 120);
    LAUNCH(1, 130);
    recording_add(&rec, OSC_RECORD_END_OF, 110, 140, NULL, 0);
    LAUNCH(2, 150);
    LAUNCH(3, 160);
    END(170);
    END(180);
    for (uint64_t i = 1; i < 4; i++)
        work(OSC_WORK_KERNEL, 3, i, 1000 + 10 * i, 1005 + 10 * i);
    end();
    assert_copies("inner", 1, (const int64_t[][2]){{1010, 1015}});
    assert_copies("outer", 1, (const int64_t[][2]){{1020, 1035}});
    osc_trace_fini(&trace);
}

TEST(steps_are_ranges_like_others)
{
    begin();
    BEGIN(ANNOTATION, "epoch", 50);
    STEP(1, 100);
    LAUNCH(1, 110);
    BEGIN(ANNOTATION, "forward", 120);
    LAUNCH(2, 130);
    STEP(2, 140);
    LAUNCH(3, 150);
    END(160);
    recording_add(&rec, OSC_RECORD_STEP_END, 0, 170, NULL, 0);
    LAUNCH(4, 180);
    END(190);
    for (uint64_t i = 1; i < 5; i++)
        work(OSC_WORK_KERNEL, 3, i, 1000 + 10 * i, 1005 + 10 * i);
    end();
    assert_copies("ProfilerStep#1", 1, (const int64_t[][2]){{1010, 1015}});
    assert_copies("forward", 1, (const int64_t[][2]){{1020, 1025}});
    assert_copies("ProfilerStep#2", 1, (const int64_t[][2]){{1030, 1035}});
    assert_copies("epoch", 1, (const int64_t[][2]){{1040, 1045}});
    osc_trace_fini(&trace);
}

TEST(a_step_that_is_none_has_no_copy)
{
    begin();
    recording_add(&rec, OSC_RECORD_STEP_BEGIN, 0, 90, WORDS(1, OSC_STEP_IF_ENDED));
    LAUNCH(1, 100);
    work(OSC_WORK_KERNEL, 3, 1, 1000, 1010);
    end();
    assert_copies("ProfilerStep#1", 0, NULL);
    assert_int_equal(trace.events.n_rows, 2);
    osc_trace_fini(&trace);
}

UNIT_MAIN("copies")
