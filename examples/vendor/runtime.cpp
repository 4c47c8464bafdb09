// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#define CL_HPP_TARGET_OPENCL_VERSION 200
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <ctime>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "report.h"

namespace tiny
{
namespace
{

cl::Context context;
cl::CommandQueue queue;
cl::Program program;
std::mutex lock; // of the kernels, whose arguments are set one by one, and of the work

struct kernel {
    cl::Kernel code;
    report::name name;
};
std::unordered_map<std::string_view, kernel> kernels;

// Work in the queue that is to be reported when it has ended.
struct work {
    cl::Event event;
    enum osc_work_kind kind;
    report::name *name;
    uint64_t correlation, bytes;
};
std::deque<work> pending;

// PoCL's times of work are this clock's. A device has a register or a call for it.
uint64_t read_clock()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

// Report what has ended; IS_EMPTY: the queue is, so that all has. The lock is held.
void report_ended(bool is_empty)
{
    for (; !pending.empty(); pending.pop_front()) {
        const work &w = pending.front();

        if (!is_empty && w.event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE)
            return;
        const uint64_t ticks[] = {w.event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>(),
                                  w.event.getProfilingInfo<CL_PROFILING_COMMAND_SUBMIT>(),
                                  w.event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                                  w.event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
        report::done(w.kind, *w.name, w.correlation, w.bytes, ticks);
    }
}

// Put work into the queue: ENQUEUE has a place for its event if it is to be reported. The lock
// is held.
template <class Enqueue>
void put(const report::call &call, enum osc_work_kind kind, report::name &name, size_t bytes,
         Enqueue enqueue)
{
    const uint64_t correlation = call.launch();
    cl::Event event;
    const cl_int status = enqueue(correlation != 0 ? &event() : nullptr);

    if (status != CL_SUCCESS)
        throw cl::Error(status, name.text);
    queue.flush();
    if (correlation != 0)
        pending.push_back({std::move(event), kind, &name, correlation, bytes});
    if (pending.size() >= 128) // the program has not waited for long
        report_ended(false);
}

} // namespace

void open(const std::string &source)
{
    const cl::Device device = cl::Device::getDefault();
    static const std::string model = device.getInfo<CL_DEVICE_NAME>();

    context = cl::Context(device);
    queue = cl::CommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE);
    program = cl::Program(context, source, true);
    report::device({"tiny", model.c_str(), device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(),
                    device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(), 1000000000, read_clock});
}

void *allocate(size_t bytes)
{
    static report::name name = {"tinyMalloc"};
    const report::call call(name);
    void *block = clSVMAlloc(context(), CL_MEM_READ_WRITE, bytes, 0);

    if (!block)
        throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device has no memory left");
    return block;
}

void copy(void *to, const void *from, size_t bytes, bool wait)
{
    static report::name name = {"tinyMemcpy"}, work_name = {"memcpy"};
    const report::call call(name);
    const std::lock_guard<std::mutex> guard(lock);

    put(call, OSC_WORK_MEMCPY, work_name, bytes, [=](cl_event *event) {
        return clEnqueueSVMMemcpy(queue(), CL_FALSE, to, from, bytes, 0, nullptr, event);
    });
    if (wait) {
        queue.finish();
        report_ended(true);
    }
}

void fill(void *to, const void *pattern, size_t pattern_bytes, size_t bytes)
{
    static report::name name = {"tinyMemset"}, work_name = {"memset"};
    const report::call call(name);
    const std::lock_guard<std::mutex> guard(lock);

    put(call, OSC_WORK_MEMSET, work_name, bytes, [=](cl_event *event) {
        return clEnqueueSVMMemFill(queue(), to, pattern, pattern_bytes, bytes, 0, nullptr,
                                   event);
    });
}

void launch(const char *which, size_t n, std::initializer_list<arg> args)
{
    static report::name name = {"tinyLaunchKernel"};
    const report::call call(name);
    const std::lock_guard<std::mutex> guard(lock);
    kernel &k = kernels[which];
    cl_uint i = 0;

    if (!k.code())
        k = {cl::Kernel(program, which), {which}};
    for (const arg &a : args) {
        if (a.bytes == 0)
            k.code.setArg(i++, a.at);
        else
            k.code.setArg(i++, a.bytes, a.at);
    }
    put(call, OSC_WORK_KERNEL, k.name, 0, [&](cl_event *event) {
        return clEnqueueNDRangeKernel(queue(), k.code(), 1, nullptr, &n, nullptr, 0, nullptr,
                                      event);
    });
}

void synchronize()
{
    static report::name name = {"tinySynchronize"};
    const report::call call(name);
    const std::lock_guard<std::mutex> guard(lock);

    queue.finish();
    report_ended(true);
    report::compare_clocks();
}

} // namespace tiny
