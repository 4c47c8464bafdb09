/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_driver.c - a driver for the loader of Level Zero, which computes nothing.
 *
 * Each engine executes its commands one after the other: a command starts 2 us after it was
 * submitted, or when the one before it and the events that it waits for are done, and lasts
 * FAKE_NS. What happened is written to FAKE_LOG, a line for each command: name, start and end
 * in ns of CLOCK_MONOTONIC, device. Further variables:
 *
 *     FAKE_DEVICES, FAKE_TILES   devices, and parts of each (1; 0)
 *     FAKE_HZ, FAKE_PPM          rate of its clock, and by how much it is wrong (19200000; 0)
 *     FAKE_BITS, FAKE_KERNEL_BITS  valid bits of the clock, and of a command's times (64; 32)
 *     FAKE_TICKS                 what the clock shows at first
 *     FAKE_OLD                   give the rate in ns per tick, as older drivers do
 *     FAKE_BREAK                 what goes wrong: properties (all are zero), clock, times,
 *                                zero, order, never, events, lost; or memory: blocks of 1 MiB
 *                                are not allocated, and others freed at the second attempt
 */
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_driver.h"

#define DEVICES_MAX 8
#define TILES_MAX   4
#define NEVER       UINT64_MAX

/* Every handle is one of these; what it is for depends on who made it. */
struct object {
    struct object *device, *pool;
    uint64_t ready_ns;         /* of an engine */
    uint64_t start_ns, end_ns; /* of an event, NEVER: not signalled */
    uint32_t pool_flags;
    int is_immediate, is_closed, is_captured;
    char name[64];
    int index;
    struct command *first, *last;
};

struct command {
    struct command *next;
    char name[64];
    struct object *signal, *waits[8];
    uint32_t n_waits;
    int resets; /* the event SIGNAL */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object devices[DEVICES_MAX], tiles[DEVICES_MAX][TILES_MAX], driver;
static uint64_t began_ns;

/* The variables, as they were when the driver was loaded. */
static struct {
    uint64_t ns, devices, tiles, hz, ppm, bits, kernel_bits, ticks;
    const char *log, *breaks;
    int is_old;
} fake;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *const value = getenv(name);

    return value ? strtoull(value, NULL, 0) : otherwise;
}

__attribute__((constructor)) static void read_variables(void)
{
    const char *const what = getenv("FAKE_BREAK");

    fake.ns = number("FAKE_NS", 20000);
    fake.devices = number("FAKE_DEVICES", 1);
    fake.tiles = number("FAKE_TILES", 0);
    fake.hz = number("FAKE_HZ", 19200000);
    fake.ppm = number("FAKE_PPM", 0);
    fake.bits = number("FAKE_BITS", 64);
    fake.kernel_bits = number("FAKE_KERNEL_BITS", 32);
    fake.ticks = number("FAKE_TICKS", 1000);
    fake.log = getenv("FAKE_LOG");
    fake.breaks = what ? what : "";
    fake.is_old = getenv("FAKE_OLD") != NULL;
}

static int breaks(const char *what)
{
    return strcmp(fake.breaks, what) == 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t ticks_at(uint64_t ns, uint64_t bits)
{
    const double hz = (double)fake.hz * (1 + (double)(int64_t)fake.ppm * 1e-6);
    const uint64_t ticks = fake.ticks + (uint64_t)((double)(ns - began_ns) * hz / 1e9);

    return bits >= 64 ? ticks : ticks & ((UINT64_C(1) << bits) - 1);
}

static void *make(void)
{
    return calloc(1, sizeof(struct object));
}

/* --- the model --------------------------------------------------------------------------- */

/* Execute C on ENGINE. The caller has the lock. */
static void execute(struct object *engine, const struct command *c)
{
    uint64_t start = now_ns() + 2000;

    if (c->resets) {
        c->signal->start_ns = c->signal->end_ns = NEVER;
        return;
    }
    if (engine->ready_ns > start)
        start = engine->ready_ns;
    for (uint32_t i = 0; i < c->n_waits; i++) {
        if (c->waits[i]->end_ns != NEVER && c->waits[i]->end_ns > start)
            start = c->waits[i]->end_ns;
    }
    const uint64_t end = start + fake.ns;
    engine->ready_ns = end;
    if (c->signal && !breaks("never")) {
        c->signal->start_ns = start;
        c->signal->end_ns = end;
    }
    FILE *const log = fake.log ? fopen(fake.log, "a") : NULL;
    if (log) {
        fprintf(log, "%s %llu %llu %s\n", c->name, (unsigned long long)start,
                (unsigned long long)end, engine->device->name);
        fclose(log);
    }
}

/* Append C, which is owned from then on, to L, or execute it. */
static ze_result_t put(struct object *l, struct command *c)
{
    pthread_mutex_lock(&lock);
    if (l->is_immediate && !l->is_captured) {
        execute(l, c);
        free(c);
    } else if (l->last) {
        l->last = l->last->next = c;
    } else {
        l->first = l->last = c;
    }
    pthread_mutex_unlock(&lock);
    return ZE_RESULT_SUCCESS;
}

ze_result_t fake_append(ze_command_list_handle_t list, const char *name,
                        ze_event_handle_t signal, uint32_t n, ze_event_handle_t *waits)
{
    struct object *const l = (struct object *)list;
    struct command *const c = calloc(1, sizeof *c);

    if (breaks("lost"))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->signal = (struct object *)signal;
    for (uint32_t i = 0; waits && i < n && i < 8; i++)
        c->waits[c->n_waits++] = (struct object *)waits[i];
    return put(l, c);
}

/* Wait until AT or for TIMEOUT. */
static ze_result_t wait_until(uint64_t at, uint64_t timeout)
{
    const uint64_t begin = now_ns();

    while (now_ns() < at) {
        if (now_ns() - begin >= timeout)
            return ZE_RESULT_NOT_READY;
        nanosleep(&(struct timespec){.tv_nsec = 5000}, NULL);
    }
    return ZE_RESULT_SUCCESS;
}

/* --- drivers and devices ----------------------------------------------------------------- */

static ze_result_t init(ze_init_flags_t flags)
{
    (void)flags;
    began_ns = began_ns ? began_ns : now_ns();
    for (int i = 0; i < DEVICES_MAX; i++) {
        devices[i].index = i;
        snprintf(devices[i].name, sizeof devices[i].name, "fake-%d", i);
        for (int k = 0; k < TILES_MAX; k++) {
            tiles[i][k].index = k;
            tiles[i][k].device = &devices[i];
            snprintf(tiles[i][k].name, sizeof tiles[i][k].name, "fake-%d", i);
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get(uint32_t *n, ze_driver_handle_t *all)
{
    if (all && *n > 0)
        all[0] = (ze_driver_handle_t)&driver;
    *n = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_api_version(ze_driver_handle_t d, ze_api_version_t *version)
{
    (void)d;
    *version = ZE_API_VERSION_1_3;
    return ZE_RESULT_SUCCESS;
}

/* Newer loaders sort drivers by this. */
static ze_result_t driver_properties(ze_driver_handle_t d, ze_driver_properties_t *p)
{
    (void)d;
    p->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_extensions(ze_driver_handle_t d, uint32_t *n,
                                     ze_driver_extension_properties_t *all)
{
    (void)d;
    (void)all;
    *n = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t give(uint32_t *n, ze_device_handle_t *all, struct object *from,
                        uint32_t there)
{
    for (uint32_t i = 0; all && i < *n && i < there; i++)
        all[i] = (ze_device_handle_t)&from[i];
    *n = all && *n < there ? *n : there;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get(ze_driver_handle_t d, uint32_t *n, ze_device_handle_t *all)
{
    (void)d;
    return give(n, all, devices, (uint32_t)fake.devices);
}

static ze_result_t device_sub_devices(ze_device_handle_t d, uint32_t *n,
                                      ze_device_handle_t *all)
{
    const struct object *const o = (const struct object *)d;

    return give(n, all, tiles[o->index], o->device ? 0 : (uint32_t)fake.tiles);
}

static ze_result_t device_properties(ze_device_handle_t d, ze_device_properties_t *p)
{
    const struct object *const o = (const struct object *)d;
    const uint64_t hz = fake.hz;

    p->type = ZE_DEVICE_TYPE_GPU;
    if (breaks("properties"))
        return ZE_RESULT_SUCCESS;
    p->subdeviceId = (uint32_t)o->index;
    p->numSlices = 2;
    p->numSubslicesPerSlice = 4;
    p->numEUsPerSubslice = 8;
    p->numThreadsPerEU = 8;
    p->physicalEUSimdWidth = 16;
    p->timerResolution =
        fake.is_old || p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES ? 1000000000 / hz : hz;
    p->timestampValidBits = (uint32_t)fake.bits;
    p->kernelTimestampValidBits = (uint32_t)fake.kernel_bits;
    snprintf(p->name, sizeof p->name, "%s", o->name);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_memory(ze_device_handle_t d, uint32_t *n,
                                 ze_device_memory_properties_t *all)
{
    (void)d;
    if (all && *n > 0)
        all[0].totalSize = UINT64_C(16) << 30;
    *n = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_groups(ze_device_handle_t d, uint32_t *n,
                                 ze_command_queue_group_properties_t *all)
{
    (void)d;
    if (all && *n > 0) {
        all[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                       ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        all[0].numQueues = 2;
    }
    if (all && *n > 1) {
        all[1].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        all[1].numQueues = 1;
    }
    *n = 2;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t device_timestamps(ze_device_handle_t d, uint64_t *host, uint64_t *ticks)
{
    (void)d;
    if (breaks("clock"))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    *host = now_ns();
    *ticks = ticks_at(*host, fake.bits);
    return ZE_RESULT_SUCCESS;
}

/* --- objects ----------------------------------------------------------------------------- */

static ze_result_t context_create(ze_driver_handle_t d, const ze_context_desc_t *desc,
                                  ze_context_handle_t *made)
{
    (void)d;
    (void)desc;
    *made = make();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t destroy(void *object)
{
    free(object);
    return ZE_RESULT_SUCCESS;
}

#define DESTROY(name, handle)                        \
    static ze_result_t destroy_##name(handle object) \
    {                                                \
        return destroy(object);                      \
    }
DESTROY(context, ze_context_handle_t)
DESTROY(queue, ze_command_queue_handle_t)
DESTROY(pool, ze_event_pool_handle_t)
DESTROY(event, ze_event_handle_t)
DESTROY(module, ze_module_handle_t)
DESTROY(kernel, ze_kernel_handle_t)

static struct object *root_of(ze_device_handle_t d)
{
    struct object *const o = (struct object *)d;

    return o->device ? o->device : o;
}

static ze_result_t queue_create(ze_context_handle_t context, ze_device_handle_t d,
                                const ze_command_queue_desc_t *desc,
                                ze_command_queue_handle_t *made)
{
    struct object *const q = make();

    (void)context;
    (void)desc;
    q->device = root_of(d);
    *made = (ze_command_queue_handle_t)q;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t list_create(ze_context_handle_t context, ze_device_handle_t d,
                               const ze_command_list_desc_t *desc,
                               ze_command_list_handle_t *made)
{
    (void)desc;
    return queue_create(context, d, NULL, (ze_command_queue_handle_t *)(void *)made);
}

static ze_result_t list_create_immediate(ze_context_handle_t context, ze_device_handle_t d,
                                         const ze_command_queue_desc_t *desc,
                                         ze_command_list_handle_t *made)
{
    const ze_result_t result =
        queue_create(context, d, desc, (ze_command_queue_handle_t *)(void *)made);

    ((struct object *)*made)->is_immediate = 1;
    return result;
}

static ze_result_t list_reset(ze_command_list_handle_t list)
{
    struct object *const l = (struct object *)list;

    for (struct command *c = l->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    l->first = l->last = NULL;
    l->is_closed = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t list_destroy(ze_command_list_handle_t list)
{
    list_reset(list);
    return destroy(list);
}

static ze_result_t list_close(ze_command_list_handle_t list)
{
    ((struct object *)list)->is_closed = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t fake_execute(ze_command_queue_handle_t queue, uint32_t n,
                         ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
    (void)fence;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n; i++) {
        if (!((struct object *)lists[i])->is_closed) {
            pthread_mutex_unlock(&lock);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        for (const struct command *c = ((struct object *)lists[i])->first; c; c = c->next)
            execute((struct object *)queue, c);
    }
    pthread_mutex_unlock(&lock);
    return ZE_RESULT_SUCCESS;
}

void fake_capture(ze_command_list_handle_t list, ze_command_list_handle_t *graph)
{
    struct object *const l = (struct object *)list;

    l->is_captured = !graph;
    if (!graph)
        return;
    struct object *const g = make();
    *g = (struct object){.device = l->device, .first = l->first, .last = l->last};
    g->is_closed = 1;
    l->first = l->last = NULL;
    *graph = (ze_command_list_handle_t)g;
}

int fake_is_captured(ze_command_list_handle_t list)
{
    return ((struct object *)list)->is_captured;
}

static ze_result_t queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout)
{
    return wait_until(((struct object *)queue)->ready_ns, timeout);
}

/* --- events ------------------------------------------------------------------------------ */

static ze_result_t pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                               uint32_t n, ze_device_handle_t *all,
                               ze_event_pool_handle_t *made)
{
    struct object *const p = make();

    (void)context;
    (void)n;
    (void)all;
    if (breaks("events") && desc->count > 64) /* the collector's */
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    p->pool_flags = desc->flags;
    *made = (ze_event_pool_handle_t)p;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                ze_event_handle_t *made)
{
    struct object *const e = make();

    (void)desc;
    e->pool = (struct object *)pool;
    e->pool_flags = e->pool->pool_flags;
    e->start_ns = e->end_ns = NEVER;
    *made = (ze_event_handle_t)e;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_status(ze_event_handle_t event)
{
    return now_ns() >= ((struct object *)event)->end_ns ? ZE_RESULT_SUCCESS
                                                        : ZE_RESULT_NOT_READY;
}

static ze_result_t event_synchronize(ze_event_handle_t event, uint64_t timeout)
{
    return wait_until(((struct object *)event)->end_ns, timeout);
}

static ze_result_t event_reset(ze_event_handle_t event)
{
    ((struct object *)event)->start_ns = ((struct object *)event)->end_ns = NEVER;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_signal(ze_event_handle_t event)
{
    ((struct object *)event)->start_ns = ((struct object *)event)->end_ns = now_ns();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t event_times(ze_event_handle_t event, ze_kernel_timestamp_result_t *r)
{
    const struct object *const e = (const struct object *)event;
    const uint64_t bits = fake.kernel_bits;

    if (!(e->pool_flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) || breaks("times"))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    r->global.kernelStart = breaks("zero") ? 0 : ticks_at(e->start_ns, bits);
    r->global.kernelEnd = breaks("zero") ? 0 : ticks_at(e->end_ns, bits);
    if (breaks("order"))
        r->global.kernelEnd = r->global.kernelStart - 5;
    r->context = r->global;
    return ZE_RESULT_SUCCESS;
}

/* --- kernels and memory ------------------------------------------------------------------ */

static ze_result_t module_create(ze_context_handle_t context, ze_device_handle_t d,
                                 const ze_module_desc_t *desc, ze_module_handle_t *made,
                                 ze_module_build_log_handle_t *log)
{
    (void)context;
    (void)d;
    (void)desc;
    if (log)
        *log = NULL;
    *made = make();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                 ze_kernel_handle_t *made)
{
    struct object *const k = make();

    (void)module;
    snprintf(k->name, sizeof k->name, "%s", desc->pKernelName);
    *made = (ze_kernel_handle_t)k;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                     uint32_t z)
{
    (void)kernel;
    (void)x;
    (void)y;
    (void)z;
    return ZE_RESULT_SUCCESS;
}

/* Each block begins with what it is. */
struct block {
    uint64_t mark;
    uint64_t type;
    struct object *device;
    uint64_t n_frees; /* attempts */
    uint64_t unused[4];
};

#define MARK UINT64_C(0x6f707363666b7a65)

static ze_result_t allocate(ze_memory_type_t type, struct object *d, size_t bytes, void **made)
{
    if (breaks("memory") && bytes >= 1 << 20) {
        *made = driver.name; /* no block */
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    struct block *const b = aligned_alloc(64, sizeof *b + (bytes + 63) / 64 * 64);

    *b = (struct block){.mark = MARK, .type = type, .device = d};
    *made = b + 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ze_alloc_device(ze_context_handle_t context,
                                   const ze_device_mem_alloc_desc_t *desc, size_t bytes,
                                   size_t alignment, ze_device_handle_t d, void **made)
{
    (void)context;
    (void)desc;
    (void)alignment;
    return allocate(ZE_MEMORY_TYPE_DEVICE, (struct object *)d, bytes, made);
}

static ze_result_t alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                              size_t bytes, size_t alignment, void **made)
{
    (void)context;
    (void)desc;
    (void)alignment;
    return allocate(ZE_MEMORY_TYPE_HOST, NULL, bytes, made);
}

static ze_result_t ze_alloc_shared(ze_context_handle_t context,
                                   const ze_device_mem_alloc_desc_t *desc,
                                   const ze_host_mem_alloc_desc_t *host, size_t bytes,
                                   size_t alignment, ze_device_handle_t d, void **made)
{
    (void)context;
    (void)desc;
    (void)host;
    (void)alignment;
    return allocate(ZE_MEMORY_TYPE_SHARED, (struct object *)d, bytes, made);
}

static ze_result_t mem_free(ze_context_handle_t context, void *at)
{
    struct block *const b = (struct block *)at - 1;

    (void)context;
    if (breaks("memory") && b->n_frees++ == 0)
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    free(b);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t mem_free_ext(ze_context_handle_t context,
                                const ze_memory_free_ext_desc_t *what, void *at)
{
    (void)what;
    return mem_free(context, at);
}

/* Of addresses that are no blocks, there is a header of the client's with no mark. */
static ze_result_t mem_properties(ze_context_handle_t context, const void *at,
                                  ze_memory_allocation_properties_t *p, ze_device_handle_t *d)
{
    const struct block *const b = (const struct block *)at - 1;

    (void)context;
    p->type = b->mark == MARK ? (ze_memory_type_t)b->type : ZE_MEMORY_TYPE_UNKNOWN;
    if (d)
        *d = b->mark == MARK ? (ze_device_handle_t)b->device : NULL;
    return ZE_RESULT_SUCCESS;
}

/* --- commands ---------------------------------------------------------------------------- */

ze_result_t fake_append_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                               const ze_group_count_t *groups, ze_event_handle_t signal,
                               uint32_t n, ze_event_handle_t *waits)
{
    (void)groups;
    return fake_append(list, ((struct object *)kernel)->name, signal, n, waits);
}

ze_result_t ze_append_copy(ze_command_list_handle_t list, void *to, const void *from,
                           size_t bytes, ze_event_handle_t signal, uint32_t n,
                           ze_event_handle_t *waits)
{
    memcpy(to, from, bytes);
    return fake_append(list, "Memcpy", signal, n, waits);
}

ze_result_t ze_append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
                           size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                           uint32_t n, ze_event_handle_t *waits)
{
    for (size_t i = 0; i < bytes; i++)
        ((char *)to)[i] = ((const char *)pattern)[i % pattern_bytes];
    return fake_append(list, "Memset", signal, n, waits);
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                  uint32_t n, ze_event_handle_t *waits)
{
    return fake_append(list, "Barrier", signal, n, waits);
}

static ze_result_t append_reset(ze_command_list_handle_t list, ze_event_handle_t event)
{
    struct object *const l = (struct object *)list;
    struct command *const c = calloc(1, sizeof *c);

    c->signal = (struct object *)event;
    c->resets = 1;
    return put(l, c);
}

/* --- tables ------------------------------------------------------------------------------ */

#define API __attribute__((visibility("default")))
#define FILL(name, type) \
    API ze_result_t name(ze_api_version_t version __attribute__((unused)), type *t)

FILL(zeGetGlobalProcAddrTable, ze_global_dditable_t)
{
    t->pfnInit = init;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetDriverProcAddrTable, ze_driver_dditable_t)
{
    t->pfnGet = driver_get;
    t->pfnGetApiVersion = driver_api_version;
    t->pfnGetProperties = driver_properties;
    t->pfnGetExtensionProperties = driver_extensions;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetDeviceProcAddrTable, ze_device_dditable_t)
{
    t->pfnGet = device_get;
    t->pfnGetSubDevices = device_sub_devices;
    t->pfnGetProperties = device_properties;
    t->pfnGetMemoryProperties = device_memory;
    t->pfnGetCommandQueueGroupProperties = device_groups;
    t->pfnGetGlobalTimestamps = device_timestamps;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetContextProcAddrTable, ze_context_dditable_t)
{
    t->pfnCreate = context_create;
    t->pfnDestroy = destroy_context;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
{
    t->pfnCreate = queue_create;
    t->pfnDestroy = destroy_queue;
    t->pfnExecuteCommandLists = fake_execute;
    t->pfnSynchronize = queue_synchronize;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
{
    t->pfnCreate = list_create;
    t->pfnCreateImmediate = list_create_immediate;
    t->pfnDestroy = list_destroy;
    t->pfnReset = list_reset;
    t->pfnClose = list_close;
    t->pfnAppendLaunchKernel = fake_append_kernel;
    t->pfnAppendMemoryCopy = ze_append_copy;
    t->pfnAppendMemoryFill = ze_append_fill;
    t->pfnAppendBarrier = append_barrier;
    t->pfnAppendEventReset = append_reset;
    fake_fill_later(version, t);
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
{
    t->pfnCreate = pool_create;
    t->pfnDestroy = destroy_pool;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetEventProcAddrTable, ze_event_dditable_t)
{
    t->pfnCreate = event_create;
    t->pfnDestroy = destroy_event;
    t->pfnHostSignal = event_signal;
    t->pfnHostSynchronize = event_synchronize;
    t->pfnQueryStatus = event_status;
    t->pfnHostReset = event_reset;
    t->pfnQueryKernelTimestamp = event_times;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetModuleProcAddrTable, ze_module_dditable_t)
{
    t->pfnCreate = module_create;
    t->pfnDestroy = destroy_module;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
{
    t->pfnCreate = kernel_create;
    t->pfnDestroy = destroy_kernel;
    t->pfnSetGroupSize = kernel_group_size;
    return ZE_RESULT_SUCCESS;
}

FILL(zeGetMemProcAddrTable, ze_mem_dditable_t)
{
    t->pfnAllocDevice = ze_alloc_device;
    t->pfnAllocHost = alloc_host;
    t->pfnAllocShared = ze_alloc_shared;
    t->pfnFree = mem_free;
    t->pfnFreeExt = mem_free_ext;
    t->pfnGetAllocProperties = mem_properties;
    return ZE_RESULT_SUCCESS;
}
