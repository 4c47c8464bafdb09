/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the runtime of a small device: memory, copies, kernels, one queue in order.
 *
 * Its device is the first one that OpenCL finds; a vendor has its own runtime in this place.
 * All functions throw std::runtime_error if the device fails.
 *
 * Threading: any thread may call any function.
 */
#ifndef TINY_RUNTIME_H
#define TINY_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace tiny
{

// Find the device and compile the kernels of SOURCE.
void open(const std::string &source);

// Memory of the device. A block that is released may be allocated again at once: the queue is
// in order, so work on it that was put there before has ended by then.
void *allocate(size_t bytes);
// What a block for BYTES takes.
constexpr size_t rounded(size_t bytes)
{
    return (bytes + 511) / 512 * 512;
}
void release(void *block);
struct memory {
    size_t allocated_bytes, reserved_bytes;
};
memory memory_now();

// Put a copy into the queue; WAIT: until it has been done, as is needed for memory of the host.
void copy(void *to, const void *from, size_t bytes, bool wait);
// Set BYTES at TO, a multiple of PATTERN_BYTES (at most 128), to repetitions of the pattern.
void fill(void *to, const void *pattern, size_t pattern_bytes, size_t bytes);

struct arg {
    arg(const void *block) : pointer(block), bytes(0)
    {
    }
    arg(int value) : number(value), bytes(sizeof value)
    {
    }
    arg(float value) : real(value), bytes(sizeof value)
    {
    }
    union {
        const void *pointer;
        int number;
        float real;
    };
    size_t bytes; // 0: a block of the device
};

// Put a kernel into the queue that runs once for each of N items.
void launch(const char *kernel, int64_t n, std::initializer_list<arg> args);

// Wait until the queue is empty and all of its work has been reported.
void synchronize();

} // namespace tiny

#endif
