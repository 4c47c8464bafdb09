/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elide.h - cut a text so that it fits, and keep what matters in it.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "names/symbol.h"

#define OSC_ELIDE_KEPT_MAX 10

/* Parts of a text that stay, by where they begin. */
struct osc_kept {
    struct osc_span at[OSC_ELIDE_KEPT_MAX];
    uint32_t n;
};

/* Add the part AT, at its place; unless there are as many as there can be, or it is empty. */
void osc_kept_add(struct osc_kept *kept, struct osc_span at);

/*
 * Append the valid TEXT in at most WIDTH columns of a terminal: its start, the parts KEPT
 * (NULL: none) and its end, with an ellipsis for what is left out. Parts that do not fit are
 * not kept.
 */
void osc_elide(struct osc_strbuf *out, struct osc_str text, size_t width,
               const struct osc_kept *kept);

/* Whether TEXT can be cut to WIDTH columns with all parts KEPT. */
bool osc_elide_fits(struct osc_str text, size_t width, const struct osc_kept *kept);

/* Columns of words beyond which only what differs of them is kept. */
struct osc_elide_room {
    size_t word;
    size_t number; /* of words with numbers, which are other ones then */
};

/* Find in each of N different TEXTS the words that tell it from the others. */
OSC_MUST_USE osc_status osc_elide_apart(const struct osc_str *texts, uint32_t n,
                                        struct osc_elide_room room, struct osc_kept *kept);
