/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/remedies.h"

#include <string.h>

#include "analysis/census.h"
#include "model/finding.h"
#include "model/known_names.h"

/* What recorded a trace. */
enum recorder {
    OF_TORCH,   /* torch.profiler */
    OF_PROFILE, /* opscope.torch.profile */
    OF_RUN,     /* opscope run --torch */
    OF_CALLS,   /* calls of opscope/record.h, whose programs know what they call */
    N_RECORDERS
};

#define WITH_RECORDER "record with opscope run --torch where its recorder can be built"

/* NULL: it is not told to record that. Those of torch.profiler stand in model/finding.h. */
static const struct {
    enum osc_finding_code code;
    const char *by_recorder[N_RECORDERS];
} remedies[] = {
    {OSC_FINDING_no_shapes,
     {[OF_PROFILE] = "pass record_shapes=True to opscope.torch.profile",
      [OF_RUN] = WITH_RECORDER}},
    {OSC_FINDING_no_stacks,
     {[OF_PROFILE] = "pass with_stack=True to opscope.torch.profile",
      [OF_RUN] = "record with opscope run --torch=stack"}},
    {OSC_FINDING_no_memory,
     {[OF_PROFILE] = "pass profile_memory=True to opscope.torch.profile",
      [OF_RUN] = WITH_RECORDER}},
    {OSC_FINDING_no_modules,
     {[OF_PROFILE] = "pass with_stack=True and with_modules=True to opscope.torch.profile",
      [OF_RUN] = "record with opscope run --torch=stack"}},
    {OSC_FINDING_no_flops,
     {[OF_PROFILE] = "pass with_flops=True to opscope.torch.profile",
      [OF_RUN] = WITH_RECORDER}},
    {OSC_FINDING_no_steps,
     {[OF_PROFILE] = "pass schedule=... to opscope.torch.profile and call prof.step() once a "
                     "step",
      [OF_RUN] = "call opscope.record.step() once a step; without that, a step ends when the "
                 "first optimizer has made one"}},
    {OSC_FINDING_no_device,
     {[OF_PROFILE] =
          "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU) to "
          "opscope.torch.profile",
      [OF_RUN] = "see opscope run --list-sources for what records devices here"}},
    {OSC_FINDING_single_step,
     {[OF_PROFILE] = "raise active= in opscope.torch.schedule(...)",
      [OF_RUN] = "let the program make more steps, or raise active= in --schedule"}},
};
#define N_REMEDIES (sizeof remedies / sizeof *remedies)

static struct osc_str meta(const struct osc_trace *t, const char *key)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value) ? value : OSC_STR("");
}

bool osc_trace_is_ours(const struct osc_trace *t)
{
    return osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope")) ||
           meta(t, "opscope_version").len > 0;
}

static enum recorder recorder_of(const struct osc_trace *t)
{
    if (!osc_trace_is_ours(t))
        return OF_TORCH;
    if (meta(t, "trace_id").len > 0)
        return OF_PROFILE;
    return osc_str_has(meta(t, "sources"), OSC_STR("torch")) ? OF_RUN : OF_CALLS;
}

/* The remedy of the table, for a trace that torch.profiler did not record. */
static const char *find(enum recorder recorder, enum osc_finding_code code)
{
    for (size_t i = 0; i < N_REMEDIES; i++) {
        if (remedies[i].code == code)
            return remedies[i].by_recorder[recorder];
    }
    return NULL;
}

/* Whether the key of a fact of T begins with PREFIX. */
static bool has_key(const struct osc_trace *t, const char *prefix)
{
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (osc_str_starts(osc_trace_str(t, t->metas[i].key), osc_str_c(prefix)))
            return true;
    }
    return false;
}

/* The remedy for a source that recorded nothing: which of them it was, and whether PyTorch's
 * switch for ITT can be meant. */
static const char *for_missing_source(const struct osc_trace *t)
{
    if (osc_str_has(meta(t, "sources"), OSC_STR("torch")) && meta(t, "source.torch").len == 0)
        return osc_str_has(meta(t, "sources"), OSC_STR("torch=replace"))
                   ? "check that the program profiles with torch.profiler, calls prof.step() "
                     "once "
                     "a step if the profile has a schedule, and keeps PYTHONPATH as opscope "
                     "run "
                     "sets it"
                   : "check that the program imports torch and keeps PYTHONPATH as opscope run "
                     "sets it";
    if (has_key(t, "source.itt"))
        return "check that the program begins tasks of ITT, and that ITT is not paused";
    if (!osc_str_has(meta(t, "sources"), OSC_STR("itt")))
        return "check that the program uses what --sources names, and keeps the variables that "
               "opscope run sets (opscope run --print-env shows them)";
    if (osc_str_has(meta(t, "command"), OSC_STR("python")))
        return "check that the program uses ITT (PyTorch: torch.autograd.profiler.emit_itt()) "
               "and keeps INTEL_LIBITTNOTIFY64 as opscope run sets it";
    return "check that the program uses ITT and keeps INTEL_LIBITTNOTIFY64 as opscope run sets "
           "it";
}

/* What to do if calls were recorded and what they launched was not. */
static const char *for_missing_records(const struct osc_trace *t)
{
    if (osc_str_eq(meta(t, "mode"), OSC_STR("flight")))
        return "a dump of --flight has the device work that was reported before it, which some "
               "sources do each second";
    if (meta(t, "mode").len > 0)
        return "a window of --schedule has the device work that had finished when it ended: "
               "let its last step wait for the device";
    for (uint32_t i = 1; i < osc_strings_bound(&t->strings); i++) {
        const osc_sid id = {i};

        if (!osc_strings_has(&t->strings, id))
            continue;
        /* hip, xpu, npu and others have another tracer than CUPTI. */
        if (osc_str_eq(osc_known_call_device(osc_trace_str(t, id)), OSC_STR("cuda")))
            return osc_finding_remedy(OSC_FINDING_no_device_records);
    }
    return "the tracer of the runtime could not record: check its permissions, and end other "
           "profilers";
}

/* Whether T was asked to record what CODE says is lacking: then the recorder was missing. */
static bool was_asked(const struct osc_trace *t, enum osc_finding_code code)
{
    return (code == OSC_FINDING_no_stacks || code == OSC_FINDING_no_modules) &&
           osc_str_has(meta(t, "sources"), OSC_STR("torch=stack"));
}

bool osc_remedy_is_there(const struct osc_trace *t, enum osc_finding_code code)
{
    const enum recorder recorder = recorder_of(t);

    /* Other programs than PyTorch have no such switches. */
    if (recorder == OF_TORCH && t->producer != OSC_PRODUCER_KINETO &&
        t->producer != OSC_PRODUCER_TORCH_NPU && t->producer != OSC_PRODUCER_UNKNOWN)
        return false;
    return recorder == OF_TORCH || find(recorder, code);
}

/* Whether T has records of memory, or is of a program that cannot have them. */
static bool has_memory_or_never(const struct osc_trace *t)
{
    if (t->producer != OSC_PRODUCER_KINETO)
        return true;
    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        if (memchr(k->kind, OSC_KIND_ALLOC, k->n_rows) ||
            memchr(k->kind, OSC_KIND_FREE, k->n_rows))
            return true;
    }
    return false;
}

/* Whether the file states that FLAG was off. */
static bool is_off(const struct osc_trace *t, const char *flag)
{
    return !osc_trace_flag(t, flag, true);
}

bool osc_remedy_is_off(const struct osc_trace *t, enum osc_finding_code code)
{
    switch ((int)code) {
    case OSC_FINDING_no_shapes:
        return is_off(t, "record_shapes");
    case OSC_FINDING_no_stacks:
        return is_off(t, "with_stack");
    case OSC_FINDING_no_memory:
        return is_off(t, "profile_memory");
    case OSC_FINDING_no_modules:
        return is_off(t, "with_modules");
    case OSC_FINDING_no_flops:
        return is_off(t, "with_flops");
    default:
        return false;
    }
}

/* Whether CODE says that T lacks something that it could have. */
static bool is_absence(enum osc_finding_code code)
{
    switch ((int)code) {
    case OSC_FINDING_no_shapes:
    case OSC_FINDING_no_stacks:
    case OSC_FINDING_no_memory:
    case OSC_FINDING_no_modules:
    case OSC_FINDING_no_flops:
    case OSC_FINDING_no_steps:
    case OSC_FINDING_no_device:
    case OSC_FINDING_single_step:
        return true;
    default:
        return false;
    }
}

bool osc_remedy_is_unsure(const struct osc_trace *t, enum osc_finding_code code)
{
    return is_absence(code) && osc_findings_say_cut(&t->findings) &&
           !osc_remedy_is_off(t, code);
}

/* What to say of data that T lacks although torch.profiler was told to record it; or NULL. */
static const char *for_what_was_on(const struct osc_trace *t, enum osc_finding_code code)
{
    if (recorder_of(t) != OF_TORCH)
        return NULL;
    if ((code == OSC_FINDING_no_memory || code == OSC_FINDING_device_unmatched) &&
        osc_trace_flag(t, "profile_memory", false))
        return "profile_memory was on: the profiler recorded no use of memory all the same";
    if (code == OSC_FINDING_no_shapes && osc_trace_flag(t, "record_shapes", false))
        return "record_shapes was on: the profiler recorded no shapes all the same";
    if (code == OSC_FINDING_no_modules && osc_trace_flag(t, "with_stack", false) &&
        osc_trace_flag(t, "with_modules", false))
        return "with_modules was on: the profiler recorded no call of a module all the same";
    return NULL;
}

const char *osc_remedy(const struct osc_trace *t, enum osc_finding_code code)
{
    if (code == OSC_FINDING_device_unmatched && has_memory_or_never(t))
        return "";
    if (osc_remedy_is_unsure(t, code))
        return OSC_REMEDY_UNSURE;
    if (for_what_was_on(t, code))
        return for_what_was_on(t, code);
    if (code == OSC_FINDING_source_failed && has_key(t, "source_failed."))
        return "opscope info says why and what to do, as meta.source_failed.NAME";
    if (code == OSC_FINDING_source_missing)
        return for_missing_source(t);
    if (code == OSC_FINDING_no_device_records)
        return for_missing_records(t);

    const enum recorder recorder = recorder_of(t);
    if (recorder == OF_RUN && was_asked(t, code))
        return "record with opscope run --torch=stack where its recorder can be built";
    const char *const ours = recorder == OF_TORCH ? NULL : find(recorder, code);

    return ours ? ours : osc_finding_remedy(code);
}
