/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_words.h"
#include "analysis/advice/idle_gaps.h"
#include "model/known_names.h"

/* A step with at most so many collectives does not send small messages. */
enum { FEW_COLLECTIVES = 4 };

/* Less than 1 / LITTLE of the time in collectives is not worth a word. */
enum { LITTLE = 50 };

static void say_data_loading(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_torch = osc_words_has_trait(n, " torch");

    if (!osc_words_has_device(n)) {
        osc_words_share(out, n);
        osc_strbuf_adds(out, " passes in the data loader while nothing else runs. ");
    } else {
        osc_strbuf_adds(out, "The host waits for the data loader for ");
        osc_words_idle(out, n);
        if (osc_words_has_name(n, n->subject)) {
            osc_strbuf_adds(out, ", in ");
            osc_strbuf_addstr(out, n->subject_shown);
        }
        osc_strbuf_adds(out, ". ");
    }
    if (!is_torch)
        osc_strbuf_adds(out, "Load and prepare data ahead of time, beside the steps.");
    else if (osc_words_has_name(n, n->subject)
                 ? osc_str_has(n->subject, OSC_STR("_MultiProcessingDataLoaderIter"))
                 : osc_words_has_trait(n, " workers"))
        osc_strbuf_adds(out, "Its worker processes are too slow: use more of them "
                             "(num_workers, prefetch_factor) or make them do less.");
    else
        osc_strbuf_addf(out,
                        "Load ahead of time in other processes: DataLoader(..., "
                        "num_workers=N%s).",
                        osc_words_has_device(n) ? ", pin_memory=True"
                                                : ""); /* for copies to devices */
}

static void say_data_parallel(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DataParallel drives ");
    osc_words_count(out, n->more[0], "device");
    osc_strbuf_adds(out, " from one process; for ");
    osc_words_share(out, n);
    osc_strbuf_adds(out, " not all of them run kernels. Use DistributedDataParallel with one "
                         "process per device.");
}

static void say_backend(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DistributedDataParallel runs without NCCL, and communication takes ");
    osc_words_share(out, n);
    osc_strbuf_adds(out, ". Where the devices have it, NCCL (on ROCm RCCL) is the fastest "
                         "backend: torch.distributed.init_process_group('nccl').");
}

/* What is known of the communication of a step. */
struct traffic {
    int64_t each;   /* collectives of a step and device; 0: it is not known */
    bool is_few;    /* so few that they are large already */
    bool is_hidden; /* for the most part */
    bool is_half;   /* values have 16 bits already, for the most part */
};

static struct traffic traffic_of(const struct osc_advice_numbers *n)
{
    const int64_t n_steps = n->more[0] > 0 ? n->more[0] : 1, all_ns = n->more[2];
    struct traffic t = {.each = (n->more[3] + n_steps / 2) / n_steps};

    t.is_few = n->more[3] > 0 && n->more[3] <= FEW_COLLECTIVES * n_steps;
    t.is_hidden = all_ns - n->impact_ns > n->impact_ns;
    t.is_half = n->more[4] > n->impact_ns - n->more[4];
    return t;
}

/* Say what of T shortens communication. */
static void add_less_traffic(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                             const struct traffic *t)
{
    const bool is_torch = osc_words_has_trait(n, " torch");

    if (t->is_few && !t->is_hidden)
        osc_strbuf_adds(out, is_torch ? " Split what is sent, so that the first part starts "
                                        "while the backward pass still runs (smaller buckets: "
                                        "bucket_cap_mb), send less"
                                      : " Split what is sent, so that the first part starts "
                                        "while computation still runs, send less");
    else
        osc_strbuf_adds(out, t->is_hidden ? " Send less"
                                          : " Let it run beside computation, send less");
    osc_strbuf_adds(out, ", or compute more between two calls: ");
    if (!is_torch) {
        osc_strbuf_adds(out, t->is_few ? "larger batches."
                                       : "larger messages less often, or larger batches.");
        return;
    }
    osc_strbuf_adds(out, "in training ");
    osc_strbuf_adds(out, t->is_few ? "" : "larger buckets, ");
    osc_strbuf_adds(out, t->is_half ? "" : "compressed or ");
    osc_strbuf_adds(out, "accumulated gradients or larger batches (the last two change the "
                         "effective batch size); in inference fewer devices a model.");
}

/* Say what of communication is waiting for other ranks. True: so much that less traffic hardly
 * helps. */
static bool add_waiting(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    const int64_t all_ns = n->more[OSC_ADVICE_COLLECTIVES];
    const int64_t waited_ns = n->more[OSC_ADVICE_WAITED];
    const int64_t longest_ns = n->more[OSC_ADVICE_LONGEST];

    if (waited_ns > 0 && waited_ns >= all_ns / LITTLE + (all_ns % LITTLE != 0)) {
        osc_strbuf_adds(out, " Of the time in collectives, ");
        osc_words_percent(out, waited_ns, all_ns, 0);
        osc_strbuf_adds(out, " is waiting for ranks that come late: `opscope table stragglers` "
                             "names them.");
        if (waited_ns <= all_ns - waited_ns)
            return false;
        osc_strbuf_adds(out,
                        " Even out the work of the ranks first; less traffic shortens only "
                        "the rest.");
        return true;
    }
    if (all_ns > 0 || n->n_parts != 1 || longest_ns <= n->part - longest_ns)
        return false;
    osc_strbuf_adds(out, " One of ");
    osc_words_count(out, n->more[3], "collective");
    osc_strbuf_adds(out, " has ");
    osc_words_time(out, longest_ns);
    osc_strbuf_adds(out, " of that, and none like it an eighth of it: it waits, most likely, "
                         "and less traffic does not help.");
    return true;
}

static void say_communication(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const struct traffic t = traffic_of(n);

    osc_words_share(out, n);
    osc_strbuf_adds(out, " passes in communication that nothing hides");
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        osc_strbuf_addstr(out, n->subject_shown);
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    if (t.each > 0) {
        osc_strbuf_adds(out, "; a step has ");
        osc_words_count(out, t.each, "collective");
    }
    osc_strbuf_addc(out, '.');
    if (t.is_hidden) {
        osc_strbuf_addc(out, ' ');
        osc_words_percent(out, n->more[2] - n->impact_ns, n->more[2], 0);
        osc_strbuf_adds(out, " of all communication is hidden already.");
    }
    if (!add_waiting(out, n))
        add_less_traffic(out, n, &t);
    if (n->more[OSC_ADVICE_COLLECTIVES] == 0)
        osc_strbuf_adds(out, " Part of it may be waiting for ranks that come late: `opscope "
                             "table stragglers`, asked of the files of all ranks, names them.");
}

static void say_low_utilization(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (osc_words_has_name(n, n->subject))
        osc_strbuf_addstr(out, n->subject_shown);
    else
        osc_words_count(out, n->count, "device");
    osc_strbuf_adds(out, " ran kernels in ");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of the time; no kernel for ");
    osc_words_time(out, n->impact_ns);
    osc_strbuf_adds(out, " of the steps. A larger batch gives a device more work at once; it "
                         "may change how the training converges.");
}

static void say_tensor_cores(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_words_percent(out, n->part, n->whole, 0);
    osc_strbuf_adds(out, " of the kernel time is launched by operators that can use Tensor "
                         "Cores, and no kernel is known to use them; these kernels run for ");
    osc_words_time(out, n->more[0]);
    osc_strbuf_adds(out, " of the steps. Values of 16 bits halve the bytes that they move, and "
                         "more where they compute. Use automatic mixed precision: ");
    /* Only this family has Tensor Cores: there is no such advice for hip, xpu and others. */
    osc_strbuf_adds(out, "torch.autocast('cuda').");
}

static void say_memory_limit(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (osc_words_has_name(n, n->subject))
        osc_strbuf_addstr(out, n->subject_shown);
    else
        osc_strbuf_adds(out, "Devices");
    osc_strbuf_adds(out, " held ");
    osc_words_bytes(out, n->part);
    osc_strbuf_adds(out, " of ");
    osc_words_bytes(out, n->whole);
    osc_strbuf_adds(out, " at the peak (");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, ").");
    osc_strbuf_adds(out,
                    osc_words_has_trait(n, " half")
                        ? " Checkpoint activations (torch.utils.checkpoint), or use "
                          "smaller batches."
                        : " Checkpoint activations (torch.utils.checkpoint), use automatic "
                          "mixed precision, or use smaller batches.");
}

/* Begin a sentence with the call that has most of the time and the range around it. */
static void add_call(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    osc_strbuf_addstr(out, n->subject_shown);
    if (n->grew.len > 0) {
        osc_strbuf_adds(out, " in ");
        osc_strbuf_addstr(out, n->grew_shown);
    }
    osc_strbuf_adds(out, " blocks the host for ");
    if (n->more[1] < n->impact_ns) {
        osc_words_time(out, n->more[1]);
        osc_strbuf_adds(out, ", with others of its kind for ");
    }
}

static void say_synchronization(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_torch = osc_words_has_trait(n, " torch");

    if (osc_words_has_name(n, n->subject))
        add_call(out, n);
    else
        osc_strbuf_adds(out, "Calls that wait for devices block the host for ");
    osc_words_idle(out, n);
    osc_strbuf_adds(out, ". ");
    if (n->n_parts == 1 && n->more[2] > n->impact_ns - n->more[2]) {
        osc_strbuf_adds(out, "The work that then starts was launched before that call, which "
                             "only waits along: see what holds the device up, such as work of "
                             "before the recording, other processes or other ranks.");
        return;
    }
    if (is_torch) {
        osc_strbuf_adds(out, "Avoid .item(), .cpu(), print() of tensors and ");
        osc_words_torch_call(out, n, "synchronize()");
        osc_strbuf_adds(out, " in steps, copy with non_blocking=True into pinned memory, or do "
                             "it less often.");
    } else {
        osc_strbuf_adds(out, "Launch the next work before waiting, or wait less often.");
    }
}

static void say_pageable_copies(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, n->count == 1 ? "One copy" : "Copies");
    osc_strbuf_adds(out, " to the device from pageable memory, ");
    osc_strbuf_add_count(out, (uint64_t)n->count);
    osc_strbuf_adds(out, " in total, ");
    osc_strbuf_adds(out, n->count == 1 ? "takes " : "take ");
    osc_words_share(out, n);
    osc_strbuf_adds(
        out,
        " while no kernel runs, and the host waits for them. Pin the memory and copy without "
        "waiting: DataLoader(..., pin_memory=True), x.to(device, non_blocking=True).");
}

/* Append ", above all NAME" if there is one. */
static void add_above_all(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    if (!osc_words_has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, ", above all ");
    osc_strbuf_addstr(out, n->subject_shown);
}

/* Say what leaves out copies of WAY, or hides them. */
static void add_copy_remedy(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                            enum osc_copy_way way)
{
    static const struct {
        const char *torch, *other;
    } remedies[OSC_COPY_WAYS] = {
        [OSC_COPY_UNKNOWN] = {"Copy less, or beside computation.",
                              "Copy less, or beside computation."},
        [OSC_COPY_TO_DEVICE] =
            {"Copy the next batch while this one is computed: from pinned "
             "memory with x.to(device, non_blocking=True), on a stream of its "
             "own.",
             "Copy the next data while these are computed, on a queue of "
             "its own."},
        [OSC_COPY_FROM_DEVICE] = {"Copy less often, or with non_blocking=True into pinned "
                                  "memory, on a stream of its own.",
                                  "Copy less often, or on a queue of its own."},
        [OSC_COPY_ON_DEVICES] = {"Leave out clone(), contiguous() and cat() where the next "
                                 "operator takes any layout.",
                                 "Compute in place, or where the data are."},
    };
    const bool is_torch = osc_words_has_trait(n, " torch");

    osc_strbuf_adds(out, is_torch ? remedies[way].torch : remedies[way].other);
    if (way == OSC_COPY_ON_DEVICES && osc_words_has_trait(n, " graphs"))
        osc_strbuf_adds(out,
                        " Inputs of graphs are copied in unless they stay where they are.");
}

static void say_device_copies(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    static const char *const ways[] = {"in an unknown direction", "to devices", "to the host",
                                       "on devices"};
    /* Of merged rows the sum says nothing. */
    const enum osc_copy_way way =
        n->n_parts == 1 ? (enum osc_copy_way)n->more[2] : OSC_COPY_UNKNOWN;

    osc_strbuf_adds(out, "Devices copy for ");
    osc_words_share(out, n);
    osc_strbuf_adds(out, " while none computes, in ");
    osc_strbuf_add_count(out, (uint64_t)n->count);
    osc_strbuf_adds(out, n->count == 1 ? " copy" : " copies");
    if (n->n_parts == 1) {
        osc_strbuf_addf(out, ": above all %s (", ways[way]);
        osc_words_time(out, n->more[0]);
        osc_strbuf_addc(out, ')');
    }
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", by ");
        osc_strbuf_addstr(out, n->subject_shown);
        if (n->grew.len > 0) {
            osc_strbuf_adds(out, " in ");
            osc_strbuf_addstr(out, n->grew_shown);
        }
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    osc_strbuf_adds(out, ". ");
    add_copy_remedy(out, n, way);
}

static void say_device_kernels(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Kernels run for ");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of the step time");
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        osc_strbuf_addstr(out, n->subject_shown);
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[0]);
        osc_strbuf_adds(out, " in ");
        osc_words_count(out, n->count, "kernel");
        osc_strbuf_addc(out, ')');
    }
    osc_strbuf_adds(out, ". Only cheaper work on the device makes that shorter: smaller "
                         "shapes, values of fewer bits, fused or better kernels.");
}

/* Append ", above all before NAME" if there is one, and that most of it is WITHIN that. */
static void add_before(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                       struct osc_str within)
{
    if (n->n_parts == 1 && n->subject.len == 0 && n->more[2] == 1) {
        osc_strbuf_adds(out, ", above all after the last work (");
        osc_words_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    if (!osc_words_has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, ", above all before ");
    osc_strbuf_addstr(out, n->subject_shown);
    osc_strbuf_adds(out, " (");
    osc_words_time(out, n->more[1]);
    if (within.len > 0) {
        osc_strbuf_adds(out, ", most of it in ");
        osc_strbuf_addstr(out, within);
    }
    osc_strbuf_addc(out, ')');
}

static void say_launch_bound(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_ddp = osc_words_has_name(n, n->grew) &&
                        osc_str_eq(n->grew, OSC_STR("DistributedDataParallel.forward")) &&
                        osc_str_eq(n->subject, OSC_STR("aten::copy_"));

    osc_strbuf_adds(out, "The host is busy launching work for ");
    osc_words_idle(out, n);
    add_before(out, n, n->grew_shown);
    osc_strbuf_adds(out, ". ");
    if (is_ddp && osc_words_has_trait(n, " buffers"))
        osc_strbuf_adds(out, "There DistributedDataParallel copies the buffers that it "
                             "broadcasts before each forward pass: "
                             "broadcast_buffers=False leaves that out. ");
    if (n->n_parts == 1 && n->more[4] > 0) {
        osc_strbuf_adds(out, "Half of the kernels run for at most ");
        osc_words_time(out, n->more[3]);
        osc_strbuf_adds(out, ", half of the calls that launch them take ");
        osc_words_time(out, n->more[4]);
        osc_strbuf_adds(out, " or more. ");
    }
    osc_words_fewer_launches(out, n);
    osc_words_functions_cost(out, n);
}

static void say_handover(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The next work was launched already for ");
    osc_words_idle(out, n);
    osc_strbuf_adds(out, ", in ");
    osc_words_count(out, n->count, "gap");
    add_before(out, n, (struct osc_str){0});
    osc_strbuf_adds(out, ": devices take that time between one kernel or copy and the next. "
                         "Fewer, larger kernels leave fewer such gaps");
    osc_strbuf_adds(out, osc_words_has_trait(n, " torch") && !osc_words_has_trait(n, " compile")
                             ? " (torch.compile fuses them)."
                             : ".");
}

static void say_slow_call(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (osc_words_has_name(n, n->subject))
        add_call(out, n);
    else
        osc_strbuf_adds(out, "Single calls take ");
    osc_words_idle(out, n);
    if (n->n_parts == 1 && osc_str_has(n->subject, OSC_STR(OSC_COMPILE_WORD))) {
        osc_strbuf_adds(out,
                        ". It compiles code for the device: warm up before, keep shapes the "
                        "same, or compile ahead of time");
        osc_strbuf_adds(out, osc_words_has_trait(n, " torch") &&
                                     osc_str_has(n->subject, OSC_STR("aclopCompile"))
                                 ? " (torch.npu.set_compile_mode(jit_compile=False))."
                                 : ".");
        return;
    }
    osc_strbuf_adds(out,
                    ". A call of more than a millisecond does more than launch: it computes on "
                    "the host, loads or compiles code for the device, sets up a library, or "
                    "waits for a lock. "
                    "If only first steps have it, warm up before; else find what is set up "
                    "anew.");
}

static void say_late_start(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Work that was launched before waits for ");
    osc_words_idle(out, n);
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all that of ");
        osc_strbuf_addstr(out, n->subject_shown);
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    osc_strbuf_adds(out, ". The host is not what it waits for, and nothing recorded says more: "
                         "see whether the start of the profiler, other processes on the device "
                         "or other ranks hold it up, and whether it is so without a profiler.");
}

static void say_idle_python(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Python runs outside of operators and calls for ");
    osc_words_idle(out, n);
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        osc_strbuf_addstr(out, n->subject_shown);
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[1]);
        osc_strbuf_adds(out, " of its own)");
    }
    osc_strbuf_adds(out, ". Do that less often, in another thread or process, or launch the "
                         "next work before.");
    osc_words_functions_cost(out, n);
}

/* Say what records more of what PyTorch's programs do where nothing was recorded. */
static void add_how_to_record(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    const int64_t least_ns = n->impact_ns / OSC_IDLE_WORTH, marked_ns = n->more[4];
    const bool has_functions = osc_words_has_trait(n, " functions");

    osc_strbuf_adds(out, has_functions
                             ? "Python functions were recorded, and none runs there: mark "
                               "what does with record_function()"
                             : "Record Python functions to see what they do there "
                               "(with_stack=True or --torch=stack)");
    if (!has_functions && n->impact_ns - marked_ns > least_ns)
        osc_strbuf_adds(out, ", or mark it with record_function()");
    if (n->impact_ns - marked_ns > least_ns && marked_ns > least_ns) {
        osc_strbuf_adds(out, "; ");
        osc_words_time(out, n->impact_ns - marked_ns);
        osc_strbuf_adds(out, " of it are not marked yet");
    }
    osc_strbuf_addc(out, '.');
}

static void say_idle_unrecorded(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The threads that launch work recorded no operator, call or function "
                         "for ");
    osc_words_idle(out, n);
    add_before(out, n, (struct osc_str){0});
    if (osc_words_has_name(n, n->grew)) {
        osc_strbuf_adds(out, "; for ");
        osc_words_time(out, n->more[3]);
        osc_strbuf_adds(out, " a thread is in ");
        osc_strbuf_addstr(out, n->grew_shown);
    }
    osc_strbuf_adds(out, ". ");
    if (osc_words_has_trait(n, " hostless"))
        osc_strbuf_adds(out, "Record the host, too, to see what it does there: "
                             "activities=[ProfilerActivity.CPU, ...].");
    else if (osc_words_has_trait(n, " torch"))
        add_how_to_record(out, n);
    else
        osc_strbuf_adds(out, "Record more of the host to see what it does there.");
}

static void say_overhead(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The profiler itself is at work for ");
    osc_words_idle(out, n);
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        osc_strbuf_addstr(out, n->subject_shown);
    }
    osc_strbuf_adds(out, ". Without it the program does not wait there: record fewer steps or "
                         "less of each, and warm up before.");
}

static void say_optimizer(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (osc_words_has_name(n, n->subject))
        osc_strbuf_addstr(out, n->subject_shown);
    else
        osc_strbuf_adds(out, "Steps of optimizers");
    osc_strbuf_adds(out, osc_words_has_name(n, n->subject) ? " keeps the host busy for "
                                                           : " keep the host busy for ");
    osc_words_idle(out, n);
    osc_strbuf_adds(out, ". Launch less in it: ");
    osc_strbuf_adds(out, osc_words_has_trait(n, " fused")
                             ? "compile its step (torch.compile), or step less often."
                             : "fused=True, or foreach=True.");
}

static void say_allocator(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_one = n->count == 1;

    osc_words_count(out, n->count, "call");
    if (osc_words_has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        osc_strbuf_addstr(out, n->subject_shown);
        osc_strbuf_adds(out, ",");
    }
    osc_strbuf_adds(out, is_one ? " takes device memory or gives it back"
                                : " take device memory or give it back");
    osc_strbuf_adds(out, " within steps: ");
    if (osc_words_has_device(n))
        osc_words_idle(out, n);
    else
        osc_words_share(out, n);
    if (!osc_words_has_trait(n, " torch")) {
        osc_strbuf_adds(out, ". Keep memory instead of returning it.");
        return;
    }
    if (2 * n->more[3] > n->n_parts) {
        osc_strbuf_adds(out, ". Steps have 100 such calls or more, as where the caching "
                             "allocator is switched off (unset "
                             /* so called where the family is hip, too */
                             "PYTORCH_NO_CUDA_MEMORY_CACHING), or memory is short at every "
                             "step (smaller batches).");
        return;
    }
    osc_strbuf_adds(out,
                    ". The caching allocator does that while it grows, and again and again "
                    "where memory is short or fragmented; a program that switched it off "
                    "for each tensor. Keep shapes the same, do not call ");
    osc_words_torch_call(out, n, "empty_cache()");
    osc_strbuf_adds(out, " in steps, or set PYTORCH_ALLOC_CONF=expandable_segments:True.");
}

static void say_slow_steps(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_words_count(out, n->count, "step");
    osc_strbuf_adds(out, n->count == 1 ? " takes " : " take ");
    osc_words_time(out, n->part);
    osc_strbuf_adds(out, " longer than the median, ");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of the step time.");
    if (!osc_words_has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, " The slowest is step ");
    osc_strbuf_addstr(out, n->subject_shown);
    osc_strbuf_adds(out, ", by ");
    osc_words_time(out, n->more[0]);
    osc_strbuf_adds(out, " over ");
    osc_words_time(out, n->more[3]);
    osc_strbuf_adds(out, ".");
    if (!osc_words_has_name(n, n->grew))
        return;
    if (osc_str_eq(n->grew, OSC_STR("other"))) {
        osc_strbuf_adds(out, " There nothing was recorded for ");
        osc_words_time(out, n->more[1]);
        osc_strbuf_adds(out, " more than usual.");
        return;
    }
    osc_strbuf_adds(out, " There ");
    osc_strbuf_addstr(out, n->grew_shown);
    osc_strbuf_adds(out, " grew most, by ");
    osc_words_time(out, n->more[1]);
    osc_strbuf_adds(out, n->more[2] != 0 ? " on the device." : " on the host.");
}

/* Append COUNT divided by the number of kept steps, as "96 THINGs a step". */
static void add_per_step(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                         int64_t count, const char *thing)
{
    const int64_t n_steps = n->more[0] > 0 ? n->more[0] : 1;
    const int64_t each = (count + n_steps / 2) / n_steps;

    osc_words_count(out, each, thing);
    osc_strbuf_adds(out, " a step");
}

static void say_host_sync(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_per_step(out, n, n->count, "call");
    osc_strbuf_adds(out, n->count == n->more[0] ? " reads" : " read");
    osc_strbuf_adds(out, " values of tensors");
    add_above_all(out, n);
    osc_strbuf_adds(out, "; the calls alone take ");
    osc_words_share(out, n);
    osc_strbuf_adds(out,
                    ". Python goes on only when the value is there, on a GPU when all work "
                    "before is done. Keep conditions and sums in tensors (torch.where, "
                    "masked_fill), and read values once a step, not in loops.");
}

static void say_copies(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_per_step(out, n, n->count, "copy operator");
    add_above_all(out, n);
    osc_strbuf_adds(out, n->count == n->more[0] ? ", takes " : ", take ");
    osc_words_share(out, n);
    osc_strbuf_addc(out, '.');
    if (n->more[1] >= n->more[0] && n->more[0] > 0) {
        osc_strbuf_adds(out, " Of these ");
        add_per_step(out, n, n->more[1], "time");
        osc_strbuf_adds(out, " the next copy follows at once.");
    }
    osc_strbuf_adds(out, " Leave out .clone() and .contiguous() where the next operator takes "
                         "any layout, and keep one layout and type from end to end.");
}

static void say_float64(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Operators on tensors of float64 take ");
    osc_words_share(out, n);
    add_above_all(out, n);
    osc_strbuf_adds(out, ". Half as wide is at least twice as fast: build models and data in "
                         "float32 (.float(), dtype=torch.float32). NumPy's default is float64; "
                         "one such input makes results float64, too.");
}

static void say_slow_convolution(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Convolutions that torch computes itself, by unfolding their input "
                         "into a matrix, take ");
    osc_words_share(out, n);
    add_above_all(out, n);
    osc_strbuf_adds(out, ". oneDNN has most of them without that: a torch that was built with "
                         "it (torch.backends.mkldnn.is_available()), where it is on "
                         "(torch.backends.mkldnn.enabled), for float32 and bfloat16; for "
                         "filters of 1 x 1 with more than one thread, or 16 and more inputs at "
                         "once.");
}

static void say_tiny_operators(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_per_step(out, n, n->count, "operator");
    osc_strbuf_addf(out, " of less than %d us each", (int)(OSC_TINY_NS / 1000));
    add_above_all(out, n);
    osc_strbuf_adds(out, ", and what lies between them take ");
    osc_words_share(out, n);
    osc_strbuf_adds(out, ". Work on whole tensors instead of loops over rows, batches or time, "
                         "or use torch.compile.");
}

static void say_single_tensor(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, osc_words_has_name(n, n->subject) ? "" : "Optimizers");
    if (osc_words_has_name(n, n->subject))
        osc_strbuf_addstr(out, n->subject_shown);
    osc_strbuf_adds(out, osc_words_has_name(n, n->subject) ? " takes " : " take ");
    osc_words_share(out, n);
    osc_strbuf_adds(out, n->more[2] > 0 ? ", one tensor at a time as the program asks "
                                          "(foreach=False)."
                                        : ", one tensor at a time.");
    osc_strbuf_adds(out, " Use fused=True, or on devices foreach=True.");
}

static void say_python(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Python outside of operators takes ");
    osc_words_share(out, n);
    if (osc_words_has_name(n, n->subject)) {
        add_above_all(out, n);
        osc_strbuf_adds(out, " (");
        osc_words_time(out, n->more[3]);
        osc_strbuf_adds(out, " of its own)");
    }
    osc_strbuf_adds(out,
                    ". Do that less often, in another thread or process, or with operators "
                    "on tensors.");
}

static void say_unrecorded(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "For ");
    osc_words_share(out, n);
    osc_strbuf_adds(
        out, " nothing was recorded on the thread of the steps: Python between "
             "operators, sleep, or input and output. Record Python functions to see "
             "which (with_stack=True or --torch=stack), or mark them with record_function().");
}

static void say_memory_growth(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Every step leaves ");
    osc_words_bytes(out, n->part / (n->more[0] > 0 ? n->more[0] : 1));
    osc_strbuf_adds(out, " allocated, ");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of what it allocates");
    add_above_all(out, n);
    osc_strbuf_adds(out, ". Keep numbers or detached copies instead of tensors that hold their "
                         "graph (loss.item(), .detach()), and drop lists that only grow.");
}

const struct osc_advice_rule osc_advice_rules[OSC_ADVICE_COUNT] = {
    [OSC_ADVICE_DATA_LOADING] = {"data_loading", "Steps wait for data", say_data_loading},
    [OSC_ADVICE_DATA_PARALLEL] = {"data_parallel", "DataParallel drives several devices",
                                  say_data_parallel},
    [OSC_ADVICE_BACKEND] = {"backend", "Gradients do not go through NCCL", say_backend},
    [OSC_ADVICE_COMMUNICATION] = {"communication", "Steps wait for communication",
                                  say_communication},
    [OSC_ADVICE_LOW_UTILIZATION] = {"low_utilization", "Devices have little to do",
                                    say_low_utilization},
    [OSC_ADVICE_TENSOR_CORES] = {"tensor_cores", "No kernel is known to use Tensor Cores",
                                 say_tensor_cores},
    [OSC_ADVICE_MEMORY_LIMIT] = {"memory_limit", "Memory is nearly full", say_memory_limit},
    [OSC_ADVICE_SYNCHRONIZATION] = {"synchronization", "The host waits, then the device does",
                                    say_synchronization},
    [OSC_ADVICE_PAGEABLE_COPIES] = {"pageable_copies", "Copies come from pageable memory",
                                    say_pageable_copies},
    [OSC_ADVICE_LAUNCH_BOUND] = {"launch_bound", "Kernels end before the next is launched",
                                 say_launch_bound},
    [OSC_ADVICE_ALLOCATOR] = {"allocator", "Steps allocate device memory", say_allocator},
    [OSC_ADVICE_SLOW_STEPS] = {"slow_steps", "Some steps are slow", say_slow_steps},
    [OSC_ADVICE_HOST_SYNC] = {"host_sync", "Values are read one by one", say_host_sync},
    [OSC_ADVICE_COPIES] = {"copies", "Tensors are copied again and again", say_copies},
    [OSC_ADVICE_FLOAT64] = {"float64", "Operators compute in float64", say_float64},
    [OSC_ADVICE_SLOW_CONVOLUTION] = {"slow_convolution", "Convolutions take a slow path",
                                     say_slow_convolution},
    [OSC_ADVICE_TINY_OPERATORS] = {"tiny_operators", "Many operators do very little",
                                   say_tiny_operators},
    [OSC_ADVICE_SINGLE_TENSOR] = {"single_tensor", "The optimizer takes one tensor at a time",
                                  say_single_tensor},
    [OSC_ADVICE_PYTHON] = {"python", "Python takes time between operators", say_python},
    [OSC_ADVICE_UNRECORDED] = {"unrecorded", "Much time is not recorded", say_unrecorded},
    [OSC_ADVICE_MEMORY_GROWTH] = {"memory_growth", "Memory grows from step to step",
                                  say_memory_growth},
    [OSC_ADVICE_OVERHEAD] = {"profiler_overhead", "Devices wait for the profiler",
                             say_overhead},
    [OSC_ADVICE_OPTIMIZER] = {"optimizer", "Devices wait for the optimizer", say_optimizer},
    [OSC_ADVICE_IDLE_PYTHON] = {"python_idle", "Devices wait for Python", say_idle_python},
    [OSC_ADVICE_IDLE_UNRECORDED] = {"unrecorded_idle", "Devices wait, nothing says for what",
                                    say_idle_unrecorded},
    [OSC_ADVICE_SLOW_CALL] = {"slow_call", "Single calls keep the host", say_slow_call},
    [OSC_ADVICE_LATE_START] = {"late_start", "Devices begin late", say_late_start},
    [OSC_ADVICE_HANDOVER] = {"handover", "Short kernels leave gaps", say_handover},
    [OSC_ADVICE_UNALIGNED] = {"unaligned", "Matrices have odd sizes", osc_advice_say_unaligned},
    [OSC_ADVICE_FP32_MATMUL] = {"fp32_matmul", "Matrices are multiplied in FP32",
                                osc_advice_say_fp32_matmul},
    [OSC_ADVICE_DEVICE_COPIES] = {"device_copies", "Copies keep devices from computing",
                                  say_device_copies},
    [OSC_ADVICE_DEVICE_KERNELS] = {"device_kernels", "Kernels take all the time",
                                   say_device_kernels},
    [OSC_ADVICE_STRAGGLER] = {"straggler", "Ranks wait for one that comes late", NULL},
};
