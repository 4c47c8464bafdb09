// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>

#include <c10/core/Device.h>

#include "hooks.h"
#include "opscope/record.h"
#include "opscope/source.h"

namespace
{

/*
 * Allocated blocks and their sizes, because a release does not state its size. An address may
 * stand in one of kProbes lines. If these are full, the block is forgotten and its release is
 * not recorded, like that of a block from before the start.
 */
struct Line {
    std::atomic<uint64_t> address[4]; // 0: free
    uint64_t bytes[4];                // written by the thread that stored the address
};
constexpr size_t kLines = size_t{1} << 18, kProbes = 8;
Line *lines;

// Blocks that are close in memory have lines close together, so that few of them miss the
// cache.
inline size_t line_of(uint64_t address)
{
    return static_cast<size_t>(address >> 8 ^ (address >> 26) * UINT64_C(0x9e3779b1)) &
           (kLines - 1);
}

void remember(uint64_t address, uint64_t bytes)
{
    for (size_t p = 0; p < kProbes; p++) {
        Line *line = &lines[(line_of(address) + p) & (kLines - 1)];

        for (size_t i = 0; i < std::size(line->address); i++) {
            uint64_t none = 0;

            // relaxed: the block itself is handed from thread to thread in order
            if (line->address[i].load(std::memory_order_relaxed) == 0 &&
                line->address[i].compare_exchange_strong(none, address,
                                                         std::memory_order_relaxed)) {
                line->bytes[i] = bytes;
                return;
            }
        }
    }
}

// Forget the block at ADDRESS and return its bytes; 0: not known.
uint64_t forget(uint64_t address)
{
    for (size_t p = 0; p < kProbes; p++) {
        Line *line = &lines[(line_of(address) + p) & (kLines - 1)];

        for (size_t i = 0; i < std::size(line->address); i++) {
            // relaxed: as in remember()
            if (line->address[i].load(std::memory_order_relaxed) != address)
                continue;
            const uint64_t bytes = line->bytes[i];
            // release: pairs with nothing but a later owner's exchange of the same word
            line->address[i].store(0, std::memory_order_release);
            return bytes;
        }
    }
    return 0;
}

// torch's own functions, which ours call.
void (*torch_new)(void *, void *, size_t);
void (*torch_delete)(void *, void *);
void (*torch_out_of_memory)(void *, size_t);
void (*torch_report)(void *, int64_t, size_t, size_t, c10::Device);
void (*torch_report_out_of_memory)(int64_t, size_t, size_t, c10::Device);
std::atomic<bool> has_memory{false};

// Whether to record this thread's allocations: if its operators are recorded, or are toggled
// off for now, as torch does.
inline bool records_memory()
{
    // relaxed: a call comes before or after the change, and both are right
    return has_memory.load(std::memory_order_relaxed) && osc_is_on() &&
           osc_torch::is_recorded(true);
}

void on_new(void *reporter, void *ptr, size_t bytes)
{
    torch_new(reporter, ptr, bytes);
    if (bytes > 0 && records_memory()) {
        remember(reinterpret_cast<uint64_t>(ptr), bytes);
        osc_memory_alloc(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
        osc_torch::put_stack();
    }
}

void on_delete(void *reporter, void *ptr)
{
    const uint64_t bytes = forget(reinterpret_cast<uint64_t>(ptr));

    if (bytes > 0 && records_memory()) {
        osc_memory_free(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
        osc_torch::put_stack();
    }
    torch_delete(reporter, ptr);
}

void put_out_of_memory(int64_t bytes, c10::Device device)
{
    osc_instant(osc_name_c("[OutOfMemory]"));
    osc_arg_i64(osc_name_c("Device Type"), static_cast<int64_t>(device.type()));
    osc_arg_i64(osc_name_c("Device Id"), device.index());
    osc_arg_i64(osc_name_c("Bytes"), bytes);
}

void on_out_of_memory(void *reporter, size_t bytes)
{
    if (records_memory())
        put_out_of_memory(static_cast<int64_t>(bytes), c10::Device(c10::DeviceType::CPU));
    torch_out_of_memory(reporter, bytes);
}

constexpr size_t kTypes = 32, kIndexes = 64;
std::atomic<uint32_t> added[kTypes][kIndexes]; // by osc_device_add(); 0: not yet

// Add DEVICE to the recorder. OSC_DEVICE_CPU: its memory is not ours to record, as that of a
// vendor's device which reports to us, or of a type that torch has no name for.
uint32_t add(c10::Device device)
{
    osc_device_info info{};
    std::string name;

    try {
        name = c10::DeviceTypeName(device.type(), true);
    } catch (...) {
        return OSC_DEVICE_CPU;
    }
    info.type = name.c_str();
    info.index = static_cast<uint32_t>(device.index());
    if (device.type() == c10::DeviceType::PrivateUse1 &&
        osc_device_find(info.type, info.index) != OSC_DEVICE_CPU)
        return OSC_DEVICE_CPU;
    return osc_device_add(&info);
}

// The recorder's number of DEVICE, or OSC_DEVICE_CPU: see add().
uint32_t number_of(c10::Device device)
{
    const auto type = static_cast<size_t>(device.type());
    const auto index = static_cast<size_t>(device.index());

    if (type >= kTypes || index >= kIndexes)
        return OSC_DEVICE_CPU;
    // relaxed: the number is also in a record that this thread makes or has made
    uint32_t number = added[type][index].load(std::memory_order_relaxed);
    if (number != OSC_DEVICE_CPU)
        return number;
    number = add(device);
    added[type][index].store(number, std::memory_order_relaxed); // relaxed: as above
    return number;
}

// Memory of devices, with the totals of its allocator, and memory of the host from outside the
// allocator: mapped files and shared memory. Releases state their size.
void on_report(void *ptr, int64_t bytes, size_t allocated, size_t reserved, c10::Device device)
{
    const auto address = reinterpret_cast<uint64_t>(ptr);
    const uint64_t size =
        bytes > 0 ? static_cast<uint64_t>(bytes) : -static_cast<uint64_t>(bytes);

    torch_report(ptr, bytes, allocated, reserved, device);
    if (bytes == 0 || !records_memory())
        return;
    if (device.is_cpu()) {
        bytes > 0 ? osc_memory_alloc(OSC_DEVICE_CPU, address, size)
                  : osc_memory_free(OSC_DEVICE_CPU, address, size);
    } else {
        const uint32_t number = number_of(device);

        if (number == OSC_DEVICE_CPU)
            return;
        bytes > 0 ? osc_memory_alloc_total(number, address, size, allocated, reserved)
                  : osc_memory_free_total(number, address, size, allocated, reserved);
    }
    osc_torch::put_stack();
}

void on_device_out_of_memory(int64_t bytes, size_t allocated, size_t reserved,
                             c10::Device device)
{
    if (records_memory()) {
        put_out_of_memory(bytes, device);
        osc_arg_i64(osc_name_c("Total Allocated"), static_cast<int64_t>(allocated));
        osc_arg_i64(osc_name_c("Total Reserved"), static_cast<int64_t>(reserved));
    }
    torch_report_out_of_memory(bytes, allocated, reserved, device);
}

osc_torch::Hook hooks[] = {
    {"libc10.so", "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm",
     reinterpret_cast<void *>(on_new), reinterpret_cast<void **>(&torch_new), false},
    {"libc10.so", "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv",
     reinterpret_cast<void *>(on_delete), reinterpret_cast<void **>(&torch_delete), false},
    {"libc10.so", "_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm",
     reinterpret_cast<void *>(on_out_of_memory),
     reinterpret_cast<void **>(&torch_out_of_memory), false},
    {nullptr, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
     reinterpret_cast<void *>(on_report), reinterpret_cast<void **>(&torch_report), false},
    {nullptr, "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE",
     reinterpret_cast<void *>(on_device_out_of_memory),
     reinterpret_cast<void **>(&torch_report_out_of_memory), false},
};

// Entries stay redirected, so that releases between two sessions are seen. Each session looks
// at the libraries that came since: a device's may be loaded when it is first used.
bool watch_memory()
{
    static bool is_done, is_good;
    static osc_torch::Seen seen;

    if (is_done)
        return is_good && osc_torch::redirect(hooks, std::size(hooks), &seen);
    is_done = true;
    void *p = mmap(nullptr, kLines * sizeof(Line), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    lines = static_cast<Line *>(p);
    is_good = osc_torch::redirect(hooks, std::size(hooks), &seen) && hooks[0].is_set &&
              hooks[1].is_set;
    return is_good;
}

} // namespace

bool osc_torch::memory_start()
{
    if (!watch_memory())
        return false;
    has_memory.store(true, std::memory_order_relaxed); // relaxed: as in records_memory()
    return true;
}

void osc_torch::memory_stop()
{
    has_memory.store(false, std::memory_order_relaxed); // relaxed: as in records_memory()
}
