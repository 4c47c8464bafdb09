/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/table_registry.h"
#include "cli/scope.h"
#include "support/said.h"

#define WORDS_MAX 24

static struct osc_args args;

/* Read LINE, words apart by blanks and '' for an empty one; the first is the command. */
static int parse(const char *line)
{
    static char text[512];
    static char *words[WORDS_MAX];
    int n = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && n < WORDS_MAX; word = strtok(NULL, " "))
        words[n++] = strcmp(word, "''") == 0 ? word + 2 : word;
    assert_true(n > 0 && n < WORDS_MAX);
    return osc_args_parse(&args, osc_command_find(words[0]), n, words);
}

static void assert_accepts(const char *line)
{
    said_begin();
    const int failed = parse(line);
    const char *const said = said_end();
    assert_string_equal(said, "");
    assert_int_equal(failed, OSC_EXIT_DONE);
}

/* LINE is a misuse, and MESSAGE is what is said about it. */
static void assert_refuses(const char *line, const char *message)
{
    char expected[512];

    snprintf(expected, sizeof expected, "opscope: %s\n", message);
    said_begin();
    const int failed = parse(line);
    const char *const said = said_end();
    assert_string_equal(said, expected);
    assert_int_equal(failed, OSC_EXIT_MISUSED);
}

static void nothing_given_is_the_defaults(void **state)
{
    (void)state;
    assert_accepts("table");
    assert_int_equal(args.n_operands, 0);
    assert_true(args.given == 0);
    assert_true(args.table.limit == OSC_LIMIT_DEFAULT);
    assert_string_equal(args.renderer->name, "text");
    assert_true(osc_selection_is_all(&args.selection));
}

static void every_option_puts_its_value_where_it_belongs(void **state)
{
    (void)state;
    assert_accepts("table --sort -cpu_ns --limit 7 --columns a,b --group-by shape --merge");
    assert_string_equal(args.table.sort, "-cpu_ns");
    assert_int_equal(args.table.limit, 7);
    assert_string_equal(args.columns, "a,b");
    assert_string_equal(args.table.group_by, "shape");
    assert_true(args.is_merged);
    assert_accepts("table --format json --list --explain name --help");
    assert_string_equal(args.renderer->name, "json");
    assert_true(args.wants_list);
    assert_string_equal(args.explain, "name");
    assert_true(args.wants_help);
    assert_accepts("table --rank 0,4-7 --span 1 --process python --thread 12 --device cuda:0");
    assert_string_equal(args.ranks, "0,4-7");
    assert_string_equal(args.spans, "1");
    assert_string_equal(args.selection.process, "python");
    assert_string_equal(args.selection.thread, "12");
    assert_string_equal(args.selection.device, "cuda:0");
    assert_accepts("table --steps @1-@2 --from 1.5ms --to 2s");
    assert_string_equal(args.selection.steps, "@1-@2");
    assert_true(args.selection.has_from && args.selection.has_to);
    assert_int_equal(args.selection.from_ns, 1500000);
    assert_int_equal(args.selection.to_ns, 2000000000);
    assert_accepts("table --header x --top-level --max-name-width 9 --max-src-width 8 "
                   "--max-shapes-width 0 --torch 1.13");
    assert_string_equal(args.table.header, "x");
    assert_true(args.table.top_level);
    assert_int_equal(args.table.max_name_width, 9);
    assert_int_equal(args.table.max_src_width, 8);
    assert_int_equal(args.table.max_shapes_width, -1);
    assert_true(args.table.torch_113);
    assert_accepts("table --compat tb --no-python --full-names --threads 3 --no-args");
    assert_true(args.table.compat_tb);
    assert_true(args.table.no_python);
    assert_true(args.table.full_names);
    assert_int_equal(args.import.n_threads, 3);
    assert_int_equal(args.table.n_threads, 3);
    assert_true(args.import.no_args);
    assert_accepts("table --limit 0 --torch 2.13");
    assert_int_equal(args.table.limit, -1);
    assert_false(args.table.torch_113);
}

static void every_option_with_an_argument_wants_one(void **state)
{
    char line[64], message[128];

    (void)state;
    for (int i = 0; i < OSC_OPTION_COUNT; i++) {
        const struct osc_option *const o = &osc_options[i];

        assert_non_null(o->name);
        assert_non_null(o->help);
        const char *const command = o->commands & OSC_COMMAND_TABLE    ? "table"
                                    : o->commands & OSC_COMMAND_EXPORT ? "export"
                                    : o->commands & OSC_COMMAND_INFO   ? "info"
                                                                       : "run";

        if (o->argument && !osc_option_wants_argument(o))
            continue;
        snprintf(line, sizeof line, "%s --%s%s", command, o->name, o->argument ? "" : "=x");
        if (o->argument)
            snprintf(message, sizeof message,
                     "option '--%s' needs an argument; see 'opscope %s --help'", o->name,
                     command);
        else
            snprintf(message, sizeof message, "option '--%s' takes no argument", o->name);
        assert_refuses(line, message);
    }
}

static void an_argument_that_may_be_missing_stands_behind_an_equals_sign(void **state)
{
    (void)state;
    assert_accepts("run --torch replace");
    assert_string_equal(args.run.torch, "");
    assert_int_equal(args.n_operands, 1);
    assert_accepts("run --torch=replace python");
    assert_string_equal(args.run.torch, "replace");
}

static void an_option_is_no_argument_of_another(void **state)
{
    (void)state;
    assert_refuses("table --sort --limit 5",
                   "option '--sort' needs an argument, and '--limit' is an option");
    assert_refuses("table -s --limit=5",
                   "option '-s' needs an argument, and '--limit=5' is an option");
    assert_accepts("table --header=--limit x");
    assert_string_equal(args.table.header, "--limit");
    assert_accepts("table --header -- x");
    assert_string_equal(args.table.header, "--");
    assert_int_equal(args.n_operands, 1);
}

static void values_stand_behind_an_equals_sign_or_next(void **state)
{
    (void)state;
    assert_accepts("table --sort=a=b --header= --limit 3");
    assert_string_equal(args.table.sort, "a=b");
    assert_string_equal(args.table.header, "");
    assert_int_equal(args.table.limit, 3);
    assert_refuses("table --limit ''", "--limit: '' is no number of rows; 0 means all");
}

static void letters_stand_together(void **state)
{
    (void)state;
    assert_accepts("table -ml -n5 -s name -fcsv -j 2");
    assert_true(args.is_merged && args.wants_list);
    assert_int_equal(args.table.limit, 5);
    assert_string_equal(args.table.sort, "name");
    assert_string_equal(args.renderer->name, "csv");
    assert_int_equal(args.import.n_threads, 2);
    assert_accepts("table -mn 6 x");
    assert_int_equal(args.table.limit, 6);
    assert_int_equal(args.n_operands, 1);
    assert_refuses("table -mz", "there is no option '-z'; see 'opscope table --help'");
    assert_refuses("table -ms", "option '-ms' needs an argument; see 'opscope table --help'");
    assert_refuses("table -sort x", "there is no option '-sort'; did you mean '--sort'?");
    assert_refuses("table -format=csv",
                   "there is no option '-format=csv'; did you mean '--format=csv'?");
}

static void operands_come_to_the_front_in_their_order(void **state)
{
    static const char *const expected[] = {"a", "-", "b", "--merge", "--", "c"};

    (void)state;
    assert_accepts("table a --limit 5 - -m b -- --merge -- c");
    assert_int_equal(args.n_operands, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(args.operands[i], expected[i]);
}

static void a_program_ends_the_options_before_it(void **state)
{
    static const char *const expected[] = {"./a", "-o", "--strict", "--", "b"};

    (void)state;
    assert_accepts("run --summary -o rec ./a -o --strict -- b");
    assert_string_equal(args.output, "rec");
    assert_true(args.run.wants_summary && !args.run.is_strict);
    assert_int_equal(args.n_operands, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(args.operands[i], expected[i]);
    assert_null(args.operands[5]);
    assert_accepts("run -- --strict");
    assert_string_equal(args.operands[0], "--strict");
}

static void the_last_of_equal_options_holds(void **state)
{
    (void)state;
    assert_accepts("table --sort a -s b --merge -m --limit=3 -n 0 --torch 1.13 --torch 2.13 "
                   "-f csv -f md");
    assert_string_equal(args.table.sort, "b");
    assert_true(args.is_merged);
    assert_int_equal(args.table.limit, -1);
    assert_false(args.table.torch_113);
    assert_string_equal(args.renderer->name, "md");
}

static void a_wrong_name_gets_the_nearest_of_the_command(void **state)
{
    (void)state;
    assert_refuses("table --fromat csv",
                   "there is no option '--fromat'; did you mean '--format'?");
    assert_refuses("table --colums=a",
                   "there is no option '--colums'; did you mean '--columns'?");
    assert_refuses("table --json",
                   "there is no option '--json'; did you mean '--format json'?");
    assert_refuses("table --nothing-like-it",
                   "there is no option '--nothing-like-it'; see 'opscope table --help'");
    /* The beginning of a name is none. */
    assert_refuses("table --top 5", "there is no option '--top'; did you mean '--top-level'?");
    assert_refuses("table --max 5",
                   "there is no option '--max'; did you mean '--max-name-width'?");
    /* Those of another command are none. */
    assert_refuses("info --sort a", "there is no option '--sort'; see 'opscope info --help'");
    assert_refuses("info -s a", "there is no option '-s'; see 'opscope info --help'");
    assert_refuses("info --list", "there is no option '--list'; did you mean '--limit'?");
}

static void wrong_values_are_told(void **state)
{
    static const char *const wrong[][2] = {
        {"table --format cvs", "there is no form 'cvs'; did you mean 'csv'?"},
        {"table --format xml", "there is no form 'xml', but text, csv, json and md"},
        {"table --limit -2", "--limit: '-2' is no number of rows; 0 means all"},
        {"table --limit 99999999999999999999",
         "--limit: '99999999999999999999' is no number of rows; 0 means all"},
        {"table --rank 1,", "--rank: '1,' is no list of numbers such as 0,4-7"},
        {"table --span 2-1", "--span: '2-1' is no list of numbers such as 0,4-7"},
        {"table --steps 1,2",
         "--steps: '1,2' is no range; 5, 5-7 (labels), @0 and @0-@2 (numbers) are"},
        {"table --from 1m", "--from: '1m' is no time; 10us, 1.5ms, 2s and plain ns are"},
        {"table --to -1", "--to: '-1' is no time; 10us, 1.5ms, 2s and plain ns are"},
        {"table --from 2us --to 2000", "--to is not after --from: nothing lies between them"},
        {"table --max-name-width a", "--max-name-width: 'a' is no number of characters"},
        {"table --torch 2.1", "--torch: '2.1' is neither 1.13 nor 2.13"},
        {"table --compat TB", "--compat: 'TB' is not 'tb'"},
        {"table --threads 1025", "--threads: '1025' is no number from 1 to 1024"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refuses(wrong[i][0], wrong[i][1]);
}

static void times_are_whole_nanoseconds(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"0", 0},
                {"250", 250},
                {"250ns", 250},
                {"10us", 10000},
                {"0.001us", 1},
                {"1.5ms", 1500000},
                {"2s", 2000000000},
                {"1.000000001s", 1000000001},
                {"9223372036854775807", INT64_MAX},
                {"900000000s", INT64_C(900000000000000000)}};
    static const char *const bad[] = {
        "",     "s",     "1.s",         ".5s",  "1.0005us",
        "-1",   "1 s",   "1e3",         "0x10", "1.0000000001s",
        "1.5",  "1sec",  "0.5ns",       "1us ", "9223372036854775808",
        "+1us", "1,5ms", "99999999999s"};
    int64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(osc_parse_time(good[i].text, &ns));
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(osc_parse_time(bad[i], &ns));
}

static void sizes_are_bytes_or_have_a_unit(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"1", 1},
                {"67108864", 67108864},
                {"1k", 1024},
                {"512M", UINT64_C(512) << 20},
                {"1.5GiB", UINT64_C(3) << 29},
                {"8gb", UINT64_C(8) << 30},
                {"2T", UINT64_C(2) << 40}};
    static const char *const bad[] = {"",   "0",   "8 G", "8X",  "G",         "8GiBs",
                                      "-1", "8iB", "1.G", "8G ", "99999999T", "0.0001K",
                                      "8B", "8 B", "1e9", "∞"};
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(osc_parse_size(good[i].text, &bytes));
        assert_true(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(osc_parse_size(bad[i], &bytes));
}

static void a_list_has_its_numbers_and_ranges(void **state)
{
    (void)state;
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

/* --group-by KEY for TABLE. */
static int group(const char *table, const char *key)
{
    char line[64];

    snprintf(line, sizeof line, "table --group-by=%s", key);
    assert_int_equal(parse(line), OSC_EXIT_DONE);
    return osc_args_group(&args, osc_table_find(table));
}

static void keys_of_groups_are_taken_apart(void **state)
{
    (void)state;
    assert_int_equal(group("averages", "shape"), OSC_EXIT_DONE);
    assert_true(args.table.by_shape && !args.table.by_stack);
    assert_int_equal(group("averages", "stack:12,shape"), OSC_EXIT_DONE);
    assert_true(args.table.by_shape && args.table.by_stack);
    assert_int_equal(args.table.stack_depth, 12);
    assert_int_equal(group("kernels", "op"), OSC_EXIT_DONE);
    assert_true(args.table.by_op);
    assert_accepts("table");
    assert_int_equal(osc_args_group(&args, osc_table_find("threads")), OSC_EXIT_DONE);

    said_begin();
    const int wrong = group("kernels", "shape") + group("averages", "shape,") +
                      group("averages", "") + group("averages", "stack:0") +
                      group("averages", "stack:") + group("operators", "stack:5");
    const char *const said = said_end();
    assert_int_equal(wrong, 6 * OSC_EXIT_MISUSED);
    assert_string_equal(
        said, "opscope: kernels cannot be grouped by 'shape'; did you mean 'op'?\n"
              "opscope: averages cannot be grouped by 'shape,'; did you mean 'shape,stack:N'?\n"
              "opscope: averages cannot be grouped by ''; did you mean 'shape'?\n"
              "opscope: --group-by: '0' is no number of stack entries\n"
              "opscope: --group-by: '' is no number of stack entries\n"
              "opscope: operators cannot be grouped by 'stack:5'; did you mean "
              "'stack'?\n");
}

/* What is said of LINE for TABLE, "" if it is right. */
static const char *check_scope(const char *table, const char *line)
{
    assert_int_equal(parse(line), OSC_EXIT_DONE);
    said_begin();
    const int failed = osc_scope_check(&args, osc_table_find(table));
    const char *const said = said_end();
    assert_int_equal(failed, *said ? OSC_EXIT_MISUSED : OSC_EXIT_DONE);
    return said;
}

static void options_that_change_nothing_are_refused(void **state)
{
    (void)state;
    assert_string_equal(check_scope("averages", "table --header x --top-level --torch 1.13 "
                                                "--max-name-width 5 --no-python"),
                        "");
    assert_string_equal(check_scope("averages", "table --no-python --format csv"), "");
    assert_string_equal(check_scope("kernels", "table --full-names --compat tb --group-by op"),
                        "");
    assert_string_equal(check_scope("kernels", "table --full-names --columns name"), "");
    assert_string_equal(check_scope("threads", "table --merge --limit 3 --sort name"), "");
    assert_string_equal(check_scope("kernels", "table --header x"),
                        "opscope: --header does nothing for kernels, only for averages\n");
    assert_string_equal(check_scope("averages", "table --header x --format csv"),
                        "opscope: --header does nothing in csv, only in text\n");
    assert_string_equal(check_scope("averages", "table --header x --columns name"),
                        "opscope: --header does nothing with --columns, only for the text of "
                        "averages as a whole\n");
    assert_string_equal(check_scope("kernels", "table --full-names --format md"),
                        "opscope: --full-names does nothing in md, only in text\n");
}

static void each_option_is_for_some_table(void **state)
{
    (void)state;
    for (int i = 0; i < OSC_OPTION_COUNT; i++) {
        const enum osc_option_id id = (enum osc_option_id)i;
        struct osc_strbuf names = {0};
        size_t n_tables = 0, n = 0;

        for (; osc_tables[n_tables]; n_tables++)
            n += osc_scope_has(id, osc_tables[n_tables]);
        assert_true(n > 0);
        assert_true(!osc_scope_is_all(id) || n == n_tables);
        osc_scope_add_tables(&names, id);
        assert_true(names.len > 0);
        assert_true(n < 2 || strstr(names.s, " and "));
        osc_strbuf_fini(&names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_is_the_defaults),
        cmocka_unit_test(every_option_puts_its_value_where_it_belongs),
        cmocka_unit_test(every_option_with_an_argument_wants_one),
        cmocka_unit_test(an_argument_that_may_be_missing_stands_behind_an_equals_sign),
        cmocka_unit_test(an_option_is_no_argument_of_another),
        cmocka_unit_test(values_stand_behind_an_equals_sign_or_next),
        cmocka_unit_test(letters_stand_together),
        cmocka_unit_test(operands_come_to_the_front_in_their_order),
        cmocka_unit_test(a_program_ends_the_options_before_it),
        cmocka_unit_test(the_last_of_equal_options_holds),
        cmocka_unit_test(a_wrong_name_gets_the_nearest_of_the_command),
        cmocka_unit_test(wrong_values_are_told),
        cmocka_unit_test(times_are_whole_nanoseconds),
        cmocka_unit_test(sizes_are_bytes_or_have_a_unit),
        cmocka_unit_test(a_list_has_its_numbers_and_ranges),
        cmocka_unit_test(keys_of_groups_are_taken_apart),
        cmocka_unit_test(options_that_change_nothing_are_refused),
        cmocka_unit_test(each_option_is_for_some_table),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
