/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/model.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/flow/chains.h"

static osc_status add_track(struct osc_timeline *tl, const struct osc_timeline_track *track)
{
    if (osc_grow(&tl->tracks, &tl->cap_tracks, tl->n_tracks + 1, sizeof *tl->tracks) != OSC_OK)
        return OSC_ENOMEM;
    tl->tracks[tl->n_tracks++] = *track;
    return OSC_OK;
}

static int by_first_event(const void *a, const void *b, void *ctx)
{
    const struct osc_timeline_track *const x = a, *const y = b;
    const struct osc_timeline_part *const parts = ctx;

    if (x->track == y->track)
        return x->group != y->group        ? (x->group < y->group ? -1 : 1)
               : x->domain.v < y->domain.v ? -1
                                           : x->domain.v > y->domain.v;
    return parts[x->part].t->tracks[x->track].order < parts[y->part].t->tracks[y->track].order
               ? -1
               : 1;
}

static osc_status add_tracks(struct osc_timeline *tl, uint32_t k)
{
    struct osc_timeline_part *const part = &tl->parts[k];
    const struct osc_lanes *const lanes = &part->lanes;
    osc_status st = OSC_OK;

    part->first_track = tl->n_tracks;
    for (uint32_t i = 0; i < lanes->n && st == OSC_OK; i++) {
        const struct osc_lane *const l = &lanes->v[i];

        if (l->depth == 0)
            st = add_track(tl, &(struct osc_timeline_track){.part = k,
                                                            .track = l->track,
                                                            .group = l->group,
                                                            .domain = l->domain,
                                                            .first_lane = i});
        if (st == OSC_OK) {
            tl->tracks[tl->n_tracks - 1].n_lanes++;
            tl->tracks[tl->n_tracks - 1].n_ranges += l->n;
        }
    }
    if (st == OSC_OK && tl->n_tracks > part->first_track)
        osc_sort_with(tl->tracks + part->first_track, tl->n_tracks - part->first_track,
                      sizeof *tl->tracks, by_first_event, tl->parts);
    return st;
}

/* Number the names of the events of PART in the order of the file: ids of strings have none. */
static osc_status add_names(struct osc_timeline *tl, struct osc_timeline_part *part)
{
    const struct osc_trace *const t = part->t;

    part->name_of =
        osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *part->name_of);
    if (!part->name_of)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            uint32_t *const number = &part->name_of[c->name[i]];
            osc_sid id;

            if (*number != 0)
                continue;
            const struct osc_str name = osc_row_name(t, c, i);
            /* The empty name has the id 0 there, and needs one here. */
            const osc_status st = osc_intern_add(
                &tl->names, name.len > 0 ? name : osc_str_c(OSC_TIMELINE_NO_NAME), &id);
            if (st != OSC_OK)
                return st;
            *number = id.v;
        }
    }
    return OSC_OK;
}

/* The arrows of a part while they are gathered. */
struct gathering {
    struct osc_timeline_part *part;
    size_t cap;
    osc_status status;
};

static void add_arrow(void *ctx, const struct osc_chain_arrow *arrow)
{
    struct gathering *const g = ctx;
    struct osc_timeline_part *const part = g->part;

    if (arrow->from == 0 || arrow->to == 0 || g->status != OSC_OK)
        return;
    g->status =
        osc_grow(&part->arrows, &g->cap, (size_t)part->n_arrows + 1, sizeof *part->arrows);
    if (g->status == OSC_OK)
        part->arrows[part->n_arrows++] =
            (struct osc_timeline_arrow){.from = arrow->from, .to = arrow->to};
}

static osc_status add_arrows(struct osc_timeline_part *part)
{
    struct gathering g = {.part = part};
    struct osc_chains_count count;
    const osc_status st =
        osc_chains_each(part->t, 1u << OSC_ARROW_OTHER, &count, add_arrow, &g);

    return st != OSC_OK ? st : g.status;
}

static osc_status add_part(struct osc_timeline *tl, const struct osc_trace *t,
                           unsigned n_threads)
{
    const uint32_t k = tl->n_parts;
    struct osc_timeline_part *const part = &tl->parts[k];
    uint64_t first_event = 0;

    if (k > 0)
        first_event = (uint64_t)part[-1].first_event + part[-1].t->events.n_rows;
    if (first_event + t->events.n_rows > UINT32_MAX)
        return OSC_ELIMIT;
    *part = (struct osc_timeline_part){.t = t, .first_event = (uint32_t)first_event};
    tl->n_parts++;
    osc_status st = osc_lanes_make(t, n_threads, &part->lanes);
    if (st == OSC_OK)
        st = osc_pyramid_make(t, &part->lanes, n_threads, &part->pyramid);
    if (st == OSC_OK)
        st = osc_series_make(t, &part->series);
    if (st == OSC_OK)
        st = add_arrows(part);
    part->first_series = tl->n_series;
    tl->n_series += part->series.n;
    if (st == OSC_OK)
        st = add_tracks(tl, k);
    if (st == OSC_OK)
        st = add_names(tl, part);
    if (t->events.n_rows > 0) {
        const int64_t from_ns = osc_timeline_time(t, t->min_ts_ns);
        const int64_t to_ns = osc_timeline_time(t, t->max_end_ns);

        tl->from_ns = k == 0 || from_ns < tl->from_ns ? from_ns : tl->from_ns;
        tl->to_ns = k == 0 || to_ns > tl->to_ns ? to_ns : tl->to_ns;
    }
    return st;
}

osc_status osc_timeline_make(struct osc_timeline *tl, const struct osc_trace *const *traces,
                             uint32_t n, unsigned n_threads)
{
    osc_status st = OSC_OK;

    *tl = (struct osc_timeline){0};
    if (n == 0)
        return OSC_OK;
    tl->parts = osc_calloc(n, sizeof *tl->parts);
    if (!tl->parts)
        return OSC_ENOMEM;
    tl->names = (struct osc_intern){.arena = &tl->texts, .seed = osc_hash_seed()};
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = add_part(tl, traces[i], n_threads);
    if (st != OSC_OK)
        osc_timeline_fini(tl);
    return st;
}

void osc_timeline_fini(struct osc_timeline *tl)
{
    for (uint32_t i = 0; i < tl->n_parts; i++) {
        osc_pyramid_fini(&tl->parts[i].pyramid);
        osc_lanes_fini(&tl->parts[i].lanes);
        osc_series_fini(&tl->parts[i].series);
        osc_free(tl->parts[i].arrows);
        osc_free(tl->parts[i].name_of);
    }
    osc_free(tl->parts);
    osc_free(tl->tracks);
    osc_intern_fini(&tl->names);
    osc_arena_fini(&tl->texts);
    *tl = (struct osc_timeline){0};
}

const struct osc_timeline_part *osc_timeline_series(const struct osc_timeline *tl,
                                                    uint32_t number)
{
    uint32_t low = 0, high = tl->n_parts;

    OSC_BISECT(low, high, i, tl->parts[i].first_series <= number);
    return &tl->parts[low - 1];
}

uint32_t osc_timeline_names(const struct osc_timeline *tl)
{
    return tl->names.n_entries;
}

struct osc_str osc_timeline_name(const struct osc_timeline *tl, uint32_t i)
{
    return osc_intern_str(&tl->names, (osc_sid){i + 1});
}

bool osc_timeline_find(const struct osc_timeline *tl, uint32_t number, uint32_t *part,
                       osc_row *row)
{
    uint32_t low = 0, high = tl->n_parts;

    OSC_BISECT(low, high, i, tl->parts[i].first_event <= number);
    if (low == 0)
        return false;
    const struct osc_timeline_part *const p = &tl->parts[low - 1];
    const struct osc_store *const events = &p->t->events;
    const uint32_t of_trace = number - p->first_event;
    if (of_trace >= events->n_rows)
        return false;
    uint32_t from = 1, to = events->n_chunks; /* rows of a chunk are numbered from first_row */
    OSC_BISECT(from, to, i, events->chunks[i]->first_row <= of_trace);
    *part = low - 1;
    *row = osc_row_at(events->chunks[from - 1], of_trace - events->chunks[from - 1]->first_row);
    return true;
}
