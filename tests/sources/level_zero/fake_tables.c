/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_tables.c - tables of the driver of the tests that our headers do not have, and those
 * that stay empty.
 */
#include <stddef.h>

#include "fake_driver.h"

#define API __attribute__((visibility("default")))

/* --- newer calls ------------------------------------------------------------------------- */

struct size { /* ze_group_size_t */
    uint32_t x, y, z;
};

static ze_result_t ze_launch_with_parameters(ze_command_list_handle_t list,
                                             ze_kernel_handle_t kernel,
                                             const ze_group_count_t *groups, const void *more,
                                             ze_event_handle_t signal, uint32_t n,
                                             ze_event_handle_t *waits)
{
    (void)more;
    return fake_append_kernel(list, kernel, groups, signal, n, waits);
}

static ze_result_t ze_launch_with_arguments(ze_command_list_handle_t list,
                                            ze_kernel_handle_t kernel, ze_group_count_t groups,
                                            struct size block, void **arguments,
                                            const void *more, ze_event_handle_t signal,
                                            uint32_t n, ze_event_handle_t *waits)
{
    (void)arguments;
    (void)more;
    if (block.x * block.y * block.z == 0)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    return fake_append_kernel(list, kernel, &groups, signal, n, waits);
}

static ze_result_t ze_copy_with_parameters(ze_command_list_handle_t list, void *to,
                                           const void *from, size_t bytes, const void *more,
                                           ze_event_handle_t signal, uint32_t n,
                                           ze_event_handle_t *waits)
{
    (void)more;
    return ze_append_copy(list, to, from, bytes, signal, n, waits);
}

static ze_result_t ze_fill_with_parameters(ze_command_list_handle_t list, void *to,
                                           const void *pattern, size_t pattern_bytes,
                                           size_t bytes, const void *more,
                                           ze_event_handle_t signal, uint32_t n,
                                           ze_event_handle_t *waits)
{
    (void)more;
    return ze_append_fill(list, to, pattern, pattern_bytes, bytes, signal, n, waits);
}

static ze_result_t ze_append_lists(ze_command_list_handle_t to, uint32_t n_lists,
                                   ze_command_list_handle_t *lists, const void *more,
                                   ze_event_handle_t signal, uint32_t n,
                                   ze_event_handle_t *waits)
{
    (void)more;
    (void)signal;
    (void)n;
    (void)waits;
    return fake_execute((ze_command_queue_handle_t)(void *)to, n_lists, lists, NULL);
}

static ze_result_t begin_capture(ze_command_list_handle_t list, const void *more)
{
    (void)more;
    fake_capture(list, NULL);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t is_captured(ze_command_list_handle_t list)
{
    return (ze_result_t)(fake_is_captured(list) ? 0x78000022 : 0x78000023);
}

static ze_result_t end_capture(ze_command_list_handle_t list, const void *more, void **graph)
{
    (void)more;
    fake_capture(list, (ze_command_list_handle_t *)graph);
    return ZE_RESULT_SUCCESS;
}

/* Graphs need not be made executable here. */
static ze_result_t append_graph(ze_command_list_handle_t list, void *graph, const void *more,
                                ze_event_handle_t signal, uint32_t n, ze_event_handle_t *waits)
{
    return ze_append_lists(list, 1, (ze_command_list_handle_t *)&graph, more, signal, n, waits);
}

/* The table of command lists in 1.17, without the types of what stays empty. */
struct lists_table {
    void (*until_1_8[28])(void);
    void (*until_1_13[8])(void);
    __typeof__(&ze_launch_with_parameters) launch_with_parameters; /* 1.14 */
    __typeof__(&ze_launch_with_arguments) launch_with_arguments;
    __typeof__(&ze_copy_with_parameters) copy_with_parameters; /* 1.16 */
    __typeof__(&ze_fill_with_parameters) fill_with_parameters;
    __typeof__(&ze_append_lists) append_lists;
    void (*flags_and_modes[4])(void); /* 1.17 */
    __typeof__(&begin_capture) begin_capture;
    void (*begin_capture_into)(void);
    __typeof__(&is_captured) is_captured;
    __typeof__(&end_capture) end_capture;
    void (*graph_of)(void);
    __typeof__(&append_graph) append_graph;
};

void fake_fill_later(ze_api_version_t version, void *table)
{
    struct lists_table *const t = table;

    if ((unsigned)version >= ZE_MAKE_VERSION(1, 14)) {
        t->launch_with_parameters = ze_launch_with_parameters;
        t->launch_with_arguments = ze_launch_with_arguments;
    }
    if ((unsigned)version >= ZE_MAKE_VERSION(1, 16)) {
        t->copy_with_parameters = ze_copy_with_parameters;
        t->fill_with_parameters = ze_fill_with_parameters;
        t->append_lists = ze_append_lists;
    }
    if ((unsigned)version >= ZE_MAKE_VERSION(1, 17)) {
        t->begin_capture = begin_capture;
        t->is_captured = is_captured;
        t->end_capture = end_capture;
        t->append_graph = append_graph;
    }
}

/* --- tables that the loader asks for and that stay empty --------------------------------- */

API ze_result_t empty_table(ze_api_version_t version, void *table);

ze_result_t empty_table(ze_api_version_t version, void *table)
{
    (void)version;
    (void)table;
    return ZE_RESULT_SUCCESS;
}

#define EMPTY(name) ".globl " name "ProcAddrTable\n.set " name "ProcAddrTable, empty_table\n"

/* clang-format off */
__asm__(
    EMPTY("zeGetDeviceExp") EMPTY("zeGetEventExp") EMPTY("zeGetFabricEdgeExp")
    EMPTY("zeGetFabricVertexExp") EMPTY("zeGetFence") EMPTY("zeGetImageExp")
    EMPTY("zeGetImage") EMPTY("zeGetKernelExp") EMPTY("zeGetModuleBuildLog")
    EMPTY("zeGetPhysicalMem") EMPTY("zeGetSampler") EMPTY("zeGetVirtualMem")
    EMPTY("zesGetDevice") EMPTY("zesGetDiagnostics") EMPTY("zesGetDriver")
    EMPTY("zesGetEngine") EMPTY("zesGetFabricPort") EMPTY("zesGetFan")
    EMPTY("zesGetFirmware") EMPTY("zesGetFrequency") EMPTY("zesGetLed")
    EMPTY("zesGetMemory") EMPTY("zesGetPerformanceFactor") EMPTY("zesGetPower")
    EMPTY("zesGetPsu") EMPTY("zesGetRas") EMPTY("zesGetScheduler")
    EMPTY("zesGetStandby") EMPTY("zesGetTemperature") EMPTY("zetGetCommandList")
    EMPTY("zetGetContext") EMPTY("zetGetDebug") EMPTY("zetGetDevice")
    EMPTY("zetGetKernel") EMPTY("zetGetMetricGroupExp") EMPTY("zetGetMetricGroup")
    EMPTY("zetGetMetric") EMPTY("zetGetMetricQueryPool") EMPTY("zetGetMetricQuery")
    EMPTY("zetGetMetricStreamer") EMPTY("zetGetModule") EMPTY("zetGetTracerExp"));
/* clang-format on */
