/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strings.h"

#include "base/hash.h"
#include "base/mem.h"

/* Strings of one shard: then one more than the largest id still fits 32 bits. */
#define LOCAL_MAX ((UINT32_MAX >> OSC_STRINGS_SHARD_SHIFT) - 1)

osc_status osc_strings_init(struct osc_strings *s)
{
    const uint64_t seed = osc_hash_seed();

    s->shards = osc_calloc(OSC_STRINGS_SHARDS, sizeof *s->shards);
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
    s->shards = NULL;
}

/* All shards have one seed: the hash for their tables says which it is, too. */
static uint64_t hash_of(const struct osc_strings *s, struct osc_str str)
{
    return osc_hash(str.s, str.len, s->shards[0].intern.seed);
}

/* By the upper bits, as the tables go by the lower ones. */
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
    pthread_mutex_lock(&shard->lock);
    const uint32_t n_before = shard->intern.n_entries;
    if (n_before < LOCAL_MAX)
        st = osc_intern_add_hashed(&shard->intern, str, hash, &local);
    if (st == OSC_OK && place)
        *place = (struct osc_strings_place){
            .bytes = osc_intern_str(&shard->intern, local).s,
            .is_new = shard->intern.n_entries > n_before,
        };
    pthread_mutex_unlock(&shard->lock);
    if (st == OSC_OK)
        id->v = local.v << OSC_STRINGS_SHARD_SHIFT | i;
    return st;
}

osc_sid osc_strings_find(const struct osc_strings *s, struct osc_str str)
{
    if (str.len == 0)
        return (osc_sid){0};

    const uint64_t hash = hash_of(s, str);
    const uint32_t i = shard_of(hash);
    const osc_sid local = osc_intern_find_hashed(&s->shards[i].intern, str, hash);
    return (osc_sid){local.v == 0 ? 0 : local.v << OSC_STRINGS_SHARD_SHIFT | i};
}

struct osc_str osc_strings_get(const struct osc_strings *s, osc_sid id)
{
    if (id.v == 0)
        return (struct osc_str){"", 0};
    return osc_intern_str(&s->shards[id.v & (OSC_STRINGS_SHARDS - 1)].intern,
                          (osc_sid){id.v >> OSC_STRINGS_SHARD_SHIFT});
}

bool osc_strings_has(const struct osc_strings *s, osc_sid id)
{
    const uint32_t local = id.v >> OSC_STRINGS_SHARD_SHIFT;

    return id.v == 0 ||
           (local > 0 && local <= s->shards[id.v & (OSC_STRINGS_SHARDS - 1)].intern.n_entries);
}

uint32_t osc_strings_bound(const struct osc_strings *s)
{
    uint32_t most = 0;

    for (uint32_t i = 0; s->shards && i < OSC_STRINGS_SHARDS; i++)
        if (s->shards[i].intern.n_entries > most)
            most = s->shards[i].intern.n_entries;
    return (most + 1) << OSC_STRINGS_SHARD_SHIFT;
}

uint64_t osc_strings_bytes(const struct osc_strings *s)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; s->shards && i < OSC_STRINGS_SHARDS; i++) {
        bytes += s->shards[i].arena.total_bytes;
        bytes += (uint64_t)s->shards[i].intern.n_slots * (sizeof(uint32_t) + 12);
    }
    return bytes;
}
