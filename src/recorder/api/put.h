/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.h - records of slot 0 and a few words behind it.
 *
 * Threading: as writer.h.
 */
#ifndef OSC_RECORDER_API_PUT_H
#define OSC_RECORDER_API_PUT_H

#include "recorder/thread/writer.h"

/* Write a slot behind slot 0. */
static inline void osc_put_slot(struct osc_record_slot *s, uint64_t value, uint64_t word)
{
    s->value = value;
    /* relaxed: the flusher may look before the record is whole, and finds no tag there. */
    __atomic_store_n(&s->word, word, __ATOMIC_RELAXED);
}

/* Record KIND with N_WORDS words, an even number, behind slot 0; false if it was not. */
static inline bool osc_put_words(uint32_t kind, uint32_t id, uint64_t ticks, enum osc_role role,
                                 const uint64_t *words, uint32_t n_words)
{
    const uint32_t n_slots = 1 + n_words / 2;
    struct osc_record_slot *s = osc_writer_reserve(n_slots, role, ticks);

    if (!s)
        return false;
    s->value = ticks;
    for (uint32_t i = 0; i < n_words / 2; i++)
        osc_put_slot(&s[1 + i], words[(size_t)2 * i], words[(size_t)2 * i + 1]);
    osc_writer_finish(s, id, kind, n_slots);
    return true;
}

/* The same, the words as arguments. */
#define OSC_PUT(kind, id, ticks, role, ...)                               \
    osc_put_words(kind, id, ticks, role, (const uint64_t[]){__VA_ARGS__}, \
                  sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

#endif
