/* SPDX-License-Identifier: Apache-2.0 */
#include "page/levels.h"

#include <stdio.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/sort.h"
#include "timeline/packet.h"

#define HEADER_BYTES   48u
#define LANE_BYTES     16u
#define CELL_BYTES     20u
#define COARSE_BUCKETS 1024
#define EVENTS_MAX     4000u
/* Starts in a tile stay below 2^30 units. */
#define TILE_LOG2 30u
/* A window of time is never longer: 2^62 ns. */
#define TIME_LOG2 62u
/* A level that is longer before it is compressed does not fit: events may be far from each
 * other, and each tile between them has a header and the table of lanes. */
#define LEVEL_BYTES_MAX ((size_t)64 << 20)

/* A level while it is made. */
struct making {
    const struct osc_timeline *tl;
    struct osc_levels *levels;
    struct osc_packet_lanes *tracks; /* owned; all of them */
    struct osc_strbuf packet, level;
    struct osc_strbuf alone; /* a uint64_t for each event that stands alone: length, ~event */
    unsigned log2;           /* of the width of a bucket */
    bool is_cut;             /* it is not whole: a packet was full, or there are too many */
    bool is_alone;           /* each cell is one range */
};

static uint32_t number_at(const char *s)
{
    struct osc_fields r = {.at = s, .end = s + 4};

    return osc_get_u32(&r);
}

static uint32_t word_of(const char *cells, size_t i, unsigned w)
{
    return number_at(cells + i * CELL_BYTES + (size_t)w * 4);
}

/* Append word W of the N cells at CELLS: differences if IS_DELTA, byte by byte. */
static void put_column(struct osc_strbuf *out, const char *cells, size_t n, unsigned w,
                       bool is_delta)
{
    for (unsigned byte = 0; byte < 4; byte++) {
        uint32_t before = 0;

        for (size_t i = 0; i < n; i++) {
            const uint32_t v = word_of(cells, i, w);

            osc_strbuf_addc(out, (char)((v - before) >> (8 * byte) & 0xff));
            before = is_delta ? v : 0;
        }
    }
}

/* Note the names of the N cells at CELLS, and the events that stand alone there. */
static void note_cells(struct making *m, const char *cells, size_t n)
{
    uint8_t *const has = m->levels->has_names;

    for (size_t i = 0; i < n; i++) {
        const uint32_t name = word_of(cells, i, 3);
        const uint64_t found =
            (uint64_t)word_of(cells, i, 1) << 32 | (UINT32_MAX - word_of(cells, i, 2));

        if (has[name] == 0)
            has[name] = (uint8_t)(m->levels->n + 1);
        if ((word_of(cells, i, 4) & 0xffff) == 1)
            osc_strbuf_add(&m->alone, (const char *)&found, sizeof found);
        else
            m->is_alone = false;
    }
}

/* Append the packet of M as a tile. */
static void put_tile(struct making *m)
{
    const char *const bytes = m->packet.s;
    const size_t n_lanes = number_at(bytes + 20), n = number_at(bytes + 24);
    const size_t head = HEADER_BYTES + n_lanes * LANE_BYTES, all = m->packet.len;
    const char *const cells = m->packet.s + head;

    osc_put_u32(&m->level, (uint32_t)(all));
    osc_put_u32(&m->level, (uint32_t)(0));
    osc_strbuf_add(&m->level, m->packet.s, head);
    for (unsigned w = 0; w < 5; w++)
        put_column(&m->level, cells, n, w, w == 0 || w == 2);
    osc_strbuf_add(&m->level, cells + n * CELL_BYTES, all - head - n * CELL_BYTES);
    osc_strbuf_pad(&m->level, '\0', (8 - all % 8) % 8);
    m->is_cut = m->is_cut || (bytes[6] & 2) != 0;
    note_cells(m, cells, n);
}

/* Make the level of M. Buckets begin at multiples of their width. */
static osc_status make_level(struct making *m)
{
    const unsigned log2 = (m->log2 > 8 ? m->log2 - 8 : 0) + TILE_LOG2;
    const int64_t bucket = INT64_C(1) << m->log2;
    const int64_t tile = INT64_C(1) << (log2 < TIME_LOG2 ? log2 : TIME_LOG2);
    const int64_t first = m->tl->from_ns & ~(bucket - 1);
    const int64_t last = (m->tl->to_ns | (bucket - 1)) + 1;
    osc_status st = OSC_OK;

    osc_strbuf_clear(&m->level);
    osc_strbuf_clear(&m->alone);
    m->is_cut = false;
    m->is_alone = true;
    for (int64_t at = first, end; at < last && st == OSC_OK && !m->is_cut; at = end) {
        end = last - tile > at ? at + tile : last;
        const struct osc_packet_request r = {.tracks = m->tracks,
                                             .n_tracks = m->tl->n_tracks,
                                             .from_ns = at,
                                             .to_ns = end,
                                             .n_pixels = (uint32_t)((end - at) >> m->log2)};

        st = osc_packet_write(m->tl, &r, &m->packet);
        if (st == OSC_OK)
            put_tile(m);
        if (st == OSC_OK)
            st = m->level.status != OSC_OK ? m->level.status : m->alone.status;
        m->is_cut = m->is_cut || m->level.len > LEVEL_BYTES_MAX;
    }
    return st;
}

static int is_longer(const void *a, const void *b)
{
    const uint64_t *const x = a, *const y = b;

    return (*x < *y) - (*x > *y);
}

/* Keep the longest events that stand alone in the level of M, the first of equally long ones
 * first. */
static void keep_longest(struct making *m)
{
    uint64_t *const all = (uint64_t *)(void *)m->alone.s; /* as allocated: aligned */
    const size_t n = m->alone.len / sizeof *all;
    struct osc_levels *const l = m->levels;

    osc_sort(all, n, sizeof *all, is_longer);
    l->n_events = 0;
    for (size_t i = 0; i < n && l->n_events < EVENTS_MAX; i++)
        if (i == 0 || all[i] != all[i - 1]) /* an event may be on two tracks */
            l->events[l->n_events++] = UINT32_MAX - (uint32_t)all[i];
}

/* Make levels for P until one does not fit. */
static osc_status add_all(struct osc_levels *l, struct making *m, struct osc_pack *p,
                          size_t most)
{
    bool is_taken = true;
    osc_status st = OSC_OK;

    while (st == OSC_OK && is_taken && !l->is_complete) {
        char key[32];

        snprintf(key, sizeof key, "cells/%u", l->n);
        st = make_level(m);
        is_taken = st == OSC_OK && !m->is_cut;
        if (is_taken)
            st = osc_pack_add(p, key, m->level.s ? m->level.s : "", m->level.len, most,
                              &is_taken);
        if (st != OSC_OK || !is_taken)
            break;
        keep_longest(m);
        l->n++;
        l->quantum_ns = INT64_C(1) << m->log2;
        l->is_complete = m->is_alone || m->log2 == 0;
        m->log2 = m->log2 > 2 ? m->log2 - 2 : 0;
    }
    return st;
}

osc_status osc_levels_add(struct osc_levels *l, const struct osc_timeline *tl,
                          struct osc_pack *p, size_t most)
{
    struct making m = {
        .tl = tl, .levels = l, .tracks = osc_calloc(tl->n_tracks + 1u, sizeof *m.tracks)};
    osc_status st = OSC_OK;

    l->has_names = osc_calloc(osc_timeline_names(tl) + 1u, sizeof *l->has_names);
    l->events = osc_calloc(EVENTS_MAX, sizeof *l->events);
    if (!m.tracks || !l->has_names || !l->events)
        st = OSC_ENOMEM;
    for (uint32_t i = 0; i < tl->n_tracks && st == OSC_OK; i++)
        m.tracks[i] = (struct osc_packet_lanes){i, OSC_LANES_MAX};
    while ((tl->to_ns - tl->from_ns) >> m.log2 >= COARSE_BUCKETS)
        m.log2++;
    if (st == OSC_OK)
        st = add_all(l, &m, p, most);
    osc_strbuf_fini(&m.packet);
    osc_strbuf_fini(&m.level);
    osc_strbuf_fini(&m.alone);
    osc_free(m.tracks);
    return st;
}

void osc_levels_fini(struct osc_levels *l)
{
    osc_free(l->has_names);
    osc_free(l->events);
    *l = (struct osc_levels){0};
}
