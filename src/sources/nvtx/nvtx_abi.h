/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_abi.h - what clients of NVTX 3 and their injected library exchange; of nvToolsExt.h,
 * nvToolsExtPayload.h, nvtxDetail/nvtxTypes.h and nvtxDetail/nvtxExtTypes.h of NVIDIA's
 * headers, versions 3.0 to 3.3.
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

/* `payload.u64` is the address of a list of struct osc_nvtx_payload, `reserved` its length. */
#define OSC_NVTX_PAYLOAD_LIST ((int32_t)0xdfbd0009)

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

/* --- the extension for payloads ------------------------------------------------------- */

enum osc_nvtx_ext_module_id { OSC_NVTX_EXT_PAYLOAD = 2 };

struct osc_nvtx_ext_segment {
    size_t id, n;
    intptr_t *functions; /* [N]; 0: not set, is none then */
};

struct osc_nvtx_ext_module {
    uint16_t version, bytes, id, compatible;
    size_t n_segments;
    struct osc_nvtx_ext_segment *segments;
    intptr_t (*get_export)(uint32_t number);
    const void *info;
};

struct osc_nvtx_payload {
    uint64_t schema; /* or a type, below OSC_NVTX_SCHEMA_FIRST */
    size_t bytes;    /* SIZE_MAX: a text up to its NUL */
    const void *data;
};

#define OSC_NVTX_SCHEMA_FIRST   ((uint64_t)1 << 24) /* that clients choose */
#define OSC_NVTX_SCHEMA_DYNAMIC ((uint64_t)1 << 32) /* that we choose */

enum osc_nvtx_schema_type { OSC_NVTX_SCHEMA_STATIC = 1, OSC_NVTX_SCHEMA_VARIABLE = 2 };

enum osc_nvtx_schema_fields {
    OSC_NVTX_SCHEMA_HAS_TYPE = 1 << 2,
    OSC_NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
    OSC_NVTX_SCHEMA_HAS_COUNT = 1 << 5,
    OSC_NVTX_SCHEMA_HAS_BYTES = 1 << 6,
    OSC_NVTX_SCHEMA_HAS_PACK = 1 << 7,
    OSC_NVTX_SCHEMA_HAS_ID = 1 << 8
};

enum osc_nvtx_entry_flags {
    OSC_NVTX_ENTRY_POINTER = 1 << 1,
    OSC_NVTX_ENTRY_OFFSET = 3 << 2, /* the data are elsewhere in the payload */
    OSC_NVTX_ENTRY_ARRAY = 7 << 4,  /* one of the four below */
    OSC_NVTX_ENTRY_ARRAY_FIXED = 1 << 4,
    OSC_NVTX_ENTRY_ARRAY_ZERO = 2 << 4,
    OSC_NVTX_ENTRY_ARRAY_INDEX = 3 << 4, /* `detail` is the entry with the length */
    OSC_NVTX_ENTRY_DEEP_COPY = 1 << 8,
    OSC_NVTX_ENTRY_HIDE = 1 << 9,
    OSC_NVTX_ENTRY_ROLE = 3 << 10,
    OSC_NVTX_ENTRY_MESSAGE = 1 << 10
};

/* Some of the types of entries; the table in nvtx_schema.c has all. */
enum osc_nvtx_entry_type {
    OSC_NVTX_ENTRY_CATEGORY = 68,
    OSC_NVTX_ENTRY_COLOR = 69,
    OSC_NVTX_ENTRY_TEXT = 75,
    OSC_NVTX_ENTRY_TEXT_UTF8 = 76,
    OSC_NVTX_ENTRY_TEXT_UTF16 = 77,
    OSC_NVTX_ENTRY_TEXT_UTF32 = 78,
    OSC_NVTX_ENTRY_REGISTERED = 80,
    OSC_NVTX_ENTRY_N_TYPES
};

struct osc_nvtx_entry {
    uint64_t flags;
    uint64_t type;                  /* or a schema or enumeration */
    const char *name, *description; /* may be NULL */
    uint64_t detail;                /* the length of an array or text */
    uint64_t offset;                /* 0, but for the first: after the one before it */
    const void *semantics, *reserved;
};

struct osc_nvtx_schema_attributes {
    uint64_t fields; /* which of the others are set */
    const char *name;
    uint64_t type, flags;
    const struct osc_nvtx_entry *entries;
    size_t n_entries, bytes, pack;
    uint64_t id;
    void *extension;
};

enum osc_nvtx_enum_fields {
    OSC_NVTX_ENUM_HAS_ENTRIES = 1 << 2,
    OSC_NVTX_ENUM_HAS_COUNT = 1 << 3,
    OSC_NVTX_ENUM_HAS_BYTES = 1 << 4,
    OSC_NVTX_ENUM_HAS_ID = 1 << 5
};

struct osc_nvtx_enum_entry {
    const char *name;
    uint64_t value;
    int8_t is_flag;
};

struct osc_nvtx_enum_attributes {
    uint64_t fields;
    const char *name;
    const struct osc_nvtx_enum_entry *entries;
    size_t n_entries, bytes; /* bytes of a value */
    uint64_t id;
    void *extension;
};

_Static_assert(sizeof(struct osc_nvtx_entry) == 64, "as clients have it");
_Static_assert(sizeof(struct osc_nvtx_schema_attributes) == 80, "as clients have it");
_Static_assert(sizeof(struct osc_nvtx_enum_attributes) == 56, "as clients have it");
_Static_assert(sizeof(struct osc_nvtx_ext_module) == 40, "as clients have it");
