/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - the cells of many lanes as bytes that a page uses without parsing.
 *
 * Little-endian: a header, the table of lanes, the table of cells, that of durations.
 *
 *   header   magic u32 "OSCT", version u16 (1), flags u16 (1: exact, 2: cut at the limit of
 *   48 B     OSC_PACKET_CELLS), t0 i64: ns of the window's start from the origin, unit_log2 u8,
 *            level u8, 0 u16, lanes u32, cells u32, request u32, width i64 ns,
 *            durations u32, 0 u32
 *   lane     track u32, depth u16, flags u16 (1: its ranges may overlap), first u32: of its
 *   16 B     cells, count u32
 *   cell     start i32, length u32: in 2^unit_log2 ns from t0; event u32: itself, or the
 *   20 B     longest; name u32; count u16 (65,535: or more), busy u8 (255: all of its time),
 *            kind u8: OSC_PACKET_COMMUNICATION, or enum osc_kind
 *   duration event u32, ns u64: of each that has a cell of its own and is at least 32 buckets
 *   12 B     long, where people read it; cells are cut and rounded
 *
 * Values over time have a table of series and one of samples instead:
 *
 *   header   as above, with the magic "OSCV"; lanes is the number of series
 *   series   series u32, 0 u32, first u32, count u32
 *   16 B
 *   sample   at i32: in units from t0; least f32, greatest f32, last f32 of its bucket; of a
 *   16 B     share the mean of its bucket instead of the last
 *
 * Arrows (bundles.h) have only one table:
 *
 *   header   as above, with the magic "OSCF"; lanes is 0, cells the number of bundles; flag 2:
 *            some arrows are in no bundle
 *   bundle   from u32, to u32: events; from i32, to i32: in units from t0; from u32, to u32:
 *   28 B     tracks; count u16 (65,535: or more), kind u8 (enum osc_arrow_of_window), 0 u8
 *
 * The buckets are 2^level ns wide, the largest power of two that is not wider than a pixel, and
 * begin at multiples of that; with flag 1 they are the pixels of the window. The unit is 2^-8
 * of a bucket, and at least 1 ns. Cells of a lane are those of cells.h. A cell that begins long
 * before the window or ends long after it is cut there.
 *
 * Threading: pure functions over what is read-only.
 */
#pragma once

#include "base/strbuf.h"
#include "timeline/model.h"

#define OSC_PACKET_COMMUNICATION 255u /* a kernel of a communication library */
#define OSC_PACKET_CELLS         (1u << 22)

struct osc_packet_lanes {
    uint32_t track;     /* number of a track */
    uint32_t max_lanes; /* only its first lanes */
};

/* Times are from the origin. */
struct osc_packet_request {
    const struct osc_packet_lanes *tracks; /* borrowed; for osc_packet_write() */
    uint32_t n_tracks;
    const uint32_t *series; /* borrowed; for osc_packet_write_series() */
    uint32_t n_series;
    int64_t from_ns, to_ns; /* not empty; within the times of osc_cell_window */
    uint32_t n_pixels;      /* at least 1 */
    bool is_exact;
    uint32_t number; /* copied to the header */
};

/* Write the cells that R asks of TL to OUT, which is emptied first. OSC_EINVAL: a track that
 * does not exist. OSC_ENOMEM. OSC_ECANCELED: the account of the caller was cancelled. */
OSC_MUST_USE osc_status osc_packet_write(const struct osc_timeline *tl,
                                         const struct osc_packet_request *r,
                                         struct osc_strbuf *out);

/* The same for the arrows between ranges of the tracks of R, whatever their lanes. */
OSC_MUST_USE osc_status osc_packet_write_flows(const struct osc_timeline *tl,
                                               const struct osc_packet_request *r,
                                               struct osc_strbuf *out);

/* The same for the values of the series that R asks for. OSC_EINVAL: one does not exist. */
OSC_MUST_USE osc_status osc_packet_write_series(const struct osc_timeline *tl,
                                                const struct osc_packet_request *r,
                                                struct osc_strbuf *out);
