/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modules/modules.h"

#include "analysis/table_registry.h"
#include "base/strbuf.h"
#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"
#include "table/merge.h"

#define PYTHON(name, tid, ts, dur, id, parent)   \
    RANGE("python_function", name, tid, ts, dur, \
          "'Python id':" #id ",'Python parent id':" #parent)
#define MODULE(name, tid, ts, dur, id, parent, module)         \
    RANGE("python_function", "nn.Module: " name, tid, ts, dur, \
          "'Python id':" #id ",'Python parent id':" #parent ",'Python module id':" #module)
#define NOTE(name, tid, ts, dur) RANGE("user_annotation", name, tid, ts, dur, "")
#define ARROW(ph, id, tid, ts)                                     \
    "{'ph':'" ph "','id':" #id ",'pid':1,'tid':" #tid ",'ts':" #ts \
    ",'cat':'fwdbwd','name':'fwdbwd','bp':'e'},"

/* Load the events in TEXT, each ended by a comma, and forget the text. */
static void load_many(struct osc_strbuf *text)
{
    const struct osc_import_options options = {.n_threads = 1};

    text->s[text->len - 1] = ']';
    assert_int_equal(text->status, OSC_OK);
    assert_int_equal(osc_import_memory(&trace, "many",
                                       (struct osc_str){text->s, (uint32_t)text->len}, &options,
                                       NULL),
                     OSC_OK);
    osc_strbuf_fini(text);
}

struct function {
    const char *name;
    int64_t ts_us, dur_us;
    uint32_t id, parent;
    bool is_module;
};

static void add_function(struct osc_strbuf *text, const struct function *f)
{
    osc_strbuf_addf(text,
                    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"%s\",\"pid\":1,"
                    "\"tid\":1,\"ts\":%lld,\"dur\":%lld,\"args\":{\"Python id\":%u,"
                    "\"Python parent id\":%u%s}},",
                    f->name, (long long)f->ts_us, (long long)f->dur_us, f->id, f->parent,
                    f->is_module ? ",\"Python module id\":0" : "");
}

TEST_WITH(a_place_has_the_path_of_its_module, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_modules, &o,
                MODULE("Net_0", 1, 0, 100, 1, 0, 0)
                    RANGE("python_function", "nn.Module: Linear_0", 1, 10, 20,
                          "'Python id':3,'Python parent id':1,'Python module id':0,"
                          "'Module path':'head.0'"));
    assert_int_equal(result.n_rows, 2);
    assert_false(osc_result_has(&result, 0, column("attribute_path")));
    assert_true(is_text(1, "path", "Net_0/Linear_0"));
    assert_true(is_text(1, "attribute_path", "head.0"));
}

TEST_WITH(a_place_sums_all_calls_there_and_no_other, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_modules, &o,
                MODULE("Net_0", 1, 0, 100, 1, 0, 0) PYTHON("net.py(3): forward", 1, 1, 98, 2, 1)
                    MODULE("Linear_0", 1, 10, 20, 3, 2, 7) OP("aten::linear", 1, 12, 10, "")
                        OP("aten::mm", 1, 13, 5, "") CALL(1, 14, 2, 1, "") KERNEL("k", 50, 9, 1)
                            MODULE("Linear_0", 1, 40, 30, 4, 2, 7)
                                OP("aten::relu", 1, 80, 4, "")
                                    MODULE("Linear_0", 1, 200, 5, 5, 0, 7));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "path", "Net_0"));
    assert_int_equal(integer(0, "depth"), 0);
    assert_int_equal(integer(0, "operators"), 1);
    assert_int_equal(integer(0, "host_self_ns"), (100 - 20 - 30 - 4) * 1000);
    assert_int_equal(integer(0, "device_total_ns"), 9000);
    assert_int_equal(integer(0, "device_self_ns"), 0);
    assert_true(is_text(1, "path", "Net_0/Linear_0"));
    assert_int_equal(integer(1, "depth"), 1);
    assert_int_equal(integer(1, "module_id"), 7);
    assert_int_equal(integer(1, "calls"), 2);
    assert_int_equal(integer(1, "operators"), 1);
    assert_int_equal(integer(1, "host_total_ns"), 50000);
    assert_int_equal(integer(1, "host_self_ns"), 40000);
    assert_int_equal(integer(1, "device_self_ns"), 9000);
    assert_true(is_text(2, "path", "Linear_0"));
    assert_int_equal(integer(2, "calls"), 1);
}

TEST_WITH(backward_work_joins_the_module_that_ran_forward, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_modules, &o,
                MODULE("Net_0", 1, 0, 50, 1, 0, 0) MODULE("Linear_0", 1, 5, 20, 2, 1, 0)
                    OP("aten::mm", 1, 10, 5, "") OP("aten::sum", 1, 60, 5, "")
                        OP("autograd::engine::evaluate_function: SumBackward0", 2, 100, 10,
                           "") OP("SumBackward0", 2, 101, 8, "")
                            OP("autograd::engine::evaluate_function: MmBackward0", 2, 120, 30,
                               "") OP("MmBackward0", 2, 121, 20, "") CALL(2, 125, 2, 4, "")
                                KERNEL("k", 130, 6, 4)
                                    OP("autograd::engine::evaluate_function: "
                                       "torch::autograd::AccumulateGrad",
                                       2, 160, 7, "") ARROW("s", 1, 1, 60) ARROW("f", 1, 2, 101)
                                        ARROW("s", 2, 1, 10) ARROW("f", 2, 2, 121));
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(0, "backward_host_ns"), 37000);
    assert_int_equal(integer(1, "backward_host_ns"), 37000);
    assert_int_equal(integer(1, "backward_device_ns"), 6000);
    assert_int_equal(integer(1, "device_total_ns"), 0);
}

TEST_WITH(chains_that_lead_nowhere_or_around_end_there, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_modules, &o,
                MODULE("Lost_0", 1, 0, 9, 1, 999, 0) MODULE("Self_0", 1, 10, 9, 2, 2,
                                                            0) MODULE("A_0", 1, 20, 9, 3, 4, 0)
                    MODULE("B_0", 1, 30, 9, 4, 3, 0) PYTHON("f.py(1): f", 1, 40, 9, 5, 6)
                        PYTHON("f.py(2): g", 1, 41, 7, 6, 5) MODULE("C_0", 1, 42, 5, 7, 6, 0));
    assert_int_equal(result.n_rows, 5);
    for (uint64_t i = 0; i < result.n_rows; i++)
        assert_int_equal(integer(i, "calls"), 1);
    assert_true(is_text(0, "path", "Lost_0"));
    assert_true(is_text(1, "path", "Self_0"));
    assert_true(is_text(4, "path", "C_0"));
}

TEST_WITH(modules_without_a_name_or_a_caller_are_modules, NULL, small_end)
{
    static const struct osc_options ways[] = {{0}, {COMPAT_TB}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        small_table(&osc_table_modules, &ways[i],
                    MODULE("A_0", 1, 0, 5, 1, 3, 0) MODULE("B_0", 2, 0, 50, 2, null, 0)
                        MODULE("", 2, 10, 5, 3, null, 0));
        assert_int_equal(result.n_rows, 3);
        /* That which has no caller lies inside of B_0, which does not hold it. */
        assert_true(is_text(i == 0 ? 0 : 2, "path", "B_0"));
        assert_true(is_text(i == 0 ? 1 : 0, "path", ""));
        assert_true(is_text(i == 0 ? 2 : 1, "path", "/A_0"));
        small_end(NULL);
    }
}

TEST_WITH(a_module_within_itself_has_a_place_for_each_level, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_modules, &o,
                MODULE("Tree_0", 1, 0, 90, 1, 0, 0) MODULE("Tree_0", 1, 10, 50, 2, 1, 0)
                    MODULE("Tree_0", 1, 20, 10, 3, 2, 0));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(2, "path", "Tree_0/Tree_0/Tree_0"));
    assert_int_equal(integer(0, "host_self_ns"), 40000);
}

TEST_WITH(without_ids_of_callers_what_lies_around_holds_a_module, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(
        &osc_table_modules, &o,
        RANGE("python_function", "nn.Module: Net_0", 1, 0, 90, "'Python module id':0")
            RANGE("python_function", "nn.Module: Relu_0", 1, 10, 5, "'Python module id':0"));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(1, "path", "Net_0/Relu_0"));
}

TEST_WITH(modules_of_lightning_nest_by_their_dots, NULL, small_end)
{
    const struct osc_options o = {0};

    small_table(
        &osc_table_modules, &o,
        NOTE("[pl][module]a.Linear: model.layer1.0", 1, 10, 5) OP("aten::mm", 1, 11, 2, "")
            NOTE("[pl][module]a.Block: model.layer1", 1, 0, 50)
                NOTE("[pl][module]a.Head: model.head", 1, 60, 5)
                    NOTE("[pl][profile]run_training_batch", 1, 0, 99) NOTE("", 1, 2, 3));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "path", "model.layer1"));
    assert_true(is_text(1, "path", "model.layer1/model.layer1.0"));
    assert_int_equal(integer(1, "operators"), 1);
    assert_true(is_text(2, "name", "model.head"));
}

TEST_WITH(traces_without_modules_group_by_annotation_or_line, NULL, small_end)
{
    static const char text[] = NOTE("train", 1, 0, 100) NOTE("fwd", 1, 10, 50)
        PYTHON("net.py(3): forward", 1, 12, 40, 1, 0) PYTHON("<built-in mm>", 1, 13, 9, 2, 1)
            OP("aten::mm", 1, 14, 5, "") OP("aten::add", 1, 30, 5, "")
                PYTHON("idle.py(9): wait", 1, 70, 5, 3, 0);
    struct osc_options o = {0};

    small_table(&osc_table_modules, &o, text);
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "with_modules=True"));
    small_end(NULL);
    o = *grouped(&osc_table_modules, "annotation");
    small_table(&osc_table_modules, &o, text);
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(1, "path", "train/fwd"));
    assert_int_equal(integer(1, "operators"), 2);
    small_end(NULL);
    o = *grouped(&osc_table_modules, "line");
    small_table(&osc_table_modules, &o, text);
    assert_int_equal(result.n_rows, 1); /* lines that run no operator are left out */
    assert_true(is_text(0, "name", "net.py(3)"));
    assert_int_equal(integer(0, "operators"), 2);
}

TEST_WITH(without_frames_operators_group_by_the_line_of_their_stack, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_modules, "line");

    small_table(
        &osc_table_modules, &o,
        PYTHON("<built-in mm>", 1, 0, 400, 1, 0) /* tells no line */
        OP("aten::linear", 1, 10, 50, "'Call stack':'<built-in f>;net.py(3): f;a.py(1): m'")
            OP("aten::t", 1, 12, 5, "'Call stack':'net.py(3): f;a.py(1): m'")
                OP("aten::mm", 1, 20, 20, "'Call stack':'deep.py(7): g;net.py(3): f'")
                    CALL(1, 22, 2, 1, "") KERNEL("k", 80, 9, 1)
                        OP("aten::relu", 1, 100, 8, "'Call stack':'net.py(3): f;'")
                            OP("autograd::engine::evaluate_function: MmBackward0", 2, 120, 30,
                               "") OP("MmBackward0", 2, 121, 20, "") ARROW("s", 1, 1, 10)
                                ARROW("f", 1, 2, 121));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "path", "net.py(3)"));
    assert_int_equal(integer(0, "depth"), 0);
    assert_int_equal(integer(0, "calls"), 2);
    assert_int_equal(integer(0, "operators"), 2);
    assert_int_equal(integer(0, "host_total_ns"), 58000);
    assert_int_equal(integer(0, "host_self_ns"), 0);
    assert_int_equal(integer(0, "device_total_ns"), 9000);
    assert_int_equal(integer(0, "device_self_ns"), 9000);
    assert_int_equal(integer(0, "backward_host_ns"), 30000);
    assert_true(is_text(1, "name", "deep.py(7)"));
    assert_int_equal(integer(1, "calls"), 1);
    assert_int_equal(integer(1, "host_total_ns"), 20000);
    assert_int_equal(integer(1, "device_total_ns"), 9000);
    assert_int_equal(integer(1, "backward_host_ns"), 0);
}

TEST_WITH(frames_that_tell_lines_go_before_stacks, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_modules, "line");

    small_table(&osc_table_modules, &o,
                PYTHON("net.py(3): f", 1, 0, 40, 1, 0)
                    OP("aten::mm", 1, 10, 5, "'Call stack':'other.py(9): g'")
                        OP("aten::mm", 1, 60, 5, "'Call stack':'other.py(9): g'"));
    assert_int_equal(result.n_rows, 1);
    assert_true(is_text(0, "name", "net.py(3)"));
    assert_int_equal(integer(0, "operators"), 1);
}

TEST_WITH(stacks_of_odd_forms_tell_a_line_or_none, NULL, small_end)
{
    static const struct {
        const char *stack, *line;
    } forms[] = {
        {"'Call stack':''", NULL},
        {"'Call stack':';'", NULL},
        {"'Call stack':';;;a.py(1): f'", "a.py(1)"},
        {"'Call stack':'a.py(1): '", "a.py(1)"},
        {"'Call stack':'(1): '", "(1)"},
        {"'Call stack':'a.py(1)'", NULL},
        {"'Call stack':'a.py(): f'", NULL},
        {"'Call stack':'a.py(x): f;b.py(2): g'", "b.py(2)"},
        {"'Call stack':'1): f'", NULL},
        {"'Call stack':7", NULL},
        {"'Call stack':null", NULL},
        {"'Call stack':['a.py(1): f']", NULL},
    };
    const struct osc_options o = *grouped(&osc_table_modules, "line");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[256];

        snprintf(text, sizeof text,
                 "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,'ts':1,"
                 "'dur':0,'args':{%s}},",
                 forms[i].stack);
        small_table(&osc_table_modules, &o, text);
        assert_int_equal(result.n_rows, forms[i].line ? 1 : 0);
        if (forms[i].line)
            assert_true(is_text(0, "name", forms[i].line));
        else
            assert_non_null(strstr(result.notes.s, "no call stack of an operator, tells"));
        small_end(NULL);
    }
    small_table(&osc_table_modules, &o, PYTHON("<built-in mm>", 1, 0, 9, 1, 0));
    assert_non_null(strstr(result.notes.s, "no Python frame"));
    small_end(NULL);
    small_table(&osc_table_modules, &o, OP("aten::mm", 1, 0, 9, ""));
    assert_non_null(strstr(result.notes.s, "with_stack=True"));
}

TEST_WITH(a_hundred_thousand_lines_stay_apart, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_modules, "line");
    const long long n = 100000;
    struct osc_strbuf text = {0};

    osc_strbuf_addc(&text, '[');
    for (long long i = 0; i < n; i++)
        osc_strbuf_addf(&text,
                        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%lld\",\"pid\":1,"
                        "\"tid\":1,\"ts\":%lld,\"dur\":%lld,"
                        "\"args\":{\"Call stack\":\"f.py(%lld): g;a.py(1): m\"}},",
                        i % 2, i, 2 * (n - i), i);
    load_many(&text);
    small_make(&osc_table_modules, &o);
    assert_int_equal(result.n_rows, n);
    assert_true(is_text(0, "name", "f.py(0)"));
    assert_true(is_text((uint64_t)n - 1, "name", "f.py(99999)"));
    assert_int_equal(integer(0, "operators"), 1);
}

TEST_WITH(the_plugin_lists_equal_trees_once_with_the_sums_of_all, NULL, small_end)
{
    const struct osc_options o = {COMPAT_TB};

    small_table(
        &osc_table_modules, &o,
        MODULE("Net_0", 1, 0, 50, 1, 0, 0) MODULE("Relu_0", 1, 10, 5, 2, 1, 0)
            MODULE("Net_0", 1, 100, 50, 3, 0, 0) MODULE("Relu_0", 1, 110, 5, 4, 3, 0)
                MODULE("Net_0", 1, 200, 50, 5, 0, 0) MODULE("Relu_0", 1, 210, 5, 6, 5, 0)
                    MODULE("Relu_0", 1, 220, 5, 7, 5, 0) MODULE("Act_0", 1, 300, 5, 8, 0, 0));
    assert_int_equal(result.n_rows, 6);
    assert_true(is_text(0, "path", "Act_0"));
    assert_true(is_text(1, "path", "Net_0"));
    assert_int_equal(integer(1, "calls"), 3);
    assert_true(is_text(2, "path", "Net_0/Relu_0"));
    assert_int_equal(integer(2, "calls"), 4);
    assert_true(is_text(3, "path", "Net_0"));
    assert_true(is_text(5, "path", "Net_0/Relu_0"));
}

TEST_WITH(merged_ranks_keep_places_apart_and_count_each_call_once, NULL, small_end)
{
    static const struct osc_options ways[] = {{0}, {COMPAT_TB}};
    /* Of the rows by their order: calls in two equal ranks. */
    static const int64_t calls[2][7] = {{4, 6, 2, 2}, {4, 8, 4, 8, 8, 2, 8}};
    static const uint64_t n_rows[] = {4, 7};

    for (size_t i = 0; i < 2; i++) {
        struct osc_merger m = {0};

        osc_merger_init(&m, &osc_table_modules);
        for (uint32_t rank = 0; rank < 2; rank++) {
            assert_true(small_load(
                &trace,
                MODULE("Net_0", 1, 0, 50, 1, 0, 0) MODULE("Relu_0", 1, 10, 5, 2, 1, 0) MODULE(
                    "Net_0", 1, 100, 50, 3, 0, 0) MODULE("Relu_0", 1, 110, 5, 4, 3, 0)
                    MODULE("Relu_0", 1, 120, 5, 5, 3, 0) MODULE("Net_0", 1, 200, 50, 6, 0, 1)
                        MODULE("Relu_0", 1, 210, 5, 7, 6, 0)));
            assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_modules), 1, NULL),
                             OSC_OK);
            osc_result_init(&result, &osc_table_modules);
            assert_int_equal(osc_table_modules.mapping->map(&trace, &ways[i], &result, NULL),
                             OSC_OK);
            assert_int_equal(osc_merger_add(&m, &result, rank), OSC_OK);
            small_end(NULL);
        }
        osc_result_init(&result, &osc_table_modules);
        assert_int_equal(osc_merger_result(&m, &result), OSC_OK);
        assert_int_equal(osc_table_modules.mapping->finish(&result, &ways[i], NULL), OSC_OK);
        osc_merger_fini(&m);
        assert_int_equal(result.n_rows, n_rows[i]);
        for (uint64_t row = 0; row < n_rows[i]; row++)
            assert_int_equal(integer(row, "calls"), calls[i][row]);
        osc_result_fini(&result);
    }
}

TEST_WITH(stacks_are_rebuilt_from_frames_where_events_have_none, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_operators, "stack");

    small_table(&osc_table_operators, &o,
                PYTHON("a.py(1): main", 1, 0, 90, 1, 0) PYTHON("b.py(2): f", 1, 10, 20, 2, 1)
                    OP("aten::mm", 1, 12, 5, "") PYTHON("b.py(2): f", 1, 40, 20, 3, 1)
                        OP("aten::mm", 1, 42, 5, "") OP("aten::mm", 1, 80, 5, "")
                            OP("aten::mm", 2, 80, 5, ""));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "call_stack", "b.py(2): f;a.py(1): main"));
    assert_int_equal(integer(0, "calls"), 2);
    assert_true(is_text(1, "call_stack", "a.py(1): main"));
    assert_false(osc_result_has(&result, 2, column("call_stack")));
    assert_true(osc_result_get_bool(&result, 0, column("has_call_stack")));
    assert_false(osc_result_get_bool(&result, 2, column("has_call_stack")));
}

TEST_WITH(a_hundred_thousand_stacks_stay_apart, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_operators, "stack");
    const int64_t n = 100000;

    for (int has_frames = 0; has_frames < 2; has_frames++) {
        struct osc_strbuf text = {0};
        char name[32];

        osc_strbuf_addc(&text, '[');
        for (int64_t i = 0; i < n; i++) {
            const int64_t ts_us = 10 * i;
            snprintf(name, sizeof name, "f.py(%lld): g", (long long)i);
            if (has_frames)
                add_function(&text,
                             &(struct function){name, ts_us, 8, (uint32_t)i + 1, 0, false});
            osc_strbuf_addf(&text,
                            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
                            "\"tid\":1,\"ts\":%lld,\"dur\":5,\"args\":{\"%s\":\"%s\"}},",
                            (long long)ts_us, has_frames ? "a" : "Call stack", name);
        }
        load_many(&text);
        small_make(&osc_table_operators, &o);
        assert_int_equal(result.n_rows, n);
        assert_true(is_text(0, "call_stack", "f.py(0): g"));
        assert_true(is_text((uint64_t)n - 1, "call_stack", "f.py(99999): g"));
        small_end(NULL);
    }
}

TEST_WITH(texts_of_endless_stacks_and_paths_end, NULL, small_end)
{
    const struct osc_options ways[] = {*grouped(&osc_table_operators, "stack"), {0}};
    const struct osc_table_def *const tables[] = {&osc_table_operators, &osc_table_modules};
    static const char *const columns[] = {"call_stack", "path"};
    static const size_t lens[] = {128 * 4 + 3, 64 * 4 + 3};
    const int64_t n = 20000;
    struct osc_strbuf text = {0};

    osc_strbuf_addc(&text, '[');
    for (int64_t i = 0; i < n; i++)
        add_function(&text, &(struct function){"T_0", i, 4 * n - 2 * i, (uint32_t)i + 1,
                                               (uint32_t)i, true});
    osc_strbuf_addf(&text,
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
                    "\"tid\":1,\"ts\":%lld,\"dur\":1},",
                    (long long)n);
    load_many(&text);
    for (size_t i = 0; i < 2; i++) {
        small_make(tables[i], &ways[i]);
        assert_int_equal(result.n_rows, i == 0 ? 1 : n);
        const struct osc_str cell =
            osc_result_get_str(&result, result.n_rows - 1, column(columns[i]));
        assert_int_equal(cell.len, lens[i]);
        osc_result_fini(&result);
    }
}

TEST_WITH(modules_that_hold_each_other_are_listed_but_by_the_plugin, NULL, small_end)
{
    static const struct osc_options ways[] = {{0}, {COMPAT_TB}};
    const int64_t n = 1000;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct osc_strbuf text = {0};
        int64_t n_calls = 0;

        osc_strbuf_addc(&text, '[');
        for (int64_t k = 0; k < n; k++)
            add_function(&text,
                         &(struct function){k % 2 ? "nn.Module: T_0" : "f", 10 * k, 5,
                                            (uint32_t)k, (uint32_t)((k + 1) % n), k % 2 == 1});
        load_many(&text);
        small_make(&osc_table_modules, &ways[i]);
        for (uint64_t row = 0; row < result.n_rows; row++)
            n_calls += integer(row, "calls");
        assert_int_equal(n_calls, i == 0 ? n / 2 : 0);
        assert_int_equal(result.notes.len > 0, i == 1);
        small_end(NULL);
    }
}

TEST_WITH(a_failed_allocation_is_told, NULL, small_end)
{
    const struct osc_options o = {COMPAT_TB};

    assert_true(small_load(
        &trace, MODULE("Net_0", 1, 0, 50, 1, 0, 0) PYTHON("f.py(1): f", 1, 1, 40, 2, 1)
                    MODULE("Relu_0", 1, 10, 5, 3, 2, 0) OP("aten::relu", 1, 11, 2, "")));
    assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_modules), 1, NULL), OSC_OK);
    small_table_survives(&osc_table_modules, &o);
    assert_int_equal(result.n_rows, 2);
}

TEST_WITH(a_failed_allocation_for_lines_of_stacks_is_told, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_modules, "line");

    assert_true(small_load(&trace, OP("aten::mm", 1, 0, 9, "'Call stack':'a.py(1): f'")
                                       OP("aten::t", 1, 1, 2, "'Call stack':'b.py(2): f'")));
    assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_modules), 1, NULL), OSC_OK);
    small_table_survives(&osc_table_modules, &o);
    assert_int_equal(result.n_rows, 2);
}

UNIT_MAIN("modules")
