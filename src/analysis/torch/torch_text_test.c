/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/torch_text.h"

#include "analysis/torch/averages.h"
#include "analysis/torch/averages_columns.h"
#include "base/mem.h"
#include "support/unit.h"

/* Examples worked out by hand from torch 2.13; blanks at the ends of lines left out. */
static const char example_a[] =
    "-------------------------  ------------  ------------  ------------  -----------"
    "-  ------------  ------------  ------------  ------------  ------------  -------"
    "-----\n"
    "                     Name    Self CPU %      Self CPU   CPU total %     CPU tota"
    "l  CPU time avg      Self XPU    Self XPU %     XPU total  XPU time avg    # of "
    "Calls\n"
    "-------------------------  ------------  ------------  ------------  -----------"
    "-  ------------  ------------  ------------  ------------  ------------  -------"
    "-----\n"
    "                    infer        40.00%     400.000us       100.00%       1.000m"
    "s       1.000ms       0.000us         0.00%     900.000us     900.000us         "
    "    1\n"
    "             aten::linear        15.00%     150.000us        60.00%     600.000u"
    "s     300.000us       0.000us         0.00%     900.000us     450.000us         "
    "    2\n"
    "              aten::addmm        25.00%     250.000us        45.00%     450.000u"
    "s     225.000us     900.000us       100.00%     900.000us     450.000us         "
    "    2\n"
    "    urEnqueueKernelLaunch        20.00%     200.000us        20.00%     200.000u"
    "s     100.000us       0.000us         0.00%       0.000us       0.000us         "
    "    2\n"
    "              gemm_kernel         0.00%       0.000us         0.00%       0.000u"
    "s       0.000us     900.000us       100.00%     900.000us     450.000us         "
    "    2\n"
    "-------------------------  ------------  ------------  ------------  -----------"
    "-  ------------  ------------  ------------  ------------  ------------  -------"
    "-----\n"
    "Self CPU time total: 1.000ms\n"
    "Self XPU time total: 900.000us\n";

static const char example_b[] =
    "----------------  ------------  ------------  ------------  ------------  ------"
    "------  ------------  ------------  ------------  ------------\n"
    "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU ti"
    "me avg       CPU Mem  Self CPU Mem    # of Calls  Total KFLOPs\n"
    "----------------  ------------  ------------  ------------  ------------  ------"
    "------  ------------  ------------  ------------  ------------\n"
    "            step        30.00%     300.000us       100.00%       1.000ms       1"
    ".000ms       2.00 KB         512 B             1            --\n"
    "    aten::linear        10.00%     100.000us        60.00%     600.000us     600"
    ".000us       1.50 KB         512 B             1            --\n"
    "     aten::addmm        60.00%     600.000us        60.00%     600.000us     300"
    ".000us       1.00 KB       1.00 KB             2         2.048\n"
    "        [memory]         0.00%       0.000us         0.00%       0.000us       0"
    ".000us        -512 B        -512 B             1            --\n"
    "----------------  ------------  ------------  ------------  ------------  ------"
    "------  ------------  ------------  ------------  ------------\n"
    "Self CPU time total: 1.000ms\n";

static const char example_c[] =
    "---------------------  ------------  ------------  ------------  ------------  -"
    "-----------  ------------  -----------------------------------------------------"
    "--------  ------------------------------------------------\n"
    "                 Name    Self CPU %      Self CPU   CPU total %     CPU total  C"
    "PU time avg    # of Calls                                                   Inpu"
    "t Shapes  Source Location\n"
    "---------------------  ------------  ------------  ------------  ------------  -"
    "-----------  ------------  -----------------------------------------------------"
    "--------  ------------------------------------------------\n"
    "         aten::conv2d         4.00%      40.000us        64.00%     640.000us   "
    "  640.000us             1              [[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [],"
    " [], []]  torch/nn/modules/conv.py(454): _conv_forward\n"
    "                                                                                "
    "                                                                                "
    "          nn.Module: Conv2d_0\n"
    "\n"
    "    aten::convolution        60.00%     600.000us        60.00%     600.000us   "
    "  600.000us             1      [[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], [],"
    " [], []]  torch/nn/modules/conv.py(454): _conv_forward\n"
    "                                                                                "
    "                                                                                "
    "          nn.Module: Conv2d_0\n"
    "\n"
    "           aten::relu        36.00%     360.000us        36.00%     360.000us   "
    "  120.000us             3                                                 [[1, 4"
    ", 6, 6]]  <built-in function relu>\n"
    "                                                                                "
    "                                                                                "
    "          nn.Module: ReLU_0\n"
    "\n"
    "---------------------  ------------  ------------  ------------  ------------  -"
    "-----------  ------------  -----------------------------------------------------"
    "--------  ------------------------------------------------\n"
    "Self CPU time total: 1.000ms\n";

/* A row as it comes out of map, in nanoseconds. */
struct given {
    const char *name, *shapes, *stack, *device_type;
    int64_t calls, self_cpu_ns, cpu_ns, self_device_ns, device_ns;
    int64_t self_bytes, bytes, flops;
    bool is_nested, is_async;
};

static void add_row(struct osc_result *r, const struct given *g, const char *device)
{
    osc_result_row(r);
    osc_result_str(r, OSC_AVERAGES_NAME, osc_str_c(g->name));
    osc_result_int(r, OSC_AVERAGES_CALLS, g->calls);
    osc_result_int(r, OSC_AVERAGES_SELF_CPU_NS, g->self_cpu_ns);
    osc_result_int(r, OSC_AVERAGES_CPU_NS, g->cpu_ns);
    osc_result_num(r, OSC_AVERAGES_SELF_CPU_US, (double)g->self_cpu_ns / 1000.0);
    osc_result_num(r, OSC_AVERAGES_CPU_US, (double)g->cpu_ns / 1000.0);
    osc_result_int(r, OSC_AVERAGES_SELF_DEVICE_NS, g->self_device_ns);
    osc_result_int(r, OSC_AVERAGES_DEVICE_NS, g->device_ns);
    osc_result_int(r, OSC_AVERAGES_SELF_CPU_BYTES, g->self_bytes);
    osc_result_int(r, OSC_AVERAGES_CPU_BYTES, g->bytes);
    osc_result_int(r, OSC_AVERAGES_FLOPS, g->flops);
    osc_result_bool(r, OSC_AVERAGES_IS_ASYNC, g->is_async);
    osc_result_bool(r, OSC_AVERAGES_IS_TOP_LEVEL, !g->is_nested);
    osc_result_str(r, OSC_AVERAGES_DEVICE_TYPE,
                   osc_str_c(g->device_type ? g->device_type : "CPU"));
    if (g->shapes)
        osc_result_str(r, OSC_AVERAGES_INPUT_SHAPES, osc_str_c(g->shapes));
    if (g->stack)
        osc_result_str(r, OSC_AVERAGES_STACK, osc_str_c(g->stack));
    if (device)
        osc_result_str(r, OSC_AVERAGES_DEVICE, osc_str_c(device));
}

static const struct osc_options no_options;
static const struct osc_text_options plain = {.options = &no_options};

/* Print R and drop the blanks before line breaks. */
static void print(const struct osc_result *r, const struct osc_text_options *o,
                  struct osc_strbuf *text)
{
    struct osc_strbuf raw = {0};

    osc_strbuf_clear(text);
    assert_int_equal(osc_torch_text(r, o, &raw, NULL), OSC_OK);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.s[i] == '\n') {
            while (text->len > 0 && text->s[text->len - 1] == ' ')
                text->len--;
        }
        osc_strbuf_addc(text, raw.s[i]);
    }
    osc_strbuf_adds(text, "");
    assert_int_equal(text->status, OSC_OK);
    osc_strbuf_fini(&raw);
}

/* All rows of GIVEN, printed; the caller frees TEXT. */
static void print_rows(const struct given *given, size_t n, const char *device, uint64_t shown,
                       const struct osc_text_options *o, struct osc_strbuf *text)
{
    struct osc_result r;

    osc_result_init(&r, &osc_table_averages);
    for (size_t i = 0; i < n; i++)
        add_row(&r, &given[i], device);
    r.shown = shown;
    assert_int_equal(r.status, OSC_OK);
    print(&r, o, text);
    osc_result_fini(&r);
}

#define LEN(array)   (sizeof(array) / sizeof *(array))
#define SHOWN_MEMORY (UINT64_C(1) << OSC_AVERAGES_SELF_CPU_BYTES)
#define SHOWN_FLOPS  (UINT64_C(1) << OSC_AVERAGES_FLOPS)

static const struct given device_rows[] = {
    {.name = "infer",
     .calls = 1,
     .self_cpu_ns = 400000,
     .cpu_ns = 1000000,
     .device_ns = 900000},
    {.name = "aten::linear",
     .calls = 2,
     .self_cpu_ns = 150000,
     .cpu_ns = 600000,
     .device_ns = 900000,
     .is_nested = true},
    {.name = "aten::addmm",
     .calls = 2,
     .self_cpu_ns = 250000,
     .cpu_ns = 450000,
     .self_device_ns = 900000,
     .device_ns = 900000,
     .is_nested = true},
    {.name = "urEnqueueKernelLaunch",
     .calls = 2,
     .self_cpu_ns = 200000,
     .cpu_ns = 200000,
     .is_nested = true},
    {.name = "gemm_kernel",
     .calls = 2,
     .self_device_ns = 900000,
     .device_ns = 900000,
     .device_type = "XPU"},
};

static const struct given memory_rows[] = {
    {.name = "step",
     .calls = 1,
     .self_cpu_ns = 300000,
     .cpu_ns = 1000000,
     .self_bytes = 512,
     .bytes = 2048},
    {.name = "aten::linear",
     .calls = 1,
     .self_cpu_ns = 100000,
     .cpu_ns = 600000,
     .self_bytes = 512,
     .bytes = 1536,
     .is_nested = true},
    {.name = "aten::addmm",
     .calls = 2,
     .self_cpu_ns = 600000,
     .cpu_ns = 600000,
     .self_bytes = 1024,
     .bytes = 1024,
     .flops = 2048,
     .is_nested = true},
    {.name = "[memory]", .calls = 1, .self_bytes = -512, .bytes = -512},
};

static const struct given stack_rows[] = {
    {.name = "aten::conv2d",
     .calls = 1,
     .self_cpu_ns = 40000,
     .cpu_ns = 640000,
     .shapes = "[[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]",
     .stack = "[\"torch/nn/modules/conv.py(454): _conv_forward\", \"nn.Module: Conv2d_0\"]"},
    {.name = "aten::relu",
     .calls = 3,
     .self_cpu_ns = 360000,
     .cpu_ns = 360000,
     .shapes = "[[1, 4, 6, 6]]",
     .stack = "[\"<built-in function relu>\", \"nn.Module: ReLU_0\"]"},
    {.name = "aten::convolution",
     .calls = 1,
     .self_cpu_ns = 600000,
     .cpu_ns = 600000,
     .shapes = "[[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], [], [], []]",
     .stack = "[\"torch/nn/modules/conv.py(454): _conv_forward\", \"nn.Module: Conv2d_0\"]"},
};

TEST(prints_a_device_beside_the_host_as_torch_does)
{
    struct osc_strbuf text = {0};

    print_rows(device_rows, LEN(device_rows), "xpu", 0, &plain, &text);
    assert_string_equal(text.s, example_a);
    osc_strbuf_fini(&text);
}

TEST(prints_memory_and_flops_as_torch_does)
{
    struct osc_strbuf text = {0};

    print_rows(memory_rows, LEN(memory_rows), NULL, SHOWN_MEMORY | SHOWN_FLOPS, &plain, &text);
    assert_string_equal(text.s, example_b);
    osc_strbuf_fini(&text);
}

TEST(prints_shapes_and_stacks_sorted_as_torch_does)
{
    const struct osc_text_options o = {.options = &no_options, .sort = "cpu_time_total"};
    struct osc_strbuf text = {0};

    print_rows(stack_rows, LEN(stack_rows), NULL, 0, &o, &text);
    assert_string_equal(text.s, example_c);
    osc_strbuf_fini(&text);
}

TEST(prints_nothing_without_rows)
{
    struct osc_strbuf text = {0};

    print_rows(NULL, 0, NULL, SHOWN_MEMORY, &plain, &text);
    assert_int_equal(text.len, 0);
    osc_strbuf_fini(&text);
}

TEST(prints_nan_for_shares_of_nothing)
{
    static const struct given rows[] = {{.name = "x", .calls = 1}};
    struct osc_strbuf text = {0};

    print_rows(rows, 1, NULL, 0, &plain, &text);
    assert_non_null(strstr(text.s, "    x           NaN       0.000us           NaN"));
    assert_non_null(strstr(text.s, "\nSelf CPU time total: 0.000us\n"));
    osc_strbuf_fini(&text);
}

TEST(prints_device_rows_alone_with_empty_host_columns)
{
    static const struct given rows[] = {{.name = "k",
                                         .calls = 2,
                                         .self_device_ns = 3000,
                                         .device_ns = 3000,
                                         .device_type = "CUDA"}};
    struct osc_strbuf text = {0};

    print_rows(rows, 1, "cuda", 0, &plain, &text);
    assert_non_null(strstr(text.s, "NaN       0.000us       0.000us       3.000us"
                                   "       100.00%       3.000us       1.500us"));
    assert_non_null(strstr(text.s, "Self CUDA time total: 3.000us\n"));
    osc_strbuf_fini(&text);
}

TEST(prints_a_bare_zero_for_the_share_of_what_is_asynchronous)
{
    static const struct given rows[] = {
        {.name = "gloo:all_reduce", .calls = 1, .cpu_ns = 5000, .is_async = true},
        {.name = "op", .calls = 1, .cpu_ns = 5000, .self_cpu_ns = 5000},
    };
    struct osc_strbuf text = {0};

    print_rows(rows, 2, NULL, 0, &plain, &text);
    assert_non_null(strstr(text.s, "    gloo:all_reduce         0.00%       0.000us"
                                   "             0       5.000us       5.000us"));
    osc_strbuf_fini(&text);
}

TEST(swaps_flops_and_source_as_torch_does)
{
    static const struct given rows[] = {{.name = "aten::mm",
                                         .calls = 1,
                                         .cpu_ns = 1000,
                                         .self_cpu_ns = 1000,
                                         .flops = 4096,
                                         .stack = "[\"a.py(1): f\", \"b.py(2): g\"]"}};
    struct osc_strbuf text = {0};

    print_rows(rows, 1, NULL, SHOWN_FLOPS, &plain, &text);
    assert_non_null(strstr(text.s, "  Source Location  Total KFLOPs\n"));
    assert_non_null(strstr(text.s, "             1     4.096          a.py(1): f\n"));
    assert_non_null(strstr(text.s, "\n                                          "));
    assert_non_null(strstr(text.s, " b.py(2): g\n\n----"));
    osc_strbuf_fini(&text);
}

TEST(prints_units_and_five_frames_of_1_13)
{
    static const struct given rows[] = {
        {.name = "aten::mm",
         .calls = 1,
         .bytes = 2048,
         .self_bytes = -3,
         .stack = "[\"1\", \"2\", \"3\", \"4\", \"five\", \"six\"]"}};
    const struct osc_options own = {.own = {{&osc_torch_version, "1.13", 0}}, .n_own = 1};
    const struct osc_text_options o = {.options = &own};
    struct osc_strbuf text = {0};

    print_rows(rows, 1, NULL, SHOWN_MEMORY, &o, &text);
    assert_non_null(strstr(text.s, "     2.00 Kb          -3 b "));
    assert_non_null(strstr(text.s, "five\n"));
    assert_null(strstr(text.s, "six"));
    osc_strbuf_fini(&text);
}

TEST(leaves_out_nested_rows_without_counting_them)
{
    const struct osc_options own = {.own = {{&osc_torch_top_level, "", 0},
                                            {&osc_torch_max_name_width, "10", 10},
                                            {&osc_torch_header, "one title", 0}},
                                    .n_own = 3};
    const struct osc_text_options o = {.options = &own, .limit = 2};
    struct osc_strbuf text = {0};

    print_rows(device_rows, LEN(device_rows), "xpu", 0, &o, &text);
    assert_non_null(strstr(text.s, "=\none title\n="));
    assert_non_null(strstr(text.s, "=\nThis report only display top-level ops statistics\n-"));
    assert_non_null(strstr(text.s, "\n     infer  "));
    assert_non_null(strstr(text.s, "\ngemm_ke...  "));
    assert_null(strstr(text.s, "aten::l"));
    osc_strbuf_fini(&text);
}

TEST(shows_a_hundred_rows_unless_told_otherwise)
{
    static struct given rows[150];
    static const struct {
        int64_t limit;
        size_t n_lines;
    } cases[] = {{0, 105}, {-1, 155}, {7, 12}};

    for (size_t i = 0; i < LEN(rows); i++)
        rows[i] = (struct given){.name = "n", .calls = 1};
    for (size_t k = 0; k < LEN(cases); k++) {
        const struct osc_text_options o = {.options = &no_options, .limit = cases[k].limit};
        struct osc_strbuf text = {0};
        size_t n_lines = 0;

        print_rows(rows, LEN(rows), NULL, 0, &o, &text);
        for (size_t i = 0; i < text.len; i++)
            n_lines += text.s[i] == '\n';
        assert_int_equal(n_lines, cases[k].n_lines);
        osc_strbuf_fini(&text);
    }
}

TEST(counts_characters_and_steers_no_terminal)
{
    static const struct given rows[] = {{.name = "\xc3\xa4\xe2\x82\xac", .calls = 1},
                                        {.name = "\x1b[2J\xff", .calls = 1}};
    struct osc_strbuf text = {0};

    print_rows(rows, 2, NULL, 0, &plain, &text);
    assert_memory_equal(text.s, "------------  --", 16); /* "\x1b[2J?" is 8 wide */
    assert_non_null(strstr(text.s, "\n          \xc3\xa4\xe2\x82\xac  "));
    assert_non_null(strstr(text.s, "\n    \\x1b[2J\xef\xbf\xbd  "));
    osc_strbuf_fini(&text);
}

TEST(leaves_names_as_they_are_where_no_terminal_is)
{
    static const struct given rows[] = {{.name = "\x1b[2J\xff\t", .calls = 1}};
    const struct osc_text_options o = {.options = &no_options, .has_raw_names = true};
    struct osc_strbuf text = {0};

    print_rows(rows, 1, NULL, 0, &o, &text);
    assert_memory_equal(text.s, "----------  --", 14); /* "\x1b[2J?\t" is 6 wide */
    assert_non_null(strstr(text.s, "\n    \x1b[2J\xef\xbf\xbd\t  "));
    osc_strbuf_fini(&text);
}

TEST(refuses_to_sort_by_what_is_no_key)
{
    const struct osc_text_options o = {.options = &no_options, .sort = "cpu_tiem_total"};
    struct osc_strbuf text = {0};
    struct osc_err err = {0};
    struct osc_result r;

    osc_result_init(&r, &osc_table_averages);
    add_row(&r, &device_rows[0], NULL);
    assert_int_equal(osc_torch_text(&r, &o, &text, &err), OSC_EINVAL);
    assert_non_null(strstr(err.message, "cpu_time_total"));
    osc_strbuf_fini(&text);
    osc_result_fini(&r);
}

TEST(survives_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;
    struct osc_result r;

    osc_result_init(&r, &osc_table_averages);
    for (size_t i = 0; i < LEN(stack_rows); i++)
        add_row(&r, &stack_rows[i], NULL);
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_strbuf text = {0};

        osc_mem_fail_after(n);
        st = osc_torch_text(&r, &plain, &text, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_strbuf_fini(&text);
    }
    osc_result_fini(&r);
}

UNIT_MAIN("torch_text")
