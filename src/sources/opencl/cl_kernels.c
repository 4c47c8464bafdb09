/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_kernels.h"

#include <string.h>

#include "sources/handle_map.h"
#include "sources/source_memory.h"

#define NAME_BYTES 4096

static struct osc_handle_map kernel_map = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct osc_cl_kernel *find(cl_kernel handle)
{
    return osc_handle_get_address(&kernel_map, handle);
}

/* Look at HANDLE, which is new, or whose address is used again. */
static struct osc_cl_kernel *look_at(cl_kernel handle)
{
    char name[NAME_BYTES] = "";
    struct osc_cl_kernel *const known = find(handle);
    struct osc_cl_kernel *const k = known ? known : osc_source_memory(sizeof *k);

    if (!k)
        return NULL;
    /* A name that is longer than this is an error, and stays unknown. */
    if (!osc_cl.clGetKernelInfo ||
        osc_cl.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) !=
            CL_SUCCESS ||
        name[0] == '\0')
        memcpy(name, "(unknown kernel)", sizeof "(unknown kernel)");
    name[NAME_BYTES - 1] = '\0';
    /* Relaxed: the program gets the handle later than this. */
    for (uint32_t i = 0; i < OSC_CL_VARIANTS; i++)
        atomic_store_explicit(&k->ran[i], 0, memory_order_relaxed);
    atomic_store_explicit(&k->name, osc_name_c(name), memory_order_relaxed);
    return known || osc_handle_set(&kernel_map, handle, (uintptr_t)k) ? k : NULL;
}

struct osc_cl_kernel *osc_cl_kernel_of(cl_kernel handle)
{
    struct osc_cl_kernel *const k = handle ? find(handle) : NULL;

    return k || !handle ? k : look_at(handle);
}

/* The address of a kernel that was released may become that of another one. */
static cl_kernel cl_CreateKernel(cl_program program, const char *name, cl_int *error)
{
    const cl_kernel made = osc_cl.clCreateKernel(program, name, error);

    if (made)
        (void)look_at(made);
    return made;
}

static cl_int cl_CreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels,
                                        cl_uint *n)
{
    cl_uint made = 0;
    const cl_int error = osc_cl.clCreateKernelsInProgram(program, room, kernels, &made);

    if (n && error == CL_SUCCESS)
        *n = made;
    for (cl_uint i = 0; error == CL_SUCCESS && kernels && i < made && i < room; i++)
        (void)look_at(kernels[i]);
    return error;
}

static cl_kernel cl_CloneKernel(cl_kernel source, cl_int *error)
{
    const cl_kernel made = osc_cl.clCloneKernel(source, error);

    if (made)
        (void)look_at(made);
    return made;
}

void osc_cl_add_kernels(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, CreateKernel);
    OSC_CL_ADD(table, CreateKernelsInProgram);
    OSC_CL_ADD(table, CloneKernel);
}
