/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_layer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "opscope/record.h"
#include "sources/opencl/cl_work.h"

/* Of cl_layer.h, whose older editions lack the last of the functions below. */
enum layer_info { LAYER_API_VERSION = 0x4240, LAYER_NAME = 0x4241 };
#define LAYER_API_VERSION_100 100

#define N_FUNCTIONS (sizeof(cl_icd_dispatch) / sizeof(void *))

static cl_icd_dispatch ours;
static _Atomic uint32_t is_begun;

/* What loaders look up. NOLINTBEGIN(readability-identifier-naming) */
OSC_API cl_int clGetLayerInfo(cl_uint what, size_t room, void *value, size_t *bytes);
OSC_API cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                           const cl_icd_dispatch **table);
OSC_API cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target,
                                         cl_uint *n_ours, const cl_icd_dispatch **table,
                                         const void *properties);
OSC_API cl_int clDeinitLayer(void);

cl_int clGetLayerInfo(cl_uint what, size_t room, void *value, size_t *bytes)
{
    static const cl_uint version = LAYER_API_VERSION_100;
    static const char name[] = "opscope";
    const void *const answer = what == LAYER_NAME ? (const void *)name : &version;
    const size_t n = what == LAYER_NAME ? sizeof name : sizeof version;

    if ((what != LAYER_NAME && what != LAYER_API_VERSION) || (value && room < n))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, n);
    if (bytes)
        *bytes = n;
    return CL_SUCCESS;
}

/* Whether the functions of TARGET are those of another copy of this library. */
static bool is_of_collector(const cl_icd_dispatch *target)
{
    void *function, *library = NULL;
    Dl_info where;

    memcpy(&function, &target->clFinish, sizeof function);
    if (function && dladdr(function, &where))
        library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    const bool is = dlsym(library, "opscope_collect_start") != NULL;
    dlclose(library);
    return is;
}

/* Fill the table; NULL in it means the function below. TEXT is the report. */
static void begin(cl_uint n, const cl_icd_dispatch *target, const char *text)
{
    memset(&osc_cl, 0, sizeof osc_cl);
    memcpy(&osc_cl, target, (n < N_FUNCTIONS ? n : N_FUNCTIONS) * sizeof(void *));
    osc_cl_add_calls(&ours);
    osc_cl_add_commands(&ours);
    osc_cl_add_copies(&ours);
    osc_cl_add_kernels(&ours);
    osc_cl_add_memory(&ours);
    osc_cl_add_queues(&ours);
    osc_cl_work_begin();
    osc_source_begin();
    osc_source_report(&osc_source_opencl, text);
}

cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                   const cl_icd_dispatch **table)
{
    if (!target || !n_ours || !table)
        return CL_INVALID_VALUE;
    /* Relaxed: loaders initialise layers one by one. One that is listed twice records once. */
    if (osc_source_is_wanted(&osc_source_opencl) && !is_of_collector(target) &&
        atomic_exchange_explicit(&is_begun, 1, memory_order_relaxed) == 0) {
        char text[64];

        (void)snprintf(text, sizeof text, "a layer before %u functions", n);
        begin(n, target, text);
        *table = &ours;
    } else {
        static const cl_icd_dispatch none;

        *table = &none;
    }
    *n_ours = N_FUNCTIONS < n ? (cl_uint)N_FUNCTIONS : n;
    return CL_SUCCESS;
}

cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                                 const cl_icd_dispatch **table, const void *properties)
{
    (void)properties; /* none is defined */
    return clInitLayer(n, target, n_ours, table);
}

/* The loader ends, and may be loaded again. The functions below us stay: a thread of a driver
 * may be about to call one. */
cl_int clDeinitLayer(void)
{
    osc_cl_work_end();
    memset(&ours, 0, sizeof ours);
    atomic_store_explicit(&is_begun, 0, memory_order_relaxed);
    return CL_SUCCESS;
}
/* NOLINTEND(readability-identifier-naming) */

const cl_icd_dispatch *osc_cl_preload(const cl_icd_dispatch *target)
{
    /* What every loader has. Relaxed: one that loads us as a layer has done so before. */
    if (!target->clRetainEvent || !target->clReleaseEvent || !target->clGetEventInfo ||
        !osc_source_is_wanted(&osc_source_opencl) ||
        atomic_exchange_explicit(&is_begun, 1, memory_order_relaxed) != 0)
        return target;
    begin(N_FUNCTIONS, target, "preloaded before a loader without layers");
    return &ours;
}

__attribute__((destructor)) static void end(void)
{
    osc_cl_work_drain();
}
