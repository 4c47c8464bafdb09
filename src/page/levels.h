/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h - the cells of a whole timeline at a few resolutions, each four times finer than the
 * one before.
 *
 * An answer `cells/K`, K counted from the coarsest level, has tiles one after the other: each
 * is as long as a packet can be (its starts have 32 bits), and most timelines have one. A tile
 * is a packet of timeline/packet.h whose cells are laid out anew, because they compress so to a
 * third: the five words of all cells in columns, starts and events as differences from the cell
 * before, and of each column first the lowest bytes of all, then the next ones.
 *
 *     tile    u32: bytes of the tile, u32: 0; header and lanes as in the packet; 5 * 4 * n
 *             bytes; durations as in the packet; zeros to a multiple of 8
 *
 * The finest level is the last one that fits. Where each cell is one range, it is complete.
 *
 * Threading: one thread.
 */
#pragma once

#include "page/entries.h"
#include "timeline/model.h"

/* What the levels have. Zeroed, they are empty. */
struct osc_levels {
    unsigned n;         /* levels taken */
    int64_t quantum_ns; /* of the finest: no range that is shorter need stand alone */
    bool is_complete;   /* all ranges stand alone */
    uint8_t *has_names; /* owned; by number of a name: 1 to n if a cell has it */
    uint32_t *events;   /* owned; that stand alone in the finest level, the longest first */
    uint32_t n_events;
};

/* Add to P the levels of TL that fit into MOST bytes of P. */
OSC_MUST_USE osc_status osc_levels_add(struct osc_levels *l, const struct osc_timeline *tl,
                                       struct osc_pack *p, size_t most);
void osc_levels_fini(struct osc_levels *l);
