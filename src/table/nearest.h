/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - what the user meant to type.
 *
 * Damerau-Levenshtein distance (adjacent transpositions count one), without case.
 * Words of up to 64 bytes; longer ones are near to nothing.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>

/* The best candidate so far. Zeroed but for word, it has seen none. */
struct osc_nearest {
    const char *word; /* as typed */
    const char *best; /* borrowed; NULL while nothing is near enough */
    size_t distance;  /* of best, in halves of an edit */
};

/* Edits from A to B. */
size_t osc_edit_distance(const char *a, const char *b);

/*
 * Look at one more CANDIDATE. It is near enough if one letter of a word of three
 * has to change, two of five, three of longer ones, or if the word (from two
 * letters on) is its beginning. A part of a name between underscores, or several,
 * is one change further away than a whole name. The first of equals wins.
 */
void osc_nearest_try(struct osc_nearest *n, const char *candidate);
