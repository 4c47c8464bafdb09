/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - tell a profiler what the device does: calls, launches, work, memory and clock.
 *
 * This and report.cpp are all that knows opscope. Copy both: they need nothing of this backend.
 * While nothing records, each function costs a load and a branch.
 *
 * Threading: any thread may call any function at any time, once device() has returned.
 */
#ifndef TINY_REPORT_H
#define TINY_REPORT_H

#include <cstddef>
#include <cstdint>

#include <opscope/source.h>

namespace report
{

// A text that is used again and again, such as the name of a kernel; make one of each, static.
struct name {
    const char *text;
    osc_name id = 0;
};

// What a device is, and a function that reads the clock whose ticks its work has.
struct about {
    const char *type; // the name of the backend in torch, such as "npu"
    const char *model;
    uint64_t memory_bytes;
    uint32_t n_units;
    uint64_t clock_hz;
    uint64_t (*read_clock)();
};

// The device and its one queue. Call this once, when the runtime has found the device.
void device(const about &about);

// A call of the runtime, for as long as this object lives: the first line of each function.
class call
{
  public:
    explicit call(name &name);
    ~call();
    call(const call &) = delete;
    call &operator=(const call &) = delete;

    // In a call that puts work into the queue: the number that the work has to carry.
    uint64_t launch() const;
};

// Work has finished: once for each launch(), from whichever thread learns of it.
void done(enum osc_work_kind kind, name &name, uint64_t correlation, uint64_t bytes,
          const uint64_t ticks[4]); // queued, submitted, started, ended

// The allocator has given a block of BYTES, or taken back one of -BYTES; the totals are those
// afterwards.
void memory(const void *block, int64_t bytes, int64_t allocated_bytes, int64_t reserved_bytes);

// Compare the clocks now. The runtime calls this when it waits for the device; launch() does
// now and then.
void compare_clocks();

} // namespace report

#endif
