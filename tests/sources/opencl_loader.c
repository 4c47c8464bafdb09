/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader of OpenCL for tests/sources/opencl.py: the library libOpenCL.so.1 with the functions
 * that opencl.c calls, in front of PoCL's table.
 *
 *     -DLAYERS    with the layers of OPENCL_LAYERS, as Khronos's loader since 2026 has them: it
 *                 calls clInitLayerWithProperties(), and clDeinitLayer() when it is unloaded
 *     -DOLD       with these layers, but only the functions of OpenCL 1.2
 *     otherwise   without layers, as loaders before 2020 were
 *     -DSLOW      it counts its platforms for 3 ms
 *
 * x86-64: each function is a jump through the table, so that it needs no argument by name.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OLD
#define LAYERS
#define N (offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties) / sizeof(void *))
#else
#define N (sizeof(cl_icd_dispatch) / sizeof(void *))
#endif

/* What the functions call; `loader_table` for the assembler. */
__attribute__((used)) static cl_icd_dispatch table __asm__("loader_table") = {NULL};
static cl_icd_dispatch driver;
static cl_platform_id platform;

#define FUNCTION(name)                                                                      \
    void jump_##name(void) __asm__("cl" #name);                                             \
    __attribute__((naked)) void jump_##name(void)                                           \
    {                                                                                       \
        __asm__("jmp *loader_table+%c0(%%rip)" ::"i"(offsetof(cl_icd_dispatch, cl##name))); \
    }
FUNCTION(GetDeviceIDs)
FUNCTION(CreateSubDevices)
FUNCTION(CreateContext)
FUNCTION(CreateCommandQueue)
FUNCTION(CreateCommandQueueWithProperties)
FUNCTION(GetCommandQueueInfo)
FUNCTION(CreateProgramWithSource)
FUNCTION(BuildProgram)
FUNCTION(CreateKernel)
FUNCTION(CreateBuffer)
FUNCTION(EnqueueWriteBuffer)
FUNCTION(SetKernelArg)
FUNCTION(EnqueueNDRangeKernel)
FUNCTION(WaitForEvents)
FUNCTION(GetEventProfilingInfo)
FUNCTION(EnqueueCopyBuffer)
FUNCTION(EnqueueBarrierWithWaitList)
FUNCTION(EnqueueMapBuffer)
FUNCTION(EnqueueUnmapMemObject)
FUNCTION(Finish)
FUNCTION(ReleaseEvent)
FUNCTION(EnqueueFillBuffer)
FUNCTION(EnqueueMarkerWithWaitList)
FUNCTION(EnqueueReadBuffer)
FUNCTION(EnqueueMarker)
FUNCTION(CreateUserEvent)
FUNCTION(GetEventInfo)
FUNCTION(Flush)
FUNCTION(SetUserEventStatus)
FUNCTION(SVMAlloc)
FUNCTION(EnqueueSVMFree)
FUNCTION(ReleaseMemObject)
FUNCTION(ReleaseKernel)
FUNCTION(ReleaseProgram)
FUNCTION(ReleaseCommandQueue)
FUNCTION(ReleaseContext)
FUNCTION(GetExtensionFunctionAddressForPlatform)
FUNCTION(GetContextInfo)
FUNCTION(GetDeviceInfo)
FUNCTION(GetImageInfo)
FUNCTION(GetKernelInfo)
FUNCTION(GetMemObjectInfo)
FUNCTION(RetainEvent)
FUNCTION(SetEventCallback)
FUNCTION(SetMemObjectDestructorCallback)

static cl_int get_platforms(cl_uint room, cl_platform_id *all, cl_uint *n)
{
#ifdef SLOW
    if (!all)
        usleep(3000);
#endif
    if (all && room > 0)
        *all = platform;
    if (n)
        *n = 1;
    return CL_SUCCESS;
}

/* Loaders answer CL_INVALID_COMMAND_QUEUE for NULL, with which PoCL would crash. */
__attribute__((naked)) static void enqueue_kernel(void)
{
    __asm__("test %%rdi, %%rdi\njz 1f\nmov (%%rdi), %%rax\njmp *%c0(%%rax)\n"
            "1: mov $-36, %%eax\nret" ::"i"(offsetof(cl_icd_dispatch, clEnqueueNDRangeKernel)));
}

#ifdef LAYERS
typedef cl_int (*get_info)(cl_uint what, size_t room, void *value, size_t *bytes);
typedef cl_int (*init)(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_layer,
                       const cl_icd_dispatch **layer, const void *properties);

static void *layers[8];
static unsigned n_layers;

__attribute__((destructor)) static void end_layers(void)
{
    while (n_layers > 0) {
        cl_int (*const end)(void) = (cl_int(*)(void))dlsym(layers[--n_layers], "clDeinitLayer");

        if (end)
            (void)end();
    }
}

/* Put the layer at PATH before what is there. */
static void add_layer(const char *path)
{
    static cl_icd_dispatch targets[8];
    void *const lib = dlopen(path, RTLD_NOW);
    const get_info info = lib ? (get_info)dlsym(lib, "clGetLayerInfo") : NULL;
    const init begin = lib ? (init)dlsym(lib, "clInitLayerWithProperties") : NULL;
    const cl_icd_dispatch *layer;
    cl_uint version = 0, n = 0;

    if (!info || !begin || n_layers == 8 ||
        info(0x4240, sizeof version, &version, NULL) != CL_SUCCESS || version != 100)
        return;
    targets[n_layers] = table;
    layers[n_layers] = lib;
    if (begin(N, &targets[n_layers++], &n, &layer, NULL) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < n; i++) {
        void *function;

        memcpy(&function, (const char *)layer + i * sizeof function, sizeof function);
        if (function)
            memcpy((char *)&table + i * sizeof function, &function, sizeof function);
    }
}

static void add_layers(void)
{
    char list[4096] = "", *rest = list, *path;
    const char *const given = getenv("OPENCL_LAYERS");

    strncpy(list, given ? given : "", sizeof list - 1);
    while ((path = strsep(&rest, ":")))
        if (*path)
            add_layer(path);
}
#else
static void add_layers(void)
{
}
#endif

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *all, cl_uint *n)
{
    typedef void *(*get_address)(const char *name);
    typedef cl_int (*get_all)(cl_uint room, cl_platform_id * all, cl_uint * n);

    if (!platform) {
        void *const lib = dlopen("libpocl.so.2", RTLD_NOW);
        const get_address address =
            lib ? (get_address)dlsym(lib, "clGetExtensionFunctionAddress") : NULL;
        const get_all ask = address ? (get_all)address("clIcdGetPlatformIDsKHR") : NULL;
        void (*const enqueue)(void) = enqueue_kernel;
        cl_uint found = 0;

        if (!ask || ask(1, &platform, &found) != CL_SUCCESS || found == 0)
            return -1001;
        driver = **(cl_icd_dispatch **)platform;
        driver.clGetPlatformIDs = get_platforms;
        memcpy(&driver.clEnqueueNDRangeKernel, &enqueue, sizeof enqueue);
        table = driver;
        add_layers();
    }
    return table.clGetPlatformIDs(room, all, n);
}
