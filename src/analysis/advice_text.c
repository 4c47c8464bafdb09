/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice_list.h"

#include "base/utf8.h"

#define NAME_BYTES 120 /* of names in sentences */

static const char *const codes[] = {
#define CODE(name, code, title) code,
    OSC_ADVICE_LIST(CODE)
#undef CODE
};

static const char *const titles[] = {
#define TITLE(name, code, title) title,
    OSC_ADVICE_LIST(TITLE)
#undef TITLE
};

const char *osc_advice_code_text(enum osc_advice_code code)
{
    return codes[code];
}

const char *osc_advice_title(enum osc_advice_code code)
{
    return titles[code];
}

/* --- sentences ---------------------------------------------------------------- */

/* V, not negative, with three digits. */
static void add_digits(struct osc_strbuf *out, double v, const char *unit)
{
    osc_strbuf_addf(out, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
}

/* NS with a unit, such as 12.3 ms. */
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

/* N bytes with a unit, such as 15.2 GiB. */
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

/* "3 steps", "1 step"; THING in the singular. */
static void add_count(struct osc_strbuf *out, int64_t count, const char *thing)
{
    osc_strbuf_addf(out, "%lld %s%s", (long long)count, thing, count == 1 ? "" : "s");
}

/* NAME, of which a page is no help in a sentence. */
static void add_name(struct osc_strbuf *out, struct osc_str name)
{
    uint32_t len = name.len < NAME_BYTES ? name.len : NAME_BYTES;

    while (len < name.len && len > 0 && ((unsigned char)name.s[len] & 0xc0) == 0x80)
        len--;
    osc_strbuf_add(out, name.s, len);
    osc_strbuf_adds(out, len < name.len ? "..." : "");
}

/* Names of several parts would be those of the first alone. */
static bool has_name(const struct osc_advice_numbers *n, struct osc_str name)
{
    return n->n_parts == 1 && name.len > 0;
}

static void say_data_loading(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_share(out, n);
    osc_strbuf_adds(out, " goes by in the data loader while nothing else runs. Load in other "
                         "processes and ahead of time: DataLoader(..., num_workers=N, "
                         "pin_memory=True).");
}

static void say_data_parallel(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DataParallel drives ");
    add_count(out, n->more[0], "device");
    osc_strbuf_adds(out, " from one process; for ");
    add_share(out, n);
    osc_strbuf_adds(out, " not all of them run kernels. Use DistributedDataParallel, with a "
                         "process for each device.");
}

static void say_backend(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "DistributedDataParallel runs without NCCL, and communication takes ");
    add_share(out, n);
    osc_strbuf_adds(out, ". For CUDA devices NCCL is the fastest backend: "
                         "torch.distributed.init_process_group('nccl').");
}

static void say_communication(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_share(out, n);
    osc_strbuf_adds(out,
                    " goes by in communication that nothing hides. Compress gradients (DDP "
                    "communication hooks), accumulate them over several batches, or take "
                    "larger batches. The last two change the effective batch size, which may "
                    "cost accuracy; optimizers such as LAMB are made for that.");
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
    osc_strbuf_adds(out, " of the steps. A larger batch gives a device more to do at once; it "
                         "may change how the training converges.");
}

static void say_tensor_cores(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_addf(out,
                    "%.0f %% of the kernel time is launched by operators that can use Tensor "
                    "Cores, and no kernel is known to use them; these kernels run for ",
                    percent(n->part, n->whole));
    add_time(out, n->impact_ns);
    osc_strbuf_adds(out, " of the steps. Use automatic mixed precision: "
                         "torch.autocast('cuda').");
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
    osc_strbuf_adds(out, " Checkpoint activations (torch.utils.checkpoint), use automatic "
                         "mixed precision, or take smaller batches.");
}

static void say_idle_device(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    const int64_t all = n->more[0] + n->more[1] + n->more[2] + n->more[3];

    osc_strbuf_adds(out, "For ");
    add_share(out, n);
    osc_strbuf_adds(out, " no device does anything, in ");
    add_count(out, n->count, "gap");
    osc_strbuf_addf(out,
                    ". Meanwhile the host is in the data loader (%.0f %%), in calls of the "
                    "device runtime (%.0f %%), in operators and other ranges (%.0f %%), or in "
                    "nothing that was recorded (%.0f %%).",
                    percent(n->more[0], all), percent(n->more[1], all),
                    percent(n->more[2], all), percent(n->more[3], all));
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, " The longest part ends with work of ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, ".");
    }
}

static void say_synchronization(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_count(out, n->count, "call");
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, ",");
    }
    osc_strbuf_adds(out, n->count == 1 ? " waits" : " wait");
    osc_strbuf_adds(out, " for the device, ");
    add_time(out, n->more[0]);
    osc_strbuf_adds(out, " in all; afterwards the device has nothing to do for ");
    add_share(out, n);
    osc_strbuf_adds(out, ". Leave out .item(), .cpu(), print() of tensors and "
                         "torch.cuda.synchronize() in steps, or do them less often.");
}

static void say_pageable_copies(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, n->count == 1 ? "One copy" : "Copies");
    osc_strbuf_adds(out, " to the device from pageable memory, ");
    osc_strbuf_addf(out, "%lld in all, ", (long long)n->count);
    osc_strbuf_adds(out, n->count == 1 ? "takes " : "take ");
    add_share(out, n);
    osc_strbuf_adds(out, " while no kernel runs, and the host waits for them. Pin the memory "
                         "and do not wait: DataLoader(..., pin_memory=True), "
                         "x.to(device, non_blocking=True).");
}

static void say_launch_bound(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    if (n->n_parts == 1) {
        osc_strbuf_adds(out, "Half of the kernels run for at most ");
        add_time(out, n->more[0]);
        osc_strbuf_adds(out, ", half of the calls that launch them take ");
        add_time(out, n->more[1]);
        osc_strbuf_adds(out, " or more");
    } else {
        osc_strbuf_adds(out, "Kernels run shorter than it takes to launch them");
    }
    osc_strbuf_adds(out, ": for ");
    add_share(out, n);
    osc_strbuf_adds(out, " devices wait for the next launch");
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all before ");
        add_name(out, n->subject);
    }
    osc_strbuf_adds(out, ". Launch less often: torch.compile, CUDA graphs, fused optimizers "
                         "(fused=True), larger batches.");
}

static void say_allocator(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_count(out, n->count, "call");
    if (has_name(n, n->subject)) {
        osc_strbuf_adds(out, ", above all ");
        add_name(out, n->subject);
        osc_strbuf_adds(out, ",");
    }
    osc_strbuf_adds(out, n->count == 1 ? " takes device memory or gives it back"
                                       : " take device memory or give it back");
    osc_strbuf_adds(out, " within steps: ");
    add_share(out, n);
    osc_strbuf_adds(out,
                    ". The caching allocator does that while it grows, and again and again "
                    "where memory is short or fragmented. Keep shapes the same, do not call "
                    "torch.cuda.empty_cache() in steps, or set "
                    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.");
}

static void say_slow_steps(const struct osc_advice_numbers *n, struct osc_strbuf *out)
{
    add_count(out, n->count, "step");
    osc_strbuf_adds(out, n->count == 1 ? " takes " : " take ");
    add_time(out, n->impact_ns);
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
    osc_strbuf_adds(out, " There ");
    add_name(out, n->grew);
    osc_strbuf_adds(out, " grew most, by ");
    add_time(out, n->more[1]);
    osc_strbuf_adds(out, n->more[2] != 0 ? " on the device." : " on the host.");
}

void osc_advice_say(enum osc_advice_code code, const struct osc_advice_numbers *n,
                    struct osc_strbuf *out)
{
    static void (*const say[])(const struct osc_advice_numbers *n, struct osc_strbuf *out) = {
        [OSC_ADVICE_DATA_LOADING] = say_data_loading,
        [OSC_ADVICE_DATA_PARALLEL] = say_data_parallel,
        [OSC_ADVICE_BACKEND] = say_backend,
        [OSC_ADVICE_COMMUNICATION] = say_communication,
        [OSC_ADVICE_LOW_UTILIZATION] = say_low_utilization,
        [OSC_ADVICE_TENSOR_CORES] = say_tensor_cores,
        [OSC_ADVICE_MEMORY_LIMIT] = say_memory_limit,
        [OSC_ADVICE_IDLE_DEVICE] = say_idle_device,
        [OSC_ADVICE_SYNCHRONIZATION] = say_synchronization,
        [OSC_ADVICE_PAGEABLE_COPIES] = say_pageable_copies,
        [OSC_ADVICE_LAUNCH_BOUND] = say_launch_bound,
        [OSC_ADVICE_ALLOCATOR] = say_allocator,
        [OSC_ADVICE_SLOW_STEPS] = say_slow_steps,
    };

    say[code](n, out);
}

/* --- commands ----------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./:@%+,", c) != NULL);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* TEXT as one word of the shell. Bytes that cannot be typed become \ooo in $'...'. */
static void add_word(struct osc_strbuf *out, struct osc_str text)
{
    const bool is_utf8 = osc_utf8_valid(text.s, text.len);
    bool all_plain = text.len > 0, all_typed = is_utf8;

    for (uint32_t i = 0; i < text.len; i++) {
        all_plain &= is_plain(text.s[i]);
        all_typed &= !is_control(text.s[i]);
    }
    if (all_plain) {
        osc_strbuf_addstr(out, text);
        return;
    }
    osc_strbuf_adds(out, all_typed ? "'" : "$'");
    for (uint32_t i = 0; i < text.len; i++) {
        const char c = text.s[i];

        if (c == '\'')
            osc_strbuf_adds(out, all_typed ? "'\\''" : "\\'");
        else if (!all_typed && c == '\\')
            osc_strbuf_adds(out, "\\\\");
        else if (!all_typed && (is_control(c) || (!is_utf8 && (unsigned char)c >= 0x80)))
            osc_strbuf_addf(out, "\\%03o", (unsigned char)c);
        else
            osc_strbuf_addc(out, c);
    }
    osc_strbuf_addc(out, '\'');
}

/*
 * Of rows that are so far chosen those of the kept steps, told by the column: --steps
 * would go by steps of the whole file, of which a selection may have left fewer. No row
 * belongs to the one step of a trace without.
 */
static void add_kept(const struct osc_advice_base *a, struct osc_strbuf *out)
{
    if (a->first_step <= a->last_step)
        osc_strbuf_addf(out, " and step between %u and %u", a->first_step, a->last_step);
    else
        osc_strbuf_addf(out, " and start_ns >= %lld and start_ns < %lld",
                        (long long)(a->b->steps[0].start_ns - a->t->own_origin_ns),
                        (long long)(a->b->steps[0].end_ns - a->t->own_origin_ns));
}

/* `name in (...)` for the calls of ITEM, which are names of classify.c. */
static void add_names(const struct osc_advice_base *a, const struct osc_advice_item *item,
                      struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "name in (");
    for (size_t i = 0; i < item->names.n; i++) {
        osc_strbuf_adds(out, i > 0 ? ", '" : "'");
        osc_strbuf_addstr(out, osc_trace_str(a->t, item->names.v[i].name));
        osc_strbuf_adds(out, "'");
    }
    osc_strbuf_adds(out, ")");
}

/* The calls of ITEM within the kept steps, and copies for which the host waited. */
static void add_calls(const struct osc_advice_base *a, const struct osc_advice_item *item,
                      struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "events --sort dur_ns --where \"(");
    if (item->names.n > 0)
        add_names(a, item, out);
    if (item->names.n > 0 && item->has_copies)
        osc_strbuf_adds(out, " or ");
    if (item->has_copies)
        osc_strbuf_adds(out, "kind = 'memcpy' and name like '%(Device -> Pageable)%'");
    osc_strbuf_adds(out, ") and dur_ns is not null");
    add_kept(a, out);
    osc_strbuf_adds(out, "\"");
}

/* The ranges of the host that are called NAME. */
static void add_wrapper(const char *name, struct osc_strbuf *out)
{
    osc_strbuf_addf(out,
                    "events --where \"name = '%s' and kind in ('operator', 'annotation', "
                    "'python') and device is null and dur_ns is not null\"",
                    name);
}

/* NAMES, with commas between them, as texts of SQL within quotation marks. */
static void add_list(struct osc_str names, struct osc_strbuf *out)
{
    for (uint32_t i = 0; i < names.len; i++) {
        if (names.s[i] == ',')
            osc_strbuf_adds(out, "', '");
        else if (names.s[i] != ' ')
            osc_strbuf_addc(out, names.s[i]);
    }
}

/* The table, its options but for the file, and with what EXPR to choose. */
static void add_table(const struct osc_advice_base *a, enum osc_advice_code code,
                      const struct osc_advice_item *item, struct osc_strbuf *out)
{
    const char *const compat = a->is_compat ? " --compat tb" : "";

    switch (code) {
    case OSC_ADVICE_DATA_LOADING:
        osc_strbuf_addf(
            out, "steps%s --sort dataloader_ns --where \"kept and dataloader_ns > 0\"", compat);
        return;
    case OSC_ADVICE_BACKEND:
        add_wrapper("DistributedDataParallel.forward", out);
        return;
    case OSC_ADVICE_DATA_PARALLEL:
        add_wrapper("DataParallel.forward", out);
        return;
    case OSC_ADVICE_COMMUNICATION:
        osc_strbuf_addf(
            out, "steps%s --sort communication_ns --where \"kept and communication_ns > 0\"",
            compat);
        return;
    case OSC_ADVICE_LOW_UTILIZATION:
        osc_strbuf_addf(out, "devices%s --where \"device in ('", compat);
        add_list(item->subject, out);
        osc_strbuf_adds(out, "')\"");
        return;
    case OSC_ADVICE_TENSOR_CORES:
        osc_strbuf_addf(out, "kernels --group-by op%s --where op_tc_eligible", compat);
        return;
    case OSC_ADVICE_MEMORY_LIMIT:
        osc_strbuf_adds(out, "memory_peaks --where \"10 * peak_bytes > 9 * capacity_bytes\"");
        return;
    case OSC_ADVICE_IDLE_DEVICE:
        osc_strbuf_addf(out,
                        "events --where \"start_ns <= %lld and start_ns + dur_ns >= %lld\"",
                        (long long)(item->to_ns - a->t->own_origin_ns),
                        (long long)(item->from_ns - a->t->own_origin_ns));
        return;
    case OSC_ADVICE_PAGEABLE_COPIES:
        osc_strbuf_adds(out, "events --sort dur_ns --where \"kind = 'memcpy' and name like "
                             "'%(Pageable -> Device)%' and dur_ns is not null");
        add_kept(a, out);
        osc_strbuf_adds(out, "\"");
        return;
    case OSC_ADVICE_LAUNCH_BOUND:
        osc_strbuf_addf(out, "kernels --sort calls --where \"min_ns < %lld\"",
                        (long long)item->more[1]);
        return;
    case OSC_ADVICE_SYNCHRONIZATION:
    case OSC_ADVICE_ALLOCATOR:
        add_calls(a, item, out);
        return;
    case OSC_ADVICE_SLOW_STEPS:
        /* Outliers may as well be fast. */
        osc_strbuf_addf(out, "steps --sort total_ns --where \"outlier and total_ns > %lld\"",
                        (long long)item->more[3]);
        return;
    case OSC_ADVICE_COUNT:
        return;
    }
}

/*
 * What S chose, for the same rows. What the evidence is of is one file, which needs no
 * --rank or --span. Records of memory are the host's, whatever device they are about.
 */
static void add_selection(enum osc_advice_code code, const struct osc_selection *s,
                          struct osc_strbuf *out)
{
    const struct {
        const char *option, *value;
    } texts[] = {{" --process ", s->process},
                 {" --thread ", s->thread},
                 {" --device ", code == OSC_ADVICE_MEMORY_LIMIT ? NULL : s->device},
                 {" --steps ", s->steps}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].value)
            continue;
        osc_strbuf_adds(out, texts[i].option);
        add_word(out, osc_str_c(texts[i].value));
    }
    if (s->has_from)
        osc_strbuf_addf(out, " --from %lld", (long long)s->from_ns);
    if (s->has_to)
        osc_strbuf_addf(out, " --to %lld", (long long)s->to_ns);
}

void osc_advice_evidence(const struct osc_advice_base *a, enum osc_advice_code code,
                         const struct osc_advice_item *item, const struct osc_selection *s,
                         struct osc_strbuf *out)
{
    const struct osc_str file =
        a->t->is_stdin ? OSC_STR("-") : osc_trace_str(a->t, a->t->source);

    osc_strbuf_adds(out, "opscope table ");
    add_table(a, code, item, out);
    if (s)
        add_selection(code, s, out);
    /* A file named like an option needs a path. */
    osc_strbuf_adds(out, file.len > 1 && file.s[0] == '-' ? " ./" : " ");
    add_word(out, file);
}
