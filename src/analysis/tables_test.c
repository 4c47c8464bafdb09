/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "analysis/table_columns.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "import/import.h"
#include "support/placed.h"
#include "support/unit.h"
#include "table/query.h"
#include "table/row_sort.h"

/* Two traces at most, read from text and made ready for any table, of two ranks. */
static struct osc_trace traces[2];
static const char *paths[2] = {"rank0.json", "rank1.json"};
static uint32_t n_traces;

static void load(const char *json)
{
    const struct osc_import_options options = {.n_threads = 1};
    struct osc_trace *t = &traces[n_traces++];
    struct osc_err err = {0};

    assert_int_equal(osc_import_memory(t, "t", osc_str_c(json), &options, &err), OSC_OK);
}

static int end(void **state)
{
    (void)state;
    while (n_traces > 0)
        osc_trace_fini(&traces[--n_traces]);
    return 0;
}

/* Append the rows as lines of "a|b|c", what is missing as "-". */
static osc_status append_rows(void *ctx, const struct osc_rows *rows)
{
    struct osc_strbuf *out = ((void **)ctx)[0];
    const struct osc_sheet *sheet = ((void **)ctx)[1];

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        for (uint32_t c = 0; c < sheet->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &sheet->columns[c]);

            osc_strbuf_adds(out, c > 0 ? "|" : "");
            if (cell.is_missing)
                osc_strbuf_addc(out, '-');
            else if (cell.type == OSC_TYPE_STRING)
                osc_strbuf_addstr(out, cell.s);
            else if (cell.type == OSC_TYPE_NUMBER)
                osc_strbuf_addd(out, cell.d);
            else
                osc_strbuf_addi(out, cell.i);
        }
        osc_strbuf_addc(out, '\n');
    }
    return out->status;
}

static osc_status print_table(const char *name, const char *columns, bool is_merged,
                              struct osc_strbuf *out)
{
    const struct osc_table_def *def = osc_table_find(name);
    const struct osc_options options = {0};
    struct osc_trace *pointers[2] = {&traces[0], &traces[1]};
    struct osc_partial parts[2];
    const struct osc_partial *const order[] = {&parts[0], &parts[1]};
    const struct osc_query q = {.def = def,
                                .parts = order,
                                .n_parts = n_traces,
                                .options = &options,
                                .columns = columns,
                                .is_merged = is_merged,
                                .is_machine = true};
    struct osc_answer a = {0};
    osc_status st = placed(pointers, paths, n_traces);

    for (uint32_t i = 0; i < n_traces && st == OSC_OK; i++) {
        st = osc_derive(pointers[i], osc_table_facts(def), 1, NULL);
        osc_partial_keep(&parts[i], pointers[i]);
    }
    if (st == OSC_OK)
        st = osc_query_run(&q, &a, NULL);
    if (st == OSC_OK)
        st = osc_answer_rows(&q, &a, append_rows, (void *[]){out, &a.sheet}, NULL);
    if (st == OSC_OK)
        osc_strbuf_add(out, a.sheet.notes.s, a.sheet.notes.len);
    osc_answer_fini(&a);
    return st;
}

static void assert_table(const char *name, const char *columns, bool is_merged,
                         const char *expected)
{
    struct osc_strbuf out = {0};

    assert_int_equal(print_table(name, columns, is_merged, &out), OSC_OK);
    assert_string_equal(out.s ? out.s : "", expected);
    osc_strbuf_fini(&out);
}

#define GPU_TRACE                                                                           \
    "{\"schemaVersion\": 1, \"record_shapes\": 1, \"traceEvents\": ["                       \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":5,\"tid\":6,\"ts\":10," \
    "\"dur\":20,\"args\":{}},"                                                              \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":5,"       \
    "\"tid\":6,\"ts\":12,\"dur\":3,\"args\":{\"correlation\":9}},"                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":1,\"tid\":7,\"ts\":20,"     \
    "\"dur\":40.5,\"args\":{\"device\":1,\"stream\":7,\"correlation\":9}}]}"

TEST_WITH(links_events_to_parents_launches_and_operators, NULL, end)
{
    load(GPU_TRACE);
    assert_table("events",
                 "id,parent_id,kind,process,thread,device,queue,start_ns,dur_ns,self_ns,"
                 "depth,launch_id,op_id,correlation",
                 false,
                 "0|-|operator|5|6|-|-|0|20000|17000|0|-|-|-\n"
                 "1|0|runtime|5|6|-|-|2000|3000|3000|1|-|0|9\n"
                 "2|-|kernel|1|7|cuda:1|7|10000|40500|40500|0|1|0|9\n");
}

TEST_WITH(shows_only_those_optional_columns_that_have_data, NULL, end)
{
    uint64_t shown = 0;
    const struct osc_table_def *def = &osc_table_events;

    load("[{\"ph\":\"i\",\"name\":\"here\",\"pid\":1,\"tid\":1,\"ts\":1}]");
    assert_int_equal(osc_derive(&traces[0], osc_table_facts(def), 1, NULL), OSC_OK);
    assert_int_equal(def->stream->rows(&traces[0], NULL, &shown), 1);
    assert_int_equal(shown, 0);
}

TEST_WITH(writes_words_of_events_that_look_alike, NULL, end)
{
    load("[{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":"
         "{\"t\":true,\"i\":1,\"n\":null}},"
         "{\"ph\":\"i\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"args\":"
         "{\"t\":true,\"i\":2,\"n\":null}},"
         "{\"ph\":\"i\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":3,\"args\":"
         "{\"t\":false,\"i\":3,\"n\":4}}]");
    assert_table("events", "args", false,
                 "{\"t\": true, \"i\": 1, \"n\": null}\n"
                 "{\"t\": true, \"i\": 2, \"n\": null}\n"
                 "{\"t\": false, \"i\": 3, \"n\": 4}\n");
}

TEST_WITH(writes_arguments_with_the_types_of_the_file, NULL, end)
{
    load("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":"
         "{\"i\":-3,\"l\":9007199254740993,\"d\":1.0,\"e\":1e300,\"h\":18446744073709551616,"
         "\"t\":true,\"f\":false,\"n\":null,\"s\":\"q\\\"\\n\",\"j\":[1, {\"k\": 2}]}},"
         "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{}},"
         "{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]");
    assert_table("events", "args", false,
                 "{\"i\": -3, \"l\": 9007199254740993, \"d\": 1.0, \"e\": 1e+300, "
                 "\"h\": 18446744073709551616, \"t\": true, \"f\": false, \"n\": null, "
                 "\"s\": \"q\\\"\\n\", \"j\": [1, {\"k\": 2}]}\n"
                 "{}\n"
                 "-\n");
}

TEST_WITH(gives_each_series_of_a_counter_a_row, NULL, end)
{
    load("[{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":"
         "{\"used\":5,\"free\":0.5,\"old\":\"7\",\"huge\":18446744073709551616,"
         "\"vast\":1e999,\"none\":\"x\"}}]");
    assert_table("events", "kind,name,value,args", false,
                 "counter|m|5|{\"used\": 5}\n"
                 "counter|m|0.5|{\"free\": 0.5}\n"
                 "counter|m|7|{\"old\": \"7\"}\n"
                 "counter|m|1.8446744073709552e+19|{\"huge\": 18446744073709551616}\n"
                 "counter|m|-|{\"vast\": 1e999}\n"
                 "counter|m|-|{\"none\": \"x\"}\n");
}

TEST_WITH(streams_more_events_than_a_batch_holds, NULL, end)
{
    struct osc_strbuf json = {0}, expected = {0};

    osc_strbuf_addc(&json, '[');
    for (int i = 0; i < 20000; i++) {
        osc_strbuf_addf(&json,
                        "%s{\"ph\":\"X\",\"name\":\"e%d\",\"pid\":1,\"tid\":1,\"ts\":%d,"
                        "\"dur\":1}",
                        i > 0 ? "," : "", i % 9, i);
        osc_strbuf_addf(&expected, "%d|e%d|%d\n", i, i % 9, i * 1000);
    }
    osc_strbuf_addc(&json, ']');
    load(json.s);
    assert_table("events", "id,name,start_ns", false, expected.s);
    osc_strbuf_fini(&json);
    osc_strbuf_fini(&expected);
}

TEST_WITH(lists_threads_and_tracks_by_their_first_event, NULL, end)
{
    load("[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":"
         "{\"name\":\"old\"}},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":\"x\",\"ts\":9,\"dur\":1},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":1},"
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,"
         "\"dur\":1,\"args\":{\"device\":0,\"stream\":7}},"
         "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":"
         "{\"name\":\"new\"}}]");
    assert_table("threads", NULL, false, "1|-|x|-|1\n1|-|2|new|2\n");
    assert_table("tracks", "track,kind,name,parent,process_name,thread,events", false,
                 "0|thread|-|1|-|x|1\n1|thread|new|1|-|2|2\n2|queue|-|cuda:0|-|7|1\n");
}

TEST_WITH(takes_switches_from_the_file_or_else_from_what_is_there, NULL, end)
{
    load("{\"with_stack\": 0, \"with_flops\": 1, \"traceEvents\": ["
         "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":1,\"tid\":1,"
         "\"ts\":1,\"dur\":1,\"args\":{}},"
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":1,\"tid\":1,"
         "\"ts\":3,\"dur\":1,\"args\":{\"Input Dims\": [[1]]}}]}");
    assert_table(
        "info", NULL, false,
        "format|chrome\nproducer|kineto\ndialect|kineto\nproducer_version|-\ntorch_version|-\n"
        "opscope_version|" OSC_VERSION "\norigin_unix_ns|-\n"
        "profiler_start_ns|-\nduration_ns|3000\nevents|2\nthreads|1\nprocesses|1\n"
        "devices|0\nranks|1\nspans|1\nsteps|0\nrecord_shapes|true\n"
        "profile_memory|false\nwith_stack|false\nwith_modules|false\n"
        "with_flops|true\nmeta.with_stack|0\nmeta.with_flops|1\n");
}

TEST_WITH(counts_no_pseudo_processes_of_kineto, NULL, end)
{
    struct osc_strbuf out = {0};

    load("[{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
         "\"tid\":\"PyTorch Profiler\",\"ts\":1,\"dur\":9},"
         "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start: PyTorch Profiler\","
         "\"pid\":\"Traces\",\"tid\":\"Trace PyTorch Profiler\",\"ts\":1},"
         "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\","
         "\"ts\":10},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":7,\"tid\":7,\"ts\":2,\"dur\":1},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":7,\"tid\":8,\"ts\":2,\"dur\":1}]");
    assert_int_equal(print_table("info", NULL, false, &out), OSC_OK);
    assert_non_null(strstr(out.s, "\nevents|5\nthreads|2\nprocesses|1\n"));
    osc_strbuf_fini(&out);
}

TEST_WITH(sums_facts_of_several_ranks_and_counts_sets_once, NULL, end)
{
    struct osc_strbuf out = {0};

    load(GPU_TRACE);
    load("{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
         "\"tid\":7,\"ts\":110,\"dur\":1,\"args\":{\"device\":1,\"stream\":7}},"
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
         "\"tid\":8,\"ts\":111,\"dur\":1,\"args\":{\"device\":0,\"stream\":8}}]}");
    assert_int_equal(print_table("info", NULL, true, &out), OSC_OK);
    assert_non_null(strstr(out.s, "\nduration_ns|102000\nevents|5\nthreads|1\nprocesses|1\n"
                                  "devices|2\nranks|2\nspans|1\n"));
    osc_strbuf_fini(&out);
}

/* A file of process 7, which profiles of the program divide: MEMBERS, and an operator and a
 * kernel from TS in us. */
#define PIECE(ts, stream, members)                                                             \
    "{\"piece_of_process\":\"1\",\"pid\":\"7\",\"host_name\":\"h\",\"traceEvents\":[" members  \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":7,\"tid\":8,\"ts\":" #ts          \
    ",\"dur\":20,\"args\":{}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"      \
    "\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":10,\"args\":{\"device\":0,\"stream\":" #stream \
    "}}]}"

static int end_of_pieces(void **state)
{
    paths[1] = "rank1.json";
    return end(state);
}

TEST_WITH(takes_pieces_of_a_process_as_one_process, NULL, end_of_pieces)
{
    struct osc_strbuf out = {0};

    paths[1] = paths[0];
    load(PIECE(0, 1, ));
    load(PIECE(80, 2,
               "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":"
               "{\"name\":\"main\"}},"));
    assert_table("threads", NULL, false,
                 "7|-|8|main|2\nrank 0, span 1: 2 files taken together\n");
    assert_table("tracks", "kind,name,parent,thread,events,busy_ns,busy_ratio", false,
                 "thread|main|7|8|2|40000|0.4\nqueue|-|cuda:0|1|1|10000|0.1\n"
                 "queue|-|cuda:0|2|1|10000|0.1\nrank 0, span 1: 2 files taken together\n");
    assert_int_equal(print_table("info", NULL, false, &out), OSC_OK);
    assert_non_null(strstr(out.s, "\nevents|4\nthreads|1\nprocesses|1\n"));
    osc_strbuf_fini(&out);
}
#undef PIECE

TEST_WITH(counts_what_was_found_on_the_way_to_other_tables, NULL, end)
{
    load("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":3},"
         "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":4},"
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
         "\"ts\":5,\"dur\":1,\"args\":{\"device\":0,\"correlation\":9}}]");
    assert_table("quality", "severity,code,count,first_ns", false,
                 "warning|partial_overlap|1|1000\ninfo|no_launch|1|4000\n"
                 "info|no_operators|1|-\n");
}

TEST_WITH(names_what_a_trace_of_pytorch_lacks, NULL, end)
{
    load(GPU_TRACE);
    assert_table("quality", "severity,code,count", false,
                 "info|no_shapes|1\ninfo|no_stacks|1\ninfo|no_memory|1\ninfo|no_modules|1\n"
                 "info|no_flops|1\ninfo|no_steps|1\n");
}

TEST_WITH(a_program_whose_calls_were_recorded_may_have_no_modules, NULL, end)
{
    load("{\"schemaVersion\":1,\"opscope_version\":\"0.1.0\",\"sources\":\"api,torch=stack\","
         "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,"
         "\"tid\":1,\"ts\":1,\"dur\":9,\"args\":{\"Call stack\":\"a.py(1): f\"}}]}");
    assert_table("quality", "code", false, "no_shapes\nno_memory\nno_flops\nno_steps\n");
}

TEST_WITH(asks_for_device_work_only_where_there_is_a_device, NULL, end)
{
#define CPU_EVENT \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9}"
#define CALL(category)                   \
    ",{\"ph\":\"X\",\"cat\":\"" category \
    "\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1}"
    static const struct {
        const char *text;
        bool has_device;
    } traces_of[] = {
        {"{\"deviceProperties\":[],\"traceEvents\":[" CPU_EVENT "]}", false},
        {"{\"traceEvents\":[" CPU_EVENT "]}", false},
        {"{\"deviceProperties\":[{\"id\":0}],\"traceEvents\":[" CPU_EVENT "]}", true},
        {"{\"traceEvents\":[" CPU_EVENT CALL("cuda_runtime") "]}", true},
        {"{\"traceEvents\":[" CPU_EVENT CALL("cuda_driver") "]}", true},
    };
#undef CALL
#undef CPU_EVENT

    for (size_t i = 0; i < sizeof traces_of / sizeof *traces_of; i++) {
        struct osc_strbuf out = {0};

        load(traces_of[i].text);
        assert_int_equal(print_table("quality", "code", false, &out), OSC_OK);
        assert_int_equal(strstr(out.s, "no_device") != NULL, traces_of[i].has_device);
        osc_strbuf_fini(&out);
        end(NULL);
    }
}

/* What recorded the trace, by members of its file, and what it is told to do. */
TEST_WITH(tells_each_recorder_what_it_can_change, NULL, end)
{
    static const struct {
        const char *members, *producer, *remedies;
    } of[] = {
        {"\"schemaVersion\":1", "kineto",
         "no_stacks|pass with_stack=True and experimental_config=torch._C._profiler."
         "_ExperimentalConfig(verbose=True)\n"
         "no_memory|pass profile_memory=True\n"
         "no_modules|pass with_stack=True and with_modules=True\n"
         "no_flops|pass with_flops=True and record_shapes=True\n"
         "no_steps|pass schedule=... and call prof.step() once a step\n"},
        {"\"schemaVersion\":1,\"profile_memory\":1", "kineto",
         "no_stacks|pass with_stack=True and experimental_config=torch._C._profiler."
         "_ExperimentalConfig(verbose=True)\n"
         "no_memory|profile_memory was on: the profiler recorded no use of memory all the "
         "same\n"
         "no_modules|pass with_stack=True and with_modules=True\n"
         "no_flops|pass with_flops=True and record_shapes=True\n"
         "no_steps|pass schedule=... and call prof.step() once a step\n"},
        {"\"schemaVersion\":1,\"opscope_version\":\"0.1.0\",\"trace_id\":\"7A\"", "opscope",
         "no_stacks|pass with_stack=True to opscope.torch.profile\n"
         "no_memory|pass profile_memory=True to opscope.torch.profile\n"
         "no_modules|pass with_stack=True and with_modules=True to opscope.torch.profile\n"
         "no_flops|pass with_flops=True to opscope.torch.profile\n"
         "no_steps|pass schedule=... to opscope.torch.profile and call prof.step() once a "
         "step\n"},
        {"\"schemaVersion\":1,\"opscope_version\":\"0.1.0\",\"sources\":\"api,torch\"",
         "opscope",
         "no_stacks|record with opscope run --torch=stack\n"
         "no_memory|record with opscope run --torch where its recorder can be built\n"
         "no_modules|record with opscope run --torch=stack\n"
         "no_flops|record with opscope run --torch where its recorder can be built\n"
         "no_steps|call opscope.record.step() once a step; without that, a step ends when the "
         "first optimizer has made one\n"},
        {"\"schemaVersion\":1,\"opscope_version\":\"0.1.0\",\"sources\":\"api,torch=stack\"",
         "opscope",
         "no_stacks|record with opscope run --torch=stack where its recorder can be built\n"
         "no_memory|record with opscope run --torch where its recorder can be built\n"
         "no_modules|record with opscope run --torch=stack where its recorder can be built\n"
         "no_flops|record with opscope run --torch where its recorder can be built\n"
         "no_steps|call opscope.record.step() once a step; without that, a step ends when the "
         "first optimizer has made one\n"},
        {"\"schemaVersion\":1,\"opscope_version\":\"0.1.0\"", "opscope",
         "nothing was skipped, repaired or found missing\n"},
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct osc_strbuf text = {0}, facts = {0};

        osc_strbuf_addf(&text,
                        "{%s,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
                        "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9,\"args\":"
                        "{\"Input Dims\":[[1]]}}]}",
                        of[i].members);
        load(text.s);
        assert_table("quality", "code,remedy", false, of[i].remedies);
        assert_int_equal(print_table("info", NULL, false, &facts), OSC_OK);
        osc_strbuf_clear(&text);
        osc_strbuf_addf(&text, "\nproducer|%s\n", of[i].producer);
        assert_non_null(strstr(facts.s, text.s));
        osc_strbuf_fini(&text);
        osc_strbuf_fini(&facts);
        end(NULL);
    }
}

TEST_WITH(gives_no_advice_on_a_profiler_that_was_not_used, NULL, end)
{
    load("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]");
    assert_table("quality", NULL, false, "nothing was skipped, repaired or found missing\n");
}

TEST_WITH(puts_the_worst_finding_first, NULL, end)
{
    load("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":-1},"
         "{\"ph\":\"?\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},"
         "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"ti");
    assert_table("quality", "severity,code,count", false,
                 "error|truncated|1\nwarning|negative_duration|1\ninfo|unknown_phase|1\n");
}

TEST_WITH(adds_up_over_processes_what_sources_could_not_record, NULL, end)
{
#define COUNTED(name, pid, ts, n)                                                             \
    "{\"ph\":\"C\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":1,\"ts\":" #ts ",\"args\":" \
    "{\"value\":" #n "}}"
    /* Counts grow; a counter of the program is none. */
    load("{\"opscope_version\":\"0.1.0\",\"traceEvents\":[" COUNTED(
        "opencl: lost", 1, 3,
        1) "," COUNTED("opencl: lost", 1, 4,
                       5) "," COUNTED("opencl: lost", 2, 2,
                                      2) "," COUNTED("cuda: late", 2, 9,
                                                     1) "," COUNTED("loss: 2", 1, 1, 7) "]}");
    assert_table(
        "quality", "code,count,first_ns,message", false,
        "source_incomplete|7|1000|opencl: lost\nsource_incomplete|1|8000|cuda: late\n");
    end(NULL);
    load("[" COUNTED("opencl: lost", 1, 3, 1) "]"); /* no recording of ours */
    assert_table("quality", NULL, false, "nothing was skipped, repaired or found missing\n");
#undef COUNTED
}

TEST_WITH(explains_every_column_of_every_table, NULL, end)
{
    for (size_t i = 0; osc_tables[i]; i++) {
        const struct osc_table_def *def = osc_tables[i];

        assert_true(def->n_columns <= 64);
        assert_true(strlen(def->help) > 10);
        assert_int_not_equal(def->kind, OSC_TABLE_READY);
        for (uint32_t c = 0; c < def->n_columns; c++) {
            const struct osc_column *column = &def->columns[c];
            const struct osc_str name = osc_str_c(column->name);

            assert_true(strlen(column->help) >= 6);
            assert_int_equal(osc_table_column(def, column->name), c);
            /* A unit is in the name, and the other way round. */
            if (osc_str_ends(name, OSC_STR("_ns")))
                assert_string_equal(column->unit, "ns");
            if (osc_str_ends(name, OSC_STR("_ratio")))
                assert_string_equal(column->unit, "ratio");
            if (osc_str_ends(name, OSC_STR("_bytes")))
                assert_string_equal(column->unit, "bytes");
        }
    }
}

TEST_WITH(survives_any_failed_allocation, NULL, end)
{
    load(GPU_TRACE);
    for (size_t i = 0; osc_tables[i]; i++) {
        osc_status st = OSC_ENOMEM;

        if (osc_tables[i]->comparison || osc_tables[i]->composition)
            continue;
        assert_int_equal(osc_derive(&traces[0], osc_table_facts(osc_tables[i]), 1, NULL),
                         OSC_OK);
        for (long n = 0; st != OSC_OK; n++) {
            struct osc_strbuf out = {0};

            osc_mem_fail_after(n);
            st = print_table(osc_tables[i]->name, NULL, n % 2 == 1, &out);
            osc_mem_fail_after(-1);
            if (st != OSC_OK && st != OSC_ENOMEM)
                fail_msg("%s: status %d after %ld allocations", osc_tables[i]->name, (int)st,
                         n);
            osc_strbuf_fini(&out);
        }
    }
}

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

/* The unit is in the name, and users read a meaning, a formula, a source and a rule. */
static void check_column(const struct osc_table_def *def, const struct osc_column *c)
{
    static const char *const units[] = {"ns", "bytes", "ratio"};
    struct osc_strbuf help = {0};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char end[16];

        snprintf(end, sizeof end, "_%s", units[i]);
        const bool is_named = ends_with(c->name, end) || strcmp(c->name, units[i]) == 0;
        if (is_named != (c->unit && strcmp(c->unit, units[i]) == 0))
            fail_msg("%s.%s: unit %s", def->name, c->name, c->unit ? c->unit : "none");
    }
    osc_sheet_add_help(&help, def, c);
    assert_int_equal(help.status, OSC_OK);
    if (strlen(c->help) < 8 || !ends_with(help.s, "."))
        fail_msg("%s.%s: no sentence: %s", def->name, c->name, help.s);
    if (!strstr(help.s, "Source: "))
        fail_msg("%s.%s: no source; give the table or the column a .source: %s", def->name,
                 c->name, help.s);
    if (!c->rules && !def->rules)
        fail_msg("%s.%s: no rules; give the table or the column .rules", def->name, c->name);
    /* What finish() makes of other columns is a quotient or a median. */
    if (c->type == OSC_TYPE_NUMBER && c->merge == OSC_MERGE_FINISH && !strstr(c->help, " / ") &&
        !strstr(c->help, "Median") && !strstr(c->help, "median"))
        fail_msg("%s.%s: no formula, as \"a / b\" or \"median of\": %s", def->name, c->name,
                 help.s);
    osc_strbuf_fini(&help);
}

TEST(every_column_has_unit_formula_and_source)
{
    uint32_t n = 0;

    for (size_t i = 0; osc_tables[i]; i++) {
        for (uint32_t c = 0; c < osc_tables[i]->n_columns; c++) {
            if (osc_tables[i]->columns[c].flags & OSC_COLUMN_HIDDEN)
                continue;
            check_column(osc_tables[i], &osc_tables[i]->columns[c]);
            n++;
        }
    }
    assert_true(n > 100);
}

/* Keys of torch that users give; each means a column of the table that torch prints. */
TEST(every_key_of_torch_names_a_column_of_averages)
{
    static const char *const keys[] = {"self_cpu_time_total",
                                       "cpu_time_total",
                                       "cpu_time",
                                       "self_device_time_total",
                                       "device_time_total",
                                       "device_time",
                                       "self_cpu_memory_usage",
                                       "cpu_memory_usage",
                                       "self_device_memory_usage",
                                       "device_memory_usage",
                                       "count"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct osc_sort_key key;
        struct osc_err err = {0};

        if (osc_sort_parse(&osc_table_averages, keys[i], &key, &err) != OSC_OK)
            fail_msg("%s: %s", keys[i], err.message);
    }
}

/* The indexes that other code reads finished tables by stand for the columns of that name. */
TEST(columns_of_other_code_are_what_they_are_called)
{
#define OSC_COLUMN_IS(table, column) \
    assert_string_equal(osc_table_##table.columns[osc_column_##table##_##column].name, #column)
    OSC_COLUMN_IS(info, key);
    OSC_COLUMN_IS(info, value);
    OSC_COLUMN_IS(quality, severity);
    OSC_COLUMN_IS(quality, code);
    OSC_COLUMN_IS(quality, count);
    OSC_COLUMN_IS(quality, message);
    OSC_COLUMN_IS(quality, remedy);
    OSC_COLUMN_IS(operators, name);
    OSC_COLUMN_IS(operators, calls);
    OSC_COLUMN_IS(operators, device_self_ns);
    OSC_COLUMN_IS(operators, host_self_ns);
    OSC_COLUMN_IS(kernels, name);
    OSC_COLUMN_IS(kernels, calls);
    OSC_COLUMN_IS(kernels, total_ns);
    OSC_COLUMN_IS(steps, step);
    OSC_COLUMN_IS(steps, label);
    OSC_COLUMN_IS(steps, thread);
    OSC_COLUMN_IS(steps, total_ns);
    OSC_COLUMN_IS(steps, annotation_ns);
    OSC_COLUMN_IS(steps, kept);
    OSC_COLUMN_IS(steps, outlier);
    OSC_COLUMN_IS(steps, grew);
    OSC_COLUMN_IS(steps, grew_on);
    OSC_COLUMN_IS(steps, grew_by_ns);
    OSC_COLUMN_IS(overview, category);
    OSC_COLUMN_IS(overview, avg_ns);
    OSC_COLUMN_IS(overview, ratio);
    OSC_COLUMN_IS(advice, impact_ns);
    OSC_COLUMN_IS(advice, title);
    OSC_COLUMN_IS(advice, text);
#undef OSC_COLUMN_IS
}

/* The text of a rule is printed as it stands, and each is there for some column. */
TEST(every_rule_is_followed_and_fits_a_terminal)
{
    uint64_t followed = OSC_RULE_RANKS; /* by rank and span, which every table has */

    for (size_t i = 0; osc_tables[i]; i++) {
        followed |= osc_tables[i]->rules;
        for (uint32_t c = 0; c < osc_tables[i]->n_columns; c++)
            followed |= osc_tables[i]->columns[c].rules;
    }
    for (uint32_t i = 0; osc_rules[i].rule; i++) {
        const struct osc_rule_text *const r = &osc_rules[i];

        if (r->rule != UINT64_C(1) << i || !(followed & r->rule))
            fail_msg("%s: out of order, or no column follows it", r->title);
        assert_true(ends_with(r->text, "\n") && ends_with(r->source, "."));
        for (const char *p = r->text; *p; p += strcspn(p, "\n") + 1) {
            if (strcspn(p, "\n") > 78)
                fail_msg("%s: a line is too long: %.90s", r->title, p);
        }
        followed &= ~r->rule;
    }
    assert_int_equal(followed, 0);
}

TEST(definitions_keep_what_no_compiler_checks)
{
    struct osc_err err = {0};

    assert_int_equal(osc_tables_check(&err), OSC_OK);
    assert_string_equal(err.message, "");
}

UNIT_MAIN("tables")
