/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice_base.h"

#include <stdlib.h>

#include "base/mem.h"

/* What one name took in one kept step. */
struct part {
    uint64_t key; /* name, and whether on the device */
    uint32_t step;
    uint32_t number; /* in order of first appearance */
    int64_t ns;
};

/* Zeroed, it is empty. */
struct parts {
    struct osc_idmap numbers; /* of keys: index + 1 */
    struct osc_idmap of_pair; /* number and step: index + 1 */
    struct part *v;           /* owned */
    size_t n, cap;
    uint32_t n_numbers;
};

static osc_status add_part(struct parts *p, osc_sid name, bool is_device, uint32_t step,
                           int64_t ns)
{
    const uint64_t key = (uint64_t)name.v << 1 | is_device;
    uint32_t *const number = osc_idmap_put(&p->numbers, key);

    if (!number)
        return OSC_ENOMEM;
    if (*number == 0)
        *number = ++p->n_numbers;
    uint32_t *const place = osc_idmap_put(&p->of_pair, (uint64_t)*number << 32 | step);
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (p->n == p->cap && osc_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v) != OSC_OK)
            return OSC_ENOMEM;
        p->v[p->n++] = (struct part){.key = key, .step = step, .number = *number};
        *place = (uint32_t)p->n;
    }
    p->v[*place - 1].ns += ns;
    return OSC_OK;
}

/* Python frames would hide the operators that they are made of, and steps are all else. */
static bool counts(enum osc_kind kind)
{
    return kind == OSC_KIND_OPERATOR || kind == OSC_KIND_ANNOTATION ||
           kind == OSC_KIND_DATALOADER || kind == OSC_KIND_OPTIMIZER ||
           kind == OSC_KIND_COMMUNICATION || kind == OSC_KIND_OVERHEAD ||
           osc_kind_is_launch(kind);
}

static osc_status add_host_parts(const struct osc_advice_base *a, struct parts *p)
{
    const struct osc_store *const events = &a->t->events;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < events->n_chunks && st == OSC_OK; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            if (counts((enum osc_kind)c->kind[i]) && osc_is_range(&a->f->classes, c, i) &&
                !osc_is_on_device(&a->f->classes, c, i) && osc_advice_is_kept(a, c, i))
                st = add_part(p, (osc_sid){c->name[i]}, false, c->step[i] - 1, c->self_ns[i]);
        }
    }
    return st;
}

static osc_status add_device_parts(const struct osc_advice_base *a, struct parts *p)
{
    const struct osc_links *const links = &a->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        osc_sid name = osc_advice_operator_of(a, links->works[n].call);

        if (name.v == 0)
            name.v = c->name[i];
        if (osc_advice_is_kept(a, c, i))
            st = add_part(p, name, true, c->step[i] - 1, c->dur_ns[i]);
    }
    return st;
}

static int by_number_and_ns(const void *x, const void *y)
{
    const struct part *const a = x, *const b = y;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The lower median of V[0, N), sorted, and N_ZEROS zeros. */
static int64_t lower_median(const struct part *v, size_t n, size_t n_zeros)
{
    const size_t k = (n + n_zeros - 1) / 2;
    size_t n_negative = 0;

    while (n_negative < n && v[n_negative].ns < 0)
        n_negative++;
    if (k < n_negative)
        return v[k].ns;
    return k < n_negative + n_zeros ? 0 : v[k - n_zeros].ns;
}

/* Let each slow step know what grew most in it. SLOW_OF: by step, index + 1 in S. */
static void find_grown(const struct osc_advice_base *a, struct parts *p,
                       const uint32_t *slow_of, struct osc_slow_steps *s)
{
    if (p->n > 1)
        qsort(p->v, p->n, sizeof *p->v, by_number_and_ns);
    for (size_t from = 0, to; from < p->n; from = to) {
        for (to = from + 1; to < p->n && p->v[to].number == p->v[from].number;)
            to++;
        const int64_t usual_ns =
            lower_median(p->v + from, to - from, a->b->n_kept - (to - from));

        for (size_t i = from; i < to; i++) {
            const uint32_t at = slow_of[p->v[i].step];
            struct osc_slow_step *const slow = at == 0 ? NULL : &s->v[at - 1];

            if (!slow || p->v[i].ns - usual_ns <= slow->grew_ns)
                continue;
            slow->grew = (osc_sid){(uint32_t)(p->v[i].key >> 1)};
            slow->is_device = p->v[i].key & 1;
            slow->grew_ns = p->v[i].ns - usual_ns;
        }
    }
}

static int by_excess(const void *x, const void *y)
{
    const struct osc_slow_step *const a = x, *const b = y;

    if (a->excess_ns != b->excess_ns)
        return a->excess_ns > b->excess_ns ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static int by_length(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* The median of the kept steps, rounded down. */
static int64_t median_of_steps(const struct osc_breakdown *b, int64_t *lengths)
{
    size_t n = 0;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].is_kept)
            lengths[n++] = b->steps[i].end_ns - b->steps[i].start_ns;
    }
    if (n == 0)
        return 0;
    qsort(lengths, n, sizeof *lengths, by_length);
    const int64_t low = lengths[(n - 1) / 2];

    return low + (lengths[n / 2] - low) / 2;
}

osc_status osc_slow_steps_make(const struct osc_advice_base *a, struct osc_slow_steps *s)
{
    const struct osc_breakdown *const b = a->b;
    int64_t *lengths = osc_calloc((size_t)b->n_steps + 1, sizeof *lengths);
    uint32_t *slow_of = osc_calloc((size_t)b->n_steps + 1, sizeof *slow_of);
    struct parts parts = {0};

    *s = (struct osc_slow_steps){0};
    s->v = osc_calloc((size_t)b->n_steps + 1, sizeof *s->v);
    osc_status st = lengths && slow_of && s->v ? OSC_OK : OSC_ENOMEM;
    if (st != OSC_OK)
        goto out;
    s->median_ns = median_of_steps(b, lengths);
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const int64_t excess_ns = b->steps[i].end_ns - b->steps[i].start_ns - s->median_ns;

        if (!b->steps[i].is_outlier || excess_ns <= 0)
            continue;
        s->v[s->n] = (struct osc_slow_step){.step = i, .excess_ns = excess_ns};
        slow_of[i] = (uint32_t)++s->n;
        s->excess_ns += excess_ns;
    }
    if (s->n == 0)
        goto out;
    st = add_host_parts(a, &parts);
    if (st == OSC_OK)
        st = add_device_parts(a, &parts);
    if (st != OSC_OK)
        goto out;
    find_grown(a, &parts, slow_of, s);
    qsort(s->v, s->n, sizeof *s->v, by_excess);
out:
    osc_free(lengths);
    osc_free(slow_of);
    osc_idmap_fini(&parts.numbers);
    osc_idmap_fini(&parts.of_pair);
    osc_free(parts.v);
    return st;
}

void osc_slow_steps_fini(struct osc_slow_steps *s)
{
    osc_free(s->v);
    *s = (struct osc_slow_steps){0};
}
