/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_layer.h - the start of the OpenCL collector.
 *
 * Threading: one thread.
 */
#pragma once

#include "sources/opencl/cl_functions.h"

/*
 * The collector is preloaded, and the functions behind it are TARGET, which may lack some.
 * Returns the table to call: ours, or TARGET if a loader has loaded us as a layer, or nobody
 * wants OpenCL.
 */
const cl_icd_dispatch *osc_cl_preload(const cl_icd_dispatch *target);
