/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_devices.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sources/handle_map.h"
#include "sources/level_zero/ze_ticks.h"
#include "sources/source_memory.h"

#define DRIVERS_MAX   16u
#define DEVICES_MAX   64u
#define TILES_MAX     16u
#define NS            INT64_C(1000000000)
#define PAIR_EVERY_NS UINT64_C(50000000)
#define READINGS      2

static struct osc_handle_map devices = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct osc_ze_device *all[DEVICES_MAX]; /* without parts */
static uint32_t n_all;

/* --- what devices are -------------------------------------------------------------------- */

/*
 * Ticks per second. The field is in ticks per second if the driver knows the newer form of the
 * question, else in ns per tick; no device has less than a tick in 100 us or more than one in a
 * ns, so that the number itself says which.
 */
static uint64_t hz_of(uint64_t resolution)
{
    return resolution == 0 ? 0 : resolution < 100000 ? (uint64_t)NS / resolution : resolution;
}

static uint64_t mask_of(uint32_t bits)
{
    return bits == 0 || bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Ask the device once and for all: properties are read in the calls of others, where asking
 * again would be slow. */
static struct osc_ze_device *make(ze_device_handle_t handle, ze_device_properties_t *p)
{
    struct osc_ze_device *const d = osc_source_memory(sizeof *d);

    memset(p, 0, sizeof *p);
    p->stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    if (!d || osc_ze.DeviceGetProperties(handle, p) != ZE_RESULT_SUCCESS)
        return NULL;
    d->handle = handle;
    d->root = d;
    d->tile = p->subdeviceId;
    d->hz = hz_of(p->timerResolution);
    d->global_mask = mask_of(p->timestampValidBits);
    d->kernel_mask = mask_of(p->kernelTimestampValidBits);
    d->type = p->type == ZE_DEVICE_TYPE_VPU ? "npu" : "xpu";
    p->name[sizeof p->name - 1] = '\0';
    memcpy(d->name, p->name, sizeof d->name);
    (void)pthread_mutex_init(&d->lock, NULL);
    return osc_handle_set(&devices, handle, (uintptr_t)d) ? d : NULL;
}

/* Programs may use a tile as a device of its own; its clock and name are those of the whole. */
static void add_tiles(struct osc_ze_device *root)
{
    ze_device_handle_t handles[TILES_MAX];
    ze_device_properties_t p;
    uint32_t n = TILES_MAX;

    if (osc_ze.DeviceGetSubDevices(root->handle, &n, handles) != ZE_RESULT_SUCCESS)
        return;
    for (uint32_t i = 0; i < n && i < TILES_MAX; i++) {
        struct osc_ze_device *const d = handles[i] ? make(handles[i], &p) : NULL;

        if (d)
            d->root = root;
    }
}

/* Of the devices before it, how many have the same type. */
static uint32_t index_of(const struct osc_ze_device *d)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_all; i++)
        n += strcmp(all[i]->type, d->type) == 0;
    return n;
}

void osc_ze_find_devices(void)
{
    ze_driver_handle_t drivers[DRIVERS_MAX];
    uint32_t n_drivers = DRIVERS_MAX;

    if (osc_ze.DriverGet(&n_drivers, drivers) != ZE_RESULT_SUCCESS)
        return;
    for (uint32_t i = 0; i < n_drivers && i < DRIVERS_MAX; i++) {
        ze_device_handle_t handles[DEVICES_MAX];
        ze_device_properties_t p;
        uint32_t n = DEVICES_MAX;

        if (osc_ze.DeviceGet(drivers[i], &n, handles) != ZE_RESULT_SUCCESS)
            continue;
        for (uint32_t k = 0; k < n && k < DEVICES_MAX && n_all < DEVICES_MAX; k++) {
            struct osc_ze_device *const d = handles[k] ? make(handles[k], &p) : NULL;

            if (!d)
                continue;
            d->index = index_of(d);
            all[n_all++] = d;
            add_tiles(d);
        }
    }
}

/* Report D, which is whole, to the recorder. Threads that do so at once ask the driver for the
 * same. */
static void report(struct osc_ze_device *d)
{
    ze_device_memory_properties_t memory[8];
    ze_device_properties_t p;
    uint64_t bytes = 0;
    uint32_t n = sizeof memory / sizeof *memory;

    memset(memory, 0, sizeof memory);
    for (uint32_t i = 0; i < n; i++)
        memory[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    if (osc_ze.DeviceGetMemoryProperties(d->handle, &n, memory) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < n && i < sizeof memory / sizeof *memory; i++)
            bytes += memory[i].totalSize;
    }
    memset(&p, 0, sizeof p);
    p.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    (void)osc_ze.DeviceGetProperties(d->handle, &p);
    /* The same type and index give the same number. */
    const uint32_t number = osc_device_add(&(struct osc_device_info){
        .type = d->type,
        .index = d->index,
        .name = d->name,
        .memory_bytes = bytes,
        .clock_hz = d->hz,
        .limits = {.n_units = p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice,
                   .threads_per_unit = p.numThreadsPerEU,
                   .simd_width = p.physicalEUSimdWidth}});
    /* Release pairs with the acquire in osc_ze_device_of(). */
    atomic_store_explicit(&d->number, number, memory_order_release);
}

struct osc_ze_device *osc_ze_device_of(ze_device_handle_t handle)
{
    struct osc_ze_device *const d = handle ? osc_handle_get_address(&devices, handle) : NULL;

    if (!d || atomic_load_explicit(&d->number, memory_order_acquire) != 0)
        return d;
    struct osc_ze_device *const root = d->root;
    if (atomic_load_explicit(&root->number, memory_order_acquire) == 0)
        report(root);
    if (root != d)
        atomic_store_explicit(&d->number,
                              atomic_load_explicit(&root->number, memory_order_relaxed),
                              memory_order_release);
    osc_ze_read_clock(root, false);
    return d;
}

/* --- engines ----------------------------------------------------------------------------- */

/* The name of a queue says what its engine can do: groups are numbered by the driver. */
static const char *word_of(const struct osc_ze_device *d, uint32_t ordinal)
{
    ze_command_queue_group_properties_t groups[16];
    uint32_t n = sizeof groups / sizeof *groups;

    memset(groups, 0, sizeof groups);
    for (uint32_t i = 0; i < n; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    if (osc_ze.DeviceGetCommandQueueGroupProperties(d->handle, &n, groups) !=
            ZE_RESULT_SUCCESS ||
        ordinal >= n || ordinal >= sizeof groups / sizeof *groups)
        return "engine";
    if (groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
        return "compute";
    return groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY ? "copy"
                                                                             : "engine";
}

struct osc_ze_engine {
    struct osc_ze_engine *next; /* of the same device or part */
    uint32_t ordinal, index, queue;
};

/* The engine of D, whose lock the caller has; NULL: it is new. */
static const struct osc_ze_engine *find_engine(const struct osc_ze_device *d, uint32_t ordinal,
                                               uint32_t index)
{
    const struct osc_ze_engine *e = d->engines;

    while (e && !(e->ordinal == ordinal && e->index == index))
        e = e->next;
    return e;
}

/* Add the engine of D called NAME, unless another thread has. Returns its queue. */
static uint32_t add_engine(struct osc_ze_device *d, uint32_t ordinal, uint32_t index,
                           const char *name)
{
    struct osc_ze_engine *const made = osc_source_memory(sizeof *made);

    pthread_mutex_lock(&d->lock);
    const struct osc_ze_engine *const there = find_engine(d, ordinal, index);
    const uint32_t queue =
        there ? there->queue
              : osc_queue_add(atomic_load_explicit(&d->number, memory_order_acquire), name);
    if (!there && made) { /* without room, each of its lists gets a queue of this name */
        *made = (struct osc_ze_engine){d->engines, ordinal, index, queue};
        d->engines = made;
    }
    pthread_mutex_unlock(&d->lock);
    return queue;
}

uint32_t osc_ze_engine(struct osc_ze_device *device, uint32_t ordinal, uint32_t index)
{
    char tile[24] = "", name[64];

    pthread_mutex_lock(&device->lock);
    const struct osc_ze_engine *const there = find_engine(device, ordinal, index);
    pthread_mutex_unlock(&device->lock);
    if (there)
        return there->queue;
    if (device->root != device)
        (void)snprintf(tile, sizeof tile, "tile %u ", device->tile);
    (void)snprintf(name, sizeof name, "%s%s %u.%u", tile, word_of(device, ordinal), ordinal,
                   index);
    return add_engine(device, ordinal, index, name);
}

/* --- clocks ------------------------------------------------------------------------------ */

uint64_t osc_ze_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * (uint64_t)NS + (uint64_t)t.tv_nsec;
}

struct reading {
    uint64_t before, ticks, after; /* osc_now(), the clock of the device, osc_now() */
    uint64_t ns;                   /* CLOCK_MONOTONIC */
};

/* Read the clock of D. False: the driver does not tell. */
static bool take_reading(const struct osc_ze_device *d, struct reading *r)
{
    *r = (struct reading){.after = UINT64_MAX};
    for (int i = 0; i < READINGS; i++) {
        uint64_t host = 0, ticks = 0;
        const uint64_t before = osc_now();
        const ze_result_t result = osc_ze.DeviceGetGlobalTimestamps(d->handle, &host, &ticks);
        const uint64_t after = osc_now();

        if (result != ZE_RESULT_SUCCESS)
            return false;
        if (after - before < r->after - r->before)
            *r = (struct reading){before, ticks & d->global_mask, after, 0};
    }
    r->ns = osc_ze_now_ns();
    return true;
}

/* Extend R, the last reading of D, whose lock the caller has. False: another thread has a later
 * one. */
static bool keep_reading(struct osc_ze_device *d, struct reading *r)
{
    if (d->is_read && r->ns <= d->read_ns)
        return false;
    if (d->is_read)
        r->ticks =
            osc_ze_nearest(r->ticks, d->global_mask,
                           osc_ze_advance(d->read_ticks, (int64_t)(r->ns - d->read_ns), d->hz));
    else if (d->global_mask != UINT64_MAX) /* so that a time just before it is not negative */
        r->ticks += d->global_mask + 1;
    d->is_read = true;
    d->read_ns = r->ns;
    d->read_ticks = r->ticks;
    return true;
}

void osc_ze_read_clock(struct osc_ze_device *device, bool is_last)
{
    struct osc_ze_device *const d = device->root;
    struct reading r;
    bool is_kept = false;

    pthread_mutex_lock(&d->lock);
    /* Who needs the first reading does not wait for the thread that takes it. */
    const bool is_due = !d->is_unreadable &&
                        (is_last || !d->is_read ||
                         (!d->is_being_read && osc_ze_now_ns() - d->read_ns >= PAIR_EVERY_NS));
    d->is_being_read |= is_due;
    pthread_mutex_unlock(&d->lock);
    if (!is_due)
        return;
    const bool is_told = take_reading(d, &r);
    pthread_mutex_lock(&d->lock);
    if (is_told)
        is_kept = keep_reading(d, &r);
    else
        d->is_unreadable = !d->is_read;
    d->is_being_read = false;
    pthread_mutex_unlock(&d->lock);
    if (is_kept)
        osc_device_clock(atomic_load_explicit(&d->number, memory_order_relaxed), r.before,
                         r.ticks, r.after);
}

void osc_ze_read_all_clocks(bool is_last)
{
    for (uint32_t i = 0; i < n_all; i++) {
        if (atomic_load_explicit(&all[i]->number, memory_order_acquire) != 0)
            osc_ze_read_clock(all[i], is_last);
    }
}

uint64_t osc_ze_ticks_at(struct osc_ze_device *device, uint64_t ns)
{
    struct osc_ze_device *const d = device->root;

    pthread_mutex_lock(&d->lock);
    const uint64_t ticks =
        d->is_read && d->hz > 0
            ? osc_ze_advance(d->read_ticks, (int64_t)(ns - d->read_ns), d->hz)
            : 0;
    pthread_mutex_unlock(&d->lock);
    return ticks;
}

bool osc_ze_extend(struct osc_ze_device *device, uint64_t submit_ns, uint64_t *start,
                   uint64_t *end)
{
    struct osc_ze_device *const d = device->root;
    /* Clocks are compared in the bits that both have. */
    const uint64_t mask = d->kernel_mask < d->global_mask ? d->kernel_mask : d->global_mask;
    const uint64_t dur = (*end - *start) & d->kernel_mask;

    pthread_mutex_lock(&d->lock);
    const bool is_read = d->is_read;
    const uint64_t submitted =
        osc_ze_advance(d->read_ticks, (int64_t)(submit_ns - d->read_ns), d->hz);
    pthread_mutex_unlock(&d->lock);
    /* A 16th of the period is for the error of that; the rest, for how long it may wait. */
    const uint64_t from = submitted - mask / 16;
    if (mask != UINT64_MAX)
        *start = from + ((*start - from) & mask);
    *end = *start + dur;
    return is_read;
}
