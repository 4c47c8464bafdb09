/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the runtime of a small device: memory, copies, kernels, one queue in order.
 *
 * Its device is the first one that OpenCL finds; a vendor has its own runtime in this place.
 * Functions throw if the device fails. Sizes are not 0.
 *
 * Threading: any thread may call any function.
 */
#ifndef TINY_RUNTIME_H
#define TINY_RUNTIME_H

#include <cstddef>
#include <initializer_list>
#include <string>

namespace tiny
{

// Find the device and compile the kernels of SOURCE.
void open(const std::string &source);

// Memory of the device. It is never given back.
void *allocate(size_t bytes);

// Put a copy into the queue; WAIT: until it has been done, as is needed for memory of the host.
void copy(void *to, const void *from, size_t bytes, bool wait);

// Set BYTES at TO, a multiple of PATTERN_BYTES (at most 128), to repetitions of the pattern.
void fill(void *to, const void *pattern, size_t pattern_bytes, size_t bytes);

struct arg {
    const void *at;
    size_t bytes; // of the value that AT points to; 0: AT is a block of the device
};

// Put a kernel into the queue that runs once for each of N items. KERNEL is a literal.
void launch(const char *kernel, size_t n, std::initializer_list<arg> args);

// Wait until the queue is empty and all of its work has been reported.
void synchronize();

} // namespace tiny

#endif
