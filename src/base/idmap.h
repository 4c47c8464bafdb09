/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap.h - from a 64-bit key to a 32-bit value.
 *
 * Open addressing with linear probing, for correlation ids, flow ids, (name,
 * stack) pairs and the like. Any key is allowed; the value 0 is "not there".
 * Keys come from files, so each map mixes them with a random seed of its own.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

struct osc_idmap_slot {
    uint64_t key;
    uint32_t value;
    uint32_t is_used; /* 1 once a key lives here, even while its value is 0 */
};

/* Zeroed, it is an empty map. */
struct osc_idmap {
    struct osc_idmap_slot *slots; /* owned */
    uint64_t seed;                /* drawn when the first key comes */
    uint32_t n_slots;             /* a power of two, or 0 */
    uint32_t n_used;              /* at most three quarters of the slots */
};

void osc_idmap_fini(struct osc_idmap *m);

/* The value of KEY, or 0. */
uint32_t osc_idmap_get(const struct osc_idmap *m, uint64_t key);

/*
 * The place of the value of KEY, which is made (0) if it is new. Good until the
 * next call. NULL when memory is exhausted or 3 * 2^29 keys are in; the map is
 * whole.
 */
uint32_t *osc_idmap_put(struct osc_idmap *m, uint64_t key) __attribute__((warn_unused_result));
