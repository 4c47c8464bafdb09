/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - record what a program does, at close to the price of reading the clock.
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
 *     nor change errno, and may be called from signal handlers.
 *   - What a finished call has recorded survives kill -9 of the process.
 *   - Names are bytes: copied when interned, of any content; NULL is the empty name.
 *   - Every thread has a stack of scopes; osc_end() ends the innermost one. An end
 *     without a begin is counted and otherwise ignored.
 *   - Times are ticks of osc_now(): of the processor's counter where that is good
 *     enough, else nanoseconds of CLOCK_MONOTONIC. Only the recording knows the rate.
 *
 * Threading: everything may be called from any thread at any time, but for
 * osc_start() and osc_stop(), which wait for each other.
 */
#ifndef OPSCOPE_RECORD_H
#define OPSCOPE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "opscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An interned string of this process; 0 is the empty one. Good until the process ends. */
typedef uint32_t osc_name;

/* What a scope is. The tables count each in its own way. */
enum osc_scope_kind {
    OSC_SCOPE_PLAIN,         /* a scope: whatever the program likes to name */
    OSC_SCOPE_OPERATOR,      /* an operator on tensors, such as a convolution */
    OSC_SCOPE_ANNOTATION,    /* what a user marked around operators */
    OSC_SCOPE_MODULE,        /* a module (layer) of a network */
    OSC_SCOPE_RUNTIME,       /* a call into a device's runtime: it may launch work */
    OSC_SCOPE_DRIVER,        /* a call into a device's driver */
    OSC_SCOPE_COMMUNICATION, /* a collective or a message */
    OSC_SCOPE_DATALOADER,    /* waiting for or preparing input */
    OSC_SCOPE_OPTIMIZER,     /* the step of an optimizer */
    OSC_SCOPE_PYTHON,        /* a call of a Python function */
    OSC_SCOPE_OVERHEAD,      /* the profiler's own */
    OSC_SCOPE_KIND_COUNT
};

/* Devices that memory lies on; others come from osc_device_add() (source.h). */
#define OSC_DEVICE_CPU 0u

/* --- whether anything records ------------------------------------------------- */

/*
 * 0 while nothing records. Read it through osc_is_on() only: it is written by the
 * library at any time.
 */
extern OSC_API int osc_on_;

/*
 * The test that keeps the price of a call to a load and a branch while nothing records. Whoever
 * branches on it says again that it is unlikely: of what an inline function says, clang keeps
 * nothing, and gcc nothing where another branch follows; then the call stands in the way of
 * those who have it off.
 */
static inline int osc_is_on(void)
{
    return __builtin_expect(__atomic_load_n(&osc_on_, __ATOMIC_RELAXED) != 0, 0) != 0;
}

/* --- names --------------------------------------------------------------------- */

/*
 * Intern LEN bytes at S, which are copied; the same bytes give the same name, except
 * where two threads meet them first at once. Longer ones than 16 MiB are cut. 0 when S
 * is NULL, LEN is 0, nothing ever recorded, or there is no room left (counted).
 */
OSC_API osc_name osc_name_of(const char *s, size_t len);

/* The same for a string that ends with NUL. */
OSC_API osc_name osc_name_c(const char *s);

/* Intern S into *NAME unless that is done; for a static variable at the place of call. */
static inline void osc_name_once(osc_name *name, const char *s)
{
    if (__builtin_expect(osc_is_on(), 0) && __atomic_load_n(name, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(name, osc_name_c(s), __ATOMIC_RELAXED);
}

/* --- scopes -------------------------------------------------------------------- */

/* Behind the inline functions below; call those. */
OSC_API void osc_scope_begin(enum osc_scope_kind kind, osc_name name);
OSC_API void osc_scope_end(void);
OSC_API void osc_scope_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks);
OSC_API void osc_scope_instant(osc_name name);

/* KIND, or that of a scope if there is no such kind; of a constant nothing is left to do. */
static inline enum osc_scope_kind osc_kind_known(enum osc_scope_kind kind)
{
    return (unsigned)kind < (unsigned)OSC_SCOPE_KIND_COUNT ? kind : OSC_SCOPE_PLAIN;
}

/* Begin a scope on this thread. */
static inline void osc_begin(enum osc_scope_kind kind, osc_name name)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_begin(osc_kind_known(kind), name);
}

/* End the innermost scope of this thread. */
static inline void osc_end(void)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_end();
}

/* Now, for osc_complete(). */
OSC_API uint64_t osc_now(void);

/*
 * A scope that began at START_TICKS (of osc_now()) and ends now: one record instead of
 * two, where it need not be seen before it ends.
 */
static inline void osc_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_complete(osc_kind_known(kind), name, start_ticks);
}

/* Something without a duration happened. */
static inline void osc_instant(osc_name name)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_instant(name);
}

/*
 * The same, here and below, for who learns of it late or reads another clock: at TICKS
 * (of osc_now()) instead of now. Scopes nest as they are called, whatever the times.
 */
OSC_API void osc_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t ticks);
OSC_API void osc_end_at(uint64_t ticks);
OSC_API void osc_complete_at(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks,
                             uint64_t end_ticks);
OSC_API void osc_instant_at(osc_name name, uint64_t ticks);

/*
 * A range keyed by ID instead of a place on a stack: it may end on another thread and
 * overlap others. An ID may be used again after its end.
 */
OSC_API void osc_async_begin(enum osc_scope_kind kind, osc_name name, uint64_t id);
OSC_API void osc_async_end(enum osc_scope_kind kind, osc_name name, uint64_t id);
OSC_API void osc_async_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t id,
                                uint64_t ticks);
OSC_API void osc_async_end_at(enum osc_scope_kind kind, osc_name name, uint64_t id,
                              uint64_t ticks);

/* --- arguments of the innermost scope of this thread, or of the last other record --- */

OSC_API void osc_arg_i64(osc_name key, int64_t value);
OSC_API void osc_arg_f64(osc_name key, double value);
OSC_API void osc_arg_bool(osc_name key, int value);
OSC_API void osc_arg_name(osc_name key, osc_name value);
/* LEN bytes at S (len 0 and NULL are fine), copied; more than 3,072 are cut and counted. */
OSC_API void osc_arg_text(osc_name key, const char *s, size_t len);
/* N integers as a list; more than 384 are cut and counted. */
OSC_API void osc_arg_i64s(osc_name key, const int64_t *values, size_t n);
/* A value as JSON text, such as the shapes "[[8,3,32,32],[]]"; not looked at here. */
OSC_API void osc_arg_json(osc_name key, const char *json, size_t len);
/*
 * Several of these that come together again and again, for the price of one: the keys and
 * the JSON texts are names, key, text, key, text, ..., and PAIRS is the name of these, of
 * osc_name_of(names, sizeof names).
 */
OSC_API void osc_args_json(osc_name pairs);

/* An argument of osc_begin_with(). */
enum osc_scope_arg_kind {
    OSC_SCOPE_ARG_I64 = 0x20,  /* as osc_arg_i64() */
    OSC_SCOPE_ARG_NAME = 0x23, /* as osc_arg_name() */
    OSC_SCOPE_ARG_PAIRS = 0x27 /* as osc_args_json(), without a key */
};
struct osc_scope_arg {
    enum osc_scope_arg_kind kind;
    osc_name key;
    uint64_t value;
};

/* osc_begin() and N_ARGS arguments of it in one call, which is cheaper than as many. */
OSC_API void osc_scope_begin_with(enum osc_scope_kind kind, osc_name name,
                                  const struct osc_scope_arg *args, uint32_t n_args);

static inline void osc_begin_with(enum osc_scope_kind kind, osc_name name,
                                  const struct osc_scope_arg *args, uint32_t n_args)
{
    if (__builtin_expect(osc_is_on(), 0))
        osc_scope_begin_with(osc_kind_known(kind), name, args, n_args);
}

/*
 * The functions that called this one, as the argument `Call stack`: up to 128 of them, by
 * frame pointers, at about 1.4 ns each (compile with -fno-omit-frame-pointer; x86-64 and
 * arm64). Code without them ends the stack there. Addresses are
 * recorded; readers find the names in the symbol tables of the files they lie in. The first
 * call on a stack looks up where it lies, which takes some 100 microseconds.
 */
OSC_API void osc_arg_stack(void);

/* --- counters, memory, steps, flows ---------------------------------------------- */

/* A sample of counter NAME, in whatever unit it has. */
OSC_API void osc_counter_i64(osc_name name, int64_t value);
OSC_API void osc_counter_f64(osc_name name, double value);
OSC_API void osc_counter_i64_at(osc_name name, int64_t value, uint64_t ticks);
OSC_API void osc_counter_f64_at(osc_name name, double value, uint64_t ticks);

/*
 * BYTES at ADDR of DEVICE (OSC_DEVICE_CPU, or of osc_device_add()) were allocated or
 * freed. Totals are of the allocator, in bytes: what it has given out, and what it
 * holds of the system; UINT64_MAX: not known.
 */
OSC_API void osc_memory_alloc(uint32_t device, uint64_t addr, uint64_t bytes);
OSC_API void osc_memory_free(uint32_t device, uint64_t addr, uint64_t bytes);
OSC_API void osc_memory_alloc_total(uint32_t device, uint64_t addr, uint64_t bytes,
                                    uint64_t allocated_bytes, uint64_t reserved_bytes);
OSC_API void osc_memory_free_total(uint32_t device, uint64_t addr, uint64_t bytes,
                                   uint64_t allocated_bytes, uint64_t reserved_bytes);

/*
 * The program begins its next step on this thread: the step before ends, the schedule
 * (below) moves on. The first call begins step 0. Returns the number of the new step,
 * whether it is recorded or not.
 */
OSC_API uint64_t osc_step(void);
/*
 * The same for who knows where steps end, but not whether what comes now will be one, such
 * as what a training loop does after the last call of its optimizer: the new step is one
 * only if osc_step(), this or osc_step_end() ends it. Else readers leave it out.
 */
OSC_API uint64_t osc_step_if_ended(void);
/* End the last step without beginning another; osc_stop() does it too. */
OSC_API void osc_step_end(void);

/* An arrow: from the innermost scope here to the innermost scope where it ends. */
OSC_API void osc_flow_begin(uint64_t id);
OSC_API void osc_flow_end(uint64_t id);

/* --- who ------------------------------------------------------------------------- */

OSC_API void osc_thread_name(const char *name);
OSC_API void osc_process_name(const char *name);
/* A fact about the whole recording, such as "model" and "resnet18"; the last one wins. */
OSC_API void osc_metadata(const char *key, const char *value);

/* --- schedule ---------------------------------------------------------------------- */

/* What to do in a step; torch.profiler's ProfilerAction. */
enum osc_action { OSC_ACTION_NONE, OSC_ACTION_WARMUP, OSC_ACTION_RECORD, OSC_ACTION_SAVE };

/* torch.profiler.schedule's arguments, in steps; zeroed but for active: record it all. */
struct osc_schedule {
    uint64_t skip_first, wait, warmup, active, repeat, skip_first_wait;
};

/* What SCHEDULE says of step STEP; OSC_ACTION_NONE if its `active` is 0. Pure. */
OSC_API enum osc_action osc_schedule_action(const struct osc_schedule *schedule, uint64_t step);

/* --- start and stop ------------------------------------------------------------------ */

struct osc_start_options {
    size_t size;     /* sizeof of this struct, always: a newer library knows an older caller.
                        Too little for `out`, as 0: OSC_EINVAL */
    const char *out; /* file to write, as "run.osc"; NULL: one in the directory OPSCOPE_OUT,
                        else in the working directory, named by host, pid and start */
    const struct osc_schedule *schedule; /* NULL: OPSCOPE_SCHEDULE, else all is recorded */
    uint64_t buffer_bytes;               /* of memory that threads share; 0: 64 MiB */
    uint64_t limit_bytes; /* of files: beyond it the oldest are deleted; 0: none. Below 1 MiB
                             they may take more: each has 128 KiB at least */
    /* Flight recorder: keep the last of it in memory, and write it when something happens,
     * from where a step begins. What does not fit is given up, the oldest first: of
     * buffer_bytes an eighth, or at high rates what fills in 200 ms (half at most), is for
     * what is being recorded; the rest is kept. */
    uint64_t flight_ns;    /* the last nanoseconds; 0: not by time */
    uint64_t flight_steps; /* the last steps; 0: not by steps; both 0: no flight recorder */
    /* Dump when a step takes this many medians of those before, 8 at least; 0: no. A window
     * apart, or at the end, with all slow steps until then. */
    double slow_step;
    int dump_signal;   /* dump at this signal; 0: none */
    int toggle_signal; /* pause or resume at this signal; 0: none */
    int dump_on_crash; /* dump at a fatal signal, then do what the host would have done */
    /* A window of the schedule, or a dump, was written whole to PATH. Runs on the
     * library's own thread; recording calls in it are fine, start and stop are not. */
    void (*trace_ready)(void *ctx, const char *path);
    void *ctx;
};

/*
 * Begin to record. OPTIONS may be NULL: all defaults. OSC_EINVAL if it records
 * already, or OPTIONS->size is not set; OSC_EIO or OSC_ENOMEM if nothing can be written
 * there. Then nothing has changed. OPSCOPE=0 in the environment makes this do nothing and
 * return OSC_OK.
 */
OSC_API OSC_MUST_USE osc_status osc_start(const struct osc_start_options *options);

/*
 * End recording and write all of it. Called at exit by itself. OSC_EIO if not all
 * could be written: what could not stays in NAME.osc.live, where readers find it.
 */
OSC_API osc_status osc_stop(void);

/* Off for a while: scopes that are open end when they end. Calls count. */
OSC_API void osc_pause(void);
OSC_API void osc_resume(void);

/* Write what a flight recorder holds; without one, write out what is still in memory. */
OSC_API osc_status osc_dump(void);

/* What was lost so far, by cause, over all threads. */
struct osc_losses {
    uint64_t full;    /* no room left in memory: the disk did not keep up */
    uint64_t too_big; /* a record or name longer than its limit */
    uint64_t nested;  /* a signal handler recorded while its thread changed buffers */
    uint64_t late;    /* recorded after the end */
};
OSC_API void osc_losses_get(struct osc_losses *losses);

#ifdef __cplusplus
}

/* namespace opscope { scope } - a scope as long as the block it stands in. */
namespace opscope
{
class scope
{
  public:
    scope(enum osc_scope_kind kind, osc_name name)
    {
        osc_begin(kind, name);
    }
    ~scope()
    {
        osc_end();
    }

  private:
    scope(const scope &);
    scope &operator=(const scope &);
};
} // namespace opscope
#endif

#endif
