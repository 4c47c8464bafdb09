/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keymap.h - a map from ids in a file to our own numbers.
 *
 * Correlation and external ids are clustered: they count up from some start. Pages of an
 * array, allocated where keys are, give an answer in two loads; keys that are too scattered
 * for that go to a hash map.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdint.h>

#include "base/idmap.h"
#include "base/status.h"

/* The range of keys to be added. Zeroed, it is empty. */
struct osc_keyrange {
    int64_t least, most;
    uint64_t n;
};

static inline void osc_keyrange_add(struct osc_keyrange *r, int64_t key)
{
    r->least = r->n == 0 || key < r->least ? key : r->least;
    r->most = r->n == 0 || key > r->most ? key : r->most;
    r->n++;
}

#define OSC_KEYMAP_SHIFT 10
#define OSC_KEYMAP_PAGE  (1u << OSC_KEYMAP_SHIFT)

/* Zeroed, it is empty and accepts keys of any range. */
struct osc_keymap {
    uint32_t **pages; /* owned, as is each page; or NULL: values from key LEAST on */
    uint64_t n_pages;
    uint64_t n_spare; /* pages that may still be allocated */
    int64_t least;
    struct osc_idmap sparse; /* keys without a page */
};

/* Prepare M for the keys in RANGE. If memory is short it uses only the hash map. */
void osc_keymap_init(struct osc_keymap *m, const struct osc_keyrange *range);
void osc_keymap_fini(struct osc_keymap *m);

/* The value of KEY, or 0 if it is absent. */
static inline uint32_t osc_keymap_get(const struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;
    const uint64_t page = i >> OSC_KEYMAP_SHIFT;

    if (page < m->n_pages && m->pages[page])
        return m->pages[page][i & (OSC_KEYMAP_PAGE - 1)];
    return m->sparse.n_used == 0 ? 0 : osc_idmap_get(&m->sparse, (uint64_t)key);
}

/* The slow path of osc_keymap_put(): KEY has no page yet, or cannot have one. */
OSC_MUST_USE uint32_t *osc_keymap_add(struct osc_keymap *m, int64_t key);

/* The address of the value of KEY, which is added with value 0 if it is absent; NULL: out of
 * memory. */
OSC_MUST_USE static inline uint32_t *osc_keymap_put(struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;
    const uint64_t page = i >> OSC_KEYMAP_SHIFT;

    if (page < m->n_pages && m->pages[page])
        return &m->pages[page][i & (OSC_KEYMAP_PAGE - 1)];
    return osc_keymap_add(m, key);
}
