/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_later.h - what calls of newer versions of Level Zero give to tracers.
 *
 * The headers that we are built with may be as old as 1.8, and the loader that a program finds
 * as new as it likes: hooks are registered by name, so these calls are recorded all the same.
 * Each struct is that of the loader's header zel_tracing_register_cb, and has the names of its
 * members; the version is that of the standard which has the call first.
 *
 * Threading: types alone.
 */
#pragma once

#include <level_zero/ze_api.h>

/* NOLINTBEGIN(readability-identifier-naming): names of Level Zero. */

/* 1.3, an extension: zeMemFreeExt(). */
struct osc_ze_free_ext {
    ze_context_handle_t *phContext;
    const void **ppMemFreeDesc;
    void **pptr;
};

/* 1.3, an extension: zeCommandListAppendImageCopyToMemoryExt() and ...FromMemoryExt(). */
struct osc_ze_image_to_memory {
    ze_command_list_handle_t *phCommandList;
    void **pdstptr;
    ze_image_handle_t *phSrcImage;
    const ze_image_region_t **ppSrcRegion;
    uint32_t *pdestRowPitch, *pdestSlicePitch;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

struct osc_ze_image_from_memory {
    ze_command_list_handle_t *phCommandList;
    ze_image_handle_t *phDstImage;
    const void **psrcptr;
    const ze_image_region_t **ppDstRegion;
    uint32_t *psrcRowPitch, *psrcSlicePitch;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.9, an extension: zeCommandListImmediateAppendCommandListsExp(). */
struct osc_ze_append_lists {
    ze_command_list_handle_t *phCommandListImmediate;
    uint32_t *pnumCommandLists;
    ze_command_list_handle_t **pphCommandLists;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.14: zeCommandListAppendLaunchKernelWithParameters(). */
struct osc_ze_launch_with_parameters {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const ze_group_count_t **ppGroupCounts;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.14: zeCommandListAppendLaunchKernelWithArguments(), which gets both sizes by value, and
 * sets that of groups as zeKernelSetGroupSize() does. */
struct osc_ze_group_size {
    uint32_t groupSizeX, groupSizeY, groupSizeZ;
};

struct osc_ze_launch_with_arguments {
    ze_command_list_handle_t *phCommandList;
    ze_kernel_handle_t *phKernel;
    const ze_group_count_t *pgroupCounts;
    const struct osc_ze_group_size *pgroupSizes;
    void ***ppArguments;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.16: zeCommandListAppendMemoryCopyWithParameters(). */
struct osc_ze_copy_with_parameters {
    ze_command_list_handle_t *phCommandList;
    void **pdstptr;
    const void **psrcptr;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.16: zeCommandListAppendMemoryFillWithParameters(). */
struct osc_ze_fill_with_parameters {
    ze_command_list_handle_t *phCommandList;
    void **pptr;
    const void **ppattern;
    size_t *ppattern_size;
    size_t *psize;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.16: zeCommandListImmediateAppendCommandListsWithParameters(). */
struct osc_ze_append_lists_with_parameters {
    ze_command_list_handle_t *phCommandListImmediate;
    uint32_t *pnumCommandLists;
    ze_command_list_handle_t **pphCommandLists;
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* 1.17, an extension: zeCommandListAppendGraphExt(). */
struct osc_ze_append_graph {
    ze_command_list_handle_t *phCommandList;
    void **phGraph; /* a handle */
    const void **ppNext;
    ze_event_handle_t *phSignalEvent;
    uint32_t *pnumWaitEvents;
    ze_event_handle_t **pphWaitEvents;
};

/* NOLINTEND(readability-identifier-naming) */
