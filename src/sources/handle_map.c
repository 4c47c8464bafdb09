/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/handle_map.h"

#include <stddef.h>
#include <string.h>

#include "sources/source_memory.h"
#include "sources/source_thread.h"

#define FIRST_BITS 6u

struct slot {
    _Atomic(const void *) handle; /* NULL: free; set once */
    _Atomic uint64_t value;
};

/* A table that was outgrown stays: threads may be reading it. All together have less than twice
 * the room of the last one. */
struct osc_handle_slots {
    uint32_t bits;
    struct slot all[];
};

static _Atomic(struct osc_handle_map *) maps; /* by `next`: those that have slots */

/* In the child of a fork a copy of a lock may be held by a thread that is not there. What that
 * thread did not finish is not seen, for slots are published whole. */
static void forked(void)
{
    const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;

    /* Relaxed: the child has one thread. */
    for (struct osc_handle_map *m = atomic_load_explicit(&maps, memory_order_relaxed); m;
         m = m->next)
        memcpy(&m->lock, &free_lock, sizeof m->lock);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forked);
}

/* Let forked() know M, which gets its first slots. The caller has its lock. */
static void list_map(struct osc_handle_map *m)
{
    m->next = atomic_load_explicit(&maps, memory_order_relaxed);
    /* Release: so that the map is listed whole. */
    while (!atomic_compare_exchange_weak_explicit(&maps, &m->next, m, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

static uint32_t place_of(const struct osc_handle_slots *s, const void *handle)
{
    return (uint32_t)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >>
                      (64 - s->bits));
}

/* The slot of HANDLE, or the free one where it belongs. One slot in four is free. */
static struct slot *find(struct osc_handle_slots *s, const void *handle)
{
    const uint32_t mask = (1u << s->bits) - 1;
    uint32_t i = place_of(s, handle);

    for (;; i = (i + 1) & mask) {
        /* Acquire pairs with the release in osc_handle_set(): the value is there. */
        const void *const there = atomic_load_explicit(&s->all[i].handle, memory_order_acquire);

        if (!there || there == handle)
            return &s->all[i];
    }
}

uint64_t osc_handle_get(struct osc_handle_map *m, const void *handle)
{
    /* Acquire pairs with the release in grow(). */
    struct osc_handle_slots *const s = atomic_load_explicit(&m->slots, memory_order_acquire);

    if (!s)
        return 0;
    const struct slot *const at = find(s, handle);
    /* A free slot may become that of another handle meanwhile. Acquire: what the value leads to
     * was written before it. */
    return atomic_load_explicit(&at->handle, memory_order_acquire) == handle
               ? atomic_load_explicit(&at->value, memory_order_acquire)
               : 0;
}

/* Make room for one handle more. */
static bool grow(struct osc_handle_map *m)
{
    struct osc_handle_slots *const old = atomic_load_explicit(&m->slots, memory_order_relaxed);
    const uint32_t bits = old ? old->bits + 1 : FIRST_BITS;

    if (m->n >= OSC_HANDLES_MAX)
        return false;
    if (old && m->n < (1u << old->bits) / 4 * 3)
        return true;
    struct osc_handle_slots *const s =
        osc_source_memory(sizeof *s + ((size_t)1 << bits) * sizeof *s->all);
    if (!s)
        return false;
    s->bits = bits;
    for (uint32_t i = 0; old && i < 1u << old->bits; i++) {
        const void *const handle =
            atomic_load_explicit(&old->all[i].handle, memory_order_relaxed);

        if (!handle)
            continue;
        struct slot *const to = find(s, handle);
        const uint64_t value = atomic_load_explicit(&old->all[i].value, memory_order_relaxed);
        atomic_store_explicit(&to->value, value, memory_order_relaxed);
        atomic_store_explicit(&to->handle, handle, memory_order_relaxed);
    }
    if (!old)
        list_map(m);
    /* Release pairs with the acquire in osc_handle_get(). */
    atomic_store_explicit(&m->slots, s, memory_order_release);
    return true;
}

/* Set the value of the handle in SLOT, which is HANDLE's. */
static void fill(struct slot *s, const void *handle, uint64_t value)
{
    /* Release pairs with the acquires in find() and osc_handle_get(). */
    atomic_store_explicit(&s->value, value, memory_order_release);
    atomic_store_explicit(&s->handle, handle, memory_order_release);
}

bool osc_handle_set(struct osc_handle_map *m, const void *handle, uint64_t value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, watch_forks);
    pthread_mutex_lock(&m->lock);
    struct osc_handle_slots *const s = atomic_load_explicit(&m->slots, memory_order_relaxed);
    struct slot *const there = s ? find(s, handle) : NULL;
    const bool is_known =
        there && atomic_load_explicit(&there->handle, memory_order_relaxed) == handle;
    const bool has_room = is_known || grow(m);

    if (is_known) {
        fill(there, handle, value);
    } else if (has_room) {
        fill(find(atomic_load_explicit(&m->slots, memory_order_relaxed), handle), handle,
             value);
        m->n++;
    }
    pthread_mutex_unlock(&m->lock);
    if (!has_room)
        osc_source_count(OSC_SOURCE_COUNT_HANDLES);
    return has_room;
}
