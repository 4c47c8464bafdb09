/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_queues.h"

#include <stdio.h>
#include <string.h>

#include "opscope/source.h"
#include "sources/handle_map.h"
#include "sources/opencl/cl_list.h"
#include "sources/source_memory.h"

#define DEVICES_MAX   64
#define PLATFORMS_MAX 16

static struct osc_cl_device devices[DEVICES_MAX];
static uint32_t n_devices;
/* Of devices and n_devices. Within it the lock of device_map is taken, which is that of no
 * other caller: a device is in the map if and only if it is counted. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct osc_handle_map device_map = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct osc_handle_map queue_map = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- devices -------------------------------------------------------------------------- */

static uint64_t get_number(cl_device_id id, cl_device_info what, size_t bytes)
{
    uint64_t value = 0;

    if (!osc_cl.clGetDeviceInfo ||
        osc_cl.clGetDeviceInfo(id, what, bytes, &value, NULL) != CL_SUCCESS)
        return 0;
    return value;
}

static uint32_t bounded(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* What there is to know of a device. */
static struct osc_cl_device look_at(cl_device_id id, uint32_t index)
{
    struct osc_cl_device d = {.id = id};
    char name[128] = "";
    const struct osc_device_info info = {
        .type = "opencl",
        .index = index,
        .name = name,
        .memory_bytes = get_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)),
        .clock_hz = 1000000000,
        .limits = {
            .n_units = (uint32_t)get_number(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
            .threads_per_block =
                bounded(get_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t))),
            .shared_bytes_per_block =
                bounded(get_number(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong))),
        }};

    if (osc_cl.clGetDeviceInfo)
        (void)osc_cl.clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    d.number = osc_device_add(&info);
    d.is_host_memory = get_number(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)) != 0;
    return d;
}

static struct osc_cl_device *find_device(cl_device_id id)
{
    return osc_handle_get_address(&device_map, id);
}

static bool is_used(const struct osc_cl_device *d)
{
    /* Acquire pairs with the release in report_device(). */
    return d && atomic_load_explicit(&d->is_used, memory_order_acquire) != 0;
}

/* Give ID a place; the caller has the lock. */
static struct osc_cl_device *add_device(cl_device_id id)
{
    struct osc_cl_device *const known = find_device(id);

    if (known || n_devices == DEVICES_MAX)
        return known;
    struct osc_cl_device *const d = &devices[n_devices];
    d->id = id;
    if (!osc_handle_set(&device_map, id, (uintptr_t)d))
        return NULL;
    n_devices++;
    return d;
}

/* Store all devices of all platforms: their numbers do not depend on which of them the program
 * uses. */
static void list_devices(cl_device_id *ids, cl_uint *n)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint n_platforms = 0;

    *n = 0;
    if (!osc_cl.clGetPlatformIDs || !osc_cl.clGetDeviceIDs ||
        osc_cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < n_platforms && p < PLATFORMS_MAX && *n < DEVICES_MAX; p++) {
        const cl_uint room = DEVICES_MAX - *n;
        cl_uint found = 0;

        if (osc_cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, ids + *n, &found) ==
            CL_SUCCESS)
            *n += found < room ? found : room;
    }
}

/* Report D, which nobody has used. Drivers are asked without the lock. */
static void report_device(struct osc_cl_device *d)
{
    const struct osc_cl_device seen = look_at(d->id, (uint32_t)(d - devices));

    pthread_mutex_lock(&lock);
    if (!is_used(d)) {
        d->number = seen.number;
        d->is_host_memory = seen.is_host_memory;
        atomic_store_explicit(&d->clock, OSC_CL_CLOCK_UNKNOWN, memory_order_relaxed);
        /* Release pairs with the acquire in is_used(). */
        atomic_store_explicit(&d->is_used, 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

struct osc_cl_device *osc_cl_device_of(cl_device_id id)
{
    struct osc_cl_device *d = id ? find_device(id) : NULL;
    cl_device_id ids[DEVICES_MAX];
    cl_uint n = 0;

    if (is_used(d) || !id)
        return d;
    if (!d)
        list_devices(ids, &n);
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n; i++)
        (void)add_device(ids[i]);
    d = add_device(id); /* a part of a device is not in the list */
    pthread_mutex_unlock(&lock);
    if (d && !is_used(d))
        report_device(d);
    return d;
}

void osc_cl_each_device(void (*each)(const struct osc_cl_device *device))
{
    pthread_mutex_lock(&lock);
    const uint32_t n = n_devices;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < n; i++) {
        if (is_used(&devices[i]))
            each(&devices[i]);
    }
}

void osc_cl_queues_forked(void)
{
    const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;

    memcpy(&lock, &free_lock, sizeof lock);
}

/* --- queues --------------------------------------------------------------------------- */

struct osc_cl_queue *osc_cl_queue_of(cl_command_queue handle)
{
    return handle ? osc_handle_get_address(&queue_map, handle) : NULL;
}

/* Remember the queue HANDLE of the device ID, for which the program asked PROPERTIES. A new
 * queue at the address of an old one has its place. */
static struct osc_cl_queue *add_queue(cl_command_queue handle, cl_device_id id,
                                      cl_command_queue_properties asked, bool is_timed)
{
    static _Atomic uint32_t n_queues;
    struct osc_cl_queue *q = osc_cl_queue_of(handle);
    char name[64];

    if (!q)
        q = osc_source_memory(sizeof *q);
    if (!q)
        return NULL;
    q->device = osc_cl_device_of(id);
    q->is_timed = is_timed && q->device;
    q->is_asked = (asked & CL_QUEUE_PROFILING_ENABLE) != 0;
    q->has_list = false;
    /* Relaxed: the numbers need only differ. */
    (void)snprintf(name, sizeof name, "queue %u%s",
                   (unsigned)atomic_fetch_add_explicit(&n_queues, 1, memory_order_relaxed),
                   asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? " (out of order)" : "");
    q->number = q->device ? osc_queue_add(q->device->number, name) : 0;
    (void)osc_handle_set(&queue_map, handle, (uintptr_t)q);
    return q;
}

static cl_command_queue cl_CreateCommandQueue(cl_context context, cl_device_id device,
                                              cl_command_queue_properties properties,
                                              cl_int *error)
{
    bool is_timed = true;
    cl_command_queue made = osc_cl.clCreateCommandQueue(
        context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);

    if (!made) { /* because of that bit, or for a reason that the program must hear */
        is_timed = false;
        made = osc_cl.clCreateCommandQueue(context, device, properties, error);
    }
    if (made)
        (void)add_queue(made, device, properties, is_timed);
    return made;
}

typedef cl_command_queue(CL_API_CALL *creator)(cl_context context, cl_device_id device,
                                               const cl_queue_properties *list, cl_int *error);

/* Let CREATE make a queue with profiling, or if it cannot, one without. */
static cl_command_queue make_queue(creator create, cl_context context, cl_device_id device,
                                   const cl_queue_properties *list, cl_int *error)
{
    cl_queue_properties copy[18];
    cl_command_queue_properties asked;
    const uint32_t n = osc_cl_copy_list(list, copy, sizeof copy / sizeof *copy, &asked);
    cl_command_queue made = n > 0 ? create(context, device, copy, error) : NULL;
    const bool is_timed = made != NULL;

    if (!made) /* because of that bit, or for a reason that the program must hear */
        made = create(context, device, list, error);
    struct osc_cl_queue *const q = made ? add_queue(made, device, asked, is_timed) : NULL;
    if (q && list && is_timed) {
        q->has_list = true;
        q->n_list = n;
        memcpy(q->list, list, n * sizeof *list);
    }
    return made;
}

static cl_command_queue cl_CreateCommandQueueWithProperties(cl_context context,
                                                            cl_device_id device,
                                                            const cl_queue_properties *list,
                                                            cl_int *error)
{
    return make_queue(osc_cl.clCreateCommandQueueWithProperties, context, device, list, error);
}

/* --- the same of an extension, which no table has -------------------------------------- */

static struct osc_handle_map creators = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* by platform */

static cl_command_queue CL_API_CALL create_by_extension(cl_context context, cl_device_id device,
                                                        const cl_queue_properties *list,
                                                        cl_int *error)
{
    cl_platform_id platform = NULL;
    creator create = NULL;

    if (osc_cl.clGetDeviceInfo &&
        osc_cl.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(void *), &platform, NULL) ==
            CL_SUCCESS &&
        platform) {
        const uintptr_t address = (uintptr_t)osc_handle_get(&creators, platform);

        memcpy(&create, &address, sizeof create);
    }
    if (create)
        return make_queue(create, context, device, list, error);
    if (error)
        *error = CL_INVALID_DEVICE;
    return NULL;
}

/* Programs get our function only where the platform has one: they may ask just for that. */
static void *cl_GetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                       const char *name)
{
    void *const found = osc_cl.clGetExtensionFunctionAddressForPlatform(platform, name);
    const creator ours = create_by_extension;
    void *address = found;

    if (found && platform && name &&
        strcmp(name, "clCreateCommandQueueWithPropertiesKHR") == 0 &&
        osc_handle_set(&creators, platform, (uintptr_t)found))
        memcpy(&address, &ours, sizeof address);
    return address;
}

/* --- what programs must not notice ---------------------------------------------------- */

static cl_int cl_GetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what,
                                     size_t room, void *value, size_t *bytes)
{
    const struct osc_cl_queue *const q = osc_cl_queue_of(queue);
    cl_command_queue_properties flags;

    if (q && q->is_timed && what == CL_QUEUE_PROPERTIES_ARRAY) {
        const size_t n = q->has_list ? q->n_list * sizeof *q->list : 0;
        const cl_int error = osc_cl.clGetCommandQueueInfo(queue, what, 0, NULL, NULL);

        if (error != CL_SUCCESS || (value && room < n))
            return error != CL_SUCCESS ? error : CL_INVALID_VALUE;
        if (value && n > 0)
            memcpy(value, q->list, n);
        if (bytes)
            *bytes = n;
        return CL_SUCCESS;
    }
    const cl_int error = osc_cl.clGetCommandQueueInfo(queue, what, room, value, bytes);
    if (error == CL_SUCCESS && q && q->is_timed && !q->is_asked &&
        what == CL_QUEUE_PROPERTIES && value && room >= sizeof flags) {
        memcpy(&flags, value, sizeof flags);
        flags &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
        memcpy(value, &flags, sizeof flags);
    }
    return error;
}

static cl_int cl_GetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room,
                                       void *value, size_t *bytes)
{
    cl_command_queue handle = NULL;

    if (event && osc_cl.clGetEventInfo &&
        osc_cl.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &handle,
                              NULL) == CL_SUCCESS) {
        const struct osc_cl_queue *const q = osc_cl_queue_of(handle);

        if (q && q->is_timed && !q->is_asked)
            return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    return osc_cl.clGetEventProfilingInfo(event, what, room, value, bytes);
}

/* Of OpenCL 1.0: switches properties of a queue. Profiling stays on. */
static cl_int cl_SetCommandQueueProperty(cl_command_queue queue,
                                         cl_command_queue_properties properties, cl_bool is_on,
                                         cl_command_queue_properties *old)
{
    struct osc_cl_queue *const q = osc_cl_queue_of(queue);
    const cl_command_queue_properties timing = CL_QUEUE_PROFILING_ENABLE;
    const cl_int error = osc_cl.clSetCommandQueueProperty(
        queue, q && q->is_timed ? properties & ~timing : properties, is_on, old);

    if (error != CL_SUCCESS || !q || !q->is_timed)
        return error;
    if (old && !q->is_asked)
        *old &= ~timing;
    if (properties & timing)
        q->is_asked = is_on != CL_FALSE;
    return error;
}

void osc_cl_add_queues(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, CreateCommandQueue);
    OSC_CL_ADD(table, CreateCommandQueueWithProperties);
    OSC_CL_ADD(table, GetCommandQueueInfo);
    OSC_CL_ADD(table, GetEventProfilingInfo);
    OSC_CL_ADD(table, GetExtensionFunctionAddressForPlatform);
    OSC_CL_ADD(table, SetCommandQueueProperty);
}
