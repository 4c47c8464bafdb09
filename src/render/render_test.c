/* SPDX-License-Identifier: Apache-2.0 */
#include "render/render.h"

#include "base/mem.h"
#include "prose/units.h"
#include "support/unit.h"
#include "table/query.h"

enum { NAME, CALLS, TOTAL, BUSY, SIZE, DONE };

static const struct osc_column columns[] = {
    {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a \"name\""},
    {"calls", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = "calls"},
    {"total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = "time"},
    {"busy_ratio", OSC_TYPE_NUMBER, "ratio", OSC_MERGE_FINISH, 0, .help = "share"},
    {"size_bytes", OSC_TYPE_INTEGER, "bytes", OSC_MERGE_SUM, 0, .help = "size"},
    {"done", OSC_TYPE_BOOLEAN, NULL, OSC_MERGE_OR, 0, .help = "whether"},
};
static const struct osc_table_def def = {.name = "t", .columns = columns, .n_columns = 6};

static void fill(struct osc_result *r)
{
    osc_result_init(r, &def);
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR("aten::mm, \"a\"\n|b"));
    osc_result_int(r, CALLS, 3);
    osc_result_int(r, TOTAL, INT64_C(9007199254740993));
    osc_result_num(r, BUSY, 0.1);
    osc_result_int(r, SIZE, 1536);
    osc_result_bool(r, DONE, true);
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR("\xff\x1b[31mgr\xc3\xbcn<float*>"));
    osc_result_int(r, TOTAL, 999);
    osc_result_row(r);
    osc_result_str(r, NAME, OSC_STR("a_very_long_name_of_a_kernel_whose_end_tells_much_too"));
    osc_result_int(r, TOTAL, 1500);
    osc_result_bool(r, DONE, false);
    assert_int_equal(r->status, OSC_OK);
}

static osc_status append(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status;
}

static osc_status render(const char *format, unsigned width, bool has_rows,
                         struct osc_strbuf *out)
{
    const struct osc_str sources[] = {OSC_STR("a \"b\".json")};
    struct osc_sheet sheet = {.def = &def, .sources = sources, .n_sources = 1};
    struct osc_render r = {.renderer = osc_renderer_find(format),
                           .sheet = &sheet,
                           .width = width,
                           .write = append,
                           .ctx = out};
    const struct osc_sheet_choice choice = {0};
    struct osc_result result;
    osc_status st = osc_sheet_choose(&sheet, &choice, NULL);

    fill(&result);
    const struct osc_rows rows = {.result = &result, .n_rows = has_rows ? result.n_rows : 0};
    if (!has_rows)
        osc_strbuf_adds(&sheet.notes, "no device work\n");
    if (st == OSC_OK)
        st = osc_render_begin(&r);
    if (st == OSC_OK)
        st = osc_render_rows(&r, &rows);
    sheet.n_more = has_rows ? 7 : 0;
    if (st == OSC_OK)
        st = osc_render_end(&r);
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    return st;
}

static void assert_renders(const char *format, unsigned width, bool has_rows,
                           const char *expected)
{
    struct osc_strbuf out = {0};

    assert_int_equal(render(format, width, has_rows, &out), OSC_OK);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(text_lines_up_and_shows_units)
{
    assert_renders(
        "text", 0, true,
        "name                                                   calls       total_ns  "
        "busy_ratio"
        "  size_bytes  done\n"
        "aten::mm, \"a\"\\x0a|b                                        3  9007199.255 s     "
        "10.00 %     1.50 KB  true\n"
        "\xef\xbf\xbd\\x1b[31mgr\xc3\xbcn<float*>                                         "
        "       999 ns\n"
        "a_very_long_name_of_a_kernel_whose_end_tells_much_too              1.500 us"
        "                          false\n"
        "7 more rows; --limit 0 shows all\n");
}

TEST(text_leaves_columns_out_and_cuts_names_on_a_narrow_terminal)
{
    assert_renders(
        "text", 80, true,
        "name                                calls       total_ns  busy_ratio  size_bytes\n"
        "aten::mm, \"a\"\\x0a|b                     3  9007199.255 s     10.00 %     1.50 KB\n"
        "\xef\xbf\xbd\\x1b[31mgr\xc3\xbcn<float*>                             999 ns\n"
        "a_very_long_name_\xe2\x80\xa6"
        "d_tells_much_too              1.500 us\n"
        "7 more rows; --limit 0 shows all\n");
}

TEST(text_says_why_there_are_no_rows)
{
    assert_renders("text", 0, false,
                   "name  calls  total_ns  busy_ratio  size_bytes  done\n"
                   "(no rows)\nnote: no device work\n");
}

/* A row of COLUMNS, of the table below, as wide as WIDTH. */
static void assert_below(const char *names, unsigned width, const char *expected)
{
    static const struct osc_column below[] = {
        {"code", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a word"},
        {"text", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_LONG | OSC_COLUMN_BELOW,
         .help = "sentences"},
        {"line", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_BELOW, .help = "a command"},
        {"n", OSC_TYPE_INTEGER, NULL, OSC_MERGE_SUM, 0, .help = "a number"},
        {"long", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_LONG, .help = "a reason"},
    };
    static const struct osc_table_def table = {.name = "b", .columns = below, .n_columns = 5};
    const struct osc_sheet_choice choice = {.columns = names};
    struct osc_sheet sheet = {.def = &table};
    struct osc_strbuf out = {0};
    struct osc_render r = {.renderer = osc_renderer_find("text"),
                           .sheet = &sheet,
                           .width = width,
                           .write = append,
                           .ctx = &out};
    struct osc_result result;

    osc_result_init(&result, &table);
    for (int64_t i = 0; i < 2; i++) {
        osc_result_row(&result);
        osc_result_str(&result, 0, i == 0 ? OSC_STR("first") : OSC_STR("b"));
        osc_result_str(&result, 1, OSC_STR("a word_that_is_longer_than_the_line and more"));
        if (i == 0)
            osc_result_str(&result, 2, OSC_STR("opscope table of a command that is long"));
        osc_result_int(&result, 3, i);
        osc_result_str(
            &result, 4,
            i == 0 ? OSC_STR("it has no compiler, and a_word_that_is_too_long for it; "
                             "install one, then begin again, and all of it is there")
                   : OSC_STR("[\"a list of more than a hundred characters, of which "
                             "only the beginning is shown, because it may be pages\"]"));
    }
    const struct osc_rows rows = {.result = &result, .n_rows = result.n_rows};
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_rows(&r, &rows), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    assert_string_equal(out.s, expected);
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    osc_strbuf_fini(&out);
}

TEST(text_puts_sentences_and_commands_below_their_row)
{
    assert_below("code,text,line,n", 24,
                 "code   n\n"
                 "first  0\n"
                 "    a\n"
                 "    word_that_is_longer_than_the_line\n"
                 "    and more\n"
                 "    opscope table of a \\\n"
                 "        command that \\\n"
                 "        is long\n"
                 "b      1\n"
                 "    a\n"
                 "    word_that_is_longer_than_the_line\n"
                 "    and more\n");
    assert_below("n,text", 0,
                 "n\n"
                 "0\n"
                 "    a word_that_is_longer_than_the_line and more\n"
                 "1\n"
                 "    a word_that_is_longer_than_the_line and more\n");
    /* Below nothing is no place. */
    assert_below("line", 0, "line\nopscope table of a command that is long\n\n");
}

static struct osc_strbuf noted;

static void keep_note(void *ctx, const char *line)
{
    (void)ctx;
    osc_strbuf_addf(&noted, "%s\n", line);
}

/* Kernels by registers, from which the process follows; two of one name differ in both. */
static void assert_kernels(unsigned width, const char *group_by, const char *expected,
                           const char *expected_notes)
{
    static const struct osc_column keys[] = {
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, OSC_COLUMN_SYMBOL, .help = "a kernel"},
        {"process", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0,
         .help = "a key that says nothing new"},
        {"registers_per_thread", OSC_TYPE_INTEGER, NULL, OSC_MERGE_KEY, 0, .help = "a key",
         .grouping = "registers"},
        {"empty_text", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = "says nothing"},
        {"total_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_SUM, 0, .help = "time"},
        {"min_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MIN, OSC_COLUMN_DEEP, .help = "time"},
        {"std_ns", OSC_TYPE_INTEGER, "ns", OSC_MERGE_MIN, OSC_COLUMN_DEEP, .help = "no time"},
    };
    static const struct osc_table_def table = {
        .name = "k", .columns = keys, .n_columns = 7, .sorted_by = 5};
    const struct osc_sheet_choice choice = {.group_by = group_by};
    struct osc_sheet sheet = {.def = &table};
    struct osc_strbuf out = {0};
    struct osc_render r = {.renderer = osc_renderer_find("text"),
                           .sheet = &sheet,
                           .width = width,
                           .write = append,
                           .note = keep_note,
                           .ctx = &out};
    struct osc_result result;

    osc_result_init(&result, &table);
    for (int64_t i = 0; i < 3; i++) {
        osc_result_row(&result);
        osc_result_str(&result, 0,
                       i < 2 ? OSC_STR("void a::copy<float>(int)")
                             : OSC_STR("void cutlass::device_kernel<fp8::Gemm>(Params)"));
        osc_result_str(&result, 1, i > 0 ? OSC_STR("7") : OSC_STR("worker"));
        osc_result_int(&result, 2, 32 + i);
        osc_result_int(&result, 4, 1000 * i);
        osc_result_int(&result, 5, 1);
    }
    const struct osc_rows rows = {.result = &result, .n_rows = result.n_rows};
    osc_strbuf_clear(&noted);
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_rows(&r, &rows), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    assert_string_equal(out.s, expected);
    assert_string_equal(noted.s, expected_notes);
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    osc_strbuf_fini(&out);
    osc_strbuf_fini(&noted);
}

#define DEEP_NOTE \
    "left out of text: min_ns; any other --format or '--columns name,min_ns' shows them\n"

TEST(text_leaves_out_all_else_before_what_rows_are_grouped_by)
{
    assert_kernels(44, "process,registers:5",
                   "name                              regis\xe2\x80\xa6read\n"
                   "a::copy<...>                              32\n"
                   "a::copy<...>                              33\n"
                   "cutlass::device_kernel<Gemm>              34\n",
                   "left out to fit the terminal: process, empty_text, total_ns; a wider one, "
                   "a pipe or '--columns name,process' shows them\n" DEEP_NOTE);
    assert_kernels(58, "registers",
                   "name                              registe\xe2\x80\xa6thread  total_ns\n"
                   "a::copy<...>                                  32      0 ns\n"
                   "a::copy<...>                                  33  1.000 us\n"
                   "cutlass::device_kernel<Gemm>                  34  2.000 us\n",
                   "left out to fit the terminal: process, empty_text; a wider one, a pipe or "
                   "'--columns name,process' shows them\n" DEEP_NOTE);
}

/* Of two columns by which rows differ one is enough. */
TEST(text_keeps_what_tells_rows_apart_if_nothing_is_asked)
{
    assert_kernels(
        44, NULL,
        "name                               process\n"
        "a::copy<...>                       worker\n"
        "a::copy<...>                       7\n"
        "cutlass::device_kernel<fp8::Gemm>  7\n",
        "left out to fit the terminal: registers_per_thread, empty_text, total_ns; a "
        "wider one, a pipe or '--columns name,registers_per_thread' shows "
        "them\n" DEEP_NOTE);
}

TEST(text_without_a_terminal_says_what_only_other_forms_show)
{
    assert_kernels(
        0, NULL,
        "name                               process  registers_per_thread  empty_text  "
        "total_ns\n"
        "a::copy<...>                       worker                     32              "
        "    0 ns\n"
        "a::copy<...>                       7                          33              "
        "1.000 us\n"
        "cutlass::device_kernel<fp8::Gemm>  7                          34              "
        "2.000 us\n",
        DEEP_NOTE);
}

/* Threads of processes: no column is a key, but without the thread the rows would be equal. */
TEST(text_keeps_what_tells_rows_apart_in_a_table_without_keys)
{
    static const struct osc_column lists[] = {
        {"process_name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = "a name"},
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = "a name"},
        {"thread", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, OSC_COLUMN_MINOR,
         .help = "a number"},
        {"events", OSC_TYPE_INTEGER, NULL, OSC_MERGE_FIRST, 0, .help = "how many"},
    };
    static const struct osc_table_def table = {.name = "l", .columns = lists, .n_columns = 4};
    const struct osc_sheet_choice choice = {0};
    struct osc_sheet sheet = {.def = &table};
    struct osc_strbuf out = {0};
    struct osc_render r = {.renderer = osc_renderer_find("text"),
                           .sheet = &sheet,
                           .width = 30,
                           .write = append,
                           .ctx = &out};
    struct osc_result result;

    osc_result_init(&result, &table);
    for (int64_t i = 0; i < 3; i++) {
        osc_result_row(&result);
        osc_result_str(&result, 0, OSC_STR("a_process_of_a_long_name"));
        osc_result_str(&result, 1, OSC_STR("worker_pool_1"));
        osc_result_str(&result, 2,
                       i == 0   ? OSC_STR("1551")
                       : i == 1 ? OSC_STR("2009")
                                : OSC_STR("3"));
        osc_result_int(&result, 3, i > 0);
    }
    const struct osc_rows rows = {.result = &result, .n_rows = result.n_rows};
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_rows(&r, &rows), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    assert_string_equal(out.s, "name           thread\n"
                               "worker_pool_1  1551\n"
                               "worker_pool_1  2009\n"
                               "worker_pool_1  3\n");
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    osc_strbuf_fini(&out);
}

/* Print three threads with NAMES, or none, of one process. */
static void assert_threads(const char *const names[3], const char *expected)
{
    static const struct osc_column list[] = {
        {"name", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a name"},
        {"process", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a number"},
        {"process_name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = "a name"},
        {"thread", OSC_TYPE_STRING, NULL, OSC_MERGE_KEY, 0, .help = "a number",
         .grouping = "thread"},
        {"thread_name", OSC_TYPE_STRING, NULL, OSC_MERGE_FIRST, 0, .help = "a name"},
    };
    static const char *const threads[] = {"1085180131661504713", "1085180131661504714", "3"};
    static const struct osc_table_def table = {.name = "t", .columns = list, .n_columns = 5};
    const struct osc_sheet_choice choice = {.group_by = "thread"};
    struct osc_sheet sheet = {.def = &table};
    struct osc_strbuf out = {0};
    struct osc_render r = {.renderer = osc_renderer_find("text"),
                           .sheet = &sheet,
                           .width = 42,
                           .write = append,
                           .ctx = &out};
    struct osc_result result;

    osc_result_init(&result, &table);
    for (int64_t i = 0; i < 3; i++) {
        osc_result_row(&result);
        osc_result_str(&result, 0, OSC_STR("run"));
        osc_result_str(&result, 1, OSC_STR("3751"));
        osc_result_str(&result, 2, OSC_STR("main program"));
        osc_result_str(&result, 3, osc_str_c(threads[i]));
        if (names[i])
            osc_result_str(&result, 4, osc_str_c(names[i]));
    }
    const struct osc_rows rows = {.result = &result, .n_rows = result.n_rows};
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_rows(&r, &rows), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    assert_string_equal(out.s, expected);
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    osc_strbuf_fini(&out);
}

/* People know threads by their names; numbers are shown as far as names do not do. */
TEST(text_keeps_names_rather_than_numbers)
{
    assert_threads((const char *const[]){"loader", "worker", "saver"},
                   "name  process  process_name  thread_name\n"
                   "run   3751     main program  loader\n"
                   "run   3751     main program  worker\n"
                   "run   3751     main program  saver\n");
    assert_threads((const char *const[]){"loader", "loader", "saver"},
                   "name  thread               thread_name\n"
                   "run   1085180131661504713  loader\n"
                   "run   1085180131661504714  loader\n"
                   "run   3                    saver\n");
    assert_threads((const char *const[]){"loader", NULL, "saver"},
                   "name  process_name  thread\n"
                   "run   main program  1085180131661504713\n"
                   "run   main program  1085180131661504714\n"
                   "run   main program  3\n");
}

TEST(text_numbers_rows_that_only_differ_in_what_is_left_out)
{
    assert_kernels(18, "registers",
                   "name\n"
                   "a::copy<...>\n"
                   "a::copy<...> #2\n"
                   "device_kerne\xe2\x80\xa6Gemm>\n",
                   "left out to fit the terminal: process, registers_per_thread, empty_text, "
                   "total_ns; a wider one, a pipe or '--columns name,process' shows "
                   "them\n" DEEP_NOTE);
}

/* Lists of the file are cut, but nothing that somebody wrote for people to read. */
TEST(text_wraps_sentences_in_the_last_column)
{
    assert_below("n,code,long", 32,
                 "n  code   long\n"
                 "0  first  it has no compiler,\n"
                 "          and\n"
                 "          a_word_that_is_too_lon\n"
                 "          g for it; install one,\n"
                 "          then begin again, and\n"
                 "          all of it is there\n"
                 "1  b      [\"a list of more than\n"
                 "          a hundred characters,\n"
                 "          of which only the\n"
                 "          beginning is shown,\n"
                 "          because it may be\xe2\x80\xa6\n");
    assert_below("long", 0,
                 "long\n"
                 "it has no compiler, and a_word_that_is_too_long for it; install one, then "
                 "begin again, and all of it is there\n"
                 "[\"a list of more than a hundred characters, of which only the beginning is "
                 "shown, because it may be\xe2\x80\xa6\n");
}

TEST(csv_is_exact)
{
    assert_renders("csv", 0, true,
                   "name,calls,total_ns,busy_ratio,size_bytes,done\n"
                   "\"aten::mm, \"\"a\"\"\n|b\",3,9007199254740993,0.1,1536,true\n"
                   "\xef\xbf\xbd\x1b[31mgr\xc3\xbcn<float*>,,999,,,\n"
                   "a_very_long_name_of_a_kernel_whose_end_tells_much_too,,1500,,,false\n");
}

TEST(json_has_the_shape_of_the_contract)
{
    assert_renders(
        "json", 0, true,
        "{\"opscope\": \"" OSC_VERSION "\", \"schema\": 1, \"table\": \"t\",\n"
        " \"sources\": [\"a \\\"b\\\".json\"],\n"
        " \"notes\": [],\n"
        " \"columns\": [\n"
        "  {\"name\": \"name\", \"type\": \"string\", \"unit\": null, "
        "\"help\": \"a \\\"name\\\"\"},\n"
        "  {\"name\": \"calls\", \"type\": \"integer\", \"unit\": null, \"help\": \"calls\"},\n"
        "  {\"name\": \"total_ns\", \"type\": \"integer\", \"unit\": \"ns\", "
        "\"help\": \"time\"},\n"
        "  {\"name\": \"busy_ratio\", \"type\": \"number\", \"unit\": \"ratio\", "
        "\"help\": \"share\"},\n"
        "  {\"name\": \"size_bytes\", \"type\": \"integer\", \"unit\": \"bytes\", "
        "\"help\": \"size\"},\n"
        "  {\"name\": \"done\", \"type\": \"boolean\", \"unit\": null, "
        "\"help\": \"whether\"}],\n"
        " \"rows\": [\n"
        "  [\"aten::mm, \\\"a\\\"\\n|b\", 3, 9007199254740993, 0.1, 1536, true],\n"
        "  [\"\xef\xbf\xbd\\u001b[31mgr\xc3\xbcn<float*>\", null, 999, null, null, null],\n"
        "  [\"a_very_long_name_of_a_kernel_whose_end_tells_much_too\", null, 1500, null, null, "
        "false]]}\n");
}

TEST(json_lines_are_an_object_a_row)
{
    assert_renders(
        "jsonl", 0, true,
        "{\"name\": \"aten::mm, \\\"a\\\"\\n|b\", \"calls\": 3, \"total_ns\": "
        "9007199254740993, \"busy_ratio\": 0.1, \"size_bytes\": 1536, \"done\": true}\n"
        "{\"name\": \"\xef\xbf\xbd\\u001b[31mgr\xc3\xbcn<float*>\", \"calls\": null, "
        "\"total_ns\": 999, \"busy_ratio\": null, \"size_bytes\": null, \"done\": null}\n"
        "{\"name\": \"a_very_long_name_of_a_kernel_whose_end_tells_much_too\", \"calls\": "
        "null, "
        "\"total_ns\": 1500, \"busy_ratio\": null, \"size_bytes\": null, \"done\": false}\n");
}

TEST(markdown_ends_with_its_sources_and_versions)
{
    assert_renders(
        "md", 0, true,
        "| name | calls | total_ns | busy_ratio | size_bytes | done |\n"
        "| --- | ---: | ---: | ---: | ---: | --- |\n"
        "| aten::mm, \"a\"\\\\x0a\\|b | 3 | 9007199254740993 | 0.1 | 1536 | true |\n"
        "| \xef\xbf\xbd\\\\x1b\\[31mgr\xc3\xbcn&lt;float\\*> |  | 999 |  |  |  |\n"
        "| a\\_very\\_long\\_name\\_of\\_a\\_kernel\\_whose\\_end\\_tells\\_much\\_too "
        "|  | 1500 |  |  | false |\n"
        "\n"
        "Trace: a \"b\".json; PyTorch unknown; opscope " OSC_VERSION "\n");
}

TEST(markdown_names_only_some_of_many_sources)
{
    struct osc_str sources[10];
    const struct osc_sheet_choice choice = {0};
    struct osc_sheet sheet = {.def = &def, .sources = sources, .n_sources = 10};
    struct osc_strbuf out = {0};
    struct osc_render r = {
        .renderer = osc_renderer_find("md"), .sheet = &sheet, .write = append, .ctx = &out};

    for (size_t i = 0; i < 10; i++)
        sources[i] = OSC_STR("x");
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    assert_non_null(strstr(out.s, "\nTraces: x, x, x, x, x, x, x, x and 2 more; PyTorch "));
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_strbuf_fini(&out);
}

static const char *timed(int64_t ns)
{
    static struct osc_strbuf out;

    osc_strbuf_clear(&out);
    osc_units_time_int(&out, ns);
    return out.s;
}

TEST(no_time_at_all_has_no_decimals)
{
    struct osc_strbuf out = {0};

    osc_units_time(&out, 0);
    osc_strbuf_addc(&out, ' ');
    osc_units_time(&out, 0.5);
    assert_string_equal(out.s, "0 ns 0.500 ns");
    osc_strbuf_fini(&out);
}

TEST(times_change_their_unit_before_they_round_up_to_it)
{
    assert_string_equal(timed(0), "0 ns");
    assert_string_equal(timed(-999), "-999 ns");
    assert_string_equal(timed(1000), "1.000 us");
    assert_string_equal(timed(999999), "999.999 us");
    assert_string_equal(timed(999999600), "1.000 s");
    assert_string_equal(timed(999999400), "999.999 ms");
    assert_string_equal(timed(-1500000), "-1.500 ms");
}

TEST(moments_of_a_long_recording_differ_by_microseconds)
{
    struct osc_strbuf out = {0};

    osc_units_moment(&out, 999999);
    osc_strbuf_addc(&out, ' ');
    osc_units_moment(&out, 999999500);
    osc_strbuf_addc(&out, ' ');
    osc_units_moment(&out, INT64_C(211574013721095000));
    osc_strbuf_addc(&out, ' ');
    osc_units_moment(&out, INT64_C(-1500000499));
    assert_string_equal(out.s, "999.999 us 1.000000 s 211574013.721095 s -1.500000 s");
    osc_strbuf_fini(&out);
}

/* The sizes of the messages of the Arrow stream B, without their bodies, up to MOST. */
static size_t messages_of(const struct osc_strbuf *b, size_t sizes[], size_t most)
{
    size_t n = 0;

    for (size_t at = 0; at + 8 <= b->len; at += 4) {
        uint32_t head[2];

        memcpy(head, b->s + at, sizeof head);
        if (head[0] != UINT32_MAX)
            continue;
        assert_true(n < most);
        sizes[n++] = head[1];
        at += head[1] + 4;
    }
    return n;
}

TEST(arrow_has_batches_of_at_most_8192_rows)
{
    static const struct osc_table_def one = {
        .name = "one", .columns = &columns[CALLS], .n_columns = 1};
    struct osc_sheet sheet = {.def = &one};
    struct osc_strbuf out = {0};
    struct osc_render r = {
        .renderer = osc_renderer_find("arrow"), .sheet = &sheet, .write = append, .ctx = &out};
    const struct osc_sheet_choice choice = {0};
    struct osc_result result;
    size_t sizes[8];

    (void)state;
    osc_result_init(&result, &one);
    for (int i = 0; i < 8193; i++) {
        osc_result_row(&result);
        osc_result_int(&result, 0, i);
    }
    const struct osc_rows rows = {.result = &result, .n_rows = result.n_rows};
    assert_int_equal(osc_sheet_choose(&sheet, &choice, NULL), OSC_OK);
    assert_int_equal(osc_render_begin(&r), OSC_OK);
    assert_int_equal(osc_render_rows(&r, &rows), OSC_OK);
    assert_int_equal(osc_render_end(&r), OSC_OK);
    /* The schema, two batches, of which the second has one row, and the end. */
    assert_int_equal(messages_of(&out, sizes, 8), 4);
    assert_int_equal(sizes[1], sizes[2]);
    assert_int_equal(sizes[3], 0);
    assert_int_equal(out.len,
                     UINT64_C(4) * 8 + sizes[0] + sizes[1] + sizes[2] + UINT64_C(8193) * 8);
    osc_render_fini(&r);
    osc_sheet_fini(&sheet);
    osc_result_fini(&result);
    osc_strbuf_fini(&out);
}

TEST(every_form_survives_any_failed_allocation)
{
    for (size_t f = 0; osc_renderers[f]; f++) {
        osc_status st = OSC_ENOMEM;

        for (long n = 40; st != OSC_OK; n++) {
            struct osc_strbuf out = {0};

            /* fill() asserts that it succeeds: what fails comes after it. */
            osc_mem_fail_after(n);
            st = render(osc_renderers[f]->name, 60, true, &out);
            osc_mem_fail_after(-1);
            assert_true(st == OSC_OK || st == OSC_ENOMEM);
            osc_strbuf_fini(&out);
        }
    }
}

UNIT_MAIN("render")
