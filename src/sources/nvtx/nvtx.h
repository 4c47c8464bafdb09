/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.h - the NVTX collector: the functions that clients of NVTX 3 get.
 *
 * NVTX is a header: every library and program that includes it asks our library, which
 * NVTX_INJECTION64_PATH names, for functions at its first call.
 *
 *     push and pop, per thread and domain    scopes; of PyTorch's emit_nvtx(): operators
 *     start and end                          ranges with an id
 *     marks                                  instants
 *
 *   - Domains, categories, colors and payloads are arguments. Names of threads are names of
 *     threads; names of devices, streams, events and other resources are metadata.
 *   - "source.nvtx" in the metadata says that a client asked, and for how many functions.
 *   - Fields of payloads are arguments, as far as their schemas say what they are.
 *   - Not provided: user-defined synchronization, events that are handed over later.
 *
 * Threading: everything may be called from any thread.
 */
#pragma once

#include <stdbool.h>

#include "sources/nvtx/nvtx_abi.h"
#include "sources/source_state.h"
#include "sources/source_text.h"

extern struct osc_source osc_source_nvtx __attribute__((visibility("hidden")));

/* A function of a module by its number in the module's table. Number 0 ends a list. */
struct osc_nvtx_binding {
    unsigned number;
    osc_nvtx_function function;
};

extern const struct osc_nvtx_binding osc_nvtx_core[], osc_nvtx_core2[];
extern const struct osc_nvtx_binding osc_nvtx_cuda[], osc_nvtx_cudart[], osc_nvtx_opencl[];

/* Name the thread ID of the system. */
void osc_nvtx_name_thread(uint32_t id, const char *name);
void osc_nvtx_name_thread_wide(uint32_t id, const wchar_t *name);

/* Functions of the extension for payloads, by their numbers and one more. */
extern const struct osc_nvtx_binding osc_nvtx_ext_payload[];

/* What clients hold as a domain; NULL: the default one. Never freed. */
struct osc_nvtx_domain {
    struct osc_text *text; /* NULL: the default one */
    uint16_t number;       /* as an owner of scopes */
};

/* Give CATEGORY of D a name. */
void osc_nvtx_name_category(const struct osc_nvtx_domain *d, uint32_t category,
                            struct osc_text *text);

/* Add arguments to the last record: of all that D and A say but the message. A has all members.
 */
void osc_nvtx_add_attributes(const struct osc_nvtx_domain *d,
                             const struct osc_nvtx_attributes *a);
void osc_nvtx_add_category(const struct osc_nvtx_domain *d, uint32_t category);
void osc_nvtx_add_color(uint32_t argb);
void osc_nvtx_add_unsigned(osc_name key, uint64_t value);

/* Name something; what clients get for it. */
struct osc_text *osc_nvtx_create_resource(struct osc_nvtx_domain *domain,
                                          const struct osc_nvtx_resource *r);
void osc_nvtx_destroy_resource(struct osc_text *resource);

/* The text of a message; NULL and unknown types are the empty text. */
struct osc_text *osc_nvtx_text(int32_t type, union osc_nvtx_message message);
struct osc_text *osc_nvtx_text_wide(const wchar_t *wide);
