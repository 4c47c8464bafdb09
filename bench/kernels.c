/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueue small kernels of OpenCL with profiling on, and wait for each 256 of them.
 *
 *   kernels [N]   prints microseconds for each kernel: of the calls that enqueue, and in all
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BATCH 256

static const char *const source = "__kernel void small(__global int *a) { a[0] = 1; }";

int main(int argc, char **argv)
{
    const int n = bench_number(argc, argv, 1, 100000);
    const size_t one = 1;
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    const cl_command_queue queue =
        clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    const cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
        return 1;
    const cl_kernel kernel = clCreateKernel(program, "small", &error);
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
    clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    clFinish(queue);

    double enqueue_s = 0;
    const double start_s = bench_wall_s();
    for (int i = 0; i < n; i += BATCH) {
        const double before_s = bench_wall_s();

        for (int k = 0; k < BATCH; k++)
            clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        enqueue_s += bench_wall_s() - before_s;
        clFinish(queue);
    }
    bench_sample("wall", (bench_wall_s() - start_s) * 1e6 / n);
    bench_sample("enqueue", enqueue_s * 1e6 / n);
    return 0;
}
