/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_functions.h - the OpenCL collector: a layer between programs and OpenCL's loader.
 *
 * A loader that finds our library in OPENCL_LAYERS asks it, at the first question for
 * platforms, for functions to put before its own (cl_layer.c). Ours record what programs ask
 * for, call the functions below, and change no result. Where a loader has no layers, the
 * collector is preloaded, and they stand before the loader's (cl_preload.c).
 *
 *     clEnqueue..., clFinish, clBuildProgram, ...   runtime calls on the thread that makes them
 *     commands of a queue                           work of that queue, linked to the call
 *     buffers, images, SVM                          memory of the context's first device
 *
 *   - Queues are made with profiling on; a program that did not ask for it does not see it.
 *   - Each command has a completion callback, after which its times are read (cl_work.c). The
 *     program's events are kept until then.
 *   - Extensions' commands (command buffers, shared memory of vendors) are not recorded.
 *
 * Threading: everything may be called from any thread.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

#include "sources/source_state.h"

/* The functions below us; those that the loader does not have are NULL. Set before any of ours
 * is called. */
extern cl_icd_dispatch osc_cl __attribute__((visibility("hidden")));

extern struct osc_source osc_source_opencl __attribute__((visibility("hidden")));

/* Put the functions of each file into TABLE, where those below us exist. */
void osc_cl_add_calls(cl_icd_dispatch *table);
void osc_cl_add_commands(cl_icd_dispatch *table);
void osc_cl_add_copies(cl_icd_dispatch *table);
void osc_cl_add_kernels(cl_icd_dispatch *table);
void osc_cl_add_memory(cl_icd_dispatch *table);
void osc_cl_add_queues(cl_icd_dispatch *table);

/* TABLE's clNAME becomes cl_NAME of this file. */
#define OSC_CL_ADD(table, name) ((table)->cl##name = osc_cl.cl##name ? cl_##name : NULL)
