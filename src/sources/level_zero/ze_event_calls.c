/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make, reset and destroy events and their pools. */
#include "sources/level_zero/ze_commands.h"

/* The copy of a pool's description lasts for the call. */
static _Thread_local ze_event_pool_desc_t description
    __attribute__((tls_model("initial-exec")));

static void before_pool_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_event_pool_create_params_t *const p = params;
    const ze_event_pool_desc_t *const asked = *p->pdesc;

    OSC_ZE_UNUSED;
    *call = NULL;
    if (!asked || asked->pNext || (asked->flags & ZE_EVENT_POOL_FLAG_IPC) || !osc_ze_is_alive())
        return;
    description = *asked;
    description.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    *p->pdesc = &description;
    *call = &description;
}

static void after_pool_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_event_pool_create_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (result != ZE_RESULT_SUCCESS || !*p->pphEventPool || !**p->pphEventPool)
        return;
    const ze_event_pool_flags_t flags = *p->pdesc ? (*p->pdesc)->flags : 0;
    const ze_event_pool_flags_t both =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    osc_ze_add_pool(**p->pphEventPool, *call || (flags & both) == both ? OSC_ZE_TIMES_READ
                                       : flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
                                           ? OSC_ZE_TIMES_THEIRS
                                           : OSC_ZE_TIMES_NONE);
}

static void after_event_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_event_create_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS && *p->pphEvent && **p->pphEvent)
        osc_ze_add_event(**p->pphEvent, *p->phEventPool);
}

/* What has happened to HANDLE must be read now. */
static void read_event(ze_event_handle_t handle)
{
    const struct osc_ze_event *const e = osc_ze_event_of(handle);

    /* Acquire pairs with the release in finish(): another thread has read the event. */
    if (e && atomic_load_explicit(&e->n_waiting, memory_order_acquire) > 0 &&
        !osc_ze_is_inside() && osc_ze_is_alive())
        osc_ze_read_event(handle);
}

static void before_event_destroy(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_event_destroy_params_t *const p = params;
    struct osc_ze_event *const e = osc_ze_event_of(*p->phEvent);

    OSC_ZE_UNUSED;
    read_event(*p->phEvent);
    if (e)
        atomic_store_explicit(&e->times, OSC_ZE_TIMES_THEIRS, memory_order_relaxed);
}

static void before_event_reset(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_event_host_reset_params_t *const p = params;

    OSC_ZE_UNUSED;
    read_event(*p->phEvent);
}

static void before_append_reset(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_list_append_event_reset_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (osc_ze_is_immediate(*p->phCommandList))
        read_event(*p->phEvent);
}

const struct osc_ze_hook osc_ze_hooks_events[] = {
    {"EventPoolCreate", before_pool_create, after_pool_create},
    {"EventCreate", NULL, after_event_create},
    {"EventDestroy", before_event_destroy, NULL},
    {"EventHostReset", before_event_reset, NULL},
    {"CommandListAppendEventReset", before_append_reset, NULL},
    {0}};
