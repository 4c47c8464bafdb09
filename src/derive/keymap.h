/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keymap.h - from the ids that files give to events to what we call them.
 *
 * Correlation and external ids count up from somewhere, in clusters. Pages of an
 * array, made where keys are, answer in two loads; what is scattered too far for
 * that goes to a hash map.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdint.h>

#include "base/idmap.h"
#include "base/status.h"

/* Keys that are to come. Zeroed, there are none. */
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

/* Zeroed, it is empty and takes keys of any range. */
struct osc_keymap {
    uint32_t **pages; /* owned, each too; or NULL: values from key LEAST on */
    uint64_t n_pages;
    uint64_t n_spare; /* pages that may still be made */
    int64_t least;
    struct osc_idmap sparse; /* keys without a page */
};

/* Make M ready for the keys of RANGE. Without room for them it is sparse. */
void osc_keymap_init(struct osc_keymap *m, const struct osc_keyrange *range);
void osc_keymap_fini(struct osc_keymap *m);

/* The value of KEY, or 0. */
static inline uint32_t osc_keymap_get(const struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;
    const uint64_t page = i >> OSC_KEYMAP_SHIFT;

    if (page < m->n_pages && m->pages[page])
        return m->pages[page][i & (OSC_KEYMAP_PAGE - 1)];
    return m->sparse.n_used == 0 ? 0 : osc_idmap_get(&m->sparse, (uint64_t)key);
}

/* The slow half of osc_keymap_put(): KEY has no page yet, or never will. */
OSC_MUST_USE uint32_t *osc_keymap_add(struct osc_keymap *m, int64_t key);

/* The place of the value of KEY, made (0) if it is new; NULL: out of memory. */
OSC_MUST_USE static inline uint32_t *osc_keymap_put(struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;
    const uint64_t page = i >> OSC_KEYMAP_SHIFT;

    if (page < m->n_pages && m->pages[page])
        return &m->pages[page][i & (OSC_KEYMAP_PAGE - 1)];
    return osc_keymap_add(m, key);
}
