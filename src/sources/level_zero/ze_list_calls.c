/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make, execute, reset and destroy command lists, queues and contexts. */
#include "sources/handle_map.h"
#include "sources/level_zero/ze_commands.h"
#include "sources/level_zero/ze_later.h"

static struct osc_handle_map queues = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void after_queue_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_queue_create_params_t *const p = params;
    struct osc_ze_device *const d =
        result == ZE_RESULT_SUCCESS ? osc_ze_device_of(*p->phDevice) : NULL;

    OSC_ZE_UNUSED;
    if (d && *p->pdesc && *p->pphCommandQueue && **p->pphCommandQueue)
        (void)osc_handle_set(&queues, **p->pphCommandQueue,
                             osc_ze_engine(d, (*p->pdesc)->ordinal, (*p->pdesc)->index));
}

static void after_list_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_list_create_params_t *const p = params;
    struct osc_ze_list *l = NULL;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS && *p->pphCommandList && **p->pphCommandList)
        l = osc_ze_list_add(**p->pphCommandList, *p->phContext, osc_ze_device_of(*p->phDevice));
    if (l && *p->pdesc)
        l->queue = osc_ze_engine(l->device, (*p->pdesc)->commandQueueGroupOrdinal, 0);
}

static void after_list_create_immediate(void *params, ze_result_t result, void *tracer,
                                        void **call)
{
    const ze_command_list_create_immediate_params_t *const p = params;
    struct osc_ze_list *l = NULL;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS && *p->pphCommandList && **p->pphCommandList)
        l = osc_ze_list_add(**p->pphCommandList, *p->phContext, osc_ze_device_of(*p->phDevice));
    if (!l || !*p->paltdesc)
        return;
    l->is_immediate = true;
    l->queue = osc_ze_engine(l->device, (*p->paltdesc)->ordinal, (*p->paltdesc)->index);
}

static void before_list_destroy(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_list_destroy_params_t *const p = params;
    struct osc_ze_list *const l = osc_ze_list_of(*p->phCommandList);

    OSC_ZE_UNUSED;
    if (!l || !osc_ze_is_alive())
        return;
    osc_ze_list_clear(l);
    l->device = NULL;
}

static void before_list_reset(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_list_reset_params_t *const p = params;
    struct osc_ze_list *const l = osc_ze_list_of(*p->phCommandList);

    OSC_ZE_UNUSED;
    if (l && osc_ze_is_alive())
        osc_ze_list_clear(l);
}

static void before_context_destroy(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_context_destroy_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (*p->phContext && osc_ze_is_alive())
        osc_ze_context_clear(*p->phContext);
}

/* The lists are about to be executed on QUEUE; 0: on that of each. */
static void submit_all(uint32_t n, const ze_command_list_handle_t *handles, uint64_t queue,
                       bool is_recorded)
{
    for (uint32_t i = 0; handles && i < n; i++) {
        struct osc_ze_list *const l = osc_ze_list_of(handles[i]);

        if (l && l->device && is_recorded)
            osc_ze_list_submit(l, queue ? (uint32_t)queue : l->queue);
        else if (l)
            osc_ze_list_skip(l);
        if (is_recorded && !(l && l->device))
            osc_ze_count(OSC_ZE_COUNT_LISTS, 1);
    }
}

static void fail_all(uint32_t n, const ze_command_list_handle_t *handles)
{
    for (uint32_t i = 0; handles && i < n; i++) {
        struct osc_ze_list *const l = osc_ze_list_of(handles[i]);

        if (l && l->device)
            osc_ze_list_fail(l);
    }
}

static void before_execute(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_queue_execute_command_lists_params_t *const p = params;

    OSC_ZE_UNUSED;
    const bool is_recorded = osc_ze_begin(OSC_SOURCE_NAME("zeCommandQueueExecuteCommandLists"));
    const uint64_t queue = *p->phCommandQueue ? osc_handle_get(&queues, *p->phCommandQueue) : 0;
    if (is_recorded && queue == 0) /* shown as if it were the first one of its group */
        osc_ze_count(OSC_ZE_COUNT_QUEUES, 1);
    submit_all(*p->pnumCommandLists, *p->pphCommandLists, queue, is_recorded);
}

/* A call that executes lists ends with RESULT. */
static void end_all(uint32_t n, const ze_command_list_handle_t *handles, ze_result_t result)
{
    if (result != ZE_RESULT_SUCCESS && osc_ze_is_alive())
        fail_all(n, handles);
    osc_ze_end();
}

static void after_execute(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_command_queue_execute_command_lists_params_t *const p = params;

    OSC_ZE_UNUSED;
    end_all(*p->pnumCommandLists, *p->pphCommandLists, result);
}

/* NAME, which executes lists on the queue of the immediate list TO, begins. */
static void append_all(osc_name name, ze_command_list_handle_t to, uint32_t n,
                       const ze_command_list_handle_t *handles)
{
    const struct osc_ze_list *const l = osc_ze_list_of(to);

    submit_all(n, handles, l ? l->queue : 0, osc_ze_begin(name));
}

static void before_append_lists(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_append_lists *const p = params;

    OSC_ZE_UNUSED;
    append_all(OSC_SOURCE_NAME("zeCommandListImmediateAppendCommandListsExp"),
               *p->phCommandListImmediate, *p->pnumCommandLists, *p->pphCommandLists);
}

static void after_append_lists(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_append_lists *const p = params;

    OSC_ZE_UNUSED;
    end_all(*p->pnumCommandLists, *p->pphCommandLists, result);
}

static void before_append_lists_more(void *params, ze_result_t result, void *tracer,
                                     void **call)
{
    const struct osc_ze_append_lists_with_parameters *const p = params;

    OSC_ZE_UNUSED;
    append_all(OSC_SOURCE_NAME("zeCommandListImmediateAppendCommandListsWithParameters"),
               *p->phCommandListImmediate, *p->pnumCommandLists, *p->pphCommandLists);
}

static void after_append_lists_more(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_append_lists_with_parameters *const p = params;

    OSC_ZE_UNUSED;
    end_all(*p->pnumCommandLists, *p->pphCommandLists, result);
}

/* --- graphs ------------------------------------------------------------------------------ */

static void after_capture_begin(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS)
        osc_ze_captures(1);
}

static void after_capture_end(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS)
        osc_ze_captures(-1);
}

static void before_append_graph(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_append_graph *const p = params;

    OSC_ZE_UNUSED;
    if (osc_ze_begin(OSC_SOURCE_NAME("zeCommandListAppendGraphExt")) &&
        !osc_ze_is_captured(*p->phCommandList))
        osc_ze_count(OSC_ZE_COUNT_GRAPHS, 1);
}

static void after_append_graph(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    osc_ze_end();
}

const struct osc_ze_hook osc_ze_hooks_lists[] = {
    {"CommandQueueCreate", NULL, after_queue_create},
    {"CommandListCreate", NULL, after_list_create},
    {"CommandListCreateImmediate", NULL, after_list_create_immediate},
    {"CommandListDestroy", before_list_destroy, NULL},
    {"CommandListReset", before_list_reset, NULL},
    {"ContextDestroy", before_context_destroy, NULL},
    {"CommandQueueExecuteCommandLists", before_execute, after_execute},
    {"CommandListImmediateAppendCommandListsExp", before_append_lists, after_append_lists},
    {"CommandListImmediateAppendCommandListsWithParameters", before_append_lists_more,
     after_append_lists_more},
    {"CommandListBeginGraphCaptureExt", NULL, after_capture_begin},
    {"CommandListBeginCaptureIntoGraphExt", NULL, after_capture_begin},
    {"CommandListEndGraphCaptureExt", NULL, after_capture_end},
    {"CommandListAppendGraphExt", before_append_graph, after_append_graph},
    {0}};
