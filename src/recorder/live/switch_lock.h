/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_lock.h - a lock for rules (recording/switches.h), held while a few of them are read.
 *
 * Threading: any thread and handler.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define OSC_SWITCH_YIELDS 1000

/* False if another thread, or what this handler interrupted, does not release it. */
static inline bool osc_switch_lock(uint32_t *lock)
{
    for (int i = 0; i < OSC_SWITCH_YIELDS; i++) {
        /* acquire: pairs with the release in osc_switch_unlock() */
        if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0)
            return true;
        (void)sched_yield();
    }
    return false;
}

static inline void osc_switch_unlock(uint32_t *lock)
{
    /* release: pairs with the acquire in osc_switch_lock() */
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
