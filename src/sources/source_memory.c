/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#define CHUNK_BYTES ((size_t)1 << 20)
#define ROOM_ALIGN  64u

/* Memory comes from chunks; the rest of one is lost when the next begins. */
struct chunk {
    size_t bytes;
    _Atomic size_t used;
};

static _Atomic(struct chunk *) current;
static _Atomic size_t mapped_bytes;
/* Map a new chunk in place of SEEN and return its first BYTES. NULL: no memory. */
static void *room_in_new_chunk(struct chunk *seen, size_t bytes)
{
    const size_t whole = bytes + ROOM_ALIGN > CHUNK_BYTES ? bytes + ROOM_ALIGN : CHUNK_BYTES;
    const int saved = errno;
    /* Relaxed: only a bound, nothing else depends on it. */
    const size_t before = atomic_fetch_add_explicit(&mapped_bytes, whole, memory_order_relaxed);
    void *const p =
        before + whole > OSC_SOURCE_MEMORY_MAX
            ? MAP_FAILED
            : mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct chunk *const chunk = p;

    errno = saved;
    if (p == MAP_FAILED) {
        atomic_fetch_sub_explicit(&mapped_bytes, whole, memory_order_relaxed);
        return NULL;
    }
    chunk->bytes = whole;
    atomic_store_explicit(&chunk->used, ROOM_ALIGN + bytes, memory_order_relaxed);
    /* Release pairs with the acquire in osc_source_memory(). If another thread was first, this
     * one still uses its memory; the rest of its chunk is lost. */
    atomic_compare_exchange_strong_explicit(&current, &seen, chunk, memory_order_release,
                                            memory_order_relaxed);
    return (char *)p + ROOM_ALIGN;
}

void *osc_source_memory(size_t bytes)
{
    bytes = (bytes + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
    /* Acquire pairs with the release in room_in_new_chunk(). */
    struct chunk *const chunk = atomic_load_explicit(&current, memory_order_acquire);
    if (chunk) {
        const size_t at = atomic_fetch_add_explicit(&chunk->used, bytes, memory_order_relaxed);

        if (at <= chunk->bytes && bytes <= chunk->bytes - at)
            return (char *)chunk + at;
    }
    return room_in_new_chunk(chunk, bytes);
}
