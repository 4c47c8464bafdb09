// SPDX-License-Identifier: Apache-2.0
/*
 * vendor_kineto.cpp - what examples/vendor/report.cpp does, for torch.profiler: a plug-in of
 * Kineto.
 *
 * vendor.py builds the device once with each, to compare what recording costs. While it records
 * it only appends to an array; all else is done when the profile ends. Times are the clock's of
 * Kineto; those of work are moved there by one pair of readings, taken as the session starts.
 */
#include <atomic>
#include <ctime>
#include <deque>
#include <mutex>
#include <vector>

#include <unistd.h>

#define USE_KINETO // or the header for plug-ins is empty
#include <libkineto.h>
#include <output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include "report.h"

namespace report
{
namespace
{

struct event {
    libkineto::ActivityType type;
    const name *text;
    uint64_t start, end, correlation;
    uint64_t op; // the operator around it, as Kineto numbers them
    int32_t thread;
};

std::atomic<bool> is_on{false};
std::atomic<uint64_t> n_launches{0};
std::mutex lock; // of the two below
std::vector<event> events;
std::vector<uint64_t> op_of; // by correlation
uint64_t (*read_clock)();
thread_local std::vector<uint64_t> ops;
thread_local event current; // calls of the example do not nest, but for tinyMalloc

uint64_t now()
{
    timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

int32_t thread()
{
    static thread_local const int32_t id = libkineto::systemThreadId();

    return id;
}

class Session final : public libkineto::IActivityProfilerSession
{
  public:
    void start() override
    {
        events.clear();
        op_of.assign(1, 0);
        n_launches = 0;
        ahead_ = now() - read_clock();
        is_on = true;
    }
    void stop() override
    {
        is_on = false;
    }
    std::vector<std::string> errors() override
    {
        return {};
    }
    void processTrace(libkineto::ActivityLogger &) override
    {
    }
    void processTrace(libkineto::ActivityLogger &logger,
                      libkineto::getLinkedActivityCallback linked, int64_t, int64_t) override
    {
        const std::lock_guard<std::mutex> guard(lock);

        buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
        buffer_->span = libkineto::TraceSpan(0, 0, "tiny");
        for (const event &e : events) {
            const bool is_call = e.type == libkineto::ActivityType::PRIVATEUSE1_RUNTIME;

            buffer_->emplace_activity(buffer_->span, e.type, e.text->text);
            libkineto::GenericTraceActivity &a = *buffer_->activities.back();
            a.startTime = static_cast<int64_t>(e.start + (is_call ? 0 : ahead_));
            a.endTime = static_cast<int64_t>(e.end + (is_call ? 0 : ahead_));
            a.id = static_cast<int32_t>(e.correlation);
            a.device = is_call ? getpid() : 0;
            a.resource = is_call ? e.thread : 0;
            a.threadId = e.thread;
            const uint64_t op = is_call ? e.op : op_of.at(e.correlation);
            a.linked = linked(static_cast<int32_t>(op));
            if (e.correlation != 0) {
                a.flow.id = static_cast<uint32_t>(e.correlation);
                a.flow.type = libkineto::kLinkAsyncCpuGpu;
                a.flow.start = is_call;
            }
            a.log(logger);
        }
    }
    std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override
    {
        return nullptr;
    }
    std::vector<libkineto::ResourceInfo> getResourceInfos() override
    {
        return {};
    }
    std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override
    {
        return std::move(buffer_);
    }
    void pushCorrelationId(uint64_t id) override
    {
        ops.push_back(id);
    }
    void popCorrelationId() override
    {
        if (!ops.empty())
            ops.pop_back();
    }

  private:
    uint64_t ahead_ = 0; // of Kineto's clock before the device's
    std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class Plugin final : public libkineto::IActivityProfiler
{
  public:
    const std::string &name() const override
    {
        return name_;
    }
    const std::set<libkineto::ActivityType> &availableActivities() const override
    {
        return types_;
    }
    std::unique_ptr<libkineto::IActivityProfilerSession> configure(
        const std::set<libkineto::ActivityType> &, const libkineto::Config &) override
    {
        return std::make_unique<Session>();
    }
    std::unique_ptr<libkineto::IActivityProfilerSession> configure(
        int64_t, int64_t, const std::set<libkineto::ActivityType> &types,
        const libkineto::Config &config) override
    {
        return configure(types, config);
    }

  private:
    const std::string name_ = "tiny";
    const std::set<libkineto::ActivityType> types_ = {
        libkineto::ActivityType::GPU_MEMCPY, libkineto::ActivityType::GPU_MEMSET,
        libkineto::ActivityType::CONCURRENT_KERNEL,
        libkineto::ActivityType::PRIVATEUSE1_RUNTIME};
};
REGISTER_PRIVATEUSE1_PROFILER(Plugin);

} // namespace

void device(const about &about)
{
    read_clock = about.read_clock;
}

call::call(name &name)
{
    current = {};
    if (is_on.load(std::memory_order_relaxed)) {
        current.type = libkineto::ActivityType::PRIVATEUSE1_RUNTIME;
        current.text = &name;
        current.start = now();
        current.op = ops.empty() ? 0 : ops.back();
        current.thread = thread();
    }
}

call::~call()
{
    if (!is_on.load(std::memory_order_relaxed) || current.start == 0)
        return;
    current.end = now();
    const std::lock_guard<std::mutex> guard(lock);
    events.push_back(current);
}

uint64_t call::launch() const
{
    if (current.start == 0)
        return 0;
    const std::lock_guard<std::mutex> guard(lock);
    op_of.push_back(current.op);
    return current.correlation = op_of.size() - 1;
}

void done(enum osc_work_kind kind, name &name, uint64_t correlation, uint64_t,
          const uint64_t ticks[4])
{
    if (!is_on.load(std::memory_order_relaxed) || correlation == 0)
        return;
    const std::lock_guard<std::mutex> guard(lock);
    events.push_back({kind == OSC_WORK_KERNEL   ? libkineto::ActivityType::CONCURRENT_KERNEL
                      : kind == OSC_WORK_MEMCPY ? libkineto::ActivityType::GPU_MEMCPY
                                                : libkineto::ActivityType::GPU_MEMSET,
                      &name, ticks[2], ticks[3], correlation, 0, 0});
}

// The backend tells torch of its memory.
void memory(const void *, int64_t, int64_t, int64_t)
{
}
void compare_clocks()
{
}

} // namespace report
