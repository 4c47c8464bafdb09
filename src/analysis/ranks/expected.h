/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected.h - which ranks lack a collective of their group, and why.
 *
 * A group has the ranks that its list names, as far as they were read; without a complete list
 * those that have a collective of the group. A rank that lacks a collective
 *
 *   - had not begun its recording when the others had finished: it cannot have it;
 *   - or has a later one of the group: the record is missing;
 *   - or ended its recording before the others had finished: it cannot have it;
 *   - or has a clock that cannot be compared, so that the last two are not known;
 *   - or never reached it: a hang.
 *
 * Earlier and later are meant on the common clock.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/ranks/clocks.h"
#include "base/idmap.h"

/* A rank in a group. Times are on the common clock. */
struct osc_group_rank {
    uint32_t group; /* word of osc_expected.keys */
    int32_t rank;
    uint32_t file;            /* one of its files: that with the latest end */
    int64_t last_ns;          /* start of its last match; INT64_MIN: it has none */
    int64_t begin_ns, end_ns; /* of its recording */
};

enum osc_absence {
    OSC_ABSENCE_RECORD,
    OSC_ABSENCE_BEFORE,
    OSC_ABSENCE_ENDED,
    OSC_ABSENCE_UNKNOWN,
    OSC_ABSENCE_NEVER,
    OSC_ABSENCES
};

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
    int64_t *start_ns;                   /* owned; by match: first start, common clock */
    int64_t *done_ns;                    /* owned; by match: when those that have it had all
                                          * come and the shortest of them was over */
    struct osc_group_rank *v;            /* owned; by group and rank */
    size_t n;
    struct osc_absent *absent; /* owned; of the last match that was asked for; by rank */
    size_t n_absent, cap_absent;
    uint64_t n_incomplete;  /* matches that some rank lacks */
    uint64_t n_left;        /* ranks that may still be looked at: groups in which nearly all
                             * ranks lack nearly all collectives would take forever */
    uint32_t first_hang;    /* number of the earliest match that a rank never reached, + 1 */
    struct osc_strbuf hang; /* the ranks that never reached it */
};

OSC_MUST_USE osc_status osc_expected_init(struct osc_expected *e,
                                          const struct osc_rank_run *run,
                                          const struct osc_rank_clock *clocks);
void osc_expected_fini(struct osc_expected *e);

/* Find the ranks that lack match NUMBER. */
OSC_MUST_USE osc_status osc_expected_find(struct osc_expected *e, uint32_t number);

/* Append the ranks found last to RANKS (0,4-7), and to NOTE why they lack it. */
void osc_expected_tell(const struct osc_expected *e, struct osc_strbuf *ranks,
                       struct osc_strbuf *note);

/* Append those of the ranks found last that are absent for WHY (OSC_ABSENCES: any), as 0,4-7.
 */
void osc_expected_list(const struct osc_expected *e, enum osc_absence why,
                       struct osc_strbuf *out);

/* The word before LIST, a list of ranks. */
const char *osc_ranks_word(const char *list);

/* Add notes to OUT about all matches that were asked for. */
OSC_MUST_USE osc_status osc_expected_note(const struct osc_expected *e, struct osc_result *out);

/* Whether the clocks of all members of M can be compared: they share collectives, or are not
 * known to be of several hosts. */
bool osc_rank_is_comparable(const struct osc_rank_run *run, const struct osc_rank_clock *clocks,
                            const struct osc_rank_match *m);
