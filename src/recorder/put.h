/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.h - write records of one slot, or of slot 0 and a few words.
 *
 * Threading: see writer.h.
 */
#pragma once

#include "recorder/slow_path.h"
#include "recorder/thread/writer.h"

/* Reserve N_SLOTS slots for a record of this ROLE made at TICKS; NULL: it is not recorded. */
static inline struct osc_record_slot *osc_put_reserve(uint32_t n_slots, enum osc_role role,
                                                      uint64_t ticks)
{
    struct osc_writer *w = osc_writer_self;
    struct osc_record_slot *s = NULL;

    /* relaxed: a change that comes during a call may go unseen by it. */
    if (__builtin_expect(w->epoch == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED), 1))
        s = osc_writer_try(w, n_slots);
    return __builtin_expect(s != NULL, 1) ? s : osc_slow_reserve(n_slots, role, ticks);
}

/* Record KIND in one slot. */
static inline void osc_put_one(uint32_t kind, uint32_t id, uint64_t value, enum osc_role role,
                               uint64_t ticks)
{
    struct osc_record_slot *s = osc_put_reserve(1, role, ticks);

    if (s) {
        s->value = value;
        osc_writer_finish(s, id, kind, 1);
    }
}

/* Record KIND with N_WORDS words, an even number, after slot 0; false if it was not
 * recorded. */
static inline bool osc_put_words(uint32_t kind, uint32_t id, uint64_t ticks, enum osc_role role,
                                 const uint64_t *words, uint32_t n_words)
{
    const uint32_t n_slots = 1 + n_words / 2;
    struct osc_record_slot *s = osc_put_reserve(n_slots, role, ticks);

    if (!s)
        return false;
    s->value = ticks;
    for (uint32_t i = 0; i < n_words / 2; i++)
        osc_writer_fill(&s[1 + i], words[(size_t)2 * i], words[(size_t)2 * i + 1]);
    osc_writer_finish(s, id, kind, n_slots);
    return true;
}

/* osc_put_words() with the words as arguments. */
#define OSC_PUT(kind, id, ticks, role, ...)                               \
    osc_put_words(kind, id, ticks, role, (const uint64_t[]){__VA_ARGS__}, \
                  sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))
