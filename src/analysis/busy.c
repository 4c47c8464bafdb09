/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/busy.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "derive/facts.h"
#include "derive/intervals.h"
#include "model/producer.h"

/* The time that ranges cover, which come in order of their start. */
struct cover {
    int64_t end_ns, sum_ns;
    bool has_any;
};

/* The queues of one device. */
struct device {
    uint32_t track; /* the first of them */
    uint64_t n_events;
    struct osc_intervals worked;
};

struct devices {
    struct device *v; /* owned */
    size_t n, cap;
    struct osc_idmap of_name; /* osc_sid -> index + 1 */
};

static void add(struct cover *c, int64_t start_ns, int64_t end_ns)
{
    if (!c->has_any || start_ns > c->end_ns)
        c->sum_ns += end_ns - start_ns;
    else if (end_ns > c->end_ns)
        c->sum_ns += end_ns - c->end_ns;
    if (!c->has_any || end_ns > c->end_ns)
        c->end_ns = end_ns;
    c->has_any = true;
}

/* The end of row I of C, or of what B counts. */
static int64_t end_of(const struct osc_busy *b, const struct osc_chunk *c, uint32_t i)
{
    const int64_t end_ns = osc_row_end(c, i);

    return end_ns < b->end_ns ? end_ns : b->end_ns;
}

static struct device *device_of(struct devices *all, osc_sid name, uint32_t track)
{
    uint32_t *const at = osc_idmap_put(&all->of_name, name.v);

    if (!at)
        return NULL;
    if (*at == 0) {
        if (osc_grow(&all->v, &all->cap, all->n + 1, sizeof *all->v) != OSC_OK)
            return NULL;
        all->v[all->n] = (struct device){.track = track};
        *at = (uint32_t)++all->n;
    }
    return &all->v[*at - 1];
}

static osc_status sum_queue(const struct osc_trace *t, struct osc_busy *b, uint32_t track,
                            struct devices *all)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;
    struct device *const d = device_of(all, t->tracks[track].device, track);
    struct osc_intervals worked = {0};
    bool has_any = false;

    if (!d)
        return OSC_ENOMEM;
    d->n_events += t->tracks[track].n_events;
    for (uint32_t n = order->first[track]; n < order->first[track + 1]; n++) {
        const struct osc_chunk *const c = osc_chunk_of(&t->events, (osc_row){order->rows[n]});
        const uint32_t i = order->rows[n] & OSC_CHUNK_MASK;

        if (!osc_kind_is_device_work((enum osc_kind)c->kind[i]))
            continue;
        osc_intervals_add(&worked, c->ts_ns[i], end_of(b, c, i));
        has_any = true;
    }
    if (has_any)
        b->track_ns[track] = osc_intervals_length(&worked);
    osc_intervals_concat(&d->worked, &worked);
    const osc_status st = worked.status == OSC_OK ? d->worked.status : worked.status;
    osc_intervals_fini(&worked);
    return st;
}

/* The name of ranges of T in which a thread waits for work; none: it has none. */
static osc_sid idle_name(const struct osc_trace *t)
{
    return t->producer == OSC_PRODUCER_RAY
               ? osc_strings_find(&t->strings, OSC_STR("worker_idle"))
               : (osc_sid){0};
}

static void sum_thread(const struct osc_trace *t, struct osc_busy *b, uint32_t track,
                       osc_sid idle)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;
    struct cover works = {0}, labels = {0};

    for (uint32_t n = order->first[track]; n < order->first[track + 1]; n++) {
        const struct osc_chunk *const c = osc_chunk_of(&t->events, (osc_row){order->rows[n]});
        const uint32_t i = order->rows[n] & OSC_CHUNK_MASK;

        if (!t->forms[c->form[i]].is_profiler && (idle.v == 0 || c->name[i] != idle.v))
            add(osc_kind_is_label((enum osc_kind)c->kind[i]) ? &labels : &works, c->ts_ns[i],
                end_of(b, c, i));
    }
    if (works.has_any || labels.has_any)
        b->track_ns[track] = works.has_any ? works.sum_ns : labels.sum_ns;
}

/* The asynchronous ranges of a thread. */
struct pending {
    struct osc_intervals covers;
    bool has_any; /* ranges without a duration cover nothing */
};

/* Sum up the asynchronous ranges of the threads that have nothing else. */
static osc_status sum_async(const struct osc_trace *t, struct osc_busy *b)
{
    struct pending *const of = osc_calloc(t->n_tracks + 1, sizeof *of);
    osc_status st = of ? OSC_OK : OSC_ENOMEM;

    for (uint32_t k = 1; k < t->events.n_chunks && of; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            struct pending *const p = &of[c->track[i]];

            if (t->forms[c->form[i]].shape != OSC_SHAPE_ASYNC || c->dur_ns[i] == OSC_NO_DUR ||
                b->track_ns[c->track[i]] != OSC_NEVER_BUSY)
                continue;
            osc_intervals_add(&p->covers, c->ts_ns[i], end_of(b, c, i));
            p->has_any = true;
        }
    }
    for (uint32_t track = 1; track < t->n_tracks && of; track++) {
        if (of[track].has_any && !t->tracks[track].is_summary && !t->tracks[track].is_queue) {
            st = st == OSC_OK ? osc_intervals_merge(&of[track].covers) : st;
            b->track_ns[track] = osc_intervals_length(&of[track].covers);
        }
        osc_intervals_fini(&of[track].covers);
    }
    osc_free(of);
    return st;
}

static osc_status sum_all(const struct osc_trace *t, struct osc_busy *b, struct devices *all)
{
    const osc_sid idle = idle_name(t);
    bool is_idle = false; /* some thread has no synchronous range */

    for (uint32_t track = 0; track < t->n_tracks; track++) {
        const struct osc_track *const k = &t->tracks[track];
        osc_status st = OSC_OK;

        b->track_ns[track] = b->device_ns[track] = OSC_NEVER_BUSY;
        if (track == 0 || k->n_events == 0 || k->is_summary)
            continue;
        if (k->is_queue)
            st = sum_queue(t, b, track, all);
        else
            sum_thread(t, b, track, idle);
        is_idle |= !k->is_queue && b->track_ns[track] == OSC_NEVER_BUSY;
        if (st != OSC_OK)
            return st;
    }
    for (size_t d = 0; d < all->n; d++) {
        const osc_status st = osc_intervals_merge(&all->v[d].worked);

        if (st != OSC_OK)
            return st;
        b->device_ns[all->v[d].track] = osc_intervals_length(&all->v[d].worked);
        b->device_events[all->v[d].track] = all->v[d].n_events;
    }
    return is_idle ? sum_async(t, b) : OSC_OK;
}

osc_status osc_busy_make(const struct osc_trace *t, int64_t end_ns, struct osc_busy *b)
{
    struct devices all = {0};
    osc_status st = OSC_ENOMEM;

    b->end_ns = end_ns;
    b->track_ns = osc_malloc((t->n_tracks + 1) * sizeof *b->track_ns);
    b->device_ns = osc_malloc((t->n_tracks + 1) * sizeof *b->device_ns);
    b->device_events = osc_calloc(t->n_tracks + 1, sizeof *b->device_events);
    if (b->track_ns && b->device_ns && b->device_events)
        st = sum_all(t, b, &all);
    for (size_t d = 0; d < all.n; d++)
        osc_intervals_fini(&all.v[d].worked);
    osc_free(all.v);
    osc_idmap_fini(&all.of_name);
    if (st != OSC_OK)
        osc_busy_fini(b);
    return st;
}

void osc_busy_fini(struct osc_busy *b)
{
    osc_free(b->track_ns);
    osc_free(b->device_ns);
    osc_free(b->device_events);
    *b = (struct osc_busy){0};
}
