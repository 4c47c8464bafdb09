/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - what was skipped, repaired, missing or dropped, counted by cause.
 *
 * Readers and derive/ count here, and the table `quality` shows it. The codes are part of the
 * contract with users.
 *
 * Threading: not locked; each worker counts separately, and the owner merges.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum osc_severity { OSC_INFO, OSC_WARNING, OSC_ERROR };

/* code, severity, what happened, what to do (may be empty) */
#define OSC_FINDING_LIST(X)                                                                    \
    X(truncated, ERROR,                                                                        \
      "the input ends in the middle of a value; everything before it was read",                \
      "copy the file again, or let the program finish writing it")                             \
    X(corrupt, ERROR,                                                                          \
      "invalid bytes or a damaged archive; the reader skipped to the next event or to"         \
      " the end",                                                                              \
      "look at the file around first_offset")                                                  \
    X(not_utf8, WARNING, "names that are not UTF-8; invalid bytes are shown as U+FFFD", "")    \
    X(repaired_name, WARNING,                                                                  \
      "text with bare quotation marks or control characters, as some versions of "             \
      "PyTorch write it; it was read whole",                                                   \
      "")                                                                                      \
    X(repaired_list, WARNING,                                                                  \
      "lists of events that break the format (an event a line, a missing bracket or "          \
      "comma, a second list or object, or other text before them); their events were "         \
      "read",                                                                                  \
      "")                                                                                      \
    X(lost_name, WARNING,                                                                      \
      "names whose text is not in the file: the file is damaged, the program was "             \
      "killed while it wrote a name, or PyTorch replaced it by \"unknown\"",                   \
      "PyTorch keeps labels of printable ASCII")                                               \
    X(wrong_type, WARNING, "members of the wrong type; left out", "")                          \
    X(out_of_range, WARNING, "numbers that do not fit into 64 bits; kept as text or left out", \
      "")                                                                                      \
    X(too_deep, WARNING, "lists or objects nested deeper than 10,000 levels; left out", "")    \
    X(too_long, WARNING, "texts longer than 16 MiB; cut", "")                                  \
    X(unknown_phase, INFO, "events of a phase that opscope does not know; left out", "")       \
    X(unclosed_list, INFO,                                                                     \
      "the list of events has no end, which the format allows; if the program was "            \
      "killed, later events may be missing",                                                   \
      "")                                                                                      \
    X(call_samples, INFO,                                                                      \
      "samples of call stacks beside the events (member samples), which no table "             \
      "shows",                                                                                 \
      "opscope export TRACE --stack sample -o X.folded writes them")                           \
    X(event_stacks, INFO,                                                                      \
      "call stacks of events (members stackFrames, sf and esf), which no table shows", "")     \
    X(far_clock, INFO, "times more than 146 years from zero; they count from the first range", \
      "")                                                                                      \
    X(unmatched_begin, WARNING, "asynchronous ranges without an end", "")                      \
    X(unmatched_end, WARNING, "ends without a begin; left out", "")                            \
    X(mismatched_end, WARNING,                                                                 \
      "ends that name another range than the innermost open one. Such an end closes "          \
      "the open range of its name; if there is none, it closes the innermost range "           \
      "where the names are alike or names of ends mean nothing, and otherwise nothing",        \
      "")                                                                                      \
    X(misplaced_end, WARNING,                                                                  \
      "scopes that ended before scopes inside them; their ends are kept, but they overlap "    \
      "others, whose nesting and self times are wrong",                                        \
      "use opscope::async or osc_async_begin() for what lasts across co_await")                \
    X(crossed_thread, WARNING,                                                                 \
      "scopes that ended on another thread than they began on, such as across co_await; "      \
      "their ends are kept, but they overlap others, whose nesting and self times are wrong",  \
      "use opscope::async or osc_async_begin() for what lasts across co_await or "             \
      "moves to another thread")                                                               \
    X(open_range, WARNING, "ranges that were still open at the end; they have no duration",    \
      "")                                                                                      \
    X(no_duration, WARNING, "ranges whose record has no duration; sums leave them out", "")    \
    X(partial_overlap, WARNING,                                                                \
      "ranges of one thread that overlap in part; treated as siblings", "")                    \
    X(queue_overlap, INFO,                                                                     \
      "work or labels of one device queue that overlap in part, as devices may run "           \
      "them; treated as siblings",                                                             \
      "")                                                                                      \
    X(negative_duration, WARNING, "ranges that end before they start; treated as empty", "")   \
    X(negative_self, INFO, "ranges whose children together last longer than the range", "")    \
    X(duplicate_id, WARNING, "correlation ids that several host calls share", "")              \
    X(no_launch, INFO, "device work whose launching call is not in the trace", "")             \
    X(no_operator, INFO, "device work that no operator launched", "")                          \
    X(no_work, INFO, "launching calls whose device work is not in the trace", "")              \
    X(arrow_no_start, INFO, "arrows whose start is missing", "")                               \
    X(arrow_no_end, INFO, "arrows whose end is missing", "")                                   \
    X(outside_span, INFO, "ranges that start outside the profiler's own span", "")             \
    X(bad_memory_record, WARNING,                                                              \
      "memory records without a usable size or device; not paired", "")                        \
    X(lost_release, WARNING,                                                                   \
      "addresses that were allocated again before a release was recorded; treated as "         \
      "released at that time",                                                                 \
      "")                                                                                      \
    X(unpaired_release, INFO, "releases of memory whose allocation is not in the trace", "")   \
    X(memory_gap, INFO,                                                                        \
      "totals of an allocator that do not follow from the previous record; memory "            \
      "changed without a record",                                                              \
      "")                                                                                      \
    X(crossed_call, INFO,                                                                      \
      "ranges, such as those of record_function(), that begin or end within a Python "         \
      "call and so overlap it in part, as intended; the two are siblings",                     \
      "")                                                                                      \
    X(out_of_memory, WARNING, "allocations that failed because memory was exhausted",          \
      "opscope table memory_peaks shows what was alive")                                       \
    X(device_unmatched, INFO,                                                                  \
      "devices whose number may be that of another device; nothing in the trace tells"         \
      " which",                                                                                \
      "record with profile_memory=True")                                                       \
    X(unaligned, WARNING,                                                                      \
      "traces of several machines or boots; only their wall clocks align them", "")            \
    X(clock_step, WARNING,                                                                     \
      "times far from all others, such as zero. Left out are times more than a week "          \
      "away, and a single one that is more than 12 hours and 1,000 lengths of all "            \
      "others away",                                                                           \
      "")                                                                                      \
    X(limit_reached, ERROR, "a limit was reached; the rest was not read",                      \
      "select with --from/--to or --steps, drop arguments with --no-args, or raise "           \
      "--max-memory")                                                                          \
    X(lost_records, ERROR, "records in damaged parts of a recording",                          \
      "opscope info lists the places as meta.damage; check the disk")                          \
    X(dropped_full, WARNING,                                                                   \
      "records dropped because memory had no room, or because of a limit of "                  \
      "opscope_record(3)",                                                                     \
      "raise buffer_bytes of osc_start() to at least 32 KiB for each thread, or "              \
      "record to a faster disk")                                                               \
    X(dropped_too_big, WARNING, "records or names longer than the limit; cut or dropped", "")  \
    X(dropped_nested, WARNING,                                                                 \
      "records of signal handlers that interrupted their thread while it changed "             \
      "buffers; dropped",                                                                      \
      "")                                                                                      \
    X(source_failed, WARNING, "sources of events that could not be used and recorded nothing", \
      "see the messages of opscope run, or run it with --strict")                              \
    X(source_missing, WARNING, "sources of events that were requested and recorded nothing",   \
      "check that the program uses them and keeps the variables that opscope run sets")        \
    X(source_incomplete, WARNING, "events that a source could not record completely",          \
      "opscope table events --where \"kind = 'counter'\" shows when")                          \
    X(device_absent, WARNING,                                                                  \
      "devices whose activity was requested and could not be recorded",                        \
      "opscope info says what is missing for each, as meta.device_absent.NAME")                \
    X(sampled, INFO, "calls of sampled scopes that were not recorded",                         \
      "to record all calls, leave out --sample or set NAME=1")                                 \
    X(sample_unused, INFO, "names in --sample that matched no scope",                          \
      "correct the name: only plain scopes are sampled, and a '*' at the end matches "         \
      "any ending")                                                                            \
    X(device_unasked, INFO, "devices that PyTorch used and the profile did not request",       \
      "opscope info says how to request each, as meta.device_unasked.NAME")                    \
    X(names_alone, WARNING,                                                                    \
      "operators of PyTorch with only names and times, because the recorder could not"         \
      " be built",                                                                             \
      "opscope info says why, as meta.names_alone")                                            \
    X(nothing_dumped, INFO,                                                                    \
      "a flight recorder that wrote nothing, because nothing triggered it",                    \
      "run opscope ctl dump, or name a trigger in --flight: slow=, signal= or crash")          \
    X(flight_short, WARNING,                                                                   \
      "steps in dumps of a flight recorder that reach back less far than requested, "          \
      "because memory held no more",                                                           \
      "give it more memory: --flight SPAN,buffer=SIZE, or buffer_bytes")                       \
    X(no_window, INFO,                                                                         \
      "a schedule without a window, or a window in which nothing was recorded",                \
      "a process without steps, such as a worker of a DataLoader, has none; otherwise"         \
      " check that the program makes more steps than skip_first, wait and warmup "             \
      "together")                                                                              \
    X(lost_counts, WARNING,                                                                    \
      "damaged counts of dropped records and of earlier parts; more is missing than "          \
      "is counted here",                                                                       \
      "opscope info lists the places as meta.damage; check the disk")                          \
    X(disk_full, WARNING,                                                                      \
      "the disk was full, or the file reached its limit of size (ulimit -f), during "          \
      "the recording; records that did not fit into memory meanwhile count as "                \
      "dropped_full",                                                                          \
      "record to a larger disk, or set --limit-size")                                          \
    X(output_harmed, WARNING,                                                                  \
      "the file was removed, moved or cut during the recording; its earlier content "          \
      "may be missing",                                                                        \
      "record to a directory that nobody cleans up meanwhile")                                 \
    X(dropped_late, WARNING, "records made after the end of the recording; dropped", "")       \
    X(dropped_parts, WARNING,                                                                  \
      "records in earlier parts of the recording that are missing: the limit of size "         \
      "deleted these parts, or they were not opened",                                          \
      "record with a larger --limit-size, or open all parts")                                  \
    X(unfinished, INFO,                                                                        \
      "calls of the recorder that the end of the process interrupted; left out", "")           \
    X(killed, WARNING,                                                                         \
      "the program did not end the recording: it was killed, crashed, called _exit() "         \
      "or exec(), or the file was copied meanwhile. Of finished calls, only those are"         \
      " missing that other lines count",                                                       \
      "")                                                                                      \
    X(ended_silently, INFO,                                                                    \
      "processes that ended without notice (_exit(), exec() or a signal) between two "         \
      "calls, while the program went on to its own end; no call is missing",                   \
      "")                                                                                      \
    X(still_recording, INFO,                                                                   \
      "the program is still recording; this is what was recorded so far", "")                  \
    X(no_shapes, INFO, "no input shapes", "pass record_shapes=True to torch.profiler.profile") \
    X(no_stacks, INFO, "no call stacks",                                                       \
      "pass with_stack=True and "                                                              \
      "experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True)")              \
    X(no_memory, INFO, "no memory events", "pass profile_memory=True")                         \
    X(no_modules, INFO, "no modules", "pass with_stack=True and with_modules=True")            \
    X(no_flops, INFO, "no FLOP estimates", "pass with_flops=True and record_shapes=True")      \
    X(no_steps, INFO, "no steps; the whole trace counts as one step",                          \
      "pass schedule=... and call prof.step() once a step")                                    \
    X(no_device_records, WARNING, "launches without their device work",                        \
      "the driver or CUPTI could not record: allow profiling for all users or run as "         \
      "root, end other profilers, and let driver and runtime fit each other")                  \
    X(no_operators, INFO, "device work, but no operators: the host was not recorded",          \
      "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU)")               \
    X(no_device, INFO, "no device work",                                                       \
      "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU)")               \
    X(single_step, INFO, "only one step; there is nothing to compare it with",                 \
      "raise active= in schedule(...)")                                                        \
    /* Of the files together; their rows are added behind those of each. */                    \
    X(same_rank, WARNING,                                                                      \
      "files with the same rank and span, which are not known to be of different "             \
      "processes: perhaps copies; each is counted",                                            \
      "name only one of them, or record ranks in distributedInfo")                             \
    X(missing_rank, WARNING, "ranks of the run without a file",                                \
      "copy the files of all ranks to one directory")                                          \
    X(collective_hang, ERROR,                                                                  \
      "collectives that some ranks of their group never reached while others waited",          \
      "look at what these ranks did last: opscope table events TRACE --rank N")                \
    X(collective_lost, WARNING,                                                                \
      "collectives that some ranks of their group lack, though they have later ones", "")      \
    X(collective_mismatch, WARNING,                                                            \
      "collectives whose ranks brought different types or sizes, although these must "         \
      "agree",                                                                                 \
      "")                                                                                      \
    X(collective_outside, INFO,                                                                \
      "collectives that some ranks of their group lack, because their recordings "             \
      "began later or ended earlier",                                                          \
      "record the same steps on all ranks")                                                    \
    X(uneven_steps, WARNING, "ranks with fewer steps than others",                             \
      "record the same steps on all ranks")                                                    \
    X(clocks_apart, WARNING,                                                                   \
      "groups of ranks on several hosts whose clocks cannot be compared: they have no"         \
      " collective in common that all ranks leave together",                                   \
      "")                                                                                      \
    X(file_failed, ERROR, "files or directories that could not be read; left out",             \
      "look at their permissions, or copy them again")                                         \
    X(file_empty, INFO,                                                                        \
      "files and recordings without an event, whose writers have just begun or failed; left "  \
      "out",                                                                                   \
      "")                                                                                      \
    X(file_copy, INFO, "copies of a trace beside it; left out", "")                            \
    X(file_other, INFO, "files in directories that are not traces of the run; left out", "")   \
    X(folder_again, INFO, "links to directories that were already searched; not followed", "") \
    X(folder_limit, WARNING, "directories beyond the first 10,000; not searched",              \
      "name the directory of the run itself")

enum osc_finding_code {
#define OSC_FINDING_ENUM(code, severity, message, remedy) OSC_FINDING_##code,
    OSC_FINDING_LIST(OSC_FINDING_ENUM)
#undef OSC_FINDING_ENUM
        OSC_FINDING_COUNT
};

struct osc_finding {
    uint64_t count;
    uint64_t first_offset; /* byte in the (inflated) input, or OSC_NO_OFFSET */
    int64_t first_ns;      /* on the clock of the file, or OSC_NO_TIME */
    int64_t last_ns;       /* end of the time range if it is known, else OSC_NO_TIME */
};

#define OSC_NO_TIME INT64_MIN /* less than every time */

/* Phases of Chrome traces are letters; whatever is none is in no phase. */
#define OSC_PHASES 128u

struct osc_findings {
    struct osc_finding by_code[OSC_FINDING_COUNT];
    struct osc_finding phases[OSC_PHASES]; /* of unknown_phase: the part of each phase */
};

/* Count one finding. OFFSET may be OSC_NO_OFFSET and TIME_NS OSC_NO_TIME. */
void osc_findings_add(struct osc_findings *f, enum osc_finding_code code, uint64_t offset,
                      int64_t time_ns);

/* Count an event of PHASE, which is left out. */
void osc_findings_add_phase(struct osc_findings *f, unsigned char phase, uint64_t offset);

/* Add the findings FROM to F. FROM comes later in the input than all of F. */
void osc_findings_merge(struct osc_findings *f, const struct osc_findings *from);

/* Whether F says that some of the input is missing: what was recorded may have been there. */
bool osc_findings_say_cut(const struct osc_findings *f);

const char *osc_finding_code_text(enum osc_finding_code code);
enum osc_severity osc_finding_severity(enum osc_finding_code code);
const char *osc_finding_message(enum osc_finding_code code);
const char *osc_finding_remedy(enum osc_finding_code code);

/* Findings of one code that are counted separately, for example by a thread. Zeroed: none. */
struct osc_tally {
    uint64_t n;
    int64_t first_ns; /* the earliest time; 0 if n is 0 */
};

static inline void osc_tally_add(struct osc_tally *t, int64_t at_ns)
{
    if (t->n == 0 || at_ns < t->first_ns)
        t->first_ns = at_ns;
    t->n++;
}

/* Add the counts of FROM. */
static inline void osc_tally_join(struct osc_tally *t, const struct osc_tally *from)
{
    if (from->n > 0 && (t->n == 0 || from->first_ns < t->first_ns))
        t->first_ns = from->first_ns;
    t->n += from->n;
}

/* Add the findings in T, which have no offset, to F. */
void osc_findings_add_tally(struct osc_findings *f, enum osc_finding_code code,
                            const struct osc_tally *t);
