/* SPDX-License-Identifier: Apache-2.0 */
/* fake_tables.c - what loaders ask of the driver of the tests, and it does not have. */
#include <level_zero/ze_api.h>

#define API __attribute__((visibility("default")))

/* Tables that the loader asks for and that stay empty. */
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
