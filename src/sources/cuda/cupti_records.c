/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_records.h"

#include "opscope/source.h"
#include "sources/cuda/cupti_devices.h"
#include "sources/cuda/cupti_state.h"
#include "sources/cuda/cupti_work.h"
#include "sources/source_text.h"

#define MEMORY_DEVICE        3u /* CUpti_ActivityMemoryKind */
#define MEMORY_MANAGED       5u
#define MEMORY_DEVICE_STATIC 6u

static _Atomic uint64_t n_overheads;

/* What kept the host from its work, as a range of no thread: records do not always name one. */
static void read_overhead(const uint8_t *r)
{
    static const char *const texts[] = {"Unknown",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    static osc_name names[sizeof texts / sizeof *texts], compiler;
    const uint32_t type = osc_cupti_u32(r, OSC_CUPTI_OVERHEAD_TYPE), i = type >> 16;
    const uint32_t n = sizeof texts / sizeof *texts;
    const uint64_t start = osc_cupti_u64(r, OSC_CUPTI_OVERHEAD_START);
    const uint64_t end = osc_cupti_u64(r, OSC_CUPTI_OVERHEAD_END);
    osc_name *const name = type == 1 ? &compiler : &names[i < n ? i : 0];

    if (start == 0 || end < start ||
        atomic_load_explicit(&osc_cupti_has_own_clock, memory_order_relaxed)) {
        osc_cupti_count(OSC_CUPTI_COUNT_UNTIMED, 1);
        return;
    }
    osc_name_once(name, type == 1 ? "Driver Compiler" : texts[i < n ? i : 0]);
    /* Relaxed: the ids need only differ. */
    const uint64_t id = (UINT64_C(0xcd) << 56) +
                        atomic_fetch_add_explicit(&n_overheads, 1, memory_order_relaxed);
    const osc_name known = __atomic_load_n(name, __ATOMIC_RELAXED);

    osc_async_begin_at(OSC_SCOPE_OVERHEAD, known, id, start);
    osc_async_end_at(OSC_SCOPE_OVERHEAD, known, id, end);
}

/* Memory of the host is none of a device's. Beside torch's profiler, its allocator tells more.
 * Times of CUPTI's own clock cannot be related to ours, and a block is ordered by its time, so
 * that these are only counted. */
static void read_memory(const uint8_t *r)
{
    const uint32_t operation = osc_cupti_u32(r, OSC_CUPTI_MEMORY_OPERATION);
    const uint32_t kind = osc_cupti_u32(r, OSC_CUPTI_MEMORY_KIND);
    const uint64_t address = osc_cupti_u64(r, OSC_CUPTI_MEMORY_ADDRESS);
    const uint64_t bytes = osc_cupti_u64(r, OSC_CUPTI_MEMORY_BYTES);
    const uint64_t ticks = osc_cupti_u64(r, OSC_CUPTI_MEMORY_TIME);

    if ((kind != MEMORY_DEVICE && kind != MEMORY_MANAGED && kind != MEMORY_DEVICE_STATIC) ||
        atomic_load_explicit(&osc_cupti_is_beside_torch, memory_order_relaxed))
        return;
    if (ticks == 0 || atomic_load_explicit(&osc_cupti_has_own_clock, memory_order_relaxed)) {
        osc_cupti_count(OSC_CUPTI_COUNT_UNTIMED, 1);
        return;
    }
    const uint32_t device = osc_cupti_device(osc_cupti_u32(r, OSC_CUPTI_MEMORY_DEVICE));
    if (operation == 1)
        osc_memory_alloc_at(device, address, bytes, ticks);
    else if (operation == 2)
        osc_memory_free_at(device, address, bytes, ticks);
}

static void read_record(const uint8_t *r)
{
    switch (osc_cupti_kind(r)) {
    case OSC_CUPTI_KERNEL:
        osc_cupti_read_kernel(r);
        break;
    case OSC_CUPTI_MEMCPY:
        osc_cupti_read_copy(r);
        break;
    case OSC_CUPTI_MEMCPY2:
        osc_cupti_read_peer_copy(r);
        break;
    case OSC_CUPTI_MEMSET:
        osc_cupti_read_set(r);
        break;
    case OSC_CUPTI_SYNC:
        osc_cupti_read_sync(r);
        break;
    case OSC_CUPTI_OVERHEAD:
        read_overhead(r);
        break;
    case OSC_CUPTI_MEMORY2:
        read_memory(r);
        break;
    case OSC_CUPTI_DEVICE:
        osc_cupti_device_read(r);
        break;
    case OSC_CUPTI_CONTEXT:
        osc_cupti_context_read(r);
        break;
    default: /* a kind that somebody else has enabled */
        break;
    }
}

/* Devices and contexts are read even while nothing records: they are told only once. */
static bool is_due(const uint8_t *r)
{
    const uint32_t kind = osc_cupti_kind(r);

    return osc_is_on() || kind == OSC_CUPTI_DEVICE || kind == OSC_CUPTI_CONTEXT;
}

void osc_cupti_read_buffer(uint8_t *buffer, size_t valid)
{
    uint8_t *record = NULL, *last = NULL;
    int error;

    while ((error = osc_cupti.next_record(buffer, valid, &record)) == OSC_CUPTI_OK) {
        if (!record || record <= last) { /* there would be no end */
            error = OSC_CUPTI_UNKNOWN;
            break;
        }
        if (is_due(record))
            read_record(record);
        last = record;
    }
    if (error != OSC_CUPTI_LIMIT)
        osc_cupti_count(OSC_CUPTI_COUNT_UNKNOWN, 1);
}
