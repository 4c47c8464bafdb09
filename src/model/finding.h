/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - what was skipped, repaired, missing or dropped, counted by cause.
 *
 * Readers and derive count here; the table `quality` is made of it. The codes are part of
 * the contract with users.
 *
 * Threading: not locked; each worker counts for itself, the owner merges.
 */
#ifndef OSC_MODEL_FINDING_H
#define OSC_MODEL_FINDING_H

#include <stdint.h>

enum osc_severity { OSC_INFO, OSC_WARNING, OSC_ERROR };

/* code, severity, what happened, what to do (may be empty) */
#define OSC_FINDING_LIST(X)                                                                    \
    X(truncated, ERROR,                                                                        \
      "the input ends in the middle of something; what came before was read",                  \
      "copy the file again, or let the program finish writing it")                             \
    X(corrupt, ERROR,                                                                          \
      "bytes that make no sense where they stand, or a damaged archive; "                      \
      "skipped up to the next event, or to the end",                                           \
      "look at the file around first_offset")                                                  \
    X(not_utf8, WARNING, "names that are not UTF-8; shown with U+FFFD in their place", "")     \
    X(repaired_name, WARNING,                                                                  \
      "text with bare quotation marks or control characters, as some versions of PyTorch "     \
      "write it; read whole",                                                                  \
      "")                                                                                      \
    X(lost_name, WARNING,                                                                      \
      "names whose text is not in the file: it is damaged, or its program was killed while "   \
      "it "                                                                                    \
      "wrote one; PyTorch replaces some by \"unknown\"",                                       \
      "PyTorch keeps labels of printable ASCII")                                               \
    X(wrong_type, WARNING, "a member of another type than it should have; left out", "")       \
    X(out_of_range, WARNING, "numbers that do not fit 64 bits; kept as text or left out", "")  \
    X(too_deep, WARNING, "lists or objects nested deeper than 10,000 levels; left out", "")    \
    X(too_long, WARNING, "texts longer than 16 MiB; cut", "")                                  \
    X(unknown_phase, INFO, "events of a phase that opscope does not know; left out", "")       \
    X(unmatched_begin, WARNING, "asynchronous begins (ph b) without an end", "")               \
    X(unmatched_end, WARNING, "ends without a begin; left out", "")                            \
    X(open_range, WARNING, "ranges that were still open at the end; without a duration", "")   \
    X(no_duration, WARNING, "complete events (ph X) without a duration; in no sum", "")        \
    X(partial_overlap, WARNING,                                                                \
      "ranges of one thread that overlap in part; taken as siblings", "")                      \
    X(negative_duration, WARNING, "ranges that end before they start; taken as empty", "")     \
    X(negative_self, INFO, "ranges whose children last longer than they do themselves", "")    \
    X(duplicate_id, WARNING, "correlation ids that more than one host call carries", "")       \
    X(no_launch, INFO, "device work whose launching host call is not in the trace", "")        \
    X(no_operator, INFO, "device work that no operator launched", "")                          \
    X(no_work, INFO, "calls that launch device work of which the trace has none", "")          \
    X(outside_span, INFO, "ranges that start before or after the profiler's own span", "")     \
    X(bad_memory_record, WARNING,                                                              \
      "memory records without a usable size or device; not paired", "")                        \
    X(lost_release, WARNING,                                                                   \
      "addresses that were allocated again without a release between; taken as released then", \
      "")                                                                                      \
    X(unpaired_release, INFO, "releases of memory that the trace does not see allocated", "")  \
    X(memory_gap, INFO,                                                                        \
      "totals of an allocator that do not follow from the record before; memory changed "      \
      "without a record",                                                                      \
      "")                                                                                      \
    X(out_of_memory, WARNING, "allocations that failed for want of memory",                    \
      "opscope table memory_peaks says what was alive")                                        \
    X(unaligned, WARNING, "traces of several machines or boots, aligned by wall clock alone",  \
      "")                                                                                      \
    X(clock_step, WARNING, "time stamps that are zero, far before all others", "")             \
    X(limit_reached, ERROR, "a limit was reached; the rest was not read",                      \
      "select with --from/--to or --steps, leave out arguments with --no-args, or raise "      \
      "--max-memory")                                                                          \
    X(lost_records, ERROR, "records that were in damaged parts of a recording",                \
      "opscope info tells the places as meta.damage; look at the disk")                        \
    X(dropped_full, WARNING, "records that found no room in memory and were dropped",          \
      "record to a faster disk, or raise the buffers of the recording")                        \
    X(dropped_too_big, WARNING, "records or names longer than their limit; cut or dropped",    \
      "")                                                                                      \
    X(dropped_nested, WARNING,                                                                 \
      "records of signal handlers that came while their thread changed buffers; dropped", "")  \
    X(source_failed, WARNING,                                                                  \
      "sources of events that could not be used; nothing of theirs is here",                   \
      "see what opscope run said, or run it with --strict")                                    \
    X(source_missing, WARNING, "sources of events that were asked for and brought nothing",    \
      "see whether the program uses them (ITT: torch.autograd.profiler.emit_itt()) and "       \
      "keeps the variables that opscope run sets")                                             \
    X(device_absent, WARNING,                                                                  \
      "devices whose activity was asked for and could not be recorded",                        \
      "opscope info says what each lacks, as meta.device_absent.NAME")                         \
    X(names_alone, WARNING,                                                                    \
      "operators of PyTorch with names and times alone: the recorder could not be built",      \
      "opscope info says why, as meta.names_alone")                                            \
    X(nothing_dumped, INFO,                                                                    \
      "a flight recorder in which nothing happened: it was not asked to write, and met "       \
      "nothing that makes it",                                                                 \
      "opscope ctl dump asks it; slow=, signal= and crash in --flight make it write by "       \
      "itself")                                                                                \
    X(no_window, INFO, "a schedule of which no window came, or nothing in one",                \
      "see whether the program steps, and more often than skip_first, wait and warmup say")    \
    X(dropped_late, WARNING, "records that came after the end of the recording; dropped", "")  \
    X(dropped_parts, WARNING,                                                                  \
      "records in earlier parts of the recording that are not here: its limit on the size "    \
      "deleted them, or they were not opened with it",                                         \
      "record with a larger --limit-size, or open all parts")                                  \
    X(unfinished, INFO,                                                                        \
      "calls of the recorder that the end of the process interrupted; left out", "")           \
    X(killed, WARNING,                                                                         \
      "the program did not end the recording: it was killed, it crashed, it went by _exit() "  \
      "or exec(), the disk was full, or it was copied while it recorded; what its calls had "  \
      "finished is here",                                                                      \
      "")                                                                                      \
    X(still_recording, INFO, "the program is still recording; this is what there is by now",   \
      "")                                                                                      \
    X(no_shapes, INFO, "no input shapes", "pass record_shapes=True to torch.profiler.profile") \
    X(no_stacks, INFO, "no call stacks",                                                       \
      "pass with_stack=True and experimental_config=torch._C._profiler._ExperimentalConfig("   \
      "verbose=True)")                                                                         \
    X(no_memory, INFO, "no memory events", "pass profile_memory=True")                         \
    X(no_modules, INFO, "no modules", "pass with_stack=True and with_modules=True")            \
    X(no_flops, INFO, "no FLOP estimates", "pass with_flops=True and record_shapes=True")      \
    X(no_steps, INFO, "no steps; the whole trace counts as one",                               \
      "pass schedule=... and call prof.step() once a step")                                    \
    X(no_device, INFO, "no device work",                                                       \
      "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU)")               \
    X(single_step, INFO, "one step only; nothing to compare it with",                          \
      "raise active= in schedule(...)")

enum osc_finding_code {
#define OSC_FINDING_ENUM(code, severity, message, remedy) OSC_FINDING_##code,
    OSC_FINDING_LIST(OSC_FINDING_ENUM)
#undef OSC_FINDING_ENUM
        OSC_FINDING_COUNT
};

struct osc_finding {
    uint64_t count;
    uint64_t first_offset; /* byte of the (inflated) input, or OSC_NO_OFFSET */
    int64_t first_ns;      /* time of the file, or OSC_NO_TIME */
    int64_t last_ns;       /* where a range of time is known its end, else OSC_NO_TIME */
};

#define OSC_NO_TIME INT64_MIN /* before all times */

struct osc_findings {
    struct osc_finding by_code[OSC_FINDING_COUNT];
};

/* Count one more. OFFSET may be OSC_NO_OFFSET and TIME_NS OSC_NO_TIME. */
void osc_findings_add(struct osc_findings *f, enum osc_finding_code code, uint64_t offset,
                      int64_t time_ns);

/* Add FROM, which lies after all that F has seen, to F. */
void osc_findings_merge(struct osc_findings *f, const struct osc_findings *from);

const char *osc_finding_code_text(enum osc_finding_code code);
enum osc_severity osc_finding_severity(enum osc_finding_code code);
const char *osc_finding_message(enum osc_finding_code code);
const char *osc_finding_remedy(enum osc_finding_code code);

/* Findings of one code that are counted apart, such as by one thread. Zeroed: none. */
struct osc_tally {
    uint64_t n;
    int64_t first_ns; /* the least time; 0 if there are none */
};

static inline void osc_tally_add(struct osc_tally *t, int64_t at_ns)
{
    if (t->n == 0 || at_ns < t->first_ns)
        t->first_ns = at_ns;
    t->n++;
}

/* Count those of FROM too. */
static inline void osc_tally_join(struct osc_tally *t, const struct osc_tally *from)
{
    if (from->n > 0 && (t->n == 0 || from->first_ns < t->first_ns))
        t->first_ns = from->first_ns;
    t->n += from->n;
}

/* Add the findings of T, which have no offset, to F. */
void osc_findings_tell(struct osc_findings *f, enum osc_finding_code code,
                       const struct osc_tally *t);

#endif
