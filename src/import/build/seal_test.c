/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/seal.h"

#include "base/mem.h"
#include "support/unit.h"
#include "support/unsealed.h"

#define NAMED(event, pid, tid, key, text)                                                      \
    "{'ph':'M','name':'" event "','pid':" #pid ",'tid':" #tid ",'args':{'" key "':'" text "'}" \
    "}"
#define RANGE(cat, name, pid, tid, ts, args)                                              \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':" #pid ",'tid':" #tid ",'ts':" #ts \
    ",'dur':1,'args':{" args "}}"

static struct osc_trace seal(const char *text)
{
    struct osc_trace t = {0};

    assert_int_equal(unsealed_read(&t, text), OSC_OK);
    assert_int_equal(osc_trace_seal(&t, osc_readers[0], 1, NULL), OSC_OK);
    return t;
}

/* The track of process PID and thread TID. */
static const struct osc_track *track(const struct osc_trace *t, const char *pid,
                                     const char *tid)
{
    for (uint32_t i = 1; i < t->n_tracks; i++)
        if (osc_str_eq(osc_trace_str(t, t->tracks[i].pid), osc_str_c(pid)) &&
            osc_str_eq(osc_trace_str(t, t->tracks[i].tid), osc_str_c(tid)))
            return &t->tracks[i];
    fail_msg("there is no track %s, %s", pid, tid);
    return NULL;
}

static void assert_text(const struct osc_trace *t, osc_sid id, const char *expected)
{
    const struct osc_str s = osc_trace_str(t, id);

    assert_int_equal(s.len, strlen(expected));
    assert_memory_equal(s.s, expected, s.len);
}

TEST(names_threads_and_processes_by_the_last_record)
{
    struct osc_trace t = seal(
        "[" NAMED("thread_name", 1, 2, "name", "first") "," RANGE("cpu_op", "a", 1, 2, 1, "") "," NAMED(
            "process_name",
            1, 0, "name",
            "python") "," NAMED("process_labels", 1, 0, "labels",
                                "CPU") "," NAMED("thread_name", 1, 2, "name",
                                                 "last") "," NAMED("thread_name", 1, 3, "names",
                                                                   "of another key") "," NAMED("thread_sort",
                                                                                               1,
                                                                                               3,
                                                                                               "name",
                                                                                               "of another record") ","
                                                                                                                    "{'ph':'M','name':'thread_name','pid':1,'tid':3,'args':{'name':7}},"
                                                                                                                    "{'ph':'M','pid':1,'tid':3,'args':{'name':'nameless'}}]");
    const struct osc_track *named = track(&t, "1", "2");

    assert_text(&t, named->name, "last");
    assert_int_equal(track(&t, "1", "3")->name.v, 0);
    assert_int_equal(t.n_processes, 1);
    assert_text(&t, t.processes[0].pid, "1");
    assert_text(&t, t.processes[0].name, "python");
    assert_text(&t, t.processes[0].labels, "CPU");
    osc_trace_fini(&t);
}

TEST(counts_tracks_in_order_of_their_first_event)
{
    struct osc_trace t = seal("[" NAMED("thread_name", 1, 9, "name", "silent") "," RANGE(
        "cpu_op", "a", 1, 5, 9, "") "," RANGE("cpu_op", "b", 2, 1, 1,
                                              "") "," RANGE("cpu_op", "c", 1, 5, 2, "") "]");
    const struct osc_track *first = track(&t, "1", "5"), *second = track(&t, "2", "1");

    assert_int_equal(first->n_events, 2);
    assert_int_equal(first->order, 0);
    assert_int_equal(osc_row_number(&t.events, first->first_event), 0);
    assert_int_equal(second->n_events, 1);
    assert_int_equal(second->order, 1);
    assert_int_equal(osc_row_number(&t.events, second->first_event), 1);
    assert_int_equal(track(&t, "1", "9")->n_events, 0);
    assert_int_equal(t.n_processes, 2);
    assert_true(first->process != second->process);
    assert_int_equal(first->process, track(&t, "1", "9")->process);
    assert_int_equal(t.min_ts_ns, 1000);
    assert_int_equal(t.origin_ns, 1000);
    assert_int_equal(t.max_end_ns, 10000);
    osc_trace_fini(&t);
}

TEST(names_devices_by_argument_or_process_and_by_their_runtime)
{
    static const struct {
        const char *text, *device;
    } cases[] = {
        {"[" RANGE("kernel", "k", 0, 7, 1, "'device':3") "]", "cuda:3"},
        {"[" RANGE("kernel", "k", 5, 7, 1, "'correlation':1") "]", "cuda:5"},
        {"{'schemaVersion':1,'traceEvents':["
         "{'ph':'X','cat':'kernel','pid':'GPU','tid':7,'ts':1,'dur':1}]}",
         "cuda"},
        {"[" RANGE("xpu_runtime", "r", 1, 1, 1, "") "," RANGE("kernel", "k", 0, 7, 1,
                                                              "'device':1") "]",
         "xpu:1"},
        {"[" RANGE("privateuse1_runtime", "r", 1, 1, 1, "") "," RANGE("gpu_memcpy", "k", 0, 7,
                                                                      1, "'device':0") "]",
         "privateuse1:0"},
        {"[" RANGE("privateuse1_runtime", "aclrtMalloc", 1, 1, 1,
                   "") "," RANGE("gpu_memcpy", "k", 0, 7, 1, "'device':0") "]",
         "npu:0"},
        /* Kineto has the categories of CUDA for ROCm, too. */
        {"[" RANGE("cuda_runtime", "hipLaunchKernel", 1, 1, 1,
                   "") "," RANGE("kernel", "k", 0, 7, 1, "'device':2") "]",
         "hip:2"},
        {"[" RANGE("Runtime", "r", 1, 1, 1, "") "," RANGE(
             "cuda_driver", "cuLaunchKernel", 1, 1, 1,
             "") "," RANGE("cuda_runtime", "hipLaunchKernel", 1, 1, 1,
                           "") "," RANGE("kernel", "k", 0, 7, 1, "'device':2") "]",
         "cuda:2"},
        {"[" RANGE("cpu_op", "hipLaunchKernel", 1, 1, 1, "") "," RANGE("kernel", "k", 0, 7, 1,
                                                                       "'device':2") "]",
         "cuda:2"},
        {"[{'ph':'i','name':'[memory]','pid':1,'tid':1,'ts':1,'args':{'Bytes':1,"
         "'Device Type':6,'Device Id':0}}," RANGE("kernel", "k", 0, 7, 1, "'device':0") "]",
         "hip:0"},
        {"{'hip_runtime_version':60,'traceEvents':[" RANGE("kernel", "k", 0, 7, 1,
                                                           "'device':0") "]}",
         "hip:0"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_trace t = seal(cases[i].text);
        const struct osc_track *queue = &t.tracks[1];

        for (uint32_t k = 1; k < t.n_tracks; k++)
            queue = t.tracks[k].is_queue ? &t.tracks[k] : queue;
        assert_true(queue->is_queue);
        assert_text(&t, queue->device, cases[i].device);
        osc_trace_fini(&t);
    }
}

/* Neither is there a number to match a device of the list by. */
TEST(takes_no_family_from_a_name_without_a_number)
{
    struct osc_trace t = seal("{'deviceProperties':[{'id':0}],'traceEvents':[" RANGE(
        "kernel", "k", 0, 7, 1, "'device':'My GPU'") "]}");

    assert_int_equal(t.n_devices, 1);
    assert_text(&t, t.devices[0].family, "cuda");
    osc_trace_fini(&t);
}

TEST(takes_the_base_of_times_from_the_file)
{
    struct osc_trace with = seal("{'baseTimeNanoseconds':1712195495000000001,"
                                 "'traceEvents':[" RANGE("cpu_op", "a", 1, 1, 1, "") "]}");
    struct osc_trace wrong = seal("{'baseTimeNanoseconds':1.5,'traceEvents':[]}");

    assert_int_equal(with.base_ns, 1712195495000000001);
    assert_int_equal(with.min_ts_ns, 1000);
    assert_int_equal(wrong.base_ns, 0);
    assert_int_equal(wrong.min_ts_ns, 0);
    assert_int_equal(wrong.max_end_ns, 0);
    osc_trace_fini(&with);
    osc_trace_fini(&wrong);
}

TEST(counts_devices_that_the_file_says_are_absent_or_were_not_asked_for)
{
    struct osc_trace t = seal("{'device_absent.CUDA':'no driver','device_absent':1,"
                              "'device_unasked.HPU':'ask for it',"
                              "'device_absent.XPU':'no package','traceEvents':[]}");

    assert_int_equal(t.findings.by_code[OSC_FINDING_device_absent].count, 2);
    assert_int_equal(t.findings.by_code[OSC_FINDING_device_unasked].count, 1);
    osc_trace_fini(&t);
}

TEST(says_of_a_file_that_it_has_names_and_times_alone)
{
    struct osc_trace with = seal("{'names_alone':'no C++ compiler','traceEvents':[]}");
    struct osc_trace without = seal("{'traceEvents':[]}");

    assert_int_equal(with.findings.by_code[OSC_FINDING_names_alone].count, 1);
    assert_int_equal(without.findings.by_code[OSC_FINDING_names_alone].count, 0);
    osc_trace_fini(&with);
    osc_trace_fini(&without);
}

TEST(counts_names_that_are_broken_or_lost)
{
    struct osc_trace t = seal("[" RANGE("cpu_op", "\xff", 1, 1, 4, "") "," RANGE(
        "cpu_op", "\xff", 1, 1, 5,
        "") "," RANGE("cpu_op", "unknown", 1, 1, 6,
                      "") "," RANGE("kernel", "unknown", 0, 7, 7,
                                    "") "," RANGE("user_annotation", "unknown", 1, 1, 8,
                                                  "") "," RANGE("cpu_op", "ok", 1, 1, 9,
                                                                "'s':'\xfe'") "]");
    const struct osc_finding *found = t.findings.by_code;

    assert_int_equal(found[OSC_FINDING_not_utf8].count, 2); /* per event; only in names */
    assert_int_equal(found[OSC_FINDING_not_utf8].first_ns, 4000);
    assert_int_equal(found[OSC_FINDING_lost_name].count, 2); /* a kernel may have that name */
    assert_int_equal(found[OSC_FINDING_lost_name].first_ns, 6000);
    osc_trace_fini(&t);
}

TEST(pairs_before_it_measures)
{
    struct osc_trace t = seal("[{'ph':'B','pid':1,'tid':1,'ts':1},"
                              "{'ph':'E','pid':1,'tid':1,'ts':9}]");

    assert_int_equal(t.events.chunks[1]->dur_ns[0], 8000);
    assert_int_equal(t.max_end_ns, 9000);
    assert_int_equal(t.events.chunks[1]->kind[0], OSC_KIND_SCOPE);
    osc_trace_fini(&t);
}

static osc_status seal_alone(struct osc_trace *t)
{
    return osc_trace_seal(t, osc_readers[0], 1, NULL);
}

TEST(survives_any_failed_allocation)
{
    unsealed_survives("[{'ph':'B','pid':1,'tid':1,'ts':1},"
                      "{'ph':'E','pid':1,'tid':1,'ts':9,'args':{'x':1}}," NAMED(
                          "process_name", 1, 0, "name",
                          "python") "," RANGE("kernel", "k", 0, 7, 1, "'device':3") "]",
                      seal_alone);
}

UNIT_MAIN("seal")
