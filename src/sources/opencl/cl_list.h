/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_list.h - the properties of a queue: pairs of numbers up to a 0.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "sources/opencl/cl_functions.h"

/* Copy LIST, which may be NULL, with profiling on to the ROOM numbers at COPY, and store the
 * flags of LIST. Returns how many numbers LIST has with its 0; 0: too many. */
uint32_t osc_cl_copy_list(const cl_queue_properties *list, cl_queue_properties *copy,
                          uint32_t room, cl_command_queue_properties *asked);
