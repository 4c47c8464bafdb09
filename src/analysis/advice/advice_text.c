/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

#include <string.h>

#include "model/known_names.h"

#define NAME_BYTES 120 /* most bytes of a name in a sentence */

/* Write V, which is not negative, with three digits. */
static void add_digits(struct osc_strbuf *out, double v, const char *unit)
{
    osc_strbuf_addf(out, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
}

/* Write NS with a unit, such as 12.3 ms. */
static void add_time(struct osc_strbuf *out, int64_t ns)
{
    const double v = (double)ns;

    if (ns < 1000)
        osc_strbuf_addf(out, "%lld ns", (long long)ns);
    else if (v < 999.5e3)
        add_digits(out, v / 1e3, "us");
    else if (v < 999.5e6)
        add_digits(out, v / 1e6, "ms");
    else
        add_digits(out, v / 1e9, "s");
}

/* Write N bytes with a unit, such as 15.2 GiB. */
static void add_bytes(struct osc_strbuf *out, int64_t n)
{
    const double kib = 1024, v = (double)n;

    if (v < kib)
        osc_strbuf_addf(out, "%lld bytes", (long long)n);
    else if (v < kib * kib)
        add_digits(out, v / kib, "KiB");
    else if (v < kib * kib * kib)
        add_digits(out, v / kib / kib, "MiB");
    else
        add_digits(out, v / kib / kib / kib, "GiB");
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* "33.4 % of the step time (1.2 s)". */
static void add_share(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    osc_strbuf_addf(out, "%.1f %% of the step time (", percent(n->part, n->whole));
    add_time(out, n->impact_ns);
    osc_strbuf_adds(out, ")");
}

/* Write "3 steps" or "1 step"; THING is singular. */
static void add_count(struct osc_strbuf *out, int64_t count, const char *thing)
{
    osc_strbuf_addf(out, "%lld %s%s", (long long)count, thing, count == 1 ? "" : "s");
}

/* Write NAME, shortened to fit a sentence. */
static void add_name(struct osc_strbuf *out, struct osc_str name)
{
    uint32_t len = name.len < NAME_BYTES ? name.len : NAME_BYTES;

    while (len < name.len && len > 0 && ((unsigned char)name.s[len] & 0xc0) == 0x80)
        len--;
    osc_strbuf_add(out, name.s, len);
    osc_strbuf_adds(out, len < name.len ? "..." : "");
}

/* False for several parts: NAME is only that of the first. */
static bool has_name(const struct osc_advice_numbers *n, struct osc_str name)
{
    return n->n_parts == 1 && name.len > 0;
}

/* Write CALL with its module, which is that of the devices which the call SUBJECT drives. */
static void add_torch_call(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                           const char *call)
{
    const struct osc_str family =
        has_name(n, n->subject) ? osc_known_call_device(n->subject) : OSC_STR("");
    struct osc_str word = osc_known_device_word(family);

    if (osc_known_device_number(word) == osc_known_device_number(OSC_STR("privateuse1")))
        word = family; /* a backend of its own name has a module of that name */
    osc_strbuf_addf(out, "torch.%.*s.%s", word.len > 0 ? (int)word.len : 6,
                    word.len > 0 ? word.s : "DEVICE", call);
}

/* --- the program ----------------------------------------------------------- */

/* The first word of the traits: the device, or the family of several. */
static struct osc_str device_of(const struct osc_advice_numbers *n)
{
    const char *const end = n->traits.len > 0 ? memchr(n->traits.s, ' ', n->traits.len) : NULL;

    return (struct osc_str){n->traits.s, end ? (uint32_t)(end - n->traits.s) : n->traits.len};
}

/* Whether WORD, which begins with a space, is among the traits. */
static bool has_trait(const struct osc_advice_numbers *n, const char *word)
{
    return osc_str_has(n->traits, osc_str_c(word));
}

/* Whether the work is that of devices, by the traits. */
static bool has_device(const struct osc_advice_numbers *n)
{
    return n->traits.len > 0 && n->traits.s[0] != '-';
}

/* "75.6 ms of the 82.0 ms in which FAMILY:0 has no work". */
static void add_idle(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    add_time(out, n->impact_ns);
    osc_strbuf_adds(out, " of the ");
    add_time(out, n->more[0]);
    osc_strbuf_adds(out, " in which ");
    if (n->n_parts == 1 && osc_str_has(device_of(n), OSC_STR(":"))) {
        osc_strbuf_addstr(out, device_of(n));
        osc_strbuf_adds(out, " has no work");
    } else {
        osc_strbuf_adds(out, "no device works");
    }
    osc_strbuf_addf(out, " (%.1f %% of the step time)", percent(n->part, n->whole));
}

/* The word for graphs of kernels, if the program launches none; "": there is none. */
static struct osc_str graphs_of(const struct osc_advice_numbers *n)
{
    struct osc_str family = device_of(n);

    (void)osc_device_split(family, &family);
    return has_trait(n, " graphs") ? OSC_STR("") : osc_known_graphs(family);
}

/* What launches fewer kernels, without what the program does already. */
static void add_fewer_launches(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    const struct osc_str graphs = graphs_of(n);

    if (has_trait(n, " jax")) {
        osc_strbuf_adds(out, "Put more into one jax.jit, or give each call more to do.");
    } else if (has_trait(n, " tensorflow")) {
        osc_strbuf_adds(out, "Compile with XLA (tf.function(jit_compile=True)), or use larger "
                             "batches.");
    } else if (has_trait(n, " torch")) {
        osc_strbuf_adds(out, "Launch less often: ");
        osc_strbuf_adds(out, has_trait(n, " compile") ? "" : "torch.compile, ");
        osc_strbuf_addstr(out, graphs);
        osc_strbuf_adds(out, graphs.len > 0 ? ", " : "");
        if (has_trait(n, " graphs"))
            osc_strbuf_adds(out, "more of the work inside graphs, ");
        osc_strbuf_adds(out, "larger batches.");
    } else {
        osc_strbuf_adds(out, "Launch fewer and larger kernels.");
    }
}

/* --- sentences ------------------------------------------------------------- */

static void say_data_loading(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_torch = has_trait(n, " torch");

    if (!has_device(n)) {
        add_share(out, n);
        osc_strbuf_adds(out, " passes in the data loader while nothing else runs. ");
    } else {
        osc_strbuf_adds(out, "The host waits for the data loader for ");
        add_idle(out, n);
        if (has_name(n, n->subject)) {
            osc_strbuf_adds(out, ", in ");
            add_name(out, n->subject);
        }
        osc_strbuf_adds(out, ". ");
    }
    if (!is_torch)
        osc_strbuf_adds(out, "Load and prepare data ahead of time, beside the steps.");
    else if (has_name(n, n->subject) &&
             osc_str_has(n->subject, OSC_STR("_MultiProcessingDataLoaderIter")))
        osc_strbuf_adds(out, "Its worker processes are too slow: use more of them "
                             "(num_workers, prefetch_factor) or make them do less.");
    else
        osc_strbuf_addf(out,
                        "Load ahead of time in other processes: DataLoader(..., "
                        "num_workers=N%s).",
                        has_device(n) ? ", pin_memory=True" : ""); /* for copies to devices */
}

static void say_data_parallel(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DataParallel drives ");
    add_count(out, n->more[0], "device");
    osc_strbuf_adds(out, " from one process; for ");
    add_share(out, n);
    osc_strbuf_adds(out, " not all of them run kernels. Use DistributedDataParallel with one "
                         "process per device.");
}

static void say_backend(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DistributedDataParallel runs without NCCL, and communication takes ");
    add_share(out, n);
    osc_strbuf_adds(out, ". Where the devices have it, NCCL (on ROCm RCCL) is the fastest "
                         "backend: torch.distributed.init_process_group('nccl').");
}

static void say_communication(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_share(out, n);
    osc_strbuf_adds(out, " passes in communication that nothing hides");
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, " (");
        add_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    osc_strbuf_adds(out, ". Let it run beside computation, send less, or compute more between "
                         "two calls: ");
    osc_strbuf_adds(out,
                    has_trait(n, " torch")
                        ? "in training larger buckets, compressed or accumulated gradients "
                          "or larger batches (the last two change the effective batch "
                          "size); in inference fewer devices a model."
                        : "larger messages less often, or larger batches.");
    osc_strbuf_adds(out, " Ranks that come late make the others wait here.");
}

static void say_low_utilization(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (has_name(n, n->subject))
        add_name(out, n->subject);
    else
        add_count(out, n->count, "device");
    osc_strbuf_addf(out, " ran kernels in %.1f %% of the time; no kernel for ",
                    percent(n->part, n->whole));
    add_time(out, n->impact_ns);
    osc_strbuf_adds(out, " of the steps. A larger batch gives a device more work at once; it "
                         "may change how the training converges.");
}

static void say_tensor_cores(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_addf(out,
                    "%.0f %% of the kernel time is launched by operators that can use Tensor "
                    "Cores, and no kernel is known to use them; these kernels run for ",
                    percent(n->part, n->whole));
    add_time(out, n->more[0]);
    osc_strbuf_adds(out, " of the steps. Values of 16 bits halve the bytes that they move, and "
                         "more where they compute. Use automatic mixed precision: ");
    /* Only this family has Tensor Cores: there is no such advice for hip, xpu and others. */
    osc_strbuf_adds(out, "torch.autocast('cuda').");
}

static void say_memory_limit(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (has_name(n, n->subject))
        add_name(out, n->subject);
    else
        osc_strbuf_adds(out, "Devices");
    osc_strbuf_adds(out, " held ");
    add_bytes(out, n->part);
    osc_strbuf_adds(out, " of ");
    add_bytes(out, n->whole);
    osc_strbuf_addf(out, " at the peak (%.1f %%).", percent(n->part, n->whole));
    osc_strbuf_adds(out,
                    has_trait(n, " half")
                        ? " Checkpoint activations (torch.utils.checkpoint), or use "
                          "smaller batches."
                        : " Checkpoint activations (torch.utils.checkpoint), use automatic "
                          "mixed precision, or use smaller batches.");
}

/* Begin a sentence with the call that has most of the time and the range around it. */
static void add_call(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    add_name(out, n->subject);
    if (n->grew.len > 0) {
        osc_strbuf_adds(out, " in ");
        add_name(out, n->grew);
    }
    osc_strbuf_adds(out, " blocks the host for ");
    if (n->more[1] < n->impact_ns) {
        add_time(out, n->more[1]);
        osc_strbuf_adds(out, ", with others of its kind for ");
    }
}

static void say_synchronization(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_torch = has_trait(n, " torch");

    if (has_name(n, n->subject))
        add_call(out, n);
    else
        osc_strbuf_adds(out, "Calls that wait for devices block the host for ");
    add_idle(out, n);
    osc_strbuf_adds(out, ". ");
    if (n->n_parts == 1 && n->more[2] > n->impact_ns - n->more[2]) {
        osc_strbuf_adds(out, "The work that then starts was launched before that call, which "
                             "only waits along: see what holds the device up, such as work of "
                             "before the recording, other processes or other ranks.");
        return;
    }
    if (is_torch) {
        osc_strbuf_adds(out, "Avoid .item(), .cpu(), print() of tensors and ");
        add_torch_call(out, n, "synchronize()");
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
    osc_strbuf_addf(out, "%lld in total, ", (long long)n->count);
    osc_strbuf_adds(out, n->count == 1 ? "takes " : "take ");
    add_share(out, n);
    osc_strbuf_adds(
        out,
        " while no kernel runs, and the host waits for them. Pin the memory and copy without "
        "waiting: DataLoader(..., pin_memory=True), x.to(device, non_blocking=True).");
}

/* Append ", above all before NAME" if there is one. */
static void add_before(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    if (n->n_parts == 1 && n->subject.len == 0 && n->more[2] == 1) {
        osc_strbuf_adds(out, ", above all after the last work (");
        add_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    if (!has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, ", above all before ");
    add_name(out, n->subject);
    osc_strbuf_adds(out, " (");
    add_time(out, n->more[1]);
    osc_strbuf_addc(out, ')');
}

static void say_launch_bound(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The host is busy launching work for ");
    add_idle(out, n);
    add_before(out, n);
    osc_strbuf_adds(out, ". ");
    if (n->n_parts == 1 && n->more[3] > 0) {
        osc_strbuf_adds(out, "Half of the kernels run for at most ");
        add_time(out, n->more[2]);
        osc_strbuf_adds(out, ", half of the calls that launch them take ");
        add_time(out, n->more[3]);
        osc_strbuf_adds(out, " or more. ");
    }
    add_fewer_launches(out, n);
}

static void say_handover(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The next work was launched already for ");
    add_idle(out, n);
    osc_strbuf_adds(out, ", in ");
    add_count(out, n->count, "gap");
    add_before(out, n);
    osc_strbuf_adds(out, ": devices take that time between one kernel or copy and the next. "
                         "Fewer, larger kernels leave fewer such gaps");
    osc_strbuf_adds(out, has_trait(n, " torch") && !has_trait(n, " compile")
                             ? " (torch.compile fuses them)."
                             : ".");
}

static void say_slow_call(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (has_name(n, n->subject))
        add_call(out, n);
    else
        osc_strbuf_adds(out, "Single calls take ");
    add_idle(out, n);
    if (n->n_parts == 1 && osc_str_has(n->subject, OSC_STR("Compile"))) {
        osc_strbuf_adds(out,
                        ". It compiles code for the device: warm up before, keep shapes the "
                        "same, or compile ahead of time.");
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
    add_idle(out, n);
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all that of ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, " (");
        add_time(out, n->more[1]);
        osc_strbuf_addc(out, ')');
    }
    osc_strbuf_adds(out, ". The host is not what it waits for, and nothing recorded says more: "
                         "see whether the start of the profiler, other processes on the device "
                         "or other ranks hold it up, and whether it is so without a profiler.");
}

static void say_idle_python(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Python runs outside of operators and calls for ");
    add_idle(out, n);
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, " (");
        add_time(out, n->more[1]);
        osc_strbuf_adds(out, " of its own)");
    }
    osc_strbuf_adds(out, ". Do that less often, in another thread or process, or launch the "
                         "next work before.");
}

static void say_idle_unrecorded(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The threads that launch work recorded nothing for ");
    add_idle(out, n);
    add_before(out, n);
    osc_strbuf_adds(out, ". ");
    if (has_trait(n, " hostless"))
        osc_strbuf_adds(out, "Record the host, too, to see what it does there: "
                             "activities=[ProfilerActivity.CPU, ...].");
    else if (has_trait(n, " torch"))
        osc_strbuf_adds(out, "Record Python functions to see what they do there "
                             "(with_stack=True or --torch=stack), or mark it with "
                             "record_function().");
    else
        osc_strbuf_adds(out, "Record more of the host to see what it does there.");
}

static void say_overhead(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "The profiler itself is at work for ");
    add_idle(out, n);
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
    }
    osc_strbuf_adds(out, ". Without it the program does not wait there: record fewer steps or "
                         "less of each, and warm up before.");
}

static void say_optimizer(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (has_name(n, n->subject))
        add_name(out, n->subject);
    else
        osc_strbuf_adds(out, "Steps of optimizers");
    osc_strbuf_adds(out, has_name(n, n->subject) ? " keeps the host busy for "
                                                 : " keep the host busy for ");
    add_idle(out, n);
    osc_strbuf_adds(out, ". Launch less in it: ");
    osc_strbuf_adds(out, has_trait(n, " fused")
                             ? "compile its step (torch.compile), or step less often."
                             : "fused=True, or foreach=True.");
}

static void say_allocator(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const bool is_one = n->count == 1;

    add_count(out, n->count, "call");
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, ",");
    }
    osc_strbuf_adds(out, is_one ? " takes device memory or gives it back"
                                : " take device memory or give it back");
    osc_strbuf_adds(out, " within steps: ");
    if (has_device(n))
        add_idle(out, n);
    else
        add_share(out, n);
    if (!has_trait(n, " torch")) {
        osc_strbuf_adds(out, ". Keep memory instead of returning it.");
        return;
    }
    osc_strbuf_adds(out,
                    ". The caching allocator does that while it grows, and again and again "
                    "where memory is short or fragmented. Keep shapes the same, do not call ");
    add_torch_call(out, n, "empty_cache()");
    osc_strbuf_adds(out, " in steps, or set PYTORCH_ALLOC_CONF=expandable_segments:True.");
}

static void say_slow_steps(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_count(out, n->count, "step");
    osc_strbuf_adds(out, n->count == 1 ? " takes " : " take ");
    add_time(out, n->part);
    osc_strbuf_addf(out, " longer than the median (beyond 3 MAD), %.1f %% of the step time.",
                    percent(n->part, n->whole));
    if (!has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, " The slowest is step ");
    add_name(out, n->subject);
    osc_strbuf_adds(out, ", by ");
    add_time(out, n->more[0]);
    osc_strbuf_adds(out, " over ");
    add_time(out, n->more[3]);
    osc_strbuf_adds(out, ".");
    if (!has_name(n, n->grew))
        return;
    if (osc_str_eq(n->grew, OSC_STR("other"))) {
        osc_strbuf_adds(out, " There nothing was recorded for ");
        add_time(out, n->more[1]);
        osc_strbuf_adds(out, " more than usual.");
        return;
    }
    osc_strbuf_adds(out, " There ");
    add_name(out, n->grew);
    osc_strbuf_adds(out, " grew most, by ");
    add_time(out, n->more[1]);
    osc_strbuf_adds(out, n->more[2] != 0 ? " on the device." : " on the host.");
}

/* Append ", above all NAME" if there is one. */
static void add_above_all(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    if (!has_name(n, n->subject))
        return;
    osc_strbuf_adds(out, ", above all ");
    add_name(out, n->subject);
}

/* Append COUNT divided by the number of kept steps, as "96 THINGs a step". */
static void add_per_step(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                         int64_t count, const char *thing)
{
    const int64_t n_steps = n->more[0] > 0 ? n->more[0] : 1;
    const int64_t each = (count + n_steps / 2) / n_steps;

    add_count(out, each, thing);
    osc_strbuf_adds(out, " a step");
}

static void say_host_sync(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_per_step(out, n, n->count, "call");
    osc_strbuf_adds(out, n->count == n->more[0] ? " reads" : " read");
    osc_strbuf_adds(out, " values of tensors");
    add_above_all(out, n);
    osc_strbuf_adds(out, "; the calls alone take ");
    add_share(out, n);
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
    add_share(out, n);
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
    add_share(out, n);
    add_above_all(out, n);
    osc_strbuf_adds(out, ". Half as wide is at least twice as fast: build models and data in "
                         "float32 (.float(), dtype=torch.float32). NumPy's default is float64; "
                         "one such input makes results float64, too.");
}

static void say_tiny_operators(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_per_step(out, n, n->count, "operator");
    osc_strbuf_addf(out, " of less than %d us each", (int)(OSC_TINY_NS / 1000));
    add_above_all(out, n);
    osc_strbuf_adds(out, ", and what lies between them take ");
    add_share(out, n);
    osc_strbuf_adds(out, ". Work on whole tensors instead of loops over rows, batches or time, "
                         "or use torch.compile.");
}

static void say_single_tensor(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, has_name(n, n->subject) ? "" : "Optimizers");
    if (has_name(n, n->subject))
        add_name(out, n->subject);
    osc_strbuf_adds(out, has_name(n, n->subject) ? " takes " : " take ");
    add_share(out, n);
    osc_strbuf_adds(out, n->more[2] > 0 ? ", one tensor at a time as the program asks "
                                          "(foreach=False)."
                                        : ", one tensor at a time.");
    osc_strbuf_adds(out, " Use fused=True, or on devices foreach=True.");
}

static void say_python(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Python outside of operators takes ");
    add_share(out, n);
    if (has_name(n, n->subject)) {
        add_above_all(out, n);
        osc_strbuf_adds(out, " (");
        add_time(out, n->more[3]);
        osc_strbuf_adds(out, " of its own)");
    }
    osc_strbuf_adds(out,
                    ". Do that less often, in another thread or process, or with operators "
                    "on tensors.");
}

static void say_unrecorded(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "For ");
    add_share(out, n);
    osc_strbuf_adds(
        out, " nothing was recorded on the thread of the steps: Python between "
             "operators, sleep, or input and output. Record Python functions to see "
             "which (with_stack=True or --torch=stack), or mark them with record_function().");
}

static void say_memory_growth(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "Every step leaves ");
    add_bytes(out, n->part / (n->more[0] > 0 ? n->more[0] : 1));
    osc_strbuf_addf(out, " allocated, %.1f %% of what it allocates",
                    percent(n->part, n->whole));
    add_above_all(out, n);
    osc_strbuf_adds(out, ". Keep numbers or detached copies instead of tensors that hold their "
                         "graph (loss.item(), .detach()), and drop lists that only grow.");
}

const struct osc_advice_rule osc_advice_rules[OSC_ADVICE_COUNT] = {
    [OSC_ADVICE_DATA_LOADING] = {"data_loading", "Steps wait for data", "steps",
                                 " --sort dataloader_ns", true, say_data_loading},
    [OSC_ADVICE_DATA_PARALLEL] = {"data_parallel", "DataParallel drives several devices",
                                  "events", "", false, say_data_parallel},
    [OSC_ADVICE_BACKEND] = {"backend", "Gradients do not go through NCCL", "events", "", false,
                            say_backend},
    [OSC_ADVICE_COMMUNICATION] = {"communication", "Steps wait for communication", "steps",
                                  " --sort communication_ns", true, say_communication},
    [OSC_ADVICE_LOW_UTILIZATION] = {"low_utilization", "Devices have little to do", "devices",
                                    "", true, say_low_utilization},
    [OSC_ADVICE_TENSOR_CORES] = {"tensor_cores", "No kernel is known to use Tensor Cores",
                                 "kernels", " --group-by op", true, say_tensor_cores},
    [OSC_ADVICE_MEMORY_LIMIT] = {"memory_limit", "Memory is nearly full", "memory_peaks", "",
                                 false, say_memory_limit},
    [OSC_ADVICE_SYNCHRONIZATION] = {"synchronization", "The host waits, then the device does",
                                    "events", " --sort dur_ns", false, say_synchronization},
    [OSC_ADVICE_PAGEABLE_COPIES] = {"pageable_copies", "Copies come from pageable memory",
                                    "events", " --sort dur_ns", false, say_pageable_copies},
    [OSC_ADVICE_LAUNCH_BOUND] = {"launch_bound", "Kernels end before the next is launched",
                                 "events", " --sort dur_ns", false, say_launch_bound},
    [OSC_ADVICE_ALLOCATOR] = {"allocator", "Steps allocate device memory", "events",
                              " --sort dur_ns", false, say_allocator},
    [OSC_ADVICE_SLOW_STEPS] = {"slow_steps", "Some steps are slow", "steps", " --sort total_ns",
                               false, say_slow_steps},
    [OSC_ADVICE_HOST_SYNC] = {"host_sync", "Values are read one by one", "events",
                              " --sort dur_ns", false, say_host_sync},
    [OSC_ADVICE_COPIES] = {"copies", "Tensors are copied again and again", "events",
                           " --sort dur_ns", false, say_copies},
    [OSC_ADVICE_FLOAT64] = {"float64", "Operators compute in float64", "events",
                            " --sort dur_ns", false, say_float64},
    [OSC_ADVICE_TINY_OPERATORS] = {"tiny_operators", "Many operators do very little", "events",
                                   "", false, say_tiny_operators},
    [OSC_ADVICE_SINGLE_TENSOR] = {"single_tensor", "The optimizer takes one tensor at a time",
                                  "events", " --sort dur_ns", false, say_single_tensor},
    [OSC_ADVICE_PYTHON] = {"python", "Python takes time between operators", "events",
                           " --sort self_ns", false, say_python},
    [OSC_ADVICE_UNRECORDED] = {"unrecorded", "Much time is not recorded", "steps",
                               " --sort other_ns", false, say_unrecorded},
    [OSC_ADVICE_MEMORY_GROWTH] = {"memory_growth", "Memory grows from step to step",
                                  "memory_events", " --sort bytes", false, say_memory_growth},
    [OSC_ADVICE_OVERHEAD] = {"profiler_overhead", "Devices wait for the profiler", "events",
                             " --sort dur_ns", false, say_overhead},
    [OSC_ADVICE_OPTIMIZER] = {"optimizer", "Devices wait for the optimizer", "events",
                              " --sort dur_ns", false, say_optimizer},
    [OSC_ADVICE_IDLE_PYTHON] = {"python_idle", "Devices wait for Python", "events",
                                " --sort self_ns", false, say_idle_python},
    [OSC_ADVICE_IDLE_UNRECORDED] = {"unrecorded_idle", "Devices wait, nothing says for what",
                                    "events", "", false, say_idle_unrecorded},
    [OSC_ADVICE_SLOW_CALL] = {"slow_call", "Single calls keep the host", "events",
                              " --sort dur_ns", false, say_slow_call},
    [OSC_ADVICE_LATE_START] = {"late_start", "Devices begin late", "events", "", false,
                               say_late_start},
    [OSC_ADVICE_HANDOVER] = {"handover", "Short kernels leave gaps", "events", "", false,
                             say_handover},
};
