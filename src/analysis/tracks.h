/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.h - threads and device queues in the order users see them.
 *
 * Threading: pure function over a sealed trace.
 */
#pragma once

#include "model/trace.h"

/*
 * The ids of the tracks with events, sorted by first event. The caller frees *ORDER with
 * osc_free().
 */
OSC_MUST_USE osc_status osc_tracks_in_order(const struct osc_trace *t, uint32_t **order,
                                            uint32_t *n);
