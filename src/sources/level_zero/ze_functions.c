/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "sources/source_counter.h"
#include "sources/source_thread.h"

struct osc_ze_functions osc_ze;
struct osc_source osc_source_level_zero = {.name = "level-zero"};

_Atomic uint32_t osc_ze_is_beside_torch, osc_ze_is_wanted;

static _Atomic uint32_t is_child; /* of a fork */

/* The calls of this thread that are under way, and whether the outermost is recorded. */
static _Thread_local struct {
    uint32_t depth;
    bool is_recorded;
} self __attribute__((tls_model("initial-exec")));

static void forked(void)
{
    /* Relaxed: the child has one thread. */
    atomic_store_explicit(&is_child, 1, memory_order_relaxed);
}

/*
 * Within a callback the loader's layer lets calls of its own thread pass to the driver. The
 * loader's tables (zeGetEventProcAddrTable() and so on) must not be asked for: newer loaders
 * write what they give into the table of their layer, with nothing for functions that came
 * after the version asked for, and the program's calls of those fail from then on.
 */
#define FIND_SYMBOL(name)                                   \
    {                                                       \
        void *const symbol_ = dlsym(library, "ze" #name);   \
        memcpy(&osc_ze.name, &symbol_, sizeof osc_ze.name); \
    }

bool osc_ze_find_functions(void *library)
{
    bool is_whole = true;

    (void)pthread_atfork(NULL, NULL, forked);
#define FIND(table, name) FIND_SYMBOL(table##name) is_whole &= osc_ze.table##name != NULL;
    OSC_ZE_FUNCTIONS(FIND)
#undef FIND
#define FIND_LATER(name, result) FIND_SYMBOL(CommandList##name)
    OSC_ZE_LATER_FUNCTIONS(FIND_LATER)
#undef FIND_LATER
    FIND_SYMBOL(CommandListIsGraphCaptureEnabledExt)
    return is_whole;
}

bool osc_ze_is_alive(void)
{
    return atomic_load_explicit(&is_child, memory_order_relaxed) == 0;
}

static _Atomic uint64_t n_unseen;

void osc_ze_count(enum osc_ze_count what, uint64_t more)
{
    static struct osc_source_counter counters[] = OSC_SOURCE_COUNTERS(OSC_ZE_COUNTS);

    osc_source_counter_add(&counters[what], more);
    /* Relaxed: a sum, which is asked for after the work. */
    if (what == OSC_ZE_COUNT_UNKNOWN || what == OSC_ZE_COUNT_LISTS)
        atomic_fetch_add_explicit(&n_unseen, more, memory_order_relaxed);
}

uint64_t osc_ze_unseen(void)
{
    return atomic_load_explicit(&n_unseen, memory_order_relaxed);
}

bool osc_ze_begin(osc_name name)
{
    if (self.depth++ > 0)
        return false;
    self.is_recorded = osc_ze_is_on() && !osc_runtime_is_inside() && osc_ze_is_alive();
    if (self.is_recorded) {
        osc_source_heed();
        osc_begin(OSC_SCOPE_RUNTIME, name);
    }
    return self.is_recorded;
}

void osc_ze_enter(void)
{
    self.depth++;
}

void osc_ze_leave(void)
{
    self.depth--;
}

bool osc_ze_is_inside(void)
{
    return self.depth > 0;
}

bool osc_ze_is_of_program(void)
{
    return self.depth == 1 && !osc_runtime_is_inside() && osc_ze_is_alive();
}

void osc_ze_end(void)
{
    if (self.depth == 0 || --self.depth > 0 || !self.is_recorded)
        return;
    self.is_recorded = false;
    osc_end();
}
