/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/call_samples.h"

#include <stdio.h>

#include "base/mem.h"
#include "import/import.h"
#include "support/unit.h"

static osc_status append(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *const out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status;
}

/* The folded stacks of a trace with the top-level MEMBERS, '...' for strings. */
static char *folded(const char *members)
{
    static char text[1 << 16];
    struct osc_import_options defaults = {0};
    struct osc_strbuf out = {0};
    struct osc_stack_tree tree;
    struct osc_trace t = {0};
    uint64_t n_lines = 0;
    bool has_any = false;
    const int len =
        snprintf(text, sizeof text, "{%s,'traceEvents':[{'ph':'i','ts':1}]}", members);

    assert_true(len > 0 && (size_t)len < sizeof text);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    assert_int_equal(osc_import_memory(&t, "t", osc_str_c(text), &defaults, NULL), OSC_OK);
    osc_stack_tree_init(&tree);
    assert_int_equal(osc_call_samples_fold(&t, 0, &tree, &has_any), OSC_OK);
    assert_int_equal(osc_stack_tree_write(&tree, append, &out, &n_lines), OSC_OK);
    assert_int_equal(has_any, n_lines > 0);
    osc_stack_tree_fini(&tree);
    osc_trace_fini(&t);
    assert_int_equal(snprintf(text, sizeof text, "%s", out.s ? out.s : ""), out.len);
    osc_strbuf_fini(&out);
    return text;
}

TEST(folds_samples_below_their_callers)
{
    assert_string_equal(
        folded("'samples':[{'sf':2},{'sf':'2'},{'sf':1},{'sf':3}],'stackFrames':"
               "{'3':{'name':'g h','parent':'2'},'2':{'name':'f','parent':1},"
               "'1':{'name':'main'}}"),
        "main 1\nmain;f 2\nmain;f;g_h 1\n");
    assert_string_equal(folded("'stackFrames':{'1':{'name':'main'}}"), "");
    assert_string_equal(folded("'samples':{'sf':1}"), "");
}

TEST(takes_whole_weights_above_zero)
{
    assert_string_equal(folded("'samples':[{'sf':1,'weight':5},{'sf':1,'weight':'7'},"
                               "{'sf':1,'weight':0},{'sf':1,'weight':-3},{'sf':1,'weight':0.5},"
                               "{'sf':1,'weight':1e99},{'sf':1,'weight':null}],"
                               "'stackFrames':{'1':{'name':'a'}}"),
                        "a 17\n");
    assert_string_equal(folded("'samples':[{'sf':1,'weight':9223372036854775807},"
                               "{'sf':1,'weight':9223372036854775807}],"
                               "'stackFrames':{'1':{'name':'a'}}"),
                        "a 9223372036854775807\n");
}

TEST(survives_frames_that_are_missing_or_go_in_circles)
{
    assert_string_equal(
        folded("'samples':[{'sf':1},{'sf':2},{'sf':9},{},3,'x',{'sf':3},{'sf':4},"
               "{'sf':5}],'stackFrames':{'1':{'name':'a','parent':2},"
               "'2':{'name':'b','parent':1},'3':{'name':'c','parent':3},"
               "'4':{'name':7,'parent':8},'5':[],'':{'name':'e'}}"),
        "[unknown] 6\nb 1\nb;a 1\nc 1\n");
    assert_string_equal(folded("'samples':[{'sf':1}]"), "[unknown] 1\n");
    assert_string_equal(
        folded("'samples':[{'sf':1}],'stackFrames':{'1':{'name':'a'},'1':{'name':'b'}}"),
        "b 1\n");
}

TEST(cuts_deep_stacks)
{
    struct osc_strbuf members = {0};
    size_t n_frames = 1;

    osc_strbuf_adds(&members, "'samples':[{'sf':999}],'stackFrames':{'0':{'name':'r'}");
    for (int i = 1; i < 1000; i++)
        osc_strbuf_addf(&members, ",'%d':{'name':'f%d','parent':%d}", i, i, i - 1);
    osc_strbuf_adds(&members, "}");
    for (const char *c = folded(members.s); *c != '\0'; c++)
        n_frames += *c == ';';
    assert_int_equal(n_frames, OSC_STACK_TREE_DEPTH);
    osc_strbuf_fini(&members);
}

UNIT_MAIN("call_samples")
