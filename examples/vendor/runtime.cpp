// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "report.h"

namespace tiny
{
namespace
{

cl_context context;
cl_command_queue queue;
std::mutex lock; // of kernels, whose arguments are set one by one, and of the two below

struct kernel {
    cl_kernel code;
    report::name name;
};
std::map<std::string, kernel> kernels;

// Blocks that are in use, and those that are kept for the next request of their size.
std::unordered_map<void *, size_t> used;
std::multimap<size_t, void *> kept;
memory total;

std::mutex pending_lock;
std::condition_variable none_pending;
int n_pending; // works that have not been reported

void check(cl_int status, const char *what)
{
    if (status != CL_SUCCESS)
        throw std::runtime_error(std::string(what) + ": OpenCL error " +
                                 std::to_string(status));
}

// PoCL's times of work are this clock's. A device has a register or a call for it.
uint64_t read_clock()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

// What is reported of a work when it has ended.
struct work {
    enum osc_work_kind kind;
    report::name *name;
    uint64_t correlation, bytes;
};

void CL_CALLBACK has_ended(cl_event event, cl_int, void *data)
{
    const cl_profiling_info which[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                       CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    const work *w = static_cast<work *>(data);
    uint64_t ticks[4] = {};

    for (int i = 0; i < 4; i++)
        clGetEventProfilingInfo(event, which[i], sizeof ticks[i], &ticks[i], nullptr);
    report::done(w->kind, *w->name, w->correlation, w->bytes, ticks);
    delete w;
    clReleaseEvent(event);
    const std::lock_guard<std::mutex> guard(pending_lock);
    if (--n_pending == 0)
        none_pending.notify_all();
}

// The work of EVENT is in the queue: report it when it has ended.
void follow(cl_event event, const work &w)
{
    {
        const std::lock_guard<std::mutex> guard(pending_lock);
        n_pending++;
    }
    check(clSetEventCallback(event, CL_COMPLETE, has_ended, new work(w)), "clSetEventCallback");
    check(clFlush(queue), "clFlush");
}

} // namespace

void open(const std::string &source)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    cl_uint n_units = 0;
    cl_ulong memory_bytes = 0;
    static char model[128];
    const cl_queue_properties wanted[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};

    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, wanted, &status);
    check(status, "clCreateCommandQueueWithProperties");
    const char *text = source.c_str();
    cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
    cl_uint n = 0;
    check(clCreateKernelsInProgram(program, 0, nullptr, &n), "clCreateKernelsInProgram");
    std::vector<cl_kernel> found(n);
    check(clCreateKernelsInProgram(program, n, found.data(), nullptr),
          "clCreateKernelsInProgram");
    for (cl_kernel k : found) {
        char name[64] = "";

        clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
        const auto at = kernels.emplace(name, kernel{k, {nullptr}}).first;
        at->second.name.text = at->first.c_str();
    }
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof model, model, nullptr);
    clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory_bytes, &memory_bytes,
                    nullptr);
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof n_units, &n_units, nullptr);
    report::device({"tiny", model, memory_bytes, n_units, 1000000000, read_clock});
}

void *allocate(size_t bytes)
{
    static report::name name = {"tinyMalloc"};
    const size_t size = rounded(bytes);
    const std::lock_guard<std::mutex> guard(lock);
    const auto at = kept.find(size);
    void *block;

    if (bytes == 0)
        return nullptr;
    if (at != kept.end()) {
        block = at->second;
        kept.erase(at);
    } else {
        const report::call call(name); // only here the device itself is asked
        block = clSVMAlloc(context, CL_MEM_READ_WRITE, size, 0);
        if (!block)
            throw std::runtime_error("the device has no memory left");
        total.reserved_bytes += size;
    }
    used[block] = size;
    total.allocated_bytes += size;
    report::allocated(block, size, total.allocated_bytes, total.reserved_bytes);
    return block;
}

void release(void *block)
{
    const std::lock_guard<std::mutex> guard(lock);
    const auto at = used.find(block);

    if (at == used.end())
        return;
    kept.emplace(at->second, block);
    total.allocated_bytes -= at->second;
    report::freed(block, at->second, total.allocated_bytes, total.reserved_bytes);
    used.erase(at);
}

memory memory_now()
{
    const std::lock_guard<std::mutex> guard(lock);

    return total;
}

void copy(void *to, const void *from, size_t bytes, bool wait)
{
    static report::name name = {"tinyMemcpy"}, work_name = {"memcpy"};
    const report::call call(name);
    cl_event event;

    if (bytes == 0)
        return;
    const uint64_t correlation = call.launch();
    check(clEnqueueSVMMemcpy(queue, CL_FALSE, to, from, bytes, 0, nullptr, &event),
          "clEnqueueSVMMemcpy");
    follow(event, {OSC_WORK_MEMCPY, &work_name, correlation, bytes});
    if (wait)
        check(clFinish(queue), "clFinish");
}

void fill(void *to, const void *pattern, size_t pattern_bytes, size_t bytes)
{
    static report::name name = {"tinyMemset"}, work_name = {"memset"};
    const report::call call(name);
    cl_event event;

    if (bytes == 0)
        return;
    const uint64_t correlation = call.launch();
    check(clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, 0, nullptr, &event),
          "clEnqueueSVMMemFill");
    follow(event, {OSC_WORK_MEMSET, &work_name, correlation, bytes});
}

void launch(const char *which, int64_t n, std::initializer_list<arg> args)
{
    static report::name name = {"tinyLaunchKernel"};
    const report::call call(name);
    const std::lock_guard<std::mutex> guard(lock);
    kernel &k = kernels.at(which);
    const size_t n_items = static_cast<size_t>(n);
    cl_uint i = 0;
    cl_event event;

    if (n == 0)
        return;
    for (const arg &a : args) {
        check(a.bytes == 0 ? clSetKernelArgSVMPointer(k.code, i, a.pointer)
                           : clSetKernelArg(k.code, i, a.bytes, &a.number),
              which);
        i++;
    }
    const uint64_t correlation = call.launch();
    check(clEnqueueNDRangeKernel(queue, k.code, 1, nullptr, &n_items, nullptr, 0, nullptr,
                                 &event),
          which);
    follow(event, {OSC_WORK_KERNEL, &k.name, correlation, 0});
}

void synchronize()
{
    static report::name name = {"tinySynchronize"};
    const report::call call(name);

    check(clFinish(queue), "clFinish");
    // A profiler stops recording after this call, so nothing may be reported later.
    std::unique_lock<std::mutex> guard(pending_lock);
    none_pending.wait(guard, [] { return n_pending == 0; });
    report::compare_clocks();
}

} // namespace tiny
