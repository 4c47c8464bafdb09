/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/earlier_work.h"

#include "base/mem.h"

/* What the trace has of queues and devices. Zeroed, it is empty. */
struct queues {
    const struct osc_trace *t;
    const struct osc_facts *f;
    uint32_t *first;           /* owned; by track: index in osc_links.works + 1 of the first */
    struct osc_intervals *ran; /* owned; by device: when any work ran */
};

static int64_t start_of(const struct queues *q, uint32_t row)
{
    const osc_row at = {row};

    return osc_chunk_of(&q->t->events, at)->ts_ns[osc_row_place(at)];
}

static osc_status look(struct queues *q)
{
    const struct osc_links *const links = &q->f->links;
    const struct osc_loads *const loads = &q->f->loads;

    q->first = osc_calloc(q->t->n_tracks + 1, sizeof *q->first);
    q->ran = osc_calloc(loads->n_devices + 1, sizeof *q->ran);
    osc_status st = q->first && q->ran ? OSC_OK : OSC_ENOMEM;

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&q->t->events, row);
        const uint32_t i = osc_row_place(row), device = loads->of_track[c->track[i]];
        uint32_t *const first = &q->first[c->track[i]];

        if (device != 0)
            osc_intervals_add(&q->ran[device - 1], c->ts_ns[i], osc_row_end(c, i));
        if (*first == 0 || c->ts_ns[i] < start_of(q, links->works[*first - 1].row))
            *first = (uint32_t)n + 1;
    }
    for (uint32_t d = 0; d < loads->n_devices && st == OSC_OK; d++)
        st = osc_intervals_merge(&q->ran[d]);
    return st;
}

/* The number of ranges in RAN, which is merged, that had ended by NS. */
static size_t n_ended(const struct osc_intervals *ran, int64_t ns)
{
    size_t hint = 0;
    const size_t i = osc_intervals_find(ran, ns, &hint);

    return i < ran->n && ran->v[i].end_ns == ns ? i + 1 : i;
}

/* Since when a device that waited from FROM_NS to TO_NS, and RAN before, was probably busy. */
static int64_t busy_since(const struct osc_intervals *ran, int64_t from_ns, int64_t to_ns)
{
    const size_t n = n_ended(ran, from_ns);
    int64_t since_ns;

    if (__builtin_sub_overflow(from_ns, to_ns - from_ns, &since_ns))
        since_ns = INT64_MIN;
    return n > 0 && ran->v[n - 1].end_ns > since_ns ? ran->v[n - 1].end_ns : since_ns;
}

/* Add the first work of track K to E if it waited. */
static osc_status check_queue(const struct queues *q, uint32_t k, struct osc_earlier_work *e)
{
    const struct osc_links *const links = &q->f->links;
    const struct osc_work *const work =
        q->first[k] != 0 ? &links->works[q->first[k] - 1] : NULL;
    const uint32_t device = q->f->loads.of_track[k];

    if (!work || work->call == 0 || device == 0)
        return OSC_OK;
    const osc_row call = {links->calls[work->call - 1].row};
    const int64_t from_ns = osc_row_end(osc_chunk_of(&q->t->events, call), osc_row_place(call));
    const int64_t to_ns = start_of(q, work->row);
    if (to_ns <= from_ns || to_ns - from_ns <= OSC_HANDOVER_NS)
        return OSC_OK;
    const struct osc_intervals *const ran = &q->ran[device - 1];
    const size_t n = n_ended(ran, from_ns);
    if (n < ran->n && ran->v[n].start_ns < to_ns)
        return OSC_OK;
    if (osc_grow(&e->v, &e->cap, e->n + 1, sizeof *e->v) != OSC_OK)
        return OSC_ENOMEM;
    e->v[e->n++] =
        (struct osc_earlier){busy_since(ran, from_ns, to_ns), to_ns, q->first[k], device - 1};
    return OSC_OK;
}

osc_status osc_earlier_work_find(const struct osc_trace *t, struct osc_earlier_work *e)
{
    struct queues q = {.t = t, .f = osc_trace_facts(t)};
    osc_status st = look(&q);

    *e = (struct osc_earlier_work){0};
    for (uint32_t k = 0; k < t->n_tracks && st == OSC_OK; k++)
        st = check_queue(&q, k, e);
    for (uint32_t d = 0; q.ran && d < q.f->loads.n_devices; d++)
        osc_intervals_fini(&q.ran[d]);
    osc_free(q.ran);
    osc_free(q.first);
    return st;
}

void osc_earlier_work_fini(struct osc_earlier_work *e)
{
    osc_free(e->v);
    *e = (struct osc_earlier_work){0};
}
