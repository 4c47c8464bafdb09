/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/line_roles.h"

#include <ctype.h>
#include <string.h>

#include "codec/json.h"

/* --- words ------------------------------------------------------------------------------- */

static struct osc_str from(struct osc_str s, uint32_t at)
{
    return at < s.len ? (struct osc_str){s.s + at, s.len - at} : OSC_STR("");
}

/* The text behind the first PART of S; empty if S does not have it. */
static struct osc_str behind(struct osc_str s, const char *part)
{
    const size_t n = strlen(part);
    const char *const at = s.len > 0 ? memmem(s.s, s.len, part, n) : NULL;

    return at ? from(s, (uint32_t)(at - s.s) + (uint32_t)n) : OSC_STR("");
}

/* What PROCESS says before DEVICE, its end: "host1 " of "host1 /device:TPU:0". */
static struct osc_str host_before(struct osc_str process, struct osc_str device)
{
    struct osc_str host = {process.s, process.len - device.len};

    if (osc_str_ends(host, OSC_STR("device:")))
        host.len -= 7;
    if (osc_str_ends(host, OSC_STR("/")))
        host.len--;
    return host;
}

/* The number at the start of S; OSC_LINE_NO_INDEX: none. */
static int64_t number_at(struct osc_str s)
{
    uint32_t n = 0;
    int64_t number;

    while (n < s.len && isdigit((unsigned char)s.s[n]))
        n++;
    return n > 0 && osc_json_int((struct osc_str){s.s, n}, &number) ? number
                                                                    : OSC_LINE_NO_INDEX;
}

bool osc_line_is_one_of(struct osc_str s, const char *const *list)
{
    for (; *list; list++) {
        if (osc_str_eq(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

/* Read "GPU:0" at the start of S, in whatever case. False: no device that computes. */
static bool read_device(struct osc_str s, struct osc_line *l)
{
    static const char *const sorts[] = {"gpu", "tpu", "xpu", "npu", "hpu", "ipu"};

    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        const uint32_t n = (uint32_t)strlen(sorts[i]);

        if (s.len > n && s.s[n] == ':' &&
            osc_str_eq_case((struct osc_str){s.s, n}, osc_str_c(sorts[i]))) {
            l->sort = sorts[i];
            l->index = number_at(from(s, n + 1));
            return true;
        }
    }
    return false;
}

/* --- dialects ---------------------------------------------------------------------------- */

/* Process "CPU functions"; process "CUDA functions", whose threads are devices. */
static struct osc_line line_of_legacy(struct osc_str pid, struct osc_str tid)
{
    if (osc_str_eq(pid, OSC_STR("CPU functions")))
        return (struct osc_line){.role = OSC_LINE_OPERATORS};
    if (osc_str_eq(pid, OSC_STR("CUDA functions")))
        return (struct osc_line){
            .role = OSC_LINE_WORK, .sort = "cuda", .index = number_at(tid)};
    return (struct osc_line){.role = OSC_LINE_HOST};
}

/* Processes "/device:GPU:0" and "/host:CPU". */
static struct osc_line line_of_xla(struct osc_str process, struct osc_str name)
{
    static const char *const work[] = {"XLA Ops", "Sparse Core Ops", NULL};
    static const char *const transfers[] = {"Async XLA Ops", "Host Offload Ops", NULL};
    const struct osc_str device = behind(process, "/device:");
    struct osc_line l = {.role = OSC_LINE_HOST};

    if (!read_device(device, &l))
        return l;
    l.host = host_before(process, device);
    if (osc_str_starts(name, OSC_STR("Stream #")) || osc_line_is_one_of(name, work))
        l.role = OSC_LINE_WORK;
    else if (osc_line_is_one_of(name, transfers))
        l.role = OSC_LINE_TRANSFERS;
    else
        l.role = osc_str_eq(name, OSC_STR("Steps")) ? OSC_LINE_STEPS : OSC_LINE_MARKS;
    return l;
}

bool osc_line_is_tensorflow(struct osc_str process)
{
    return osc_str_starts(process, OSC_STR("/")) && osc_str_has(process, OSC_STR(":")) &&
           (osc_str_ends(process, OSC_STR(" Compute")) ||
            osc_str_ends(process, OSC_STR("/memcpy")) ||
            osc_str_has(process, OSC_STR("/stream:")) ||
            osc_str_has(process, OSC_STR(" (stream:")));
}

/*
 * Processes "/device:GPU:0/stream:13 Compute", of TensorFlow 1 "/gpu:0 (stream:all) Compute";
 * the last word may be missing. What has a device and no stream is the thread that runs its
 * operators.
 */
static struct osc_line line_of_tensorflow(struct osc_str process)
{
    struct osc_line l = {.role = OSC_LINE_OPERATORS}, device = {0};
    struct osc_str at = behind(process, "device:");

    if (!osc_line_is_tensorflow(process) && !osc_str_eq(process, OSC_STR("/host:CPU")))
        return (struct osc_line){.role = OSC_LINE_HOST};
    for (uint32_t i = 0; at.len == 0 && i < process.len; i++) {
        if (process.s[i] == '/' && read_device(from(process, i + 1), &device))
            at = from(process, i + 1);
    }
    if (at.len == 0 || !read_device(at, &device))
        return l;
    device.host = host_before(process, at);
    const struct osc_str stream = behind(at, "stream:");
    if (stream.len > 0)
        device.role = number_at(stream) == OSC_LINE_NO_INDEX ? OSC_LINE_SUMMARY : OSC_LINE_WORK;
    else if (osc_str_has(at, OSC_STR("memcpy")))
        device.role = OSC_LINE_SUMMARY;
    else
        return l;
    return device;
}

/* The processes in which Ascend's tools draw work. Where the first has it, the others repeat
 * it: tasks of streams, tasks as the scheduler had them, operators. */
static const char *const ascend_work[][4] = {
    {"Ascend Hardware", NULL},
    {"Task Scheduler", NULL},
    {"AI Core", "AI CPU", "AICPU", NULL},
    {"AI Core Op", "AI CPU Op", NULL},
};

int osc_line_ascend_rank(struct osc_str process)
{
    for (size_t i = 0; i < sizeof ascend_work / sizeof *ascend_work; i++) {
        if (osc_line_is_one_of(process, ascend_work[i]))
            return (int)i;
    }
    return -1;
}

static struct osc_line line_of_ascend(struct osc_str process, struct osc_str labels,
                                      struct osc_str name)
{
    static const char *const calls[] = {"CANN", "AscendCL", NULL};
    struct osc_line l = {.role = OSC_LINE_HOST};

    if (osc_line_is_one_of(process, calls))
        l.role = OSC_LINE_CALLS;
    if (osc_str_eq(process, OSC_STR("Overlap Analysis")))
        l.role = OSC_LINE_SUMMARY;
    if (osc_line_ascend_rank(process) >= 0)
        l.role = osc_str_starts(name, OSC_STR("Step Trace")) ? OSC_LINE_STEPS : OSC_LINE_WORK;
    else if (osc_str_starts(process, OSC_STR("HCCL")) ||
             osc_str_starts(process, OSC_STR("Communication")))
        l.role = osc_str_starts(name, OSC_STR("Plane")) ? OSC_LINE_MARKS : OSC_LINE_WORK;
    if (l.role == OSC_LINE_WORK || l.role == OSC_LINE_MARKS || l.role == OSC_LINE_STEPS) {
        l.sort = "npu";
        l.index = number_at(behind(labels, "NPU "));
    }
    return l;
}

bool osc_line_is_stream_run(struct osc_str name)
{
    const struct osc_str which = behind(name, "_parallel_");

    return osc_str_starts(name, OSC_STR("stream_")) &&
           number_at(from(name, 7)) != OSC_LINE_NO_INDEX &&
           number_at(which) != OSC_LINE_NO_INDEX;
}

static struct osc_line line_of_rocprof(struct osc_str process)
{
    uint32_t n = 0;

    while (n < process.len && (isdigit((unsigned char)process.s[n]) || process.s[n] == ' '))
        n++;
    process = from(process, n);
    if (osc_str_starts(process, OSC_STR("GPU Barriers")))
        return (struct osc_line){
            .role = OSC_LINE_BARRIERS, .sort = "hip", .index = number_at(from(process, 12))};
    if (osc_str_starts(process, OSC_STR("GPU")) &&
        number_at(from(process, 3)) != OSC_LINE_NO_INDEX)
        return (struct osc_line){
            .role = OSC_LINE_WORK, .sort = "hip", .index = number_at(from(process, 3))};
    if (osc_str_eq(process, OSC_STR("COPY")))
        return (struct osc_line){
            .role = OSC_LINE_COPIES, .sort = "hip", .index = OSC_LINE_NO_INDEX};
    if (osc_str_eq(process, OSC_STR("Markers and Ranges")))
        return (struct osc_line){.role = OSC_LINE_LABELS};
    return (struct osc_line){.role = osc_str_ends(process, OSC_STR(" API")) ? OSC_LINE_CALLS
                                                                            : OSC_LINE_HOST};
}

/* Processes "Device 0" with streams, and "Host". */
static struct osc_line line_of_nsys(struct osc_str pid)
{
    if (!osc_str_starts(pid, OSC_STR("Device ")))
        return (struct osc_line){.role = OSC_LINE_HOST};
    return (struct osc_line){
        .role = OSC_LINE_WORK, .sort = "cuda", .index = number_at(from(pid, 7))};
}

/* Processes "Process 100 (CPU)" and "Deivce 0 (GPU)". */
static struct osc_line line_of_paddle(struct osc_str process, struct osc_str pid)
{
    if (!osc_str_ends(process, OSC_STR("(GPU)")))
        return (struct osc_line){.role = OSC_LINE_HOST};
    return (struct osc_line){.role = OSC_LINE_WORK, .sort = "gpu", .index = number_at(pid)};
}

/* PROCESS without "RANK 3 ". */
static struct osc_str without_rank(struct osc_str process)
{
    uint32_t n = 5;

    if (!osc_str_starts(process, OSC_STR("RANK ")))
        return process;
    while (n < process.len && isdigit((unsigned char)process.s[n]))
        n++;
    return n > 5 && n < process.len && process.s[n] == ' ' ? from(process, n + 1) : process;
}

bool osc_line_is_unitrace(struct osc_str process)
{
    process = without_rank(process);
    return (osc_str_starts(process, OSC_STR("HOST<")) && osc_str_ends(process, OSC_STR(">"))) ||
           (osc_str_starts(process, OSC_STR("DEVICE<")) && osc_str_has(process, OSC_STR(">")));
}

/* Processes "DEVICE<node>0:29:0:0 #1", of tiles "#1.0", and "HOST<node>". OpenCL's devices have
 * no number. */
static struct osc_line line_of_unitrace(struct osc_str process)
{
    process = without_rank(process);
    if (!osc_str_starts(process, OSC_STR("DEVICE<")))
        return (struct osc_line){.role = OSC_LINE_HOST};
    const struct osc_str place = behind(process, ">");
    return (struct osc_line){.role = OSC_LINE_WORK,
                             .sort = "xpu",
                             .index = number_at(behind(place, "#")),
                             .host = {process.s, process.len - place.len}};
}

/*
 * Proton does not say of which device its kernels are. Its newer traces have lines of scopes,
 * too: those of threads, and those of graphs over the kernels of a stream.
 */
static struct osc_line line_of_proton(struct osc_str name)
{
    if (osc_str_starts(name, OSC_STR("CPU Thread ")))
        return (struct osc_line){.role = OSC_LINE_HOST};
    if (osc_str_starts(name, OSC_STR("Graph: ")))
        return (struct osc_line){
            .role = OSC_LINE_MARKS, .sort = "gpu", .index = OSC_LINE_NO_INDEX};
    return (struct osc_line){.role = OSC_LINE_WORK, .sort = "gpu", .index = OSC_LINE_NO_INDEX};
}

/* Threads of compilers and builds that repeat the time of others: clang's sums (see
 * look_at_rows), and Bazel's critical path. */
static struct osc_line line_of_plain(const struct osc_trace *t, struct osc_str name)
{
    const bool is_summary =
        t->producer == OSC_PRODUCER_CLANG ||
        (t->producer == OSC_PRODUCER_BAZEL && osc_str_eq(name, OSC_STR("Critical Path")));

    return (struct osc_line){.role = is_summary ? OSC_LINE_SUMMARY : OSC_LINE_HOST};
}

struct osc_line osc_line_of(const struct osc_trace *t, enum osc_dialect dialect,
                            const struct osc_track *track)
{
    const struct osc_process *const p = &t->processes[track->process];
    const struct osc_str process = osc_trace_str(t, p->name),
                         pid = osc_trace_str(t, track->pid),
                         name = osc_trace_str(t, track->name);

    switch (dialect) {
    case OSC_DIALECT_LEGACY:
        return line_of_legacy(pid, osc_trace_str(t, track->tid));
    case OSC_DIALECT_XLA:
        return line_of_xla(process, name);
    case OSC_DIALECT_TENSORFLOW:
        return line_of_tensorflow(process);
    case OSC_DIALECT_ASCEND:
        return line_of_ascend(process, osc_trace_str(t, p->labels), name);
    case OSC_DIALECT_ROCPROF:
        return line_of_rocprof(process);
    case OSC_DIALECT_NSYS:
        return line_of_nsys(pid);
    case OSC_DIALECT_PADDLE:
        return line_of_paddle(process, pid);
    case OSC_DIALECT_UNITRACE:
        return line_of_unitrace(process);
    case OSC_DIALECT_PROTON:
        return line_of_proton(name);
    case OSC_DIALECT_PLAIN:
        return line_of_plain(t, name);
    case OSC_DIALECT_MINDSPORE: /* its rows tell */
    case OSC_DIALECT_KINETO:
    case OSC_DIALECT_RECORDS:
        break;
    }
    return (struct osc_line){.role = OSC_LINE_HOST};
}
