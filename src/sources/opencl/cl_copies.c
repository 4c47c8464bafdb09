/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that copy, fill, map and migrate. */
#include "sources/opencl/cl_work.h"

static struct osc_cl_work copy(osc_name name, uint64_t bytes)
{
    return (struct osc_cl_work){.kind = OSC_WORK_MEMCPY, .name = name, .bytes = bytes};
}

static struct osc_cl_work fill(osc_name name, uint64_t bytes)
{
    return (struct osc_cl_work){.kind = OSC_WORK_MEMSET, .name = name, .bytes = bytes};
}

/* Where the device shares the host's memory, mapping moves nothing: the queue only waits. */
static struct osc_cl_work map(const struct osc_cl_call *c, osc_name name, uint64_t bytes)
{
    const bool is_shared = c->queue && c->queue->device && c->queue->device->is_host_memory;

    return (struct osc_cl_work){.kind = is_shared ? OSC_WORK_SYNC : OSC_WORK_MEMCPY,
                                .name = name,
                                .bytes = is_shared ? 0 : bytes};
}

/* The bytes of a box of REGION elements; 0: unknown. */
static uint64_t box(const size_t region[3], uint64_t element_bytes)
{
    uint64_t n = element_bytes;

    for (int i = 0; region && i < 3; i++)
        if (__builtin_mul_overflow(n, (uint64_t)region[i], &n))
            return 0;
    return region ? n : 0;
}

static uint64_t pixels(const struct osc_cl_call *c, cl_int failed, cl_mem image,
                       const size_t region[3])
{
    size_t bytes = 0;

    if (!c->queue || failed != CL_SUCCESS || !osc_cl.clGetImageInfo ||
        osc_cl.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS)
        return 0;
    return box(region, bytes);
}

static uint64_t sum_of(cl_uint n, const size_t *sizes)
{
    uint64_t sum = 0;

    for (cl_uint i = 0; sizes && i < n; i++)
        sum += sizes[i];
    return sum;
}

static uint64_t memory_bytes(const struct osc_cl_call *c, cl_int failed, cl_uint n,
                             const cl_mem *all)
{
    uint64_t sum = 0;

    for (cl_uint i = 0; c->queue && failed == CL_SUCCESS && all && i < n; i++) {
        size_t bytes = 0;

        if (osc_cl.clGetMemObjectInfo &&
            osc_cl.clGetMemObjectInfo(all[i], CL_MEM_SIZE, sizeof bytes, &bytes, NULL) ==
                CL_SUCCESS)
            sum += bytes;
    }
    return sum;
}

static cl_int cl_EnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                   size_t offset, size_t bytes, void *to, cl_uint n,
                                   const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueReadBuffer"), event);
    const cl_int failed =
        osc_cl.clEnqueueReadBuffer(queue, buffer, waits, offset, bytes, to, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy DtoH (Device -> Host)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                    size_t offset, size_t bytes, const void *from, cl_uint n,
                                    const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueWriteBuffer"), event);
    const cl_int failed = osc_cl.clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from,
                                                      n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy HtoD (Host -> Device)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                       const size_t *buffer_at, const size_t *host_at,
                                       const size_t *region, size_t buffer_row,
                                       size_t buffer_slice, size_t host_row, size_t host_slice,
                                       void *to, cl_uint n, const cl_event *events,
                                       cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueReadBufferRect"), event);
    const cl_int failed = osc_cl.clEnqueueReadBufferRect(
        queue, buffer, waits, buffer_at, host_at, region, buffer_row, buffer_slice, host_row,
        host_slice, to, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy DtoH (Device -> Host)"), box(region, 1));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                        const size_t *buffer_at, const size_t *host_at,
                                        const size_t *region, size_t buffer_row,
                                        size_t buffer_slice, size_t host_row, size_t host_slice,
                                        const void *from, cl_uint n, const cl_event *events,
                                        cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueWriteBufferRect"), event);
    const cl_int failed = osc_cl.clEnqueueWriteBufferRect(
        queue, buffer, waits, buffer_at, host_at, region, buffer_row, buffer_slice, host_row,
        host_slice, from, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy HtoD (Host -> Device)"), box(region, 1));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                   size_t from_at, size_t to_at, size_t bytes, cl_uint n,
                                   const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueCopyBuffer"), event);
    const cl_int failed =
        osc_cl.clEnqueueCopyBuffer(queue, from, to, from_at, to_at, bytes, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy DtoD (Device -> Device)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                       const size_t *from_at, const size_t *to_at,
                                       const size_t *region, size_t from_row, size_t from_slice,
                                       size_t to_row, size_t to_slice, cl_uint n,
                                       const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueCopyBufferRect"), event);
    const cl_int failed =
        osc_cl.clEnqueueCopyBufferRect(queue, from, to, from_at, to_at, region, from_row,
                                       from_slice, to_row, to_slice, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy DtoD (Device -> Device)"), box(region, 1));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool waits,
                                  const size_t *origin, const size_t *region, size_t row,
                                  size_t slice, void *to, cl_uint n, const cl_event *events,
                                  cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueReadImage"), event);
    const cl_int failed = osc_cl.clEnqueueReadImage(queue, image, waits, origin, region, row,
                                                    slice, to, n, events, event);
    const struct osc_cl_work work = copy(OSC_SOURCE_NAME("Memcpy DtoH (Device -> Host)"),
                                         pixels(&c, failed, image, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool waits,
                                   const size_t *origin, const size_t *region, size_t row,
                                   size_t slice, const void *from, cl_uint n,
                                   const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueWriteImage"), event);
    const cl_int failed = osc_cl.clEnqueueWriteImage(queue, image, waits, origin, region, row,
                                                     slice, from, n, events, event);
    const struct osc_cl_work work = copy(OSC_SOURCE_NAME("Memcpy HtoD (Host -> Device)"),
                                         pixels(&c, failed, image, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                  const size_t *from_at, const size_t *to_at,
                                  const size_t *region, cl_uint n, const cl_event *events,
                                  cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueCopyImage"), event);
    const cl_int failed =
        osc_cl.clEnqueueCopyImage(queue, from, to, from_at, to_at, region, n, events, event);
    const struct osc_cl_work work = copy(OSC_SOURCE_NAME("Memcpy DtoD (Device -> Device)"),
                                         pixels(&c, failed, from, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                          const size_t *origin, const size_t *region,
                                          size_t offset, cl_uint n, const cl_event *events,
                                          cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueCopyImageToBuffer"), event);
    const cl_int failed = osc_cl.clEnqueueCopyImageToBuffer(queue, image, buffer, origin,
                                                            region, offset, n, events, event);
    const struct osc_cl_work work = copy(OSC_SOURCE_NAME("Memcpy DtoD (Device -> Device)"),
                                         pixels(&c, failed, image, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                          size_t offset, const size_t *origin,
                                          const size_t *region, cl_uint n,
                                          const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueCopyBufferToImage"), event);
    const cl_int failed = osc_cl.clEnqueueCopyBufferToImage(queue, buffer, image, offset,
                                                            origin, region, n, events, event);
    const struct osc_cl_work work = copy(OSC_SOURCE_NAME("Memcpy DtoD (Device -> Device)"),
                                         pixels(&c, failed, image, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                   size_t pattern_bytes, size_t offset, size_t bytes, cl_uint n,
                                   const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueFillBuffer"), event);
    const cl_int failed = osc_cl.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes,
                                                     offset, bytes, n, events, event);
    const struct osc_cl_work work = fill(OSC_SOURCE_NAME("Memset (Device)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color,
                                  const size_t *origin, const size_t *region, cl_uint n,
                                  const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueFillImage"), event);
    const cl_int failed =
        osc_cl.clEnqueueFillImage(queue, image, color, origin, region, n, events, event);
    const struct osc_cl_work work =
        fill(OSC_SOURCE_NAME("Memset (Device)"), pixels(&c, failed, image, region));
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueMigrateMemObjects(cl_command_queue queue, cl_uint n_memories,
                                          const cl_mem *memories, cl_mem_migration_flags flags,
                                          cl_uint n, const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueMigrateMemObjects"), event);
    const cl_int failed =
        osc_cl.clEnqueueMigrateMemObjects(queue, n_memories, memories, flags, n, events, event);
    const struct osc_cl_work work =
        copy(flags & CL_MIGRATE_MEM_OBJECT_HOST ? OSC_SOURCE_NAME("Migrate to the host")
                                                : OSC_SOURCE_NAME("Migrate to the device"),
             memory_bytes(&c, failed, n_memories, memories));
    return osc_cl_end(&c, failed, &work);
}

static void *cl_EnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                 cl_map_flags flags, size_t offset, size_t bytes, cl_uint n,
                                 const cl_event *events, cl_event *event, cl_int *error)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueMapBuffer"), event);
    cl_int failed = CL_SUCCESS;
    void *const mapped = osc_cl.clEnqueueMapBuffer(queue, buffer, waits, flags, offset, bytes,
                                                   n, events, event, &failed);
    const struct osc_cl_work work = map(&c, OSC_SOURCE_NAME("Map buffer"), bytes);
    (void)osc_cl_end(&c, failed, &work);
    if (error)
        *error = failed;
    return mapped;
}

static void *cl_EnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool waits,
                                cl_map_flags flags, const size_t *origin, const size_t *region,
                                size_t *row, size_t *slice, cl_uint n, const cl_event *events,
                                cl_event *event, cl_int *error)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueMapImage"), event);
    cl_int failed = CL_SUCCESS;
    void *const mapped = osc_cl.clEnqueueMapImage(queue, image, waits, flags, origin, region,
                                                  row, slice, n, events, event, &failed);
    const struct osc_cl_work work =
        map(&c, OSC_SOURCE_NAME("Map image"), pixels(&c, failed, image, region));
    (void)osc_cl_end(&c, failed, &work);
    if (error)
        *error = failed;
    return mapped;
}

static cl_int cl_EnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped,
                                       cl_uint n, const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueUnmapMemObject"), event);
    const cl_int failed =
        osc_cl.clEnqueueUnmapMemObject(queue, memory, mapped, n, events, event);
    const struct osc_cl_work work = map(&c, OSC_SOURCE_NAME("Unmap"), 0);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueSVMMemcpy(cl_command_queue queue, cl_bool waits, void *to,
                                  const void *from, size_t bytes, cl_uint n,
                                  const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMMemcpy"), event);
    const cl_int failed =
        osc_cl.clEnqueueSVMMemcpy(queue, waits, to, from, bytes, n, events, event);
    const struct osc_cl_work work =
        copy(OSC_SOURCE_NAME("Memcpy (shared virtual memory)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueSVMMemFill(cl_command_queue queue, void *to, const void *pattern,
                                   size_t pattern_bytes, size_t bytes, cl_uint n,
                                   const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMMemFill"), event);
    const cl_int failed =
        osc_cl.clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, n, events, event);
    const struct osc_cl_work work =
        fill(OSC_SOURCE_NAME("Memset (shared virtual memory)"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueSVMMap(cl_command_queue queue, cl_bool waits, cl_map_flags flags,
                               void *at, size_t bytes, cl_uint n, const cl_event *events,
                               cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMMap"), event);
    const cl_int failed =
        osc_cl.clEnqueueSVMMap(queue, waits, flags, at, bytes, n, events, event);
    const struct osc_cl_work work =
        map(&c, OSC_SOURCE_NAME("Map shared virtual memory"), bytes);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueSVMUnmap(cl_command_queue queue, void *at, cl_uint n,
                                 const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMUnmap"), event);
    const cl_int failed = osc_cl.clEnqueueSVMUnmap(queue, at, n, events, event);
    const struct osc_cl_work work = map(&c, OSC_SOURCE_NAME("Unmap shared virtual memory"), 0);
    return osc_cl_end(&c, failed, &work);
}

static cl_int cl_EnqueueSVMMigrateMem(cl_command_queue queue, cl_uint n_ranges,
                                      const void **ranges, const size_t *sizes,
                                      cl_mem_migration_flags flags, cl_uint n,
                                      const cl_event *events, cl_event *event)
{
    struct osc_cl_call c;

    event = osc_cl_begin(&c, queue, OSC_SOURCE_NAME("clEnqueueSVMMigrateMem"), event);
    const cl_int failed =
        osc_cl.clEnqueueSVMMigrateMem(queue, n_ranges, ranges, sizes, flags, n, events, event);
    const struct osc_cl_work work =
        copy(flags & CL_MIGRATE_MEM_OBJECT_HOST ? OSC_SOURCE_NAME("Migrate to the host")
                                                : OSC_SOURCE_NAME("Migrate to the device"),
             sum_of(n_ranges, sizes));
    return osc_cl_end(&c, failed, &work);
}

void osc_cl_add_copies(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, EnqueueReadBuffer);
    OSC_CL_ADD(table, EnqueueWriteBuffer);
    OSC_CL_ADD(table, EnqueueReadBufferRect);
    OSC_CL_ADD(table, EnqueueWriteBufferRect);
    OSC_CL_ADD(table, EnqueueCopyBuffer);
    OSC_CL_ADD(table, EnqueueCopyBufferRect);
    OSC_CL_ADD(table, EnqueueReadImage);
    OSC_CL_ADD(table, EnqueueWriteImage);
    OSC_CL_ADD(table, EnqueueCopyImage);
    OSC_CL_ADD(table, EnqueueCopyImageToBuffer);
    OSC_CL_ADD(table, EnqueueCopyBufferToImage);
    OSC_CL_ADD(table, EnqueueFillBuffer);
    OSC_CL_ADD(table, EnqueueFillImage);
    OSC_CL_ADD(table, EnqueueMigrateMemObjects);
    OSC_CL_ADD(table, EnqueueMapBuffer);
    OSC_CL_ADD(table, EnqueueMapImage);
    OSC_CL_ADD(table, EnqueueUnmapMemObject);
    OSC_CL_ADD(table, EnqueueSVMMemcpy);
    OSC_CL_ADD(table, EnqueueSVMMemFill);
    OSC_CL_ADD(table, EnqueueSVMMap);
    OSC_CL_ADD(table, EnqueueSVMUnmap);
    OSC_CL_ADD(table, EnqueueSVMMigrateMem);
}
