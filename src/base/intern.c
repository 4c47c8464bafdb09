/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct osc_intern_entry {
    struct osc_str str;
    uint32_t hash; /* stored, so that growing rarely reads the strings again */
};

/* The slot that holds STR, or the free one where it belongs. */
static uint32_t find_slot(const struct osc_intern *in, struct osc_str str, uint32_t hash)
{
    const uint32_t mask = in->n_slots - 1;
    uint32_t slot = hash & mask;

    /* At least half the slots are free, so the loop ends. */
    for (; in->slots[slot] != 0; slot = (slot + 1) & mask) {
        const struct osc_intern_entry *e = &in->entries[in->slots[slot] - 1];

        if (e->hash == hash && e->str.len == str.len && memcmp(e->str.s, str.s, str.len) == 0)
            break;
    }
    return slot;
}

/* Double the table. IN changes only when nothing can fail any more. */
static osc_status grow(struct osc_intern *in)
{
    if (in->n_slots > UINT32_MAX / 2)
        return OSC_ELIMIT;

    const uint32_t n_slots = in->n_slots ? in->n_slots * 2 : 16;
    uint32_t *slots = osc_calloc(n_slots, sizeof *slots);
    void *entries = slots ? osc_realloc(in->entries, n_slots / 2 * sizeof *in->entries) : NULL;
    if (!entries) {
        osc_free(slots);
        return OSC_ENOMEM;
    }

    osc_free(in->slots);
    in->slots = slots;
    in->n_slots = n_slots;
    in->entries = entries;
    for (uint32_t i = 0; i < in->n_entries; i++) {
        const struct osc_intern_entry *e = &in->entries[i];

        slots[find_slot(in, e->str, e->hash)] = i + 1;
    }
    return OSC_OK;
}

void osc_intern_fini(struct osc_intern *in)
{
    osc_free(in->slots);
    osc_free(in->entries);
    *in = (struct osc_intern){.arena = in->arena, .seed = in->seed};
}

osc_status osc_intern_add_hashed(struct osc_intern *in, struct osc_str str, uint64_t hash,
                                 osc_sid *id)
{
    id->v = 0;
    if (str.len == 0)
        return OSC_OK;
    if (in->n_entries == in->n_slots / 2) {
        const osc_status st = grow(in);
        if (st != OSC_OK)
            return st;
    }

    const uint32_t slot = find_slot(in, str, (uint32_t)hash);
    if (in->slots[slot] == 0) {
        const char *copy = osc_arena_dup(in->arena, str.s, str.len);
        if (!copy)
            return OSC_ENOMEM;
        in->entries[in->n_entries] = (struct osc_intern_entry){{copy, str.len}, (uint32_t)hash};
        in->slots[slot] = ++in->n_entries;
    }
    id->v = in->slots[slot];
    return OSC_OK;
}

osc_sid osc_intern_find_hashed(const struct osc_intern *in, struct osc_str str, uint64_t hash)
{
    if (str.len == 0 || in->n_slots == 0)
        return (osc_sid){0};
    return (osc_sid){in->slots[find_slot(in, str, (uint32_t)hash)]};
}

osc_status osc_intern_add(struct osc_intern *in, struct osc_str str, osc_sid *id)
{
    return osc_intern_add_hashed(in, str, osc_hash(str.s, str.len, in->seed), id);
}

osc_sid osc_intern_find(const struct osc_intern *in, struct osc_str str)
{
    return osc_intern_find_hashed(in, str, osc_hash(str.s, str.len, in->seed));
}

struct osc_str osc_intern_str(const struct osc_intern *in, osc_sid id)
{
    assert(id.v <= in->n_entries);
    return id.v == 0 ? (struct osc_str){"", 0} : in->entries[id.v - 1].str;
}
