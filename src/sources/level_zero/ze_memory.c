/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices. Shared memory that names a device counts as that device's. */
#include "sources/handle_map.h"
#include "sources/level_zero/ze_devices.h"
#include "sources/level_zero/ze_later.h"

/* What is known of a block until it is freed: its device above its bytes. */
static struct osc_handle_map blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define DEVICE_SHIFT 48

/* Keep where AT lies and how long it is, since the call that frees it has only the address.
 * Beside torch, and inside a vendor's runtime, others report it. */
static void report_block(ze_device_handle_t handle, const void *at, size_t bytes)
{
    const struct osc_ze_device *const d = osc_ze_device_of(handle);
    /* Acquire pairs with the release in osc_ze_device_of(). */
    const uint32_t device = d ? atomic_load_explicit(&d->number, memory_order_acquire) : 0;

    /* Relaxed: set before the tracer was made, or by the profiler of torch. */
    if (atomic_load_explicit(&osc_ze_is_beside_torch, memory_order_relaxed) ||
        osc_runtime_is_inside())
        return;
    if (!handle || !at) /* shared memory of no device */
        return;
    if (d && bytes >> DEVICE_SHIFT == 0 &&
        osc_handle_set(&blocks, at, (uint64_t)device << DEVICE_SHIFT | bytes))
        osc_memory_alloc(device, (uintptr_t)at, bytes);
    else
        osc_ze_count(OSC_ZE_COUNT_BLOCKS, 1);
}

static void before_alloc_device(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    (void)osc_ze_begin(OSC_SOURCE_NAME("zeMemAllocDevice"));
}

static void after_alloc_device(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_mem_alloc_device_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS && *p->ppptr && osc_ze_is_on())
        report_block(*p->phDevice, **p->ppptr, *p->psize);
    osc_ze_end();
}

static void before_alloc_shared(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    (void)osc_ze_begin(OSC_SOURCE_NAME("zeMemAllocShared"));
}

static void after_alloc_shared(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_mem_alloc_shared_params_t *const p = params;

    OSC_ZE_UNUSED;
    if (result == ZE_RESULT_SUCCESS && *p->ppptr && osc_ze_is_on())
        report_block(*p->phDevice, **p->ppptr, *p->psize);
    osc_ze_end();
}

static void before_alloc_host(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    (void)osc_ze_begin(OSC_SOURCE_NAME("zeMemAllocHost"));
}

static void after_alloc_host(void *params, ze_result_t result, void *tracer, void **call)
{
    OSC_ZE_UNUSED;
    osc_ze_end();
}

/* --- freeing ----------------------------------------------------------------------------- */

/*
 * The block that this thread frees. It is forgotten before the call, as another thread may get
 * its address before the call returns, and recorded after it, with the time from before: a call
 * that fails frees nothing.
 */
static _Thread_local struct {
    uint64_t known; /* 0: none */
    uint64_t ticks;
} freed __attribute__((tls_model("initial-exec")));

static void before_free(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_mem_free_params_t *const p = params;
    const void *const at = *p->pptr;

    OSC_ZE_UNUSED;
    (void)osc_ze_begin(OSC_SOURCE_NAME("zeMemFree"));
    freed.known = at && osc_ze_is_alive() ? osc_handle_get(&blocks, at) : 0;
    if (freed.known == 0)
        return;
    (void)osc_handle_set(&blocks, at, 0); /* it is there, which takes no room */
    freed.ticks = osc_now();
}

/* The block was forgotten before the call, because another thread may get its address at once;
 * if the call failed, it is there again. */
static void after_free(void *params, ze_result_t result, void *tracer, void **call)
{
    const ze_mem_free_params_t *const p = params;
    const void *const at = *p->pptr;

    OSC_ZE_UNUSED;
    /* Beside torch, the block is not of this recording. */
    if (freed.known != 0 && result == ZE_RESULT_SUCCESS &&
        atomic_load_explicit(&osc_ze_is_beside_torch, memory_order_relaxed))
        freed.known = 0;
    if (freed.known != 0 && result == ZE_RESULT_SUCCESS)
        osc_memory_free_at((uint32_t)(freed.known >> DEVICE_SHIFT), (uintptr_t)at,
                           freed.known & ((UINT64_C(1) << DEVICE_SHIFT) - 1), freed.ticks);
    else if (freed.known != 0)
        (void)osc_handle_set(&blocks, at, freed.known);
    freed.known = 0;
    osc_ze_end();
}

static void before_free_ext(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_free_ext *const p = params;
    ze_mem_free_params_t plain = {p->phContext, p->pptr};

    before_free(&plain, result, tracer, call);
}

static void after_free_ext(void *params, ze_result_t result, void *tracer, void **call)
{
    const struct osc_ze_free_ext *const p = params;
    ze_mem_free_params_t plain = {p->phContext, p->pptr};

    after_free(&plain, result, tracer, call);
}

const struct osc_ze_hook osc_ze_hooks_memory[] = {
    {"MemAllocDevice", before_alloc_device, after_alloc_device},
    {"MemAllocShared", before_alloc_shared, after_alloc_shared},
    {"MemAllocHost", before_alloc_host, after_alloc_host},
    {"MemFree", before_free, after_free},
    {"MemFreeExt", before_free_ext, after_free_ext},
    {0}};
