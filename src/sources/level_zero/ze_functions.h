/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_functions.h - the Level Zero collector: a tracer of its loader.
 *
 * The loader calls the functions of a tracer before and after those that programs call. A
 * tracer can be made once zeInit() has succeeded, so the collector is preloaded and stands
 * before zeInit() (ze_tracer.c).
 *
 *     zeCommandListAppend..., zeMemAlloc..., ...   runtime calls on the thread that makes them
 *     commands of a command list                   work of an engine of the device
 *     zeMemAllocDevice(), zeMemAllocShared()       memory of the device
 *
 *   - Commands have times if they signal an event that takes them: commands without an event
 *     get one of ours, and pools of events of programs are made to take times (ze_events.h).
 *   - A regular command list may be executed many times: its commands are recorded each time.
 *
 * Threading: everything may be called from any thread. Objects of Level Zero belong to the
 * thread that calls with them, as the standard says.
 */
#pragma once

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include "opscope/source.h"
#include "sources/source_state.h"
#include "sources/source_text.h"

/* Functions of the loader that are called here. */
#define OSC_ZE_FUNCTIONS(X)                   \
    X(Driver, Get)                            \
    X(Device, Get)                            \
    X(Device, GetSubDevices)                  \
    X(Device, GetProperties)                  \
    X(Device, GetMemoryProperties)            \
    X(Device, GetCommandQueueGroupProperties) \
    X(Device, GetGlobalTimestamps)            \
    X(EventPool, Create)                      \
    X(EventPool, Destroy)                     \
    X(Event, Create)                          \
    X(Event, Destroy)                         \
    X(Event, QueryStatus)                     \
    X(Event, HostReset)                       \
    X(Event, HostSignal)                      \
    X(Event, QueryKernelTimestamp)            \
    X(CommandList, AppendBarrier) X(CommandList, AppendSignalEvent) X(Mem, GetAllocProperties)

/* Functions of newer loaders, which say what a list is that was made before the tracer. */
#define OSC_ZE_LATER_FUNCTIONS(X)                     \
    X(GetContextHandle, ze_context_handle_t *context) \
    X(GetDeviceHandle, ze_device_handle_t *device)    \
    X(IsImmediate, ze_bool_t *is_immediate)           \
    X(GetOrdinal, uint32_t *ordinal)                  \
    X(ImmediateGetIndex, uint32_t *index)

/* ze_pfnDriverGet_t becomes osc_ze.DriverGet, and so on. All are set before a callback runs. */
struct osc_ze_functions {
#define OSC_ZE_MEMBER(table, name) ze_pfn##table##name##_t table##name;
    OSC_ZE_FUNCTIONS(OSC_ZE_MEMBER)
#undef OSC_ZE_MEMBER
#define OSC_ZE_LATER(name, result) \
    ze_result_t (*CommandList##name)(ze_command_list_handle_t list, result); /* or NULL */
    OSC_ZE_LATER_FUNCTIONS(OSC_ZE_LATER)
#undef OSC_ZE_LATER
    ze_result_t (*CommandListIsGraphCaptureEnabledExt)(ze_command_list_handle_t list);
};

extern struct osc_ze_functions osc_ze __attribute__((visibility("hidden")));

/* Find the functions in LIBRARY, a handle of dlopen(). False: one is missing. */
bool osc_ze_find_functions(void *library);

extern struct osc_source osc_source_level_zero __attribute__((visibility("hidden")));

/* Whether torch is recorded, too: then its allocator reports memory, which it takes from the
 * driver, and barriers are left out, as in torch's own tables. */
extern _Atomic uint32_t osc_ze_is_beside_torch __attribute__((visibility("hidden")));

/* What goes wrong, counted as counters "level-zero: TEXT" of the recording. */
#define OSC_ZE_COUNTS(X)                                                             \
    X(UNKNOWN, "level-zero: commands of lists that were made before the tracer")     \
    X(LISTS, "level-zero: executions of lists that are not known")                   \
    X(QUEUES, "level-zero: executions on queues that are not known")                 \
    X(UNTIMED, "level-zero: commands without times")                                 \
    X(UNFINISHED, "level-zero: commands that had not finished at the end")           \
    X(UNRELATED,                                                                     \
      "level-zero: commands of devices whose clock cannot be related to the host's") \
    X(GRAPHS, "level-zero: graphs whose commands were left out")                     \
    X(BLOCKS, "level-zero: blocks of memory left out")

enum osc_ze_count {
#define OSC_ZE_COUNT(name, text) OSC_ZE_COUNT_##name,
    OSC_ZE_COUNTS(OSC_ZE_COUNT)
#undef OSC_ZE_COUNT
};

/* Whether somebody wants what this source records: the whole program, or a profile of torch
 * that is running. The tracer is there all the same. */
extern _Atomic uint32_t osc_ze_is_wanted __attribute__((visibility("hidden")));

static inline bool osc_ze_is_on(void)
{
    /* Relaxed: a call may see a change late. */
    return osc_is_on() && atomic_load_explicit(&osc_ze_is_wanted, memory_order_relaxed) != 0;
}

/* As osc_source_counter_add(). */
void osc_ze_count(enum osc_ze_count what, uint64_t more);

/* How often something was counted that was made before the tracer: UNKNOWN and LISTS. */
uint64_t osc_ze_unseen(void);

/* --- calls ------------------------------------------------------------------------------- */

/* The parameters are a struct of pointers to the arguments, "ze_..._params_t". */
typedef void (*osc_ze_callback)(void *params, ze_result_t result, void *tracer, void **call);

/* For callbacks that do not look at all of these. */
#define OSC_ZE_UNUSED (void)params, (void)result, (void)tracer, (void)call

/* What to call before and after zeNAME(), each may be NULL. Lists end with a NULL name. */
struct osc_ze_hook {
    const char *name;
    osc_ze_callback before, after;
};

extern const struct osc_ze_hook osc_ze_hooks_calls[] __attribute__((visibility("hidden")));
extern const struct osc_ze_hook osc_ze_hooks_appends[] __attribute__((visibility("hidden")));
extern const struct osc_ze_hook osc_ze_hooks_events[] __attribute__((visibility("hidden")));
extern const struct osc_ze_hook osc_ze_hooks_lists[] __attribute__((visibility("hidden")));
extern const struct osc_ze_hook osc_ze_hooks_kernels[] __attribute__((visibility("hidden")));
extern const struct osc_ze_hook osc_ze_hooks_memory[] __attribute__((visibility("hidden")));

/* Begin and end the call NAME of this thread. Returns whether it is recorded: not if the
 * recorder is off, within another call, or in the child of a fork. */
bool osc_ze_begin(osc_name name);
void osc_ze_end(void);

/* The calls from here to there are ours: outside of callbacks, the loader reports these, too.
 */
void osc_ze_enter(void);
void osc_ze_leave(void);
bool osc_ze_is_inside(void); /* of those, or of a call that has begun */

/* Whether the call that this thread has begun is the program's own, and not within another one
 * or in the child of a fork. It need not be recorded. */
bool osc_ze_is_of_program(void);

/* Whether this is the process that made the tracer. In the child of a fork drivers are
 * unusable. */
bool osc_ze_is_alive(void);
