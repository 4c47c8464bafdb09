/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx.h"

#include <stdio.h>

#include "opscope/record.h"
#include "sources/source_thread.h"

struct osc_source osc_source_nvtx = {.name = "nvtx"};

/* What clients look up. NOLINTBEGIN(readability-identifier-naming) */
OSC_API int InitializeInjectionNvtx(osc_nvtx_get_table get);
OSC_API int InitializeInjectionNvtx2(osc_nvtx_get_table get);
OSC_API int InitializeInjectionNvtxExtension(struct osc_nvtx_ext_module *module);
/* NOLINTEND(readability-identifier-naming) */

/* Give the functions LIST to MODULE. Adds to *N_BOUND how many it took. */
static void bind(const struct osc_nvtx_callbacks *callbacks, enum osc_nvtx_module module,
                 const struct osc_nvtx_binding *list, unsigned *n_bound)
{
    osc_nvtx_function **table = NULL;
    unsigned n = 0;

    if (callbacks->get_module((int)module, &table, &n) == 0 || !table)
        return;
    for (; list->number > 0; list++) {
        if (list->number >= n || !table[list->number])
            continue;
        *table[list->number] = list->function;
        (*n_bound)++;
    }
}

static bool is_whole(const struct osc_nvtx_callbacks *c)
{
    return c && c->bytes >= sizeof *c && c->get_module;
}

/* The version of the client's NVTX; 0: unknown. */
static uint32_t version_of(osc_nvtx_get_table get)
{
    const struct osc_nvtx_version *const v = get(OSC_NVTX_TABLE_VERSION);

    return v && v->bytes >= offsetof(struct osc_nvtx_version, set_version) ? v->version : 0;
}

/* Returning 0 would make the client unload us; whatever we leave alone does nothing then. */
int InitializeInjectionNvtx2(osc_nvtx_get_table get)
{
    const struct osc_nvtx_callbacks *const c = get ? get(OSC_NVTX_TABLE_CALLBACKS) : NULL;
    const uint32_t closed = osc_source_self.closed;
    unsigned n_bound = 0;
    char text[64];

    if (!is_whole(c) || !osc_source_is_wanted(&osc_source_nvtx))
        return 1;
    /* Allocations while the recorder starts may call us again. */
    osc_source_self.closed = OSC_SOURCE_INSIDE;
    osc_source_begin();
    bind(c, OSC_NVTX_CORE, osc_nvtx_core, &n_bound);
    bind(c, OSC_NVTX_CORE2, osc_nvtx_core2, &n_bound);
    bind(c, OSC_NVTX_CUDA, osc_nvtx_cuda, &n_bound);
    bind(c, OSC_NVTX_CUDART, osc_nvtx_cudart, &n_bound);
    bind(c, OSC_NVTX_OPENCL, osc_nvtx_opencl, &n_bound);
    (void)snprintf(text, sizeof text, "version %u, %u functions", version_of(get), n_bound);
    osc_source_report(&osc_source_nvtx, text);
    osc_source_self.closed = closed;
    return 1;
}

/* Of NVTX 2, whose tables are the same. */
int InitializeInjectionNvtx(osc_nvtx_get_table get)
{
    return InitializeInjectionNvtx2(get);
}

/* Each client asks again for each of its extensions. Returning 0 turns this one off. */
int InitializeInjectionNvtxExtension(struct osc_nvtx_ext_module *m)
{
    const uint32_t closed = osc_source_self.closed;
    unsigned n_bound = 0;
    char text[64];

    if (!m || m->bytes < sizeof *m || m->id != OSC_NVTX_EXT_PAYLOAD || m->n_segments == 0 ||
        !m->segments->functions || !osc_source_is_wanted(&osc_source_nvtx))
        return 0;
    osc_source_self.closed = OSC_SOURCE_INSIDE;
    osc_source_begin();
    for (const struct osc_nvtx_binding *f = osc_nvtx_ext_payload; f->number > 0; f++) {
        if (f->number > m->segments->n)
            continue;
        m->segments->functions[f->number - 1] = (intptr_t)f->function;
        n_bound++;
    }
    (void)snprintf(text, sizeof text, "payloads, %u functions", n_bound);
    osc_source_report(&osc_source_nvtx, text);
    osc_source_self.closed = closed;
    return 1;
}
