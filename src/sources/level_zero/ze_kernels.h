/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_kernels.h - the kernels of programs: their names and the sizes of their groups.
 *
 * Threading: a kernel belongs to the thread that calls with it; what is known of kernels is
 * never freed.
 */
#pragma once

#include "sources/level_zero/ze_functions.h"

struct osc_ze_kernel {
    osc_name name;
    uint32_t block[3]; /* work items of a group; 0: not set */
};

/* What is known of HANDLE; NULL: nothing. */
struct osc_ze_kernel *osc_ze_kernel_of(ze_kernel_handle_t handle);

/* The program set the size of the groups of HANDLE. */
void osc_ze_kernel_set_block(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z);
