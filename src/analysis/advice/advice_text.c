/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sentences of `advice`: what was measured, then what to do about it.
 *
 * They are made from the columns of a row alone, so that they are right for merged ranks, too:
 * names are those of the first part, and are not said of several.
 */
#include "analysis/advice/advice_list.h"
#include "analysis/advice/idle_gaps.h"
#include "model/known_names.h"
#include "names/labels.h"
#include "prose/phrase.h"
#include "prose/words.h"

/* A step with at most so many collectives does not send small messages. */
enum { FEW_COLLECTIVES = 4 };

/* Less than 1 / LITTLE of the time in collectives is not worth a word. */
enum { LITTLE = 50 };

/* Most columns of a name of device work in a sentence, as in tables. */
#define WORK_WIDTH 80

/* Parts of sentences. */
#define IDLE_PHRASE                                                                        \
    "{impact} of the {idle_ns} in which {only_device?{only_device} has no work|no device " \
    "works} ({share} of the step time)"
#define CALL_PHRASE                                                                          \
    "{subject}{grew? in {grew}} blocks the host for {is_part?{most_ns}, with others of its " \
    "kind for }"
#define LESS_PHRASE                                                                       \
    "{is_split? Split what is sent, so that the first part starts while {torch?the "      \
    "backward pass still runs (smaller buckets: bucket_cap_mb)|computation still runs}, " \
    "send less|{hidden? Send less| Let it run beside computation, send less}}, or "       \
    "compute more between two calls: {torch?in training {is_few?|larger buckets, }"       \
    "{is_half?|compressed or }accumulated gradients or larger batches (the last two "     \
    "change the effective batch size); in inference fewer devices a model.|{is_few?"      \
    "larger batches.|larger messages less often, or larger batches.}}"
#define RECORD_PHRASE                                                                   \
    "{functions?Python functions were recorded, and none runs there: mark what does "   \
    "with record_function()|Record Python functions to see what they do there "         \
    "(with_stack=True or --torch=stack){unmarked?, or mark it with record_function()}}" \
    "{is_partly_marked?; {unmarked} of it are not marked yet}."
#define FEWER_PHRASE                                                                     \
    "{jax?Put more into one jax.jit, or give each call more to do.|{tensorflow?Compile " \
    "with XLA (tf.function(jit_compile=True)), or use larger batches.|{torch?Launch "    \
    "less often: {compile?|torch.compile, }{graph?{graph}, }{graphs?more of the work "   \
    "inside graphs, }larger batches.|Launch fewer and larger kernels.}}}"
#define COPY_PHRASE                                                                         \
    "{to_device?{torch?Copy the next batch while this one is computed: from pinned memory " \
    "with x.to(device, non_blocking=True), on a stream of its own.|Copy the next data "     \
    "while these are computed, on a queue of its own.}|{from_device?Copy less often, or "   \
    "{torch?with non_blocking=True into pinned memory, on a stream of its own.|on a queue " \
    "of its own.}|{on_devices?{torch?Leave out clone(), contiguous() and cat() where the "  \
    "next operator takes any layout.|Compute in place, or where the data are.}{graphs? "    \
    "Inputs of graphs are copied in unless they stay where they are.}|Copy less, or "       \
    "beside computation.}}}"

/*
 * What sentences may say besides the measured facts of the rules (advice_list.h): columns of
 * the row, what the program does (program.h), what follows from these, and parts of sentences.
 */
#define SAID_LIST(X)                                                                         \
    X(impact, NS, 0)                                                                         \
    X(share, SHARE, 0)                                                                       \
    X(percent, PERCENT, 0)                                                                   \
    X(part_ns, NS, 0)                                                                        \
    X(part_bytes, BYTES, 0)                                                                  \
    X(whole_bytes, BYTES, 0)                                                                 \
    X(count, COUNT, 0)                                                                       \
    X(subject, TEXT, 0)                                                                      \
    X(grew, TEXT, 0)                                                                         \
    /* of the program */                                                                     \
    X(torch, FLAG, 0)                                                                        \
    X(hostless, FLAG, 0)                                                                     \
    X(jax, FLAG, 0)                                                                          \
    X(tensorflow, FLAG, 0)                                                                   \
    X(functions, FLAG, 0)                                                                    \
    X(graphs, FLAG, 0)                                                                       \
    X(compile, FLAG, 0)                                                                      \
    X(fused, FLAG, 0)                                                                        \
    X(half, FLAG, 0)                                                                         \
    X(device, FLAG, 0)      /* the work is that of devices */                                \
    X(only_device, TEXT, 0) /* if one did all */                                             \
    X(graph, TEXT, 0)       /* what the device calls graphs of kernels, if there are none */ \
    X(module, TEXT, 0)      /* of torch, with a point, that drives the device; or "" */      \
    X(has_workers, FLAG, 0) /* loaders of data have processes of their own */                \
    /* what follows */                                                                       \
    X(bytes_each, BYTES, 0)                                                                  \
    X(each, COUNT, 0)    /* count of a step */                                               \
    X(is_one, FLAG, 0)   /* that is 1 exactly */                                             \
    X(chained, COUNT, 0) /* copies of a step that another follows at once */                 \
    X(is_asked, FLAG, 0) /* the program asks for one tensor at a time */                     \
    X(tiny_us, COUNT, 0)                                                                     \
    X(is_part, FLAG, 0)         /* others than subject have some of the impact */            \
    X(is_queued, FLAG, 0)       /* most of the work was launched before */                   \
    X(is_last, FLAG, 0)         /* most lies after the last work */                          \
    X(has_buffers, FLAG, 0)     /* DistributedDataParallel copies buffers there */           \
    X(has_launches, FLAG, 0)    /* kernel_ns and call_ns are known */                        \
    X(is_compiler, FLAG, 0)     /* subject compiles code for the device */                   \
    X(is_npu_compiler, FLAG, 0) /* and can be told not to */                                 \
    X(is_uncached, FLAG, 0)     /* no allocator caches */                                    \
    X(is_nothing, FLAG, 0)      /* grew is what nobody recorded */                           \
    X(on_device, FLAG, 0)                                                                    \
    X(way, TEXT, 0) /* of copies */                                                          \
    X(to_device, FLAG, 0)                                                                    \
    X(from_device, FLAG, 0)                                                                  \
    X(on_devices, FLAG, 0)                                                                   \
    X(unmarked, NS, 0)                                                                       \
    X(is_partly_marked, FLAG, 0)                                                             \
    X(per_step, COUNT, 0)          /* collectives of a step and device */                    \
    X(is_few, FLAG, 0)             /* so few that they are large already */                  \
    X(is_split, FLAG, 0)           /* that, and most are not hidden */                       \
    X(hidden, PERCENT, 0)          /* if it is most of communication */                      \
    X(is_half, FLAG, 0)            /* most values have 16 bits already */                    \
    X(waited, PERCENT, 0)          /* of the time in collectives, for other ranks */         \
    X(is_mostly_waiting, FLAG, 0)  /* so that less traffic hardly helps */                   \
    X(is_one_waiting, FLAG, 0)     /* the longest collective, most likely */                 \
    X(can_send_less, FLAG, 0)      /* neither of both */                                     \
    X(is_waiting_unknown, FLAG, 0) /* no other rank is there */                              \
    /* parts of sentences */                                                                 \
    X(of_steps, PHRASE, "{share} of the step time ({impact})")                               \
    X(idle, PHRASE, IDLE_PHRASE)                                                             \
    X(call, PHRASE, CALL_PHRASE)                                                             \
    X(above_all, PHRASE, "{subject?, above all {subject}}")                                  \
    X(after, PHRASE, "{is_last?, above all after the last work ({most_ns})}")                \
    X(before, PHRASE, "{after}{subject?, above all before {subject} ({most_ns})}")           \
    X(send_less, PHRASE, LESS_PHRASE)                                                        \
    X(record_more, PHRASE, RECORD_PHRASE)                                                    \
    X(launch_less, PHRASE, FEWER_PHRASE)                                                     \
    X(copy_less, PHRASE, COPY_PHRASE)                                                        \
    X(functions_cost, PHRASE,                                                                \
      "{functions? Functions of the program were recorded, which makes the host slower "     \
      "than it is without.}")

#define MEASURED_DEF(name, kind, merge) {#name, OSC_PROSE_##kind, 0},
#define SET_MEASURED(name, kind, merge) osc_prose_number(f, FACT_##name, n->facts.name);
enum { OSC_ADVICE_FACT_LIST(OSC_PROSE_FACT_NUMBER) SAID_LIST(OSC_PROSE_FACT_NUMBER) N_FACTS };
_Static_assert(N_FACTS <= OSC_PROSE_MOST, "facts of one subject");
static const struct osc_prose_def defs[] = {OSC_ADVICE_FACT_LIST(MEASURED_DEF)
                                                SAID_LIST(OSC_PROSE_FACT_DEF)};
const struct osc_prose osc_advice_prose = {defs, N_FACTS};

/* clang-format off */
const struct osc_advice_rule osc_advice_rules[OSC_ADVICE_COUNT] = {
[OSC_ADVICE_DATA_LOADING] = {"data_loading", "Steps wait for data",
    "{device?The host waits for the data loader for {idle}{subject?, in {subject}}. |{of_steps} "
    "passes in the data loader while nothing else runs. }{torch?{has_workers?Its worker "
    "processes are too slow: use more of them (num_workers, prefetch_factor) or make them do "
    "less.|Load ahead of time in other processes: DataLoader(..., num_workers=N{device?, "
    "pin_memory=True}).}|Load and prepare data ahead of time, beside the steps.}"},
[OSC_ADVICE_DATA_PARALLEL] = {"data_parallel", "DataParallel drives several devices",
    "DataParallel drives {n_devices} {n_devices|device|devices} from one process; for "
    "{of_steps} not all of them run kernels. Use DistributedDataParallel with one process per "
    "device."},
[OSC_ADVICE_BACKEND] = {"backend", "Gradients do not go through NCCL",
    "DistributedDataParallel runs without NCCL, and communication takes {of_steps}. Where the "
    "devices have it, NCCL (on ROCm RCCL) is the fastest backend: "
    "torch.distributed.init_process_group('nccl')."},
[OSC_ADVICE_COMMUNICATION] = {"communication", "Steps wait for communication",
    "{of_steps} passes in communication that nothing hides{subject?, above all {subject} "
    "({most_ns})}{per_step?; a step has {per_step} {per_step|collective|collectives}}."
    "{hidden? {hidden} of all communication is hidden already.}"
    "{waited? Of the time in collectives, {waited} is waiting for ranks that come late: "
    "`opscope table stragglers` names them.}{is_mostly_waiting? Even out the work of the ranks "
    "first; less traffic shortens only the rest.}"
    "{is_one_waiting? One of {n_collectives} {n_collectives|collective|collectives} has "
    "{longest_ns} of that, and none like it an eighth of it: it waits, most likely, and less "
    "traffic does not help.}{can_send_less?{send_less}}"
    "{is_waiting_unknown? Part of it may be waiting for ranks that come late: `opscope table "
    "stragglers`, asked of the files of all ranks, names them.}"},
[OSC_ADVICE_LOW_UTILIZATION] = {"low_utilization", "Devices have little to do",
    "{subject?{subject}|{count} {count|device|devices}} ran kernels in {share} of the time; no "
    "kernel for {impact} of the steps. A larger batch gives a device more work at once; it may "
    "change how the training converges."},
[OSC_ADVICE_TENSOR_CORES] = {"tensor_cores", "No kernel is known to use Tensor Cores",
    "{percent} of the kernel time is launched by operators that can use Tensor Cores, and no "
    "kernel is known to use them; these kernels run for {eligible_ns} of the steps. Values of "
    "16 bits halve the bytes that they move, and more where they compute. Use automatic mixed "
    /* Only this family has Tensor Cores: there is no such advice for hip, xpu and others. */
    "precision: torch.autocast('cuda')."},
[OSC_ADVICE_MEMORY_LIMIT] = {"memory_limit", "Memory is nearly full",
    "{subject?{subject}|Devices} held {part_bytes} of {whole_bytes} at the peak ({share}). "
    "Checkpoint activations (torch.utils.checkpoint), {half?|use automatic mixed precision, }"
    "or use smaller batches."},
[OSC_ADVICE_SYNCHRONIZATION] = {"synchronization", "The host waits, then the device does",
    "{subject?{call}|Calls that wait for devices block the host for }{idle}. {is_queued?The "
    "work that then starts was launched before that call, which only waits along: see what "
    "holds the device up, such as work from before the recording, other processes or other "
    "ranks.|{torch?Avoid .item(), .cpu(), print() of tensors and {module}synchronize() in "
    "steps, copy with non_blocking=True into pinned memory, or do it less often.|Launch the "
    "next work before waiting, or wait less often.}}"},
[OSC_ADVICE_PAGEABLE_COPIES] = {"pageable_copies", "Copies come from pageable memory",
    "{count|One copy|Copies} to the device from pageable memory, {count} in total, "
    "{count|takes|take} {of_steps} while no kernel runs, and the host waits for them. Pin the "
    "memory and copy without waiting: DataLoader(..., pin_memory=True), x.to(device, "
    "non_blocking=True)."},
[OSC_ADVICE_LAUNCH_BOUND] = {"launch_bound", "Kernels end before the next is launched",
    "The host is busy launching work for {idle}{after}{subject?, above all before {subject} "
    "({most_ns}{grew?, most of it in {grew}})}. {has_buffers?There DistributedDataParallel "
    "copies the buffers that it broadcasts before each forward pass: broadcast_buffers=False "
    "leaves that out. }{has_launches?Half of the kernels run for at most {kernel_ns}, half of "
    "the calls that launch them take {call_ns} or more. }{launch_less}{functions_cost}"},
[OSC_ADVICE_ALLOCATOR] = {"allocator", "Steps allocate device memory",
    "{count} {count|call|calls}{subject?, above all {subject},} {count|takes device memory or "
    "gives it back|take device memory or give it back} within steps: {device?{idle}|{of_steps}}"
    ". {torch?{is_uncached?Steps have 100 such calls or more, as where the caching allocator "
    /* so called where the family is hip, too */
    "is switched off (unset PYTORCH_NO_CUDA_MEMORY_CACHING), or memory is short at every step "
    "(smaller batches).|The caching allocator does that while it grows, and again and again "
    "where memory is short or fragmented; a program that switched it off for each tensor. Keep "
    "shapes the same, do not call {module}empty_cache() in steps, or set "
    "PYTORCH_ALLOC_CONF=expandable_segments:True.}|Keep memory instead of returning it.}"},
[OSC_ADVICE_SLOW_STEPS] = {"slow_steps", "Some steps are slow",
    "{count} {count|step takes|steps take} {part_ns} longer than the median, {share} of the "
    "step time.{subject? The slowest is step {subject}, by {excess_ns} over {median_ns}."
    "{grew? There {is_nothing?nothing was recorded for {grew_ns} more than usual.|{grew} grew "
    "most, by {grew_ns} on the {on_device?device|host}.}}}"},
[OSC_ADVICE_HOST_SYNC] = {"host_sync", "Values are read one by one",
    "{each} {each|call|calls} a step {is_one?reads|read} values of tensors{above_all}; the "
    "calls alone take {of_steps}. Python goes on only when the value is there, on a GPU when "
    "all work before is done. Keep conditions and sums in tensors (torch.where, masked_fill), "
    "and read values once a step, not in loops."},
[OSC_ADVICE_COPIES] = {"copies", "Tensors are copied again and again",
    "{each} {each|copy operator|copy operators} a step{above_all}, {is_one?takes|take} "
    "{of_steps}.{chained? Of these {chained} {chained|time|times} a step the next copy follows "
    "at once.} Leave out .clone() and .contiguous() where the next operator takes any layout, "
    "and keep one layout and type from end to end."},
[OSC_ADVICE_FLOAT64] = {"float64", "Operators compute in float64",
    "Operators on tensors of float64 take {of_steps}{above_all}. Half as wide is at least "
    "twice as fast: build models and data in float32 (.float(), dtype=torch.float32). NumPy's "
    "default is float64; one such input makes results float64, too."},
[OSC_ADVICE_SLOW_CONVOLUTION] = {"slow_convolution", "Convolutions take a slow path",
    "Convolutions that torch computes itself, by unfolding their input into a matrix, take "
    "{of_steps}{above_all}. oneDNN has most of them without that: a torch that was built with "
    "it (torch.backends.mkldnn.is_available()), where it is on "
    "(torch.backends.mkldnn.enabled), for float32 and bfloat16; for filters of 1 x 1 with more "
    "than one thread, or 16 and more inputs at once."},
[OSC_ADVICE_TINY_OPERATORS] = {"tiny_operators", "Many operators do very little",
    "{each} {each|operator|operators} a step of less than {tiny_us} us each{above_all}, and "
    "what lies between them take {of_steps}. Work on whole tensors instead of loops over rows, "
    "batches or time, or use torch.compile."},
[OSC_ADVICE_SINGLE_TENSOR] = {"single_tensor", "The optimizer takes one tensor at a time",
    "{subject?{subject} takes|Optimizers take} {of_steps}, one tensor at a time{is_asked? as "
    "the program asks (foreach=False)}. Use fused=True, or on devices foreach=True."},
[OSC_ADVICE_PYTHON] = {"python", "Python takes time between operators",
    "Python outside of operators takes {of_steps}{subject?, above all {subject} ({most_ns} of "
    "its own)}. Do that less often, in another thread or process, or with operators on "
    "tensors."},
[OSC_ADVICE_UNRECORDED] = {"unrecorded", "Much time is not recorded",
    "For {of_steps} nothing was recorded on the thread of the steps: Python between operators, "
    "sleep, or input and output. Record Python functions to see which (with_stack=True or "
    "--torch=stack), or mark them with record_function()."},
[OSC_ADVICE_MEMORY_GROWTH] = {"memory_growth", "Memory grows from step to step",
    "Every step leaves {bytes_each} allocated, {share} of what it allocates{above_all}. Keep "
    "numbers or detached copies instead of tensors that hold their graph (loss.item(), "
    ".detach()), and drop lists that only grow."},
[OSC_ADVICE_OVERHEAD] = {"profiler_overhead", "Devices wait for the profiler",
    "The profiler itself is at work for {idle}{above_all}. Without it the program does not "
    "wait there: record fewer steps or less of each, and warm up before."},
[OSC_ADVICE_OPTIMIZER] = {"optimizer", "Devices wait for the optimizer",
    "{subject?{subject} keeps|Steps of optimizers keep} the host busy for {idle}. Launch less "
    "in it: {fused?compile its step (torch.compile), or step less often.|fused=True, or "
    "foreach=True.}"},
[OSC_ADVICE_IDLE_PYTHON] = {"python_idle", "Devices wait for Python",
    "Python runs outside of operators and calls for {idle}{subject?, above all {subject} "
    "({most_ns} of its own)}. Do that less often, in another thread or process, or launch the "
    "next work before.{functions_cost}"},
[OSC_ADVICE_IDLE_UNRECORDED] = {"unrecorded_idle", "Devices wait, nothing says for what",
    "The threads that launch work recorded no operator, call or function for {idle}{before}"
    "{grew?; for {mark_ns} a thread is in {grew}}. {hostless?Record the host, too, to see what "
    "it does there: activities=[ProfilerActivity.CPU, ...].|{torch?{record_more}|Record more "
    "of the host to see what it does there.}}"},
[OSC_ADVICE_SLOW_CALL] = {"slow_call", "Single calls keep the host",
    "{subject?{call}|Single calls take }{idle}. {is_compiler?It compiles code for the device: "
    "warm up before, keep shapes the same, or compile ahead of time{is_npu_compiler? "
    "(torch.npu.set_compile_mode(jit_compile=False))}.|A call of more than a millisecond does "
    "more than launch: it computes on the host, loads or compiles code for the device, sets up "
    "a library, or waits for a lock. If only first steps have it, warm up before; else find "
    "what is set up anew.}"},
[OSC_ADVICE_LATE_START] = {"late_start", "Devices begin late",
    "Work that was launched before waits for {idle}{subject?, above all that of {subject} "
    "({most_ns})}. The host is not what it waits for, and nothing recorded says more: see "
    "whether the start of the profiler, other processes on the device or other ranks hold it "
    "up, and whether it is so without a profiler."},
[OSC_ADVICE_HANDOVER] = {"handover", "Short kernels leave gaps",
    "The next work was launched already for {idle}, in {count} {count|gap|gaps}{before}: "
    "devices take that time between one kernel or copy and the next. Fewer, larger kernels "
    "leave fewer such gaps{torch?{compile?| (torch.compile fuses them)}}."},
[OSC_ADVICE_UNALIGNED] = {"unaligned", "Matrices have odd sizes",
    "Products of matrices of 16 bits with sizes that are no multiples of 8 take {of_steps}"
    "{subject?, most of it those of {subject}}. Aligned ones use the matrix units of the device "
    "fully: pad vocabulary, hidden sizes and batches to multiples of 8."},
[OSC_ADVICE_FP32_MATMUL] = {"fp32_matmul", "Matrices are multiplied in FP32",
    "Products of matrices in FP32 take {of_steps}{subject?, most of it those of {subject}}, "
    "though the device has TF32. If its precision is enough: "
    "torch.set_float32_matmul_precision('high')."},
[OSC_ADVICE_DEVICE_COPIES] = {"device_copies", "Copies keep devices from computing",
    "Devices copy for {of_steps} while none computes, in {count} {count|copy|copies}{way?: "
    "above all {way} ({way_ns})}{subject?, by {subject}{grew? in {grew}} ({most_ns})}. "
    "{copy_less}"},
[OSC_ADVICE_DEVICE_KERNELS] = {"device_kernels", "Kernels take all the time",
    "Kernels run for {share} of the step time{subject?, above all {subject} ({most_ns} in "
    "{count} {count|kernel|kernels})}. Only cheaper work on the device makes that shorter: "
    "smaller shapes, values of fewer bits, fused or better kernels."},
[OSC_ADVICE_STRAGGLER] = {"straggler", "Ranks wait for one that comes late", NULL},
};
/* clang-format on */

/* --- facts -------------------------------------------------------------------------------- */

/* Whether NAME may be said: there is one, and the row is that of one part. */
static bool has_name(const struct osc_advice_numbers *n, struct osc_str name)
{
    return n->n_parts == 1 && name.len > 0;
}

/* The first word of the traits: the device, or the family of several. */
static struct osc_str device_of(const struct osc_advice_numbers *n)
{
    const char *const end = n->traits.len > 0 ? memchr(n->traits.s, ' ', n->traits.len) : NULL;

    return (struct osc_str){n->traits.s, end ? (uint32_t)(end - n->traits.s) : n->traits.len};
}

static bool has_device(const struct osc_advice_numbers *n)
{
    return n->traits.len > 0 && n->traits.s[0] != '-';
}

/* Write the module of torch, with a point, that is that of the devices that the call SUBJECT
 * drives, or else of those that did the work; "" where it is not known. */
static void add_module(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    struct osc_str family =
        has_name(n, n->subject) ? osc_known_call_device(n->subject) : OSC_STR("");

    if (family.len == 0 && has_device(n)) {
        family = device_of(n);
        (void)osc_device_split(family, &family);
    }
    struct osc_str word = osc_known_device_word(family);

    if (osc_known_device_number(word) == osc_known_device_number(OSC_STR("privateuse1")))
        word = family; /* a backend of its own name has a module of that name */
    if (word.len > 0)
        osc_strbuf_addf(out, "torch.%.*s.", (int)word.len, word.s);
}

/* What the program does already, and its devices. */
static void set_program(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    static const struct {
        const char *word;
        unsigned fact;
    } traits[] = {{" torch", FACT_torch},
                  {" hostless", FACT_hostless},
                  {" jax", FACT_jax},
                  {" tensorflow", FACT_tensorflow},
                  {" functions", FACT_functions},
                  {" graphs", FACT_graphs},
                  {" compile", FACT_compile},
                  {" fused", FACT_fused},
                  {" half", FACT_half},
                  {" buffers", FACT_has_buffers},
                  {" workers", FACT_has_workers}};
    struct osc_str family = device_of(n);

    for (size_t k = 0; k < sizeof traits / sizeof *traits; k++)
        osc_prose_flag(f, traits[k].fact, osc_str_has(n->traits, osc_str_c(traits[k].word)));
    osc_prose_flag(f, FACT_device, has_device(n));
    if (n->n_parts == 1 && osc_str_has(family, OSC_STR(":")))
        osc_prose_text(f, FACT_only_device, family);
    (void)osc_device_split(family, &family);
    const struct osc_str graph = osc_known_graphs(family);
    if (graph.len > 0 && !f->v[FACT_graphs].is_there)
        osc_prose_text(f, FACT_graph, graph);
    if (has_name(n, n->subject))
        osc_prose_flag(f, FACT_has_workers,
                       osc_str_has(n->subject, OSC_STR("_MultiProcessingDataLoaderIter")));
    if (!has_name(n, n->grew) ||
        !osc_str_eq(n->grew, OSC_STR("DistributedDataParallel.forward")) ||
        !osc_str_eq(n->subject, OSC_STR("aten::copy_")))
        osc_prose_flag(f, FACT_has_buffers, false);
}

/* What the row says by itself. */
static void set_columns(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    OSC_ADVICE_FACT_LIST(SET_MEASURED)
    osc_prose_number(f, FACT_impact, n->impact_ns);
    osc_prose_number(f, FACT_part_ns, n->part);
    osc_prose_number(f, FACT_part_bytes, n->part);
    osc_prose_number(f, FACT_whole_bytes, n->whole);
    osc_prose_number(f, FACT_count, n->count);
    osc_prose_number(f, FACT_tiny_us, OSC_TINY_NS / 1000);
    osc_prose_share(f, FACT_share, n->part, n->whole);
    osc_prose_share(f, FACT_percent, n->part, n->whole);
}

/* What a step has, and what the rules about idle time and steps conclude. */
static void set_conclusions(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    const int64_t n_steps = n->facts.n_steps > 0 ? n->facts.n_steps : 1;
    const int64_t unmarked_ns = n->impact_ns - n->facts.marked_ns;
    const int64_t least_ns = n->impact_ns / OSC_IDLE_WORTH;
    const bool is_single = n->n_parts == 1;

    osc_prose_number(f, FACT_bytes_each, n->part / n_steps);
    osc_prose_number(f, FACT_each, (n->count + n_steps / 2) / n_steps);
    osc_prose_flag(f, FACT_is_one, n->count == n->facts.n_steps);
    if (n->facts.n_chained >= n->facts.n_steps && n->facts.n_steps > 0)
        osc_prose_number(f, FACT_chained, (n->facts.n_chained + n_steps / 2) / n_steps);
    osc_prose_flag(f, FACT_is_asked, n->facts.n_asked > 0);
    osc_prose_flag(f, FACT_is_part, n->facts.most_ns < n->impact_ns);
    osc_prose_flag(f, FACT_is_queued,
                   is_single && n->facts.queued_ns > n->impact_ns - n->facts.queued_ns);
    osc_prose_flag(f, FACT_is_last,
                   is_single && n->subject.len == 0 && n->facts.is_after_last != 0);
    osc_prose_flag(f, FACT_has_launches, is_single && n->facts.call_ns > 0);
    osc_prose_flag(f, FACT_is_compiler,
                   is_single && osc_str_has(n->subject, OSC_STR(OSC_COMPILE_WORD)));
    osc_prose_flag(f, FACT_is_npu_compiler,
                   f->v[FACT_torch].is_there &&
                       osc_str_has(n->subject, OSC_STR("aclopCompile")));
    osc_prose_flag(f, FACT_is_uncached, 2 * n->facts.n_uncached > n->n_parts);
    osc_prose_flag(f, FACT_is_nothing, osc_str_eq(n->grew, OSC_STR("other")));
    osc_prose_flag(f, FACT_on_device, n->facts.is_on_device != 0);
    if (unmarked_ns > least_ns)
        osc_prose_number(f, FACT_unmarked, unmarked_ns);
    osc_prose_flag(f, FACT_is_partly_marked,
                   unmarked_ns > least_ns && n->facts.marked_ns > least_ns);
}

/* Which way copies go. Of merged rows the largest says nothing, and a part of another process
 * may have any number. */
static void set_way(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    static const struct {
        const char *word;
        unsigned fact;
    } ways[OSC_COPY_WAYS] = {
        [OSC_COPY_UNKNOWN] = {"in an unknown direction", FACT_way},
        [OSC_COPY_TO_DEVICE] = {"to devices", FACT_to_device},
        [OSC_COPY_FROM_DEVICE] = {"to the host", FACT_from_device},
        [OSC_COPY_ON_DEVICES] = {"on devices", FACT_on_devices},
    };

    const uint64_t way = (uint64_t)n->facts.copy_way;

    if (n->n_parts != 1 || way >= OSC_COPY_WAYS)
        return;
    osc_prose_flag(f, ways[way].fact, true);
    osc_prose_text(f, FACT_way, osc_str_c(ways[way].word));
}

/* How long collectives wait for other ranks, and whether less traffic can help. */
static void set_waiting(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    const int64_t all_ns = n->facts.collectives_ns, waited_ns = n->facts.waited_ns;
    const int64_t longest_ns = n->facts.longest_ns;
    const bool is_worth_it =
        waited_ns > 0 && waited_ns >= all_ns / LITTLE + (all_ns % LITTLE != 0);
    const bool is_most = is_worth_it && waited_ns > all_ns - waited_ns;
    const bool is_one =
        !is_worth_it && all_ns == 0 && n->n_parts == 1 && longest_ns > n->part - longest_ns;

    if (is_worth_it)
        osc_prose_share(f, FACT_waited, waited_ns, all_ns);
    osc_prose_flag(f, FACT_is_mostly_waiting, is_most);
    osc_prose_flag(f, FACT_is_one_waiting, is_one);
    osc_prose_flag(f, FACT_can_send_less, !is_most && !is_one);
    osc_prose_flag(f, FACT_is_waiting_unknown, all_ns == 0);
}

/* What is known of the communication of a step. */
static void set_traffic(struct osc_prose_facts *f, const struct osc_advice_numbers *n)
{
    const int64_t n_steps = n->facts.n_steps > 0 ? n->facts.n_steps : 1;
    const int64_t each = (n->facts.n_collectives + n_steps / 2) / n_steps;
    const int64_t hidden_ns = n->facts.communication_ns - n->impact_ns;
    const bool is_few = n->facts.n_collectives > 0 &&
                        n->facts.n_collectives <= FEW_COLLECTIVES * n_steps,
               is_hidden = hidden_ns > n->impact_ns;

    if (each > 0)
        osc_prose_number(f, FACT_per_step, each);
    if (is_hidden)
        osc_prose_share(f, FACT_hidden, hidden_ns, n->facts.communication_ns);
    osc_prose_flag(f, FACT_is_few, is_few);
    osc_prose_flag(f, FACT_is_split, is_few && !is_hidden);
    osc_prose_flag(f, FACT_is_half, n->facts.half_ns > n->impact_ns - n->facts.half_ns);
}

/* Set what may be said of the names of N, which stay in LABELS: short enough for a sentence,
 * C++ names of device work folded (subject, if IS_WORK), and different if the names are. */
static osc_status set_names(struct osc_prose_facts *f, const struct osc_advice_numbers *n,
                            struct osc_labels *labels)
{
    osc_sid subject, grew = {0};
    osc_status st = osc_labels_add(labels, n->subject, n->is_work, &subject);

    if (st == OSC_OK)
        st = osc_labels_add(labels, n->grew, false, &grew);
    if (st == OSC_OK)
        st = osc_labels_compose(labels, OSC_WORDS_NAME_WIDTH, WORK_WIDTH);
    if (st == OSC_OK && has_name(n, n->subject))
        osc_prose_text(f, FACT_subject, osc_labels_get(labels, subject));
    if (st == OSC_OK && has_name(n, n->grew))
        osc_prose_text(f, FACT_grew, osc_labels_get(labels, grew));
    return st;
}

osc_status osc_advice_say(enum osc_advice_code code, const struct osc_advice_numbers *n,
                          struct osc_strbuf *out)
{
    struct osc_prose_facts facts = {.prose = &osc_advice_prose};
    struct osc_labels labels = {0};
    struct osc_strbuf module = {0};
    osc_status st = set_names(&facts, n, &labels);

    add_module(&module, n);
    osc_prose_text(&facts, FACT_module, (struct osc_str){module.s, (uint32_t)module.len});
    set_columns(&facts, n);
    set_program(&facts, n);
    set_conclusions(&facts, n);
    set_way(&facts, n);
    set_waiting(&facts, n);
    set_traffic(&facts, n);
    if (st == OSC_OK)
        st = module.status;
    if (st == OSC_OK) {
        osc_phrase_add(out, osc_advice_rules[code].text, &facts);
        st = out->status;
    }
    osc_strbuf_fini(&module);
    osc_labels_fini(&labels);
    return st;
}
