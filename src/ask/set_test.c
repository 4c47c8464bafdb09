/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/set.h"

#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/said.h"
#include "support/unit.h"

/* Three operators; one name is not UTF-8, one occurs twice. Written again for each test. */
static const char text[] = "{\"traceEvents\": ["
                           "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\\u0000\",\"pid\":1,"
                           "\"tid\":1,\"ts\":1,\"dur\":9},"
                           "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xff\",\"pid\":1,"
                           "\"tid\":1,\"ts\":2,\"dur\":3},"
                           "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xff\",\"pid\":1,"
                           "\"tid\":1,\"ts\":20,\"dur\":1}]}";
static char path[] = "/tmp/opscope-library-XXXXXX";
static struct osc_set *set;
static struct osc_err err;

static int set_up(void **state)
{
    FILE *f = NULL;
    int fd = -1;

    (void)state;
    memcpy(strrchr(path, '-') + 1, "XXXXXX", sizeof "XXXXXX");
    fd = mkstemp(path);
    f = fd >= 0 ? fdopen(fd, "w") : NULL;
    set = NULL;
    return f && fputs(text, f) >= 0 && fclose(f) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    osc_set_release(set);
    return unlink(path);
}

/* Open the trace as HOW says, which may be NULL. */
static osc_status open_as(const struct osc_how *how)
{
    const char *const file = path;

    osc_set_release(set);
    err = (struct osc_err){0};
    return osc_set_open(&set, &file, 1, how, &err);
}

static osc_status ask(const struct osc_view *view, struct osc_question question,
                      struct osc_frame **f)
{
    err = (struct osc_err){0};
    return osc_ask(set, view, &question, f, &err);
}

/* All events. */
static const struct osc_question events = {.table = "events"};

static struct osc_frame_column find(const struct osc_frame *f, const char *name)
{
    for (size_t i = 0; i < osc_frame_columns(f); i++) {
        const struct osc_frame_column c = osc_frame_column_at(f, i);

        if (strcmp(c.name, name) == 0)
            return c;
    }
    fail_msg("there is no column %s", name);
    return (struct osc_frame_column){0};
}

TEST_WITH(a_frame_has_the_values_of_the_table_and_outlives_the_set, set_up, tear_down)
{
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(ask(NULL, events, &f), OSC_OK);
    osc_set_release(set);
    set = NULL;
    assert_string_equal(osc_frame_name(f), "events");
    assert_true(osc_frame_rows(f) == 3);

    const struct osc_frame_column start = find(f, "start_ns"), name = find(f, "name");
    const int64_t starts[] = {0, 1000, 19000};
    const int32_t codes[] = {0, 1, 1};
    assert_int_equal(start.type, OSC_TYPE_INTEGER);
    assert_string_equal(start.unit, "ns");
    assert_memory_equal(start.values, starts, sizeof starts);
    assert_null(start.missing);
    assert_int_equal(name.type, OSC_TYPE_STRING);
    assert_memory_equal(name.values, codes, sizeof codes);
    assert_int_equal(name.n_words, 2);
    assert_memory_equal(name.word_bytes, "b\0\xef\xbf\xbd", 5);
    assert_true(name.word_offsets[1] == 2 && name.word_offsets[2] == 5);
    osc_frame_release(f);
}

TEST_WITH(missing_cells_are_marked, set_up, tear_down)
{
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(ask(NULL, events, &f), OSC_OK);
    const struct osc_frame_column parent = find(f, "parent_id");
    assert_true(parent.n_missing == 2);
    assert_memory_equal(parent.missing, "\1\0\1", 3);
    osc_frame_release(f);
}

TEST_WITH(sorting_by_what_no_row_has_is_told, set_up, tear_down)
{
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(ask(NULL, (struct osc_question){.table = "events", .sort = "-bytes"}, &f),
                     OSC_OK);
    assert_string_equal(osc_frame_notes(f),
                        "not sorted by bytes: no row has a value of bytes\n");
    osc_frame_release(f);
    assert_int_equal(
        ask(NULL, (struct osc_question){.table = "events", .sort = "parent_id"}, &f), OSC_OK);
    assert_string_equal(osc_frame_notes(f), "");
    osc_frame_release(f);
}

static const struct osc_view late = {.has_from = 1, .from_ns = 1000};

TEST_WITH(a_view_is_of_one_question_or_of_the_set, set_up, tear_down)
{
    const struct osc_how how = {.only = &late};
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(ask(&late, events, &f), OSC_OK);
    assert_true(osc_frame_rows(f) == 2);
    osc_frame_release(f);
    assert_int_equal(ask(NULL, events, &f), OSC_OK);
    assert_true(osc_frame_rows(f) == 3);
    osc_frame_release(f);
    assert_int_equal(open_as(&how), OSC_OK);
    assert_int_equal(ask(NULL, events, &f), OSC_OK);
    assert_true(osc_frame_rows(f) == 2);
    osc_frame_release(f);
}

/* Assert that the question is refused with MESSAGE, and that nothing is printed. */
static void assert_refuses(struct osc_question question, const char *message)
{
    struct osc_frame *f = NULL;

    said_begin();
    const osc_status st = ask(NULL, question, &f);
    assert_string_equal(said_end(), "");
    assert_int_equal(st, OSC_EINVAL);
    assert_null(f);
    assert_string_equal(err.message, message);
}

TEST_WITH(what_is_wrong_is_said_to_the_program_alone, set_up, tear_down)
{
    const struct osc_view wrong = {.steps = "x"};

    assert_int_equal(open_as(&(struct osc_how){.only = &wrong}), OSC_EINVAL);
    assert_null(set);
    assert_int_equal(osc_set_open(&set, NULL, 0, NULL, &err), OSC_EINVAL);
    assert_string_equal(err.message, "which trace?");
    assert_int_equal(open_as(NULL), OSC_OK);
    assert_string_equal(osc_set_notes(set), "");
    assert_refuses((struct osc_question){.table = "evnts"},
                   "unknown table 'evnts'; did you mean 'events'?");
    assert_refuses((struct osc_question){.table = "events", .options = {{"compat", "x"}}},
                   "--compat: 'x' is not 'tb'");
    assert_refuses(
        (struct osc_question){.table = "threads", .group_by = "x"},
        "--group-by has no effect for threads; 'opscope table --list' says for which it has");
}

/* Collects a limited number of bytes. */
static int write_some(void *ctx, const char *s, size_t len)
{
    char *const to = ctx;

    if (strlen(to) + len > 60)
        return -1;
    strncat(to, s, len);
    return 0;
}

TEST_WITH(text_is_written_where_the_program_wants_it, set_up, tear_down)
{
    char written[64] = "";
    const struct osc_layout layout = {.format = "csv", .write = write_some, .ctx = written};
    const struct osc_question operators = {.table = "operators", .columns = "name,calls"};

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(osc_ask_text(set, NULL, &operators, &layout, NULL), OSC_OK);
    assert_string_equal(written, "name,calls\nb\xe2\x90\x80,1\n\xef\xbf\xbd,2\n");
    assert_int_equal(osc_ask_text(set, NULL, &events, &layout, NULL), OSC_EIO);
}

static int stop(void *ctx, const char *read, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)ctx;
    (void)read;
    (void)done_bytes;
    (void)total_bytes;
    return 1;
}

TEST_WITH(progress_may_stop_it, set_up, tear_down)
{
    const struct osc_how how = {.n_threads = 1, .progress = stop};
    FILE *const f = fopen(path, "w"); /* long enough for progress calls */

    assert_non_null(f);
    fputs("[", f);
    for (int i = 0; i < 20000; i++) /* no two alike, so that no fast path runs through */
        fprintf(f,
                "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{\"k%"
                "0100d\":1}},\n",
                i);
    fclose(f);
    assert_int_equal(open_as(&how), OSC_ECANCELED);
}

TEST_WITH(arrow_arrays_hold_what_they_show, set_up, tear_down)
{
    struct osc_frame *f = NULL;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array, none;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(
        ask(NULL,
            (struct osc_question){.table = "events", .columns = "name,start_ns,parent_id"}, &f),
        OSC_OK);
    assert_int_equal(osc_frame_stream(f, &stream), OSC_OK);
    osc_frame_release(f);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_int_equal(stream.get_next(&stream, &none), 0);
    assert_null(none.release);
    stream.release(&stream);

    assert_string_equal(schema.format, "+s");
    assert_string_equal(schema.children[0]->format, "i");
    assert_string_equal(schema.children[0]->dictionary->format, "U");
    assert_string_equal(schema.children[1]->format, "l");
    struct ArrowArray moved = *array.children[2];
    array.children[2]->release = NULL;
    array.release(&array);
    assert_true(moved.null_count == 2);
    assert_int_equal(*(const uint8_t *)moved.buffers[0] & 7, 2);
    moved.release(&moved);
    assert_null(moved.release);
    schema.release(&schema);
}

TEST_WITH(a_limit_of_memory_is_told_with_the_name_of_the_trace, set_up, tear_down)
{
    const struct osc_question small = {.table = "events", .max_memory_bytes = 1024};
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(ask(NULL, small, &f), OSC_ELIMIT);
    assert_null(f);
    assert_ptr_equal(strstr(err.message, path), err.message);
    assert_non_null(strstr(err.message, ": memory limit reached while making"));
    assert_int_equal(ask(NULL, events, &f), OSC_OK); /* other questions have no limit */
    osc_frame_release(f);
}

TEST_WITH(a_question_can_be_stopped, set_up, tear_down)
{
    struct osc_cancel *const c = osc_cancel_new(), *const other = osc_cancel_new();
    struct osc_frame *f = NULL;

    assert_int_equal(open_as(NULL), OSC_OK);
    osc_cancel_pull(c);
    assert_int_equal(ask(NULL, (struct osc_question){.table = "events", .cancel = c}, &f),
                     OSC_ECANCELED);
    assert_null(f);
    assert_string_equal(err.message, "interrupted");
    assert_int_equal(ask(NULL, (struct osc_question){.table = "events", .cancel = other}, &f),
                     OSC_OK);
    osc_frame_release(f);
    osc_cancel_free(c);
    osc_cancel_free(other);
}

static int pull(void *ctx, const char *s, size_t len)
{
    (void)s;
    (void)len;
    osc_cancel_pull(ctx);
    return 0;
}

TEST_WITH(a_question_that_runs_stops_soon, set_up, tear_down)
{
    struct osc_cancel *const c = osc_cancel_new();
    const struct osc_layout layout = {.format = "csv", .write = pull, .ctx = c};
    const struct osc_question question = {.table = "events", .cancel = c};
    FILE *const f = fopen(path, "w");

    assert_non_null(f);
    fputs("[", f);
    for (int i = 0; i < 20000; i++)
        fprintf(f, "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1},\n",
                i);
    fclose(f);
    assert_int_equal(open_as(NULL), OSC_OK);
    assert_int_equal(osc_ask_text(set, NULL, &question, &layout, &err), OSC_ECANCELED);
    assert_string_equal(err.message, "interrupted");
    osc_cancel_free(c);
}

/* A question about a view for another thread to ask. */
struct asker {
    struct osc_cancel *cancel;
    osc_status st;
};

static void *ask_late(void *arg)
{
    struct asker *const a = arg;
    struct osc_frame *f = NULL;
    const struct osc_question question = {.table = "events", .cancel = a->cancel};

    a->st = osc_ask(set, &late, &question, &f, NULL);
    osc_frame_release(f);
    return NULL;
}

/* The thread is stopped while it waits for the trace; then it must not begin the view. */
TEST_WITH(a_question_that_makes_a_view_stops_soon, set_up, tear_down)
{
    struct asker a = {.cancel = osc_cancel_new()};
    pthread_t thread;

    assert_int_equal(open_as(NULL), OSC_OK);
    struct osc_trace *const t = osc_set_loaded(set)->traces[0];
    osc_trace_write(t);
    assert_int_equal(pthread_create(&thread, NULL, ask_late, &a), 0);
    usleep(50000); /* if the thread is slower, it is stopped earlier */
    osc_cancel_pull(a.cancel);
    osc_trace_write_end(t);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(a.st, OSC_ECANCELED);
    assert_int_equal(t->facts, 0);
    osc_cancel_free(a.cancel);
}

/* Working memory and the answer count toward the limit of the question. The view is kept for
 * other questions and counts toward the limit of the set. */
TEST_WITH(a_view_counts_toward_the_limit_of_the_set, set_up, tear_down)
{
    const struct osc_question question = {
        .table = "events", .columns = "id", .limit = 1, .max_memory_bytes = 2 << 20};
    const struct osc_how how = {.n_threads = 1, .max_memory_bytes = 128 << 20};
    struct osc_frame *f = NULL;
    FILE *const file = fopen(path, "w");

    assert_non_null(file);
    fputs("[", file);
    for (int i = 0; i < 150000; i++)
        fprintf(file, "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":%d},\n", i);
    fclose(file);
    assert_int_equal(open_as(&how), OSC_OK);
    const size_t before = osc_mem_held();
    /* Each row needs a byte of working memory and 33 in the view. */
    assert_int_equal(ask(&late, question, &f), OSC_OK);
    osc_frame_release(f);
    assert_true(osc_mem_held() - before > 4 << 20);
    /* All rows as columns exceed the limit of the question. */
    assert_int_equal(
        ask(&late, (struct osc_question){.table = "events", .max_memory_bytes = 2 << 20}, &f),
        OSC_ELIMIT);
    /* The byte of each row alone exceeds this limit. */
    assert_int_equal(ask(&(struct osc_view){.has_to = 1, .to_ns = 100000},
                         (struct osc_question){.table = "events", .max_memory_bytes = 64 << 10},
                         &f),
                     OSC_ELIMIT);
    assert_non_null(strstr(err.message, "memory limit reached"));
    assert_int_equal(ask(&late, question, &f), OSC_OK); /* others are not affected */
    osc_frame_release(f);
}

/* Fail the first allocation, then the second, ... until the question is answered. */
TEST_WITH(any_allocation_may_fail, set_up, tear_down)
{
    osc_status st = OSC_ENOMEM;

    assert_int_equal(open_as(NULL), OSC_OK);
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_frame *f = NULL;
        struct ArrowArray array;
        struct ArrowSchema schema;

        osc_mem_fail_after(n);
        st = ask(NULL, (struct osc_question){.table = "events", .sort = "start_ns"}, &f);
        const osc_status made = st == OSC_OK ? osc_frame_array(f, &array) : st;
        const osc_status told = made == OSC_OK ? osc_frame_schema(f, &schema) : made;
        osc_mem_fail_after(-1);
        osc_frame_release(f);
        if (made == OSC_OK)
            array.release(&array);
        if (told == OSC_OK)
            schema.release(&schema);
        assert_true(told == OSC_OK || told == OSC_ENOMEM);
        st = told;
    }
}

/* The text of word CODE of column C. */
static struct osc_str word_of(const struct osc_frame_column *c, uint64_t row)
{
    const int32_t code = ((const int32_t *)c->values)[row];
    const int64_t from = (int64_t)c->word_offsets[code];

    return (struct osc_str){c->word_bytes + from, (uint32_t)(c->word_offsets[code + 1] - from)};
}

TEST_WITH(a_table_is_made_of_the_answers_to_others, set_up, tear_down)
{
    const struct osc_question question = {.table = "headlines"};
    const struct osc_view none = {.has_from = true, .from_ns = 1000000};
    struct osc_frame *f = NULL;

    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        assert_int_equal(open_as(&(struct osc_how){.one_by_one = one_by_one}), OSC_OK);
        assert_int_equal(ask(NULL, question, &f), OSC_OK);
        assert_true(osc_frame_rows(f) == 8);
        const struct osc_frame_column view = find(f, "view"), said = find(f, "text");
        assert_true(osc_str_eq(word_of(&view, 2), OSC_STR("operators")));
        assert_true(osc_str_eq(word_of(&said, 2),
                               OSC_STR("b\\x00 takes 60.0 % of the host time of operators by "
                                       "itself (6.00 us).")));
        osc_frame_release(f);
        assert_int_equal(ask(&none, question, &f), OSC_OK);
        const struct osc_frame_column left = find(f, "text");
        assert_true(osc_str_eq(word_of(&left, 2), OSC_STR("0 operators took any time.")));
        osc_frame_release(f);
    }
}

TEST_WITH(any_allocation_of_a_table_made_of_others_may_fail, set_up, tear_down)
{
    osc_status st = OSC_ENOMEM;

    assert_int_equal(open_as(NULL), OSC_OK);
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_frame *f = NULL;

        osc_mem_fail_after(n);
        st = ask(NULL, (struct osc_question){.table = "headlines"}, &f);
        osc_mem_fail_after(-1);
        osc_frame_release(f);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
}

TEST(estimates_operations_of_a_call)
{
    static const char matrices[] = "{\"Ev Idx\": 1, \"Input Dims\": [[4, 8], [8, 16]]}";

    assert_int_equal(osc_operator_flops("aten::mm", matrices), 1024);
    assert_int_equal(osc_operator_flops("aten::mul",
                                        "{\"Input Dims\":[[],[]],\"Concrete Inputs\":"
                                        "[\"2\"],\"Input type\":[\"float\"]}"),
                     1);
    assert_int_equal(osc_operator_flops("aten::mul", "{\"Input Dims\":[[],[]],"
                                                     "\"Input type\":[\"Scalar\"]}"),
                     0);
    assert_int_equal(osc_operator_flops("aten::mm", ""), 0);
    assert_int_equal(osc_operator_flops("aten::mm", "{\"Input Dims\": [[4"), 0);
    assert_int_equal(osc_operator_flops("mm", matrices), 0);
}

UNIT_MAIN("set")
