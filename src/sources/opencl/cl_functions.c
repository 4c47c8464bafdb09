/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_functions.h"

cl_icd_dispatch osc_cl;
struct osc_source osc_source_opencl = {.name = "opencl"};
