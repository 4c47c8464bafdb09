/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle_map.h - what a source knows of a runtime's handles: from a pointer to a value.
 *
 * Runtimes use addresses again: whoever sees a handle being made sets its value anew. Nothing
 * is removed, so readers need no lock; a map has at most OSC_HANDLES_MAX handles, and those
 * that have no room are counted.
 *
 * Threading: thread-safe. In the child of a fork, no lock of a map is held.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OSC_HANDLES_MAX ((uint32_t)1 << 20)

struct osc_handle_slots;

/* Zeroed with PTHREAD_MUTEX_INITIALIZER as its lock, it is empty. */
struct osc_handle_map {
    pthread_mutex_t lock; /* of writers */
    _Atomic(struct osc_handle_slots *) slots;
    uint32_t n;
    struct osc_handle_map *next; /* of all that have handles */
};

/* The value of HANDLE, which must not be NULL; 0: it has none. */
uint64_t osc_handle_get(struct osc_handle_map *m, const void *handle);

/* Set the value of HANDLE, which must not be NULL. False: there is no room. */
bool osc_handle_set(struct osc_handle_map *m, const void *handle, uint64_t value);

/* A handle that is a number, not 0, instead of a pointer. */
static inline const void *osc_handle_of(uint64_t number)
{
    const uintptr_t bits = (uintptr_t)number;
    const void *handle;

    memcpy(&handle, &bits, sizeof handle);
    return handle;
}

/* The same for values that are addresses. */
static inline void *osc_handle_get_address(struct osc_handle_map *m, const void *handle)
{
    const uintptr_t value = (uintptr_t)osc_handle_get(m, handle);
    void *address;

    memcpy(&address, &value, sizeof address);
    return address;
}
