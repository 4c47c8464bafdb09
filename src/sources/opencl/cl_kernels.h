/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_kernels.h - the kernels of programs, by name.
 *
 * Threading: thread-safe; what is known of kernels is never freed.
 */
#pragma once

#include "sources/opencl/cl_work.h"

/* What is known of HANDLE; NULL: there is no room. */
struct osc_cl_kernel *osc_cl_kernel_of(cl_kernel handle);
