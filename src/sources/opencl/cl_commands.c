/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run kernels or wait. */
#include "sources/opencl/cl_kernels.h"

static osc_name name_of(const struct osc_cl_kernel *k)
{
    return k ? atomic_load_explicit(&k->name, memory_order_relaxed)
             : OSC_SOURCE_NAME("(unknown kernel)");
}

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* What may make a driver compile a kernel anew: the device, and the size of a group, which it
 * chooses by the whole size if the program does not; and whether there is an offset. */
static uint64_t variant_of(const struct osc_cl_call *c, const struct osc_cl_work *w,
                           bool has_offset)
{
    const struct osc_cl_device *const d = c->queue->device;
    uint64_t hash = mix(d ? d->number : 0, w->n_dims << 1 | has_offset);

    for (uint32_t i = 0; i < w->n_dims; i++)
        hash = mix(hash, w->local[0] > 0 ? w->local[i] : w->global[i]);
    return mix(hash, w->local[0] > 0) | 1;
}

static cl_int cl_EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dims,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, cl_uint n, const cl_event *events,
                                      cl_event *event)
{
    struct osc_cl_call c;
    struct osc_cl_work work = {.kind = OSC_WORK_KERNEL};

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueNDRangeKernel"), event);
    const cl_int error = osc_cl.clEnqueueNDRangeKernel(queue, kernel, n_dims, offset, global,
                                                       local, n, events, event);
    if (c.queue && error == CL_SUCCESS) {
        work.kernel = osc_cl_kernel_of(kernel);
        work.name = name_of(work.kernel);
        work.n_dims = global && n_dims <= 3 ? n_dims : 0;
        for (cl_uint i = 0; i < work.n_dims; i++) {
            work.global[i] = global[i];
            work.local[i] = local ? local[i] : 0;
        }
        work.variant = variant_of(&c, &work, offset != NULL);
    }
    return osc_cl_end(&c, error, &work);
}

static cl_int cl_EnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n,
                             const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;
    struct osc_cl_work work = {
        .kind = OSC_WORK_KERNEL, .n_dims = 1, .global = {1}, .local = {1}};

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueTask"), event);
    const cl_int error = osc_cl.clEnqueueTask(queue, kernel, n, events, event);
    if (c.queue && error == CL_SUCCESS) {
        work.kernel = osc_cl_kernel_of(kernel);
        work.name = name_of(work.kernel);
        work.variant = variant_of(&c, &work, false);
    }
    return osc_cl_end(&c, error, &work);
}

typedef void(CL_CALLBACK *native)(void *data);

static cl_int cl_EnqueueNativeKernel(cl_command_queue queue, native function, void *args,
                                     size_t args_bytes, cl_uint n_buffers,
                                     const cl_mem *buffers, const void **places, cl_uint n,
                                     const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueNativeKernel"), event);
    const cl_int error = osc_cl.clEnqueueNativeKernel(
        queue, function, args, args_bytes, n_buffers, buffers, places, n, events, event);
    return osc_cl_end(&c, error,
                      &(struct osc_cl_work){.kind = OSC_WORK_KERNEL,
                                            .name = OSC_SOURCE_NAME("native kernel")});
}

/* --- commands that wait --------------------------------------------------------------- */

static struct osc_cl_work waiting(osc_name name)
{
    return (struct osc_cl_work){.kind = OSC_WORK_SYNC, .name = name};
}

static cl_int cl_EnqueueMarker(cl_command_queue queue, cl_event *event)
{
    struct osc_cl_call c;

    if (!event) /* is an error, which an event of ours would hide */
        return osc_cl.clEnqueueMarker(queue, event);

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueMarker"), event);
    const cl_int error = osc_cl.clEnqueueMarker(queue, event);
    const struct osc_cl_work work = waiting(OSC_SOURCE_NAME("Marker"));
    return osc_cl_end(&c, error, &work);
}

static cl_int cl_EnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n,
                                           const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueMarkerWithWaitList"), event);
    const cl_int error = osc_cl.clEnqueueMarkerWithWaitList(queue, n, events, event);
    const struct osc_cl_work work = waiting(OSC_SOURCE_NAME("Marker"));
    return osc_cl_end(&c, error, &work);
}

static cl_int cl_EnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n,
                                            const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueBarrierWithWaitList"), event);
    const cl_int error = osc_cl.clEnqueueBarrierWithWaitList(queue, n, events, event);
    const struct osc_cl_work work = waiting(OSC_SOURCE_NAME("Barrier"));
    return osc_cl_end(&c, error, &work);
}

/* The two of OpenCL 1.0 have no event. */
static cl_int cl_EnqueueBarrier(cl_command_queue queue)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clEnqueueBarrier"));
    const cl_int error = osc_cl.clEnqueueBarrier(queue);

    osc_cl_end_plain(is_recorded);
    return error;
}

static cl_int cl_EnqueueWaitForEvents(cl_command_queue queue, cl_uint n, const cl_event *events)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clEnqueueWaitForEvents"));
    const cl_int error = osc_cl.clEnqueueWaitForEvents(queue, n, events);

    osc_cl_end_plain(is_recorded);
    return error;
}

void osc_cl_add_commands(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, EnqueueNDRangeKernel);
    OSC_CL_ADD(table, EnqueueTask);
    OSC_CL_ADD(table, EnqueueNativeKernel);
    OSC_CL_ADD(table, EnqueueMarker);
    OSC_CL_ADD(table, EnqueueMarkerWithWaitList);
    OSC_CL_ADD(table, EnqueueBarrierWithWaitList);
    OSC_CL_ADD(table, EnqueueBarrier);
    OSC_CL_ADD(table, EnqueueWaitForEvents);
}
