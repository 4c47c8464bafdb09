/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - suggest the name that the user meant.
 *
 * Damerau-Levenshtein distance (an adjacent transposition counts as one edit), ignoring case.
 * Words longer than 64 bytes match nothing.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stddef.h>

/* The best candidate so far. Zeroed except for word, it has seen none. */
struct osc_nearest {
    const char *word; /* as typed */
    const char *best; /* borrowed; NULL if nothing is near enough */
    size_t distance;  /* of best, in half edits */
};

/* Number of edits from A to B. */
size_t osc_edit_distance(const char *a, const char *b);

/*
 * Consider CANDIDATE. It is near enough if at most one letter of a three-letter word has to
 * change, two of five, three of a longer word, or if the word (two letters or more) is a
 * prefix of it. A match with parts of a name between underscores counts one edit more than
 * with the whole name. Of equal candidates the first wins.
 */
void osc_nearest_try(struct osc_nearest *n, const char *candidate);
