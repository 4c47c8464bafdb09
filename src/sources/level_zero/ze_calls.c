/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that enqueue nothing: they wait, compile, or change lists. */
#include "sources/level_zero/ze_commands.h"

#define CALLS(X)                    \
    X(ModuleCreate)                 \
    X(CommandListClose)             \
    X(CommandListAppendSignalEvent) \
    X(CommandListAppendWaitOnEvents)

#define WAITS(X)                  \
    X(CommandQueueSynchronize)    \
    X(CommandListHostSynchronize) \
    X(FenceHostSynchronize)       \
    X(EventHostSynchronize)       \
    X(ContextSystemBarrier)

#define BEFORE(name)                                                                       \
    static void before_##name(void *params, ze_result_t result, void *tracer, void **call) \
    {                                                                                      \
        OSC_ZE_UNUSED;                                                                     \
        (void)osc_ze_begin(OSC_SOURCE_NAME("ze" #name));                                   \
    }

CALLS(BEFORE)
WAITS(BEFORE)

static void after_call(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    osc_ze_end();
}

static void after_wait(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    osc_ze_end();
    osc_ze_waited();
}

#define CALL(name) {#name, before_##name, after_call},
#define WAIT(name) {#name, before_##name, after_wait},

const struct osc_ze_hook osc_ze_hooks_calls[] = {CALLS(CALL) WAITS(WAIT){0}};
