/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL program for tests/sources/opencl.py: it does the same in every run, checks its
 * results, and prints them.
 *
 *     opencl plain|fail|wait|exit|compile|fork|forked|free|both|extension|kill|lost|close|
 *            busy|parts|first
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 4096

static const char source[] =
    "__kernel void add_one(__global int *a) { a[get_global_id(0)] += 1; }\n"
    "__kernel void scale(__global int *a, int by) {\n"
    "    a[get_global_id(1) * get_global_size(0) + get_global_id(0)] *= by;\n"
    "}\n";

static void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    printf("%s: %d\n", what, error);
    exit(1);
}

static long sum(const int *a)
{
    long n = 0;

    for (int i = 0; i < N; i++)
        n += a[i];
    return n;
}

static cl_device_id device;
static cl_context context;
static cl_command_queue queue, second; /* the second is out of order */
static cl_program program;
static cl_kernel add, scale;
static cl_mem buffer, other;
static int a[N];
static const size_t n = N, group = 64;

static void make_queues(void)
{
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES,
                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_platform_id platform;
    cl_int error;
    cl_command_queue_properties flags = 99;

    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "context");
    queue = clCreateCommandQueue(context, device, 0, &error);
    must(error, "queue");
    second = clCreateCommandQueueWithProperties(context, device, list, &error);
    must(error, "second queue");
    must(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL), "info");
    printf("flags %lu", (unsigned long)flags);
    must(clGetCommandQueueInfo(second, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL),
         "info");
    printf(" %lu\n", (unsigned long)flags);
}

static void make_kernels(void)
{
    const char *text = source;
    cl_int error;

    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    add = clCreateKernel(program, "add_one", &error);
    must(error, "kernel");
    scale = clCreateKernel(program, "scale", &error);
    must(error, "kernel");
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof a, NULL, &error);
    must(error, "buffer");
    other = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof a, NULL, &error);
    must(error, "buffer");
}

static void run_kernels(void)
{
    const size_t plane[] = {64, 64};
    const int by = 3;
    cl_event done;
    cl_ulong ns = 0;
    cl_int error;

    for (int i = 0; i < N; i++)
        a[i] = i;
    must(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof a, a, 0, NULL, NULL), "write");
    must(clSetKernelArg(add, 0, sizeof buffer, &buffer), "arg");
    for (int i = 0; i < 10; i++)
        must(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &group, 0, NULL, NULL), "add");
    must(clSetKernelArg(scale, 0, sizeof buffer, &buffer), "arg");
    must(clSetKernelArg(scale, 1, sizeof by, &by), "arg");
    must(clEnqueueNDRangeKernel(queue, scale, 2, NULL, plane, NULL, 0, NULL, &done), "scale");
    must(clWaitForEvents(1, &done), "wait");
    printf("times %d\n",
           clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof ns, &ns, NULL));
    must(clEnqueueCopyBuffer(second, buffer, other, 0, 0, sizeof a, 1, &done, NULL), "copy");
    must(clEnqueueBarrierWithWaitList(second, 0, NULL, NULL), "barrier");
    int *const mapped = clEnqueueMapBuffer(second, other, CL_TRUE, CL_MAP_READ, 0, sizeof a, 0,
                                           NULL, NULL, &error);
    must(error, "map");
    printf("sum %ld\n", sum(mapped));
    must(clEnqueueUnmapMemObject(second, other, mapped, 0, NULL, NULL), "unmap");
    must(clFinish(second), "finish");
    must(clReleaseEvent(done), "release");
}

static void fill(void)
{
    const int seven = 7;

    must(clEnqueueFillBuffer(queue, buffer, &seven, sizeof seven, 0, sizeof a, 0, NULL, NULL),
         "fill");
    must(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL), "marker");
    must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof a, a, 0, NULL, NULL), "read");
    printf("sum %ld\n", sum(a));
}

static void fail(void)
{
    const size_t none = 0;

    printf("kernel of four dimensions %d\n",
           clEnqueueNDRangeKernel(queue, add, 4, NULL, &none, NULL, 0, NULL, NULL));
    printf("kernel without a queue %d\n",
           clEnqueueNDRangeKernel(NULL, add, 1, NULL, &n, NULL, 0, NULL, NULL));
    printf("marker without an event %d\n", clEnqueueMarker(queue, NULL));
    printf("read beyond the end %d\n",
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 1, sizeof a, a, 0, NULL, NULL));
}

/* A command that never runs. */
static void wait_for_ever(void)
{
    cl_int error;
    const cl_event never = clCreateUserEvent(context, &error);

    must(clEnqueueNDRangeKernel(second, add, 1, NULL, &n, &group, 1, &never, NULL), "add");
    exit(3);
}

static void leave_at_work(void)
{
    for (int i = 0; i < 100; i++)
        must(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &group, 0, NULL, NULL), "add");
    must(clFlush(queue), "flush");
    exit(3);
}

/* Be killed after all is done, but without a call that waits for it. */
static void be_killed(void)
{
    cl_int status = CL_QUEUED;
    cl_event last;

    for (int i = 0; i < 100; i++)
        must(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &group, 0, NULL,
                                    i == 99 ? &last : NULL),
             "add");
    must(clFlush(queue), "flush");
    while (status != CL_COMPLETE)
        must(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                            NULL),
             "status");
    fflush(stdout);
    usleep(200000);
    raise(SIGKILL);
}

/* Leave while a kernel is compiled for another size of its groups. */
static void leave_at_compiling(void)
{
    const size_t size = 48, other_group = 48;

    must(clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, &other_group, 0, NULL, NULL),
         "add");
    must(clFlush(queue), "flush");
    exit(0);
}

/* The child has commands that are its parent's. */
static void fork_at_work(void)
{
    cl_int error;
    const cl_event later = clCreateUserEvent(context, &error);
    int status;

    must(clEnqueueNDRangeKernel(second, add, 1, NULL, &n, &group, 1, &later, NULL), "add");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        exit(7);
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    must(clSetUserEventStatus(later, CL_COMPLETE), "status");
    must(clFinish(second), "finish");
}

static void free_shared(void)
{
    for (int i = 0; i < 3; i++) {
        void *at = clSVMAlloc(context, CL_MEM_READ_WRITE, 1 << 20, 0);

        must(at ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE, "shared memory");
        must(clEnqueueSVMFree(queue, 1, &at, NULL, NULL, 0, NULL, NULL), "free");
        must(clFinish(queue), "finish");
    }
}

/* One kernel on each device of the platform. */
static void use_all_devices(void)
{
    cl_platform_id platform;
    cl_device_id all[8];
    cl_uint n_devices = 0;
    cl_int error;
    const char *text = source;

    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, all, &n_devices), "devices");
    for (cl_uint i = 0; i < n_devices && i < 8; i++) {
        const cl_context own = clCreateContext(NULL, 1, &all[i], NULL, NULL, &error);
        const cl_command_queue q = clCreateCommandQueue(own, all[i], 0, &error);
        const cl_program p = clCreateProgramWithSource(own, 1, &text, NULL, &error);
        const cl_mem m = clCreateBuffer(own, CL_MEM_READ_WRITE, sizeof a, NULL, &error);

        must(clBuildProgram(p, 1, &all[i], "", NULL, NULL), "build");
        const cl_kernel k = clCreateKernel(p, "add_one", &error);
        must(clSetKernelArg(k, 0, sizeof m, &m), "arg");
        must(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, &group, 0, NULL, NULL), "add");
        must(clFinish(q), "finish");
    }
}

/* The device is lost after some commands. */
static void lose_device(void)
{
    for (int i = 0; i < 3; i++)
        printf("lost %d\n",
               clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &group, 0, NULL, NULL));
    printf("finish %d\n", clFinish(queue));
}

/* Close what others have opened, and go on. */
static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < 10; i++)
        must(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &group, 0, NULL, NULL), "add");
    must(clFinish(queue), "finish");
}

static void *work_for_ever(void *none)
{
    cl_int error;
    const cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);

    for (;;) {
        for (int i = 0; i < 10; i++)
            (void)clEnqueueNDRangeKernel(own, add, 1, NULL, &n, &group, 0, NULL, NULL);
        (void)clFinish(own);
    }
    return none;
}

/* Leave while other threads enqueue. */
static void leave_busy(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        (void)pthread_create(&thread, NULL, work_for_ever, NULL);
    usleep(100000);
    fflush(stdout);
    exit(3);
}

static void *work_first(void *start)
{
    cl_int error;
    const char *text = source;
    const cl_program p = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    (void)pthread_barrier_wait(start);
    const cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);
    must(error, "queue");
    const cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof a, NULL, &error);
    must(clBuildProgram(p, 1, &device, "", NULL, NULL), "build");
    const cl_kernel k = clCreateKernel(p, "add_one", &error);
    must(clSetKernelArg(k, 0, sizeof m, &m), "arg");
    must(clEnqueueNDRangeKernel(own, k, 1, NULL, &n, &group, 0, NULL, NULL), "add");
    must(clFinish(own), "finish");
    must(clReleaseMemObject(m), "release");
    must(clReleaseCommandQueue(own), "release");
    return NULL;
}

/* Four threads begin to work at once. */
static void work_at_once(void)
{
    pthread_barrier_t start;
    pthread_t threads[4];
    cl_platform_id platform;
    cl_int error;

    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "context");
    (void)pthread_barrier_init(&start, NULL, 4);
    for (int i = 0; i < 4; i++)
        (void)pthread_create(&threads[i], NULL, work_first, &start);
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    must(clReleaseContext(context), "release");
}

/* The child does what follows; its parent has only looked for platforms. */
static void work_in_child(void)
{
    cl_platform_id platform;
    int status = 0;

    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    exit(4);
}

/* More devices than the collector has places for. */
static void divide_device(void)
{
    const cl_device_partition_property list[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id parts[64];
    cl_uint n_parts = 0;
    cl_int error;
    int n_done = 0;

    for (int i = 0; i < 80; i++) {
        if (clCreateSubDevices(device, list, 64, parts, &n_parts) != CL_SUCCESS) {
            printf("no parts\n");
            return;
        }
        const cl_context own = clCreateContext(NULL, 1, parts, NULL, NULL, &error);
        const cl_command_queue q = clCreateCommandQueue(own, parts[0], 0, &error);
        const char *text = source;
        const cl_program p = clCreateProgramWithSource(own, 1, &text, NULL, &error);
        const cl_mem m = clCreateBuffer(own, CL_MEM_READ_WRITE, sizeof a, NULL, &error);

        must(clBuildProgram(p, 1, parts, "", NULL, NULL), "build");
        const cl_kernel k = clCreateKernel(p, "add_one", &error);
        must(clSetKernelArg(k, 0, sizeof m, &m), "arg");
        must(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, &group, 0, NULL, NULL), "add");
        n_done += clFinish(q) == CL_SUCCESS;
    }
    printf("done %d\n", n_done);
}

typedef cl_command_queue (*creator)(cl_context context, cl_device_id device,
                                    const cl_queue_properties *list, cl_int *error);

/* A kernel on a queue that an extension makes. */
static void use_extension(void)
{
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES,
                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue_properties flags = 99;
    cl_platform_id platform;
    cl_int error = 99;

    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    const creator create = (creator)clGetExtensionFunctionAddressForPlatform(
        platform, "clCreateCommandQueueWithPropertiesKHR");
    printf("others %d\n",
           clGetExtensionFunctionAddressForPlatform(platform, "clNothingKHR") != NULL);
    if (!create) {
        printf("no extension\n");
        return;
    }
    printf("no device %d", create(context, NULL, list, &error) != NULL);
    printf(" %d\n", error);
    const cl_command_queue q = create(context, device, list, &error);
    must(error, "queue");
    must(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL), "info");
    printf("flags %lu\n", (unsigned long)flags);
    must(clEnqueueNDRangeKernel(q, add, 1, NULL, &n, &group, 0, NULL, NULL), "add");
    must(clFinish(q), "finish");
    must(clReleaseCommandQueue(q), "release");
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "forked") == 0)
        work_in_child();
    if (strcmp(what, "first") == 0)
        work_at_once();
    make_queues();
    make_kernels();
    run_kernels();
    fill();
    if (strcmp(what, "fail") == 0)
        fail();
    if (strcmp(what, "wait") == 0)
        wait_for_ever();
    if (strcmp(what, "exit") == 0)
        leave_at_work();
    if (strcmp(what, "compile") == 0)
        leave_at_compiling();
    if (strcmp(what, "fork") == 0)
        fork_at_work();
    if (strcmp(what, "free") == 0)
        free_shared();
    if (strcmp(what, "both") == 0)
        use_all_devices();
    if (strcmp(what, "extension") == 0)
        use_extension();
    if (strcmp(what, "kill") == 0)
        be_killed();
    if (strcmp(what, "lost") == 0)
        lose_device();
    if (strcmp(what, "close") == 0)
        close_all();
    if (strcmp(what, "busy") == 0)
        leave_busy();
    if (strcmp(what, "parts") == 0)
        divide_device();
    must(clReleaseMemObject(other), "release");
    must(clReleaseMemObject(buffer), "release");
    must(clReleaseKernel(add), "release");
    must(clReleaseKernel(scale), "release");
    must(clReleaseProgram(program), "release");
    must(clReleaseCommandQueue(second), "release");
    must(clReleaseCommandQueue(queue), "release");
    must(clReleaseContext(context), "release");
    return 0;
}
