/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/dialect.h"

#include "base/mem.h"
#include "support/unit.h"
#include "support/unsealed.h"

struct example {
    const char *event; /* its members except ts and dur */
    enum osc_kind kind;
    bool is_device;
};

static const struct example examples[] = {
    /* By category, in any case of letters. */
    {"'ph':'X','cat':'cpu_op','name':'aten::add'", OSC_KIND_OPERATOR, false},
    {"'ph':'X','cat':'Operator','name':'aten::add'", OSC_KIND_OPERATOR, false},
    {"'ph':'X','cat':'user_annotation','name':'mine'", OSC_KIND_ANNOTATION, false},
    {"'ph':'X','cat':'gpu_user_annotation','name':'ProfilerStep#3'", OSC_KIND_ANNOTATION, true},
    {"'ph':'X','cat':'Runtime','name':'cudaLaunchKernel'", OSC_KIND_RUNTIME, false},
    {"'ph':'X','cat':'xpu_driver','name':'x'", OSC_KIND_DRIVER, false},
    {"'ph':'X','cat':'Kernel','name':'k'", OSC_KIND_KERNEL, true},
    {"'ph':'X','cat':'gpu_memcpy','name':'Memcpy HtoD'", OSC_KIND_MEMCPY, true},
    {"'ph':'X','cat':'mtia_ccp_events','name':'add-dtype_Float'", OSC_KIND_KERNEL, true},
    {"'ph':'X','cat':'mtia_ccp_events','name':'dma_request'", OSC_KIND_MEMCPY, true},
    {"'ph':'X','cat':'mtia_ccp_events','name':'event_wait'", OSC_KIND_SYNC, true},
    {"'ph':'X','cat':'MTIA_ccp_events','name':'event_record'", OSC_KIND_SYNC, true},
    {"'ph':'X','cat':'mtia_ccp_events','name':'stream_sync'", OSC_KIND_SYNC, true},
    {"'ph':'X','cat':'kernel','name':'event_wait'", OSC_KIND_KERNEL, true},
    {"'ph':'X','cat':'Memset','name':'m'", OSC_KIND_MEMSET, true},
    {"'ph':'X','cat':'cuda_sync','name':'s'", OSC_KIND_SYNC, true},
    {"'ph':'X','cat':'overhead','name':'o'", OSC_KIND_OVERHEAD, false},
    {"'ph':'X','cat':'collective_comm','name':'c'", OSC_KIND_COMMUNICATION, false},
    {"'ph':'X','cat':'cpu_opx','name':'aten::add'", OSC_KIND_SCOPE, false},
    {"'ph':'X','cat':'cpu','name':'aten::add'", OSC_KIND_SCOPE, false},
    {"'ph':'X','name':'aten::add'", OSC_KIND_SCOPE, false},
    {"'ph':'B','cat':'cpu_op','name':'aten::add'", OSC_KIND_OPERATOR, false},
    /* By phase. */
    {"'ph':'C','cat':'cpu_op','name':'n','args':{'x':1}", OSC_KIND_COUNTER, false},
    {"'ph':'i','cat':'cpu_op','name':'n'", OSC_KIND_INSTANT, false},
    {"'ph':'I','name':'n'", OSC_KIND_INSTANT, false},
    {"'ph':'n','name':'n'", OSC_KIND_INSTANT, false},
    /* By name. */
    {"'ph':'X','cat':'user_annotation','name':'ProfilerStep#12'", OSC_KIND_STEP, false},
    {"'ph':'X','cat':'cpu_op','name':'ProfilerStep#12'", OSC_KIND_STEP, false},
    {"'ph':'X','cat':'user_annotation','name':'ProfilerStep#'", OSC_KIND_ANNOTATION, false},
    {"'ph':'X','cat':'user_annotation','name':'ProfilerStep#1x'", OSC_KIND_ANNOTATION, false},
    {"'ph':'X','cat':'Kernel','name':'ProfilerStep#12'", OSC_KIND_KERNEL, true},
    {"'ph':'X','cat':'cpu_op','name':'enumerate(DataLoader)#_Iter.__next__'",
     OSC_KIND_DATALOADER, false},
    {"'ph':'X','cat':'cpu_op','name':'enumerate(DataLoader)#_Iter'", OSC_KIND_OPERATOR, false},
    {"'ph':'X','cat':'user_annotation','name':'enumerate(DataPipe)#x'", OSC_KIND_DATALOADER,
     false},
    {"'ph':'X','cat':'user_annotation','name':'Optimizer.step#SGD.step'", OSC_KIND_OPTIMIZER,
     false},
    {"'ph':'X','cat':'cpu_op','name':'Optimizer.step#SGD.step'", OSC_KIND_OPERATOR, false},
    {"'ph':'X','cat':'user_annotation','name':'nccl:all_reduce'", OSC_KIND_COMMUNICATION,
     false},
    {"'ph':'X','cat':'cpu_op','name':'c10d::allreduce_'", OSC_KIND_OPERATOR, false},
    {"'ph':'X','cat':'cpu_op','name':'[pl][module]a.B: model.b'", OSC_KIND_ANNOTATION, false},
    {"'ph':'X','cat':'cpu_op','name':'[pl][profile]step'", OSC_KIND_ANNOTATION, false},
    {"'ph':'X','cat':'cpu_op','name':'[pl]step'", OSC_KIND_OPERATOR, false},
    {"'ph':'i','name':'[memory]','args':{'Bytes':512}", OSC_KIND_ALLOC, false},
    {"'ph':'i','name':'[memory]','args':{'Bytes':-512}", OSC_KIND_FREE, false},
    {"'ph':'i','name':'[OutOfMemory]'", OSC_KIND_OOM, false},
    {"'ph':'X','cat':'cpu_op','name':'[memory]'", OSC_KIND_OPERATOR, false},
    /* By argument. */
    {"'ph':'X','cat':'python_function','name':'f'", OSC_KIND_PYTHON, false},
    {"'ph':'X','cat':'python_function','name':'f','args':{'Python module id':3}",
     OSC_KIND_MODULE, false},
    {"'ph':'X','cat':'python_function','name':'f','args':{'Python module id':null}",
     OSC_KIND_PYTHON, false},
    {"'ph':'X','cat':'python','name':'f','args':{'Python module id':3}", OSC_KIND_PYTHON,
     false},
};
#define N_EXAMPLES (sizeof examples / sizeof *examples)

static osc_status read_examples(struct osc_trace *t)
{
    struct osc_strbuf b = {0};

    for (size_t i = 0; i < N_EXAMPLES; i++)
        osc_strbuf_addf(&b, "%s{%s,'ts':1,'dur':1}", i > 0 ? "," : "[", examples[i].event);
    osc_strbuf_addc(&b, ']');
    const osc_status st = b.status == OSC_OK ? unsealed_read(t, b.s) : b.status;
    osc_strbuf_fini(&b);
    return st;
}

TEST(gives_every_event_one_kind)
{
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct osc_trace t = {0};

        assert_int_equal(read_examples(&t), OSC_OK);
        assert_int_equal(osc_dialect_classify(&t, n_threads), OSC_OK);
        assert_int_equal(t.events.n_rows, N_EXAMPLES);
        for (uint32_t i = 0; i < N_EXAMPLES; i++) {
            const struct osc_chunk *c = t.events.chunks[1];

            if (c->kind[i] != examples[i].kind ||
                osc_row_form(&t, c, i)->is_device != examples[i].is_device)
                fail_msg("%s: %s", examples[i].event, osc_kind_text((enum osc_kind)c->kind[i]));
        }
        osc_trace_fini(&t);
    }
}

TEST(tells_devices_by_category)
{
    assert_true(osc_dialect_is_device(OSC_STR("kernel")));
    assert_true(osc_dialect_is_device(OSC_STR("GPU_MEMCPY")));
    assert_false(osc_dialect_is_device(OSC_STR("cpu_op")));
    assert_false(osc_dialect_is_device(OSC_STR("")));
    assert_false(osc_dialect_is_device(OSC_STR("kernel\0")));
}

TEST(names_the_family_of_a_runtime)
{
    assert_true(osc_str_eq(osc_dialect_device(OSC_STR("xpu_runtime")), OSC_STR("xpu")));
    assert_true(osc_str_eq(osc_dialect_device(OSC_STR("mtia_ccp_events")), OSC_STR("mtia")));
    assert_true(
        osc_str_eq(osc_dialect_device(OSC_STR("privateuse1_driver")), OSC_STR("privateuse1")));
    assert_int_equal(osc_dialect_device(OSC_STR("cuda_runtime")).len, 0);
    assert_int_equal(osc_dialect_device(OSC_STR("xpu")).len, 0);
    assert_int_equal(osc_dialect_device(OSC_STR("xpux_runtime")).len, 0);
    assert_int_equal(osc_dialect_device(OSC_STR("")).len, 0);
}

TEST(classifies_a_trace_without_events)
{
    struct osc_trace t = {0};

    assert_int_equal(unsealed_read(&t, "[]"), OSC_OK);
    assert_int_equal(osc_dialect_classify(&t, 2), OSC_OK);
    osc_trace_fini(&t);
}

TEST(survives_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_trace t = {0};

        assert_int_equal(read_examples(&t), OSC_OK);
        osc_mem_fail_after(n);
        st = osc_dialect_classify(&t, 1);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || (st == OSC_ENOMEM && n < 1000));
        osc_trace_fini(&t);
    }
}

UNIT_MAIN("dialect")
