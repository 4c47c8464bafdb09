/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_lists.h"

#include "sources/handle_map.h"
#include "sources/source_memory.h"

static struct osc_handle_map lists = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct osc_ze_list *osc_ze_list_of(ze_command_list_handle_t handle)
{
    return handle ? osc_handle_get_address(&lists, handle) : NULL;
}

ze_context_handle_t osc_ze_context_of(ze_command_list_handle_t list)
{
    const struct osc_ze_list *const l = osc_ze_list_of(list);

    return l ? l->context : NULL;
}

bool osc_ze_is_immediate(ze_command_list_handle_t list)
{
    const struct osc_ze_list *const l = osc_ze_list_of(list);

    return l && l->is_immediate;
}

struct osc_ze_list *osc_ze_list_add(ze_command_list_handle_t handle,
                                    ze_context_handle_t context, struct osc_ze_device *device)
{
    struct osc_ze_list *l = osc_ze_list_of(handle);

    if (!l)
        l = osc_source_memory(sizeof *l);
    if (!l || !device)
        return NULL;
    *l = (struct osc_ze_list){.context = context, .device = device};
    return osc_handle_set(&lists, handle, (uintptr_t)l) ? l : NULL;
}

struct osc_ze_list *osc_ze_list_adopt(ze_command_list_handle_t handle)
{
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = NULL;
    ze_bool_t is_immediate = 0;
    uint32_t ordinal = 0, index = 0;

    if (!handle || !osc_ze.CommandListGetContextHandle || !osc_ze.CommandListGetDeviceHandle ||
        !osc_ze.CommandListIsImmediate || !osc_ze.CommandListGetOrdinal ||
        osc_ze.CommandListGetContextHandle(handle, &context) != ZE_RESULT_SUCCESS ||
        osc_ze.CommandListGetDeviceHandle(handle, &device) != ZE_RESULT_SUCCESS ||
        osc_ze.CommandListIsImmediate(handle, &is_immediate) != ZE_RESULT_SUCCESS ||
        osc_ze.CommandListGetOrdinal(handle, &ordinal) != ZE_RESULT_SUCCESS)
        return NULL;
    if (is_immediate && osc_ze.CommandListImmediateGetIndex)
        (void)osc_ze.CommandListImmediateGetIndex(handle, &index);
    struct osc_ze_list *const l = osc_ze_list_add(handle, context, osc_ze_device_of(device));
    if (!l)
        return NULL;
    l->is_immediate = is_immediate != 0;
    l->queue = osc_ze_engine(l->device, ordinal, index);
    return l;
}

static _Atomic int32_t n_captures;

void osc_ze_captures(int more)
{
    /* Relaxed: programs order the begin of a capture and what is captured. */
    atomic_fetch_add_explicit(&n_captures, more, memory_order_relaxed);
}

bool osc_ze_is_captured(ze_command_list_handle_t list)
{
    const unsigned is_true = 0x78000022; /* ZE_RESULT_QUERY_TRUE */

    return atomic_load_explicit(&n_captures, memory_order_relaxed) > 0 &&
           osc_ze.CommandListIsGraphCaptureEnabledExt &&
           (unsigned)osc_ze.CommandListIsGraphCaptureEnabledExt(list) == is_true;
}
