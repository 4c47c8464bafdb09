/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - which places of several texts tell them apart.
 *
 * Each text has values at places: arguments by their position in a name, words by their
 * position in a text. Of the places at which the texts differ, the fewest are chosen that tell
 * all of them apart, first the one with the most different values. A place is needed of those
 * texts that nothing before it tells apart.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

#define OSC_APART_MAX 8 /* places are chosen at most */

/* The value of a text at a place. */
struct osc_apart_value {
    uint64_t place; /* the highest byte is its rank: those of a lower rank are chosen first; of
                     * equally telling places the smallest is chosen */
    uint64_t hash;  /* of the value */
    uint32_t text;  /* which one, from 0 */
    uint32_t from, to; /* for the caller */
};

/* Chosen places. Zeroed, it is empty. */
struct osc_apart {
    bool is_short; /* for the choice: of equally telling places prefer that of short values */
    uint64_t places[OSC_APART_MAX];
    uint8_t *needed[OSC_APART_MAX]; /* owned; by text: whether this place tells it apart */
    uint32_t n;
};

/*
 * Choose places at which N texts differ; VALUES is sorted by place then. The texts have
 * N_DIFFERENT values as a whole: no more places are chosen than that needs.
 */
OSC_MUST_USE osc_status osc_apart_choose(struct osc_apart_value *values, size_t n_values,
                                         uint32_t n, uint32_t n_different,
                                         struct osc_apart *apart);
void osc_apart_fini(struct osc_apart *apart);

/* The values at PLACE in sorted VALUES: where they begin and end. */
void osc_apart_find(const struct osc_apart_value *values, size_t n_values, uint64_t place,
                    size_t *from, size_t *to);
