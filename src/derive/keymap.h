/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keymap.h - from the ids that files give to events to what we call them.
 *
 * Correlation and external ids count up from somewhere, so that an array over their
 * range is nearly always small and answers in one load; where it is not, a hash
 * map does the same.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#ifndef OSC_DERIVE_KEYMAP_H
#define OSC_DERIVE_KEYMAP_H

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

/* Zeroed, it is empty and takes keys of any range. */
struct osc_keymap {
    uint32_t *dense; /* owned, or NULL: values from key LEAST on */
    uint64_t n_dense;
    int64_t least;
    struct osc_idmap sparse; /* the other keys */
};

/* Make M ready for the keys of RANGE. Without room for them it is sparse. */
void osc_keymap_init(struct osc_keymap *m, const struct osc_keyrange *range);
void osc_keymap_fini(struct osc_keymap *m);

/* The value of KEY, or 0. */
static inline uint32_t osc_keymap_get(const struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;

    return i < m->n_dense ? m->dense[i] : osc_idmap_get(&m->sparse, (uint64_t)key);
}

/* The place of the value of KEY, made (0) if it is new; NULL: out of memory. */
static inline uint32_t *osc_keymap_put(struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;

    return i < m->n_dense ? &m->dense[i] : osc_idmap_put(&m->sparse, (uint64_t)key);
}

#endif
