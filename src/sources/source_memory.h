/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_memory.h - memory of sources, which is never freed.
 *
 * It is mapped by the system, not taken from the program's allocator, which may be what calls a
 * source.
 *
 * Threading: thread-safe, without locks.
 */
#pragma once

#include <stddef.h>

/* Of all sources together. */
#define OSC_SOURCE_MEMORY_MAX ((size_t)256 << 20)

/* Zeroed memory, or NULL. BYTES is rounded up to cache lines. */
void *osc_source_memory(size_t bytes);
