/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/detect_producer.h"

#include <string.h>

#include "import/chrome/line_roles.h"

static bool has_member(const struct osc_trace *t, const char *key)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value);
}

static bool has_string(const struct osc_trace *t, const char *text)
{
    return osc_strings_find(&t->strings, osc_str_c(text)).v != 0;
}

/*
 * Whether an event of T has CATEGORY, in whatever case. Events outside of the times to read
 * leave their strings, but neither row nor form.
 */
static bool has_category(const struct osc_trace *t, const char *category)
{
    if (t->is_windowed && has_string(t, category))
        return true;
    for (uint32_t i = 1; i < t->n_forms; i++) {
        const struct osc_form *const f = &t->forms[i];

        if (f->shape != OSC_SHAPE_ABOUT && f->category.v != 0 &&
            osc_str_eq_case(osc_trace_str(t, f->category), osc_str_c(category)))
            return true;
    }
    return false;
}

static bool has_any_category(const struct osc_trace *t, const char *const *categories)
{
    for (; *categories; categories++) {
        if (has_category(t, *categories))
            return true;
    }
    return false;
}

/* How many of CATEGORIES, which others use, too, events of T have. */
static unsigned n_categories(const struct osc_trace *t, const char *const *categories)
{
    unsigned n = 0;

    for (; *categories; categories++)
        n += has_category(t, *categories);
    return n;
}

static bool is_any(struct osc_str text, const char *const *texts)
{
    for (; *texts; texts++) {
        if (osc_str_eq(text, osc_str_c(*texts)))
            return true;
    }
    return false;
}

/* Whether an event of T has an argument with one of KEYS. */
static bool has_any_arg(const struct osc_trace *t, const char *const *keys)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        for (uint32_t k = 0; k < t->forms[i].n_slots; k++) {
            if (is_any(osc_trace_str(t, t->forms[i].slots[k].key), keys))
                return true;
        }
    }
    return false;
}

static bool has_any_string(const struct osc_trace *t, const char *const *texts)
{
    for (; *texts; texts++) {
        if (has_string(t, *texts))
            return true;
    }
    return false;
}

/* Whether any string of T begins with PREFIX and, unless IS_ONE is NULL, is one of those. */
static bool has_such(const struct osc_trace *t, const char *prefix,
                     bool (*is_one)(struct osc_str text))
{
    const struct osc_str start = osc_str_c(prefix);

    for (uint32_t i = 1; i < osc_strings_bound(&t->strings); i++) {
        const osc_sid id = {i};

        if (osc_strings_has(&t->strings, id) && osc_str_starts(osc_trace_str(t, id), start) &&
            (!is_one || is_one(osc_trace_str(t, id))))
            return true;
    }
    return false;
}

static bool has_prefix(const struct osc_trace *t, const char *prefix)
{
    return has_such(t, prefix, NULL);
}

/* Whether the name of a process of T begins with START and ends with END. */
static bool has_process(const struct osc_trace *t, const char *start, const char *end)
{
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct osc_str name = osc_trace_str(t, t->processes[i].name);

        if (name.len > 0 && osc_str_starts(name, osc_str_c(start)) &&
            osc_str_ends(name, osc_str_c(end)))
            return true;
    }
    return false;
}

static bool has_process_called(const struct osc_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_processes; i++) {
        if (osc_str_eq(osc_trace_str(t, t->processes[i].name), osc_str_c(name)))
            return true;
    }
    return false;
}

static bool has_tensorflow_process(const struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_processes; i++) {
        if (osc_line_is_tensorflow(osc_trace_str(t, t->processes[i].name)))
            return true;
    }
    return false;
}

static bool has_process_id(const struct osc_trace *t, const char *start)
{
    if (t->is_windowed && has_prefix(t, start))
        return true;
    for (uint32_t i = 0; i < t->n_processes; i++) {
        if (osc_str_starts(osc_trace_str(t, t->processes[i].pid), osc_str_c(start)))
            return true;
    }
    return false;
}

/* Whether a thread of T has an id or a name that begins with START. */
static bool has_thread(const struct osc_trace *t, const char *start)
{
    const struct osc_str prefix = osc_str_c(start);

    for (uint32_t i = 1; i < t->n_tracks; i++) {
        if (osc_str_starts(osc_trace_str(t, t->tracks[i].tid), prefix) ||
            osc_str_starts(osc_trace_str(t, t->tracks[i].name), prefix))
            return true;
    }
    return false;
}

/* --- one rule for each producer ---------------------------------------------------------- */

static bool is_of_kineto(const struct osc_trace *t)
{
    static const char *const categories[] = {"cpu_op",
                                             "user_annotation",
                                             "gpu_user_annotation",
                                             "cuda_runtime",
                                             "cuda_driver",
                                             "gpu_memcpy",
                                             "gpu_memset",
                                             "cuda_sync",
                                             "xpu_runtime",
                                             "xpu_driver",
                                             "python_function",
                                             "cpu_instant_event",
                                             "hpu_op",
                                             "mtia_runtime",
                                             "mtia_ccp_events",
                                             "privateuse1_runtime",
                                             "privateuse1_driver",
                                             "ac2g",
                                             "fwdbwd",
                                             NULL};
    static const char *const old[] = {"operator", "runtime", "kernel",
                                      "memcpy",   "memset",  NULL};
    static const char *const keys[] = {"External id", "external id", "Fwd thread id",
                                       "Python id",   "device",      "correlation",
                                       NULL};

    return has_member(t, "deviceProperties") || has_member(t, "distributedInfo") ||
           has_string(t, "PyTorch Profiler (0)") || has_any_category(t, categories) ||
           ((has_member(t, "schemaVersion") || has_string(t, "PyTorch Profiler") ||
             has_any_arg(t, keys)) &&
            has_any_category(t, old));
}

static bool is_of_ascend(const struct osc_trace *t)
{
    static const char *const task[] = {"Task Type", NULL};
    /* The timeline of MindSpore's own profiler. */
    const bool is_mindspore =
        has_process_called(t, "AI Core Op") &&
        (has_process_called(t, "Host CPU Op") || has_process_called(t, "Communication Op") ||
         has_process_called(t, "AI CPU Op") || has_prefix(t, "Default/"));

    return has_process(t, "Ascend Hardware", "") || has_process(t, "Overlap Analysis", "") ||
           has_process_called(t, "CANN") || has_process_called(t, "AscendCL") || is_mindspore ||
           ((has_process_called(t, "Task Scheduler") || has_process(t, "AI Core", "")) &&
            has_any_arg(t, task)) ||
           has_category(t, "HostToDevice") || has_category(t, "async_npu");
}

/* Whether T is the timeline display of MindSpore's older profiler, which names no process and
 * no thread: operators with their full names, and how long each stream ran. */
static bool is_display(const struct osc_trace *t)
{
    static const char *const full_name[] = {"fullname", NULL};

    return (t->is_windowed || has_any_arg(t, full_name)) &&
           has_such(t, "stream_", osc_line_is_stream_run);
}

static enum osc_producer which_ascend(const struct osc_trace *t)
{
    static const char *const torch[] = {"cpu_op", "async_npu", "async_task_queue",
                                        "fwdbwd", "enqueue",   NULL};

    if (has_any_category(t, torch))
        return OSC_PRODUCER_TORCH_NPU;
    return has_process(t, "MindSpore", "") || has_prefix(t, "Default/") ||
                   has_process_called(t, "Host CPU Op")
               ? OSC_PRODUCER_MINDSPORE
               : OSC_PRODUCER_MSPROF;
}

static bool is_of_xla(const struct osc_trace *t)
{
    static const char *const lines[] = {"XLA Ops", "XLA Modules", NULL};

    return ((has_process(t, "/device:", "") || has_process(t, "/host:", "")) &&
            !has_tensorflow_process(t)) ||
           has_any_string(t, lines);
}

/* Who called XLA. Lines with the word TensorFlow are drawn for programs of JAX, too, so its
 * calls come first. */
static enum osc_producer which_xla(const struct osc_trace *t)
{
    static const char *const jax[] = {"PjitFunction", "jax", NULL};
    static const char *const starts[] = {"py_xla", "PjitFunction(", "jit(", "jit_",
                                         "pjit",   "$jax",          NULL};
    static const char *const tensorflow[] = {"TensorFlow Ops",     "TensorFlow Name Scope",
                                             "EagerKernelExecute", "TraceContext",
                                             "FunctionRun",        NULL};

    if (has_any_string(t, jax))
        return OSC_PRODUCER_JAX;
    for (size_t i = 0; starts[i]; i++) {
        if (has_prefix(t, starts[i]))
            return OSC_PRODUCER_JAX;
    }
    if (has_any_string(t, tensorflow))
        return OSC_PRODUCER_TENSORFLOW_XLA;
    return has_prefix(t, "PjRt") ? OSC_PRODUCER_JAX : OSC_PRODUCER_XLA;
}

static bool is_of_triton(const struct osc_trace *t)
{
    /* The second word is Proton's. Keys of arguments that are not kept leave their text. */
    return has_category(t, "triton") || has_string(t, "Post Final Time (ns)") ||
           (has_prefix(t, "Line ") && has_string(t, "start_index") &&
            has_string(t, "end_index"));
}

static bool is_of_proton(const struct osc_trace *t)
{
    return has_category(t, "kernel") && has_string(t, "call_stack");
}

/* Its categories are Kineto's, too, but not the names of its processes. */
static bool is_of_unitrace(const struct osc_trace *t)
{
    static const char *const categories[] = {"cpu_op", "gpu_op", NULL};

    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct osc_str name = osc_trace_str(t, t->processes[i].name);

        if (osc_line_is_unitrace(name))
            return has_any_category(t, categories);
    }
    return false;
}

/* What comes from rocmProfileData: processes "GPU0", and threads that are called by the
 * interface. */
static bool is_of_rpd(const struct osc_trace *t)
{
    static const char *const arrows[] = {"api_op", NULL};

    return has_process(t, "GPU", "") && (has_thread(t, "Hip ") || has_any_category(t, arrows));
}

static bool is_of_nsys(const struct osc_trace *t)
{
    static const char *const categories[] = {"cuda", "cuda_api", NULL};

    return has_process_id(t, "Device ") && has_any_category(t, categories);
}

static bool is_of_ray(const struct osc_trace *t)
{
    static const char *const categories[] = {"task:execute",       "task:deserialize_arguments",
                                             "task:store_outputs", "ray.wait",
                                             "worker_idle",        NULL};

    return has_any_category(t, categories) ||
           (has_process(t, "Node ", "") && has_thread(t, "worker:"));
}

static bool is_of_horovod(const struct osc_trace *t)
{
    static const char *const calls[] = {
        "NEGOTIATE_ALLREDUCE", "NEGOTIATE_ALLGATHER", "NEGOTIATE_BROADCAST",
        "NEGOTIATE_ALLTOALL",  "NEGOTIATE_ADASUM",    "NEGOTIATE_REDUCESCATTER",
        "NEGOTIATE_JOIN",      "NEGOTIATE_BARRIER",   NULL};

    return has_any_string(t, calls);
}

static bool is_of_bazel(const struct osc_trace *t)
{
    struct osc_str other;

    return has_category(t, "build phase marker") ||
           (osc_trace_meta(t, "otherData", &other) && other.len > 0 &&
            memmem(other.s, other.len, "\"build_id\"", 10) != NULL);
}

static bool is_of_clang(const struct osc_trace *t)
{
    static const char *const passes[] = {"Total ExecuteCompiler", "Total Frontend",
                                         "Total Backend", "Total Source", NULL};

    return has_member(t, "beginningOfTime") || has_any_string(t, passes);
}

static bool is_of_perfetto(const struct osc_trace *t)
{
    struct osc_str value;

    if (has_member(t, "trace_processor_stats"))
        return true;
    if (osc_trace_meta(t, "metadata", &value) && value.len > 0 &&
        memmem(value.s, value.len, "perfetto", 8) != NULL)
        return true;
    return osc_trace_meta(t, "controllerTraceDataKey", &value) &&
           osc_str_eq(value, OSC_STR("systraceController"));
}

static bool is_of_chrome(const struct osc_trace *t)
{
    static const char *const alone[] = {"devtools.timeline", "toplevel", NULL};
    static const char *const categories[] = {
        "blink", "cc", "ipc", "benchmark", "netlog", "task", "navigation", "gpu", "viz", NULL};
    static const char *const threads[] = {"CrBrowserMain", "CrRendererMain", "CrGpuMain",
                                          "Chrome_IOThread", NULL};
    struct osc_str value;

    if (osc_trace_meta(t, "metadata", &value) && value.len > 0 &&
        (memmem(value.s, value.len, "DevTools", 8) != NULL ||
         memmem(value.s, value.len, "command_line", 12) != NULL ||
         memmem(value.s, value.len, "clock-domain", 12) != NULL))
        return true;
    return has_any_string(t, threads) || has_prefix(t, "disabled-by-default-") ||
           has_any_category(t, alone) || n_categories(t, categories) >= 2 ||
           (has_member(t, "clientInfo") && n_categories(t, categories) > 0);
}

static bool is_of_v8(const struct osc_trace *t)
{
    static const char *const texts[] = {"V8.ParseScript", "V8.GCScavenger", "V8.Execute",
                                        "node.async_hooks", NULL};
    static const char *const engines[] = {"hermes", "v8", NULL};

    return has_any_string(t, texts) ||
           (has_member(t, "samples") && has_member(t, "stackFrames") &&
            has_any_string(t, engines));
}

/* spall's own words, and a member of its files that is always empty. */
static bool is_of_spall(const struct osc_trace *t)
{
    struct osc_str value;

    return has_category(t, "function") && osc_trace_meta(t, "otherData", &value) &&
           osc_str_eq(value, OSC_STR("{}"));
}

/* What the exporter of a part of a trace, or of a redacted one, wrote; UNKNOWN: nothing. */
static enum osc_producer said(const struct osc_trace *t)
{
    struct osc_str value;

    return osc_trace_meta(t, OSC_PRODUCER_MEMBER, &value) ? osc_producer_said(value)
                                                          : OSC_PRODUCER_UNKNOWN;
}

/* Who wrote T, a Chrome trace that does not say so, by what it has. */
static enum osc_producer guess(const struct osc_trace *t)
{
    if (has_process_id(t, "CPU functions"))
        return OSC_PRODUCER_TORCH_LEGACY;
    if (is_of_ascend(t))
        return which_ascend(t);
    if (is_display(t))
        return OSC_PRODUCER_MINDSPORE_DISPLAY;
    if (has_member(t, "span_indx")) /* sic; the rest is Kineto's */
        return OSC_PRODUCER_PADDLE;
    if (is_of_unitrace(t))
        return OSC_PRODUCER_UNITRACE;
    if (is_of_kineto(t))
        return OSC_PRODUCER_KINETO;
    if (is_of_xla(t))
        return which_xla(t);
    if (has_tensorflow_process(t))
        return OSC_PRODUCER_TENSORFLOW;
    if (has_process(t, "", "CPU HIP API") || has_process(t, "", "CPU HSA API"))
        return OSC_PRODUCER_ROCPROF;
    if (is_of_rpd(t))
        return OSC_PRODUCER_RPD;
    if (is_of_nsys(t))
        return OSC_PRODUCER_NSYS;
    if (has_category(t, "dynamo_timed"))
        return OSC_PRODUCER_TLPARSE;
    if (is_of_triton(t))
        return OSC_PRODUCER_TRITON;
    if (is_of_proton(t))
        return OSC_PRODUCER_PROTON;
    if (has_member(t, "viztracer_metadata"))
        return OSC_PRODUCER_VIZTRACER;
    if (is_of_ray(t))
        return OSC_PRODUCER_RAY;
    if (is_of_horovod(t))
        return OSC_PRODUCER_HOROVOD;
    if (is_of_bazel(t))
        return OSC_PRODUCER_BAZEL;
    if (is_of_clang(t))
        return OSC_PRODUCER_CLANG;
    if (is_of_perfetto(t))
        return OSC_PRODUCER_PERFETTO;
    if (is_of_chrome(t))
        return OSC_PRODUCER_CHROME;
    if (is_of_v8(t))
        return OSC_PRODUCER_V8;
    return is_of_spall(t) ? OSC_PRODUCER_SPALL : OSC_PRODUCER_UNKNOWN;
}

enum osc_producer osc_detect_producer(const struct osc_trace *t)
{
    const enum osc_producer p = said(t);

    if (osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope")) ||
        has_member(t, "opscope_version"))
        return OSC_PRODUCER_OPSCOPE;
    if (!osc_str_eq(osc_trace_str(t, t->format), OSC_STR("chrome")))
        return OSC_PRODUCER_UNKNOWN;
    return p != OSC_PRODUCER_UNKNOWN ? p : guess(t);
}
