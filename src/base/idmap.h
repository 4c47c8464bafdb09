/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap.h - a map from 64-bit keys to 32-bit values.
 *
 * Open addressing with linear probing, for correlation ids, flow ids, (name, stack) pairs and
 * the like. Any key is allowed; the value 0 means "absent". Keys come from files, so each map
 * mixes them with a random seed of its own.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

struct osc_idmap_slot {
    uint64_t key;
    uint32_t value;
    uint32_t is_used; /* 1 if a key is stored here, even if its value is 0 */
};

/* A zeroed struct is an empty map. */
struct osc_idmap {
    struct osc_idmap_slot *slots; /* owned */
    uint64_t seed;                /* set when the first key is added */
    uint32_t n_slots;             /* a power of two, or 0 */
    uint32_t n_used;              /* at most three quarters of the slots */
};

void osc_idmap_fini(struct osc_idmap *m);

/* The value of KEY, or 0 if it is absent. */
uint32_t osc_idmap_get(const struct osc_idmap *m, uint64_t key);

/*
 * The address of the value of KEY, which is added with value 0 if it is absent. The address is
 * valid until the next call. NULL if memory is exhausted or the map holds 3 * 2^29 keys; the
 * map then stays unchanged.
 */
uint32_t *osc_idmap_put(struct osc_idmap *m, uint64_t key) __attribute__((warn_unused_result));
