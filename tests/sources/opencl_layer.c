/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer for tests/sources/opencl.py that makes a driver another one:
 *
 *     -DREFUSES    it makes no queue that takes times
 *     -DEXTENDS    it has clCreateCommandQueueWithPropertiesKHR()
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <string.h>

#define N (sizeof(cl_icd_dispatch) / sizeof(void *))

static cl_icd_dispatch below, ours;

#ifdef REFUSES
static cl_command_queue refuse(cl_int *error)
{
    if (error)
        *error = CL_INVALID_QUEUE_PROPERTIES;
    return NULL;
}

static cl_command_queue create(cl_context context, cl_device_id device,
                               cl_command_queue_properties flags, cl_int *error)
{
    return flags & CL_QUEUE_PROFILING_ENABLE
               ? refuse(error)
               : below.clCreateCommandQueue(context, device, flags, error);
}
#endif

static cl_command_queue create_with(cl_context context, cl_device_id device,
                                    const cl_queue_properties *list, cl_int *error)
{
#ifdef REFUSES
    for (const cl_queue_properties *p = list; p && *p; p += 2)
        if (p[0] == CL_QUEUE_PROPERTIES && p[1] & CL_QUEUE_PROFILING_ENABLE)
            return refuse(error);
#endif
    return below.clCreateCommandQueueWithProperties(context, device, list, error);
}

#ifdef EXTENDS
static void *find(cl_platform_id platform, const char *name)
{
    if (strcmp(name, "clCreateCommandQueueWithPropertiesKHR") == 0)
        return (void *)create_with;
    return below.clGetExtensionFunctionAddressForPlatform(platform, name);
}
#endif

cl_int clGetLayerInfo(cl_uint what, size_t room, void *value, size_t *bytes)
{
    if (what != 0x4240 || room < sizeof(cl_uint))
        return CL_INVALID_VALUE;
    *(cl_uint *)value = 100;
    if (bytes)
        *bytes = sizeof(cl_uint);
    return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                   const cl_icd_dispatch **table)
{
    memcpy(&below, target, (n < N ? n : N) * sizeof(void *));
#ifdef REFUSES
    ours.clCreateCommandQueue = create;
    ours.clCreateCommandQueueWithProperties = create_with;
#endif
#ifdef EXTENDS
    ours.clGetExtensionFunctionAddressForPlatform = find;
#endif
    *n_ours = N < n ? (cl_uint)N : n;
    *table = &ours;
    return CL_SUCCESS;
}

cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ours,
                                 const cl_icd_dispatch **table, const void *properties)
{
    (void)properties;
    return clInitLayer(n, target, n_ours, table);
}
