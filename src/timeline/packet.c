/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/packet.h"

#include <string.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/wide.h"
#include "derive/facts.h"
#include "timeline/bundles.h"

#define HEADER_BYTES 48u
#define LANE_BYTES   16u
#define CELL_BYTES   20u
#define SAMPLE_BYTES 16u
#define BUNDLE_BYTES 28u
#define MAGIC_CELLS  0x5443534fu /* "OSCT" */
#define MAGIC_VALUES 0x5643534fu /* "OSCV" */
#define MAGIC_FLOWS  0x4643534fu /* "OSCF" */
#define LENGTH_BYTES 12u
#define LONG_BUCKETS 32 /* as long are cells whose duration people may read */
#define UNITS_LOG2   8u /* of a bucket */

struct writing {
    const struct osc_timeline *tl;
    const struct osc_timeline_part *part;
    struct osc_strbuf *out;
    struct osc_strbuf lengths; /* owned; of long cells */
    uint32_t n_lengths;
    int64_t t0_ns;     /* on the clock of the part */
    int64_t low, high; /* cells are cut to these, in units from t0 */
    int64_t bucket_ns;
    unsigned level, unit_log2;
    uint32_t magic;
    uint32_t n_cells;
    bool is_cut;
};

static int64_t units(const struct writing *w, int64_t at_ns)
{
    const int64_t v = (at_ns - w->t0_ns) >> w->unit_log2;

    return v < w->low ? w->low : v > w->high ? w->high : v;
}

static uint8_t busy_of(const struct writing *w, const struct osc_lane_cell *cell)
{
    int64_t width_ns = cell->end_ns - cell->start_ns;

    if (width_ns < w->bucket_ns)
        width_ns = w->bucket_ns;
    if (cell->n == 1 || cell->busy_ns >= width_ns)
        return 255;
    return (uint8_t)((osc_wide)cell->busy_ns * 255 / width_ns);
}

/* Write the duration of the event NUMBER, which is CELL. */
static void add_length(struct writing *w, uint32_t number, const struct osc_lane_cell *cell)
{
    char bytes[LENGTH_BYTES];

    osc_fields_store(bytes, number, 4);
    osc_fields_store(bytes + 4, (uint64_t)(cell->end_ns - cell->start_ns), 8);
    osc_strbuf_put(&w->lengths, bytes, sizeof bytes);
    w->n_lengths++;
}

static bool write_cell(void *ctx, const struct osc_lane_cell *cell)
{
    struct writing *const w = ctx;
    const struct osc_trace *const t = w->part->t;
    const osc_row row = {cell->row};
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
    const uint32_t i = osc_row_place(row);
    const int64_t start = units(w, cell->start_ns), end = units(w, cell->end_ns);
    char bytes[CELL_BYTES];

    if (w->n_cells == OSC_PACKET_CELLS) {
        w->is_cut = true;
        return false;
    }
    osc_fields_store(bytes, (uint32_t)start, 4);
    osc_fields_store(bytes + 4, (uint32_t)(end - start), 4);
    const uint32_t number = w->part->first_event + osc_row_number(&t->events, row);
    osc_fields_store(bytes + 8, number, 4);
    osc_fields_store(bytes + 12, w->part->name_of[c->name[i]] - 1, 4);
    osc_fields_store(bytes + 16, cell->n > UINT16_MAX ? UINT16_MAX : cell->n, 2);
    bytes[18] = (char)busy_of(w, cell);
    bytes[19] = (char)(c->kind[i] == OSC_KIND_KERNEL &&
                               osc_is_comm_kernel(&osc_trace_facts(t)->classes, c, i)
                           ? OSC_PACKET_COMMUNICATION
                           : c->kind[i]);
    osc_strbuf_put(w->out, bytes, sizeof bytes);
    w->n_cells++;
    if (cell->n == 1 && cell->end_ns - cell->start_ns >= LONG_BUCKETS * w->bucket_ns)
        add_length(w, number, cell);
    return w->out->status == OSC_OK;
}

/* Write the cells of a lane, and its entry at AT in the table of lanes. */
static void write_lane(struct writing *w, const struct osc_packet_lanes *asked, uint32_t depth,
                       const struct osc_cell_window *window, size_t at)
{
    const uint32_t lane = w->tl->tracks[asked->track].first_lane + depth, n_before = w->n_cells;

    if (!w->is_cut)
        osc_cells_find(&w->part->pyramid, lane, window, write_cell, w);
    if (w->out->status != OSC_OK)
        return;
    osc_fields_store(w->out->s + at, asked->track, 4);
    osc_fields_store(w->out->s + at + 4, depth, 2);
    osc_fields_store(w->out->s + at + 6, w->part->lanes.v[lane].overlaps ? 1 : 0, 2);
    osc_fields_store(w->out->s + at + 8, n_before, 4);
    osc_fields_store(w->out->s + at + 12, w->n_cells - n_before, 4);
}

static uint32_t count_lanes(const struct osc_timeline *tl, const struct osc_packet_lanes *asked)
{
    const uint32_t n = tl->tracks[asked->track].n_lanes;

    return asked->max_lanes < n ? asked->max_lanes : n;
}

static int64_t floor_to(int64_t v, unsigned log2)
{
    return (int64_t)((uint64_t)(v >> log2) << log2);
}

/* The window of R, from the origin: as it is, or grown to whole buckets of 2^LEVEL ns. */
static struct osc_cell_window window_of(const struct osc_packet_request *r, unsigned level)
{
    struct osc_cell_window w = {r->from_ns, r->to_ns, r->n_pixels};

    if (r->is_exact)
        return w;
    w.from_ns = floor_to(r->from_ns, level);
    w.to_ns = floor_to(r->to_ns - 1, level) + (INT64_C(1) << level);
    w.n_buckets = (uint32_t)((uint64_t)(w.to_ns - w.from_ns) >> level);
    return w;
}

static unsigned level_of(const struct osc_packet_request *r)
{
    const uint64_t pixel_ns = (uint64_t)(r->to_ns - r->from_ns) / r->n_pixels;
    unsigned level = 0;

    while (level < 62 && pixel_ns >> (level + 1) != 0)
        level++;
    return level;
}

static void write_header(struct writing *w, const struct osc_packet_request *r,
                         const struct osc_cell_window *window, uint32_t n_lanes)
{
    char *const h = w->out->s;

    osc_fields_store(h, w->magic, 4);
    osc_fields_store(h + 4, 1, 2);
    osc_fields_store(h + 6, (r->is_exact ? 1u : 0u) | (w->is_cut ? 2u : 0u), 2);
    osc_fields_store(h + 8, (uint64_t)window->from_ns, 8);
    h[16] = (char)w->unit_log2;
    h[17] = (char)w->level;
    osc_fields_store(h + 20, n_lanes, 4);
    osc_fields_store(h + 24, w->n_cells, 4);
    osc_fields_store(h + 28, r->number, 4);
    osc_fields_store(h + 32, (uint64_t)(window->to_ns - window->from_ns), 8);
    osc_fields_store(h + 40, w->n_lengths, 4);
}

/* Begin a packet for WINDOW, with room for a table of N_LANES. */
static void begin(struct writing *w, const struct osc_packet_request *r,
                  const struct osc_cell_window *window, uint32_t n_lanes)
{
    w->level = level_of(r);
    w->unit_log2 = w->level > UNITS_LOG2 ? w->level - UNITS_LOG2 : 0;
    w->bucket_ns = (window->to_ns - window->from_ns) / window->n_buckets;
    w->low = -(INT64_C(1) << 30);
    w->high = ((window->to_ns - window->from_ns) >> w->unit_log2) + (INT64_C(1) << 30);
    osc_strbuf_clear(w->out);
    osc_strbuf_pad(w->out, '\0', HEADER_BYTES + (size_t)n_lanes * LANE_BYTES);
}

/* WINDOW, whose times are from the origin, on the clock of PART. */
static struct osc_cell_window enter_part(struct writing *w,
                                         const struct osc_timeline_part *part,
                                         const struct osc_cell_window *window)
{
    const int64_t origin_ns = part->t->origin_ns;

    w->part = part;
    w->t0_ns = window->from_ns + origin_ns;
    return (struct osc_cell_window){w->t0_ns, window->to_ns + origin_ns, window->n_buckets};
}

osc_status osc_packet_write(const struct osc_timeline *tl, const struct osc_packet_request *r,
                            struct osc_strbuf *out)
{
    const struct osc_cell_window window = window_of(r, level_of(r));
    struct writing w = {.tl = tl, .out = out, .magic = MAGIC_CELLS};
    uint32_t n_lanes = 0;
    size_t at = HEADER_BYTES;

    for (uint32_t i = 0; i < r->n_tracks; i++) {
        if (r->tracks[i].track >= tl->n_tracks)
            return OSC_EINVAL;
        n_lanes += count_lanes(tl, &r->tracks[i]);
    }
    begin(&w, r, &window, n_lanes);
    for (uint32_t i = 0; i < r->n_tracks && out->status == OSC_OK; i++) {
        const uint32_t n = count_lanes(tl, &r->tracks[i]);
        const struct osc_cell_window here =
            enter_part(&w, &tl->parts[tl->tracks[r->tracks[i].track].part], &window);

        for (uint32_t depth = 0; depth < n; depth++, at += LANE_BYTES)
            write_lane(&w, &r->tracks[i], depth, &here, at);
        if (osc_mem_is_cancelled()) {
            osc_strbuf_fini(&w.lengths);
            return OSC_ECANCELED;
        }
    }
    osc_strbuf_add(out, w.lengths.s ? w.lengths.s : "", w.lengths.len);
    if (w.lengths.status != OSC_OK)
        out->status = w.lengths.status;
    osc_strbuf_fini(&w.lengths);
    if (out->status == OSC_OK)
        write_header(&w, r, &window, n_lanes);
    return out->status;
}

static void put_float(char *at, double v)
{
    const float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    osc_fields_store(at, bits, 4);
}

static bool write_sample(void *ctx, const struct osc_series_cell *cell)
{
    struct writing *const w = ctx;
    char bytes[SAMPLE_BYTES];

    if (w->n_cells == OSC_PACKET_CELLS) {
        w->is_cut = true;
        return false;
    }
    osc_fields_store(bytes, (uint32_t)units(w, cell->at_ns), 4);
    put_float(bytes + 4, cell->least);
    put_float(bytes + 8, cell->most);
    put_float(bytes + 12, cell->value);
    osc_strbuf_put(w->out, bytes, sizeof bytes);
    w->n_cells++;
    return w->out->status == OSC_OK;
}

osc_status osc_packet_write_series(const struct osc_timeline *tl,
                                   const struct osc_packet_request *r, struct osc_strbuf *out)
{
    const struct osc_cell_window window = window_of(r, level_of(r));
    struct writing w = {.tl = tl, .out = out, .magic = MAGIC_VALUES};

    for (uint32_t i = 0; i < r->n_series; i++)
        if (r->series[i] >= tl->n_series)
            return OSC_EINVAL;
    begin(&w, r, &window, r->n_series);
    for (uint32_t i = 0; i < r->n_series && out->status == OSC_OK; i++) {
        const struct osc_timeline_part *const part = osc_timeline_series(tl, r->series[i]);
        const struct osc_cell_window here = enter_part(&w, part, &window);
        const size_t at = HEADER_BYTES + (size_t)i * LANE_BYTES;
        const uint32_t n_before = w.n_cells;

        if (!w.is_cut)
            osc_series_find(&part->series.v[r->series[i] - part->first_series], &here,
                            write_sample, &w);
        if (out->status != OSC_OK)
            break;
        osc_fields_store(out->s + at, r->series[i], 4);
        osc_fields_store(out->s + at + 8, n_before, 4);
        osc_fields_store(out->s + at + 12, w.n_cells - n_before, 4);
        if (osc_mem_is_cancelled())
            return OSC_ECANCELED;
    }
    if (out->status == OSC_OK)
        write_header(&w, r, &window, r->n_series);
    return out->status;
}

static void write_bundle(struct writing *w, const struct osc_bundle *b)
{
    char bytes[BUNDLE_BYTES] = {0};

    osc_fields_store(bytes, b->from_event, 4);
    osc_fields_store(bytes + 4, b->to_event, 4);
    osc_fields_store(bytes + 8, (uint32_t)units(w, b->from_ns), 4);
    osc_fields_store(bytes + 12, (uint32_t)units(w, b->to_ns), 4);
    osc_fields_store(bytes + 16, b->from_track, 4);
    osc_fields_store(bytes + 20, b->to_track, 4);
    osc_fields_store(bytes + 24, b->n > UINT16_MAX ? UINT16_MAX : (unsigned)b->n, 2);
    bytes[26] = (char)b->kind;
    osc_strbuf_put(w->out, bytes, sizeof bytes);
    w->n_cells++;
}

osc_status osc_packet_write_flows(const struct osc_timeline *tl,
                                  const struct osc_packet_request *r, struct osc_strbuf *out)
{
    const struct osc_cell_window window = window_of(r, level_of(r));
    struct writing w = {.tl = tl, .out = out, .t0_ns = window.from_ns, .magic = MAGIC_FLOWS};
    uint32_t *const tracks = osc_calloc((size_t)r->n_tracks + 1, sizeof *tracks);
    struct osc_bundles *const found = osc_calloc(1, sizeof *found);
    const struct osc_bundle_window where = {tracks, r->n_tracks, window.from_ns, window.to_ns};
    osc_status st = tracks && found ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < r->n_tracks && st == OSC_OK; i++) {
        tracks[i] = r->tracks[i].track;
        st = tracks[i] < tl->n_tracks ? OSC_OK : OSC_EINVAL;
    }
    if (st == OSC_OK)
        st = osc_bundles_find(tl, &where, found);
    if (st == OSC_OK) {
        begin(&w, r, &window, 0);
        for (uint32_t i = 0; i < found->n; i++)
            write_bundle(&w, &found->v[i]);
        w.is_cut = found->n_left_out > 0;
        if (out->status == OSC_OK)
            write_header(&w, r, &window, 0);
        st = out->status;
    }
    osc_free(tracks);
    osc_free(found);
    return st;
}
