/* SPDX-License-Identifier: Apache-2.0 */
/*
 * who.h - who in the program is behind a call or some work, and whose the most time is.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/advice_base.h"

/* A name within a range of the program, and its time. */
struct osc_pair {
    osc_sid name, around; /* {0}: none */
    int64_t ns;
};

/* In order of first appearance. Zeroed, there are none. */
struct osc_pairs {
    struct osc_idmap of; /* by both names: index + 1 */
    struct osc_pair *v;  /* owned */
    size_t n, cap;
};

OSC_MUST_USE osc_status osc_pairs_add(struct osc_pairs *p, osc_sid name, osc_sid around,
                                      int64_t ns);
/* The pair with most time, the first one of several; {0}: there is none. */
struct osc_pair osc_pairs_top(const struct osc_pairs *p);
void osc_pairs_fini(struct osc_pairs *p);

/* The innermost range around row I of C that is no call, no announced step and not the time of
 * the recording. */
osc_sid osc_who_called(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i);

/* The row of the nearest range around row I of C that IS what is wanted; 0: none. */
osc_row osc_who_around(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i,
                       bool (*is)(const struct osc_advice_base *a, const struct osc_chunk *c,
                                  uint32_t i));

/* Whether row I of C is a range that the program marked: an annotation or a scope, but no step,
 * and not the time of the recording. */
bool osc_who_is_mark(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i);

/* Whether an operator with a name launched WORK (index + 1). */
bool osc_who_has_operator(const struct osc_advice_base *a, uint32_t work);

/* The name of the operator that launched WORK (index + 1, or 0), or of the work itself. */
osc_sid osc_who_launched(const struct osc_advice_base *a, uint32_t work);

/* In what that was: the innermost mark or module with a name around the call, or else the
 * outermost operator, unless it has the name of osc_who_launched(). */
osc_sid osc_who_launched_in(const struct osc_advice_base *a, uint32_t work);
