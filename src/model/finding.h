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
      "invalid bytes, or a damaged archive; skipped up to the next event or to "               \
      "the end",                                                                               \
      "look at the file around first_offset")                                                  \
    X(not_utf8, WARNING, "names that are not UTF-8; invalid bytes are shown as U+FFFD", "")    \
    X(repaired_name, WARNING,                                                                  \
      "text with bare quotation marks or control characters, as some versions of "             \
      "PyTorch write it; it was read whole",                                                   \
      "")                                                                                      \
    X(repaired_list, WARNING,                                                                  \
      "lists of events that are not as the format asks: one event a line, without a bracket "  \
      "before the first or a comma, in a second list or another object, or behind other "      \
      "text; they were read",                                                                  \
      "")                                                                                      \
    X(lost_name, WARNING,                                                                      \
      "names whose text is not in the file: the file is damaged, the program was "             \
      "killed while it wrote a name, or PyTorch replaced it by \"unknown\"",                   \
      "PyTorch keeps labels of printable ASCII")                                               \
    X(wrong_type, WARNING, "members of a wrong type; left out", "")                            \
    X(out_of_range, WARNING, "numbers that do not fit into 64 bits; kept as text or left out", \
      "")                                                                                      \
    X(too_deep, WARNING, "lists or objects nested deeper than 10,000 levels; left out", "")    \
    X(too_long, WARNING, "texts longer than 16 MiB; cut", "")                                  \
    X(unknown_phase, INFO, "events of a phase that opscope does not know; left out", "")       \
    X(unclosed_list, INFO,                                                                     \
      "the list of events has no end, which the format allows: the program may have been "     \
      "killed before it wrote all",                                                            \
      "")                                                                                      \
    X(call_samples, INFO,                                                                      \
      "samples of call stacks beside the events (member samples); in no table",                \
      "opscope export TRACE --stack sample -o X.folded writes them")                           \
    X(event_stacks, INFO,                                                                      \
      "call stacks of events (members stackFrames, sf and esf); in no table", "")              \
    X(far_clock, INFO,                                                                         \
      "times further than 146 years from zero; they count from the first range", "")           \
    X(unmatched_begin, WARNING, "asynchronous ranges without an end", "")                      \
    X(unmatched_end, WARNING, "ends without a begin; left out", "")                            \
    X(mismatched_end, WARNING,                                                                 \
      "ends that name another range than the innermost open one; they end the range of that "  \
      "name, else the innermost one if the names are alike or names of ends mean nothing, "    \
      "else none",                                                                             \
      "")                                                                                      \
    X(misplaced_end, WARNING,                                                                  \
      "scopes that ended on another thread than they began, or before scopes that began in "   \
      "them; they have their end, but overlap others, whose nesting and self times are wrong", \
      "use opscope::async or osc_async_begin() for what lasts across co_await or moves to "    \
      "another thread")                                                                        \
    X(open_range, WARNING, "ranges that were still open at the end; they have no duration",    \
      "")                                                                                      \
    X(no_duration, WARNING, "ranges whose record has no duration; no sum includes them", "")   \
    X(partial_overlap, WARNING,                                                                \
      "ranges of one thread that overlap in part; treated as siblings", "")                    \
    X(queue_overlap, INFO,                                                                     \
      "work or labels of one device queue that overlap in part, as devices run them; treated " \
      "as siblings",                                                                           \
      "")                                                                                      \
    X(negative_duration, WARNING, "ranges that end before they start; treated as empty", "")   \
    X(negative_self, INFO, "ranges whose children together last longer than the range", "")    \
    X(duplicate_id, WARNING, "correlation ids that more than one host call carries", "")       \
    X(no_launch, INFO, "device work whose launching host call is not in the trace", "")        \
    X(no_operator, INFO, "device work that no operator launched", "")                          \
    X(no_work, INFO, "launching calls without device work in the trace", "")                   \
    X(arrow_no_start, INFO, "arrows that lead to a place and start nowhere in the trace", "")  \
    X(arrow_no_end, INFO, "arrows that start and lead nowhere in the trace", "")               \
    X(outside_span, INFO, "ranges that start before or after the profiler's own span", "")     \
    X(bad_memory_record, WARNING,                                                              \
      "memory records without a usable size or device; not paired", "")                        \
    X(lost_release, WARNING,                                                                   \
      "addresses that were allocated again without a release in between; treated "             \
      "as released at that time",                                                              \
      "")                                                                                      \
    X(unpaired_release, INFO, "releases of memory whose allocation is not in the trace", "")   \
    X(memory_gap, INFO,                                                                        \
      "totals of an allocator that do not follow from the previous record: memory"             \
      " changed without a record",                                                             \
      "")                                                                                      \
    X(crossed_call, INFO,                                                                      \
      "ranges such as record_function() that begin or end inside the Python call that begins " \
      "or ends them, as intended; the two are siblings",                                       \
      "")                                                                                      \
    X(out_of_memory, WARNING, "allocations that failed because memory was exhausted",          \
      "opscope table memory_peaks shows what was alive")                                       \
    X(device_unmatched, INFO,                                                                  \
      "devices whose work has a number that may be another one's: nothing in the trace tells", \
      "record with profile_memory=True")                                                       \
    X(unaligned, WARNING, "traces of several machines or boots, aligned only by wall clock",   \
      "")                                                                                      \
    X(clock_step, WARNING,                                                                     \
      "times far from all others, such as zero; those more than a week away are left out, "    \
      "and a single one more than 12 hours and 1,000 lengths of all others away",              \
      "")                                                                                      \
    X(limit_reached, ERROR, "a limit was reached; the rest was not read",                      \
      "select with --from/--to or --steps, drop arguments with --no-args, or "                 \
      "raise --max-memory")                                                                    \
    X(lost_records, ERROR, "records in damaged parts of a recording",                          \
      "opscope info lists the places as meta.damage; check the disk")                          \
    X(dropped_full, WARNING,                                                                   \
      "records for which memory had no room, or beyond a limit of opscope_record(3); dropped", \
      "raise buffer_bytes of osc_start(), to 32 KiB for each thread at least, or record to "   \
      "a faster disk")                                                                         \
    X(dropped_too_big, WARNING, "records or names longer than their limit; cut or dropped",    \
      "")                                                                                      \
    X(dropped_nested, WARNING,                                                                 \
      "records of signal handlers that ran while their thread changed buffers; "               \
      "dropped",                                                                               \
      "")                                                                                      \
    X(source_failed, WARNING,                                                                  \
      "sources of events that could not be used; nothing of them was recorded",                \
      "see the messages of opscope run, or run it with --strict")                              \
    X(source_missing, WARNING, "sources of events that were asked for and recorded nothing",   \
      "check that the program uses them and keeps the variables that opscope run sets")        \
    X(source_incomplete, WARNING, "what sources of events could not record whole",             \
      "opscope table events --where \"kind = 'counter'\" shows when")                          \
    X(device_absent, WARNING,                                                                  \
      "devices whose activity was asked for and could not be recorded",                        \
      "opscope info says what is missing for each, as meta.device_absent.NAME")                \
    X(sampled, INFO, "calls of sampled scopes that were not recorded",                         \
      "leave out --sample, or give the name =1, to record all")                                \
    X(sample_unused, INFO, "names to be sampled of which nothing was",                         \
      "correct the name in --sample: those of plain scopes are sampled, and a name that ends " \
      "with '*' stands for all that begin so")                                                 \
    X(device_unasked, INFO, "devices that PyTorch used and whose activity was not asked for",  \
      "opscope info says how to ask for each, as meta.device_unasked.NAME")                    \
    X(names_alone, WARNING,                                                                    \
      "operators of PyTorch with only names and times: the recorder could not be "             \
      "built",                                                                                 \
      "opscope info says why, as meta.names_alone")                                            \
    X(nothing_dumped, INFO,                                                                    \
      "a flight recorder that wrote nothing: it was not asked to, and no trigger "             \
      "occurred",                                                                              \
      "run opscope ctl dump, or name a trigger in --flight: slow=, signal= or "                \
      "crash")                                                                                 \
    X(flight_short, WARNING,                                                                   \
      "steps in dumps of a flight recorder that begin later than asked: memory held no more",  \
      "give it more memory: --flight SPAN,buffer=SIZE, or buffer_bytes")                       \
    X(no_window, INFO, "a schedule without a window, or with nothing recorded in one",         \
      "a process without steps, such as a worker of a DataLoader, has none; otherwise check "  \
      "that the program makes more steps than skip_first, wait and warmup together")           \
    X(lost_counts, WARNING,                                                                    \
      "damaged counts of what was dropped and of what earlier parts had; more is missing "     \
      "than is counted here",                                                                  \
      "opscope info lists the places as meta.damage; check the disk")                          \
    X(disk_full, WARNING,                                                                      \
      "the disk was full, or the file at its limit of size (ulimit -f), while the program "    \
      "recorded; records that did not fit into memory meanwhile count as dropped_full",        \
      "record to a larger disk, or set --limit-size")                                          \
    X(output_harmed, WARNING,                                                                  \
      "the file was removed, moved or cut while the program recorded; what was in it before "  \
      "may be missing",                                                                        \
      "record to a place that nobody cleans up meanwhile")                                     \
    X(dropped_late, WARNING, "records made after the end of the recording; dropped", "")       \
    X(dropped_parts, WARNING,                                                                  \
      "records in earlier parts of the recording that are missing: the limit on "              \
      "the size deleted them, or they were not opened",                                        \
      "record with a larger --limit-size, or open all parts")                                  \
    X(unfinished, INFO, "recording calls that the end of the process interrupted; left out",   \
      "")                                                                                      \
    X(killed, WARNING,                                                                         \
      "the program did not end the recording: it was killed, crashed, called "                 \
      "_exit() or exec(), or the file was copied meanwhile; of finished calls, none is "       \
      "missing but those that other lines count",                                              \
      "")                                                                                      \
    X(ended_silently, INFO,                                                                    \
      "processes that ended without notice (_exit(), exec() or a signal) between two calls, "  \
      "while the program went on to its own end; all calls are in it",                         \
      "")                                                                                      \
    X(still_recording, INFO,                                                                   \
      "the program is still recording; this is what was recorded so far", "")                  \
    X(no_shapes, INFO, "no input shapes", "pass record_shapes=True to torch.profiler.profile") \
    X(no_stacks, INFO, "no call stacks",                                                       \
      "pass with_stack=True and experimental_config=torch._C._profiler._ExperimentalConfig("   \
      "verbose=True)")                                                                         \
    X(no_memory, INFO, "no memory events", "pass profile_memory=True")                         \
    X(no_modules, INFO, "no modules", "pass with_stack=True and with_modules=True")            \
    X(no_flops, INFO, "no FLOP estimates", "pass with_flops=True and record_shapes=True")      \
    X(no_steps, INFO, "no steps; the trace counts as one",                                     \
      "pass schedule=... and call prof.step() once a step")                                    \
    X(no_device_records, WARNING,                                                              \
      "calls that launch device work, of which nothing was recorded, although the calls were", \
      "the driver or CUPTI could not record: allow profiling for all users or run as root, "   \
      "end other profilers, and let driver and runtime fit each other")                        \
    X(no_operators, INFO, "device work, but no operators: the host was not recorded",          \
      "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU)")               \
    X(no_device, INFO, "no device work",                                                       \
      "pass activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or .XPU)")               \
    X(single_step, INFO, "only one step; there is nothing to compare it with",                 \
      "raise active= in schedule(...)")                                                        \
    /* Of the files together; their rows are added behind those of each. */                    \
    X(same_rank, WARNING,                                                                      \
      "files of a rank and span that already has one, and that are not known to be of "        \
      "another "                                                                               \
      "process of it: perhaps copies; each is counted",                                        \
      "name only one of them, or record ranks in distributedInfo")                             \
    X(missing_rank, WARNING, "ranks of the run that no file is of",                            \
      "copy the files of all ranks to one directory")                                          \
    X(collective_hang, ERROR,                                                                  \
      "collectives that ranks of their group never reached, although others waited there",     \
      "look at what these ranks did last: opscope table events TRACE --rank N")                \
    X(collective_lost, WARNING,                                                                \
      "collectives of which ranks of their group have no record, but of later ones", "")       \
    X(collective_mismatch, WARNING,                                                            \
      "collectives to which ranks brought messages of other types or sizes, although these "   \
      "must be alike",                                                                         \
      "")                                                                                      \
    X(collective_outside, INFO,                                                                \
      "collectives that ranks of their group lack, because their recordings began later or "   \
      "ended earlier than those of others",                                                    \
      "record the same steps on all ranks")                                                    \
    X(uneven_steps, WARNING, "ranks with fewer steps than others",                             \
      "record the same steps on all ranks")                                                    \
    X(clocks_apart, WARNING,                                                                   \
      "groups of ranks on several hosts whose clocks cannot be compared: no collective that "  \
      "all ranks leave together is common to them",                                            \
      "")                                                                                      \
    X(file_failed, ERROR, "files or directories that could not be read; left out",             \
      "look at their permissions, or copy them again")                                         \
    X(file_empty, INFO,                                                                        \
      "files and recordings without an event: their writers have just begun, or failed; left " \
      "out",                                                                                   \
      "")                                                                                      \
    X(file_copy, INFO, "copies of a trace beside it; left out", "")                            \
    X(file_other, INFO, "files in directories that are not traces of the run; left out", "")   \
    X(folder_again, INFO, "links to directories that were searched already; not followed", "") \
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
