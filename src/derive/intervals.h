/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intervals.h - sets of time as sorted lists of disjoint intervals.
 *
 * Step breakdown, utilisation and overlap are lengths of such sets: when something ran,
 * however many things ran at once.
 *
 *   - Intervals are half open, [start, end), with start <= end.
 *   - A list is *merged* if it is sorted by start and no two intervals overlap or touch.
 *     Intersection, difference and lengths take and return merged lists.
 *   - Appending in order of start keeps a list merged, even if a parent comes after its
 *     children; osc_intervals_merge() handles any other order, in O(n log r) for r
 *     ascending runs.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct osc_interval {
    int64_t start_ns, end_ns;
};

/* Zeroed, it is the empty set. */
struct osc_intervals {
    struct osc_interval *v; /* owned */
    size_t n, cap;
    bool is_unsorted;  /* an interval was added that starts before the previous one */
    osc_status status; /* sticky: after a failed allocation nothing is added */
};

void osc_intervals_fini(struct osc_intervals *s);

/* The slow path of osc_intervals_add(): out of order, or no room. */
void osc_intervals_append(struct osc_intervals *s, int64_t start_ns, int64_t end_ns);

/* Add an interval; it joins the last one if it starts inside it or at its end. */
static inline void osc_intervals_add(struct osc_intervals *s, int64_t start_ns, int64_t end_ns)
{
    if (s->n > 0) {
        struct osc_interval *const last = &s->v[s->n - 1];

        if (start_ns >= last->start_ns && start_ns <= last->end_ns) {
            if (end_ns > last->end_ns)
                last->end_ns = end_ns;
            return;
        }
        if (start_ns > last->end_ns && s->n < s->cap) {
            s->v[s->n++] = (struct osc_interval){start_ns, end_ns};
            return;
        }
    }
    osc_intervals_append(s, start_ns, end_ns);
}

/* Append all intervals of FROM. Call osc_intervals_merge() afterwards. */
void osc_intervals_concat(struct osc_intervals *s, const struct osc_intervals *from);

/* Sort, and join intervals that overlap or touch. Returns the sticky status. */
OSC_MUST_USE osc_status osc_intervals_merge(struct osc_intervals *s);

/* Set OUT, which is empty, to the time that A and B both cover. */
OSC_MUST_USE osc_status osc_intervals_intersect(const struct osc_intervals *a,
                                                const struct osc_intervals *b,
                                                struct osc_intervals *out);

/* Set OUT to the time that A covers and B does not. Its old content is discarded, its memory
 * reused. */
OSC_MUST_USE osc_status osc_intervals_subtract(const struct osc_intervals *a,
                                               const struct osc_intervals *b,
                                               struct osc_intervals *out);

/*
 * Index of the first interval of a merged list that ends at AT_NS or later, or its n. *HINT is
 * the result of the last search, initially any index or 0: a search nearby is fast.
 */
size_t osc_intervals_find(const struct osc_intervals *s, int64_t at_ns, size_t *hint);

/* Total length of a merged list. */
int64_t osc_intervals_length(const struct osc_intervals *s);

/* Measures windows of a merged list, each in O(log n). Zeroed, it is empty. */
struct osc_ruler {
    const struct osc_intervals *set; /* borrowed */
    int64_t *before_ns;              /* owned; total length before every 64th interval */
};

OSC_MUST_USE osc_status osc_ruler_init(struct osc_ruler *r, const struct osc_intervals *set);
void osc_ruler_fini(struct osc_ruler *r);

/* Length of the set within [START_NS, END_NS). */
int64_t osc_ruler_length(const struct osc_ruler *r, int64_t start_ns, int64_t end_ns);
