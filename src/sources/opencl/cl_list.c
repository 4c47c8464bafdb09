/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_list.h"

uint32_t osc_cl_copy_list(const cl_queue_properties *list, cl_queue_properties *copy,
                          uint32_t room, cl_command_queue_properties *asked)
{
    uint32_t n = 0, at = UINT32_MAX;

    *asked = 0;
    for (; list && list[n] != 0; n += 2) {
        if (n + 5 > room)
            return 0;
        copy[n] = list[n];
        copy[n + 1] = list[n + 1];
        if (list[n] != CL_QUEUE_PROPERTIES)
            continue;
        at = n + 1;
        *asked = list[n + 1];
    }
    if (at == UINT32_MAX) {
        copy[n] = CL_QUEUE_PROPERTIES;
        at = n + 1;
        copy[n + 2] = 0;
    } else {
        copy[n] = 0;
    }
    copy[at] = *asked | CL_QUEUE_PROFILING_ENABLE;
    return n + 1;
}
