/* SPDX-License-Identifier: Apache-2.0 */
#include "names/apart.h"

#include "base/mem.h"
#include "base/sort.h"

#define CANDIDATES_MAX 64 /* places that are tried */

/* A place where texts differ. */
struct candidate {
    uint64_t place;
    size_t from, to; /* its values */
    uint32_t n;      /* different ones, with that of texts that have none */
    uint64_t length; /* of all values, if short ones are preferred */
};

/* A text in a class of texts that no chosen place tells apart. */
struct member {
    uint32_t in_class, text;
    uint64_t hash; /* at the place that is tried */
};

static int compare_values(const void *a, const void *b)
{
    const struct osc_apart_value *const x = a, *const y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *const x = a, *const y = b;

    if (x->in_class != y->in_class)
        return x->in_class < y->in_class ? -1 : 1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Whether A is chosen before B. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->place >> 56 != b->place >> 56)
        return a->place >> 56 < b->place >> 56;
    if (a->n != b->n)
        return a->n > b->n;
    return a->length < b->length;
}

/* Insert C into the N most telling candidates. */
static uint32_t insert(struct candidate *best, uint32_t n, const struct candidate *c)
{
    uint32_t at = n;

    while (at > 0 && is_better(c, &best[at - 1]))
        at--;
    if (at == CANDIDATES_MAX)
        return n;
    n += n < CANDIDATES_MAX;
    for (uint32_t k = n - 1; k > at; k--)
        best[k] = best[k - 1];
    best[at] = *c;
    return n;
}

static uint32_t find_candidates(const struct osc_apart_value *values, size_t n_values,
                                uint32_t n, bool is_short, struct candidate *best)
{
    uint32_t n_best = 0;

    for (size_t from = 0; from < n_values;) {
        struct candidate c = {.place = values[from].place, .from = from, .to = from, .n = 0};

        for (; c.to < n_values && values[c.to].place == c.place; c.to++) {
            c.n += c.to == from || values[c.to].hash != values[c.to - 1].hash;
            c.length += is_short ? values[c.to].to - values[c.to].from : 0;
        }
        c.n += c.to - from < n;
        from = c.to;
        if (c.n > 1)
            n_best = insert(best, n_best, &c);
    }
    return n_best;
}

/* Split the classes of MEMBERS by the values of C; returns how many there are then. MEMBERS is
 * sorted by them afterwards. */
static uint32_t refine(struct member *members, uint64_t *hashes, uint32_t n,
                       const struct osc_apart_value *values, const struct candidate *c)
{
    uint32_t n_classes = 0, was = 0;

    for (uint32_t i = 0; i < n; i++)
        hashes[i] = 0;
    for (size_t i = c->from; i < c->to; i++)
        hashes[values[i].text] = values[i].hash;
    for (uint32_t i = 0; i < n; i++)
        members[i].hash = hashes[members[i].text];
    osc_sort(members, n, sizeof *members, compare_members);
    for (uint32_t i = 0; i < n; i++) {
        const bool is_new =
            i == 0 || members[i].in_class != was || members[i].hash != members[i - 1].hash;

        was = members[i].in_class;
        n_classes += is_new;
        members[i].in_class = n_classes;
    }
    return n_classes;
}

/* Note in NEEDED the members of those classes that the last refinement split. WAS: the class of
 * each text before it. */
static void note_split(const struct member *members, uint32_t n, const uint32_t *was,
                       uint8_t *needed)
{
    for (uint32_t from = 0, to; from < n; from = to) {
        const uint32_t old = was[members[from].text];

        for (to = from + 1; to < n && was[members[to].text] == old; to++)
            ;
        for (uint32_t i = from; i < to; i++)
            needed[members[i].text] = members[from].in_class != members[to - 1].in_class;
    }
}

struct choosing {
    struct member *members; /* owned */
    uint64_t *hashes;       /* owned; by text */
    uint32_t *was;          /* owned; by text: its class */
    uint32_t n, n_classes;
};

/* Choose the place C if it tells texts apart. */
static osc_status try_place(struct choosing *x, const struct osc_apart_value *values,
                            const struct candidate *c, struct osc_apart *apart)
{
    for (uint32_t i = 0; i < x->n; i++)
        x->was[x->members[i].text] = x->members[i].in_class;
    const uint32_t refined = refine(x->members, x->hashes, x->n, values, c);
    if (refined > x->n_classes) {
        uint8_t *const needed = osc_calloc(x->n, 1);

        if (!needed)
            return OSC_ENOMEM;
        note_split(x->members, x->n, x->was, needed);
        apart->needed[apart->n] = needed;
        apart->places[apart->n++] = c->place;
    }
    x->n_classes = refined;
    return OSC_OK;
}

osc_status osc_apart_choose(struct osc_apart_value *values, size_t n_values, uint32_t n,
                            uint32_t n_different, struct osc_apart *apart)
{
    struct candidate best[CANDIDATES_MAX];

    apart->n = 0;
    if (n_values == 0)
        return OSC_OK;
    struct choosing x = {.members = osc_calloc(n, sizeof *x.members),
                         .hashes = osc_calloc(n, sizeof *x.hashes),
                         .was = osc_calloc(n, sizeof *x.was),
                         .n = n,
                         .n_classes = 1};
    osc_status st = x.members && x.hashes && x.was ? OSC_OK : OSC_ENOMEM;
    osc_sort(values, n_values, sizeof *values, compare_values);
    const uint32_t n_best = find_candidates(values, n_values, n, apart->is_short, best);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        x.members[i].text = i;
    for (uint32_t i = 0; i < n_best && st == OSC_OK && apart->n < OSC_APART_MAX; i++) {
        if (x.n_classes == n_different)
            break;
        st = try_place(&x, values, &best[i], apart);
    }
    osc_free(x.members);
    osc_free(x.hashes);
    osc_free(x.was);
    return st;
}

void osc_apart_fini(struct osc_apart *apart)
{
    for (uint32_t i = 0; i < apart->n; i++)
        osc_free(apart->needed[i]);
    *apart = (struct osc_apart){.n = 0};
}

void osc_apart_find(const struct osc_apart_value *values, size_t n_values, uint64_t place,
                    size_t *from, size_t *to)
{
    size_t low = 0, high = n_values;

    OSC_BISECT(low, high, i, values[i].place < place)
    *from = *to = low;
    while (*to < n_values && values[*to].place == place)
        ++*to;
}
