/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strings.h"

#include "base/hash.h"
#include "base/mem.h"

/* Most strings in one shard, such that the largest id plus one still fits 32 bits. */
static uint32_t local_max(const struct osc_strings *s)
{
    return ((UINT32_MAX - s->n_adopted) >> OSC_STRINGS_SHARD_SHIFT) - 1;
}

static struct osc_str adopted(const struct osc_strings *s, uint32_t id)
{
    return (struct osc_str){s->bytes + s->starts[id],
                            (uint32_t)(s->starts[id + 1] - s->starts[id] - 1)};
}

osc_status osc_strings_init(struct osc_strings *s)
{
    const uint64_t seed = osc_hash_seed();

    *s = (struct osc_strings){.shards = osc_calloc(OSC_STRINGS_SHARDS, sizeof *s->shards)};
    if (!s->shards)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < OSC_STRINGS_SHARDS; i++) {
        struct osc_strings_shard *shard = &s->shards[i];

        pthread_mutex_init(&shard->lock, NULL); /* cannot fail on Linux */
        shard->intern.arena = &shard->arena;
        shard->intern.seed = seed;
    }
    return OSC_OK;
}

void osc_strings_fini(struct osc_strings *s)
{
    for (uint32_t i = 0; s->shards && i < OSC_STRINGS_SHARDS; i++) {
        osc_intern_fini(&s->shards[i].intern);
        osc_arena_fini(&s->shards[i].arena);
        pthread_mutex_destroy(&s->shards[i].lock);
    }
    osc_free(s->shards);
    osc_free(s->slots);
    *s = (struct osc_strings){0};
}

/* All shards have the same seed, so the hash for their tables also selects the shard. */
static uint64_t hash_of(const struct osc_strings *s, struct osc_str str)
{
    return osc_hash(str.s, str.len, s->shards[0].intern.seed);
}

/* The slot of STR among adopted strings, or the free one where it belongs. */
static uint32_t *find_adopted(const struct osc_strings *s, struct osc_str str, uint64_t hash)
{
    const uint32_t mask = s->n_slots - 1;
    uint32_t slot = (uint32_t)hash & mask;

    /* At least half the slots are free, so the loop ends. */
    while (s->slots[slot] != 0 && !osc_str_eq(adopted(s, s->slots[slot]), str))
        slot = (slot + 1) & mask;
    return &s->slots[slot];
}

void osc_strings_adopt(struct osc_strings *s, const uint64_t *starts, const char *bytes,
                       uint32_t n)
{
    s->starts = starts;
    s->bytes = bytes;
    s->n_adopted = n;
}

osc_status osc_strings_index(struct osc_strings *s)
{
    uint32_t n_slots = 64;

    if (s->slots || s->n_adopted == 0)
        return OSC_OK;
    while (n_slots / 2 < s->n_adopted && n_slots < UINT32_C(1) << 31)
        n_slots *= 2;
    if (n_slots / 2 < s->n_adopted)
        return OSC_ELIMIT;
    s->slots = osc_calloc(n_slots, sizeof *s->slots);
    if (!s->slots)
        return OSC_ENOMEM;
    s->n_slots = n_slots;
    for (uint32_t i = 1; i < s->n_adopted; i++) {
        const struct osc_str str = adopted(s, i);
        if (str.len > 0)
            *find_adopted(s, str, hash_of(s, str)) = i;
    }
    return OSC_OK;
}

/* Use the upper bits: the tables use the lower ones. */
static uint32_t shard_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - OSC_STRINGS_SHARD_SHIFT));
}

osc_status osc_strings_add(struct osc_strings *s, struct osc_str str, osc_sid *id,
                           struct osc_strings_place *place)
{
    osc_sid local;

    id->v = 0;
    if (place)
        *place = (struct osc_strings_place){.bytes = ""};
    if (str.len == 0)
        return OSC_OK;

    const uint64_t hash = hash_of(s, str);
    const uint32_t i = shard_of(hash);
    struct osc_strings_shard *shard = &s->shards[i];
    osc_status st = OSC_ELIMIT;
    id->v = s->slots ? *find_adopted(s, str, hash) : 0;
    if (id->v != 0) {
        if (place)
            place->bytes = adopted(s, id->v).s;
        return OSC_OK;
    }
    pthread_mutex_lock(&shard->lock);
    const uint32_t n_before = shard->intern.n_entries;
    if (n_before < local_max(s))
        st = osc_intern_add_hashed(&shard->intern, str, hash, &local);
    if (st == OSC_OK && place)
        *place = (struct osc_strings_place){
            .bytes = osc_intern_str(&shard->intern, local).s,
            .is_new = shard->intern.n_entries > n_before,
        };
    pthread_mutex_unlock(&shard->lock);
    if (st == OSC_OK)
        id->v = s->n_adopted + (local.v << OSC_STRINGS_SHARD_SHIFT | i);
    return st;
}

osc_sid osc_strings_find(const struct osc_strings *s, struct osc_str str)
{
    if (str.len == 0)
        return (osc_sid){0};

    const uint64_t hash = hash_of(s, str);
    const uint32_t i = shard_of(hash), known = s->slots ? *find_adopted(s, str, hash) : 0;
    if (known != 0)
        return (osc_sid){known};
    const osc_sid local = osc_intern_find_hashed(&s->shards[i].intern, str, hash);
    return (osc_sid){local.v == 0 ? 0
                                  : s->n_adopted + (local.v << OSC_STRINGS_SHARD_SHIFT | i)};
}

struct osc_str osc_strings_get(const struct osc_strings *s, osc_sid id)
{
    if (id.v == 0)
        return (struct osc_str){"", 0};
    if (id.v < s->n_adopted)
        return adopted(s, id.v);
    id.v -= s->n_adopted;
    return osc_intern_str(&s->shards[id.v & (OSC_STRINGS_SHARDS - 1)].intern,
                          (osc_sid){id.v >> OSC_STRINGS_SHARD_SHIFT});
}

bool osc_strings_has(const struct osc_strings *s, osc_sid id)
{
    if (id.v == 0 || id.v < s->n_adopted)
        return true;
    id.v -= s->n_adopted;
    const uint32_t local = id.v >> OSC_STRINGS_SHARD_SHIFT;
    return local > 0 && local <= s->shards[id.v & (OSC_STRINGS_SHARDS - 1)].intern.n_entries;
}

uint32_t osc_strings_bound(const struct osc_strings *s)
{
    uint32_t most = 0;

    for (uint32_t i = 0; s->shards && i < OSC_STRINGS_SHARDS; i++)
        if (s->shards[i].intern.n_entries > most)
            most = s->shards[i].intern.n_entries;
    return s->n_adopted + ((most + 1) << OSC_STRINGS_SHARD_SHIFT);
}

uint64_t osc_strings_bytes(const struct osc_strings *s)
{
    uint64_t bytes = s->n_adopted == 0 ? 0 : s->starts[s->n_adopted];

    bytes += (uint64_t)s->n_slots * sizeof *s->slots;
    for (uint32_t i = 0; s->shards && i < OSC_STRINGS_SHARDS; i++) {
        bytes += s->shards[i].arena.total_bytes;
        bytes += (uint64_t)s->shards[i].intern.n_slots * (sizeof(uint32_t) + 12);
    }
    return bytes;
}
