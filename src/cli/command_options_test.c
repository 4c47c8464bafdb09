/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_options.h"

#include "support/said.h"
#include "support/unit.h"

#define WORDS_MAX 24

static struct osc_args args;

/* Parse LINE: words separated by spaces, '' for an empty one; the first is the command. */
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

/* The option NAME of a table, as it was given; NULL: it was not. */
static const char *own(const char *name)
{
    const struct osc_named_option *const set = args.request.question.options;

    for (size_t i = 0; i < OSC_QUESTION_OPTIONS && set[i].name; i++)
        if (strcmp(set[i].name, name) == 0)
            return set[i].value;
    return NULL;
}

static void assert_accepts(const char *line)
{
    said_begin();
    const int failed = parse(line);
    const char *const said = said_end();
    assert_string_equal(said, "");
    assert_int_equal(failed, OSC_EXIT_DONE);
}

/* Assert that LINE is refused with MESSAGE. */
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

TEST(nothing_given_is_the_defaults)
{
    assert_accepts("table");
    assert_int_equal(args.n_operands, 0);
    assert_true(args.request.question.limit == 0);
    assert_string_equal(args.renderer->name, "text");
    const struct osc_request none = {0};
    assert_memory_equal(&args.request, &none, sizeof none);
}

TEST(every_option_puts_its_value_where_it_belongs)
{
    assert_accepts("table --sort -cpu_ns --limit 7 --columns a,b --group-by shape --merge");
    assert_string_equal(args.request.question.sort, "-cpu_ns");
    assert_int_equal(args.request.question.limit, 7);
    assert_string_equal(args.request.question.columns, "a,b");
    assert_string_equal(args.request.question.group_by, "shape");
    assert_true(args.request.question.merge);
    assert_accepts("table --format json --list --explain name --help");
    assert_string_equal(args.renderer->name, "json");
    assert_true(args.wants_list);
    assert_string_equal(args.explain, "name");
    assert_true(args.wants_help);
    assert_accepts("table --rank 0,4-7 --span 1 --process python --thread 12 --device cuda:0");
    assert_string_equal(args.request.view.ranks, "0,4-7");
    assert_string_equal(args.request.view.spans, "1");
    assert_string_equal(args.request.view.process, "python");
    assert_string_equal(args.request.view.thread, "12");
    assert_string_equal(args.request.view.device, "cuda:0");
    assert_accepts("table --steps @1-@2 --from 1.5ms --to 2s");
    assert_string_equal(args.request.view.steps, "@1-@2");
    assert_true(args.request.view.has_from && args.request.view.has_to);
    assert_int_equal(args.request.view.from_ns, 1500000);
    assert_int_equal(args.request.view.to_ns, 2000000000);
    assert_accepts("table --header x --top-level --max-name-width 9 --max-src-width 8 "
                   "--max-shapes-width 0 --torch 1.13");
    assert_string_equal(own("header"), "x");
    assert_non_null(own("top-level"));
    assert_string_equal(own("max-name-width"), "9");
    assert_string_equal(own("max-src-width"), "8");
    assert_string_equal(own("max-shapes-width"), "0");
    assert_string_equal(own("torch"), "1.13");
    assert_accepts("table --compat tb --no-python --full-names --threads 3 --no-args");
    assert_string_equal(own("compat"), "tb");
    assert_non_null(own("no-python"));
    assert_true(args.request.text.full_names);
    assert_int_equal(args.request.how.n_threads, 3);
    assert_true(args.request.how.no_args);
    assert_accepts("table --limit 0 --torch 2.13");
    assert_int_equal(args.request.question.limit, -1);
    assert_string_equal(own("torch"), "2.13");
}

/* A command that has option O. */
static const char *command_with(const struct osc_option *o)
{
    static const struct {
        unsigned bit;
        const char *name;
    } commands[] = {{OSC_COMMAND_TABLE, "table"}, {OSC_COMMAND_EXPORT, "export"},
                    {OSC_COMMAND_INFO, "info"},   {OSC_COMMAND_DIFF, "diff"},
                    {OSC_COMMAND_VIEW, "view"},   {OSC_COMMAND_RUN, "run"}};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (o->commands & commands[i].bit)
            return commands[i].name;
    return "run";
}

TEST(every_option_with_an_argument_wants_one)
{
    char line[64], message[128];

    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        assert_non_null(o->name);
        assert_non_null(o->help);
        const char *const command = command_with(o);

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

TEST(an_argument_that_may_be_missing_stands_behind_an_equals_sign)
{
    assert_accepts("run --torch replace");
    assert_string_equal(args.run.torch, "");
    assert_int_equal(args.n_operands, 1);
    assert_accepts("run --torch=replace python");
    assert_string_equal(args.run.torch, "replace");
}

TEST(an_option_is_no_argument_of_another)
{
    assert_refuses("table --sort --limit 5",
                   "option '--sort' needs an argument, but '--limit' is an option");
    assert_refuses("table -s --limit=5",
                   "option '-s' needs an argument, but '--limit=5' is an option");
    assert_accepts("table --header=--limit x");
    assert_string_equal(own("header"), "--limit");
    assert_accepts("table --header -- x");
    assert_string_equal(own("header"), "--");
    assert_int_equal(args.n_operands, 1);
}

TEST(values_stand_behind_an_equals_sign_or_next)
{
    assert_accepts("table --sort=a=b --header= --limit 3");
    assert_string_equal(args.request.question.sort, "a=b");
    assert_string_equal(own("header"), "");
    assert_int_equal(args.request.question.limit, 3);
    assert_refuses("table --limit ''", "--limit: '' is not a number of rows; 0 means all");
}

TEST(letters_stand_together)
{
    assert_accepts("table -ml -n5 -s name -fcsv -j 2");
    assert_true(args.request.question.merge && args.wants_list);
    assert_int_equal(args.request.question.limit, 5);
    assert_string_equal(args.request.question.sort, "name");
    assert_string_equal(args.renderer->name, "csv");
    assert_int_equal(args.request.how.n_threads, 2);
    assert_accepts("table -mn 6 x");
    assert_int_equal(args.request.question.limit, 6);
    assert_int_equal(args.n_operands, 1);
    assert_refuses("table -mz", "unknown option '-z'; see 'opscope table --help'");
    assert_refuses("table -ms", "option '-ms' needs an argument; see 'opscope table --help'");
    assert_refuses("table -sort x", "unknown option '-sort'; did you mean '--sort'?");
    assert_refuses("table -format=csv",
                   "unknown option '-format=csv'; did you mean '--format=csv'?");
}

TEST(operands_come_to_the_front_in_their_order)
{
    static const char *const expected[] = {"a", "-", "b", "--merge", "--", "c"};

    assert_accepts("table a --limit 5 - -m b -- --merge -- c");
    assert_int_equal(args.n_operands, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(args.operands[i], expected[i]);
}

TEST(a_program_ends_the_options_before_it)
{
    static const char *const expected[] = {"./a", "-o", "--strict", "--", "b"};

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

TEST(the_last_of_equal_options_holds)
{
    assert_accepts("table --sort a -s b --merge -m --limit=3 -n 0 --torch 1.13 --torch 2.13 "
                   "-f csv -f md");
    assert_string_equal(args.request.question.sort, "b");
    assert_true(args.request.question.merge);
    assert_int_equal(args.request.question.limit, -1);
    assert_string_equal(own("torch"), "2.13");
    assert_string_equal(args.renderer->name, "md");
}

TEST(a_wrong_name_gets_the_nearest_of_the_command)
{
    assert_refuses("table --fromat csv", "unknown option '--fromat'; did you mean '--format'?");
    assert_refuses("table --colums=a", "unknown option '--colums'; did you mean '--columns'?");
    assert_refuses("table --json", "unknown option '--json'; did you mean '--format json'?");
    assert_refuses("table --nothing-like-it",
                   "unknown option '--nothing-like-it'; see 'opscope table --help'");
    /* Prefixes of names. */
    assert_refuses("table --top 5", "unknown option '--top'; did you mean '--top-level'?");
    assert_refuses("table --max 5", "unknown option '--max'; did you mean '--max-name-width'?");
    /* Options of another command. */
    assert_refuses("info --sort a",
                   "'--sort' is an option of 'opscope table'; see 'opscope info --help'");
    assert_refuses("info -s a", "unknown option '-s'; see 'opscope info --help'");
    assert_refuses("info --list", "unknown option '--list'; did you mean '--limit'?");
}

TEST(wrong_values_are_told)
{
    static const char *const wrong[][2] = {
        {"table --format cvs", "unknown form 'cvs'; did you mean 'csv'?"},
        {"table --format xml",
         "unknown form 'xml'; the forms are text, csv, json, jsonl, md and arrow"},
        {"table --limit -1", "--limit: '-1' is not a number of rows; 0 means all"},
        {"table -n -2", "--limit: '-2' is not a number of rows; 0 means all"},
        {"table --limit 99999999999999999999",
         "--limit: '99999999999999999999' is not a number of rows; 0 means all"},
        {"table --rank 1,", "--rank: '1,' is not a list of numbers such as 0,4-7"},
        {"table --span 2-1", "--span: '2-1' is not a list of numbers such as 0,4-7"},
        {"table --steps 1,2",
         "--steps: '1,2' is not a range; use 5, 5-7 (labels), @0 or @0-@2 (numbers)"},
        {"table --from 1m", "--from: '1m' is not a time; use 10us, 1.5ms, 2s or plain ns"},
        {"table --to -1", "--to: '-1' is not a time; use 10us, 1.5ms, 2s or plain ns"},
        {"table --from 2us --to 2000",
         "--to is not later than --from: there is nothing between them"},
        {"table --max-name-width -1", "--max-name-width: '-1' is not a number of characters"},
        {"table --event -1", "--event: '-1' is not an id: a whole number from 0"},
        {"table --threads -1", "--threads: '-1' is not a number from 1 to 1024"},
        {"table --max-name-width a", "--max-name-width: 'a' is not a number of characters"},
        {"table --torch 2.1", "--torch: '2.1' is neither 1.13 nor 2.13"},
        {"table --compat TB", "--compat: 'TB' is not 'tb'"},
        {"table --threads 1025", "--threads: '1025' is not a number from 1 to 1024"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refuses(wrong[i][0], wrong[i][1]);
}

UNIT_MAIN("command_options")
