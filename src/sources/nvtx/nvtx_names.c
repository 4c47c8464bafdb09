/* SPDX-License-Identifier: Apache-2.0 */
/* Names that clients give to threads and to what runtimes hold. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "opscope/record.h"
#include "sources/nvtx/nvtx.h"
#include "sources/source_thread.h"

/* Record that the WHAT with ID is called TEXT. */
static void name_thing(const char *what, uint64_t id, const struct osc_text *text)
{
    struct osc_source_thread *const self = &osc_source_self;
    char key[64];

    if (!osc_source_enter(self, 0))
        return;
    if (osc_is_on()) {
        (void)snprintf(key, sizeof key, "nvtx.%s.%#llx", what, (unsigned long long)id);
        osc_metadata(key, text->bytes);
    }
    osc_source_leave(self);
}

/* A thread can only name itself in a recording; names of others are facts. */
static void name_thread(uint32_t id, const struct osc_text *text)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (id != (uint32_t)syscall(SYS_gettid)) { /* gettid() is in glibc since 2.30 */
        name_thing("thread", id, text);
        return;
    }
    if (!osc_source_enter(self, 0))
        return;
    if (osc_is_on())
        osc_thread_name(text->bytes);
    osc_source_leave(self);
}

void osc_nvtx_name_thread(uint32_t id, const char *name)
{
    name_thread(id, osc_text_find_c(name));
}

void osc_nvtx_name_thread_wide(uint32_t id, const wchar_t *name)
{
    name_thread(id, osc_nvtx_text_wide(name));
}

/* The word for a resource of TYPE. */
static const char *word_of(int32_t type)
{
    static const struct {
        int32_t type;
        const char *word;
    } known[] = {
        {0x10001, "pointer"},        {0x10002, "handle"},         {0x10003, "thread"},
        {0x10004, "pthread"},        {0x40001, "cuda_device"},    {0x40002, "cuda_context"},
        {0x40003, "cuda_stream"},    {0x40004, "cuda_event"},     {0x50000, "cuda_device"},
        {0x50001, "cuda_stream"},    {0x50002, "cuda_event"},     {0x60001, "opencl_device"},
        {0x60002, "opencl_context"}, {0x60003, "opencl_queue"},   {0x60004, "opencl_memory"},
        {0x60005, "opencl_sampler"}, {0x60006, "opencl_program"}, {0x60007, "opencl_event"}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type)
            return known[i].word;
    return "resource";
}

/* Clients get the text, which is never freed, as the handle. */
struct osc_text *osc_nvtx_create_resource(struct osc_nvtx_domain *domain,
                                          const struct osc_nvtx_resource *r)
{
    (void)domain;
    if (!r || r->size < sizeof *r)
        return osc_text_find_c("");
    struct osc_text *const text = osc_nvtx_text(r->message_type, r->message);
    name_thing(word_of(r->type), r->id.number, text);
    return text;
}

void osc_nvtx_destroy_resource(struct osc_text *resource)
{
    (void)resource;
}

/* --- names for handles of runtimes ---------------------------------------------------- */

/* Two functions that name a WHAT, whose handle is a TYPE. */
#define NAMES(function, type, what)                               \
    static void function(type id, const char *name)               \
    {                                                             \
        name_thing(what, (uint64_t)id, osc_text_find_c(name));    \
    }                                                             \
    static void function##_wide(type id, const wchar_t *name)     \
    {                                                             \
        name_thing(what, (uint64_t)id, osc_nvtx_text_wide(name)); \
    }

NAMES(device, int32_t, "cuda_device")
NAMES(context, uintptr_t, "cuda_context")
NAMES(stream, uintptr_t, "cuda_stream")
NAMES(event, uintptr_t, "cuda_event")
NAMES(cl_device, uintptr_t, "opencl_device")
NAMES(cl_context, uintptr_t, "opencl_context")
NAMES(cl_queue, uintptr_t, "opencl_queue")
NAMES(cl_memory, uintptr_t, "opencl_memory")
NAMES(cl_sampler, uintptr_t, "opencl_sampler")
NAMES(cl_program, uintptr_t, "opencl_program")
NAMES(cl_event, uintptr_t, "opencl_event")

#define BIND(number, name)                             \
    {number, (osc_nvtx_function)(name)},               \
    {                                                  \
        (number) + 1, (osc_nvtx_function)(name##_wide) \
    }

const struct osc_nvtx_binding osc_nvtx_cuda[] = {
    BIND(1, device), BIND(3, context), BIND(5, stream), BIND(7, event), {0, NULL}};
const struct osc_nvtx_binding osc_nvtx_cudart[] = {
    BIND(1, device), BIND(3, stream), BIND(5, event), {0, NULL}};
const struct osc_nvtx_binding osc_nvtx_opencl[] = {
    BIND(1, cl_device),  BIND(3, cl_context),  BIND(5, cl_queue),  BIND(7, cl_memory),
    BIND(9, cl_sampler), BIND(11, cl_program), BIND(13, cl_event), {0, NULL}};
