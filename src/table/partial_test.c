/* SPDX-License-Identifier: Apache-2.0 */
/* ask/gather_test.c checks that merged parts give the same answer as all traces at once. */
#include "table/partial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct osc_column columns[] = {
    {.name = "name", .type = OSC_TYPE_STRING, .merge = OSC_MERGE_KEY},
    {.name = "at_ns",
     .type = OSC_TYPE_INTEGER,
     .merge = OSC_MERGE_MIN,
     .flags = OSC_COLUMN_MOMENT},
    {.name = "share", .type = OSC_TYPE_NUMBER, .merge = OSC_MERGE_SUM},
    {.name = "is_so", .type = OSC_TYPE_BOOLEAN, .merge = OSC_MERGE_OR},
};

static const struct osc_table_option compat = {
    .name = "compat", .kind = OSC_OPTION_WORD, .words = "tb"};
static const struct osc_table_option moment = {.name = "at", .kind = OSC_OPTION_TIME};
static const struct osc_table_option *const own[] = {&compat, &moment, NULL};
static const struct osc_table_def table = {
    .name = "t", .columns = columns, .n_columns = 4, .options = own};
static const struct osc_table_def shorter = {.name = "t", .columns = columns, .n_columns = 3};
static const struct osc_table_def other = {.name = "u", .columns = columns, .n_columns = 4};
static const struct osc_options options;
static struct osc_strbuf bytes;

static struct osc_partial_question question_of(const struct osc_table_def *def)
{
    return (struct osc_partial_question){.def = def, .options = &options};
}

static int make_part(void **state)
{
    const struct osc_partial_question q = question_of(&table);
    const struct osc_identity id = {.path = OSC_STR("a.json"),
                                    .source = OSC_STR("a.json"),
                                    .alone = {.origin_ns = 1000},
                                    .among = {.origin_ns = 1000}};
    const struct osc_trace t = {.rank = 0};
    struct osc_result r;

    (void)state;
    osc_strbuf_clear(&bytes);
    osc_result_init(&r, &table);
    osc_result_row(&r);
    osc_result_str(&r, 0, OSC_STR("x"));
    osc_result_int(&r, 1, 70);
    osc_result_num(&r, 2, -0.5);
    osc_result_bool(&r, 3, true);
    osc_result_row(&r);
    osc_result_str(&r, 0, OSC_STR(""));
    osc_result_note(&r, "a note");
    r.n_left_out = 5;
    const osc_status st = osc_partial_write(&q, &r, &t, &id, &bytes, NULL);
    osc_result_fini(&r);
    return st == OSC_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    osc_strbuf_fini(&bytes);
    return 0;
}

static struct osc_str part(void)
{
    return (struct osc_str){bytes.s, (uint32_t)bytes.len};
}

/* Read the bytes as a part of Q. */
static osc_status read_as(const struct osc_partial_question *q, struct osc_err *err)
{
    struct osc_partial p;
    struct osc_result r;

    osc_result_init(&r, q->def);
    osc_status st = osc_partial_open(&p, part(), q, err);
    if (st == OSC_OK)
        st = osc_partial_read(&p, &r, err);
    osc_result_fini(&r);
    return st;
}

static void rows_come_back_and_moments_move(void **state)
{
    const struct osc_partial_question q = question_of(&table);
    struct osc_partial p;
    struct osc_result r;

    (void)state;
    assert_int_equal(osc_partial_open(&p, part(), &q, NULL), OSC_OK);
    assert_string_equal(p.identity.path.s, "a.json");
    assert_null(p.identity.host.s);
    p.identity.among.origin_ns = 400;
    osc_result_init(&r, &table);
    assert_int_equal(osc_partial_read(&p, &r, NULL), OSC_OK);
    assert_int_equal(r.n_rows, 2);
    assert_int_equal(r.n_left_out, 5);
    assert_true(osc_str_eq(osc_result_get_str(&r, 0, 0), OSC_STR("x")));
    assert_int_equal(osc_result_get_int(&r, 0, 1), 670);
    assert_true(osc_result_get_num(&r, 0, 2) == -0.5);
    assert_true(osc_result_get_bool(&r, 0, 3));
    assert_true(osc_result_has(&r, 1, 0));
    assert_false(osc_result_has(&r, 1, 1));
    assert_string_equal(r.notes.s, "a note\n");
    osc_result_fini(&r);
}

static void every_changed_or_missing_byte_is_noticed(void **state)
{
    const struct osc_partial_question q = question_of(&table);

    (void)state;
    for (size_t i = 0; i < bytes.len; i++) {
        if (i >= 12 && i < 16) /* unused bytes */
            continue;
        bytes.s[i] = (char)(bytes.s[i] ^ 4);
        assert_int_equal(read_as(&q, NULL), OSC_EINVAL);
        bytes.s[i] = (char)(bytes.s[i] ^ 4);
    }
    for (const size_t len = bytes.len; bytes.len > 0;) {
        bytes.len--;
        assert_int_equal(read_as(&q, NULL), OSC_EINVAL);
        if (bytes.len == 0) {
            bytes.len = len;
            break;
        }
    }
    assert_int_equal(read_as(&q, NULL), OSC_OK);
}

static void assert_refused(const struct osc_partial_question *q, const char *why)
{
    struct osc_err err = {0};

    assert_int_equal(read_as(q, &err), OSC_EINVAL);
    assert_non_null(strstr(err.message, why));
}

static void a_part_of_something_else_is_refused(void **state)
{
    const struct osc_options tb = {.own = {{&compat, "tb", 0}}, .n_own = 1};
    struct osc_partial_question q = question_of(&other);

    (void)state;
    assert_refused(&q, "not of u");
    q = question_of(&shorter);
    assert_refused(&q, "other columns");
    q = question_of(&table);
    q.choice = "--steps 5";
    assert_refused(&q, "otherwise");
    q = question_of(&table);
    q.n_rows = 2;
    assert_refused(&q, "otherwise");
    q = question_of(&table);
    q.options = &tb;
    assert_refused(&q, "otherwise");
    q = question_of(&table);
    bytes.s[8] = OSC_PARTIAL_VERSION - 1;
    assert_refused(&q, "in version 3; this reads 4");
    bytes.s[0] = 'x';
    assert_refused(&q, "no part");
}

static void times_from_another_origin_are_refused(void **state)
{
    const struct osc_options at = {.own = {{&moment, "5", 5}}, .n_own = 1};
    const struct osc_partial_question q = {.def = &table, .options = &at};
    const struct osc_identity id = {.path = OSC_STR("a"),
                                    .source = OSC_STR("a"),
                                    .alone = {.origin_ns = 1000},
                                    .among = {.origin_ns = 1000}};
    const struct osc_trace t = {.rank = 0};
    struct osc_partial p;
    struct osc_result r;

    (void)state;
    osc_strbuf_clear(&bytes);
    osc_result_init(&r, &table);
    assert_int_equal(osc_partial_write(&q, &r, &t, &id, &bytes, NULL), OSC_OK);
    assert_int_equal(osc_partial_open(&p, part(), &q, NULL), OSC_OK);
    assert_int_equal(osc_partial_read(&p, &r, NULL), OSC_OK);
    p.identity.among.origin_ns = 999;
    assert_int_equal(osc_partial_read(&p, &r, NULL), OSC_EINVAL);
    osc_result_fini(&r);
}

static void parts_may_stand_one_behind_the_other(void **state)
{
    struct osc_strbuf two = {0};
    struct osc_str rest, one;

    (void)state;
    osc_strbuf_add(&two, bytes.s, bytes.len);
    osc_strbuf_add(&two, bytes.s, bytes.len);
    rest = (struct osc_str){two.s, (uint32_t)two.len};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(osc_partial_next(&rest, &one, NULL), OSC_OK);
        assert_int_equal(one.len, bytes.len);
    }
    assert_int_equal(rest.len, 0);
    assert_int_equal(osc_partial_next(&rest, &one, NULL), OSC_EINVAL);
    osc_strbuf_fini(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_back_and_moments_move, make_part, end),
        cmocka_unit_test_setup_teardown(every_changed_or_missing_byte_is_noticed, make_part,
                                        end),
        cmocka_unit_test_setup_teardown(a_part_of_something_else_is_refused, make_part, end),
        cmocka_unit_test_setup_teardown(times_from_another_origin_are_refused, make_part, end),
        cmocka_unit_test_setup_teardown(parts_may_stand_one_behind_the_other, make_part, end),
    };
    return cmocka_run_group_tests_name("partial", tests, NULL, NULL);
}
