/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait, that hand over commands, and that compile. */
#include "sources/opencl/cl_work.h"

static cl_int cl_Finish(cl_command_queue queue)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clFinish"));
    const cl_int error = osc_cl.clFinish(queue);

    osc_cl_end_plain(is_recorded);
    return error;
}

static cl_int cl_Flush(cl_command_queue queue)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clFlush"));
    const cl_int error = osc_cl.clFlush(queue);

    osc_cl_end_plain(is_recorded);
    return error;
}

static cl_int cl_WaitForEvents(cl_uint n, const cl_event *events)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clWaitForEvents"));
    const cl_int error = osc_cl.clWaitForEvents(n, events);

    osc_cl_end_plain(is_recorded);
    return error;
}

typedef void(CL_CALLBACK *built)(cl_program program, void *data);

static cl_int cl_BuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                              const char *options, built done, void *data)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clBuildProgram"));
    const cl_int error = osc_cl.clBuildProgram(program, n, devices, options, done, data);

    osc_cl_end_plain(is_recorded);
    osc_cl_work_expect_exit();
    return error;
}

static cl_int cl_CompileProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                                const char *options, cl_uint n_headers,
                                const cl_program *headers, const char **names, built done,
                                void *data)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clCompileProgram"));
    const cl_int error = osc_cl.clCompileProgram(program, n, devices, options, n_headers,
                                                 headers, names, done, data);

    osc_cl_end_plain(is_recorded);
    osc_cl_work_expect_exit();
    return error;
}

static cl_program cl_LinkProgram(cl_context context, cl_uint n, const cl_device_id *devices,
                                 const char *options, cl_uint n_programs,
                                 const cl_program *programs, built done, void *data,
                                 cl_int *error)
{
    const bool is_recorded = osc_cl_begin_plain(OSC_SOURCE_NAME("clLinkProgram"));
    const cl_program made = osc_cl.clLinkProgram(context, n, devices, options, n_programs,
                                                 programs, done, data, error);

    osc_cl_end_plain(is_recorded);
    return made;
}

void osc_cl_add_calls(cl_icd_dispatch *table)
{
    OSC_CL_ADD(table, Finish);
    OSC_CL_ADD(table, Flush);
    OSC_CL_ADD(table, WaitForEvents);
    OSC_CL_ADD(table, BuildProgram);
    OSC_CL_ADD(table, CompileProgram);
    OSC_CL_ADD(table, LinkProgram);
}
