/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_devices.h"

#include <inttypes.h>
#include <stdio.h>

#include "opscope/source.h"
#include "sources/cuda/cupti_abi.h"
#include "sources/handle_map.h"

#define DEVICES_MAX 64u /* devices with higher numbers share the last place */

static struct device {
    _Atomic uint32_t number;     /* the recorder's; 0: not added yet. Written last */
    _Atomic uint32_t has_limits; /* written after them */
    struct osc_cupti_limits limits;
} devices[DEVICES_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct osc_handle_map queues = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct osc_handle_map contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct device *place_of(uint32_t id)
{
    return &devices[id < DEVICES_MAX ? id : DEVICES_MAX - 1];
}

/* Add the device ID with LIMITS, unless it is known, and return the recorder's number. */
static uint32_t add(uint32_t id, const struct osc_device_info *info,
                    const struct osc_cupti_limits *limits)
{
    struct device *const d = place_of(id);

    pthread_mutex_lock(&lock);
    uint32_t number = atomic_load_explicit(&d->number, memory_order_relaxed);
    const bool is_new = number == 0;
    const bool is_described =
        info->name && atomic_load_explicit(&d->has_limits, memory_order_relaxed) == 0;
    if (is_described)
        d->limits = *limits;
    if (is_new || is_described) /* work may have come before the record of its device */
        number = osc_device_add(info);
    /* Release pairs with the acquire in osc_cupti_device_limits(). */
    if (is_described)
        atomic_store_explicit(&d->has_limits, 1, memory_order_release);
    if (is_new)
        atomic_store_explicit(&d->number, number, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return number;
}

void osc_cupti_device_read(const uint8_t *record)
{
    const struct osc_cupti_limits limits = {
        .n_units = osc_cupti_u32(record, OSC_CUPTI_DEVICE_UNITS),
        .major = osc_cupti_u32(record, OSC_CUPTI_DEVICE_MAJOR),
        .minor = osc_cupti_u32(record, OSC_CUPTI_DEVICE_MINOR),
        .warp_threads = osc_cupti_u32(record, OSC_CUPTI_DEVICE_WARP),
        .warps_per_unit = osc_cupti_u32(record, OSC_CUPTI_DEVICE_WARPS_PER_UNIT),
        .blocks_per_unit = osc_cupti_u32(record, OSC_CUPTI_DEVICE_BLOCKS_PER_UNIT),
        .registers_per_unit = osc_cupti_u32(record, OSC_CUPTI_DEVICE_REGISTERS_PER_UNIT),
        .registers_per_block = osc_cupti_u32(record, OSC_CUPTI_DEVICE_REGISTERS_PER_BLOCK),
        .shared_per_unit = osc_cupti_u32(record, OSC_CUPTI_DEVICE_SHARED_PER_UNIT),
    };
    const uint32_t id = osc_cupti_u32(record, OSC_CUPTI_DEVICE_ID);
    const struct osc_device_info info = {
        .type = "cuda",
        .index = id,
        .name = osc_cupti_text(record, OSC_CUPTI_DEVICE_NAME),
        .memory_bytes = osc_cupti_u64(record, OSC_CUPTI_DEVICE_MEMORY),
        .limits = {.n_units = limits.n_units,
                   .major = limits.major,
                   .minor = limits.minor,
                   .threads_per_block =
                       osc_cupti_u32(record, OSC_CUPTI_DEVICE_THREADS_PER_BLOCK),
                   .threads_per_unit = limits.warps_per_unit * limits.warp_threads,
                   .registers_per_unit = limits.registers_per_unit,
                   .shared_bytes_per_block =
                       osc_cupti_u32(record, OSC_CUPTI_DEVICE_SHARED_PER_BLOCK),
                   .shared_bytes_per_unit = limits.shared_per_unit,
                   .simd_width = limits.warp_threads},
    };

    (void)add(id, &info, &limits);
}

uint32_t osc_cupti_device(uint32_t id)
{
    /* Relaxed: a number. */
    const uint32_t number = atomic_load_explicit(&place_of(id)->number, memory_order_relaxed);

    if (number != 0)
        return number;
    return add(id, &(struct osc_device_info){.type = "cuda", .index = id},
               &(struct osc_cupti_limits){0});
}

const struct osc_cupti_limits *osc_cupti_device_limits(uint32_t id)
{
    static const struct osc_cupti_limits none;
    const struct device *const d = place_of(id);

    /* Acquire pairs with the release in add(). */
    return atomic_load_explicit(&d->has_limits, memory_order_acquire) ? &d->limits : &none;
}

void osc_cupti_context_read(const uint8_t *record)
{
    const uint32_t id = osc_cupti_u32(record, OSC_CUPTI_CONTEXT_ID);

    if (id != 0)
        (void)osc_handle_set(&contexts, osc_handle_of(id),
                             osc_cupti_u32(record, OSC_CUPTI_CONTEXT_DEVICE));
}

uint32_t osc_cupti_device_of_context(uint32_t context)
{
    return context != 0 ? (uint32_t)osc_handle_get(&contexts, osc_handle_of(context)) : 0;
}

/* Add the queue KEY, unless it is known. The map has the numbers of queues plus 1. */
static uint32_t add_queue(uint32_t id, uint32_t stream, const void *key)
{
    const uint32_t device = osc_cupti_device(id);
    char name[24] = "no stream";

    if (stream != OSC_CUPTI_NO_STREAM)
        (void)snprintf(name, sizeof name, "stream %" PRIu32, stream);
    pthread_mutex_lock(&lock);
    uint64_t known = osc_handle_get(&queues, key);
    if (known == 0 && osc_handle_set(&queues, key, 1)) { /* there is room for it */
        known = (uint64_t)osc_queue_add(device, name) + 1;
        (void)osc_handle_set(&queues, key, known);
    }
    pthread_mutex_unlock(&lock);
    return known != 0 ? (uint32_t)(known - 1) : 0;
}

uint32_t osc_cupti_queue(uint32_t id, uint32_t stream)
{
    /* From 1 on: a key is not 0. */
    const void *const key = osc_handle_of((((uint64_t)id << 32) | stream) + 1);
    const uint64_t known = osc_handle_get(&queues, key);

    return known > 1 ? (uint32_t)(known - 1) : add_queue(id, stream, key);
}

void osc_cupti_each_device(void (*each)(uint32_t number))
{
    for (uint32_t i = 0; i < DEVICES_MAX; i++) {
        const uint32_t number = atomic_load_explicit(&devices[i].number, memory_order_acquire);

        if (number != 0)
            each(number);
    }
}
