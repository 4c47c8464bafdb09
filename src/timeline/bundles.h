/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundles.h - the arrows of a window: from calls to the work that they launched, from forward
 * operators to their backward ones, and all others that the file draws.
 *
 * An arrow leads from the start of one range to the start of another one of the same trace. It
 * is of a window if one of these starts lies in it, and if both ranges are on tracks that are
 * asked for. At most OSC_BUNDLES_MAX stand alone. Of more, those of one kind between the same
 * two tracks become one where both starts lie in the same buckets; starts before the window
 * share a bucket, and so do those behind it. The buckets are as narrow as the number allows:
 * the window has 64 of them, or half as many until it suffices. Of more bundles even then,
 * those with the most arrows are kept.
 *
 * Threading: pure functions over what is read-only. The traces have ORDER and LINKS.
 */
#pragma once

#include "timeline/model.h"

#define OSC_BUNDLES_MAX 500u

enum osc_arrow_of_window { OSC_WINDOW_LAUNCH, OSC_WINDOW_FORWARD, OSC_WINDOW_OTHER };

struct osc_bundle {
    uint32_t from_event, to_event; /* numbers; of its first arrow: launches and those from
                                    * forward operators in the order of the rows to which they
                                    * lead, then others in the order of the file */
    uint32_t from_track, to_track; /* numbers */
    int64_t from_ns, to_ns;        /* starts, from the origin; of that arrow */
    uint64_t n;                    /* arrows */
    uint8_t kind;                  /* enum osc_arrow_of_window */
};

struct osc_bundles {
    struct osc_bundle v[OSC_BUNDLES_MAX]; /* by to_event, then kind, then from_event */
    uint32_t n;
    uint64_t n_left_out; /* arrows in no bundle */
};

/* Times are from the origin; FROM is before TO. */
struct osc_bundle_window {
    const uint32_t *tracks; /* borrowed; numbers of tracks that exist */
    uint32_t n_tracks;      /* at most 4,096 */
    int64_t from_ns, to_ns;
};

/* Find those of TL in W. OSC_ENOMEM; OSC_ECANCELED: the account of the caller was cancelled. */
OSC_MUST_USE osc_status osc_bundles_find(const struct osc_timeline *tl,
                                         const struct osc_bundle_window *w,
                                         struct osc_bundles *out);
