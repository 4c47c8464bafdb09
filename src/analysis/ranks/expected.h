/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected.h - which ranks lack a collective of their group, and why.
 *
 * A group has the ranks that its list names, as far as they were read; without a complete list
 * those that have a collective of the group. A rank that lacks a collective
 *
 *   - has a later one of the group: the record is missing;
 *   - or its recording ended before the others had finished: it cannot have it;
 *   - or never reached it: a hang.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/ranks/clocks.h"
#include "base/idmap.h"

/* A rank in a group, and the last match in which it was. */
struct osc_group_rank {
    uint32_t group; /* word of osc_expected.keys */
    int32_t rank;
    uint32_t last_match;
    int64_t end_ns; /* of its recording, on the common clock */
};

enum osc_absence { OSC_ABSENCE_RECORD, OSC_ABSENCE_ENDED, OSC_ABSENCE_NEVER, OSC_ABSENCES };

struct osc_absent {
    int32_t rank;
    enum osc_absence why;
};

/* Zeroed, it is empty. */
struct osc_expected {
    const struct osc_rank_run *run;      /* borrowed */
    const struct osc_rank_clock *clocks; /* borrowed */
    struct osc_rank_words keys;          /* of groups */
    uint32_t *group_of;                  /* owned; by match: word of keys */
    struct osc_group_rank *v;            /* owned; by group and rank */
    size_t n;
    struct osc_absent *absent; /* owned; of the last match that was asked for; by rank */
    size_t n_absent, cap_absent;
    uint64_t n_incomplete;  /* matches that some rank lacks */
    uint64_t n_left;        /* ranks that may still be looked at: groups in which nearly all
                             * ranks lack nearly all collectives would take forever */
    uint32_t first_hang;    /* number of the first match that a rank never reached, + 1 */
    struct osc_strbuf hang; /* the ranks that never reached it */
};

OSC_MUST_USE osc_status osc_expected_init(struct osc_expected *e,
                                          const struct osc_rank_run *run,
                                          const struct osc_rank_clock *clocks);
void osc_expected_fini(struct osc_expected *e);

/* Find the ranks that lack match NUMBER, which the others had finished at END_NS. */
OSC_MUST_USE osc_status osc_expected_find(struct osc_expected *e, uint32_t number,
                                          int64_t end_ns);

/* The same; when the others had finished is found, too. */
OSC_MUST_USE osc_status osc_expected_find_at(struct osc_expected *e, uint32_t number);

/* Append the ranks found last to RANKS (0,4-7), and to NOTE why they lack it. */
void osc_expected_tell(const struct osc_expected *e, struct osc_strbuf *ranks,
                       struct osc_strbuf *note);

/* Add notes to OUT about all matches that were asked for. */
OSC_MUST_USE osc_status osc_expected_note(const struct osc_expected *e, struct osc_result *out);

/* Whether the clocks of all members of M can be compared: they share collectives, or are not
 * known to be of several hosts. */
bool osc_rank_is_comparable(const struct osc_rank_run *run, const struct osc_rank_clock *clocks,
                            const struct osc_rank_match *m);
