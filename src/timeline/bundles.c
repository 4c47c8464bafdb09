/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/bundles.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "derive/facts.h"

#define GROUPS      3u /* of enum osc_lane_group, which no two have the same ranges */
#define BUCKETS     64u
#define TRACK_BITS  12u
#define BUCKET_BITS 9u /* BUCKETS, and one more at each side */
#define KIND_BITS   2u

/* Beside a place in the list: frames of Python are not on that track. */
#define WITHOUT_FRAMES (UINT32_C(1) << 31)

/* More bundles than that are not told from each other, however few buckets there are. */
#define FOUND_MAX 16384u

struct search {
    const struct osc_timeline *tl;
    const struct osc_bundle_window *w;
    const struct osc_timeline_part *part;
    uint32_t *asked;          /* owned; of the part, by track and group: see ask_for() */
    uint32_t n_buckets;       /* 0: each arrow stands alone */
    struct osc_idmap known;   /* key -> place in found + 1 */
    struct osc_bundle *found; /* owned */
    size_t cap_found;
    uint32_t n_found, n_most;
    uint64_t n_left_out;
    bool is_over; /* there are more than n_most */
    osc_status status;
};

/* The bucket of AT_NS, from 0: before the window. */
static uint64_t bucket_of(const struct search *s, int64_t at_ns)
{
    const struct osc_bundle_window *const w = s->w;

    if (at_ns < w->from_ns)
        return 0;
    if (at_ns >= w->to_ns)
        return s->n_buckets + 1u;
    return 1 +
           (uint64_t)((osc_wide)(at_ns - w->from_ns) * s->n_buckets / (w->to_ns - w->from_ns));
}

/* Begin a bundle with the arrow B. */
static void add_bundle(struct search *s, const struct osc_bundle *b)
{
    if (s->n_found == s->n_most) {
        s->is_over = true;
        s->n_left_out++;
        return;
    }
    s->status = osc_grow(&s->found, &s->cap_found, (size_t)s->n_found + 1, sizeof *s->found);
    if (s->status == OSC_OK)
        s->found[s->n_found++] = *b;
}

/* Add the arrow B, between the tracks at FROM and TO of the list. */
static void add_arrow(struct search *s, const struct osc_bundle *b, uint32_t from, uint32_t to)
{
    const uint64_t key =
        ((((uint64_t)from << TRACK_BITS | to) << BUCKET_BITS | bucket_of(s, b->from_ns))
             << BUCKET_BITS |
         bucket_of(s, b->to_ns))
            << KIND_BITS |
        b->kind;

    if (s->n_buckets == 0) {
        add_bundle(s, b);
        return;
    }
    const uint32_t place = osc_idmap_get(&s->known, key);
    if (place != 0) {
        s->found[place - 1].n++;
        return;
    }
    const uint32_t n_before = s->n_found;
    add_bundle(s, b);
    if (s->n_found == n_before)
        return;
    uint32_t *const at = osc_idmap_put(&s->known, key);
    if (at)
        *at = s->n_found;
    else
        s->status = OSC_ENOMEM;
}

/* The place in the list, + 1, of the track of row I of C; 0: it is not asked for. */
static uint32_t asked_of(const struct search *s, const struct osc_chunk *c, uint32_t i)
{
    const int group = osc_lane_group_of(&osc_trace_facts(s->part->t)->classes, c, i);

    if (group < 0)
        return 0;
    const uint32_t place = s->asked[(size_t)c->track[i] * GROUPS + (unsigned)group];
    if ((place & WITHOUT_FRAMES) != 0 && c->kind[i] == OSC_KIND_PYTHON)
        return 0;
    return place & ~WITHOUT_FRAMES;
}

/* Look at the arrow of KIND from row FROM to row I of C. */
static void look_at(struct search *s, osc_row from_row, const struct osc_chunk *c, uint32_t i,
                    enum osc_arrow_of_window kind)
{
    const struct osc_trace *const t = s->part->t;
    const struct osc_chunk *const source = osc_chunk_of(&t->events, from_row);
    const uint32_t k = osc_row_place(from_row);
    const int64_t from_ns = osc_timeline_time(t, source->ts_ns[k]);
    const int64_t to_ns = osc_timeline_time(t, c->ts_ns[i]);
    const struct osc_bundle_window *const w = s->w;

    if ((from_ns < w->from_ns || from_ns >= w->to_ns) &&
        (to_ns < w->from_ns || to_ns >= w->to_ns))
        return;
    const uint32_t from = asked_of(s, source, k), to = asked_of(s, c, i);
    if (from == 0 || to == 0)
        return;
    const struct osc_bundle b = {.from_event = s->part->first_event +
                                               osc_row_number(&t->events, from_row),
                                 .to_event = s->part->first_event + c->first_row + i,
                                 .from_track = w->tracks[from - 1],
                                 .to_track = w->tracks[to - 1],
                                 .from_ns = from_ns,
                                 .to_ns = to_ns,
                                 .n = 1,
                                 .kind = (uint8_t)kind};
    add_arrow(s, &b, from - 1, to - 1);
}

/* Look at the link of row I of C, which has one. */
static void look_at_link(struct search *s, const struct osc_chunk *c, uint32_t i)
{
    const enum osc_kind kind = (enum osc_kind)c->kind[i];
    const bool is_launched = osc_kind_is_device_work(kind) || kind == OSC_KIND_SYNC;

    if (is_launched || kind == OSC_KIND_OPERATOR)
        look_at(s, (osc_row){c->link[i]}, c, i,
                is_launched ? OSC_WINDOW_LAUNCH : OSC_WINDOW_FORWARD);
}

/* Whether the search goes on. */
static bool goes_on(struct search *s)
{
    if (s->status == OSC_OK && osc_mem_is_cancelled())
        s->status = OSC_ECANCELED;
    return s->status == OSC_OK && (!s->is_over || s->n_buckets == 1);
}

/* Ranges on TRACK, in PLACE of the list, are asked for: PLACE + 1, with WITHOUT_FRAMES. */
static void ask_for(struct search *s, const struct osc_timeline_track *track, uint32_t place)
{
    const uint32_t *const first = s->part->lanes.packing.first;

    if (track->group < GROUPS)
        s->asked[(size_t)track->track * GROUPS + track->group] = place + 1;
    else if (track->group == OSC_LANE_NO_FRAMES)
        s->asked[(size_t)track->track * GROUPS + OSC_LANE_RANGES] =
            (place + 1) | WITHOUT_FRAMES;
    else if (track->group == OSC_LANE_PACKED)
        for (uint32_t k = track->track; k < s->part->t->n_tracks; k++)
            if (first[k] == track->track)
                s->asked[(size_t)k * GROUPS + OSC_LANE_RANGES] = place + 1;
}

static void look_at_part(struct search *s, uint32_t p)
{
    const struct osc_timeline *const tl = s->tl;
    const struct osc_store *events;
    bool is_asked = false;

    s->part = &tl->parts[p];
    s->asked = osc_calloc((size_t)s->part->t->n_tracks * GROUPS + 1, sizeof *s->asked);
    if (!s->asked) {
        s->status = OSC_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < s->w->n_tracks; i++) {
        const struct osc_timeline_track *const track = &tl->tracks[s->w->tracks[i]];

        if (track->part != p)
            continue;
        ask_for(s, track, i);
        is_asked = true;
    }
    events = &s->part->t->events;
    for (uint32_t k = 1; k < events->n_chunks && is_asked && goes_on(s); k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; c->link && i < c->n_rows && s->status == OSC_OK; i++)
            if (c->link[i] != 0)
                look_at_link(s, c, i);
    }
    for (uint32_t k = 0; k < s->part->n_arrows && is_asked && goes_on(s); k++) {
        const osc_row to = {s->part->arrows[k].to};

        look_at(s, (osc_row){s->part->arrows[k].from}, osc_chunk_of(events, to),
                osc_row_place(to), OSC_WINDOW_OTHER);
    }
    osc_free(s->asked);
    s->asked = NULL;
}

/* Find all bundles, with N_BUCKETS. */
static void look(struct search *s, uint32_t n_buckets)
{
    osc_idmap_fini(&s->known);
    s->n_buckets = n_buckets;
    s->n_most = n_buckets == 1 ? FOUND_MAX : OSC_BUNDLES_MAX;
    s->n_found = 0;
    s->n_left_out = 0;
    s->is_over = false;
    for (uint32_t p = 0; p < s->tl->n_parts && goes_on(s); p++)
        look_at_part(s, p);
}

static int by_number(const void *x, const void *y)
{
    const struct osc_bundle *const a = x, *const b = y;

    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return a->to_event < b->to_event ? -1 : a->to_event > b->to_event;
}

static int by_event(const void *x, const void *y)
{
    const struct osc_bundle *const a = x, *const b = y;

    if (a->to_event != b->to_event)
        return a->to_event < b->to_event ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->from_event < b->from_event ? -1 : a->from_event > b->from_event;
}

osc_status osc_bundles_find(const struct osc_timeline *tl, const struct osc_bundle_window *w,
                            struct osc_bundles *out)
{
    struct search s = {.tl = tl, .w = w};

    look(&s, 0);
    for (uint32_t n = BUCKETS; n > 0 && s.is_over && s.status == OSC_OK; n /= 2)
        look(&s, n);
    out->n = s.n_found < OSC_BUNDLES_MAX ? s.n_found : OSC_BUNDLES_MAX;
    out->n_left_out = s.n_left_out;
    if (s.n_found > OSC_BUNDLES_MAX)
        osc_sort(s.found, s.n_found, sizeof *s.found, by_number);
    for (uint32_t i = out->n; i < s.n_found; i++)
        out->n_left_out += s.found[i].n;
    if (out->n > 0)
        osc_sort(s.found, out->n, sizeof *s.found, by_event);
    for (uint32_t i = 0; i < out->n; i++)
        out->v[i] = s.found[i];
    osc_idmap_fini(&s.known);
    osc_free(s.found);
    return s.status;
}
