/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idmap.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* From this size on the slots are whole pages: huge pages save a TLB miss in nearly every
 * look-up. */
#define PAGES_FROM_BYTES ((size_t)2 << 20)

static struct osc_idmap_slot *new_slots(uint32_t n)
{
    const size_t bytes = n * sizeof(struct osc_idmap_slot);

    return bytes < PAGES_FROM_BYTES ? osc_calloc(1, bytes) : osc_pages_alloc(bytes);
}

static void free_slots(struct osc_idmap_slot *slots, uint32_t n)
{
    const size_t bytes = n * sizeof *slots;

    if (bytes < PAGES_FROM_BYTES)
        osc_free(slots);
    else
        osc_pages_free(slots, bytes);
}

/* The slot that holds KEY, or the free one where it belongs. */
static struct osc_idmap_slot *find_slot(const struct osc_idmap *m, uint64_t key)
{
    const uint32_t mask = m->n_slots - 1;
    uint32_t i = (uint32_t)osc_hash_u64(key ^ m->seed) & mask;

    /* A quarter of the slots is free, so the loop ends. */
    while (m->slots[i].is_used && m->slots[i].key != key)
        i = (i + 1) & mask;
    return &m->slots[i];
}

/* Double the map. M changes only when nothing can fail any more. */
static osc_status grow(struct osc_idmap *m)
{
    if (m->n_slots > UINT32_MAX / 2)
        return OSC_ELIMIT;

    const struct osc_idmap old = *m;
    const uint32_t n_slots = old.n_slots ? old.n_slots * 2 : 8;
    struct osc_idmap_slot *const slots = new_slots(n_slots);
    if (!slots)
        return OSC_ENOMEM;

    m->slots = slots;
    m->n_slots = n_slots;
    if (old.n_slots == 0)
        m->seed = osc_hash_seed();
    for (uint32_t i = 0; i < old.n_slots; i++) {
        if (old.slots[i].is_used)
            *find_slot(m, old.slots[i].key) = old.slots[i];
    }
    free_slots(old.slots, old.n_slots);
    return OSC_OK;
}

void osc_idmap_fini(struct osc_idmap *m)
{
    free_slots(m->slots, m->n_slots);
    *m = (struct osc_idmap){0};
}

uint32_t osc_idmap_get(const struct osc_idmap *m, uint64_t key)
{
    /* A free slot has the value 0. */
    return m->n_used == 0 ? 0 : find_slot(m, key)->value;
}

uint32_t *osc_idmap_put(struct osc_idmap *m, uint64_t key)
{
    if (m->n_used > 0) {
        struct osc_idmap_slot *const slot = find_slot(m, key);
        if (slot->is_used)
            return &slot->value;
    }
    if (m->n_used >= m->n_slots / 4 * 3 && grow(m) != OSC_OK)
        return NULL;

    struct osc_idmap_slot *const slot = find_slot(m, key);
    slot->key = key;
    slot->is_used = 1;
    m->n_used++;
    return &slot->value;
}
