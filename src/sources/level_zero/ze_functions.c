/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "sources/source_counter.h"
#include "sources/source_thread.h"

struct osc_ze_functions osc_ze;
struct osc_source osc_source_level_zero = {.name = "level-zero"};

_Atomic uint32_t osc_ze_is_beside_torch;

static _Atomic uint32_t is_child; /* of a fork */

/* The calls of this thread that are under way, and whether the outermost is recorded. */
static _Thread_local struct {
    uint32_t depth;
    bool is_recorded;
} self __attribute__((tls_model("initial-exec")));

/*
 * The loader fills a table as long as its own version has it, whatever version is asked for: so
 * there is room for a longer one than that of our headers.
 */
#define TABLE_BYTES 4096

#define TABLES(X) X(Driver) X(Device) X(EventPool) X(Event) X(CommandList) X(Mem)

#define ROOM char room[TABLE_BYTES]

static struct {
    union {
        ROOM;
        ze_driver_dditable_t all;
    } Driver;
    union {
        ROOM;
        ze_device_dditable_t all;
    } Device;
    union {
        ROOM;
        ze_event_pool_dditable_t all;
    } EventPool;
    union {
        ROOM;
        ze_event_dditable_t all;
    } Event;
    union {
        ROOM;
        ze_command_list_dditable_t all;
    } CommandList;
    union {
        ROOM;
        ze_mem_dditable_t all;
    } Mem;
} tables;

typedef ze_result_t (*fill_table)(ze_api_version_t version, void *table);

/* Fill the table NAME by the function of the loader for it, which leaves out tracers. */
static void fill(void *library, const char *name, void *table)
{
    const ze_api_version_t version = ZE_API_VERSION_1_1; /* the first with global timestamps */
    void *const symbol = dlsym(library, name);
    fill_table function;

    memcpy(&function, &symbol, sizeof function);
    if (function && function(version, table) != ZE_RESULT_SUCCESS)
        memset(table, 0, TABLE_BYTES);
}

static void forked(void)
{
    /* Relaxed: the child has one thread. */
    atomic_store_explicit(&is_child, 1, memory_order_relaxed);
}

bool osc_ze_find_functions(void *library)
{
    bool is_whole = true;

    (void)pthread_atfork(NULL, NULL, forked);
#define FILL(name) fill(library, "zeGet" #name "ProcAddrTable", &tables.name);
    TABLES(FILL)
#undef FILL
    /* What the tables lack may be a symbol: then tracers see the call, and ours ignores it. */
#define FIND(table, name)                                       \
    osc_ze.table##name = tables.table.all.pfn##name;            \
    if (!osc_ze.table##name) {                                  \
        void *const symbol = dlsym(library, "ze" #table #name); \
        memcpy(&osc_ze.table##name, &symbol, sizeof symbol);    \
    }                                                           \
    is_whole &= osc_ze.table##name != NULL;
    OSC_ZE_FUNCTIONS(FIND)
#undef FIND
#define FIND_LATER(name, result)                                    \
    {                                                               \
        void *const symbol = dlsym(library, "zeCommandList" #name); \
        memcpy(&osc_ze.CommandList##name, &symbol, sizeof symbol);  \
    }
    OSC_ZE_LATER_FUNCTIONS(FIND_LATER)
#undef FIND_LATER
    return is_whole;
}

bool osc_ze_is_alive(void)
{
    return atomic_load_explicit(&is_child, memory_order_relaxed) == 0;
}

void osc_ze_count(enum osc_ze_count what, uint64_t more)
{
    static struct osc_source_counter counters[] = {
#define COUNTER(name, text) {"level-zero: " text, 0},
        OSC_ZE_COUNTS(COUNTER)
#undef COUNTER
    };

    osc_source_counter_add(&counters[what], more);
}

bool osc_ze_begin(osc_name name)
{
    if (self.depth++ > 0)
        return false;
    self.is_recorded = osc_is_on() && !osc_runtime_is_inside() && osc_ze_is_alive();
    if (self.is_recorded) {
        osc_source_heed();
        osc_begin(OSC_SCOPE_RUNTIME, name);
    }
    return self.is_recorded;
}

void osc_ze_end(void)
{
    if (self.depth == 0 || --self.depth > 0 || !self.is_recorded)
        return;
    self.is_recorded = false;
    osc_end();
}
