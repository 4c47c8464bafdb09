/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that append commands to lists: kernels, copies, fills and barriers. */
#include <stdio.h>

#include "sources/level_zero/ze_commands.h"
#include "sources/level_zero/ze_kernels.h"
#include "sources/level_zero/ze_later.h"

/*
 * After work_of_launch_kernel(), which says of parameters what was appended,
 * APPEND(LaunchKernel, launch_kernel) defines what is called before and after
 * zeCommandListAppendLaunchKernel(); APPEND_AS does, for parameters of TYPE.
 */
#define APPEND(function, snake) \
    APPEND_AS(function, snake, ze_command_list_append_##snake##_params_t)

#define APPEND_AS(function, snake, type)                                                    \
    static void before_##snake(void *params, ze_result_t result, void *tracer, void **call) \
    {                                                                                       \
        const type *const p = params;                                                       \
                                                                                            \
        OSC_ZE_UNUSED;                                                                      \
        *call = osc_ze_append_begin(*p->phCommandList, p->phSignalEvent,                    \
                                    OSC_SOURCE_NAME("zeCommandListAppend" #function));      \
    }                                                                                       \
    static void after_##snake(void *params, ze_result_t result, void *tracer, void **call)  \
    {                                                                                       \
        const type *const p = params;                                                       \
        struct osc_ze_work work = {0};                                                      \
                                                                                            \
        OSC_ZE_UNUSED;                                                                      \
        if (*call && result == ZE_RESULT_SUCCESS)                                           \
            work = work_of_##snake(p);                                                      \
        osc_ze_append_end(*call, *p->phCommandList, result, &work);                         \
    }

#define HOOK(function, snake)                                        \
    {                                                                \
        "CommandListAppend" #function, before_##snake, after_##snake \
    }

/* --- kernels ----------------------------------------------------------------------------- */

/* The work of a launch of HANDLE in GROUPS; NULL: how many is known to the device only. */
static struct osc_ze_work kernel(ze_kernel_handle_t handle, const ze_group_count_t *groups)
{
    const struct osc_ze_kernel *const k = osc_ze_kernel_of(handle);
    struct osc_ze_work work = {.kind = OSC_WORK_KERNEL,
                               .name = k ? k->name : OSC_SOURCE_NAME("(unknown kernel)")};

    if (groups) {
        work.grid[0] = groups->groupCountX;
        work.grid[1] = groups->groupCountY;
        work.grid[2] = groups->groupCountZ;
    }
    for (int i = 0; k && i < 3; i++)
        work.block[i] = k->block[i];
    return work;
}

static struct osc_ze_work work_of_launch_kernel(
    const ze_command_list_append_launch_kernel_params_t *p)
{
    return kernel(*p->phKernel, *p->ppLaunchFuncArgs);
}
APPEND(LaunchKernel, launch_kernel)

static struct osc_ze_work work_of_launch_cooperative_kernel(
    const ze_command_list_append_launch_cooperative_kernel_params_t *p)
{
    return kernel(*p->phKernel, *p->ppLaunchFuncArgs);
}
APPEND(LaunchCooperativeKernel, launch_cooperative_kernel)

static struct osc_ze_work work_of_launch_kernel_indirect(
    const ze_command_list_append_launch_kernel_indirect_params_t *p)
{
    return kernel(*p->phKernel, NULL);
}
APPEND(LaunchKernelIndirect, launch_kernel_indirect)

/* All have one event: the work is called after the first. */
static struct osc_ze_work work_of_launch_multiple_kernels_indirect(
    const ze_command_list_append_launch_multiple_kernels_indirect_params_t *p)
{
    return kernel(*p->pnumKernels > 0 && *p->pphKernels ? **p->pphKernels : NULL, NULL);
}
APPEND(LaunchMultipleKernelsIndirect, launch_multiple_kernels_indirect)

static struct osc_ze_work work_of_launch_with_parameters(
    const struct osc_ze_launch_with_parameters *p)
{
    return kernel(*p->phKernel, *p->ppGroupCounts);
}
APPEND_AS(LaunchKernelWithParameters, launch_with_parameters,
          struct osc_ze_launch_with_parameters)

static struct osc_ze_work work_of_launch_with_arguments(
    const struct osc_ze_launch_with_arguments *p)
{
    return kernel(*p->phKernel, p->pgroupCounts);
}
APPEND_AS(LaunchKernelWithArguments, launch_with_arguments, struct osc_ze_launch_with_arguments)

/* The call sets the size of groups, whether or not it is recorded. */
static void after_launch_that_sets(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_launch_with_arguments *const p = params;

    if (result == ZE_RESULT_SUCCESS)
        osc_ze_kernel_set_block(*p->phKernel, p->pgroupSizes->groupSizeX,
                                p->pgroupSizes->groupSizeY, p->pgroupSizes->groupSizeZ);
    after_launch_with_arguments(params, result, tracer, call);
}

/* --- copies and fills -------------------------------------------------------------------- */

enum place { PLACE_PAGEABLE, PLACE_PINNED, PLACE_DEVICE, PLACE_MANAGED, N_PLACES };

/* Where AT is, and on which device. */
static enum place place_of(ze_context_handle_t context, const void *at,
                           ze_device_handle_t *device)
{
    ze_memory_allocation_properties_t p = {.stype =
                                               ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};

    *device = NULL;
    if (!context || osc_ze.MemGetAllocProperties(context, at, &p, device) != ZE_RESULT_SUCCESS)
        return PLACE_PAGEABLE;
    switch ((int)p.type) { /* drivers may know more kinds */
    case ZE_MEMORY_TYPE_HOST:
        return PLACE_PINNED;
    case ZE_MEMORY_TYPE_DEVICE:
        return PLACE_DEVICE;
    case ZE_MEMORY_TYPE_SHARED:
        return PLACE_MANAGED;
    default:
        return PLACE_PAGEABLE;
    }
}

/* As CUPTI's users know it: "Memcpy HtoD (Pageable -> Device)". */
static osc_name copy_name(enum place from, enum place to, bool is_peer)
{
    static const char *const words[N_PLACES] = {"Pageable", "Pinned", "Device", "Managed"};
    static const char letters[N_PLACES] = {'H', 'H', 'D', 'D'};
    static _Atomic uint32_t names[N_PLACES][N_PLACES][2];
    char text[64];
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(&names[from][to][is_peer], memory_order_relaxed);

    if (name)
        return name;
    (void)snprintf(text, sizeof text, "Memcpy %cto%c (%s -> %s)", is_peer ? 'P' : letters[from],
                   is_peer ? 'P' : letters[to], words[from], words[to]);
    name = osc_name_c(text);
    atomic_store_explicit(&names[from][to][is_peer], name, memory_order_relaxed);
    return name;
}

static struct osc_ze_work copy(enum place from, enum place to, bool is_peer, uint64_t bytes)
{
    return (struct osc_ze_work){
        .kind = OSC_WORK_MEMCPY, .name = copy_name(from, to, is_peer), .bytes = bytes};
}

/* A copy of BYTES between the addresses FROM, of CONTEXT, and TO, of that of LIST. */
static struct osc_ze_work copy_memory(ze_command_list_handle_t list,
                                      ze_context_handle_t context, const void *from,
                                      const void *to, uint64_t bytes)
{
    ze_device_handle_t from_device, to_device;
    const enum place a = place_of(context, from, &from_device);
    const enum place b = place_of(osc_ze_context_of(list), to, &to_device);

    return copy(a, b,
                a == PLACE_DEVICE && b == PLACE_DEVICE && from_device && to_device &&
                    from_device != to_device,
                bytes);
}

static uint64_t bytes_of(const ze_copy_region_t *r)
{
    return r ? (uint64_t)r->width * r->height * (r->depth > 0 ? r->depth : 1) : 0;
}

static struct osc_ze_work work_of_memory_copy(
    const ze_command_list_append_memory_copy_params_t *p)
{
    return copy_memory(*p->phCommandList, osc_ze_context_of(*p->phCommandList), *p->psrcptr,
                       *p->pdstptr, *p->psize);
}
APPEND(MemoryCopy, memory_copy)

static struct osc_ze_work work_of_copy_with_parameters(
    const struct osc_ze_copy_with_parameters *p)
{
    return copy_memory(*p->phCommandList, osc_ze_context_of(*p->phCommandList), *p->psrcptr,
                       *p->pdstptr, *p->psize);
}
APPEND_AS(MemoryCopyWithParameters, copy_with_parameters, struct osc_ze_copy_with_parameters)

static struct osc_ze_work work_of_memory_copy_region(
    const ze_command_list_append_memory_copy_region_params_t *p)
{
    return copy_memory(*p->phCommandList, osc_ze_context_of(*p->phCommandList), *p->psrcptr,
                       *p->pdstptr, bytes_of(*p->pdstRegion));
}
APPEND(MemoryCopyRegion, memory_copy_region)

static struct osc_ze_work work_of_memory_copy_from_context(
    const ze_command_list_append_memory_copy_from_context_params_t *p)
{
    return copy_memory(*p->phCommandList, *p->phContextSrc, *p->psrcptr, *p->pdstptr,
                       *p->psize);
}
APPEND(MemoryCopyFromContext, memory_copy_from_context)

/* Images are on the device; how large their points are is not known here. */

static struct osc_ze_work work_of_image_copy(
    const ze_command_list_append_image_copy_params_t *p)
{
    (void)p;
    return copy(PLACE_DEVICE, PLACE_DEVICE, false, 0);
}
APPEND(ImageCopy, image_copy)

static struct osc_ze_work work_of_image_copy_region(
    const ze_command_list_append_image_copy_region_params_t *p)
{
    (void)p;
    return copy(PLACE_DEVICE, PLACE_DEVICE, false, 0);
}
APPEND(ImageCopyRegion, image_copy_region)

static struct osc_ze_work work_of_image_copy_to_memory(
    const ze_command_list_append_image_copy_to_memory_params_t *p)
{
    ze_device_handle_t device;

    return copy(PLACE_DEVICE,
                place_of(osc_ze_context_of(*p->phCommandList), *p->pdstptr, &device), false, 0);
}
APPEND(ImageCopyToMemory, image_copy_to_memory)

static struct osc_ze_work work_of_image_copy_from_memory(
    const ze_command_list_append_image_copy_from_memory_params_t *p)
{
    ze_device_handle_t device;

    return copy(place_of(osc_ze_context_of(*p->phCommandList), *p->psrcptr, &device),
                PLACE_DEVICE, false, 0);
}
APPEND(ImageCopyFromMemory, image_copy_from_memory)

static struct osc_ze_work work_of_image_to_memory(const struct osc_ze_image_to_memory *p)
{
    ze_device_handle_t device;

    return copy(PLACE_DEVICE,
                place_of(osc_ze_context_of(*p->phCommandList), *p->pdstptr, &device), false, 0);
}
APPEND_AS(ImageCopyToMemoryExt, image_to_memory, struct osc_ze_image_to_memory)

static struct osc_ze_work work_of_image_from_memory(const struct osc_ze_image_from_memory *p)
{
    ze_device_handle_t device;

    return copy(place_of(osc_ze_context_of(*p->phCommandList), *p->psrcptr, &device),
                PLACE_DEVICE, false, 0);
}
APPEND_AS(ImageCopyFromMemoryExt, image_from_memory, struct osc_ze_image_from_memory)

static struct osc_ze_work fill(uint64_t bytes)
{
    return (struct osc_ze_work){
        .kind = OSC_WORK_MEMSET, .name = OSC_SOURCE_NAME("Memset (Device)"), .bytes = bytes};
}

static struct osc_ze_work work_of_memory_fill(
    const ze_command_list_append_memory_fill_params_t *p)
{
    return fill(*p->psize);
}
APPEND(MemoryFill, memory_fill)

static struct osc_ze_work work_of_fill_with_parameters(
    const struct osc_ze_fill_with_parameters *p)
{
    return fill(*p->psize);
}
APPEND_AS(MemoryFillWithParameters, fill_with_parameters, struct osc_ze_fill_with_parameters)

/* --- commands that wait ------------------------------------------------------------------ */

static struct osc_ze_work work_of_barrier(const ze_command_list_append_barrier_params_t *p)
{
    (void)p;
    return (struct osc_ze_work){.kind = OSC_WORK_SYNC, .name = OSC_SOURCE_NAME("Barrier")};
}
APPEND(Barrier, barrier)

static struct osc_ze_work work_of_memory_ranges_barrier(
    const ze_command_list_append_memory_ranges_barrier_params_t *p)
{
    (void)p;
    return (struct osc_ze_work){.kind = OSC_WORK_SYNC, .name = OSC_SOURCE_NAME("Barrier")};
}
APPEND(MemoryRangesBarrier, memory_ranges_barrier)

const struct osc_ze_hook osc_ze_hooks_appends[] = {
    HOOK(LaunchKernel, launch_kernel),
    HOOK(LaunchCooperativeKernel, launch_cooperative_kernel),
    HOOK(LaunchKernelIndirect, launch_kernel_indirect),
    HOOK(LaunchMultipleKernelsIndirect, launch_multiple_kernels_indirect),
    HOOK(LaunchKernelWithParameters, launch_with_parameters),
    {"CommandListAppendLaunchKernelWithArguments", before_launch_with_arguments,
     after_launch_that_sets},
    HOOK(MemoryCopy, memory_copy),
    HOOK(MemoryCopyWithParameters, copy_with_parameters),
    HOOK(MemoryCopyRegion, memory_copy_region),
    HOOK(MemoryCopyFromContext, memory_copy_from_context),
    HOOK(ImageCopy, image_copy),
    HOOK(ImageCopyRegion, image_copy_region),
    HOOK(ImageCopyToMemory, image_copy_to_memory),
    HOOK(ImageCopyFromMemory, image_copy_from_memory),
    HOOK(ImageCopyToMemoryExt, image_to_memory),
    HOOK(ImageCopyFromMemoryExt, image_from_memory),
    HOOK(MemoryFill, memory_fill),
    HOOK(MemoryFillWithParameters, fill_with_parameters),
    HOOK(Barrier, barrier),
    HOOK(MemoryRangesBarrier, memory_ranges_barrier),
    {0}};
