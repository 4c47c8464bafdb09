/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - record what a program does, for little more than the cost of reading the clock.
 *
 *     static osc_name conv;
 *     osc_name_once(&conv, "conv2d");
 *     osc_begin(OSC_SCOPE_OPERATOR, conv);
 *     ...
 *     osc_end();
 *
 * Link with libopscope (pkg-config opscope) and run under `opscope run`, or call
 * osc_start(). While nothing records, a call is a load and a branch.
 *
 *   - Recording calls return nothing and never fail: they drop and count, by cause,
 *     and every reader of the recording says so. They neither block, allocate, print
 *     nor change errno, and may be called from signal handlers. Only if many threads begin
 *     at once, a call waits, a second at most, until the library has added memory for them.
 *   - What a finished call has recorded survives kill -9 of the process.
 *   - Names are arbitrary bytes, copied when interned; NULL is the empty name.
 *   - Every thread has a stack of scopes; osc_end() ends the innermost one. An end
 *     without a begin is counted and otherwise ignored.
 *   - Times are ticks of osc_now(): the processor's counter if that is reliable, otherwise
 *     nanoseconds of CLOCK_MONOTONIC. Only the recording knows the rate.
 *
 * Threading: everything may be called from any thread at any time; osc_start() and osc_stop()
 * wait for each other.
 */
#ifndef OPSCOPE_RECORD_H
#define OPSCOPE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "opscope.h"

#ifdef OPSCOPE_DISABLE
#pragma push_macro("OSC_API")
#undef OSC_API
#define OSC_API OSC_DISABLED_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The id of an interned string of this process; 0 is the empty string. Valid until the process
 * ends, in all its recordings and in its children. */
typedef uint32_t osc_name;

/* What a scope is. Tables treat each kind differently. */
enum osc_scope_kind {
    OSC_SCOPE_PLAIN,         /* anything that the program wants to name */
    OSC_SCOPE_OPERATOR,      /* an operator on tensors, such as a convolution */
    OSC_SCOPE_ANNOTATION,    /* a range that a user marked around operators */
    OSC_SCOPE_MODULE,        /* a module (layer) of a network */
    OSC_SCOPE_RUNTIME,       /* a call into a device's runtime: it may launch work */
    OSC_SCOPE_DRIVER,        /* a call into a device's driver */
    OSC_SCOPE_COMMUNICATION, /* a collective or a message */
    OSC_SCOPE_DATALOADER,    /* waiting for or preparing input */
    OSC_SCOPE_OPTIMIZER,     /* the step of an optimizer */
    OSC_SCOPE_PYTHON,        /* a call of a Python function */
    OSC_SCOPE_OVERHEAD,      /* time spent by a profiler */
    OSC_SCOPE_KIND_COUNT
};

/* The host as a device that holds memory; osc_device_add() (source.h) adds other devices. */
#define OSC_DEVICE_CPU 0u

/* --- whether anything records ------------------------------------------------- */

/*
 * 0 while nothing records. The library may write it at any time: read it only through
 * osc_is_on().
 */
#ifdef OPSCOPE_DISABLE
static const int osc_off_ = 0;
#define OSC_ON_ (&osc_off_)
#elif defined OPSCOPE_STUB_H
extern __attribute__((weak, visibility("hidden"))) int *osc_stub_on_;
#define OSC_ON_ __atomic_load_n(&osc_stub_on_, __ATOMIC_RELAXED)
#else
extern OSC_API int osc_on_;
/* Where this and osc_levels_ are: a program that is linked without -fPIC has copies of them,
 * which dlsym() of the library does not find. For stub.h. */
OSC_API void osc_shared_(int **state, signed char **levels);
#define OSC_ON_ (&osc_on_)
#endif

/*
 * Whether anything records. Off, a recording call costs this load and a branch. Callers repeat
 * the hint that the branch is unlikely: clang ignores a hint inside an inline function, and
 * gcc ignores it if another branch follows. Without it the call would lie on the fast path.
 */
OSC_INLINE int osc_is_on(void)
{
    return __builtin_expect(__atomic_load_n(OSC_ON_, __ATOMIC_RELAXED) != 0, 0) != 0;
}

/* --- names --------------------------------------------------------------------- */

/*
 * Intern LENGTH bytes at TEXT, which are copied, and return the id. The same bytes give the
 * same id, unless two threads intern them for the first time at the same moment. Longer strings
 * are cut at 16 MiB. Names may be made before osc_start(), such as by constructors. Returns 0
 * if TEXT is NULL, LENGTH is 0, or there is no room (the loss is counted): a process keeps 256
 * MiB of names, and while nothing records 16 MiB.
 */
OSC_API osc_name osc_name_of(const char *text, size_t length);

/* Like osc_name_of(), for a string that ends with NUL. */
OSC_API osc_name osc_name_c(const char *text);

/* Intern TEXT into *NAME unless that is done already; NAME is a static variable at the call
 * site. */
OSC_INLINE void osc_name_once(osc_name *name, const char *text)
{
    if (__builtin_expect(osc_is_on(), 0) && __atomic_load_n(name, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(name, osc_name_c(text), __ATOMIC_RELAXED);
}

/* --- categories ---------------------------------------------------------------- */

/*
 * A category of scopes, which is switched while the program runs: osc_enable(), `opscope run
 * --enable`, `opscope ctl DIR enable`. It has a level: what is recorded are scopes up to it. 1
 * is usual, more is more detail (127 at most), 0 is nothing. A process has 255 categories; 0 is
 * none, whose level is 1. Valid until the process ends, and in its children.
 */
typedef uint32_t osc_category;

/* The category called NAME; more than 63 bytes are cut. 0: NAME is "" or NULL, or there is no
 * room (the loss is counted). */
OSC_API osc_category osc_category_of(const char *name);

#define OSC_CATEGORIES 256u

/* The level of each category - 1. Only the library writes it: read it through osc_wants(). */
#ifdef OPSCOPE_DISABLE
static const signed char osc_no_levels_[OSC_CATEGORIES] = {0};
#define OSC_LEVELS_ osc_no_levels_
#elif defined OPSCOPE_STUB_H
extern __attribute__((weak, visibility("hidden"))) signed char *osc_stub_levels_;
#define OSC_LEVELS_ __atomic_load_n(&osc_stub_levels_, __ATOMIC_RELAXED)
#else
extern OSC_API signed char osc_levels_[OSC_CATEGORIES];
#define OSC_LEVELS_ osc_levels_
#endif

/* Whether scopes of this LEVEL of CATEGORY are recorded now. */
OSC_INLINE int osc_wants(osc_category category, int level)
{
    return osc_is_on() && category < OSC_CATEGORIES &&
           __atomic_load_n(&OSC_LEVELS_[category], __ATOMIC_RELAXED) + 1 >= level;
}

/* Like osc_name_of(), for a name in CATEGORY, which tables show with it; another name than that
 * of the same bytes elsewhere. More than 1,000 bytes: in no category. */
OSC_API osc_name osc_name_in(osc_category category, const char *text, size_t length);

/*
 * Change the levels of categories: LIST is "io" (level 1), "io:3" (level 3), "-io" (off), or
 * several of them, by commas; later ones win. A name that ends with '*' stands for all that
 * begin so, "*" for all. It holds for categories that are made later, too. OSC_EINVAL: LIST is
 * no such list; OSC_ELIMIT: more than 64 names, or another call does not end. Then nothing has
 * changed. May be called while nothing records.
 */
OSC_API osc_status osc_enable(const char *list);

/*
 * Record some of the calls of hot scopes: LIST is "parse=100" (one in 100 calls, at random),
 * "parse=5000/s" (fewer and fewer while a thread records more in a second), "parse=1" (all), or
 * several of them, as above. Of osc_begin() and osc_complete() with OSC_SCOPE_PLAIN only. What
 * is recorded says for how many calls it stands, and tables count it so often. What is inside a
 * call that is left out is recorded; scopes within each other that are recorded and left out by
 * turns more than 64 times are lost. A thread samples 64 names; of more, all calls are
 * recorded. While there are such rules, the other scopes cost a little more, too. Errors as of
 * osc_enable(), or OSC_ENOMEM.
 */
OSC_API osc_status osc_sample(const char *list);

/* --- scopes -------------------------------------------------------------------- */

/* Used by the inline functions below; call those instead. */
OSC_API void osc_scope_begin(enum osc_scope_kind kind, osc_name name);
OSC_API void osc_scope_end(void);
/* For RAII, such as in scope.hpp: begin a scope, and end that very scope, with what its begin
 * returned; 0: it was not recorded, and nothing is to be done. One that is not the innermost of
 * this thread is ended all the same, and readers count it. */
OSC_API uint64_t osc_scope_open(enum osc_scope_kind kind, osc_name name);
OSC_API void osc_scope_close(uint64_t opened);
OSC_API void osc_scope_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks);
OSC_API void osc_scope_instant(osc_name name);

/* KIND, or OSC_SCOPE_PLAIN if there is no such kind; the compiler folds it for a constant. */
OSC_INLINE enum osc_scope_kind osc_kind_known(enum osc_scope_kind kind)
{
    const unsigned value = kind;

    return value < OSC_SCOPE_KIND_COUNT ? kind : OSC_SCOPE_PLAIN;
}

/* Begin a scope on this thread. */
OSC_INLINE void osc_begin(enum osc_scope_kind kind, osc_name name)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_begin(osc_kind_known(kind), name);
}

/* End the innermost scope of this thread. */
OSC_INLINE void osc_end(void)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_end();
}

/* Begin a scope on this thread if this LEVEL of CATEGORY is recorded; returns whether it is,
 * for osc_end_if(). NAME is from osc_name_in(). */
OSC_INLINE int osc_begin_in(osc_category category, int level, enum osc_scope_kind kind,
                            osc_name name)
{
    if (__builtin_expect(!osc_wants(category, level), 1))
        return 0;
    osc_scope_begin(osc_kind_known(kind), name);
    return 1;
}

/* Begin a scope that is not recorded: neither is its osc_end(), nor what belongs to it. It
 * costs as much as osc_begin(), for wrappers that cannot pass on what osc_begin_in() returns.
 */
OSC_API void osc_scope_skip(void);

/* End the innermost scope of this thread if its osc_begin_in() returned BEGUN. */
OSC_INLINE void osc_end_if(int begun)
{
    if (begun)
        osc_end();
}

/* The current time in ticks, for osc_complete() and the functions ending in _at. */
OSC_API uint64_t osc_now(void);

/*
 * Record a scope that began at START_TICKS (from osc_now()) and ends now. It takes one record
 * instead of two, but nothing is visible before the scope ends.
 */
OSC_INLINE void osc_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_complete(osc_kind_known(kind), name, start_ticks);
}

/* Record an event without a duration. */
OSC_INLINE void osc_instant(osc_name name)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_instant(name);
}

/*
 * Functions ending in _at, here and below, record at TICKS (from osc_now()) instead of now:
 * for programs that learn of an event late or read another clock. Scopes nest in the order of
 * the calls, whatever their times are.
 */
OSC_API void osc_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t ticks);
OSC_API void osc_end_at(uint64_t ticks);
OSC_API void osc_complete_at(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks,
                             uint64_t end_ticks);
OSC_API void osc_instant_at(osc_name name, uint64_t ticks);

/*
 * A range that is identified by NUMBER instead of a place on a thread's stack: it may end on
 * another thread and overlap other ranges. A NUMBER may be used again after its end.
 */
OSC_API void osc_async_begin(enum osc_scope_kind kind, osc_name name, uint64_t number);
OSC_API void osc_async_end(enum osc_scope_kind kind, osc_name name, uint64_t number);
OSC_API void osc_async_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t number,
                                uint64_t ticks);
OSC_API void osc_async_end_at(enum osc_scope_kind kind, osc_name name, uint64_t number,
                              uint64_t ticks);

/* A number for such a range or an arrow that no other call in this process returns. Not 0. */
OSC_API uint64_t osc_unique_id(void);

/* --- arguments of the innermost scope of this thread, or of the last other record --- */

OSC_API void osc_arg_i64(osc_name key, int64_t value);
OSC_API void osc_arg_f64(osc_name key, double value);
OSC_API void osc_arg_bool(osc_name key, int value);
OSC_API void osc_arg_name(osc_name key, osc_name value);
/* LENGTH bytes at TEXT, copied; LENGTH may be 0 and TEXT NULL. More than 3,072 bytes are cut
 * and counted. */
OSC_API void osc_arg_text(osc_name key, const char *text, size_t length);
/* A list of COUNT integers; more than 384 are cut and counted. */
OSC_API void osc_arg_i64s(osc_name key, const int64_t *values, size_t count);
/* A value as JSON text, such as the shapes "[[8,3,32,32],[]]"; it is not parsed here. */
OSC_API void osc_arg_json(osc_name key, const char *json, size_t length);
/*
 * Several arguments that often occur together, for the cost of one. PAIRS is
 * osc_name_of(names, sizeof names), where names is an array of osc_name: key, JSON text, key,
 * JSON text, ...
 */
OSC_API void osc_args_json(osc_name pairs);

/* The kind of an argument of osc_begin_with(). */
enum osc_scope_arg_kind {
    OSC_SCOPE_ARG_I64 = 0x20,  /* as osc_arg_i64() */
    OSC_SCOPE_ARG_NAME = 0x23, /* as osc_arg_name() */
    OSC_SCOPE_ARG_PAIRS = 0x27 /* as osc_args_json(); key is unused */
};
struct osc_scope_arg {
    enum osc_scope_arg_kind kind;
    osc_name key;
    uint64_t value;
};

/* osc_begin() with N_ARGS arguments in one call; cheaper than one call for each. */
OSC_API void osc_scope_begin_with(enum osc_scope_kind kind, osc_name name,
                                  const struct osc_scope_arg *args, uint32_t n_args);

OSC_INLINE void osc_begin_with(enum osc_scope_kind kind, osc_name name,
                               const struct osc_scope_arg *args, uint32_t n_args)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_begin_with(osc_kind_known(kind), name, args, n_args);
}

/*
 * Record the functions that called this one as the argument `Call stack`: up to 128 of them,
 * found by frame pointers, at about 1.4 ns each (compile with -fno-omit-frame-pointer; x86-64
 * and arm64). The stack ends at code without frame pointers. Addresses are recorded; readers
 * find the names in the symbol tables of the mapped files. The first call on a stack looks up
 * its bounds, which takes about 100 microseconds.
 */
OSC_API void osc_arg_stack(void);

/* --- counters, memory, steps, flows ---------------------------------------------- */

/* A sample of counter NAME, in any unit. */
OSC_API void osc_counter_i64(osc_name name, int64_t value);
OSC_API void osc_counter_f64(osc_name name, double value);
/* As osc_counter_i64(), also in a pause: a total of the whole recording, such as a loss. */
OSC_API void osc_counter_total(osc_name name, int64_t value);
OSC_API void osc_counter_i64_at(osc_name name, int64_t value, uint64_t ticks);
OSC_API void osc_counter_f64_at(osc_name name, double value, uint64_t ticks);

/*
 * BYTES at ADDR of DEVICE (OSC_DEVICE_CPU, or from osc_device_add()) were allocated or freed.
 * The totals are those of the allocator, in bytes: what it has handed out, and what it has
 * reserved from the system. UINT64_MAX: unknown.
 */
OSC_API void osc_memory_alloc(uint32_t device, uint64_t addr, uint64_t bytes);
OSC_API void osc_memory_free(uint32_t device, uint64_t addr, uint64_t bytes);
OSC_API void osc_memory_alloc_at(uint32_t device, uint64_t addr, uint64_t bytes,
                                 uint64_t ticks);
OSC_API void osc_memory_free_at(uint32_t device, uint64_t addr, uint64_t bytes, uint64_t ticks);
OSC_API void osc_memory_alloc_total(uint32_t device, uint64_t addr, uint64_t bytes,
                                    uint64_t allocated_bytes, uint64_t reserved_bytes);
OSC_API void osc_memory_free_total(uint32_t device, uint64_t addr, uint64_t bytes,
                                   uint64_t allocated_bytes, uint64_t reserved_bytes);

/*
 * Begin the next step of the program on this thread: the previous step ends, and the schedule
 * (below) advances. The first call of the process begins step 0; later recordings continue the
 * count. Returns the number of the new step, whether or not it is recorded.
 */
OSC_API uint64_t osc_step(void);
/*
 * Like osc_step(), for callers that know where a step ends but not whether another one follows,
 * such as the hook after a training loop's last optimizer call. The new step counts only if
 * osc_step(), osc_step_if_ended() or osc_step_end() ends it; otherwise readers leave it out.
 */
OSC_API uint64_t osc_step_if_ended(void);
/* End the current step without beginning another; osc_stop() does this as well. */
OSC_API void osc_step_end(void);

/* An arrow from the innermost scope at the begin to the innermost scope at the end. */
OSC_API void osc_flow_begin(uint64_t number);
OSC_API void osc_flow_end(uint64_t number);

/* --- names of threads and processes, metadata --------------------------------- */

OSC_API void osc_thread_name(const char *name);
OSC_API void osc_process_name(const char *name);
/* A fact about the whole recording, such as "model" = "resnet18"; the last value wins. */
OSC_API void osc_metadata(const char *key, const char *value);

/* --- schedule ---------------------------------------------------------------------- */

/* What to do in a step; the values of torch.profiler's ProfilerAction. */
enum osc_action { OSC_ACTION_NONE, OSC_ACTION_WARMUP, OSC_ACTION_RECORD, OSC_ACTION_SAVE };

/* Arguments of torch.profiler.schedule, in steps. If only `active` is set, every step is
 * recorded. */
struct osc_schedule {
    uint64_t skip_first, wait, warmup, active, repeat, skip_first_wait;
};

/* The action of SCHEDULE in step STEP; OSC_ACTION_NONE if `active` is 0. Pure. */
OSC_API enum osc_action osc_schedule_action(const struct osc_schedule *schedule, uint64_t step);

/* --- start and stop ------------------------------------------------------------------ */

struct osc_losses;

struct osc_start_options {
    size_t size;     /* always sizeof of this struct, so that a newer library recognises an
                      * older caller. Smaller than needed for `out`, such as 0: OSC_EINVAL */
    const char *out; /* file to write, such as "run.osc"; NULL: a file in the directory
                      * OPSCOPE_OUT, else in the working directory, named by host, pid and
                      * start */
    const struct osc_schedule *schedule; /* NULL: OPSCOPE_SCHEDULE, else everything is
                                          * recorded */
    uint64_t buffer_bytes;               /* memory that all threads share, 16 KiB for each and
                                          * as much for what waits to be written; 0: 64 MiB */
    uint64_t limit_bytes; /* total size of the files; beyond it the oldest are deleted; 0: no
                           * limit. Below 1 MiB they may take more: each is at least 128 KiB */
    /* Flight recorder: keep the most recent records in memory and write them when a trigger
     * fires, beginning at the start of a step. If they do not fit, the oldest are dropped, and
     * the dump says so. Part of buffer_bytes is left free for new records: an eighth, or at
     * high rates as much as fills in 200 ms (at most three eighths). The rest keeps history. */
    uint64_t flight_ns;    /* keep this many nanoseconds before the current step; 0: no limit
                            * by time */
    uint64_t flight_steps; /* keep this many steps before the current one (131,070 at most);
                            * 0: no limit by steps. Both 0: no flight recorder */
    /* Dump when a step takes this many times the median of the earlier steps (at least 8 of
     * them); 0: never. The dump ends with the last slow step within as many steps, or as much
     * time, after the first one as it has before that. It is written when these have passed, or
     * when no step has begun for 10 seconds. If memory runs out before, it is written at once;
     * of a step that fills all memory there are two dumps, one of its begin and one of its end.
     */
    double slow_step;
    int dump_signal;   /* dump at this signal; 0: none */
    int toggle_signal; /* pause or resume at this signal; 0: none */
    int dump_on_crash; /* dump at a fatal signal, then do what the host would have done */
    /* Called when a window of the schedule, or a dump, has been written completely to PATH.
     * Runs on the library's own thread; it may call recording functions, but not osc_start()
     * or osc_stop(). */
    void (*trace_ready)(void *ctx, const char *path);
    void *ctx; /* for trace_ready and lost */
    /* Called when records have been lost, with all LOSSES of the recording until then: at most
     * once a second, and a last time while osc_stop() ends the recording, if anything was lost.
     * Runs on the library's own thread, never on one that records, while those go on; it may do
     * what trace_ready may. LOSSES is good until it returns. Not called where the library could
     * start no thread. */
    void (*lost)(void *ctx, const struct osc_losses *losses);
};

/*
 * Begin to record. OPTIONS may be NULL for all defaults; it is copied. A recording that began
 * by itself, because OPSCOPE_OUT is set, is no obstacle: with OPTIONS->out it ends, and the new
 * one begins; without, it goes on with the settings that it has. OSC_EINVAL: another recording
 * is already running, OPTIONS->size is not set, or an option cannot work: a signal that a
 * program cannot catch, a buffer below 256 KiB or above 1 TiB, a path that names no file.
 * OSC_EIO or OSC_ENOMEM: the output cannot be written. After a failure nothing has changed, but
 * that a recording which has ended for the new one goes on in another file. With OPSCOPE=0 in
 * the environment this does nothing and returns OSC_OK.
 */
OSC_API OSC_MUST_USE osc_status osc_start(const struct osc_start_options *options);

/*
 * Why the last osc_start() of this process failed, such as "/x/run.osc: Permission denied"; "":
 * it succeeded. Good until the next osc_start(); not for other threads meanwhile.
 */
OSC_API const char *osc_start_reason(void);

/* The absolute path of the file that is being recorded, or of its first part; "": none. Good
 * until the recording ends. */
OSC_API const char *osc_recording_path(void);

/* The number of the recording of this process, from 1: another one after each osc_start(), and
 * in each child of a fork that records. 0: there is none, or its first record is still to come.
 * For what must be said once in each recording. */
OSC_API uint64_t osc_recording_number(void);

/*
 * End the recording and write it completely. Runs automatically at exit. OSC_EIO: not
 * everything could be written; the rest stays in NAME.osc.live, where readers find it. Or
 * somebody removed, moved or cut the file while it was written: readers say so, and a file that
 * was removed or cut has what was recorded since.
 */
OSC_API osc_status osc_stop(void);

/* Stop recording for a while. Open scopes keep their real ends. Calls nest: each pause needs a
 * resume. */
OSC_API void osc_pause(void);
OSC_API void osc_resume(void);

/* Write what a flight recorder holds; without one, write what is still in memory. */
OSC_API osc_status osc_dump(void);

/* Records lost so far, by cause, over all threads. */
struct osc_losses {
    uint64_t full;    /* no room left in memory: the disk did not keep up, or more than
                       * 16,320 threads recorded at once */
    uint64_t too_big; /* a record or name was longer than its limit */
    uint64_t nested;  /* a signal handler recorded while its thread changed buffers */
    uint64_t late;    /* recorded after the end of the recording */
};
OSC_API void osc_losses_get(struct osc_losses *losses);

#ifdef OPSCOPE_DISABLE
#include "disabled.h"
#pragma pop_macro("OSC_API")
#endif

#ifdef __cplusplus
}
#endif

#endif
