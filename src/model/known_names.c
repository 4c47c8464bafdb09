/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_names.h"

#include <string.h>

/* --- calls, by family -------------------------------------------------------------------- */

/* The lists end in NULL. */
struct family {
    const char *device;            /* the family of devices that these calls drive; NULL: any */
    const char *const *prefixes;   /* of such calls, each before a capital letter */
    const char *const *syncs;      /* whole names */
    const char *const *allocators; /* whole names */
    const char *const *graphs;     /* whole names */
};

/* Synchronous copies also wait for the device. */
static const struct family cuda = {
    .device = "cuda",
    .prefixes = (const char *const[]){"cuda", "cu", NULL},
    .syncs =
        (const char *const[]){"cudaDeviceSynchronize", "cudaStreamSynchronize",
                              "cudaEventSynchronize", "cudaThreadSynchronize", "cudaMemcpy",
                              "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyFromSymbol",
                              "cudaMemcpyToSymbol", "cuCtxSynchronize", "cuStreamSynchronize",
                              "cuEventSynchronize", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2", NULL},
    .allocators = (const char *const[]){"cudaMalloc", "cudaFree", "cuMemAlloc_v2",
                                        "cuMemFree_v2", "cuMemCreate", "cuMemRelease",
                                        "cuMemMap", "cuMemUnmap", "cuMemSetAccess", NULL},
    .graphs = (const char *const[]){"cudaGraphLaunch", "cuGraphLaunch", NULL},
};

static const struct family hip = {
    .device = "hip",
    .prefixes = (const char *const[]){"hip", NULL},
    .syncs =
        (const char *const[]){"hipDeviceSynchronize", "hipStreamSynchronize",
                              "hipEventSynchronize", "hipMemcpy", "hipMemcpyWithStream", NULL},
    .allocators = (const char *const[]){"hipMalloc", "hipFree", NULL},
    .graphs = (const char *const[]){"hipGraphLaunch", NULL},
};

static const struct family level_zero = {
    .syncs = (const char *const[]){"zeCommandListHostSynchronize", "zeCommandQueueSynchronize",
                                   "zeEventHostSynchronize", "zeFenceHostSynchronize", NULL},
    .allocators = (const char *const[]){"zeMemFree", "zeMemAllocDevice", NULL},
    .graphs = (const char *const[]){NULL},
};

static const struct family unified_runtime = {
    .syncs = (const char *const[]){"urEventWait", "urQueueFinish", NULL},
    .allocators = (const char *const[]){"urUSMFree", "urUSMDeviceAlloc", NULL},
    .graphs = (const char *const[]){NULL},
};

static const struct family opencl = {
    .syncs = (const char *const[]){"clFinish", "clWaitForEvents", NULL},
    .allocators = (const char *const[]){NULL},
    .graphs = (const char *const[]){NULL},
};

static const struct family npu = {
    .device = "npu",
    .prefixes = (const char *const[]){"aclrt", "aclmdl", NULL},
    .syncs = (const char *const[]){"aclrtSynchronizeDevice", "aclrtSynchronizeStream",
                                   "aclrtSynchronizeEvent", "aclrtSynchronizeDeviceWithTimeout",
                                   "aclrtSynchronizeStreamWithTimeout",
                                   "aclrtSynchronizeEventWithTimeout", "aclrtMemcpy", NULL},
    .allocators =
        (const char *const[]){"aclrtMalloc", "aclrtFree", "aclrtMallocPhysical",
                              "aclrtFreePhysical", "aclrtMapMem", "aclrtUnmapMem", NULL},
    .graphs = (const char *const[]){"aclmdlRIExecuteAsync", NULL},
};

static const struct family hpu = {
    .device = "hpu",
    .prefixes = (const char *const[]){"syn", NULL},
    .syncs = (const char *const[]){"synDeviceSynchronize", "synStreamSynchronize",
                                   "synEventSynchronize", NULL},
    .allocators = (const char *const[]){"synDeviceMalloc", "synDeviceFree", NULL},
    .graphs = (const char *const[]){NULL},
};

static const struct family *const families[] = {&cuda,   &hip, &level_zero, &unified_runtime,
                                                &opencl, &npu, &hpu};

/* Parts of names of calls that always launch something, in any family. */
static const char *const launches[] = {"LaunchKernel", "LaunchCooperativeKernel",
                                       "GraphLaunch",  "MemcpyAsync",
                                       "MemsetAsync",  NULL};

/* --- collectives -------------------------------------------------------------------------- */

/* Parts of names of device kernels that communicate, in lower case. */
static const char *const comm_kernels[] = {
    "nccl",
    "rccl",
    "oneccl",
    "hccl",
    "msccl",
    "cross_device_reduce",
    "one_shot_all_reduce",
    "two_shot_all_reduce",
    "multimem_all_",
    "nvshmem",
    "deep_ep",
    "userbuffers",
    NULL,
};

/* Prefixes of names of collectives on the host, by backend; c10d is PyTorch's own. */
static const char *const backends[] = {
    "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", "c10d::", NULL,
};

/* Another such name, matched as a whole. */
static const char *const comm_params = "record_param_comms";

static const char *const comm_args[] = {"Collective name", "Process Group Name", NULL};

/* --- devices ------------------------------------------------------------------------------ */

/* Indexed by c10::DeviceType. */
static const char *const device_types[] = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuse1"};

/* -------------------------------------------------------------------------------------------
 */

static bool equals_any(struct osc_str s, const char *const *list)
{
    for (; *list; list++) {
        if (osc_str_eq(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

static bool has_any(struct osc_str s, const char *const *list)
{
    for (; *list; list++) {
        if (osc_str_has(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

static bool starts_with_any(struct osc_str s, const char *const *list)
{
    for (; *list; list++) {
        if (osc_str_starts(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

unsigned osc_known_call(struct osc_str name)
{
    unsigned does = has_any(name, launches) ? OSC_CALL_LAUNCH : 0;

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (equals_any(name, families[i]->syncs))
            does |= OSC_CALL_SYNC;
        if (equals_any(name, families[i]->allocators))
            does |= OSC_CALL_ALLOCATOR;
        if (equals_any(name, families[i]->graphs))
            does |= OSC_CALL_GRAPH;
    }
    return does;
}

static bool has_prefix(struct osc_str name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++) {
        const struct osc_str prefix = osc_str_c(*prefixes);

        if (osc_str_starts(name, prefix) && name.len > prefix.len &&
            name.s[prefix.len] >= 'A' && name.s[prefix.len] <= 'Z')
            return true;
    }
    return false;
}

struct osc_str osc_known_call_device(struct osc_str name)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (families[i]->device && has_prefix(name, families[i]->prefixes))
            return osc_str_c(families[i]->device);
    }
    return OSC_STR("");
}

bool osc_known_is_comm_kernel(struct osc_str name)
{
    for (const char *const *part = comm_kernels; *part; part++) {
        if (osc_str_has_case(name, osc_str_c(*part)))
            return true;
    }
    return false;
}

bool osc_known_is_collective(struct osc_str name)
{
    return starts_with_any(name, backends) || osc_str_eq(name, osc_str_c(comm_params));
}

bool osc_known_is_collective_arg(struct osc_str key)
{
    return equals_any(key, comm_args);
}

bool osc_known_is_step(struct osc_str name)
{
    const struct osc_str prefix = OSC_STR(OSC_KNOWN_STEP);

    if (!osc_str_starts(name, prefix) || name.len == prefix.len)
        return false;
    for (uint32_t i = prefix.len; i < name.len; i++) {
        if (name.s[i] < '0' || name.s[i] > '9')
            return false;
    }
    return true;
}

enum osc_kind osc_known_label(struct osc_str name)
{
    if (name.len == 0)
        return OSC_KIND_NONE;
    switch (name.s[0]) { /* most names are none of these: reject them after a few bytes */
    case 'P':
        return osc_known_is_step(name) ? OSC_KIND_STEP : OSC_KIND_NONE;
    case 'e':
        return osc_str_starts(name, OSC_STR("enumerate(DataPipe)#")) ||
                       (osc_str_starts(name, OSC_STR("enumerate(DataLoader)#")) &&
                        osc_str_ends(name, OSC_STR(".__next__")))
                   ? OSC_KIND_DATALOADER
                   : OSC_KIND_NONE;
    case 'O':
        return osc_str_starts(name, OSC_STR("Optimizer.step")) ? OSC_KIND_OPTIMIZER
                                                               : OSC_KIND_NONE;
    default:
        return osc_known_is_collective(name) ? OSC_KIND_COMMUNICATION : OSC_KIND_NONE;
    }
}

enum osc_kind osc_known_kind(enum osc_kind kind, enum osc_kind label)
{
    if (label == OSC_KIND_STEP || label == OSC_KIND_DATALOADER)
        return label;
    return label != OSC_KIND_NONE && kind == OSC_KIND_ANNOTATION ? label : kind;
}

const char *osc_known_device_type(uint32_t number)
{
    return number < sizeof device_types / sizeof *device_types ? device_types[number] : NULL;
}

int32_t osc_known_device_number(struct osc_str family)
{
    for (size_t i = 0; i < sizeof device_types / sizeof *device_types; i++) {
        if (osc_str_eq(family, osc_str_c(device_types[i])))
            return (int32_t)i;
    }
    return -1;
}

struct osc_str osc_known_device_word(struct osc_str family)
{
    if (osc_str_eq(family, OSC_STR("hip")))
        return OSC_STR("cuda");
    return osc_known_device_number(family) >= 0 ? family : OSC_STR("privateuse1");
}

bool osc_known_has_tensor_cores(struct osc_str family, int64_t major)
{
    return osc_str_eq(family, OSC_STR("cuda")) && major >= 7;
}

bool osc_known_has_nccl(struct osc_str family, int64_t major, int64_t minor)
{
    if (osc_str_eq(family, OSC_STR("hip")))
        return true; /* RCCL, which PyTorch for ROCm calls so */
    return osc_str_eq(family, OSC_STR("cuda")) && (major > 3 || (major == 3 && minor >= 5));
}
