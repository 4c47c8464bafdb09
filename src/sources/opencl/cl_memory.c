/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of devices. OpenCL gives memory to contexts, not to devices: it is reported as that of
 * the context's first device.
 */
#include "opscope/source.h"
#include "sources/handle_map.h"
#include "sources/opencl/cl_work.h"

/* Whether memory that is made now is recorded. */
static bool is_recorded(void)
{
    return osc_is_on() && !osc_runtime_is_inside();
}

/* The device of CONTEXT; NULL: unknown. */
static struct osc_cl_device *device_of(cl_context context)
{
    cl_device_id ids[256];
    size_t bytes = 0;

    if (!osc_cl.clGetContextInfo ||
        osc_cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof ids, ids, &bytes) !=
            CL_SUCCESS ||
        bytes < sizeof(cl_device_id))
        return NULL;
    return osc_cl_device_of(ids[0]);
}

/* --- what is known of a block until it is released ------------------------------------ */

static struct osc_handle_map blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define DEVICE_SHIFT 48 /* of a value of that map: the number of a device above the bytes */

/* Report BYTES at AT, a buffer, an image or an address, of DEVICE. False: there is no room. */
static bool report_block(const struct osc_cl_device *device, const void *at, size_t bytes)
{
    if (bytes >> DEVICE_SHIFT != 0 ||
        !osc_handle_set(&blocks, at, (uint64_t)device->number << DEVICE_SHIFT | bytes))
        return false;
    osc_memory_alloc(device->number, (uintptr_t)at, bytes);
    return true;
}

static void report_release(const void *at)
{
    const uint64_t known = at ? osc_handle_get(&blocks, at) : 0;

    if (known == 0)
        return;
    (void)osc_handle_set(&blocks, at, 0);
    osc_memory_free((uint32_t)(known >> DEVICE_SHIFT), (uintptr_t)at,
                    known & ((UINT64_C(1) << DEVICE_SHIFT) - 1));
}

/* --- buffers and images --------------------------------------------------------------- */

static void CL_CALLBACK released(cl_mem memory, void *data)
{
    (void)data;
    report_release(memory);
}

/* Report MADE, a buffer or an image of CONTEXT, or NULL, and return it. */
static cl_mem report(cl_context context, cl_mem made)
{
    size_t bytes = 0;

    if (!made || !is_recorded())
        return made;
    const struct osc_cl_device *const d = device_of(context);
    if (!d || !osc_cl.clGetMemObjectInfo || !osc_cl.clSetMemObjectDestructorCallback ||
        osc_cl.clGetMemObjectInfo(made, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS ||
        osc_cl.clSetMemObjectDestructorCallback(made, released, NULL) != CL_SUCCESS ||
        !report_block(d, made, bytes))
        osc_cl_count_memory();
    return made;
}

static cl_mem cl_CreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                              cl_int *error)
{
    return report(context, osc_cl.clCreateBuffer(context, flags, bytes, host, error));
}

static cl_mem cl_CreateBufferWithProperties(cl_context context, const cl_mem_properties *list,
                                            cl_mem_flags flags, size_t bytes, void *host,
                                            cl_int *error)
{
    return report(
        context, osc_cl.clCreateBufferWithProperties(context, list, flags, bytes, host, error));
}

static cl_mem cl_CreateImage(cl_context context, cl_mem_flags flags,
                             const cl_image_format *format, const cl_image_desc *what,
                             void *host, cl_int *error)
{
    return report(context, osc_cl.clCreateImage(context, flags, format, what, host, error));
}

static cl_mem cl_CreateImageWithProperties(cl_context context, const cl_mem_properties *list,
                                           cl_mem_flags flags, const cl_image_format *format,
                                           const cl_image_desc *what, void *host, cl_int *error)
{
    return report(context, osc_cl.clCreateImageWithProperties(context, list, flags, format,
                                                              what, host, error));
}

static cl_mem cl_CreateImage2D(cl_context context, cl_mem_flags flags,
                               const cl_image_format *format, size_t width, size_t height,
                               size_t row, void *host, cl_int *error)
{
    return report(context, osc_cl.clCreateImage2D(context, flags, format, width, height, row,
                                                  host, error));
}

static cl_mem cl_CreateImage3D(cl_context context, cl_mem_flags flags,
                               const cl_image_format *format, size_t width, size_t height,
                               size_t depth, size_t row, size_t slice, void *host,
                               cl_int *error)
{
    return report(context, osc_cl.clCreateImage3D(context, flags, format, width, height, depth,
                                                  row, slice, host, error));
}

/* --- shared virtual memory ------------------------------------------------------------ */

static void *cl_SVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                         cl_uint alignment)
{
    void *const made = osc_cl.clSVMAlloc(context, flags, bytes, alignment);

    if (!made || !is_recorded())
        return made;
    const struct osc_cl_device *const d = device_of(context);
    if (!d || !report_block(d, made, bytes))
        osc_cl_count_memory();
    return made;
}

static void cl_SVMFree(cl_context context, void *at)
{
    report_release(at);
    osc_cl.clSVMFree(context, at);
}

typedef void(CL_CALLBACK *freer)(cl_command_queue queue, cl_uint n, void **blocks, void *data);

/* The blocks are reported as free when the command is enqueued, not when it runs. */
static cl_int cl_EnqueueSVMFree(cl_command_queue queue, cl_uint n_blocks, void **at,
                                freer free_them, void *data, cl_uint n, const cl_event *events,
                                cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMFree"), event);
    const cl_int error =
        osc_cl.clEnqueueSVMFree(queue, n_blocks, at, free_them, data, n, events, event);
    for (cl_uint i = 0; error == CL_SUCCESS && at && i < n_blocks; i++)
        report_release(at[i]);
    return osc_cl_end(
        &c, error,
        &(struct osc_cl_work){.kind = OSC_WORK_SYNC,
                              .name = OSC_SOURCE_NAME("Free shared virtual memory")});
}

void osc_cl_add_memory(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, CreateBuffer);
    OSC_CL_ADD(table, CreateBufferWithProperties);
    OSC_CL_ADD(table, CreateImage);
    OSC_CL_ADD(table, CreateImageWithProperties);
    OSC_CL_ADD(table, CreateImage2D);
    OSC_CL_ADD(table, CreateImage3D);
    OSC_CL_ADD(table, SVMAlloc);
    OSC_CL_ADD(table, EnqueueSVMFree);
    OSC_CL_ADD(table, SVMFree);
}
