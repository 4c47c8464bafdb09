/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/align.h"

#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"

/* A part of both sequences, from place A0 to before A1, and from B0 to before B1. */
struct gap {
    uint32_t a0, a1, b0, b1;
};

struct aligning {
    const uint64_t *a, *b;
    uint32_t *to;
    int32_t *frontiers; /* owned; of Myers: one after each number of edits */
    int32_t most;       /* edits that there is room for */
};

/* --- the longest ascending run ------------------------------------------------------- */

/* A pair of places that may go together; sorted by A. */
struct pair {
    uint32_t a, b;
    uint32_t before; /* the pair in front of it in the longest run that ends here, + 1 */
};

/* Align the longest run of the N PAIRS whose places in B ascend. ENDS has room for N. */
static void align_ascending(uint32_t *to, struct pair *pairs, uint32_t n, uint32_t *ends)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = longest;

        while (low < high) {
            const uint32_t mid = low + (high - low) / 2;

            if (pairs[ends[mid]].b < pairs[i].b)
                low = mid + 1;
            else
                high = mid;
        }
        pairs[i].before = low > 0 ? ends[low - 1] + 1 : 0;
        ends[low] = i;
        longest = low == longest ? longest + 1 : longest;
    }
    for (uint32_t i = longest > 0 ? ends[longest - 1] + 1 : 0; i > 0; i = pairs[i - 1].before)
        to[pairs[i - 1].a] = pairs[i - 1].b;
}

/* Occurrences of a value on both sides. */
struct count {
    uint32_t n_a, n_b, first_a, first_b;
};

/* Where values occur in a gap. */
struct occurrences {
    struct osc_idmap ids; /* value -> number, from 1 on */
    struct count *counts; /* owned; by number */
    uint32_t *next;       /* owned; of each place in B the next with the same value, + 1 */
};

/* List in O where the values of B occur. */
static osc_status list_b(const struct aligning *l, const struct gap *g, struct occurrences *o)
{
    struct count *const counts = o->counts;
    uint32_t n_ids = 0;

    /* From the end, so that the first occurrence comes last and leads to the others. */
    for (uint32_t k = g->b1 - g->b0; k > 0; k--) {
        uint32_t *const id = osc_idmap_put(&o->ids, l->b[g->b0 + k - 1]);

        if (!id)
            return OSC_ENOMEM;
        *id = *id ? *id : ++n_ids;
        o->next[k - 1] = counts[*id - 1].n_b > 0 ? counts[*id - 1].first_b + 1 : 0;
        counts[*id - 1].first_b = k - 1;
        counts[*id - 1].n_b++;
    }
    return OSC_OK;
}

/* Make PAIRS of the values of A with those that list_b() has listed. Returns their number. */
static uint32_t pair_a(const struct aligning *l, const struct gap *g, bool all,
                       struct occurrences *o, struct pair *pairs)
{
    const uint32_t *const next = o->next, n_a = g->a1 - g->a0;
    uint32_t n = 0;

    for (uint32_t k = 0; k < n_a; k++) {
        const uint32_t id = osc_idmap_get(&o->ids, l->a[g->a0 + k]);

        if (id != 0)
            o->counts[id - 1].n_a++;
    }
    for (uint32_t k = 0; k < n_a; k++) {
        const uint32_t id = osc_idmap_get(&o->ids, l->a[g->a0 + k]);
        struct count *const c = id == 0 ? NULL : &o->counts[id - 1];

        if (!c || c->n_b == 0 || (!all && (c->n_a != 1 || c->n_b != 1)))
            continue;
        pairs[n++] = (struct pair){.a = g->a0 + k, .b = g->b0 + c->first_b};
        c->n_b = next[c->first_b] != 0 ? c->n_b : 0;
        c->first_b = next[c->first_b] != 0 ? next[c->first_b] - 1 : 0;
    }
    return n;
}

/*
 * Align values in G: those that occur once on each side, or (with ALL) the k-th occurrence with
 * the k-th of the other side.
 */
static osc_status align_occurrences(struct aligning *l, const struct gap *g, bool all)
{
    const uint32_t n_a = g->a1 - g->a0, n_b = g->b1 - g->b0;
    struct occurrences o = {
        .counts = osc_calloc((size_t)n_a + n_b + 1, sizeof *o.counts),
        .next = osc_calloc((size_t)n_a + n_b + 1, sizeof *o.next),
    };
    struct pair *const pairs = osc_calloc((size_t)n_a + 1, sizeof *pairs);
    uint32_t *const ends = osc_calloc((size_t)n_a + 1, sizeof *ends);
    uint32_t n = 0;
    osc_status st = o.counts && o.next && pairs && ends ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK)
        st = list_b(l, g, &o);
    if (st == OSC_OK)
        n = pair_a(l, g, all, &o, pairs);
    if (st == OSC_OK)
        align_ascending(l->to, pairs, n, ends);
    osc_idmap_fini(&o.ids);
    osc_free(o.counts);
    osc_free(o.next);
    osc_free(pairs);
    osc_free(ends);
    return st;
}

/* --- Myers --------------------------------------------------------------------------- */

/* Where the frontier after D edits has the place in A of diagonal K. */
static int32_t *at(const struct aligning *l, int32_t d, int32_t k)
{
    return &l->frontiers[(size_t)d * (size_t)(2 * l->most + 1) + (size_t)(k + l->most)];
}

/* Walk back from the end of G, which was reached after D edits, and align what is equal. */
static void walk_back(const struct aligning *l, const struct gap *g, int32_t d)
{
    int32_t x = (int32_t)(g->a1 - g->a0), y = (int32_t)(g->b1 - g->b0);

    for (; d >= 0; d--) {
        const int32_t k = x - y;
        int32_t from_x = 0, from_y = 0;

        if (d > 0) {
            const bool is_down =
                k == -d || (k != d && *at(l, d - 1, k - 1) < *at(l, d - 1, k + 1));
            const int32_t before = is_down ? k + 1 : k - 1;

            from_x = *at(l, d - 1, before);
            from_y = from_x - before;
        }
        while (x > from_x && y > from_y &&
               l->a[g->a0 + (uint32_t)x - 1] == l->b[g->b0 + (uint32_t)y - 1]) {
            x--;
            y--;
            l->to[g->a0 + (uint32_t)x] = g->b0 + (uint32_t)y;
        }
        x = from_x;
        y = from_y;
    }
}

/* Align G by Myers's algorithm; false: it takes too many edits. */
static bool align_by_edits(const struct aligning *l, const struct gap *g)
{
    const int32_t n = (int32_t)(g->a1 - g->a0), m = (int32_t)(g->b1 - g->b0);

    for (int32_t d = 0; d <= l->most && d <= n + m; d++) {
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = 0;

            if (d > 0) {
                const bool is_down =
                    k == -d || (k != d && *at(l, d - 1, k - 1) < *at(l, d - 1, k + 1));

                x = is_down ? *at(l, d - 1, k + 1) : *at(l, d - 1, k - 1) + 1;
            }
            while (x < n && x - k < m && x - k >= 0 && x >= 0 &&
                   l->a[g->a0 + (uint32_t)x] == l->b[g->b0 + (uint32_t)(x - k)])
                x++;
            *at(l, d, k) = x;
            if (x >= n && x - k >= m) {
                walk_back(l, g, d);
                return true;
            }
        }
    }
    return false;
}

/* --- the whole ----------------------------------------------------------------------- */

/* Align the common begin and end of G, and cut them off. */
static void cut_ends(const struct aligning *l, struct gap *g)
{
    while (g->a0 < g->a1 && g->b0 < g->b1 && l->a[g->a0] == l->b[g->b0])
        l->to[g->a0++] = g->b0++;
    while (g->a0 < g->a1 && g->b0 < g->b1 && l->a[g->a1 - 1] == l->b[g->b1 - 1])
        l->to[--g->a1] = --g->b1;
}

static osc_status align_gap(struct aligning *l, struct gap g)
{
    cut_ends(l, &g);
    if (g.a0 == g.a1 || g.b0 == g.b1)
        return OSC_OK;
    return align_by_edits(l, &g) ? OSC_OK : align_occurrences(l, &g, true);
}

osc_status osc_align(const struct osc_sequence *a, const struct osc_sequence *b, uint32_t *to)
{
    struct aligning l = {.a = a->values, .b = b->values, .to = to};
    struct gap all = {0, a->n, 0, b->n};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < a->n; i++)
        to[i] = OSC_ALIGN_NONE;
    cut_ends(&l, &all);
    if (all.a0 == all.a1 || all.b0 == all.b1)
        return OSC_OK;
    const uint64_t n = (uint64_t)(all.a1 - all.a0) + (all.b1 - all.b0);
    l.most = (int32_t)(n < OSC_ALIGN_EDITS_MAX ? n : OSC_ALIGN_EDITS_MAX);
    l.frontiers =
        osc_malloc((size_t)(l.most + 1) * (size_t)(2 * l.most + 1) * sizeof *l.frontiers);
    if (!l.frontiers)
        return OSC_ENOMEM;
    /* A short one needs no anchors, and is better off without: they may force the rest. */
    if (!align_by_edits(&l, &all)) {
        st = align_occurrences(&l, &all, false);
        struct gap g = {all.a0, all.a0, all.b0, all.b0};

        for (uint32_t i = all.a0; i <= all.a1 && st == OSC_OK; i++) {
            if (i < all.a1 && to[i] == OSC_ALIGN_NONE)
                continue;
            g.a1 = i;
            g.b1 = i < all.a1 ? to[i] : all.b1;
            st = align_gap(&l, g);
            g = (struct gap){i + 1, i + 1, g.b1 + 1, 0};
        }
    }
    osc_free(l.frontiers);
    return st;
}
