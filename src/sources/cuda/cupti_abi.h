/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_abi.h - what this library knows of CUPTI: numbers, and where fields lie in records.
 *
 * Each generation of CUDA has records of its own (CUpti_ActivityKernel4 to Kernel13), which
 * only ever got new fields at their end. So a field is read at its offset, and records are
 * never copied as a whole. tests/sources/cuda_layout.py compares all of this with the headers
 * of NVIDIA, which no build needs.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* CUptiResult. */
enum osc_cupti_error {
    OSC_CUPTI_OK = 0,
    OSC_CUPTI_LIMIT = 12, /* of subscribers, in old versions; no more records */
    OSC_CUPTI_NOT_INITIALIZED = 15,
    OSC_CUPTI_SUBSCRIBED = 39, /* somebody else has subscribed */
    OSC_CUPTI_UNKNOWN = 999    /* without a driver, each call */
};

/* CUpti_ActivityKind. */
enum osc_cupti_kind {
    OSC_CUPTI_MEMCPY = 1,
    OSC_CUPTI_MEMSET = 2,
    OSC_CUPTI_DEVICE = 8,
    OSC_CUPTI_CONTEXT = 9,
    OSC_CUPTI_KERNEL = 10, /* CONCURRENT_KERNEL: 3 runs them one by one */
    OSC_CUPTI_OVERHEAD = 17,
    OSC_CUPTI_MEMCPY2 = 22, /* between devices */
    OSC_CUPTI_SYNC = 38,
    OSC_CUPTI_MEMORY2 = 49
};

enum { OSC_CUPTI_FLUSH_FORCED = 1 };

/* From this version of the interface on (CUDA 11.1), records name the graph and its node. */
#define OSC_CUPTI_VERSION_GRAPHS 14u
/* The newest version whose records were compared (CUDA 13.5). */
#define OSC_CUPTI_VERSION_KNOWN 130599u

/* CUpti_CallbackDomain. */
enum osc_cupti_domain { OSC_CUPTI_DRIVER = 1, OSC_CUPTI_RUNTIME = 2 };

/* CUpti_ApiCallbackSite. */
enum { OSC_CUPTI_ENTER = 0, OSC_CUPTI_EXIT = 1 };

/* CUpti_CallbackData. */
struct osc_cupti_call {
    int32_t site;
    const char *name;
    const void *params;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *data; /* the same memory at the end of a call as at its begin */
    uint32_t correlation;
};

/* CUpti_SubscriberParams. */
struct osc_cupti_subscriber {
    size_t bytes;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
    uint8_t allows_others, padding[7];
};
#define OSC_CUPTI_NAME_BYTES 64

/* Calls that programs make often and that tell nothing, as Kineto leaves them out. */
enum osc_cupti_runtime_call {
    OSC_CUPTI_CUDA_GET_LAST_ERROR = 10,
    OSC_CUPTI_CUDA_SET_DEVICE = 16,
    OSC_CUPTI_CUDA_GET_DEVICE = 17,
    OSC_CUPTI_CUDA_EVENT_CREATE = 133,
    OSC_CUPTI_CUDA_EVENT_CREATE_WITH_FLAGS = 134,
    OSC_CUPTI_CUDA_EVENT_DESTROY = 136
};
enum osc_cupti_driver_call {
    OSC_CUPTI_CU_DRIVER_GET_VERSION = 2,
    OSC_CUPTI_CU_DEVICE_GET = 3,
    OSC_CUPTI_CU_CTX_GET_DEVICE = 16,
    OSC_CUPTI_CU_CTX_SET_CURRENT = 303,
    OSC_CUPTI_CU_CTX_GET_CURRENT = 304,
    OSC_CUPTI_CU_POINTER_GET_ATTRIBUTE = 310,
    OSC_CUPTI_CU_CTX_PUSH_CURRENT = 323,
    OSC_CUPTI_CU_CTX_POP_CURRENT = 324,
    OSC_CUPTI_CU_GET_ERROR_STRING = 372,
    OSC_CUPTI_CU_DEVICE_PRIMARY_CTX_GET_STATE = 392,
    OSC_CUPTI_CU_GET_PROC_ADDRESS = 626,
    OSC_CUPTI_CU_GET_PROC_ADDRESS_V2 = 677,
    OSC_CUPTI_CU_KERNEL_GET_ATTRIBUTE = 686
};

/*
 * X(KIND, FIELD, OFFSET, structure, member): the last two are NVIDIA's names.
 */
#define OSC_CUPTI_FIELD_LIST(X)                                              \
    X(KERNEL, REGISTERS, 6, Kernel, registersPerThread)                      \
    X(KERNEL, START, 16, Kernel, start)                                      \
    X(KERNEL, END, 24, Kernel, end)                                          \
    X(KERNEL, DEVICE, 40, Kernel, deviceId)                                  \
    X(KERNEL, CONTEXT, 44, Kernel, contextId)                                \
    X(KERNEL, STREAM, 48, Kernel, streamId)                                  \
    X(KERNEL, GRID, 52, Kernel, gridX)                                       \
    X(KERNEL, BLOCK, 64, Kernel, blockX)                                     \
    X(KERNEL, STATIC_SHARED, 76, Kernel, staticSharedMemory)                 \
    X(KERNEL, DYNAMIC_SHARED, 80, Kernel, dynamicSharedMemory)               \
    X(KERNEL, CORRELATION, 92, Kernel, correlationId)                        \
    X(KERNEL, NAME, 104, Kernel, name)                                       \
    X(KERNEL, QUEUED, 120, Kernel, queued)                                   \
    X(KERNEL, SUBMITTED, 128, Kernel, submitted)                             \
    X(KERNEL, GRAPH_NODE, 144, Kernel, graphNodeId)                          \
    X(KERNEL, GRAPH, 156, Kernel, graphId)                                   \
    X(MEMCPY, COPY_KIND, 4, Memcpy, copyKind)                                \
    X(MEMCPY, FROM_KIND, 5, Memcpy, srcKind)                                 \
    X(MEMCPY, TO_KIND, 6, Memcpy, dstKind)                                   \
    X(MEMCPY, BYTES, 8, Memcpy, bytes)                                       \
    X(MEMCPY, START, 16, Memcpy, start)                                      \
    X(MEMCPY, END, 24, Memcpy, end)                                          \
    X(MEMCPY, DEVICE, 32, Memcpy, deviceId)                                  \
    X(MEMCPY, CONTEXT, 36, Memcpy, contextId)                                \
    X(MEMCPY, STREAM, 40, Memcpy, streamId)                                  \
    X(MEMCPY, CORRELATION, 44, Memcpy, correlationId)                        \
    X(MEMCPY, GRAPH_NODE, 64, Memcpy, graphNodeId)                           \
    X(MEMCPY, GRAPH, 72, Memcpy, graphId)                                    \
    X(PEER, FROM_DEVICE, 44, MemcpyPtoP, srcDeviceId)                        \
    X(PEER, TO_DEVICE, 52, MemcpyPtoP, dstDeviceId)                          \
    X(PEER, CORRELATION, 60, MemcpyPtoP, correlationId)                      \
    X(PEER, GRAPH_NODE, 72, MemcpyPtoP, graphNodeId)                         \
    X(PEER, GRAPH, 80, MemcpyPtoP, graphId)                                  \
    X(MEMSET, BYTES, 8, Memset, bytes)                                       \
    X(MEMSET, START, 16, Memset, start)                                      \
    X(MEMSET, END, 24, Memset, end)                                          \
    X(MEMSET, DEVICE, 32, Memset, deviceId)                                  \
    X(MEMSET, CONTEXT, 36, Memset, contextId)                                \
    X(MEMSET, STREAM, 40, Memset, streamId)                                  \
    X(MEMSET, CORRELATION, 44, Memset, correlationId)                        \
    X(MEMSET, MEMORY_KIND, 50, Memset, memoryKind)                           \
    X(MEMSET, GRAPH_NODE, 64, Memset, graphNodeId)                           \
    X(MEMSET, GRAPH, 72, Memset, graphId)                                    \
    X(DEVICE, MEMORY, 16, Device, globalMemorySize)                          \
    X(DEVICE, WARP, 32, Device, numThreadsPerWarp)                           \
    X(DEVICE, UNITS, 44, Device, numMultiprocessors)                         \
    X(DEVICE, WARPS_PER_UNIT, 52, Device, maxWarpsPerMultiprocessor)         \
    X(DEVICE, BLOCKS_PER_UNIT, 56, Device, maxBlocksPerMultiprocessor)       \
    X(DEVICE, SHARED_PER_UNIT, 60, Device, maxSharedMemoryPerMultiprocessor) \
    X(DEVICE, REGISTERS_PER_UNIT, 64, Device, maxRegistersPerMultiprocessor) \
    X(DEVICE, REGISTERS_PER_BLOCK, 68, Device, maxRegistersPerBlock)         \
    X(DEVICE, SHARED_PER_BLOCK, 72, Device, maxSharedMemoryPerBlock)         \
    X(DEVICE, THREADS_PER_BLOCK, 76, Device, maxThreadsPerBlock)             \
    X(DEVICE, MAJOR, 104, Device, computeCapabilityMajor)                    \
    X(DEVICE, MINOR, 108, Device, computeCapabilityMinor)                    \
    X(DEVICE, ID, 112, Device, id)                                           \
    X(DEVICE, NAME, 136, Device, name)                                       \
    X(CONTEXT, ID, 4, Context, contextId)                                    \
    X(CONTEXT, DEVICE, 8, Context, deviceId)                                 \
    X(SYNC, TYPE, 4, Synchronization, type)                                  \
    X(SYNC, START, 8, Synchronization, start)                                \
    X(SYNC, END, 16, Synchronization, end)                                   \
    X(SYNC, CORRELATION, 24, Synchronization, correlationId)                 \
    X(SYNC, CONTEXT, 28, Synchronization, contextId)                         \
    X(SYNC, STREAM, 32, Synchronization, streamId)                           \
    X(SYNC, EVENT, 36, Synchronization, cudaEventId)                         \
    X(OVERHEAD, TYPE, 4, Overhead, overheadKind)                             \
    X(OVERHEAD, START, 24, Overhead, start)                                  \
    X(OVERHEAD, END, 32, Overhead, end)                                      \
    X(MEMORY, OPERATION, 4, Memory, memoryOperationType)                     \
    X(MEMORY, KIND, 8, Memory, memoryKind)                                   \
    X(MEMORY, ADDRESS, 16, Memory, address)                                  \
    X(MEMORY, BYTES, 24, Memory, bytes)                                      \
    X(MEMORY, TIME, 32, Memory, timestamp)                                   \
    X(MEMORY, DEVICE, 52, Memory, deviceId)

enum osc_cupti_field {
#define OSC_CUPTI_FIELD_ENUM(kind, field, offset, structure, member) \
    OSC_CUPTI_##kind##_##field = (offset),
    OSC_CUPTI_FIELD_LIST(OSC_CUPTI_FIELD_ENUM)
#undef OSC_CUPTI_FIELD_ENUM
};

/* A field of RECORD, which may lie at any address. */
static inline uint16_t osc_cupti_u16(const uint8_t *record, enum osc_cupti_field field)
{
    uint16_t x;

    memcpy(&x, record + field, sizeof x);
    return x;
}

static inline uint32_t osc_cupti_u32(const uint8_t *record, enum osc_cupti_field field)
{
    uint32_t x;

    memcpy(&x, record + field, sizeof x);
    return x;
}

static inline uint64_t osc_cupti_u64(const uint8_t *record, enum osc_cupti_field field)
{
    uint64_t x;

    memcpy(&x, record + field, sizeof x);
    return x;
}

/* What RECORD is, of enum osc_cupti_kind. */
static inline uint32_t osc_cupti_kind(const uint8_t *record)
{
    uint32_t x;

    memcpy(&x, record, sizeof x);
    return x;
}

static inline const char *osc_cupti_text(const uint8_t *record, enum osc_cupti_field field)
{
    const char *s;

    memcpy(&s, record + field, sizeof s);
    return s;
}
