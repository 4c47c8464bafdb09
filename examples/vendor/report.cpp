// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <atomic>

namespace report
{
namespace
{

uint32_t number = OSC_DEVICE_CPU, queue;
uint64_t (*read_clock)();
std::atomic<uint32_t> n_launches{0};

osc_name id_of(name &name)
{
    osc_name_once(&name.id, name.text);
    return name.id;
}

} // namespace

void device(const about &about)
{
    osc_device_info info = {};

    info.type = about.type;
    info.name = about.model;
    info.memory_bytes = about.memory_bytes;
    info.clock_hz = about.clock_hz;
    info.limits.n_units = about.n_units;
    read_clock = about.read_clock;
    number = osc_device_add(&info);
    queue = osc_queue_add(number, "queue 0");
    compare_clocks();
}

call::call(name &name)
{
    osc_begin(OSC_SCOPE_RUNTIME, id_of(name));
    osc_runtime_enter(); // what it asks of OpenCL is a part of it
}

call::~call()
{
    osc_runtime_leave();
    osc_end();
}

uint64_t call::launch() const
{
    if (!osc_is_on())
        return 0;
    if (n_launches.fetch_add(1, std::memory_order_relaxed) % 256 == 0)
        compare_clocks(); // now and then, which shows the drift of any clock
    return osc_launch();
}

void done(enum osc_work_kind kind, name &name, uint64_t correlation, uint64_t bytes,
          const uint64_t ticks[4])
{
    osc_work_info info = {};

    // What was launched before the recording began has no number: no call would be its cause.
    if (!osc_is_on() || correlation == 0)
        return;
    info.kind = kind;
    info.name = id_of(name);
    info.append_ticks = ticks[0];
    info.submit_ticks = ticks[1];
    info.start_ticks = ticks[2];
    info.end_ticks = ticks[3];
    info.correlation = correlation;
    info.bytes = bytes;
    osc_work(queue, &info);
}

void memory(const void *block, int64_t bytes, int64_t allocated_bytes, int64_t reserved_bytes)
{
    const auto at = reinterpret_cast<uintptr_t>(block);
    const auto allocated = static_cast<uint64_t>(allocated_bytes);
    const auto reserved = static_cast<uint64_t>(reserved_bytes);

    if (!osc_is_on())
        return;
    if (bytes > 0)
        osc_memory_alloc_total(number, at, static_cast<uint64_t>(bytes), allocated, reserved);
    else
        osc_memory_free_total(number, at, static_cast<uint64_t>(-bytes), allocated, reserved);
}

void compare_clocks()
{
    uint64_t before = 0, ticks = 0, width = UINT64_MAX;

    for (int i = 0; i < 3; i++) { // the best of three: a reading may be interrupted
        const uint64_t from = osc_now(), read = read_clock(), to = osc_now();

        if (to - from < width) {
            before = from;
            ticks = read;
            width = to - from;
        }
    }
    osc_device_clock(number, before, ticks, before + width);
}

} // namespace report
