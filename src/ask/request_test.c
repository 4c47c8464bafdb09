/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/request.h"

#include "analysis/table_registry.h"
#include "support/unit.h"

TEST(a_list_lies_within_another)
{
    assert_true(osc_list_within(NULL, NULL));
    assert_true(osc_list_within("3", NULL));
    assert_false(osc_list_within(NULL, "0-9"));
    assert_true(osc_list_within("3,5-6", "0,3-4,5,6-9"));
    assert_true(osc_list_within("0-9", "5-9,0-4"));
    assert_false(osc_list_within("0-9", "6-9,0-4"));
    assert_false(osc_list_within("3,10", "0-9"));
    assert_true(osc_list_within("5-99999999999999999999", "0-99999999999999999999"));
}

TEST(a_list_has_its_numbers_and_ranges)
{
    assert_true(osc_list_has(NULL, 5));
    assert_true(osc_list_has("0,4-7", 0));
    assert_true(osc_list_has("0,4-7", 4));
    assert_true(osc_list_has("0,4-7", 7));
    assert_false(osc_list_has("0,4-7", 3));
    assert_false(osc_list_has("0,4-7", 8));
    assert_false(osc_list_has("x", 0));
    assert_false(osc_list_has("", 0));
    assert_true(osc_list_has("0-99999999999999999999", 5));
}

/* Parse group_by KEY for TABLE into *O. Returns the message, "" if it is valid. */
static const char *group(const char *table, const char *key, struct osc_options *o)
{
    static struct osc_err err;
    const struct osc_request r = {.question.group_by = key};

    err = (struct osc_err){0};
    const osc_status st = osc_request_options(&r, osc_table_find(table), o, &err);
    assert_int_equal(st, err.code);
    return err.message;
}

TEST(keys_of_groups_are_taken_apart)
{
    struct osc_options o;

    assert_string_equal(group("averages", "shape", &o), "");
    assert_int_equal(o.groups, 1); /* in the order of the table's list */
    assert_string_equal(group("averages", "stack:12,dtype,shape", &o), "");
    assert_int_equal(o.groups, 7);
    assert_int_equal(o.group_number, 12);
    assert_string_equal(group("kernels", "op", &o), "");
    assert_int_equal(o.groups, 1);
    assert_string_equal(group("threads", NULL, &o), "");
    assert_string_equal(group("kernels", "shape", &o),
                        "kernels cannot be grouped by 'shape'; did you mean 'op'?");
    assert_string_equal(group("averages", "shape,", &o),
                        "averages cannot be grouped by 'shape,'; did you mean 'shape,dtype'?");
    assert_string_equal(group("averages", "", &o),
                        "averages cannot be grouped by ''; did you mean 'shape'?");
    assert_string_equal(group("averages", "stack:0", &o),
                        "--group-by: '0' is not a number of stack entries");
    assert_string_equal(group("averages", "stack:", &o),
                        "--group-by: '' is not a number of stack entries");
    assert_string_equal(group("operators", "stack:5", &o),
                        "operators cannot be grouped by 'stack:5'; did you mean 'stack'?");
}

/* The message about R for TABLE in FORM, "" if it is valid. */
static const char *check_scope(const char *table, const char *form, struct osc_request r)
{
    static struct osc_err err;

    err = (struct osc_err){0};
    const osc_status st =
        osc_request_check_scope(&r, osc_table_find(table), osc_renderer_find(form), &err);
    assert_int_equal(st, err.code);
    return err.message;
}

TEST(what_changes_nothing_is_refused)
{
    const struct osc_request text = {.question.options = {{"header", "x"},
                                                          {"top-level", ""},
                                                          {"torch", "1.13"},
                                                          {"max-name-width", "5"},
                                                          {"no-python", ""}}};
    const struct osc_request header = {.question.options = {{"header", "x"}}};
    const struct osc_request names = {.text.full_names = 1};

    assert_string_equal(check_scope("averages", "text", text), "");
    assert_string_equal(
        check_scope("averages", "csv",
                    (struct osc_request){.question.options = {{"no-python", ""}}}),
        "");
    assert_string_equal(check_scope("kernels", "text", names), "");
    assert_string_equal(
        check_scope("kernels", "csv",
                    (struct osc_request){.question = {.options = {{"compat", "tb"}},
                                                      .group_by = "op",
                                                      .merge = 1,
                                                      .limit = 3,
                                                      .sort = "name"}}),
        "");
    assert_string_equal(check_scope("kernels", "text", header),
                        "--header has no effect for kernels, only for averages");
    assert_string_equal(check_scope("averages", "csv", header),
                        "--header has no effect in csv, only in text");
    assert_string_equal(
        check_scope("averages", "text",
                    (struct osc_request){
                        .question = {.options = {{"header", "x"}}, .columns = "name"}}),
        "--header has no effect with --columns, only for the whole text of averages");
    assert_string_equal(check_scope("kernels", "md", names),
                        "--full-names has no effect in md, only in text");
}

static const char *const names[] = {"sort",
                                    "limit",
                                    "columns",
                                    "where",
                                    "group-by",
                                    "merge",
                                    "format",
                                    "rank",
                                    "span",
                                    "process",
                                    "thread",
                                    "device",
                                    "steps",
                                    "from",
                                    "to",
                                    "at",
                                    "header",
                                    "top-level",
                                    "torch",
                                    "compat",
                                    "max-name-width",
                                    "max-src-width",
                                    "max-shapes-width",
                                    "priority",
                                    "step-length",
                                    "all-steps",
                                    "no-python",
                                    "threads",
                                    "max-memory",
                                    "no-args",
                                    "full-names"};

TEST(each_field_is_for_some_table)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct osc_strbuf tables = {0};
        size_t n_tables = 0, n = 0;

        for (; osc_tables[n_tables]; n_tables++)
            n += osc_request_is_for(names[i], osc_tables[n_tables]);
        assert_true(n > 0);
        assert_true(!osc_request_is_all(names[i]) || n == n_tables);
        osc_request_add_tables(&tables, names[i]);
        assert_true(tables.len > 0);
        assert_true(n < 2 || strstr(tables.s, " and "));
        osc_strbuf_fini(&tables);
    }
}

/* Assert that NAME = VALUE among PARTS is refused with MESSAGE. */
static void assert_refuses(unsigned parts, const char *name, const char *value,
                           const char *message)
{
    struct osc_request r = {0};
    struct osc_err err = {0};

    assert_int_equal(osc_request_set(&r, parts, name, value, &err), OSC_EINVAL);
    assert_string_equal(err.message, message);
}

TEST(a_name_is_one_of_the_parts_that_are_asked_for)
{
    assert_refuses(~0u, "srt", "x", "unknown option '--srt'; did you mean '--sort'?");
    assert_refuses(OSC_PART_HOW, "nothing-like-it", NULL, "unknown option '--nothing-like-it'");
    assert_refuses(OSC_PART_HOW | OSC_PART_VIEW, "sort", "x",
                   "--sort is for a table: give it when one is asked for");
    assert_refuses(OSC_PART_QUESTION, "format", "csv",
                   "--format has no effect in columns, only in text");
    assert_refuses(~0u, "merge", "1", "option '--merge' takes no argument");
    assert_refuses(~0u, "sort", NULL, "option '--sort' needs an argument");
}

TEST(what_a_program_fills_in_is_checked_too)
{
    const struct osc_request wrong[] = {{.question.limit = -2},
                                        {.question.limit = INT64_MIN},
                                        {.view.ranks = "1,"},
                                        {.view.steps = "1,2"},
                                        {.question.options = {{"compat", "TB"}}},
                                        {.question.options = {{"torch", "2.1"}}},
                                        {.question.options = {{"priority", "gpu"}}},
                                        {.question.options = {{"step-length", "host"}}},
                                        {.question.options = {{"no-such-option", ""}}},
                                        {.text.format = "cvs"},
                                        {.view = {.has_from = 1, .from_ns = 2, .has_to = 1}}};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(osc_request_check(&wrong[i], NULL), OSC_EINVAL);
    assert_int_equal(osc_request_check(&(struct osc_request){.view.ranks = "1"}, NULL), OSC_OK);
}

UNIT_MAIN("request")
