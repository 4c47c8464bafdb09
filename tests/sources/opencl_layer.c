/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer for tests/sources/opencl.py that makes a driver another one:
 *
 *     -DREFUSES    it makes no queue that takes times
 *     -DEXTENDS    it has clCreateCommandQueueWithPropertiesKHR()
 *     otherwise    it does what FAULT says:
 *
 *     zero         each third command has no times; order: it ends before it starts
 *     queued       no command tells when it was enqueued; early: each third one after its end
 *     times        there is an error instead of times
 *     names        kernels have no names; unnamed: there is an error instead of names
 *     properties   all properties of devices are 0; device: there is an error instead of them
 *     none         platforms have no devices
 *     callback     nothing can be called when a command has finished
 *     never        nobody is told that commands have finished
 *     failed       commands end as failed
 *     lost         after 11 kernels each is an error
 *     event        commands have no events unless programs want them
 *     memory       nothing is known of memory
 *     context      a context has no devices
 *     slow         the first command is enqueued in 15 ms
 *     late         a command is told to have finished 20 ms later, by a thread of its own
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N (sizeof(cl_icd_dispatch) / sizeof(void *))

static cl_icd_dispatch below, ours;

#ifdef REFUSES
static cl_command_queue refuse(cl_int *error)
{
    if (error)
        *error = CL_INVALID_QUEUE_PROPERTIES;
    return NULL;
}

static cl_command_queue create(cl_context context, cl_device_id device,
                               cl_command_queue_properties flags, cl_int *error)
{
    return flags & CL_QUEUE_PROFILING_ENABLE
               ? refuse(error)
               : below.clCreateCommandQueue(context, device, flags, error);
}
#endif

#if defined(REFUSES) || defined(EXTENDS)
static cl_command_queue create_with(cl_context context, cl_device_id device,
                                    const cl_queue_properties *list, cl_int *error)
{
#ifdef REFUSES
    for (const cl_queue_properties *p = list; p && *p; p += 2)
        if (p[0] == CL_QUEUE_PROPERTIES && p[1] & CL_QUEUE_PROFILING_ENABLE)
            return refuse(error);
#endif
    return below.clCreateCommandQueueWithProperties(context, device, list, error);
}
#endif

#ifdef EXTENDS
static void *find(cl_platform_id platform, const char *name)
{
    if (strcmp(name, "clCreateCommandQueueWithPropertiesKHR") == 0)
        return (void *)create_with;
    return below.clGetExtensionFunctionAddressForPlatform(platform, name);
}
#endif

/* --- faults ------------------------------------------------------------------------------- */

#if !defined(REFUSES) && !defined(EXTENDS)
static const char *fault = "";

static int is(const char *name)
{
    return strcmp(fault, name) == 0;
}

static cl_int get_times(cl_event event, cl_profiling_info what, size_t room, void *value,
                        size_t *bytes)
{
    static atomic_uint n_queued, n_starts, n_ends;
    const cl_int error = below.clGetEventProfilingInfo(event, what, room, value, bytes);

    if (error != CL_SUCCESS || !value)
        return error;
    if (is("times"))
        return CL_OUT_OF_RESOURCES;
    if (what == CL_PROFILING_COMMAND_QUEUED && is("queued"))
        *(cl_ulong *)value = 0;
    if (what == CL_PROFILING_COMMAND_QUEUED && is("early") &&
        atomic_fetch_add(&n_queued, 1) % 3 == 0)
        *(cl_ulong *)value += 1000000000000;
    if (what == CL_PROFILING_COMMAND_START && atomic_fetch_add(&n_starts, 1) % 3 == 0 &&
        is("zero"))
        *(cl_ulong *)value = 0;
    if (what == CL_PROFILING_COMMAND_END && atomic_fetch_add(&n_ends, 1) % 3 == 0 &&
        is("order"))
        *(cl_ulong *)value = 1;
    return error;
}

static cl_int get_kernel(cl_kernel kernel, cl_kernel_info what, size_t room, void *value,
                         size_t *bytes)
{
    if (what != CL_KERNEL_FUNCTION_NAME)
        return below.clGetKernelInfo(kernel, what, room, value, bytes);
    if (bytes)
        *bytes = 0;
    return is("names") ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int get_device(cl_device_id device, cl_device_info what, size_t room, void *value,
                         size_t *bytes)
{
    if (is("device"))
        return CL_DEVICE_NOT_AVAILABLE;
    if (value)
        memset(value, 0, room);
    return value ? CL_SUCCESS : below.clGetDeviceInfo(device, what, room, value, bytes);
}

/* The program has its device: it asked with room for one. */
static cl_int get_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                          cl_device_id *all, cl_uint *n)
{
    return room == 1 ? below.clGetDeviceIDs(platform, type, room, all, n) : CL_DEVICE_NOT_FOUND;
}

typedef void(CL_CALLBACK *callback)(cl_event event, cl_int status, void *data);

struct told {
    callback function;
    void *data;
    cl_event event;
};

static void CL_CALLBACK tell_failed(cl_event event, cl_int status, void *data)
{
    struct told *const t = data;

    (void)status;
    t->function(event, CL_OUT_OF_RESOURCES, t->data);
    free(t);
}

static void *tell(void *data)
{
    struct told *const t = data;

    usleep(20000);
    t->function(t->event, CL_COMPLETE, t->data);
    below.clReleaseEvent(t->event);
    free(t);
    return NULL;
}

static void CL_CALLBACK tell_late(cl_event event, cl_int status, void *data)
{
    struct told *const t = data;
    pthread_t thread;

    (void)status;
    t->event = event;
    below.clRetainEvent(event);
    if (pthread_create(&thread, NULL, tell, t) == 0)
        pthread_detach(thread);
}

static cl_int set_callback(cl_event event, cl_int when, callback function, void *data)
{
    struct told *const t = malloc(sizeof *t);

    *t = (struct told){function, data, event};
    if (is("failed") || is("late"))
        return below.clSetEventCallback(event, when, is("late") ? tell_late : tell_failed, t);
    free(t);
    return is("never") ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static unsigned n_kernels;

static cl_int cl_EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dims,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, cl_uint n, const cl_event *events,
                                      cl_event *event)
{
    if (is("lost") && ++n_kernels > 11)
        return CL_DEVICE_NOT_AVAILABLE;
    if (!is("event") || !event)
        return below.clEnqueueNDRangeKernel(queue, kernel, n_dims, offset, global, local, n,
                                            events, event);
    cl_event real = NULL;
    const cl_int error = below.clEnqueueNDRangeKernel(queue, kernel, n_dims, offset, global,
                                                      local, n, events, &real);
    if (n_dims == 2) /* the one whose event the program wants */
        *event = real;
    else if (real)
        below.clReleaseEvent(real);
    return error;
}

static cl_int cl_EnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                    size_t offset, size_t bytes, const void *from, cl_uint n,
                                    const cl_event *events, cl_event *event)
{
    const cl_int error =
        below.clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, n, events, event);

    usleep(15000);
    return error;
}

static cl_int finish(cl_command_queue queue)
{
    const cl_int error = below.clFinish(queue);

    return n_kernels > 11 ? CL_OUT_OF_RESOURCES : error;
}

static cl_int get_memory(cl_mem memory, cl_mem_info what, size_t room, void *value,
                         size_t *bytes)
{
    (void)memory, (void)what, (void)room, (void)value, (void)bytes;
    return CL_OUT_OF_HOST_MEMORY;
}

static cl_int get_context(cl_context context, cl_context_info what, size_t room, void *value,
                          size_t *bytes)
{
    (void)context, (void)what, (void)room, (void)value;
    if (bytes)
        *bytes = 0;
    return CL_SUCCESS;
}

static void break_driver(void)
{
    const char *const given = getenv("FAULT");

    fault = given ? given : "";
    if (is("zero") || is("order") || is("times") || is("queued") || is("early"))
        ours.clGetEventProfilingInfo = get_times;
    if (is("names") || is("unnamed"))
        ours.clGetKernelInfo = get_kernel;
    if (is("properties") || is("device"))
        ours.clGetDeviceInfo = get_device;
    if (is("none"))
        ours.clGetDeviceIDs = get_devices;
    if (is("callback") || is("never") || is("failed") || is("late"))
        ours.clSetEventCallback = set_callback;
    if (is("lost") || is("event"))
        ours.clEnqueueNDRangeKernel = cl_EnqueueNDRangeKernel;
    if (is("slow"))
        ours.clEnqueueWriteBuffer = cl_EnqueueWriteBuffer;
    if (is("lost"))
        ours.clFinish = finish;
    if (is("memory"))
        ours.clGetMemObjectInfo = get_memory;
    if (is("context"))
        ours.clGetContextInfo = get_context;
}
#endif

/* --- what loaders look up ----------------------------------------------------------------- */

cl_int clGetLayerInfo(cl_uint what, size_t room, void *value, size_t *bytes)
{
    if (what != 0x4240 || room < sizeof(cl_uint))
        return CL_INVALID_VALUE;
    *(cl_uint *)value = 100;
    if (bytes)
        *bytes = sizeof(cl_uint);
    return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                   const cl_icd_dispatch **table)
{
    memcpy(&below, target, (n < N ? n : N) * sizeof(void *));
#ifdef REFUSES
    ours.clCreateCommandQueue = create;
    ours.clCreateCommandQueueWithProperties = create_with;
#elif defined(EXTENDS)
    ours.clGetExtensionFunctionAddressForPlatform = find;
#else
    break_driver();
#endif
    *n_ours = N < n ? (cl_uint)N : n;
    *table = &ours;
    return CL_SUCCESS;
}

cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                                 const cl_icd_dispatch **table, const void *properties)
{
    (void)properties;
    return clInitLayer(n, target, n_ours, table);
}
