/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_work.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "opscope/source.h"
#include "sources/cuda/cupti_calls.h"
#include "sources/cuda/cupti_devices.h"
#include "sources/cuda/cupti_names.h"
#include "sources/cuda/cupti_state.h"
#include "sources/source_text.h"

#define COPY_KINDS   11u
#define MEMORY_KINDS 8u
#define NO_VALUE     UINT32_MAX /* CUPTI has none */

static const char *const memory_kinds[MEMORY_KINDS] = {
    "Unknown", "Pageable", "Pinned",        "Device",
    "Array",   "Managed",  "Device Static", "Managed Static"};

static const char *memory_kind(uint32_t kind)
{
    return kind < MEMORY_KINDS ? memory_kinds[kind] : "Unrecognized";
}

/* Report WORK at PLACE. False: its times were not taken, or who launched it reports it. */
static bool report(const struct osc_cupti_place *place, struct osc_work_info *work,
                   uint32_t correlation)
{
    work->correlation = osc_cupti_launch_of(correlation);
    if (work->correlation == OSC_CUPTI_OF_NONE)
        return false;
    if (work->start_ticks != 0 && work->end_ticks == 0) {
        osc_cupti_count(OSC_CUPTI_COUNT_UNFINISHED, 1);
        return false;
    }
    if (work->start_ticks == 0 || work->end_ticks < work->start_ticks) {
        osc_cupti_count(OSC_CUPTI_COUNT_UNTIMED, 1);
        return false;
    }
    osc_work(osc_cupti_queue(place->device, place->stream), work);
    osc_cupti_add_place(place);
    return true;
}

static bool has_graphs(void)
{
    return osc_cupti.version >= OSC_CUPTI_VERSION_GRAPHS;
}

void osc_cupti_read_kernel(const uint8_t *r)
{
    struct osc_cupti_place place = {
        .launch = {.registers = osc_cupti_u16(r, OSC_CUPTI_KERNEL_REGISTERS),
                   .shared_bytes = osc_cupti_u32(r, OSC_CUPTI_KERNEL_STATIC_SHARED) +
                                   osc_cupti_u32(r, OSC_CUPTI_KERNEL_DYNAMIC_SHARED)},
        .device = osc_cupti_u32(r, OSC_CUPTI_KERNEL_DEVICE),
        .context = osc_cupti_u32(r, OSC_CUPTI_KERNEL_CONTEXT),
        .stream = osc_cupti_u32(r, OSC_CUPTI_KERNEL_STREAM),
    };
    struct osc_work_info work = {
        .kind = OSC_WORK_KERNEL,
        .name = osc_cupti_kernel_name(osc_cupti_text(r, OSC_CUPTI_KERNEL_NAME)),
        .append_ticks = osc_cupti_u64(r, OSC_CUPTI_KERNEL_QUEUED),
        .submit_ticks = osc_cupti_u64(r, OSC_CUPTI_KERNEL_SUBMITTED),
        .start_ticks = osc_cupti_u64(r, OSC_CUPTI_KERNEL_START),
        .end_ticks = osc_cupti_u64(r, OSC_CUPTI_KERNEL_END),
    };

    memcpy(place.launch.grid, r + OSC_CUPTI_KERNEL_GRID, sizeof place.launch.grid);
    memcpy(place.launch.block, r + OSC_CUPTI_KERNEL_BLOCK, sizeof place.launch.block);
    if (has_graphs()) {
        place.graph = osc_cupti_u32(r, OSC_CUPTI_KERNEL_GRAPH);
        place.graph_node = osc_cupti_u64(r, OSC_CUPTI_KERNEL_GRAPH_NODE);
    }
    (void)report(&place, &work, osc_cupti_u32(r, OSC_CUPTI_KERNEL_CORRELATION));
}

/* The name of a copy as in Kineto's traces: Memcpy HtoD (Pageable -> Device). */
static osc_name copy_name(uint32_t kind, uint32_t from, uint32_t to)
{
    static const char *const kinds[COPY_KINDS] = {"<unknown>", "HtoD", "DtoH", "HtoA",
                                                  "AtoH",      "AtoA", "AtoD", "DtoA",
                                                  "DtoD",      "HtoH", "PtoP"};
    static _Atomic uint32_t names[COPY_KINDS][MEMORY_KINDS + 1][MEMORY_KINDS + 1];
    char text[80];

    kind = kind < COPY_KINDS ? kind : 0;
    from = from < MEMORY_KINDS ? from : MEMORY_KINDS;
    to = to < MEMORY_KINDS ? to : MEMORY_KINDS;
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(&names[kind][from][to], memory_order_relaxed);
    if (name != 0)
        return name;
    (void)snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", kinds[kind], memory_kind(from),
                   memory_kind(to));
    name = osc_name_c(text);
    atomic_store_explicit(&names[kind][from][to], name, memory_order_relaxed);
    return name;
}

/* What both kinds of copies have at the same offsets. */
static struct osc_work_info copy_of(const uint8_t *r)
{
    return (struct osc_work_info){
        .kind = OSC_WORK_MEMCPY,
        .name = copy_name(r[OSC_CUPTI_MEMCPY_COPY_KIND], r[OSC_CUPTI_MEMCPY_FROM_KIND],
                          r[OSC_CUPTI_MEMCPY_TO_KIND]),
        .start_ticks = osc_cupti_u64(r, OSC_CUPTI_MEMCPY_START),
        .end_ticks = osc_cupti_u64(r, OSC_CUPTI_MEMCPY_END),
        .bytes = osc_cupti_u64(r, OSC_CUPTI_MEMCPY_BYTES),
    };
}

static struct osc_cupti_place copy_place_of(const uint8_t *r)
{
    return (struct osc_cupti_place){.device = osc_cupti_u32(r, OSC_CUPTI_MEMCPY_DEVICE),
                                    .context = osc_cupti_u32(r, OSC_CUPTI_MEMCPY_CONTEXT),
                                    .stream = osc_cupti_u32(r, OSC_CUPTI_MEMCPY_STREAM)};
}

void osc_cupti_read_copy(const uint8_t *r)
{
    struct osc_work_info work = copy_of(r);
    struct osc_cupti_place place = copy_place_of(r);

    if (has_graphs()) {
        place.graph = osc_cupti_u32(r, OSC_CUPTI_MEMCPY_GRAPH);
        place.graph_node = osc_cupti_u64(r, OSC_CUPTI_MEMCPY_GRAPH_NODE);
    }
    (void)report(&place, &work, osc_cupti_u32(r, OSC_CUPTI_MEMCPY_CORRELATION));
}

void osc_cupti_read_peer_copy(const uint8_t *r)
{
    struct osc_work_info work = copy_of(r);
    struct osc_cupti_place place = copy_place_of(r);

    place.from_device = osc_cupti_u32(r, OSC_CUPTI_PEER_FROM_DEVICE) + 1;
    place.to_device = osc_cupti_u32(r, OSC_CUPTI_PEER_TO_DEVICE) + 1;
    if (has_graphs()) {
        place.graph = osc_cupti_u32(r, OSC_CUPTI_PEER_GRAPH);
        place.graph_node = osc_cupti_u64(r, OSC_CUPTI_PEER_GRAPH_NODE);
    }
    (void)report(&place, &work, osc_cupti_u32(r, OSC_CUPTI_PEER_CORRELATION));
}

static osc_name set_name(uint32_t kind)
{
    static _Atomic uint32_t names[MEMORY_KINDS + 1];
    char text[40];

    kind = kind < MEMORY_KINDS ? kind : MEMORY_KINDS;
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(&names[kind], memory_order_relaxed);
    if (name == 0) {
        (void)snprintf(text, sizeof text, "Memset (%s)", memory_kind(kind));
        name = osc_name_c(text);
        atomic_store_explicit(&names[kind], name, memory_order_relaxed);
    }
    return name;
}

void osc_cupti_read_set(const uint8_t *r)
{
    struct osc_cupti_place place = {.device = osc_cupti_u32(r, OSC_CUPTI_MEMSET_DEVICE),
                                    .context = osc_cupti_u32(r, OSC_CUPTI_MEMSET_CONTEXT),
                                    .stream = osc_cupti_u32(r, OSC_CUPTI_MEMSET_STREAM)};
    struct osc_work_info work = {
        .kind = OSC_WORK_MEMSET,
        .name = set_name(osc_cupti_u16(r, OSC_CUPTI_MEMSET_MEMORY_KIND)),
        .start_ticks = osc_cupti_u64(r, OSC_CUPTI_MEMSET_START),
        .end_ticks = osc_cupti_u64(r, OSC_CUPTI_MEMSET_END),
        .bytes = osc_cupti_u64(r, OSC_CUPTI_MEMSET_BYTES),
    };

    if (has_graphs()) {
        place.graph = osc_cupti_u32(r, OSC_CUPTI_MEMSET_GRAPH);
        place.graph_node = osc_cupti_u64(r, OSC_CUPTI_MEMSET_GRAPH_NODE);
    }
    (void)report(&place, &work, osc_cupti_u32(r, OSC_CUPTI_MEMSET_CORRELATION));
}

void osc_cupti_read_sync(const uint8_t *r)
{
    static osc_name names[5];
    static const char *const texts[] = {"Unknown", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    const uint32_t type = osc_cupti_u32(r, OSC_CUPTI_SYNC_TYPE),
                   n = sizeof names / sizeof *names;
    const uint32_t i = type < n ? type : 0;
    const uint32_t context = osc_cupti_u32(r, OSC_CUPTI_SYNC_CONTEXT);
    const struct osc_cupti_place place = {.device = osc_cupti_device_of_context(context),
                                          .context = context,
                                          .stream = osc_cupti_u32(r, OSC_CUPTI_SYNC_STREAM)};
    struct osc_work_info work = {
        .kind = OSC_WORK_SYNC,
        .start_ticks = osc_cupti_u64(r, OSC_CUPTI_SYNC_START),
        .end_ticks = osc_cupti_u64(r, OSC_CUPTI_SYNC_END),
    };

    osc_name_once(&names[i], texts[i]);
    work.name = __atomic_load_n(&names[i], __ATOMIC_RELAXED);
    if (report(&place, &work, osc_cupti_u32(r, OSC_CUPTI_SYNC_CORRELATION)) &&
        osc_cupti_u32(r, OSC_CUPTI_SYNC_EVENT) != NO_VALUE && (i == 1 || i == 2))
        osc_arg_i64(OSC_SOURCE_NAME("wait_on_cuda_event_id"),
                    osc_cupti_u32(r, OSC_CUPTI_SYNC_EVENT));
}
