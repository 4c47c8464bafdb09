/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_kernels.h"

#include "sources/handle_map.h"
#include "sources/source_memory.h"

static struct osc_handle_map kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct osc_ze_kernel *osc_ze_kernel_of(ze_kernel_handle_t handle)
{
    return handle ? osc_handle_get_address(&kernels, handle) : NULL;
}

void osc_ze_kernel_set_block(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z)
{
    struct osc_ze_kernel *const k = osc_ze_kernel_of(handle);

    if (!k)
        return;
    k->block[0] = x;
    k->block[1] = y;
    k->block[2] = z;
}

static void before_create(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    (void)osc_ze_begin(OSC_SOURCE_NAME("zeKernelCreate"));
}

/* A new kernel may have the address of an old one. */
static void after_create(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_kernel_create_params_t *const p = params;
    const ze_kernel_desc_t *const what = *p->pdesc;

    OSC_ZE_UNUSED;
    osc_ze_end();
    if (result != ZE_RESULT_SUCCESS || !what || !*p->pphKernel || !**p->pphKernel)
        return;
    const ze_kernel_handle_t handle = **p->pphKernel;
    struct osc_ze_kernel *k = osc_ze_kernel_of(handle);
    if (!k)
        k = osc_source_memory(sizeof *k);
    if (!k)
        return;
    *k = (struct osc_ze_kernel){
        .name = osc_text_name(osc_text_find_c(what->pKernelName ? what->pKernelName : ""))};
    (void)osc_handle_set(&kernels, handle, (uintptr_t)k);
}

static void after_set_group_size(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_kernel_set_group_size_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS)
        osc_ze_kernel_set_block(*p->phKernel, *p->pgroupSizeX, *p->pgroupSizeY,
                                *p->pgroupSizeZ);
}

const struct osc_ze_hook osc_ze_hooks_kernels[] = {
    {"KernelCreate", before_create, after_create},
    {"KernelSetGroupSize", NULL, after_set_group_size},
    {0}};
