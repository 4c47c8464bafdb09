/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/links.h"

#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;

static const struct osc_chunk *load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS, 1, NULL), OSC_OK);
    return small_chunk(&trace);
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

static uint64_t count_of(enum osc_finding_code code)
{
    return trace.findings.by_code[code].count;
}

TEST_WITH(device_work_goes_to_the_call_of_its_correlation, NULL, end)
{
    const struct osc_chunk *const c = load(
        CALL(1, 0, 1, 5, "") RANGE("cuda_driver", "cuLaunchKernel", 2, 3, 1, "'correlation':6")
            KERNEL("a", 10, 1, 6) KERNEL("b", 11, 1, 5) KERNEL("c", 12, 1, 5)
                KERNEL("lost", 13, 1, 99) WORK("cuda_sync", "Stream Sync", 14, 1, 5, ""));
    assert_int_equal(small_number(c->link[2]), 1);
    assert_int_equal(small_number(c->link[3]), 0);
    assert_int_equal(small_number(c->link[4]), 0);
    assert_int_equal(small_number(c->link[5]), -1);
    assert_int_equal(small_number(c->link[6]), 0);
    assert_int_equal(count_of(OSC_FINDING_no_launch), 1);
    assert_int_equal(count_of(OSC_FINDING_no_operator), 3);
    assert_int_equal(osc_trace_facts(&trace)->links.n_works, 4);
}

TEST_WITH(of_calls_with_one_correlation_the_latest_before_the_work_has_it, NULL, end)
{
    const struct osc_chunk *const c =
        load(CALL(1, 30, 1, 5, "") CALL(1, 10, 1, 5, "") CALL(1, 20, 1, 5, "")
                 KERNEL("before all", 5, 1, 5) KERNEL("first", 15, 1, 5)
                     KERNEL("second", 20, 1, 5) KERNEL("last", 99, 1, 5));
    assert_int_equal(small_number(c->link[3]), 1);
    assert_int_equal(small_number(c->link[4]), 1);
    assert_int_equal(small_number(c->link[5]), 2);
    assert_int_equal(small_number(c->link[6]), 0);
    assert_int_equal(count_of(OSC_FINDING_duplicate_id), 1);
}

#define OF_RANK(pid, tid, cat, name, ts)                                                   \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':'" pid "','tid':" #tid ",'ts':" #ts \
    ",'dur':1,'args':{'device':0,'correlation':5}},"

TEST_WITH(ids_of_merged_ranks_are_those_of_each, NULL, end)
{
    const struct osc_chunk *const c =
        load(OF_RANK("[TP00] 900", 900, "cuda_runtime", "cudaLaunchKernel", 1)
                 OF_RANK("[TP01] 901", 901, "cuda_runtime", "cudaLaunchKernel", 2)
                     OF_RANK("[TP00] 0", 7, "kernel", "a", 9)
                         OF_RANK("[TP01] 0", 7, "kernel", "b", 9)
                             OF_RANK("[TP02] 0", 7, "kernel", "c", 9));
    static const char *const names[] = {"cuda:0", "cuda:1", "cuda:2"};

    assert_int_equal(small_number(c->link[2]), 0);
    assert_int_equal(small_number(c->link[3]), 1);
    assert_int_equal(small_number(c->link[4]), -1);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(osc_str_eq(osc_trace_str(&trace, trace.tracks[c->track[i + 2]].device),
                               osc_str_c(names[i])));
    assert_int_equal(count_of(OSC_FINDING_duplicate_id), 0);
}

TEST_WITH(a_call_belongs_to_the_operator_that_its_external_id_names, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("outer", 1, 0, 100, "'External id':2") OP("inner", 1, 20, 70, "'External id':4")
                 CALL(1, 20, 0, 334, ",'External id':2") CALL(1, 90, 0, 335, ",'External id':4")
                     CALL(2, 30, 1, 336, ",'External id':4"));
    assert_int_equal(small_number(c->link[2]), 0);
    assert_int_equal(small_number(c->link[3]), 1);
    assert_int_equal(small_number(c->link[4]), 1); /* whatever its thread */
}

TEST_WITH(an_external_id_that_cannot_be_right_does_not_count, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("a", 1, 0, 10, "'External id':2") OP("b", 1, 20, 10, "'External id':3")
                 CALL(1, 22, 1, 7, ",'External id':2") CALL(2, 22, 1, 8, ",'External id':2")
                     CALL(1, 50, 1, 9, ""));
    assert_int_equal(small_number(c->link[2]), 1); /* the innermost of its thread */
    assert_int_equal(small_number(c->link[3]), -1);
    assert_int_equal(small_number(c->link[4]), -1);
}

TEST_WITH(a_module_does_not_hide_the_operator_around_it, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("op", 1, 0, 10, "") RANGE("python_function", "nn.Module: M", 1, 5, 20,
                                          "'Python id':1,'Python module id':1")
                 CALL(1, 6, 1, 7, "") OP("same", 1, 7, 1, "") CALL(1, 7, 1, 8, ""));
    assert_int_equal(small_number(c->link[2]), 0);
    assert_int_equal(small_number(c->link[4]), 3);
}

TEST_WITH(steps_and_annotations_launch_nothing_themselves, NULL, end)
{
    const struct osc_chunk *const c =
        load(STEP(1, 0, 10) OP("ProfilerStep#2", 2, 0, 10, "'External id':1")
                 CALL(1, 1, 1, 7, "") CALL(2, 1, 1, 8, ",'External id':1"));
    assert_int_equal(small_number(c->link[2]), -1);
    assert_int_equal(small_number(c->link[3]), -1);
}

TEST_WITH(launches_without_work_are_counted_where_there_is_work, NULL, end)
{
    load(CALL(1, 10, 5, 1, "") CALL(1, 20, 5, 2, "") KERNEL("k", 30, 5, 1));
    assert_int_equal(count_of(OSC_FINDING_no_work), 1);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_no_work].first_ns, 20000);
    (void)end(NULL);
    load(CALL(1, 10, 5, 1, ""));
    assert_int_equal(count_of(OSC_FINDING_no_work), 0);
}

TEST_WITH(only_children_of_the_same_name_are_merged, NULL, end)
{
    const struct osc_facts *f;

    (void)load(OP("mm", 1, 0, 30, "") OP("mm", 1, 1, 28, "") OP("mm", 1, 2, 20, "")
                   OP("add", 1, 3, 1, "") OP("add", 1, 5, 1, ""));
    f = osc_trace_facts(&trace);
    /* One thread, in order: a node is its row and one. */
    assert_int_equal(f->tree.flags[0] & OSC_NODE_MUTE, OSC_NODE_MUTE);
    assert_int_equal(f->tree.flags[1] & OSC_NODE_MERGED, OSC_NODE_MERGED);
    assert_int_equal(f->tree.flags[2] & OSC_NODE_MERGED, OSC_NODE_MERGED);
    assert_int_equal(f->tree.parent[2], 1);
    assert_int_equal(f->tree.parent[3], 1);
    assert_int_equal(osc_optree_owner(&f->tree, 1), 0);
    assert_int_equal(osc_optree_owner(&f->tree, 2), 0);
    assert_int_equal(osc_optree_owner(&f->tree, 3), 1);
    assert_int_equal(osc_optree_owner(&f->tree, 5), 5);
}

TEST_WITH(backward_operators_find_their_forward_ones, NULL, end)
{
    const struct osc_chunk *const c = load(
        OP("mm", 1, 0, 9, "'Sequence number':5,'Fwd thread id':0")
            OP("add", 1, 10, 9, "'Sequence number':6,'Fwd thread id':0")
                OP("MmBackward0", 2, 50, 9, "'Sequence number':5,'Fwd thread id':1")
                    OP("AddBackward0", 2, 30, 9,
                       "'Sequence number':6,'Fwd thread id':1") "{'ph':'f','cat':'fwdbwd','"
                                                                "name':'fwdbwd','id':1,'pid':1,"
                                                                "'tid':2,'ts':50,'bp':'e'},"
                                                                "{'ph':'s','cat':'fwdbwd','"
                                                                "name':'fwdbwd','id':1,'pid':1,"
                                                                "'tid':1,'ts':0},");
    assert_int_equal(small_number(c->link[2]), 0); /* by the arrow */
    assert_int_equal(small_number(c->link[3]), 1); /* by the numbers */
    assert_int_equal(small_number(c->link[0]), -1);
}

#define ARROW(ph, id, tid, ts)                                                       \
    "{'ph':'" ph "','cat':'fwdbwd','name':'fwdbwd','id':" #id ",'pid':1,'tid':" #tid \
    ",'ts':" #ts "},"

TEST_WITH(of_several_arrows_the_first_counts, NULL, end)
{
    const struct osc_chunk *const c =
        load(OP("mm", 1, 0, 9, "") OP("mm", 1, 20, 9, "") OP("MmBackward0", 2, 50, 9, "")
                 OP("ProfilerStep#4", 1, 60, 9, "'Sequence number':1") OP("mm", 1, 60, 5, "")
                     ARROW("s", 1, 1, 20) ARROW("s", 1, 1, 0) ARROW("f", 1, 2, 50)
                         ARROW("s", 2, 1, 0) ARROW("f", 2, 2, 50) ARROW("s", 3, 1, 0)
                             ARROW("f", 3, 1, 60));
    assert_int_equal(small_number(c->link[2]), 1);
    assert_int_equal(small_number(c->link[3]), -1); /* a step is no operator */
    assert_int_equal(small_number(c->link[4]), 0);
}

#define PROCESS(pid, name) \
    "{'ph':'M','name':'process_name','pid':" #pid ",'args':{'name':'" name "'}},"
#define X(pid, tid, name, ts, dur, args)                                                 \
    "{'ph':'X','pid':" #pid ",'tid':" #tid ",'name':'" name "','ts':" #ts ",'dur':" #dur \
    ",'args':{" args "}},"
#define LEADS(ph, category, id, pid, tid, ts)                                              \
    "{'ph':'" ph "','cat':'" category "','id':" #id ",'bp':'e','pid':" #pid ",'tid':" #tid \
    ",'ts':" #ts ",'name':'a'},"

/* The call on another thread, and the operator that queued it, lead to the work by arrows. */
TEST_WITH(arrows_lead_from_operators_and_calls_to_work, NULL, end)
{
    const struct osc_chunk *const c = load(
        PROCESS(11, "Ascend Hardware") PROCESS(3, "CANN") OP("aten::mm", 1, 10, 5, "")
            X(3, 7, "AscendCL@aclnnMm", 20, 9, "") X(3, 7, "Node@launch", 21, 4, "")
                X(11, 4, "mm", 30, 5, "") X(11, 4, "lost", 40, 5, "")
                    LEADS("s", "async_npu", 1, 1, 1, 10) LEADS("f", "async_npu", 1, 11, 4, 30)
                        LEADS("s", "HostToDevice", 1, 3, 7, 22)
                            LEADS("f", "HostToDevice", 1, 11, 4, 30)
                                LEADS("s", "async_npu", 2, 1, 1, 10)
                                    LEADS("f", "async_npu", 2, 11, 4, 40));
    const struct osc_links *const links = &osc_trace_facts(&trace)->links;

    assert_int_equal(small_number(c->link[3]), 2); /* the innermost call */
    assert_int_equal(small_number(c->link[2]), 0); /* whose operator is on another thread */
    assert_int_equal(small_number(c->link[4]), 0); /* no call: the operator itself */
    assert_int_equal(links->n_calls, 3);
    assert_true(links->calls[links->works[0].call - 1].is_elsewhere);
    assert_true(links->calls[links->works[0].call - 1].node != 0);
    assert_int_equal(links->calls[links->works[0].call - 1].node,
                     links->calls[links->works[1].call - 1].node);
}

TEST_WITH(ids_of_other_spellings_link_calls_and_work, NULL, end)
{
    const struct osc_chunk *const c =
        load(PROCESS(7, "/host:CPU") PROCESS(
            11, "/device:GPU:0") "{'ph':'M','name':'thread_name','pid':11,'tid':14,'args':{'"
                                 "name':'Stream #14'}}," X(7, 1, "cuLaunchKernel", 1, 1,
                                                           "'correlation_id':'5'")
                                     X(11, 14, "fusion", 5, 2, "'correlation_id':'5'"));

    assert_int_equal(small_number(c->link[1]), 0);
}

UNIT_MAIN("links")
