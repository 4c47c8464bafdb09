/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_names.h"

#include <ctype.h>
#include <string.h>

/* --- calls and collectives, by family ------------------------------------------------------
 */

typedef const char *const *words; /* ends in NULL */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A list that is NULL is empty. Lists of calls have whole names. */
struct family {
    const char *device; /* the family of devices that these calls drive; NULL: any */
    words prefixes;     /* of such calls, each before a capital letter */
    words launches;     /* calls that always launch something; launch_parts tells the others */
    words syncs;        /* synchronous copies also wait for the device */
    words allocators;
    words graphs;
    words backends; /* prefixes of names of collectives on the host */
};

static const struct family cuda = {
    .device = "cuda",
    .prefixes = WORDS("cuda", "cu"),
    .syncs = WORDS("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                   "cudaThreadSynchronize", "cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3D",
                   "cudaMemcpyFromSymbol", "cudaMemcpyToSymbol", "cuCtxSynchronize",
                   "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoH_v2",
                   "cuMemcpyHtoD_v2"),
    .allocators =
        WORDS("cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemCreate",
              "cuMemRelease", "cuMemMap", "cuMemUnmap", "cuMemSetAccess"),
    .graphs = WORDS("cudaGraphLaunch", "cuGraphLaunch"),
    .backends = WORDS("nccl:"), /* for RCCL, too */
};

static const struct family hip = {
    .device = "hip",
    .prefixes = WORDS("hip"),
    .syncs = WORDS("hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize",
                   "hipMemcpy", "hipMemcpyWithStream"),
    .allocators = WORDS("hipMalloc", "hipFree"),
    .graphs = WORDS("hipGraphLaunch"),
};

/* Level Zero and the Unified Runtime above it, which drive devices of several families. */
static const struct family xpu = {
    .launches = WORDS("zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryFill",
                      "urEnqueueKernelLaunch", "urEnqueueCooperativeKernelLaunchExp",
                      "urEnqueueUSMMemcpy", "urEnqueueUSMMemcpy2D", "urEnqueueUSMFill"),
    .syncs = WORDS("zeCommandListHostSynchronize", "zeCommandQueueSynchronize",
                   "zeEventHostSynchronize", "zeFenceHostSynchronize", "urEventWait",
                   "urQueueFinish"),
    .allocators = WORDS("zeMemFree", "zeMemAllocDevice", "urUSMFree", "urUSMDeviceAlloc"),
    .backends = WORDS("xccl:", "oneccl"),
};

static const struct family opencl = {
    .launches = WORDS("clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clEnqueueWriteBuffer",
                      "clEnqueueCopyBuffer", "clEnqueueFillBuffer", "clEnqueueSVMMemcpy",
                      "clEnqueueSVMMemFill"),
    .syncs = WORDS("clFinish", "clWaitForEvents"),
};

static const struct family npu = {
    .device = "npu",
    .prefixes = WORDS("aclrt", "aclmdl"),
    .syncs = WORDS("aclrtSynchronizeDevice", "aclrtSynchronizeStream", "aclrtSynchronizeEvent",
                   "aclrtSynchronizeDeviceWithTimeout", "aclrtSynchronizeStreamWithTimeout",
                   "aclrtSynchronizeEventWithTimeout", "aclrtMemcpy"),
    .allocators = WORDS("aclrtMalloc", "aclrtFree", "aclrtMallocPhysical", "aclrtFreePhysical",
                        "aclrtMapMem", "aclrtUnmapMem"),
    .graphs = WORDS("aclmdlRIExecuteAsync"),
    .backends = WORDS("hccl:", "Hccl", "hcom_"), /* hpu has the first, too */
};

static const struct family hpu = {
    .device = "hpu",
    .prefixes = WORDS("syn"),
    .launches = WORDS("synLaunch", "synLaunchExt", "synMemCopyAsync"),
    .syncs = WORDS("synDeviceSynchronize", "synStreamSynchronize", "synEventSynchronize"),
    .allocators = WORDS("synDeviceMalloc", "synDeviceFree"),
};

/* What belongs to no single family; c10d is PyTorch's own. */
static const struct family any = {
    .backends = WORDS("gloo:", "mpi:", "ucc:", "c10d::", "_c10d_functional::",
                      "c10d_functional::", "symm_mem::", "MPI_"),
};

static const struct family *const families[] = {&cuda, &hip, &xpu, &opencl,
                                                &npu,  &hpu, &any, NULL};

/* Parts of names of device kernels that communicate, in lower case. */
static const char *const comm_kernels[] = {
    "nccl",                 /* NCCL and NCCLX, RCCL on ROCm */
    "rccl",                 /* RCCL */
    "msccl",                /* MSCCL, MSCCL++ */
    "oneccl",               /* oneCCL */
    "hccl",                 /* HCCL, of Huawei and of Habana */
    "hcom_",                /* HCCL: its operators on the device */
    "cncl",                 /* CNCL of Cambricon */
    "mccl",                 /* MCCL of Moore Threads and MetaX */
    "bkcl",                 /* BKCL of Kunlunxin */
    "nvshmem",              /* NVSHMEM */
    "_on_stream_kernel",    /* NVSHMEM: barriers and collectives on a stream */
    "rocshmem",             /* rocSHMEM */
    "userbuffers",          /* Transformer Engine, TensorRT-LLM */
    "deep_ep",              /* DeepEP */
    "hybrid_ep",            /* DeepEP */
    "internode",            /* DeepEP and its relatives: UCCL, MORI */
    "intranode",            /* the same */
    "epdispatch",           /* MORI */
    "epcombine",            /* MORI */
    "moea2a",               /* TensorRT-LLM, FlashInfer: experts */
    "moedistribute",        /* CANN: experts */
    "a2a_dispatch",         /* Perplexity's kernels: experts */
    "a2a_combine",          /* the same */
    "cross_device_reduce",  /* vLLM, SGLang, aiter */
    "quickreduce",          /* quick reduce of vLLM, SGLang, aiter */
    "::ar_fusion::",        /* TensorRT-LLM */
    "lamport",              /* TensorRT-LLM, FlashInfer: what waits for others' data */
    "multimem_",            /* PyTorch's symmetric memory */
    "symmetric_memory::",   /* PyTorch's symmetric memory: barriers and signals */
    "collective-permute",   /* XLA */
    "collective-broadcast", /* XLA */
    "allreduce",            /* the operations, in the spellings of all libraries */
    "all_reduce",
    "all-reduce",
    "allgather",
    "all_gather",
    "all-gather",
    "reducescatter",
    "reduce_scatter",
    "reduce-scatter",
    "alltoall",
    "all_to_all",
    "all-to-all",
    NULL};

/* Parts of names of kernels that reach no other device: reductions within a block of threads,
 * and what DeepEP computes before it sends. */
static const char *const local_kernels[] = {"warpallreduce",   "warp_all_reduce",
                                            "blockallreduce",  "block_all_reduce",
                                            "dispatch_layout", NULL};

/* Kernels that a compiler made, of the operators around a collective: they wait for it. */
static const char *const fused_prefix = "triton_";

/* Parts of names of calls that give memory back, among those of allocators. */
static const char *const free_parts[] = {"Free", "Release", "Unmap", NULL};

/* Parts of names of calls that launch work, in the families whose interfaces follow that of
 * CUDA. */
static const char *const launch_parts[] = {"LaunchKernel", "LaunchCooperativeKernel",
                                           "GraphLaunch",  "MemcpyAsync",
                                           "MemsetAsync",  NULL};

/* Another name of a collective, matched as a whole. */
static const char *const comm_params = "record_param_comms";

static const char *const comm_args[] = {"Collective name", "Process Group Name", NULL};

/* The backends that torch.profiler knows. */
static const char *const torch_backends[] = {"gloo:", "nccl:", "mpi:", "ucc:", "xccl:", NULL};

/* The collectives that TensorBoard's plugin knows: a backend, then an operation. */
static const char *const plugin_backends[] = {"nccl:", "gloo:", NULL};
static const char *const plugin_collectives[] = {"broadcast",  "reduce",         "all_reduce",
                                                 "all_gather", "reduce_scatter", NULL};

/* --- devices ------------------------------------------------------------------------------ */

/* Indexed by c10::DeviceType. */
static const char *const device_types[] = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuse1"};

/* -------------------------------------------------------------------------------------------
 */

static bool equals_any(struct osc_str s, words list)
{
    for (; list && *list; list++) {
        if (osc_str_eq(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

static bool has_any(struct osc_str s, words list)
{
    for (; list && *list; list++) {
        if (osc_str_has(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

static bool starts_with_any(struct osc_str s, words list)
{
    for (; list && *list; list++) {
        if (osc_str_starts(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

unsigned osc_known_call(struct osc_str name)
{
    unsigned does = has_any(name, launch_parts) ? OSC_CALL_LAUNCH : 0;

    for (size_t i = 0; families[i]; i++) {
        if (equals_any(name, families[i]->launches))
            does |= OSC_CALL_LAUNCH;
        if (equals_any(name, families[i]->syncs))
            does |= OSC_CALL_SYNC;
        if (equals_any(name, families[i]->allocators))
            does |= OSC_CALL_ALLOCATOR | (has_any(name, free_parts) ? OSC_CALL_FREE : 0u);
        if (equals_any(name, families[i]->graphs))
            does |= OSC_CALL_GRAPH;
    }
    return does;
}

static bool has_prefix(struct osc_str name, words prefixes)
{
    for (; prefixes && *prefixes; prefixes++) {
        const struct osc_str prefix = osc_str_c(*prefixes);

        if (osc_str_starts(name, prefix) && name.len > prefix.len &&
            name.s[prefix.len] >= 'A' && name.s[prefix.len] <= 'Z')
            return true;
    }
    return false;
}

struct osc_str osc_known_call_device(struct osc_str name)
{
    for (size_t i = 0; families[i]; i++) {
        if (families[i]->device && has_prefix(name, families[i]->prefixes))
            return osc_str_c(families[i]->device);
    }
    return OSC_STR("");
}

static bool has_any_case(struct osc_str s, words list)
{
    for (; *list; list++) {
        if (osc_str_has_case(s, osc_str_c(*list)))
            return true;
    }
    return false;
}

/* Parts of names of copies, in any case, by way. One on devices may have those of others. */
static words copy_ways[OSC_COPY_WAYS] = {
    [OSC_COPY_ON_DEVICES] = WORDS("dtod", "d2d", "ptop", "p2p", "devicetodevice",
                                  "device_to_device", "device -> device"),
    [OSC_COPY_FROM_DEVICE] =
        WORDS("dtoh", "d2h", "devicetohost", "device_to_host", "device -> "),
    [OSC_COPY_TO_DEVICE] = WORDS("htod", "h2d", "hosttodevice", "host_to_device", " -> device"),
};

enum osc_copy_way osc_known_copy_way(struct osc_str name)
{
    enum osc_copy_way way = OSC_COPY_ON_DEVICES;

    while (way > OSC_COPY_UNKNOWN && !has_any_case(name, copy_ways[way]))
        way--;
    return way;
}

bool osc_known_is_comm_kernel(struct osc_str name)
{
    return has_any_case(name, comm_kernels) && !has_any_case(name, local_kernels) &&
           !osc_str_starts(name, osc_str_c(fused_prefix));
}

bool osc_known_is_collective(struct osc_str name)
{
    for (size_t i = 0; families[i]; i++) {
        if (starts_with_any(name, families[i]->backends))
            return true;
    }
    return osc_str_eq(name, osc_str_c(comm_params));
}

bool osc_known_is_torch_collective(struct osc_str name)
{
    return starts_with_any(name, torch_backends);
}

bool osc_known_is_plugin_collective(struct osc_str name)
{
    for (words list = plugin_backends; *list; list++) {
        const struct osc_str backend = osc_str_c(*list);

        if (osc_str_starts(name, backend))
            return equals_any((struct osc_str){name.s + backend.len, name.len - backend.len},
                              plugin_collectives);
    }
    return false;
}

bool osc_known_is_nccl(struct osc_str name)
{
    return starts_with_any(name, cuda.backends);
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
    case '[': /* of Lightning; before torch 1.12 such ranges had the category of operators */
        return osc_str_starts(name, OSC_STR("[pl][module]")) ||
                       osc_str_starts(name, OSC_STR("[pl][profile]"))
                   ? OSC_KIND_ANNOTATION
                   : OSC_KIND_NONE;
    default:
        return osc_known_is_collective(name) ? OSC_KIND_COMMUNICATION : OSC_KIND_NONE;
    }
}

enum osc_kind osc_known_kind(enum osc_kind kind, enum osc_kind label)
{
    if (label == OSC_KIND_STEP || label == OSC_KIND_DATALOADER || label == OSC_KIND_ANNOTATION)
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

struct osc_str osc_known_graphs(struct osc_str family)
{
    if (osc_str_eq(family, OSC_STR("cuda")))
        return OSC_STR("CUDA graphs");
    return osc_str_eq(family, OSC_STR("hip")) ? OSC_STR("HIP graphs") : OSC_STR("");
}

/* Whether TEXT begins with WORD, and no letter follows. */
static bool begins_with_word(struct osc_str text, struct osc_str word)
{
    return osc_str_starts(text, word) &&
           (text.len == word.len || !isalpha((unsigned char)text.s[word.len]));
}

bool osc_known_is_device_process(struct osc_str name, struct osc_str labels)
{
    static const char *const sorts[] = {"GPU", "NPU", "XPU", "TPU", "HPU"};
    const struct osc_str mark = OSC_STR("/device:");
    const char *const at = name.len > 0 ? memmem(name.s, name.len, mark.s, mark.len) : NULL;

    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        if (begins_with_word(labels, osc_str_c(sorts[i])))
            return true;
    }
    if (at) {
        const uint32_t from = (uint32_t)(at - name.s) + mark.len;

        return !begins_with_word((struct osc_str){name.s + from, name.len - from},
                                 OSC_STR("CPU"));
    }
    return osc_str_eq(name, OSC_STR("Ascend Hardware"));
}

bool osc_known_has_tensor_cores(struct osc_str family, int64_t major)
{
    return osc_str_eq(family, OSC_STR("cuda")) && major >= 7;
}

bool osc_known_has_tf32(struct osc_str family, int64_t major)
{
    return osc_str_eq(family, OSC_STR("cuda")) && major >= 8;
}

bool osc_known_has_nccl(struct osc_str family, int64_t major, int64_t minor)
{
    if (osc_str_eq(family, OSC_STR("hip")))
        return true; /* RCCL, which PyTorch for ROCm calls so */
    return osc_str_eq(family, OSC_STR("cuda")) && (major > 3 || (major == 3 && minor >= 5));
}
