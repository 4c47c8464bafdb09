/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_abi.h - what clients of NVTX 3 and their injected library exchange; of nvToolsExt.h and
 * nvtxDetail/nvtxTypes.h of NVIDIA's headers, versions 3.0 to 3.2.
 *
 * Threading: types only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum osc_nvtx_color_type { OSC_NVTX_COLOR_ARGB = 1 };

enum osc_nvtx_payload_type {
    OSC_NVTX_PAYLOAD_NONE,
    OSC_NVTX_PAYLOAD_U64,
    OSC_NVTX_PAYLOAD_I64,
    OSC_NVTX_PAYLOAD_DOUBLE,
    OSC_NVTX_PAYLOAD_U32,
    OSC_NVTX_PAYLOAD_I32,
    OSC_NVTX_PAYLOAD_FLOAT
};

enum osc_nvtx_message_type {
    OSC_NVTX_MESSAGE_NONE,
    OSC_NVTX_MESSAGE_ASCII,
    OSC_NVTX_MESSAGE_WIDE,
    OSC_NVTX_MESSAGE_REGISTERED
};

union osc_nvtx_message {
    const char *ascii;
    const wchar_t *wide;
    void *registered;
};

struct osc_nvtx_attributes {
    uint16_t version, size; /* nothing beyond size is there */
    uint32_t category;      /* 0: none */
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union osc_nvtx_message message;
};

/* Something of the program or of a runtime that is given a name. */
struct osc_nvtx_resource {
    uint16_t version, size;
    int32_t type; /* class << 16 | index */
    union {
        const void *pointer;
        uint64_t number;
    } id;
    int32_t message_type;
    union osc_nvtx_message message;
};

_Static_assert(sizeof(struct osc_nvtx_attributes) == 48, "as clients have it");
_Static_assert(sizeof(struct osc_nvtx_resource) == 32, "as clients have it");

typedef void (*osc_nvtx_function)(void);

enum osc_nvtx_table { OSC_NVTX_TABLE_CALLBACKS = 1, OSC_NVTX_TABLE_VERSION = 3 };

enum osc_nvtx_module {
    OSC_NVTX_CORE = 1,
    OSC_NVTX_CUDA = 2,
    OSC_NVTX_OPENCL = 3,
    OSC_NVTX_CUDART = 4,
    OSC_NVTX_CORE2 = 5
};

struct osc_nvtx_callbacks {
    size_t bytes;
    /* *TABLE becomes an array of N pointers to function pointers; entry 0 is none. */
    int (*get_module)(int module, osc_nvtx_function ***table, unsigned *n);
};

struct osc_nvtx_version {
    size_t bytes;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
};

typedef const void *(*osc_nvtx_get_table)(uint32_t table);
