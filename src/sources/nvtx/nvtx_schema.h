/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_schema.h - what clients say of the bytes of their payloads.
 *
 * A schema lists the fields of a C structure. Schemas within others are put in their place, so
 * what is stored is one list of fields, each at a fixed offset:
 *
 *     struct { uint64_t bytes; struct { float x; float y[2]; } at; }  ->  bytes, at.x, at.y
 *
 *   - A schema with one field has the name of the place where it is used.
 *   - Fields that are nothing of this have the form OSC_NVTX_FIELD_OTHER: unions, lists of
 *     structures, pointers to others than texts, and what follows a list of variable length.
 *
 * Threading: thread-safe; schemas are read-only and never freed.
 */
#pragma once

#include "sources/nvtx/nvtx.h"

enum osc_nvtx_class {
    OSC_NVTX_CLASS_OTHER,
    OSC_NVTX_CLASS_SIGNED,
    OSC_NVTX_CLASS_UNSIGNED,
    OSC_NVTX_CLASS_FLOAT,  /* of 32 or 64 bits */
    OSC_NVTX_CLASS_HALF,   /* IEEE's of 16 bits */
    OSC_NVTX_CLASS_BFLOAT, /* the upper half of one of 32 bits */
    OSC_NVTX_CLASS_TEXT,
    OSC_NVTX_CLASS_REGISTERED
};

enum osc_nvtx_form {
    OSC_NVTX_FIELD_OTHER,
    OSC_NVTX_FIELD_ONE,
    OSC_NVTX_FIELD_LIST,    /* of N */
    OSC_NVTX_FIELD_COUNTED, /* a list whose length is the field N */
    OSC_NVTX_FIELD_POINTER, /* to a text that ends with NUL */
    OSC_NVTX_FIELD_ZERO     /* a text that ends with NUL */
};

struct osc_nvtx_field {
    struct osc_text *name;             /* empty: it has none */
    const struct osc_nvtx_enum *names; /* NULL: it has no names for its values */
    uint64_t flags;
    uint32_t type; /* as clients number them; that of an enumeration is 0 */
    uint32_t offset, n;
    uint8_t form, class; /* enum osc_nvtx_form, enum osc_nvtx_class */
    uint8_t width;       /* bytes of one */
};

struct osc_nvtx_schema {
    uint32_t n_fields, bytes, align;
    bool has_message;
    struct osc_nvtx_field fields[];
};

struct osc_nvtx_enum {
    uint32_t n, width;
    struct {
        uint64_t value;
        struct osc_text *name;
    } entries[];
};

/* What clients call; 0: it is not understood. */
uint64_t osc_nvtx_register_schema(struct osc_nvtx_domain *domain,
                                  const struct osc_nvtx_schema_attributes *a);
uint64_t osc_nvtx_register_enum(struct osc_nvtx_domain *domain,
                                const struct osc_nvtx_enum_attributes *a);

/* The schema ID of D; NULL: there is none. */
const struct osc_nvtx_schema *osc_nvtx_schema_of(const struct osc_nvtx_domain *d, uint64_t id);

/* A field of TYPE, a predefined one, at the start of a payload. */
struct osc_nvtx_field osc_nvtx_field_of(uint64_t type);
